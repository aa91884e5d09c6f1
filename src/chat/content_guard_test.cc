#include "chat/content_guard.h"

#include <gtest/gtest.h>

#include "chat/fake_vocabulary.h"
#include "chat/utf8.h"

namespace segue {
namespace {

const std::vector<SpecialToken>& specials() {
  static const std::vector<SpecialToken> tokens = {
      {.token = 1, .text = "<|start|>", .is_control = true},
      {.token = 2,
       .text = "<\xEF\xBD\x9C"
               "end>",
       .is_control = true},
      {.token = 3, .text = "<tool>", .is_control = false},
      {.token = 4, .text = "  ", .is_control = false}};
  return tokens;
}

struct Guarding {
  SpecialTokenIndex index{specials()};
  ControlTexts controls{index, ""};
  ContentGuard guard{index, ""};
  std::string mark(std::string_view text) {
    return guard.mark(text, controls, ContentGuard::Reach::touching);
  }
};

TEST(ContentGuard, OrdinaryContentIsLeftAsItIs) {
  Guarding g;
  for (const char* text :
       {"", "Hello", "a < b", "if (a <b|c) <|", "<tool>", "  x", "\xF0\x9F\x99\x82"}) {
    const std::string_view inner =
        std::string_view(text).substr(0, 1) == "i" ? "if (a <b|c)" : text;
    EXPECT_EQ(g.mark(inner), inner);
  }
}

TEST(ContentGuard, WhatContainsOrTouchesAControlTextIsMarkedAndComesBack) {
  for (const std::string text :
       {"x<|start|>y", "x<|sta", "x<", "rt|>x", ">x", " <|st \n", "\n rt|> x", "start", "|",
        "x<\uFF5C", "<\uFF5Cend>", "<|start|><|start|>"}) {
    Guarding g;
    const std::string marked = g.mark(text);
    EXPECT_NE(marked, text);
    const GuardedText back = g.guard.unmark("[" + marked + "]", {});
    EXPECT_EQ(back.text, "[" + text + "]");
    EXPECT_FALSE(back.guarded.empty());
  }
}

TEST(ContentGuard, GuardedBytesAreThoseOfTheMarkedCharacters) {
  Guarding g;
  const GuardedText back = g.guard.unmark("<|start|>" + g.mark("a<|start|>"), {});
  EXPECT_FALSE(back.is_guarded(0, 10));
  EXPECT_TRUE(back.is_guarded(10, 11));
  EXPECT_TRUE(back.is_guarded(0, 19));
  EXPECT_FALSE(back.is_guarded(11, 19));
}

TEST(ContentGuard, OffsetsFollowTheTextWhenMarksAreTakenBack) {
  Guarding g;
  const std::string rendered = g.mark("<|start|>") + "ab";
  std::size_t a = rendered.size() - 2;
  std::size_t end = rendered.size();
  const GuardedText back = g.guard.unmark(rendered, {&a, &end});
  EXPECT_EQ(back.text.substr(a, end - a), "ab");
}

TEST(ContentGuard, CharactersOfTheTemplateNeverServeAsMarks) {
  std::string source;
  append_utf8(0xF0000, source);
  const SpecialTokenIndex index(specials());
  const ControlTexts controls(index, "");
  ContentGuard guard(index, source);
  const std::string marked = guard.mark("<|start|>", controls, ContentGuard::Reach::touching);
  EXPECT_EQ(guard.unmark(source + marked, {}).text, source + "<|start|>");
}

TEST(ControlTexts, UserDefinedTokensThatTheTemplateUsesCountToo) {
  const SpecialTokenIndex index(specials());
  EXPECT_FALSE(ControlTexts(index, "").contains(2));
  EXPECT_TRUE(ControlTexts(index, "{{ '<tool>' }}  ").contains(2));
  EXPECT_FALSE(ControlTexts(index, "{{ '<tool>' }}  ").contains(3));
}

}  // namespace
}  // namespace segue
