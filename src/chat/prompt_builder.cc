#include "chat/prompt_builder.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "chat/content_guard.h"
#include "chat/content_map.h"
#include "chat/utf8.h"
#include "chat/written_alignment.h"
#include "segue/error.h"

namespace segue {
namespace {

const char* role_name(ChatRole role) {
  switch (role) {
    case ChatRole::system:
      return "system";
    case ChatRole::user:
      return "user";
    case ChatRole::assistant:
      return "assistant";
  }
  return "user";
}

// What tells which marks the template uses: its source, or else what it makes of a conversation.
std::string template_words(const ChatTemplate& chat_template) {
  if (!chat_template.source().empty()) return std::string(chat_template.source());
  try {
    const std::vector<TemplateMessage> messages = {{"user", "x", ""}, {"assistant", "x", ""}};
    return chat_template.render(messages, {}).text;
  } catch (const Error&) {
    return {};  // build() says why
  }
}

// True where a control token's text lies in what the template made of content that it took apart:
// the parts may have come together as one.
bool may_hold_made_up_control(const SpecialTokenIndex& index, const ControlTexts& controls,
                              std::string_view rendered, const ContentMap& map) {
  std::vector<ByteRange> unclear;
  for (const PlacedContent& content : map.contents) {
    if (!content.is_verbatim) unclear.push_back(content.text);
  }
  if (map.mapped_end < rendered.size()) unclear.push_back({map.mapped_end, rendered.size()});
  for (const ByteRange range : unclear) {
    // A control token may reach over the edges.
    const std::size_t begin = range.begin - std::min(range.begin, controls.longest());
    const std::size_t end = std::min(rendered.size(), range.end + controls.longest());
    for (const auto& match : index.find_all(rendered.substr(begin, end - begin))) {
      const SpecialToken& special = index.tokens()[match.rank];
      if (controls.contains(match.rank) && begin + match.begin < range.end &&
          begin + match.begin + special.text.size() > range.begin) {
        return true;
      }
    }
  }
  return false;
}

// Where each message's answer stands: its content, or its reasoning where it has no content.
std::vector<std::pair<std::size_t, RenderedAnswer>> answers_in(const ContentMap& map,
                                                               std::size_t text_size) {
  std::vector<std::pair<std::size_t, RenderedAnswer>> answers;
  for (std::size_t i = 0; i < map.contents.size(); ++i) {
    const PlacedContent& content = map.contents[i];
    std::size_t latest = text_size;
    for (std::size_t j = i + 1; j < map.contents.size(); ++j) {
      if (map.contents[j].message == content.message) continue;
      latest = map.contents[j].text.begin;
      break;
    }
    const bool goes_on = !answers.empty() && answers.back().first == content.message;
    if (!goes_on) {
      answers.push_back({content.message, {content.text, content.generation_begin, latest}});
    } else if (!content.is_reasoning) {
      answers.back().second.content = content.text;
      answers.back().second.latest = latest;
    }
  }
  return answers;
}

std::size_t common_items(const std::vector<PromptItem>& a, const std::vector<PromptItem>& b) {
  std::size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// True where a special token could begin before `item_end`, reach over `content_begin` and so
// change the items up to there, whatever content follows.
bool may_be_rejoined(const SpecialTokenIndex& index, std::string_view text, std::size_t item_end,
                     std::size_t content_begin) {
  const std::string_view before = text.substr(0, content_begin);
  return std::any_of(index.tokens().begin(), index.tokens().end(), [&](const SpecialToken& token) {
    if (token.is_control) return false;  // never covers content
    const std::size_t longest = std::min(token.text.size(), before.size() + 1);
    for (std::size_t n = content_begin - item_end + 1; n < longest; ++n) {
      if (before.substr(before.size() - n) == std::string_view(token.text).substr(0, n))
        return true;
    }
    return false;
  });
}

}  // namespace

struct PromptBuilder::Layout {
  RenderedPrompt rendered;
  GuardedText text;
  ContentMap map;
  TokenizedText tokenized;

  std::vector<ItemCount> boundaries(const std::vector<ChatMessage>& messages) const {
    std::vector<ItemCount> found;
    for (const PlacedContent& content : map.contents) {
      if (messages[content.message].role != ChatRole::user) continue;
      const auto count =
          std::upper_bound(tokenized.ends.begin(), tokenized.ends.end(), content.text.begin) -
          tokenized.ends.begin();
      const ItemCount boundary(count);
      if (count > 0 && static_cast<std::size_t>(count) < tokenized.items.size() &&
          (found.empty() || found.back() < boundary)) {
        found.push_back(boundary);
      }
    }
    return found;
  }
};

PromptBuilder::PromptBuilder(const Vocabulary& vocabulary, const ChatTemplate& chat_template)
    : vocabulary_(vocabulary),
      template_(chat_template),
      tokenizer_(vocabulary, template_words(chat_template)),
      controls_of_answers_(tokenizer_.special_tokens(), "") {}

PromptBuilder::Layout PromptBuilder::lay_out(const std::vector<ChatMessage>& messages,
                                             const BuildOptions& options,
                                             FragmentCache* cache) const {
  for (const ChatMessage& message : messages) {
    if (!is_valid_utf8(message.text) || !is_valid_utf8(message.reasoning)) {
      throw InvalidArgument("A message is not valid UTF-8.");
    }
  }
  const TemplateOptions template_options{.add_generation_prompt = options.add_generation_prompt,
                                         .enable_thinking = options.enable_thinking};
  const SpecialTokenIndex& index = tokenizer_.special_tokens();
  Layout layout;
  ContentGuard guard(index, template_.source());
  for (const auto reach : {ContentGuard::Reach::touching, ContentGuard::Reach::every}) {
    std::vector<TemplateMessage> marked;
    for (const ChatMessage& message : messages) {
      const ControlTexts& controls =
          message.role == ChatRole::assistant ? controls_of_answers_ : tokenizer_.controls();
      marked.push_back({.role = role_name(message.role),
                        .content = guard.mark(message.text, controls, reach),
                        .reasoning = guard.mark(message.reasoning, controls, reach)});
    }
    layout.rendered = template_.render(marked, template_options);
    layout.map = map_contents(template_, marked, template_options, layout.rendered.text);
    if (!may_hold_made_up_control(index, tokenizer_.controls(), layout.rendered.text, layout.map))
      break;
  }

  std::vector<std::size_t*> offsets;
  for (PlacedContent& content : layout.map.contents) {
    offsets.push_back(&content.text.begin);
    offsets.push_back(&content.text.end);
  }
  std::vector<std::size_t*> generation_begins;
  for (PlacedContent& content : layout.map.contents) {
    generation_begins.push_back(&content.generation_begin);
  }
  offsets.insert(offsets.end(), generation_begins.begin(), generation_begins.end());
  std::stable_sort(offsets.begin(), offsets.end(),
                   [](const std::size_t* a, const std::size_t* b) { return *a < *b; });
  layout.text = guard.unmark(layout.rendered.text, offsets);

  std::vector<TokenRun> runs;
  std::size_t taken = 0;
  for (auto& [message, answer] : answers_in(layout.map, layout.text.text.size())) {
    const auto& written = messages[message].written;
    if (messages[message].role != ChatRole::assistant || written == nullptr) continue;
    answer.earliest = std::max(answer.earliest, taken);
    const std::optional<TokenRun> run =
        align_written(vocabulary_, *written, layout.text.text, answer);
    if (!run) continue;
    taken = run->text.end;
    runs.push_back(*run);
  }
  layout.tokenized = tokenizer_.tokenize(layout.text, runs, cache);
  return layout;
}

BuiltPrompt PromptBuilder::build(const std::vector<ChatMessage>& messages,
                                 const BuildOptions& options, FragmentCache* cache) const {
  Layout layout = lay_out(messages, options, cache);
  BuiltPrompt built;
  built.prompt.boundaries = layout.boundaries(messages);
  built.prompt.items = std::move(layout.tokenized.items);
  built.parser = std::move(layout.rendered.parser);
  built.stop_strings = std::move(layout.rendered.stop_strings);
  built.preserved_tokens = std::move(layout.rendered.preserved_tokens);
  return built;
}

Prompt PromptBuilder::certain_prefix(const std::vector<ChatMessage>& messages,
                                     const BuildOptions& options, FragmentCache* cache) const {
  std::vector<ChatMessage> next = messages;
  next.push_back({.role = ChatRole::user, .text = "x", .reasoning = "", .written = nullptr});
  Layout first;
  Layout second;
  try {
    first = lay_out(next, options, cache);
    next.back().text.assign(1, '1');
    second = lay_out(next, options, cache);
  } catch (const TemplateFailed&) {
    return {};
  }
  const std::string& text = first.text.text;
  const auto differ =
      std::mismatch(text.begin(), text.end(), second.text.text.begin(), second.text.text.end());
  const auto content_begin = static_cast<std::size_t>(differ.first - text.begin());
  const std::size_t common = common_items(first.tokenized.items, second.tokenized.items);
  std::size_t length = 0;
  for (const std::size_t firm : first.tokenized.firm) {
    const std::size_t end = first.tokenized.ends[firm - 1];
    if (firm > common || end > content_begin) break;
    if (!may_be_rejoined(tokenizer_.special_tokens(), text, end, content_begin)) length = firm;
  }
  Prompt prompt;
  prompt.items.assign(first.tokenized.items.begin(),
                      first.tokenized.items.begin() + static_cast<std::ptrdiff_t>(length));
  for (const ItemCount boundary : first.boundaries(next)) {
    if (boundary.value < static_cast<std::int64_t>(length)) prompt.boundaries.push_back(boundary);
  }
  return prompt;
}

}  // namespace segue
