#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string_view>

namespace segue {
namespace {

constexpr MemoryTraits kAttention{MemoryKind::attention, 0, false};
constexpr MemoryTraits kWindow{MemoryKind::sliding_window, 4, false};
constexpr MemoryTraits kRecurrent{MemoryKind::recurrent, 0, true};

// A letter an item.
std::vector<PromptItem> items_of(std::string_view text) {
  std::vector<PromptItem> items;
  for (const char c : text) items.push_back(PromptItem::of_token(c));
  return items;
}

struct Made {
  std::int64_t state_bytes = 1000;
  std::initializer_list<std::int64_t> checkpoints{};
  std::string space{};
};

SnapshotPtr snapshot_of(std::string_view text, const Made& made = {}) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->record = Record(items_of(text));
  snapshot->state = std::make_shared<const StateBlob>(made.state_bytes);
  for (const std::int64_t length : made.checkpoints) {
    snapshot->checkpoints.add({ItemCount(length), std::make_shared<const StateBlob>(100)});
  }
  snapshot->cache_namespace = made.space;
  return snapshot;
}

std::string text_of(const Snapshot* snapshot) {
  std::string text;
  for (const PromptItem& item : snapshot->record.items()) {
    text += static_cast<char>(item.token);
  }
  return text;
}

std::vector<std::string> found(const Store& store, std::string_view prompt,
                               std::string_view space = {}) {
  std::vector<std::string> texts;
  for (const SnapshotId id : store.find(space, items_of(prompt))) {
    texts.push_back(text_of(store.peek(id)));
  }
  return texts;
}

constexpr Bytes kRoomy(1 << 20);

TEST(Store, TheLongestUsableBeginningComesFirst) {
  Store store(kRoomy, kAttention);
  store.put(snapshot_of("hello world"));
  store.put(snapshot_of("hello there"));
  store.put(snapshot_of("help"));
  EXPECT_EQ(found(store, "hello worlds").front(), "hello world");
  EXPECT_EQ(found(store, "hello the end").front(), "hello there");
}

TEST(Store, ALongerBeginningThatCannotBeReachedComesAfterAShorterOneThatCan) {
  Store store(kRoomy, kRecurrent);
  store.put(snapshot_of("abcdefgh, and a long end"));
  store.put(snapshot_of("abcd"));
  EXPECT_EQ(found(store, "abcdefgh!").front(), "abcd");
  store.put(snapshot_of("abcdefgh, and another end", {.checkpoints = {8}}));
  EXPECT_EQ(found(store, "abcdefgh!").front(), "abcdefgh, and another end");
}

TEST(Store, NamespacesAreApart) {
  Store store(kRoomy, kAttention);
  store.put(snapshot_of("secret", {.space = "one"}));
  EXPECT_TRUE(found(store, "secrets", "two").empty());
  EXPECT_TRUE(found(store, "secrets").empty());
  EXPECT_THAT(found(store, "secrets", "one"), testing::ElementsAre("secret"));
  // The same content in another namespace neither replaces nor serves.
  store.put(snapshot_of("secret and more", {.space = "two"}));
  EXPECT_EQ(store.count(), 2);
  EXPECT_FALSE(store.holds("two", Record(items_of("secreX"))));
}

TEST(Store, AStateThatALongerOneServesIsDropped) {
  Store store(kRoomy, kAttention);
  store.put(snapshot_of("abc"));
  store.put(snapshot_of("abcdef"));
  EXPECT_EQ(store.count(), 1);
  store.put(snapshot_of("abcdef"));
  EXPECT_EQ(store.count(), 1);
  EXPECT_TRUE(store.holds("", Record(items_of("abc"))));
  EXPECT_FALSE(store.holds("", Record(items_of("abx"))));
  EXPECT_FALSE(store.holds("", Record(items_of("abcdefg"))));
}

TEST(Store, AStateThatALongerOneCannotBeBroughtToStays) {
  Store store(kRoomy, kRecurrent);
  store.put(snapshot_of("abc"));
  store.put(snapshot_of("abcdef"));
  EXPECT_EQ(store.count(), 2);
  EXPECT_TRUE(store.holds("", Record(items_of("abc"))));
  store.put(snapshot_of("abcdefg", {.checkpoints = {3, 6}}));
  EXPECT_EQ(store.count(), 1);
  EXPECT_TRUE(store.holds("", Record(items_of("abc"))));
  EXPECT_FALSE(store.holds("", Record(items_of("abcd"))));
}

TEST(Store, ACheckpointThatALongerStateLacksKeepsItsOwner) {
  Store store(kRoomy, kRecurrent);
  store.put(snapshot_of("abcdef", {.checkpoints = {2}}));
  store.put(snapshot_of("abcdefgh", {.checkpoints = {6}}));
  EXPECT_EQ(store.count(), 2);
}

TEST(Store, AWindowThatIsGoneIsNotServed) {
  Store store(kRoomy, kWindow);
  store.put(snapshot_of("abcdefghijklmnop"));
  // Only the last four positions of the window are in a saved state.
  EXPECT_FALSE(store.holds("", Record(items_of("abcdefgh"))));
  EXPECT_TRUE(store.holds("", Record(items_of("abcdefghijklmnop"))));
}

TEST(Store, WhatCostsLeastToReadAgainPerByteGoesFirst) {
  Store store(Bytes(10'000), kAttention);
  store.put(snapshot_of("dear: forty items in few bytes, long text", {.state_bytes = 2000}));
  store.put(snapshot_of("cheap", {.state_bytes = 6000}));
  EXPECT_EQ(store.evictions(), 0);
  store.put(snapshot_of("newcomer", {.state_bytes = 5000}));
  EXPECT_EQ(store.evictions(), 1);
  EXPECT_TRUE(found(store, "cheap!").front() != "cheap");
  EXPECT_TRUE(store.holds("", Record(items_of("dear: forty items"))));
}

TEST(Store, UseKeepsAStateAndAgeDropsIt) {
  Store store(Bytes(10'000), kAttention);
  const auto used = *store.put(snapshot_of("0 used", {.state_bytes = 2500}));
  store.put(snapshot_of("1 idle", {.state_bytes = 2500}));
  for (int i = 2; i < 40; ++i) {
    ASSERT_NE(store.get(used), nullptr) << i;
    store.put(snapshot_of(std::to_string(i) + " new", {.state_bytes = 2500}));
  }
  EXPECT_FALSE(store.holds("", Record(items_of("1 idle"))));
}

TEST(Store, ATooLargeStateIsNotKeptAndDropsNothing) {
  Store store(Bytes(5000), kAttention);
  store.put(snapshot_of("small", {.state_bytes = 100}));
  EXPECT_EQ(store.put(snapshot_of("large", {.state_bytes = 6000})), std::nullopt);
  EXPECT_EQ(store.count(), 1);
  EXPECT_EQ(store.evictions(), 0);
}

TEST(Store, CheckpointsCount) {
  Store store(kRoomy, kRecurrent);
  store.put(snapshot_of("abcdef", {.state_bytes = 0}));
  const Bytes without = store.bytes();
  store.clear();
  store.put(snapshot_of("abcdef", {.state_bytes = 0, .checkpoints = {1, 2, 3}}));
  EXPECT_GE(store.bytes(), without + Bytes(300));
}

TEST(Store, BytesAreExactAndWithinTheBudgetWhateverComes) {
  std::mt19937 random(1);
  Store store(Bytes(20'000), kRecurrent);
  std::vector<SnapshotId> ids;
  for (int i = 0; i < 3000; ++i) {
    std::string text = "shared ";
    for (std::uint32_t n = random() % 30; n > 0; --n) text += static_cast<char>('a' + random() % 3);
    const auto id =
        store.put(snapshot_of(text, {.state_bytes = static_cast<std::int64_t>(random() % 3000),
                                     .space = random() % 2 == 0 ? "a" : "b"}));
    if (id) ids.push_back(*id);
    if (random() % 5 == 0 && !ids.empty()) store.drop(ids[random() % ids.size()]);
    if (random() % 200 == 0) store.clear();
    Bytes sum{0};
    std::int64_t count = 0;
    for (const SnapshotId known : ids) {
      if (const Snapshot* snapshot = store.peek(known)) {
        sum += snapshot->bytes();
        ++count;
      }
    }
    ASSERT_EQ(store.bytes(), sum);
    ASSERT_EQ(store.count(), count);
    ASSERT_LE(store.bytes(), Bytes(20'000));
  }
}

}  // namespace
}  // namespace segue
