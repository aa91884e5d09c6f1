#include "reuse/checkpoint_points.h"

#include <gtest/gtest.h>

namespace segue {
namespace {

Prompt prompt_of(std::int64_t length, const std::vector<std::int64_t>& boundaries) {
  Prompt prompt;
  prompt.items.assign(static_cast<std::size_t>(length), PromptItem::of_token(1));
  for (const std::int64_t b : boundaries) prompt.boundaries.emplace_back(b);
  return prompt;
}

std::vector<std::int64_t> values(const std::vector<ItemCount>& points) {
  std::vector<std::int64_t> out;
  for (const ItemCount p : points) out.push_back(p.value);
  return out;
}

using Lengths = std::vector<std::int64_t>;

constexpr MemoryTraits kForward{MemoryKind::recurrent, 0, true};
constexpr MemoryTraits kWindow{MemoryKind::sliding_window, 49, false};  // 50 are saved

Lengths points(const Prompt& prompt, const CheckpointWish& wish) {
  return values(checkpoint_points(prompt, wish));
}

TEST(CheckpointPoints, WhatCanBeCutAnywhereNeedsNone) {
  EXPECT_EQ(points(prompt_of(100, {20, 90}), {}), Lengths());
}

TEST(CheckpointPoints, TheTurnsStartAndTheLastItemAreApart) {
  EXPECT_EQ(points(prompt_of(100, {20, 90}), {.memory = kForward, .from = ItemCount(30)}),
            (Lengths{90, 99}));
  EXPECT_EQ(points(prompt_of(100, {20, 99}), {.memory = kForward, .from = ItemCount(30)}),
            (Lengths{99}));
}

TEST(CheckpointPoints, WhatIsReadWithoutAnAnswerEndsWithOne) {
  EXPECT_EQ(points(prompt_of(100, {20}), {.memory = kForward, .answers = false}),
            (Lengths{20, 100}));
}

TEST(CheckpointPoints, NothingBeforeWhatIsKept) {
  for (const MemoryTraits& memory : {kForward, kWindow}) {
    EXPECT_EQ(points(prompt_of(100, {20, 40}), {.memory = memory, .from = ItemCount(100)}),
              Lengths());
  }
  EXPECT_EQ(points(prompt_of(100, {20, 40}), {.memory = kForward, .from = ItemCount(99)}),
            Lengths());
}

TEST(CheckpointPoints, ALongConversationReadAnewIsCutIntoFewPieces) {
  std::vector<std::int64_t> boundaries;
  for (std::int64_t b = 10; b < 10000; b += 20) boundaries.push_back(b);
  const Prompt prompt = prompt_of(10000, boundaries);
  const Lengths forward = points(prompt, {.memory = kForward});
  EXPECT_LE(forward.size(), 14U);
  EXPECT_EQ(forward.front(), 10);
  EXPECT_EQ(Lengths(forward.end() - 3, forward.end()), (Lengths{9970, 9990, 9999}));
  const Lengths window = points(prompt, {.memory = kWindow});
  EXPECT_LE(window.size(), 15U);
  EXPECT_EQ(Lengths(window.begin(), window.begin() + 2), (Lengths{50, 70}));
  EXPECT_EQ(Lengths(window.end() - 3, window.end()), (Lengths{9970, 9990, 10000}));
}

TEST(CheckpointPoints, AReadThatIsGivenUpLosesNoMoreThanItMay) {
  EXPECT_EQ(points(prompt_of(100, {45}),
                   {.memory = kForward, .from = ItemCount(10), .at_most_apart = ItemCount(20)}),
            (Lengths{30, 45, 65, 85, 99}));
  EXPECT_EQ(points(prompt_of(41, {20}),
                   {.memory = kForward, .answers = false, .at_most_apart = ItemCount(20)}),
            (Lengths{20, 40, 41}));
}

TEST(CheckpointPoints, AWholeWindowIsNotCutIntoPieces) {
  EXPECT_EQ(points(prompt_of(50, {10, 30}), {.memory = kWindow}), Lengths());
  // The last length at which all is there serves what lies before it.
  EXPECT_EQ(points(prompt_of(51, {10, 30}), {.memory = kWindow}), (Lengths{50, 51}));
  EXPECT_EQ(points(prompt_of(200, {10, 50, 150}), {.memory = kWindow, .from = ItemCount(30)}),
            (Lengths{50, 150, 200}));
  EXPECT_EQ(points(prompt_of(200, {10, 30, 150}), {.memory = kWindow, .from = ItemCount(50)}),
            (Lengths{150, 200}));
}

TEST(CheckpointPoints, AWindowCountsPositions) {
  Prompt prompt = prompt_of(60, {20});
  prompt.items[10].n_positions = 5;
  EXPECT_EQ(points(prompt, {.memory = kWindow}), (Lengths{46, 60}));
  prompt.items[47].n_positions = 5;
  EXPECT_EQ(points(prompt, {.memory = kWindow, .from = ItemCount(46)}), (Lengths{60}));
}

TEST(CheckpointPoints, AnAnswerPassesTheLongestWholeState) {
  Record record(prompt_of(49, {}).items);
  EXPECT_FALSE(is_longest_whole(record, kWindow));
  record.append(PromptItem::of_token(1));
  EXPECT_TRUE(is_longest_whole(record, kWindow));
  record.append(PromptItem::of_token(1));
  EXPECT_FALSE(is_longest_whole(record, kWindow));
  EXPECT_FALSE(is_longest_whole(Record(prompt_of(1, {}).items), kForward));
}

TEST(CheckpointPoints, TheNextPointLiesBeyond) {
  const std::vector<ItemCount> points = {ItemCount(5), ItemCount(9)};
  EXPECT_EQ(next_checkpoint(points, ItemCount(0)), ItemCount(5));
  EXPECT_EQ(next_checkpoint(points, ItemCount(5)), ItemCount(9));
  EXPECT_EQ(next_checkpoint(points, ItemCount(9)), ItemCount(0));
}

}  // namespace
}  // namespace segue
