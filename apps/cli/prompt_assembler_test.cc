#include "prompt_assembler.h"

#include <gtest/gtest.h>

namespace segue::cli {
namespace {

TEST(PromptAssembler, ALineIsAPrompt) {
  PromptAssembler prompt;
  EXPECT_EQ(prompt.add("Hello \"\"\" you"), "Hello \"\"\" you");
  EXPECT_EQ(prompt.add(""), "");
  EXPECT_FALSE(prompt.is_continuing());
}

TEST(PromptAssembler, ATrailingBackslashGoesOn) {
  PromptAssembler prompt;
  EXPECT_EQ(prompt.add("one\\"), std::nullopt);
  EXPECT_TRUE(prompt.is_continuing());
  EXPECT_EQ(prompt.add("two\\"), std::nullopt);
  EXPECT_EQ(prompt.add("three"), "one\ntwo\nthree");
  EXPECT_EQ(prompt.add("four"), "four");
}

TEST(PromptAssembler, ABlockEndsWithItsFence) {
  PromptAssembler prompt;
  EXPECT_EQ(prompt.add("\"\"\""), std::nullopt);
  EXPECT_EQ(prompt.add("one \\"), std::nullopt);
  EXPECT_EQ(prompt.add(""), std::nullopt);
  EXPECT_EQ(prompt.add("two"), std::nullopt);
  EXPECT_EQ(prompt.add("\"\"\""), "one \\\n\ntwo");
}

TEST(PromptAssembler, ABlockMayBeginAndEndOnItsTextsLines) {
  PromptAssembler prompt;
  EXPECT_EQ(prompt.add("\"\"\"one"), std::nullopt);
  EXPECT_EQ(prompt.add("two\"\"\" "), "one\ntwo");
  EXPECT_EQ(prompt.add("\"\"\"all\"\"\""), "all");
  EXPECT_EQ(prompt.add("\"\"\"\"\"\""), "");
}

TEST(PromptAssembler, TheEndOfTheInputEndsWhatWasBegun) {
  PromptAssembler prompt;
  EXPECT_EQ(prompt.finish(), std::nullopt);
  prompt.add("\"\"\"");
  prompt.add("one");
  EXPECT_EQ(prompt.finish(), "one");
  prompt.add("two\\");
  EXPECT_EQ(prompt.finish(), "two");
}

TEST(PromptAssembler, ResetForgetsWhatWasBegun) {
  PromptAssembler prompt;
  prompt.add("one\\");
  prompt.reset();
  EXPECT_EQ(prompt.add("two"), "two");
}

}  // namespace
}  // namespace segue::cli
