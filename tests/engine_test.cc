// What the engine keeps and what it reads, over fake memories of every kind; every answer is that
// of a fresh full read.
#include "engine_fixture.h"

namespace segue {
namespace {

INSTANTIATE_TEST_SUITE_P(Kinds, EngineOnEveryMemory, testing::ValuesIn(kKeptKinds),
                         [](const auto& kind) { return to_string(kind.param); });

TEST_P(EngineOnEveryMemory, ATurnReadsOnlyWhatIsNew) {
  Talk talk(on_);
  talk.ask(1);
  for (std::uint64_t turn = 2; turn < 30; ++turn) {
    const std::int64_t held = length(talk) - 1;  // without the template's end of the turn
    const AnswerResult result = talk.ask(turn);
    // An answer that max_tokens cut has a last token that was written and never decoded.
    EXPECT_GE(result.usage.reused, held - 1);
  }
}

TEST_P(EngineOnEveryMemory, SessionsThatSpeakInTurnKeepTheirStates) {
  std::vector<Talk> talks;
  for (int i = 0; i < 7; ++i) talks.emplace_back(on_);
  for (std::uint64_t round = 0; round < 5; ++round) {
    for (std::uint64_t i = 0; i < talks.size(); ++i) {
      const std::int64_t held = length(talks[i]) - 2;
      EXPECT_GE(talks[i].ask(100 * i + round).usage.reused, round == 0 ? 0 : held);
    }
  }
}

TEST_P(EngineOnEveryMemory, RegeneratingReadsTheLastItemOnly) {
  Talk talk(on_);
  for (std::uint64_t turn = 0; turn < 5; ++turn) talk.ask(turn);
  const Talk before = talk;
  talk.ask(50);
  for (int again = 0; again < 3; ++again) {
    talk.become(before);
    EXPECT_EQ(talk.ask(50).usage.read, 1);
  }
}

TEST_P(EngineOnEveryMemory, AnEditFarBackReadsFromItsTurnOn) {
  Talk talk(on_);
  for (std::uint64_t turn = 0; turn < 20; ++turn) talk.ask(turn);
  Talk edited = talk;
  edited.rewind_to(5);
  const std::int64_t kept = length(edited);
  EXPECT_EQ(edited.ask(555).usage.reused, kept);
  // And the first branch is still there.
  const std::int64_t held = length(talk) - 2;
  EXPECT_GE(talk.ask(20).usage.reused, held);
  // And the edited one again.
  const std::int64_t edited_held = length(edited) - 2;
  EXPECT_GE(edited.ask(556).usage.reused, edited_held);
}

TEST_P(EngineOnEveryMemory, SessionsWithACommonBeginningShareIt) {
  Talk first(on_);
  first.ask(7, {.new_tokens = 60});
  Talk other(on_);
  // The same text in its first turn, then another answer's place: what is shared is the prompt.
  const AnswerResult result = other.ask(7, {.new_tokens = 60});
  EXPECT_EQ(result.usage.read, 1);
  // The first one's unsaved end is as it was.
  const std::int64_t held = length(first) - 2;
  EXPECT_GE(first.ask(8).usage.reused, held);
}

TEST_P(EngineOnEveryMemory, NamespacesShareNothing) {
  Talk one(on_, "one");
  one.ask(7, {.new_tokens = 60});
  Talk two(on_, "two");
  EXPECT_EQ(two.ask(7, {.new_tokens = 60}).usage.reused, 0);
  Talk three(on_, "one");
  EXPECT_EQ(three.ask(7, {.new_tokens = 60}).usage.read, 1);
}

TEST_P(EngineOnEveryMemory, ASlotThatGoesToAnotherNamespaceShowsItNothingAndLosesNothing) {
  FakeEngine narrow(backend(1));
  Talk one(narrow, "one");
  one.ask(7, {.new_tokens = 60});
  Talk two(narrow, "two");
  EXPECT_EQ(two.ask(7, {.new_tokens = 60}).usage.reused, 0);
  const std::int64_t held = length(one) - 2;
  EXPECT_GE(one.ask(8).usage.reused, held);
}

TEST_P(EngineOnEveryMemory, AShortPrefixInASlotDoesNotHideALongerOneInTheStore) {
  Talk talk(on_);
  talk.ask(1, {.new_tokens = 40});
  const Talk short_one = talk.fork();
  for (std::uint64_t turn = 2; turn < 6; ++turn) talk.ask(turn);
  // Others take both slots; then one that has the beginning only.
  Talk a(on_);
  a.ask(1000);
  Talk beginning = short_one;
  beginning.ask(77);
  const std::int64_t held = length(talk) - 2;
  EXPECT_GE(talk.ask(6).usage.reused, held);
}

TEST_P(EngineOnEveryMemory, TakingAStateDoesNotTakeItAway) {
  Talk talk(on_);
  for (std::uint64_t turn = 0; turn < 4; ++turn) talk.ask(turn);
  std::vector<Talk> forks;
  for (int i = 0; i < 4; ++i) forks.push_back(talk.fork());
  const std::int64_t held = length(talk) - 2;
  for (Talk& fork : forks) EXPECT_GE(fork.ask(40).usage.reused, held);
  EXPECT_GE(talk.ask(41).usage.reused, held);
}

TEST_P(EngineOnEveryMemory, ATransientAnswerLeavesTheStateAlone) {
  Talk talk(on_);
  for (std::uint64_t turn = 0; turn < 4; ++turn) talk.ask(turn);
  const std::int64_t held = length(talk) - 2;
  EXPECT_GE(talk.ask(90, {.transient = true}).usage.reused, held);
  EXPECT_GE(talk.ask(91).usage.reused, held);
}

TEST_P(EngineOnEveryMemory, WhatWasReadAheadIsNotReadAgain) {
  Talk talk(on_);
  talk.ask(1);
  GenerationRequest ahead = talk.request(2, {.new_tokens = 20});
  ahead.read_only = true;
  const AnswerResult read = result_of(*on_.engine->submit(ahead));
  EXPECT_TRUE(read.tokens.empty());
  EXPECT_EQ(talk.ask(2, {.new_tokens = 21}).usage.read, 1);
}

TEST_P(EngineOnEveryMemory, SettlingReadsWhatWillBeAskedWhileNobodyWaits) {
  Talk talk(on_);
  for (std::uint64_t turn = 0; turn < 4; ++turn) talk.ask(turn);
  // The template drops a part of the last answer: its last three items become one other.
  Talk dropped = talk;
  dropped.rewind_to(talk.turns_begin_count() - 1);
  const Prompt prefix = dropped.prompt_for(3333, 12);
  on_.engine->settle(talk.id(), prefix);
  const CachedState settled = on_.idle_counters();
  EXPECT_GT(settled.tokens_settled, 0);
  EXPECT_EQ(settled.parked_states, 0);  // nobody comes back to what was dropped
  GenerationRequest next = dropped.request(3333, {.new_tokens = 12});
  next.prompt.items.push_back(PromptItem::of_token(5));
  const AnswerResult result = result_of(*on_.engine->submit(next));
  dropped.expect_fresh(next, result);
  EXPECT_EQ(result.usage.read, 1);
}

TEST_P(EngineOnEveryMemory, AStateMovesToAnotherEngine) {
  Talk talk(on_);
  for (std::uint64_t turn = 0; turn < 4; ++turn) talk.ask(turn);
  for (const bool parked : {false, true}) {
    if (parked) {
      Talk(on_).ask(1000);
      Talk(on_).ask(1001);
    }
    const SnapshotPtr snapshot = on_.engine->export_state(talk.id(), talk.prompt_for(9, 1));
    ASSERT_NE(snapshot, nullptr);
    FakeEngine elsewhere(backend());
    ASSERT_TRUE(elsewhere.engine->import_state(snapshot));
    Talk resumed(elsewhere);
    resumed.become(talk);
    EXPECT_GE(resumed.ask(9).usage.reused, length(talk) - 2);
  }
}

TEST_P(EngineOnEveryMemory, AStateOfAnotherModelIsRefused) {
  Talk talk(on_);
  talk.ask(1);
  auto foreign =
      std::make_shared<Snapshot>(*on_.engine->export_state(talk.id(), talk.prompt_for(2, 1)));
  foreign->fingerprint = "another model";
  EXPECT_FALSE(on_.engine->import_state(foreign));
  EXPECT_EQ(on_.idle_counters().parked_states, 0);
}

TEST_P(EngineOnEveryMemory, TheLeastRecentlyUsedStateLeavesItsSlot) {
  Talk used(on_);
  Talk idle(on_);
  used.ask(1);
  idle.ask(2);
  used.ask(3);
  Talk(on_).ask(4);
  used.ask(5);
  EXPECT_EQ(on_.control->calls(FakeCall::restore), 0);
  idle.ask(6);
  EXPECT_GT(on_.control->calls(FakeCall::restore), 0);
}

TEST_P(EngineOnEveryMemory, AStateThatCannotBeSavedIsNotParked) {
  Talk talk(on_);
  talk.ask(1);
  Talk(on_).ask(2);
  on_.control->set_fault(FakeFault{.call = FakeCall::save, .times = 100});
  Talk(on_).ask(3);
  EXPECT_EQ(on_.idle_counters().parked_states, 0);
  EXPECT_EQ(talk.ask(4).usage.reused, 0);
}

TEST_P(EngineOnEveryMemory, ClearingFreesAllAtOnceAndChangesNoAnswer) {
  Talk talk(on_);
  Talk other(on_);
  Talk third(on_);
  for (std::uint64_t turn = 0; turn < 3; ++turn) {
    talk.ask(turn);
    other.ask(turn + 50);
    third.ask(turn + 90);
  }
  EXPECT_GT(on_.idle_counters().parked_states, 0);
  on_.engine->clear_cached_state();
  const CachedState empty = on_.idle_counters();
  EXPECT_EQ(empty.parked_states, 0);
  EXPECT_EQ(empty.parked_bytes, 0);
  EXPECT_EQ(empty.checkpoint_bytes, 0);
  EXPECT_EQ(empty.slots_holding_state, 0);
  EXPECT_EQ(talk.ask(10).usage.reused, 0);
}

TEST_P(EngineOnEveryMemory, WhereAStateCannotBeRestoredTheNextBestIsUsed) {
  constexpr std::int64_t kShared = 60;
  for (const bool broken : {false, true}) {
    FakeEngine on(backend(3));
    Talk talk(on);
    talk.ask(7, {.new_tokens = kShared});
    talk.ask(8);
    Talk(on).ask(1000);
    Talk(on).ask(7, {.new_tokens = kShared});
    Talk(on).ask(2000);  // takes the slot of the first, whose state is parked
    if (broken) on.control->set_fault(FakeFault{.call = FakeCall::restore});
    const std::int64_t reused = talk.ask(9).usage.reused;
    EXPECT_EQ(on.control->struck(), broken);
    EXPECT_GE(reused, kShared - 1);
    EXPECT_EQ(reused > kShared + 8, !broken);
  }
}

TEST_P(EngineOnEveryMemory, ParkedStatesAndCheckpointsStayInTheirBudget) {
  FakeEngine small(backend(), {.cache_bytes = Bytes(20'000)});
  std::vector<Talk> talks;
  for (int i = 0; i < 6; ++i) talks.emplace_back(small);
  for (std::uint64_t turn = 0; turn < 1500; ++turn) {
    Talk& talk = talks[turn % talks.size()];
    if (length(talk) > 400) talk.rewind_to(turn % 3);
    talk.ask(turn, {.new_tokens = 4, .max_tokens = 4});
    const CachedState counters = small.engine->counters();
    ASSERT_LE(counters.parked_bytes + counters.checkpoint_bytes, 20'000);
  }
  EXPECT_GT(small.engine->counters().evictions, 0);
}

TEST(Engine, ASingleUseMemoryReadsEachPromptWhole) {
  FakeEngine on({.memory = fake_traits(MemoryKind::single_use)});
  Talk talk(on);
  for (std::uint64_t turn = 0; turn < 5; ++turn) EXPECT_EQ(talk.ask(turn).usage.reused, 0);
  EXPECT_EQ(on.idle_counters().parked_states, 0);
}

TEST(Engine, CountersAddUp) {
  FakeEngine on;
  Talk talk(on);
  Usage sum;
  for (std::uint64_t turn = 0; turn < 10; ++turn) {
    const Usage usage = talk.ask(turn).usage;
    sum.reused += usage.reused;
    sum.read += usage.read;
    sum.written += usage.written;
  }
  const CachedState counters = on.idle_counters();
  EXPECT_EQ(counters.exchanges, 10);
  EXPECT_EQ(counters.failures, 0);
  EXPECT_EQ(counters.tokens_reused, sum.reused);
  EXPECT_EQ(counters.tokens_read, sum.read);
  EXPECT_EQ(counters.tokens_written, sum.written);
}

}  // namespace
}  // namespace segue
