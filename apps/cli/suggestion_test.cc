#include "suggestion.h"

#include <gtest/gtest.h>

namespace segue::cli {
namespace {

const std::vector<std::string> kWords = {"help", "regenerate", "edit", "undo", "sessions", "set"};

TEST(Suggestion, FindsTheWordBehindATypingError) {
  EXPECT_EQ(suggest("hlep", kWords), "help");
  EXPECT_EQ(suggest("regenrate", kWords), "regenerate");
  EXPECT_EQ(suggest("edti", kWords), "edit");
  EXPECT_EQ(suggest("session", kWords), "sessions");
}

TEST(Suggestion, FindsTheWordThatBeginsSo) { EXPECT_EQ(suggest("reg", kWords), "regenerate"); }

TEST(Suggestion, SaysNothingWhereNothingIsNear) {
  EXPECT_EQ(suggest("weather", kWords), std::nullopt);
  EXPECT_EQ(suggest("", kWords), std::nullopt);
}

}  // namespace
}  // namespace segue::cli
