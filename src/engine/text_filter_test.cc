#include "engine/text_filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace segue {
namespace {

std::vector<std::string> feed(TextFilter& filter, const std::vector<std::string>& pieces) {
  std::vector<std::string> out;
  for (const std::string& piece : pieces) out.push_back(filter.push(piece));
  out.push_back(filter.finish());
  return out;
}

using Strings = std::vector<std::string>;

TEST(TextFilter, PlainTextPassesAtOnce) {
  TextFilter filter({});
  EXPECT_EQ(feed(filter, {"Hello", ", ", "Ada"}), (Strings{"Hello", ", ", "Ada", ""}));
  EXPECT_FALSE(filter.stopped());
  EXPECT_EQ(filter.kept_bytes(), 10U);
}

TEST(TextFilter, AnEmojiSplitOverTokensAppearsWhole) {
  TextFilter filter({});
  EXPECT_EQ(feed(filter, {"a\xF0", "\x9F\x98", "\x80!"}),
            (Strings{"a", "", "\xF0\x9F\x98\x80!", ""}));
}

TEST(TextFilter, AnUnfinishedCharacterAtTheEndBecomesAReplacementCharacter) {
  TextFilter filter({});
  EXPECT_EQ(feed(filter, {"a\xF0\x9F"}), (Strings{"a", "\xEF\xBF\xBD"}));
}

TEST(TextFilter, BytesThatAreNoTextBecomeReplacementCharacters) {
  TextFilter filter({});
  // A stray continuation byte, an overlong form (two ill-formed bytes), a surrogate's three bytes.
  EXPECT_EQ(feed(filter, {"x\x80y"}), (Strings{"x\xEF\xBF\xBDy", ""}));
  TextFilter overlong({});
  EXPECT_EQ(feed(overlong, {"\xC0\xAFz"}), (Strings{"\xEF\xBF\xBD\xEF\xBF\xBDz", ""}));
  TextFilter surrogate({});
  EXPECT_EQ(feed(surrogate, {"\xED\xA0\x80z"}),
            (Strings{"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz", ""}));
}

TEST(TextFilter, AStopStringAcrossThreeTokensNeverLeaksAPart) {
  TextFilter filter({"END."});
  EXPECT_EQ(feed(filter, {"one E", "N", "D. two"}), (Strings{"one ", "", "", ""}));
  EXPECT_TRUE(filter.stopped());
  EXPECT_EQ(filter.kept_bytes(), 4U);
}

TEST(TextFilter, WhatOnlyBeganLikeAStopStringIsGivenBack) {
  TextFilter filter({"END."});
  EXPECT_EQ(feed(filter, {"one E", "N", "Dive"}), (Strings{"one ", "", "ENDive", ""}));
  EXPECT_FALSE(filter.stopped());
}

TEST(TextFilter, AHeldBeginningComesOutAtTheEnd) {
  TextFilter filter({"END."});
  EXPECT_EQ(feed(filter, {"the EN"}), (Strings{"the ", "EN"}));
}

TEST(TextFilter, AStopStringAtTheVeryEndIsFound) {
  TextFilter filter({"\n\n"});
  EXPECT_EQ(feed(filter, {"last", "\n", "\n"}), (Strings{"last", "", "", ""}));
  EXPECT_TRUE(filter.stopped());
}

TEST(TextFilter, TheEarliestOfSeveralStopStringsCounts) {
  TextFilter filter({"zz", "b"});
  EXPECT_EQ(feed(filter, {"abzz"}), (Strings{"a", ""}));
  EXPECT_EQ(filter.kept_bytes(), 1U);
}

TEST(TextFilter, AStopStringOfBytesInsideACharacterLeavesWholeText) {
  TextFilter filter({"\x9F"});
  EXPECT_EQ(feed(filter, {"a\xF0\x9F\x98\x80"}), (Strings{"a\xEF\xBF\xBD", ""}));
}

TEST(TextFilter, EmptyStopStringsAreIgnored) {
  TextFilter filter({""});
  EXPECT_EQ(feed(filter, {"a", "b"}), (Strings{"a", "b", ""}));
}

}  // namespace
}  // namespace segue
