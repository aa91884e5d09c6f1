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

TEST(CheckpointPoints, TheTurnsStartAndTheLastItemAreApart) {
  const auto points = checkpoint_points(prompt_of(100, {20, 90}), {.from = ItemCount(30)});
  EXPECT_EQ(values(points), (Lengths{90, 99}));
}

TEST(CheckpointPoints, WhatIsReadWithoutAnAnswerEndsWithOne) {
  const auto points = checkpoint_points(prompt_of(100, {20}), {.last_item_apart = false});
  EXPECT_EQ(values(points), (Lengths{20, 100}));
}

TEST(CheckpointPoints, NothingBeforeWhatIsKept) {
  EXPECT_TRUE(checkpoint_points(prompt_of(100, {20, 40}), {.from = ItemCount(99)}).empty());
}

TEST(CheckpointPoints, ALongConversationReadAnewIsCutIntoFewPieces) {
  std::vector<std::int64_t> boundaries;
  for (std::int64_t b = 10; b < 10000; b += 20) boundaries.push_back(b);
  const auto points = checkpoint_points(prompt_of(10000, boundaries), {});
  EXPECT_LE(points.size(), 14U);
  EXPECT_EQ(points.front(), ItemCount(10));
  EXPECT_EQ(points.back(), ItemCount(9999));
  EXPECT_EQ(points[points.size() - 2], ItemCount(9990));
  EXPECT_EQ(points[points.size() - 3], ItemCount(9970));
}

TEST(CheckpointPoints, AReadThatIsGivenUpLosesNoMoreThanItMay) {
  const auto points = checkpoint_points(prompt_of(100, {45}),
                                        {.from = ItemCount(10), .at_most_apart = ItemCount(20)});
  EXPECT_EQ(values(points), (Lengths{30, 45, 65, 85, 99}));
  const auto exact = checkpoint_points(
      prompt_of(41, {20}),
      {.from = ItemCount(0), .last_item_apart = false, .at_most_apart = ItemCount(20)});
  EXPECT_EQ(values(exact), (Lengths{20, 40, 41}));
}

TEST(CheckpointPoints, TheNextPointLiesBeyond) {
  const std::vector<ItemCount> points = {ItemCount(5), ItemCount(9)};
  EXPECT_EQ(next_checkpoint(points, ItemCount(0)), ItemCount(5));
  EXPECT_EQ(next_checkpoint(points, ItemCount(5)), ItemCount(9));
  EXPECT_EQ(next_checkpoint(points, ItemCount(9)), ItemCount(0));
}

}  // namespace
}  // namespace segue
