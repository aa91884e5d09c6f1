#include "reuse/checkpoints.h"

#include <gtest/gtest.h>

namespace segue {
namespace {

Checkpoint at(std::int64_t length, std::size_t bytes = 10) {
  return {ItemCount(length), std::make_shared<const StateBlob>(bytes)};
}

std::vector<std::int64_t> lengths(const Checkpoints& checkpoints) {
  std::vector<std::int64_t> list;
  for (const Checkpoint& c : checkpoints.list()) list.push_back(c.length.value);
  return list;
}

TEST(Checkpoints, AreKeptInOrderAndOneALength) {
  Checkpoints checkpoints;
  for (const std::int64_t length : {30, 10, 20, 10}) checkpoints.add(at(length));
  checkpoints.add(at(20, 25));
  EXPECT_EQ(lengths(checkpoints), (std::vector<std::int64_t>{10, 20, 30}));
  EXPECT_EQ(checkpoints.bytes(), Bytes(45));
}

TEST(Checkpoints, TheLongestThatFitsIsFound) {
  Checkpoints checkpoints;
  EXPECT_EQ(checkpoints.at_or_before(ItemCount(100)), nullptr);
  for (const std::int64_t length : {10, 20, 30}) checkpoints.add(at(length));
  EXPECT_EQ(checkpoints.at_or_before(ItemCount(9)), nullptr);
  EXPECT_EQ(checkpoints.at_or_before(ItemCount(10))->length, ItemCount(10));
  EXPECT_EQ(checkpoints.at_or_before(ItemCount(29))->length, ItemCount(20));
  EXPECT_EQ(checkpoints.at_or_before(ItemCount(99))->length, ItemCount(30));
  EXPECT_TRUE(checkpoints.contains(ItemCount(20)));
  EXPECT_FALSE(checkpoints.contains(ItemCount(21)));
}

TEST(Checkpoints, ACutStateKeepsOnlyThoseOfItsBeginning) {
  Checkpoints checkpoints;
  for (const std::int64_t length : {10, 20, 30}) checkpoints.add(at(length));
  checkpoints.truncate(ItemCount(20));
  EXPECT_EQ(lengths(checkpoints), (std::vector<std::int64_t>{10, 20}));
  checkpoints.truncate(ItemCount(0));
  EXPECT_TRUE(checkpoints.list().empty());
}

TEST(Checkpoints, ThinningKeepsTheFirstTheLatestAndSpacesTheRestGeometrically) {
  Checkpoints checkpoints;
  for (std::int64_t length = 100; length <= 6400; length += 100) checkpoints.add(at(length));
  checkpoints.thin(Bytes(80));
  const std::vector<std::int64_t> kept = lengths(checkpoints);
  ASSERT_EQ(kept.size(), 8U);
  EXPECT_EQ(kept.front(), 100);
  EXPECT_EQ(kept.back(), 6400);
  EXPECT_EQ(kept[6], 6300);
  // Each step back from the end is about as long as all the steps after it, never far more.
  for (std::size_t i = 1; i + 2 < kept.size(); ++i) {
    EXPECT_GE(kept[i] - kept[i - 1], kept[i + 1] - kept[i]);
  }
}

TEST(Checkpoints, ThinningOverALongChatStaysInBudgetAndUsable) {
  constexpr std::int64_t kEnd = std::int64_t{50} * 2000;
  Checkpoints checkpoints;
  for (std::int64_t length = 50; length <= kEnd; length += 50) {
    checkpoints.add(at(length));
    checkpoints.thin(Bytes(120));
    ASSERT_LE(checkpoints.bytes(), Bytes(120));
    ASSERT_EQ(checkpoints.list().back().length, ItemCount(length));
    ASSERT_EQ(checkpoints.list().front().length, ItemCount(50));
  }
  // Going back by d reads again no more than a small multiple of d.
  for (const std::int64_t d : {50, 200, 1000, 5000, 20000}) {
    const ItemCount wanted(kEnd - d);
    EXPECT_LE((wanted - checkpoints.at_or_before(wanted)->length).value, 4 * d) << d;
  }
}

TEST(Checkpoints, TheLatestGoesLast) {
  Checkpoints checkpoints;
  for (const std::int64_t length : {10, 20}) checkpoints.add(at(length));
  checkpoints.thin(Bytes(10));
  EXPECT_EQ(lengths(checkpoints), (std::vector<std::int64_t>{20}));
  checkpoints.thin(Bytes(9));
  EXPECT_TRUE(checkpoints.list().empty());
  EXPECT_EQ(checkpoints.bytes(), Bytes(0));
}

}  // namespace
}  // namespace segue
