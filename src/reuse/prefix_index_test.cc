#include "reuse/prefix_index.h"

#include <gtest/gtest.h>

#include <map>

namespace segue {
namespace {

std::vector<PromptItem> run(std::size_t length, Token first = 1) {
  std::vector<PromptItem> items;
  for (std::size_t i = 0; i < length; ++i) {
    items.push_back(PromptItem::of_token(first + static_cast<Token>(i)));
  }
  return items;
}

// The same beginning of `shared` items, then others.
std::vector<PromptItem> branch(std::size_t shared, std::size_t length, Token other) {
  std::vector<PromptItem> items = run(length);
  for (std::size_t i = shared; i < length; ++i) items[i] = PromptItem::of_token(other);
  return items;
}

TEST(PrefixIndex, TheLongestSharedRunIsFirstAndNobodyIsMissed) {
  PrefixIndex index;
  std::map<std::uint64_t, std::size_t> shared = {{1, 0}, {2, 5}, {3, 40}, {4, 100}, {5, 131}};
  for (const auto& [id, n] : shared) index.insert(id, branch(n, 150, 9000));
  index.insert(6, run(7));

  const auto found = index.candidates(run(140));
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found.front().id, 5U);
  shared[6] = 7;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto n = static_cast<std::int64_t>(shared.at(found[i].id));
    EXPECT_LE(found[i].shared.value, n);
    EXPECT_LT(n, found[i].shared.value + static_cast<std::int64_t>(PrefixIndex::kBlock));
    EXPECT_LE(found[i].shared, found[i == 0 ? 0 : i - 1].shared);
  }
}

TEST(PrefixIndex, WhatIsErasedIsGoneAndLeavesNothingBehind) {
  PrefixIndex index;
  index.insert(1, run(100));
  index.insert(2, run(200));
  index.erase(2, run(200));
  ASSERT_EQ(index.candidates(run(300)).size(), 1U);
  EXPECT_EQ(index.candidates(run(300)).front().id, 1U);
  index.erase(1, run(100));
  EXPECT_TRUE(index.empty());
}

TEST(PrefixIndex, MediaChunksAreToldApartByContent) {
  PrefixIndex index;
  std::vector<PromptItem> a = run(64);
  a[3] = PromptItem::of_media(1, 2, 8);
  std::vector<PromptItem> b = a;
  b[3] = PromptItem::of_media(1, 3, 8);
  index.insert(1, a);
  index.insert(2, b);
  const auto found = index.candidates(b);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].id, 2U);
  EXPECT_EQ(found[0].shared, ItemCount(64));
  EXPECT_EQ(found[1].shared, ItemCount(0));
}

}  // namespace
}  // namespace segue
