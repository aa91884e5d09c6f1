// Over llama.cpp's vocabularies and chat templates: the items of a conversation are those of
// rendering it and tokenizing the whole at once, wherever the written tokens were the usual ones,
// and the written tokens where they were not.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "chat/prompt_builder.h"
#include "chat/utf8.h"
#include "llama_fixture.h"

namespace segue {
namespace {

ChatMessage system_says(std::string text) {
  return {.role = ChatRole::system, .text = std::move(text), .reasoning = "", .written = nullptr};
}
ChatMessage user(std::string text) {
  return {.role = ChatRole::user, .text = std::move(text), .reasoning = "", .written = nullptr};
}
ChatMessage assistant(std::string text, std::string reasoning = "") {
  return {.role = ChatRole::assistant,
          .text = std::move(text),
          .reasoning = std::move(reasoning),
          .written = nullptr};
}

const std::vector<std::vector<ChatMessage>>& conversations() {
  static const std::vector<std::vector<ChatMessage>> all = {
      {system_says("Answer in one sentence."), user("What is the capital of France?"),
       assistant("The capital of France is Paris."), user("And of Spain?")},
      {user("Emoji: \xF0\x9F\x99\x82\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x9A\x80, and spaces   "),
       assistant("  \xF0\x9F\x8E\x89 Caf\xC3\xA9\n\n- one\n- two\t\n"), user("\n\nline\n\n"),
       assistant("12345 + 6 = 12351\n    indented();  "), user(" ")},
      {system_says("S"), user("x"), assistant(""), user("y")},
      {user("Why is 2 + 2 = 4?"), assistant("Because two and two make four.", "Count on fingers."),
       user("Sure?"), assistant("Yes, quite sure.", "Counted again.\n\nStill four."),
       user("Fine.")},
      {system_says("Only a system prompt.\n")},
  };
  return all;
}

std::vector<TemplateMessage> as_template_messages(const std::vector<ChatMessage>& messages) {
  std::vector<TemplateMessage> out;
  for (const ChatMessage& m : messages) {
    const char* role = m.role == ChatRole::system ? "system"
                       : m.role == ChatRole::user ? "user"
                                                  : "assistant";
    out.push_back({role, m.text, m.reasoning});
  }
  return out;
}

std::vector<Token> tokens_of(const Prompt& prompt) {
  std::vector<Token> tokens;
  for (const PromptItem& item : prompt.items) tokens.push_back(item.token);
  return tokens;
}

std::string spelled(const Vocabulary& vocabulary, const std::vector<Token>& tokens) {
  std::string text;
  for (const Token token : tokens) text += vocabulary.piece(token, true);
  return text;
}

// llama.cpp's tokens of the whole text, with BOS once.
std::vector<Token> whole(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<Token> tokens = vocabulary.tokenize_whole(text);
  const Token bos = vocabulary.added_bos();
  while (bos != kNoToken && tokens.size() > 1 && tokens[0] == bos && tokens[1] == bos) {
    tokens.erase(tokens.begin());
  }
  return tokens;
}

class Exactness : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    file_ = load_vocabulary(vocabulary_path(GetParam()));
    for (Token token = 0; token < vocabulary().size(); ++token) {
      const std::string_view piece = vocabulary().piece(token, true);
      if (!piece.empty() && piece.size() <= 4) token_of_.emplace(piece, token);
    }
  }
  const VocabularyFile& file() const { return file_; }
  const Vocabulary& vocabulary() const { return *file_.vocabulary; }

  bool is_special(Token token) const {
    const auto& specials = vocabulary().special_tokens();
    return std::any_of(specials.begin(), specials.end(),
                       [&](const SpecialToken& special) { return special.token == token; });
  }
  bool adds_space() const {
    std::vector<Token> tokens;
    vocabulary().tokenize_plain("a", tokens);
    return spelled(vocabulary(), tokens) == " a";
  }
  // What tokens spell, less the spaces that the tokenizer itself adds after special tokens.
  std::string said(const std::vector<Token>& tokens) const {
    std::string text = spelled(vocabulary(), tokens);
    if (adds_space()) std::erase(text, ' ');
    return text;
  }
  // Whether the tokens of a piece of text are those that the piece has when it stands alone: an
  // answer begins and ends where the model began and ended to write, so that what stands beside it
  // is tokenized without it.
  bool stands_alone(const std::vector<Token>& piece) const {
    std::string text = spelled(vocabulary(), piece);
    if (adds_space() && text.starts_with(' ')) text.erase(0, 1);
    std::vector<Token> alone;
    vocabulary().tokenize_plain(text, alone);
    return alone == piece;
  }
  // The tokens from the special token before `end` (or from the start) to it, and from `begin` to
  // the next special token.
  std::vector<Token> fragment_before(const std::vector<Token>& tokens, std::size_t end) const {
    std::size_t begin = end;
    while (begin > 0 && !is_special(tokens[begin - 1])) --begin;
    return {tokens.begin() + static_cast<std::ptrdiff_t>(begin),
            tokens.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  std::vector<Token> fragment_after(const std::vector<Token>& tokens, std::size_t begin) const {
    std::size_t end = begin;
    while (end < tokens.size() && !is_special(tokens[end])) ++end;
    return {tokens.begin() + static_cast<std::ptrdiff_t>(begin),
            tokens.begin() + static_cast<std::ptrdiff_t>(end)};
  }

  // One token for each character, or each byte.
  std::optional<std::vector<Token>> letter_by_letter(std::string_view text) const {
    std::vector<Token> tokens;
    for (std::size_t at = 0; at < text.size();) {
      std::size_t length = 1;
      while (at + length < text.size() &&
             (static_cast<unsigned char>(text[at + length]) >> 6) == 2) {
        ++length;
      }
      auto found = token_of_.find(text.substr(at, length));
      if (found == token_of_.end()) {
        length = 1;
        found = token_of_.find(text.substr(at, 1));
      }
      if (found == token_of_.end()) return {};
      tokens.push_back(found->second);
      at += length;
    }
    return tokens;
  }

  template <typename Check>
  void for_each_conversation(Check check) const {
    int rendered = 0;
    for (const auto& path : template_paths()) {
      const auto chat_template = load_template(file_, path);
      int of_template = 0;
      for (const auto& messages : conversations()) {
        std::string text;
        try {
          text = chat_template->render(as_template_messages(messages), {}).text;
        } catch (const TemplateFailed&) {
          continue;
        }
        ++of_template;
        SCOPED_TRACE(path.filename().string() + "\n" + text);
        check(*chat_template, messages, text);
        if (HasFatalFailure()) return;
      }
      EXPECT_GE(of_template, 3) << path;
      rendered += of_template;
    }
    EXPECT_GT(rendered, 280);
  }

 private:
  VocabularyFile file_;
  std::unordered_map<std::string_view, Token> token_of_;
};

TEST_P(Exactness, ItemsAreThoseOfTheWholeTextTokenizedAtOnce) {
  for_each_conversation(
      [&](const ChatTemplate& chat_template, const auto& messages, const std::string& text) {
        const PromptBuilder builder(vocabulary(), chat_template);
        ASSERT_EQ(tokens_of(builder.build(messages, {}).prompt), whole(vocabulary(), text));
      });
}

TEST_P(Exactness, UsualWrittenTokensChangeNothing) {
  int kept = 0;
  for_each_conversation([&](const ChatTemplate& chat_template, auto messages,
                            const std::string& text) {
    const PromptBuilder builder(vocabulary(), chat_template);
    const std::vector<Token> expected = whole(vocabulary(), text);
    for (ChatMessage& message : messages) {
      if (message.role != ChatRole::assistant || message.text.empty()) continue;
      // The model writes what the whole text holds there, if its tokens begin and end with the
      // answer.
      const std::string_view core = trimmed(message.text);
      for (std::size_t first = 0; first < expected.size(); ++first) {
        std::vector<Token> written;
        std::string spelling;
        for (std::size_t i = first; i < expected.size() && spelling.size() < core.size(); ++i) {
          written.push_back(expected[i]);
          spelling += vocabulary().piece(expected[i], true);
        }
        if (spelling != core) continue;
        const std::size_t end = first + written.size();
        // The space that the tokenizer adds after a special token is the model's to write.
        if (first > 1 && is_special(expected[first - 2]) &&
            vocabulary().piece(expected[first - 1], true) == " ") {
          written.insert(written.begin(), expected[first - 1]);
        } else if (!stands_alone(fragment_before(expected, first))) {
          continue;
        }
        if (!stands_alone(fragment_after(expected, end))) continue;
        message.written = std::make_shared<const std::vector<Token>>(std::move(written));
        ++kept;
        break;
      }
    }
    const std::vector<Token> built = tokens_of(builder.build(messages, {}).prompt);
    const auto apart = std::mismatch(built.begin(), built.end(), expected.begin(), expected.end());
    ASSERT_EQ(built, expected) << "from \"" << spelled(vocabulary(), {apart.first, built.end()})
                               << "\" instead of \""
                               << spelled(vocabulary(), {apart.second, expected.end()}) << "\"";
  });
  EXPECT_GT(kept, 20);
}

TEST_P(Exactness, UnusualWrittenTokensAreKeptAndTheRestIsAsUsual) {
  int kept = 0;
  for_each_conversation([&](const ChatTemplate& chat_template, auto messages,
                            const std::string& text) {
    const PromptBuilder builder(vocabulary(), chat_template);
    const std::vector<Token> usual = whole(vocabulary(), text);
    for (std::size_t m = 0; m < messages.size(); ++m) {
      if (messages[m].role != ChatRole::assistant || messages[m].text.empty()) continue;
      auto edited = messages;
      const auto letters = letter_by_letter(messages[m].text);
      const auto inner = letter_by_letter(trimmed(messages[m].text));
      ASSERT_TRUE(letters && inner) << messages[m].text;
      edited[m].written = std::make_shared<const std::vector<Token>>(*letters);
      const std::vector<Token> tokens = tokens_of(builder.build(edited, {}).prompt);
      ASSERT_EQ(said(tokens), said(usual));
      const auto at = std::search(tokens.begin(), tokens.end(), inner->begin(), inner->end());
      if (text.find(trimmed(messages[m].text)) == std::string::npos) continue;
      ASSERT_NE(at, tokens.end()) << messages[m].text;
      ++kept;
      // Where the usual tokens have an edge at an edge of the written ones, all beyond it is usual.
      const std::string before = spelled(vocabulary(), {tokens.begin(), at});
      const std::string after =
          spelled(vocabulary(), {at + static_cast<std::ptrdiff_t>(inner->size()), tokens.end()});
      std::string sum;
      for (std::size_t i = 0; i <= usual.size(); ++i) {
        if (sum == before && trimmed(messages[m].text) == messages[m].text &&
            stands_alone(fragment_before(usual, i))) {
          ASSERT_EQ(
              std::vector<Token>(tokens.begin(), at),
              std::vector<Token>(usual.begin(), usual.begin() + static_cast<std::ptrdiff_t>(i)));
        }
        if (i < usual.size()) sum += vocabulary().piece(usual[i], true);
      }
      sum.clear();
      for (std::size_t i = 0; i <= usual.size(); ++i) {
        if (sum == after && trimmed(messages[m].text) == messages[m].text &&
            stands_alone(fragment_after(usual, usual.size() - i))) {
          ASSERT_EQ(
              std::vector<Token>(at + static_cast<std::ptrdiff_t>(inner->size()), tokens.end()),
              std::vector<Token>(usual.end() - static_cast<std::ptrdiff_t>(i), usual.end()));
        }
        if (i < usual.size())
          sum = std::string(vocabulary().piece(usual[usual.size() - 1 - i], true)) + sum;
      }
    }
  });
  EXPECT_GT(kept, 300);
}

TEST_P(Exactness, ReasoningAndItsMarksKeepTheirTokensWhereTheTemplateKeepsThem) {
  int whole_kept = 0;
  for (const auto& path : template_paths()) {
    SCOPED_TRACE(path.filename().string());
    const auto chat_template = load_template(file(), path);
    const PromptBuilder builder(vocabulary(), *chat_template);
    std::vector<ChatMessage> messages = {user("Why?"), assistant("Because.", "Think hard.")};
    for (const char* raw :
         {"<think>\nThink hard.\n</think>\n\nBecause.", "<think>Think hard.</think>Because."}) {
      const auto letters = letter_by_letter(raw);
      ASSERT_TRUE(letters);
      messages[1].written = std::make_shared<const std::vector<Token>>(*letters);
      std::vector<Token> tokens;
      try {
        tokens = tokens_of(builder.build(messages, {.add_generation_prompt = false}).prompt);
      } catch (const TemplateFailed&) {
        continue;
      }
      const std::string text = spelled(vocabulary(), tokens);
      if (text.find("Because.") == std::string::npos) continue;  // the template drops the answer
      const bool is_whole = text.find(raw) != std::string::npos;
      const auto kept = letter_by_letter(is_whole ? raw : "Because.");
      EXPECT_NE(std::search(tokens.begin(), tokens.end(), kept->begin(), kept->end()), tokens.end())
          << text;
      if (is_whole) ++whole_kept;
    }
  }
  EXPECT_GT(whole_kept, 10);
}

TEST_P(Exactness, TheCertainPrefixBeginsEveryNextPrompt) {
  for (const auto& path : template_paths()) {
    SCOPED_TRACE(path.filename().string());
    const auto chat_template = load_template(file(), path);
    const PromptBuilder builder(vocabulary(), *chat_template);
    FragmentCache cache;
    std::vector<ChatMessage> messages = {user("Why?"), assistant("Because.", "Think hard.")};
    messages[1].written = std::make_shared<const std::vector<Token>>(*letter_by_letter("Because."));
    const Prompt prefix = builder.certain_prefix(messages, {}, &cache);
    EXPECT_GT(prefix.items.size(), 8U);
    for (const char* text : {"x", "\n\nWhat?", " so", "", "1", "</s>", "|>", "\xF0\x9F\x99\x82"}) {
      messages.push_back(user(text));
      const Prompt next = builder.build(messages, {}, &cache).prompt;
      messages.pop_back();
      ASSERT_GE(next.items.size(), prefix.items.size());
      EXPECT_TRUE(std::equal(prefix.items.begin(), prefix.items.end(), next.items.begin())) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Vocabularies, Exactness,
                         testing::Values("gemma-4", "llama-bpe", "llama-spm", "phi-3", "qwen2",
                                         "qwen35", "deepseek-llm", "gpt-2", "command-r"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(LongConversation, FiveHundredTurnsAreBuiltQuickly) {
  const VocabularyFile file = load_vocabulary(vocabulary_path("qwen2"));
  const auto chat_template = load_template(file, template_path("Qwen-Qwen2.5-7B-Instruct.jinja"));
  const PromptBuilder builder(*file.vocabulary, *chat_template);
  FragmentCache cache;
  std::vector<ChatMessage> messages = {system_says("Answer in one sentence.")};
  for (int turn = 0; turn < 500; ++turn) {
    messages.push_back(user("This is what the user says in turn " + std::to_string(turn) +
                            ", and it is a sentence of usual length."));
    messages.push_back(assistant("And this is the answer number " + std::to_string(turn) + "."));
    std::vector<Token> written;
    file.vocabulary->tokenize_plain(messages.back().text, written);
    messages.back().written = std::make_shared<const std::vector<Token>>(written);
  }
  messages.push_back(user("The last one."));
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const Prompt first = builder.build(messages, {}, &cache).prompt;
  const auto middle = Clock::now();
  const Prompt second = builder.build(messages, {}, &cache).prompt;
  const auto end = Clock::now();
  EXPECT_EQ(first.items, second.items);
  EXPECT_EQ(first.boundaries.size(), 501U);
  const auto ms = [](auto d) { return std::chrono::duration<double, std::milli>(d).count(); };
  std::printf("500 turns, %zu tokens: built in %.1f ms, again in %.1f ms\n", first.items.size(),
              ms(middle - begin), ms(end - middle));
}

}  // namespace
}  // namespace segue
