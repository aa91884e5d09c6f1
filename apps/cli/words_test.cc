#include "words.h"

#include <gtest/gtest.h>

#include "segue/error.h"

namespace segue::cli {
namespace {

TEST(Words, QuotesHoldWordsTogether) {
  EXPECT_EQ(split_words("stop \"a b\"  'c d' e"),
            (std::vector<std::string>{"stop", "a b", "c d", "e"}));
  EXPECT_EQ(split_words(R"("line\nend" "")"), (std::vector<std::string>{"line\nend", ""}));
  EXPECT_TRUE(split_words("   ").empty());
}

TEST(Words, AnOpenQuoteIsRefused) { EXPECT_THROW(split_words("a \"b"), InvalidArgument); }

TEST(Words, AQuotedWordReadsBackAsItWas) {
  for (const std::string word : {"plain", "two words", "", "a\nb", "say \"x\" \\ y", "it's"}) {
    EXPECT_EQ(split_words(quote_word(word)), std::vector<std::string>{word}) << word;
  }
}

TEST(Words, FirstWordLeavesTheRestAsTyped) {
  EXPECT_EQ(first_word("  2  two  words "),
            std::make_pair(std::string_view("2"), std::string_view("two  words")));
  EXPECT_EQ(first_word("word").second, "");
}

TEST(Words, ControlCharactersNeverReachTheTerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\r\n\tc\x7f"), "a[31mb\n\tc");
  EXPECT_EQ(printable("\xc2\x9b"
                      "1m\xc2\xa0é"),
            "1m\xc2\xa0é");
}

TEST(Words, ShortenedTextKeepsWholeCharacters) {
  EXPECT_EQ(shortened("one\n two", 20), "one two");
  EXPECT_EQ(shortened("äöüäöü", 4), "äöü…");
}

TEST(Words, GroupedNumbersHaveACommaEveryThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-1234), "-1,234");
}

}  // namespace
}  // namespace segue::cli
