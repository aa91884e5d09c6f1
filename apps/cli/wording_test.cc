#include "wording.h"

#include <gtest/gtest.h>

#include "segue/error.h"

namespace segue::cli {
namespace {

TEST(Wording, AFullContextComesWithItsNumbersAndWhatHelpsHere) {
  const ContextOverflow full("context_length, WhenFull::drop_oldest", 8, 1017, 1024);
  const std::string in_chat = describe(full, Mode::chat);
  for (const char* part : {"1,024", "takes 8", "1,017", "/set max_tokens", "/set when_full"}) {
    EXPECT_NE(in_chat.find(part), std::string::npos) << part << " in " << in_chat;
  }
  const std::string in_run = describe(full, Mode::run);
  for (const char* part : {"--max-tokens N", "--when-full drop_oldest", "--ctx"}) {
    EXPECT_NE(in_run.find(part), std::string::npos) << part << " in " << in_run;
  }
  EXPECT_EQ(in_run.find("/set"), std::string::npos);
}

TEST(Wording, AConversationThatIsTooLongSaysSo) {
  const ContextOverflow full("", 2000, 0, 1024);
  EXPECT_EQ(describe(full, Mode::chat).find("the conversation has come to 2,000 tokens"), 0U);
}

TEST(Wording, TheLibrarysNamesBecomeFlags) {
  const OutOfMemory error("Ask for fewer slots or a shorter context_length.");
  EXPECT_EQ(describe(error, Mode::run), "Ask for fewer slots or a smaller --ctx.");
}

TEST(Wording, AModelOfAnUnnamedSizeHasItsCount) {
  Capabilities model;
  model.description = "llama ?B Q8_0";
  model.parameters = 2656704;
  EXPECT_EQ(title_of(model), "llama 2.7M Q8_0");
  model.description = "qwen2 0.5B Q4_0";
  EXPECT_EQ(title_of(model), "qwen2 0.5B Q4_0");
}

}  // namespace
}  // namespace segue::cli
