#include "layout.h"

#include <gtest/gtest.h>

#include <sstream>

#include "words.h"

namespace segue::cli {
namespace {

TEST(Layout, LinesBreakAtSpacesBeforeTheLastColumn) {
  EXPECT_EQ(wrapped("one two three", 9), "one two\nthree");
  EXPECT_EQ(wrapped("one two", 7), "one\ntwo");
  EXPECT_EQ(wrapped("one two", 80), "one two");
}

TEST(Layout, FurtherLinesAreIndented) { EXPECT_EQ(wrapped("aa bb cc", 8, 2), "aa bb\n  cc"); }

TEST(Layout, ALongWordStaysWhole) {
  EXPECT_EQ(wrapped("a abcdefghijklmnop b", 6), "a\nabcdefghijklmnop\nb");
}

TEST(Layout, LineBreaksAndLeadingSpacesOfTheTextStay) {
  EXPECT_EQ(wrapped("  a\n\n  b", 80), "  a\n\n  b");
}

TEST(Layout, RowsStandInTwoColumns) {
  EXPECT_EQ(format_rows({{"a", "first"}, {"long", "second"}}, 80),
            "  a     first\n"
            "  long  second\n");
}

TEST(Layout, InANarrowWindowTheMeaningStandsBelow) {
  EXPECT_EQ(format_rows({{"a name of some length", "what it means"}}, 30),
            "  a name of some length\n"
            "    what it means\n");
}

TEST(Layout, NoRowIsWiderThanTheWindow) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"name", "a meaning of several words that goes on for quite a while, as some do"},
      {"other", "short"}};
  for (int width = 20; width < 100; ++width) {
    std::istringstream lines(format_rows(rows, width));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LT(column_count(line), static_cast<std::size_t>(width)) << line;
    }
  }
}

}  // namespace
}  // namespace segue::cli
