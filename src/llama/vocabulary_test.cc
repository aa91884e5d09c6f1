#include "llama/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "llama/test_models.h"

namespace segue {
namespace {

std::string text_of(const LlamaVocabulary& vocabulary, const std::vector<Token>& tokens) {
  std::string text;
  for (const Token token : tokens) text += vocabulary.piece(token);
  return text;
}

const SpecialToken* find(const LlamaVocabulary& vocabulary, const std::string& text) {
  for (const SpecialToken& special : vocabulary.special_tokens()) {
    if (special.text == text) return &special;
  }
  return nullptr;
}

class EachVocabulary : public ::testing::TestWithParam<const char*> {
 protected:
  const VocabularyFile file_{GetParam()};
  const LlamaVocabulary vocabulary_{file_.get()};
};

TEST_P(EachVocabulary, PlainTextComesBackWhole) {
  std::vector<Token> tokens;
  const std::string text = "Hello, wörld! 🙂 1234\n  two  spaces";
  vocabulary_.tokenize_plain(text, tokens);
  EXPECT_FALSE(tokens.empty());
  EXPECT_THAT(text_of(vocabulary_, tokens), ::testing::EndsWith(text));
}

TEST_P(EachVocabulary, NoControlTokenArisesFromPlainText) {
  for (const SpecialToken& special : vocabulary_.special_tokens()) {
    if (!special.is_control) continue;
    std::vector<Token> tokens;
    vocabulary_.tokenize_plain("a" + special.text + "b", tokens);
    EXPECT_EQ(std::ranges::count(tokens, special.token), 0) << special.text;
  }
}

TEST_P(EachVocabulary, SpecialTokensComeLongestFirstAndAreFoundInAWholeText) {
  const auto& specials = vocabulary_.special_tokens();
  EXPECT_TRUE(std::ranges::is_sorted(
      specials, [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); }));
  for (const SpecialToken& special : specials) {
    if (special.text.empty()) continue;
    EXPECT_THAT(vocabulary_.tokenize_whole("a " + special.text + " b"),
                ::testing::Contains(special.token))
        << special.text;
  }
}

TEST_P(EachVocabulary, AWholeTextStartsWithTheAddedBosAndHasNoAddedEos) {
  const std::vector<Token> tokens = vocabulary_.tokenize_whole("Hello");
  ASSERT_FALSE(tokens.empty());
  if (vocabulary_.added_bos() != kNoToken) {
    EXPECT_EQ(tokens.front(), vocabulary_.added_bos());
    EXPECT_EQ(std::ranges::count(tokens, vocabulary_.bos()), 1);
  }
  EXPECT_NE(tokens.back(), vocabulary_.eos());
}

TEST_P(EachVocabulary, ControlTokensHaveNoTextUnlessAskedFor) {
  for (const SpecialToken& special : vocabulary_.special_tokens()) {
    if (!special.is_control) continue;
    EXPECT_EQ(vocabulary_.piece(special.token), "");
    EXPECT_EQ(vocabulary_.piece(special.token, true), special.text);
  }
}

INSTANTIATE_TEST_SUITE_P(LlamaCpp, EachVocabulary,
                         ::testing::Values("command-r", "deepseek-llm", "gemma-4", "gpt-2",
                                           "llama-bpe", "llama-spm", "phi-3", "qwen2", "qwen35"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(LlamaVocabulary, PhiThreesTokensSwallowTheWhiteSpaceAfterThem) {
  const VocabularyFile file("phi-3");
  const LlamaVocabulary vocabulary(file.get());
  const SpecialToken* end = find(vocabulary, "<|end|>");
  ASSERT_NE(end, nullptr);
  EXPECT_TRUE(end->strips_right);
  EXPECT_FALSE(end->strips_left);
}

TEST(LlamaVocabulary, TokensOutsideTheVocabularyAreNothing) {
  const LlamaVocabulary vocabulary(tiny_model());
  EXPECT_EQ(vocabulary.piece(-1), "");
  EXPECT_EQ(vocabulary.piece(vocabulary.size()), "");
  EXPECT_FALSE(vocabulary.is_control(-1));
  EXPECT_FALSE(vocabulary.ends_generation(vocabulary.size()));
}

TEST(LlamaVocabulary, TokensAreAppended) {
  const LlamaVocabulary vocabulary(tiny_model());
  std::vector<Token> tokens{7};
  vocabulary.tokenize_plain("", tokens);
  EXPECT_EQ(tokens.size(), 1U);
  vocabulary.tokenize_plain("Hello", tokens);
  EXPECT_EQ(tokens.front(), 7);
  EXPECT_GT(tokens.size(), 1U);
}

}  // namespace
}  // namespace segue
