#include "session/answer_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace segue {
namespace {

// "(thought)content"; while a "(" may still be closed, nothing is content.
class Parentheses final : public OutputParser {
 public:
  ParsedOutput parse(std::string_view text, bool /*is_partial*/) const override {
    if (text.empty() || text.front() != '(') return {std::string(text), ""};
    const std::size_t end = text.find(')');
    if (end == std::string_view::npos) return {"", std::string(text.substr(1))};
    return {std::string(text.substr(end + 1)), std::string(text.substr(1, end - 1))};
  }
};

// Says that trailing spaces belong to the text, until it sees the end.
class Trimming final : public OutputParser {
 public:
  ParsedOutput parse(std::string_view text, bool is_partial) const override {
    while (!is_partial && text.ends_with(' ')) text.remove_suffix(1);
    return {std::string(text), ""};
  }
};

std::string shown(const std::deque<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    text += (piece.kind == PieceKind::reasoning ? "R:" : "T:") + piece.text + "|";
  }
  return text;
}

TEST(AnswerSplitter, WithoutAParserEveryTextIsAPiece) {
  AnswerSplitter splitter(nullptr);
  std::deque<Piece> pieces;
  splitter.add("Hel", pieces);
  splitter.add("", pieces);
  splitter.add("lo", pieces);
  EXPECT_EQ(splitter.finish("Hello", pieces).content, "Hello");
  EXPECT_EQ(shown(pieces), "T:Hel|T:lo|");
}

TEST(AnswerSplitter, ReasoningAndContentArePiecesOfTheirOwn) {
  AnswerSplitter splitter(std::make_shared<Parentheses>());
  std::deque<Piece> pieces;
  for (const char* text : {"(h", "m)", "yes", "!"}) splitter.add(text, pieces);
  const ParsedOutput whole = splitter.finish("(hm)yes!", pieces);
  EXPECT_EQ(shown(pieces), "R:h|R:m|T:yes|T:!|");
  EXPECT_EQ(whole.content, "yes!");
  EXPECT_EQ(whole.reasoning, "hm");
}

TEST(AnswerSplitter, WhatComesAtTheEndIsHandedOut) {
  AnswerSplitter splitter(nullptr);
  std::deque<Piece> pieces;
  splitter.add("a", pieces);
  splitter.finish("ab", pieces);
  EXPECT_EQ(shown(pieces), "T:a|T:b|");
}

TEST(AnswerSplitter, NothingHandedOutIsTakenBackOrRepeated) {
  AnswerSplitter splitter(std::make_shared<Trimming>());
  std::deque<Piece> pieces;
  splitter.add("a ", pieces);
  EXPECT_EQ(splitter.finish("a ", pieces).content, "a");
  EXPECT_EQ(shown(pieces), "T:a |");
}

}  // namespace
}  // namespace segue
