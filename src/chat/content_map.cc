#include "chat/content_map.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "chat/utf8.h"
#include "segue/error.h"

namespace segue {
namespace {

// A name is two characters of the supplementary private use area B: the digits of a number, told
// apart so that a name is found from its first one.
constexpr char32_t kHighDigits = 0x100000;
constexpr char32_t kLowDigits = 0x108000;
constexpr std::size_t kBase = 0x7000;
constexpr std::size_t kNameBytes = 8;

std::string name_of(std::size_t index) {
  std::string name;
  append_utf8(kHighDigits + static_cast<char32_t>(index / kBase), name);
  append_utf8(kLowDigits + static_cast<char32_t>(index % kBase), name);
  return name;
}

std::optional<std::size_t> name_at(std::string_view text, std::size_t at) {
  if (at + kNameBytes > text.size() || static_cast<unsigned char>(text[at]) != 0xF4U) return {};
  const char32_t high = character_at(text, at).code_point;
  const char32_t low = character_at(text, at + kNameBytes / 2).code_point;
  if (high < kHighDigits || high >= kHighDigits + kBase) return {};
  if (low < kLowDigits || low >= kLowDigits + kBase) return {};
  return (high - kHighDigits) * kBase + (low - kLowDigits);
}

// Content without anything but white space keeps its place in the template's words: some templates
// ask whether content is empty.
std::string named(const std::string& content, std::size_t index) {
  return trimmed(content).empty() ? content : name_of(index);
}

// The template's words: before each name, and after the last.
struct Skeleton {
  struct Slot {
    std::string before;
    std::size_t index = 0;
  };
  std::vector<Slot> slots;
  std::string tail;
};

std::optional<Skeleton> render_skeleton(const ChatTemplate& chat_template,
                                        const std::vector<TemplateMessage>& messages,
                                        const TemplateOptions& options) {
  std::vector<TemplateMessage> renamed = messages;
  for (std::size_t i = 0; i < renamed.size(); ++i) {
    renamed[i].content = named(messages[i].content, 2 * i);
    renamed[i].reasoning = named(messages[i].reasoning, 2 * i + 1);
  }
  std::string text;
  try {
    text = chat_template.render(renamed, options).text;
  } catch (const Error&) {
    return {};
  }
  Skeleton skeleton;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::optional<std::size_t> index = name_at(text, at);
    if (!index || *index >= 2 * messages.size()) {
      ++at;
      continue;
    }
    skeleton.slots.push_back({text.substr(begin, at - begin), *index});
    at += kNameBytes;
    begin = at;
  }
  skeleton.tail = text.substr(begin);
  return skeleton;
}

std::size_t common_length(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(
      std::mismatch(a.begin(),
                    a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
                    b.begin())
          .first -
      a.begin());
}

// Templates leave content as it is, or trim it on a side, all white space or line ends only.
std::vector<std::string_view> trimmings(std::string_view content) {
  const std::string_view core = trimmed(content);
  const auto left = static_cast<std::size_t>(core.data() - content.data());
  const std::size_t right = left + core.size();
  const std::size_t left_lines = std::min(content.find_first_not_of('\n'), left);
  const std::size_t right_lines = std::max(content.find_last_not_of('\n') + 1, right);
  std::vector<std::string_view> found;
  for (const std::size_t begin : {std::size_t{0}, left_lines, left}) {
    for (const std::size_t end : {content.size(), right_lines, right}) {
      const std::string_view text = content.substr(begin, end - begin);
      if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(text);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](std::string_view a, std::string_view b) { return a.size() > b.size(); });
  return found;
}

// Where the words `next` (the last ones: up to the end) follow content that begins at `at`.
std::optional<std::pair<std::size_t, bool>> end_of_content(std::string_view rendered,
                                                           std::size_t at, std::string_view content,
                                                           std::string_view next, bool is_last) {
  const auto follows = [&](std::size_t end) {
    return rendered.substr(end, next.size()) == next &&
           (!is_last || end + next.size() == rendered.size());
  };
  for (const std::string_view text : trimmings(content)) {
    if (rendered.substr(at, text.size()) == text && follows(at + text.size())) {
      return std::pair(at + text.size(), true);
    }
  }
  if (is_last) {
    if (rendered.size() < at + next.size() || !follows(rendered.size() - next.size())) return {};
    return std::pair(rendered.size() - next.size(), false);
  }
  // Too few words could stand anywhere.
  constexpr std::size_t kTelling = 8;
  const std::size_t found =
      next.size() < kTelling ? std::string_view::npos : rendered.find(next, at);
  if (found == std::string_view::npos) return {};
  return std::pair(found, false);
}

}  // namespace

ContentMap map_contents(const ChatTemplate& chat_template,
                        const std::vector<TemplateMessage>& messages,
                        const TemplateOptions& options, std::string_view rendered) {
  ContentMap map;
  const std::optional<Skeleton> skeleton = render_skeleton(chat_template, messages, options);
  if (!skeleton || skeleton->slots.empty()) return map;
  const std::vector<Skeleton::Slot>& slots = skeleton->slots;
  if (rendered.substr(0, slots.front().before.size()) != slots.front().before) return map;
  std::size_t words_begin = 0;
  std::size_t at = slots.front().before.size();
  map.mapped_end = at;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const bool is_last = i + 1 == slots.size();
    const TemplateMessage& message = messages[slots[i].index / 2];
    const bool is_reasoning = slots[i].index % 2 == 1;
    const std::string& next = is_last ? skeleton->tail : slots[i + 1].before;
    const auto end = end_of_content(
        rendered, at, is_reasoning ? message.reasoning : message.content, next, is_last);
    if (!end) return map;
    const std::size_t shared = options.add_generation_prompt
                                   ? common_length(slots[i].before, skeleton->tail)
                                   : std::size_t{0};
    map.contents.push_back({.message = slots[i].index / 2,
                            .is_reasoning = is_reasoning,
                            .text = {at, end->first},
                            .is_verbatim = end->second,
                            .generation_begin = words_begin + shared});
    words_begin = end->first;
    at = end->first + next.size();
    map.mapped_end = at;
  }
  return map;
}

}  // namespace segue
