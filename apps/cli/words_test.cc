#include "words.h"

#include <gtest/gtest.h>

#include <clocale>

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
  EXPECT_EQ(shortened("\xff\xfe\xfd", 2), "\xff…");
}

TEST(Words, WideCharactersTakeTwoColumns) {
  const std::string before = std::setlocale(LC_CTYPE, nullptr);
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) GTEST_SKIP() << "no UTF-8 locale";
  EXPECT_EQ(column_count("日本語"), 6U);
  EXPECT_EQ(column_count("é"), 1U);
  EXPECT_EQ(column_count("e\u0301"), 1U);
  EXPECT_EQ(shortened("日本語日本語", 6), "日本…");
  std::setlocale(LC_CTYPE, before.c_str());
}

TEST(Words, GroupedNumbersHaveACommaEveryThreeDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-1234), "-1,234");
}

TEST(Words, ShortCountsHaveAUnit) {
  EXPECT_EQ(short_count(999), "999");
  EXPECT_EQ(short_count(2656704), "2.7M");
  EXPECT_EQ(short_count(494032768), "494M");
  EXPECT_EQ(short_count(7241732096), "7.2B");
}

}  // namespace
}  // namespace segue::cli
