#include "reuse/planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

namespace segue {
namespace {

using ::testing::ElementsAre;

constexpr MemoryTraits kAttention{MemoryKind::attention, 0, false};
constexpr MemoryTraits kWindow{MemoryKind::sliding_window, 4, false};
constexpr MemoryTraits kRecurrent{MemoryKind::recurrent, 0, true};
constexpr MemoryTraits kHybrid{MemoryKind::hybrid, 0, true};

// A letter an item.
Record record_of(std::string_view text) {
  Record record;
  for (const char c : text) record.append(PromptItem::of_token(c));
  return record;
}

Prompt prompt_of(std::string_view text) {
  const Record record = record_of(text);
  return {{record.items().begin(), record.items().end()}, {}};
}

Checkpoints checkpoints_at(std::initializer_list<std::int64_t> lengths) {
  Checkpoints checkpoints;
  for (const std::int64_t length : lengths) {
    checkpoints.add({ItemCount(length), std::make_shared<const StateBlob>(8)});
  }
  return checkpoints;
}

// Holders of state, named by letters of their records, with what they borrow.
class View {
 public:
  View& add(HolderKind kind, std::uint64_t id, std::string_view text, std::int64_t position_min = 0,
            std::initializer_list<std::int64_t> checkpoints = {}, std::int64_t bytes = 100) {
    owned_.push_back(std::make_unique<Owned>(Owned{record_of(text), checkpoints_at(checkpoints)}));
    holders_.push_back({kind, id, &owned_.back()->record, &owned_.back()->checkpoints,
                        Position(position_min), Bytes(bytes)});
    return *this;
  }
  View& own(std::string_view text, std::int64_t position_min = 0,
            std::initializer_list<std::int64_t> checkpoints = {}) {
    return add(HolderKind::own_slot, 0, text, position_min, checkpoints);
  }
  View& slot(std::uint64_t id, std::string_view text, std::int64_t position_min = 0,
             std::initializer_list<std::int64_t> checkpoints = {}) {
    return add(HolderKind::other_slot, id, text, position_min, checkpoints);
  }
  View& snapshot(std::uint64_t id, std::string_view text,
                 std::initializer_list<std::int64_t> checkpoints = {}, std::int64_t bytes = 100) {
    return add(HolderKind::snapshot, id, text, 0, checkpoints, bytes);
  }

  // In words: "rewind 0 to 5".
  std::vector<std::string> plans(std::string_view prompt, const MemoryTraits& memory) const {
    static constexpr const char* kKinds[] = {"keep", "rewind", "checkpoint", "copy", "restore"};
    static constexpr const char* kCuts[] = {"", " cut", " checkpoint"};
    std::vector<std::string> words;
    for (const Plan& plan : make_plans(prompt_of(prompt), holders_, memory)) {
      if (plan.kind == PlanKind::start_empty) {
        EXPECT_EQ(plan, Plan{});
        words.emplace_back("empty");
        continue;
      }
      std::string word = kKinds[static_cast<int>(plan.kind)];
      word += ' ' + std::to_string(plan.holder);
      if (plan.kind == PlanKind::copy || plan.kind == PlanKind::restore) {
        word += kCuts[static_cast<int>(plan.cut)];
      }
      words.push_back(word + " to " + std::to_string(plan.length.value));
    }
    return words;
  }
  const Holder& operator[](std::size_t i) const { return holders_[i]; }

 private:
  struct Owned {
    Record record;
    Checkpoints checkpoints;
  };
  std::vector<std::unique_ptr<Owned>> owned_;
  std::vector<Holder> holders_;
};

TEST(Planner, WithNothingHeldAllIsRead) {
  EXPECT_THAT(View().plans("abc", kAttention), ElementsAre("empty"));
  EXPECT_THAT(View().own("").plans("abc", kAttention), ElementsAre("empty"));
  EXPECT_THAT(View().own("xyz").plans("abc", kAttention), ElementsAre("empty"));
  EXPECT_THAT(View().own("abc").plans("", kAttention), ElementsAre("empty"));
}

TEST(Planner, AnAppendNeverRewinds) {
  for (const MemoryTraits& memory : {kAttention, kWindow, kRecurrent, kHybrid}) {
    EXPECT_THAT(View().own("abcdefgh", 4, {3}).plans("abcdefghij", memory),
                ElementsAre("keep 0 to 8", "empty"));
  }
}

TEST(Planner, TheLastItemIsAlwaysDecodedAgain) {
  EXPECT_THAT(View().own("abcd").plans("abcd", kAttention), ElementsAre("rewind 0 to 3", "empty"));
  EXPECT_THAT(View().own("a").plans("a", kAttention), ElementsAre("empty"));
  // A state that only moves forward has already passed the item before the last.
  EXPECT_THAT(View().own("abcd", 3).plans("abcd", kRecurrent), ElementsAre("empty"));
  EXPECT_THAT(View().own("abcd", 3, {2, 4}).plans("abcd", kRecurrent),
              ElementsAre("checkpoint 0 to 2", "empty"));
  EXPECT_THAT(View().snapshot(7, "abcd").plans("abcd", kAttention),
              ElementsAre("restore 7 cut to 3", "empty"));
}

TEST(Planner, EditingAnEarlierTurnReadsOnlyFromThere) {
  EXPECT_THAT(View().own("abcdefgh").plans("abcXefgh", kAttention),
              ElementsAre("rewind 0 to 3", "empty"));
}

TEST(Planner, AWindowThatIsGoneIsNotCutTo) {
  // To continue at 8, positions 4 to 7 must be there.
  EXPECT_THAT(View().own("abcdefghijkl", 4).plans("abcdefghX", kWindow),
              ElementsAre("rewind 0 to 8", "empty"));
  EXPECT_THAT(View().own("abcdefghijkl", 5).plans("abcdefghX", kWindow), ElementsAre("empty"));
  EXPECT_THAT(View().own("abcdefghijkl", 5, {2, 6, 10}).plans("abcdefghX", kWindow),
              ElementsAre("checkpoint 0 to 6", "empty"));
  // All of a short record is there, so any cut is good.
  EXPECT_THAT(View().own("abcdef", 0).plans("abX", kWindow), ElementsAre("rewind 0 to 2", "empty"));
}

TEST(Planner, ACheckpointThatOnlyMovesForwardServesItsOwnLength) {
  EXPECT_THAT(View().own("abcdefgh", 7, {2, 5, 7}).plans("abcdefXX", kHybrid),
              ElementsAre("checkpoint 0 to 5", "empty"));
  EXPECT_THAT(View().own("abcdefgh", 7, {5, 7}).plans("abcX", kHybrid), ElementsAre("empty"));
}

TEST(Planner, ACheckpointOfAWindowMayBeCut) {
  // One at 9 was saved with positions 4 to 8; to continue at 8, 4 to 7 must be there.
  EXPECT_THAT(View().own("abcdefghijkl", 7, {9}).plans("abcdefghX", kWindow),
              ElementsAre("checkpoint 0 to 8", "empty"));
  EXPECT_THAT(View().own("abcdefghijkl", 7, {3, 10}).plans("abcdefghX", kWindow),
              ElementsAre("checkpoint 0 to 3", "empty"));
  // One at 5 has everything before it.
  EXPECT_THAT(View().own("abcdefghijkl", 7, {5, 9}).plans("abX", kWindow),
              ElementsAre("checkpoint 0 to 2", "empty"));
  EXPECT_THAT(View().own("abcdefghijkl", 7, {6, 9}).plans("abX", kWindow), ElementsAre("empty"));
  EXPECT_THAT(View().snapshot(1, "abcdefghijkl", {5}).plans("abX", kWindow),
              ElementsAre("restore 1 checkpoint to 2", "empty"));
}

TEST(Planner, APlanNamesTheCheckpointThatItRestores) {
  View view;
  view.own("abcdefghijkl", 7, {5, 9});
  const auto plan_for = [&](std::string_view prompt) {
    return make_plans(prompt_of(prompt), std::span(&view[0], 1), kWindow).front();
  };
  EXPECT_EQ(plan_for("abcdefghX"),
            (Plan{PlanKind::checkpoint, 0, Cut::checkpoint, ItemCount(8), ItemCount(9)}));
  EXPECT_EQ(plan_for("abcdefX"),
            (Plan{PlanKind::checkpoint, 0, Cut::checkpoint, ItemCount(5), ItemCount(5)}));
}

TEST(Planner, ARewindFallsBackToTheCheckpointBeforeIt) {
  EXPECT_THAT(View().own("abcdefghijkl", 2, {3, 6}).plans("abcdefghX", kWindow),
              ElementsAre("rewind 0 to 8", "checkpoint 0 to 6", "empty"));
}

TEST(Planner, MoreItemsFirstAmongEqualsTheCheaperWay) {
  EXPECT_THAT(
      View().own("abcX").slot(2, "abcdeX").snapshot(9, "abcdef").plans("abcdefgh", kAttention),
      ElementsAre("restore 9 to 6", "copy 2 cut to 5", "rewind 0 to 3", "empty"));
  EXPECT_THAT(View().snapshot(9, "abcd").slot(2, "abcd").own("abcd").plans("abcdef", kAttention),
              ElementsAre("keep 0 to 4", "copy 2 to 4", "restore 9 to 4", "empty"));
  EXPECT_THAT(View().snapshot(8, "abcdX").snapshot(9, "abcd").plans("abcdef", kAttention),
              ElementsAre("restore 9 to 4", "restore 8 cut to 4", "empty"));
  EXPECT_THAT(View()
                  .snapshot(8, "abcdX", {}, 300)
                  .snapshot(9, "abcdY", {}, 200)
                  .plans("abcdef", kAttention),
              ElementsAre("restore 9 cut to 4", "restore 8 cut to 4", "empty"));
}

TEST(Planner, AShortPrefixInASlotDoesNotHideALongerOneInTheStore) {
  EXPECT_THAT(View().own("ab").slot(1, "abc").snapshot(5, "abcdefg").plans("abcdefgh", kHybrid),
              ElementsAre("restore 5 to 7", "copy 1 to 3", "keep 0 to 2", "empty"));
}

TEST(Planner, WhatMovesArrivesWithTheWindowBeforeItsEndOnly) {
  // The live slot still shows everything, but a copy of it will not.
  EXPECT_THAT(View().slot(1, "abcdefghijkl", 0).plans("abcdefghX", kWindow), ElementsAre("empty"));
  EXPECT_THAT(View().slot(1, "abcdefghijkl", 0, {6}).plans("abcdefghX", kWindow),
              ElementsAre("copy 1 checkpoint to 6", "empty"));
  EXPECT_THAT(View().snapshot(1, "abcdefghijkl", {3}).plans("abcdefghX", kWindow),
              ElementsAre("restore 1 checkpoint to 3", "empty"));
  EXPECT_THAT(View().snapshot(1, "abcd").plans("abX", kWindow),
              ElementsAre("restore 1 cut to 2", "empty"));
}

TEST(Planner, ALongerHistoryThatCannotGoBackGivesWayToAShorterThatNeedNot) {
  EXPECT_THAT(View().own("abcdefghX", 8).snapshot(3, "abcd").plans("abcdefghij", kRecurrent),
              ElementsAre("restore 3 to 4", "empty"));
}

TEST(Planner, TheListStaysShort) {
  View view;
  for (std::uint64_t id = 1; id <= 100; ++id) view.snapshot(id, "abcd");
  const std::vector<std::string> plans = view.plans("abcdef", kAttention);
  EXPECT_EQ(plans.size(), 8U);
  EXPECT_EQ(plans.front(), "restore 1 to 4");
  EXPECT_EQ(plans.back(), "empty");
}

TEST(Planner, AMediaChunkIsKeptWholeOrNotAtAll) {
  const Record record({PromptItem::of_token('a'), PromptItem::of_media(1, 1, 10),
                       PromptItem::of_token('b'), PromptItem::of_token('c')});
  const auto plans_with = [&](const PromptItem& media, std::int64_t position_min) {
    const Prompt prompt{{PromptItem::of_token('a'), media, PromptItem::of_token('X')}, {}};
    const Holder own{HolderKind::own_slot, 0, &record, nullptr, Position(position_min), Bytes(1)};
    return make_plans(prompt, std::span(&own, 1), kWindow);
  };
  // Lengths are items, windows are positions: the cut after the image is at position 11.
  EXPECT_EQ(plans_with(PromptItem::of_media(1, 1, 10), 7).front().length, ItemCount(2));
  EXPECT_EQ(plans_with(PromptItem::of_media(1, 1, 10), 8).front(), Plan{});
  EXPECT_EQ(plans_with(PromptItem::of_media(2, 1, 10), 0).front().length, ItemCount(1));
}

TEST(Planner, UsableLengthIsThatOfTheBestPlan) {
  View view;
  view.own("abcdefghijkl", 5, {2, 6}).snapshot(1, "abcdefghXX", {3});
  const Prompt prompt = prompt_of("abcdefghYZ");
  EXPECT_EQ(usable_length(prompt.items, view[0], kAttention), ItemCount(8));
  EXPECT_EQ(usable_length(prompt.items, view[0], kWindow), ItemCount(6));
  EXPECT_EQ(usable_length(prompt.items, view[1], kWindow), ItemCount(3));
  EXPECT_EQ(usable_length({}, view[0], kWindow), ItemCount(0));
  EXPECT_TRUE(can_reach(view[0], ItemCount(6), kWindow));
  EXPECT_FALSE(can_reach(view[0], ItemCount(8), kWindow));
  EXPECT_TRUE(can_reach(view[0], ItemCount(12), kWindow));
  EXPECT_FALSE(can_reach(view[0], ItemCount(13), kWindow));
}

}  // namespace
}  // namespace segue
