#include "chat/piece_splitter.h"

#include <gtest/gtest.h>

#include "chat/reasoning_marks.h"

namespace segue {
namespace {

std::string all_of(const std::deque<Piece>& pieces, PieceKind kind) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (piece.kind == kind) text += piece.text;
  }
  return text;
}

TEST(PieceSplitter, WithoutAParserEveryPieceIsContentAtOnce) {
  PieceSplitter splitter(nullptr);
  std::deque<Piece> out;
  splitter.add("Hel", out);
  ASSERT_EQ(out.size(), 1U);
  splitter.add("lo", out);
  EXPECT_EQ(splitter.finish("Hello!", out).content, "Hello!");
  EXPECT_EQ(all_of(out, PieceKind::text), "Hello!");
}

TEST(PieceSplitter, ReasoningAndContentAreGivenOnceHoweverTheTextIsCut) {
  const std::string text = "<think>\nwhy < not\n</think>\n\nAn <answer>.";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    PieceSplitter splitter(std::make_shared<ReasoningMarks>("<think>", "</think>"));
    std::deque<Piece> out;
    for (std::size_t at = 0; at < text.size(); at += step) splitter.add(text.substr(at, step), out);
    const ParsedOutput parsed = splitter.finish(text, out);
    EXPECT_EQ(parsed.reasoning, "why < not");
    EXPECT_EQ(parsed.content, "An <answer>.");
    EXPECT_EQ(all_of(out, PieceKind::reasoning), parsed.reasoning) << step;
    EXPECT_EQ(all_of(out, PieceKind::text), parsed.content) << step;
  }
}

class CountingParser final : public OutputParser {
 public:
  ParsedOutput parse(std::string_view text, bool) const override {
    bytes += text.size();
    return {std::string(text), ""};
  }
  mutable std::size_t bytes = 0;
};

TEST(PieceSplitter, TheParsersWorkStaysWithinASmallMultipleOfTheText) {
  const auto parser = std::make_shared<CountingParser>();
  PieceSplitter splitter(parser);
  std::deque<Piece> out;
  std::string whole;
  for (int i = 0; i < 100'000; ++i) {
    whole += "word ";
    splitter.add("word ", out);
  }
  EXPECT_EQ(splitter.finish(whole, out).content, whole);
  EXPECT_EQ(all_of(out, PieceKind::text), whole);
  EXPECT_LT(parser->bytes, 100 * whole.size());
}

TEST(ReasoningMarks, TextWithoutMarksIsContent) {
  const ReasoningMarks marks("<think>", "</think>");
  EXPECT_EQ(marks.parse("Hello", false).content, "Hello");
  EXPECT_EQ(marks.parse(" a <think>b</think>", false).content, " a <think>b</think>");
  EXPECT_EQ(marks.parse("<thin", false).content, "<thin");
  EXPECT_EQ(marks.parse("<thin", true).content, "");
}

TEST(ReasoningMarks, ReasoningThatNeverEndsIsReasoning) {
  const ReasoningMarks marks("<think>", "</think>");
  EXPECT_EQ(marks.parse("<think>\nbecause", false).reasoning, "because");
  EXPECT_EQ(marks.parse("<think>\nbecause", false).content, "");
}

}  // namespace
}  // namespace segue
