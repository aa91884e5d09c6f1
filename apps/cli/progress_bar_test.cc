#include "progress_bar.h"

#include <gtest/gtest.h>

#include "words.h"

namespace segue::cli {
namespace {

TEST(ProgressBar, ShowsHowFarItCame) {
  EXPECT_EQ(format_progress("loading", 0.5, 30, false), "loading  ########.......  50%");
  EXPECT_EQ(format_progress("loading", 1, 30, false), "loading  ############### 100%");
}

TEST(ProgressBar, NeverFillsTheLastColumn) {
  for (int width = 1; width < 120; ++width) {
    for (const bool unicode : {false, true}) {
      const std::string line = format_progress("reading 12 of 99 tokens", 0.3, width, unicode);
      EXPECT_LT(column_count(line), static_cast<std::size_t>(width)) << line;
    }
  }
}

TEST(ProgressBar, LeavesTheBarOutWhereItHasNoRoom) {
  EXPECT_EQ(format_progress("reading", 0.25, 16, false), "reading  25%");
}

TEST(ProgressBar, AFractionOutOfRangeIsAnEnd) {
  EXPECT_NE(format_progress("x", 7, 40, false).find("100%"), std::string::npos);
  EXPECT_NE(format_progress("x", -1, 40, false).find(" 0%"), std::string::npos);
  EXPECT_NE(format_progress("x", 0.0 / 0.0, 40, false).find(" 0%"), std::string::npos);
}

}  // namespace
}  // namespace segue::cli
