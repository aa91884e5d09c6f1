#include "chat/prompt_builder.h"

#include <gtest/gtest.h>

#include "chat/fake_template.h"
#include "chat/fake_vocabulary.h"
#include "chat/utf8.h"
#include "segue/error.h"

namespace segue {
namespace {

std::vector<SpecialToken> marks() {
  std::vector<SpecialToken> marks;
  for (const char* text : {"[system]", "[user]", "[assistant]", "[end]", "[think]", "[/think]"}) {
    marks.push_back({.token = kNoToken, .text = text, .is_control = true});
  }
  return marks;
}

const FakeVocabulary& words() {
  static const FakeVocabulary vocabulary(
      {"Hello", "Hel", "lo", "\n\n", "world", " world", "user", "end]"}, marks());
  return vocabulary;
}

ChatMessage user(std::string text) {
  return {.role = ChatRole::user, .text = std::move(text), .reasoning = "", .written = nullptr};
}

ChatMessage assistant(std::string text, std::vector<Token> written = {},
                      std::string reasoning = "") {
  return {.role = ChatRole::assistant,
          .text = std::move(text),
          .reasoning = std::move(reasoning),
          .written = written.empty()
                         ? nullptr
                         : std::make_shared<const std::vector<Token>>(std::move(written))};
}

// Items as text: control tokens in <>, tokens divided by |.
std::string shown(const std::vector<PromptItem>& items, const FakeVocabulary& vocabulary) {
  std::string text;
  for (const PromptItem& item : items) {
    const bool is_control = vocabulary.is_control(item.token);
    text.append(is_control ? "<" : "").append(vocabulary.piece(item.token, true));
    text.append(is_control ? ">" : "|");
  }
  return text;
}

std::string built(const ChatTemplate& chat_template, const std::vector<ChatMessage>& messages,
                  const FakeVocabulary& vocabulary = words()) {
  const PromptBuilder builder(vocabulary, chat_template);
  return shown(builder.build(messages, {}).prompt.items, vocabulary);
}

TEST(PromptBuilder, TemplateWordsBecomeControlTokensAndContentDoesNot) {
  const FakeTemplate turns = marked_turns();
  EXPECT_EQ(built(turns, {user("Hello")}), "<[user]>Hello|<[end]><[assistant]>");
  EXPECT_EQ(built(turns, {user("a[end]b")}), "<[user]>a|[|end]|b|<[end]><[assistant]>");
}

TEST(PromptBuilder, ControlTokensDoNotArisePartlyFromContent) {
  const FakeTemplate turns = marked_turns();
  // Content, then template: "[en" + "d]"; template, then content; two contents.
  const FakeTemplate glued([](const auto& m, const TemplateOptions&) {
    return "[user" + m[0].content + (m.size() > 1 ? m[1].content : "") + "d][end]";
  });
  EXPECT_EQ(built(glued, {user("]Hello[en")}), "[|user|]|Hello|[|end]|<[end]>");
  EXPECT_EQ(built(glued, {user("x[e"), user("nd]")}), "[|user|x|[|end]|d|]|<[end]>");
  EXPECT_EQ(built(glued, {user("]")}), "[|user|]|d|]|<[end]>");
}

TEST(PromptBuilder, ContentThatTheTemplateTakesApartDoesNotJoinToAControlToken) {
  const FakeTemplate cutting([](const auto& messages, const TemplateOptions&) {
    std::string content = messages[0].content;
    const auto at = content.find("/cut");
    if (at != std::string::npos) content.erase(at, 4);
    return "[user]" + content + "[end][assistant]";
  });
  EXPECT_EQ(built(cutting, {user("x[e/cutnd]")}), "<[user]>x|[|end]|<[end]><[assistant]>");
  EXPECT_EQ(built(cutting, {user("Hel/cutlo")}), "<[user]>Hello|<[end]><[assistant]>");
}

TEST(PromptBuilder, PrivateUseCharactersComeBackAsTheyWere) {
  std::string text = "[end]";
  append_utf8(0xF0000, text);
  append_utf8(0xF0001, text);
  append_utf8(0x10FFFD, text);
  const FakeTemplate turns = marked_turns();
  const PromptBuilder builder(words(), turns);
  std::string decoded;
  for (const PromptItem& item : builder.build({user(text)}, {}).prompt.items) {
    decoded += words().piece(item.token, true);
  }
  EXPECT_EQ(decoded, "[user]" + text + "[end][assistant]");
}

TEST(PromptBuilder, AnAnswerKeepsTheTokensThatTheModelWrote) {
  const std::vector<Token> written = {words().token("Hel"), words().token("l"), words().token("o")};
  EXPECT_EQ(built(marked_turns(), {user("x"), assistant("Hello", written), user("Hello")}),
            "<[user]>x|<[end]><[assistant]>Hel|l|o|<[end]><[user]>Hello|<[end]><[assistant]>");
}

TEST(PromptBuilder, AnAnswerThatRepeatsTheUsersWordsIsFoundAtItsOwnPlace) {
  const std::vector<Token> written = {words().token("Hel"), words().token("lo")};
  EXPECT_EQ(built(marked_turns(), {user("Hello"), assistant("Hello", written), user("Hello")}),
            "<[user]>Hello|<[end]><[assistant]>Hel|lo|<[end]><[user]>Hello|<[end]><[assistant]>");
}

TEST(PromptBuilder, ATrimmedAnswerKeepsItsInnerTokens) {
  const FakeTemplate trimming([](const auto& messages, const TemplateOptions&) {
    std::string text;
    for (const auto& m : messages) text += "[" + m.role + "]" + std::string(trimmed(m.content));
    return text + "[end][assistant]";
  });
  const std::vector<Token> written = {words().token("\n\n"), words().token("Hel"),
                                      words().token("lo"), words().token("\n")};
  EXPECT_EQ(built(trimming, {user("x"), assistant("\n\nHello\n", written), user("y")}),
            "<[user]>x|<[assistant]>Hel|lo|<[user]>y|<[end]><[assistant]>");
}

TEST(PromptBuilder, ReasoningIsKeptTokenByTokenWhereTheTemplateKeepsIt) {
  const FakeTemplate thinking([](const auto& messages, const TemplateOptions&) {
    std::string text;
    for (const auto& m : messages) {
      text += "[" + m.role + "]";
      if (!m.reasoning.empty()) text += "[think]" + m.reasoning + "[/think]";
      text += m.content + "[end]";
    }
    return text + "[assistant]";
  });
  const std::vector<Token> written = {words().token("[think]"), words().token("Hel"),
                                      words().token("lo"), words().token("[/think]"),
                                      words().token("w")};
  EXPECT_EQ(built(thinking, {user("x"), assistant("w", written, "Hello"), user("y")}),
            "<[user]>x|<[end]><[assistant]><[think]>Hel|lo|<[/think]>w|<[end]>"
            "<[user]>y|<[end]><[assistant]>");
}

TEST(PromptBuilder, WhereReasoningIsDroppedTheAnswerStillKeepsItsTokens) {
  const std::vector<Token> written = {words().token("[think]"),  words().token("x"),
                                      words().token("[/think]"), words().token("\n\n"),
                                      words().token("Hel"),      words().token("lo")};
  EXPECT_EQ(built(marked_turns(), {user("x"), assistant("Hello", written, "x"), user("y")}),
            "<[user]>x|<[end]><[assistant]>Hel|lo|<[end]><[user]>y|<[end]><[assistant]>");
}

TEST(PromptBuilder, TextBeyondTheWholeTokensIsTokenizedAnew) {
  const std::vector<Token> written = {words().token("Hel"), words().token("l")};
  EXPECT_EQ(built(marked_turns(), {user("x"), assistant("Hello world", written), user("y")}),
            "<[user]>x|<[end]><[assistant]>Hel|l|o| world|<[end]><[user]>y|<[end]><[assistant]>");
}

TEST(PromptBuilder, ARunNeverEndsInsideACharacter) {
  const std::string emoji = "\xF0\x9F\x99\x82";
  std::vector<Token> written = {words().token("Hel")};
  for (const char c : emoji.substr(0, 2)) {
    written.push_back(static_cast<Token>(static_cast<unsigned char>(c)));
  }
  const FakeTemplate turns = marked_turns();
  const PromptBuilder builder(words(), turns);
  const std::vector<PromptItem> items =
      builder.build({user("x"), assistant("Hel" + emoji, written), user("y")}, {}).prompt.items;
  std::string decoded;
  for (const PromptItem& item : items) decoded += words().piece(item.token, true);
  EXPECT_EQ(decoded, "[user]x[end][assistant]Hel" + emoji + "[end][user]y[end][assistant]");
}

TEST(PromptBuilder, TextAfterAnAnswerGetsNoSpaceOfABeginning) {
  const FakeVocabulary vocabulary({"Hello", " Hello"}, marks(), /*add_space=*/true);
  const FakeTemplate plain([](const auto& messages, const TemplateOptions&) {
    std::string text;
    for (const auto& m : messages) text += m.content + ";";
    return text;
  });
  const std::vector<Token> written = {vocabulary.token("H"), vocabulary.token("i")};
  EXPECT_EQ(built(plain, {user("Hello"), assistant("Hi", written), user("Hello")}, vocabulary),
            " Hello|;|H|i|;|Hello|;|");
}

TEST(PromptBuilder, BosStandsOnceAlsoWhereTheTemplateWritesIt) {
  std::vector<SpecialToken> specials = marks();
  specials.push_back({.token = kNoToken, .text = "<s>", .is_control = true});
  const FakeVocabulary vocabulary({}, specials, /*add_space=*/false, /*add_bos=*/true);
  const FakeTemplate writes([](const auto& messages, const TemplateOptions&) {
    return "<s>[user]" + messages[0].content + "[end]";
  });
  const FakeTemplate leaves([](const auto& messages, const TemplateOptions&) {
    return "[user]" + messages[0].content + "[end]";
  });
  EXPECT_EQ(built(writes, {user("x")}, vocabulary), "<<s>><[user]>x|<[end]>");
  EXPECT_EQ(built(leaves, {user("x")}, vocabulary), "<<s>><[user]>x|<[end]>");
  const FakeTemplate bare(
      [](const auto& messages, const TemplateOptions&) { return messages[0].content; });
  EXPECT_EQ(built(bare, {user("<s>x")}, vocabulary), "<<s>><|s|>|x|");
}

TEST(PromptBuilder, BoundariesStandWhereUserTurnsBegin) {
  const FakeTemplate turns = marked_turns();
  const PromptBuilder builder(words(), turns);
  const Prompt prompt =
      builder.build({user("Hello"), assistant("Hello"), user("world")}, {}).prompt;
  ASSERT_EQ(prompt.boundaries.size(), 2U);
  EXPECT_EQ(prompt.boundaries[0], ItemCount(1));
  EXPECT_EQ(prompt.boundaries[1], ItemCount(7));
}

TEST(PromptBuilder, TheCertainPrefixIsAPrefixOfEveryNextPrompt) {
  const FakeTemplate lines([](const auto& messages, const TemplateOptions& options) {
    std::string text;
    for (const auto& m : messages) text += "[" + m.role + "]\n" + m.content + "[end]\n";
    return options.add_generation_prompt ? text + "[assistant]\n" : text;
  });
  const PromptBuilder builder(words(), lines);
  std::vector<ChatMessage> messages = {
      user("x"), assistant("Hello", {words().token("Hel"), words().token("lo")})};
  const Prompt prefix = builder.certain_prefix(messages, {});
  EXPECT_EQ(shown(prefix.items, words()),
            "<[user]>\n|x|<[end]>\n|<[assistant]>\n|Hel|lo|<[end]>\n|<[user]>");
  for (const char* text : {"", "x", "\n", "\nfoo", "Hello", "[end]", "]", "\n\n\n"}) {
    messages.push_back(user(text));
    const Prompt next = builder.build(messages, {}).prompt;
    messages.pop_back();
    ASSERT_GT(next.items.size(), prefix.items.size());
    EXPECT_TRUE(std::equal(prefix.items.begin(), prefix.items.end(), next.items.begin())) << text;
  }
}

TEST(PromptBuilder, TheCertainPrefixIsEmptyWhereTheTemplateRefusesAUserMessage) {
  const FakeTemplate refusing([](const auto&, const TemplateOptions&) -> std::string {
    throw TemplateFailed("roles must alternate");
  });
  const PromptBuilder builder(words(), refusing);
  EXPECT_TRUE(builder.certain_prefix({user("x")}, {}).items.empty());
  EXPECT_THROW(builder.build({user("x")}, {}), TemplateFailed);
}

TEST(PromptBuilder, TextThatIsNotUtf8IsRefused) {
  const FakeTemplate turns = marked_turns();
  const PromptBuilder builder(words(), turns);
  EXPECT_THROW(builder.build({user("\xFF")}, {}), InvalidArgument);
  EXPECT_THROW(builder.build({user("\xED\xA0\x80")}, {}), InvalidArgument);
}

TEST(PromptBuilder, TheCacheChangesNothing) {
  const FakeTemplate turns = marked_turns();
  const PromptBuilder builder(words(), turns);
  FragmentCache cache(2048);
  std::vector<ChatMessage> messages;
  for (int turn = 0; turn < 50; ++turn) {
    messages.push_back(user("Hello world " + std::to_string(turn)));
    EXPECT_EQ(builder.build(messages, {}, &cache).prompt.items,
              builder.build(messages, {}).prompt.items);
    messages.push_back(assistant("Hello " + std::to_string(turn % 7)));
    EXPECT_LE(cache.bytes(), 2048U);
  }
}

}  // namespace
}  // namespace segue
