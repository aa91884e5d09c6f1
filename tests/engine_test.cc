// The engine over fake memories of every kind: what it reuses, and that its answers are those of a
// fresh full read.
#include <atomic>
#include <future>
#include <optional>
#include <thread>

#include "engine_fixture.h"

namespace segue {
namespace {

class EngineOnEveryMemory : public testing::TestWithParam<MemoryKind> {
 protected:
  static FakeBackendOptions backend(std::int32_t n_slots = 2) {
    return {.memory = fake_traits(GetParam()), .n_slots = n_slots};
  }
  FakeEngine on_{backend()};
};

INSTANTIATE_TEST_SUITE_P(Kinds, EngineOnEveryMemory, testing::ValuesIn(kKeptKinds),
                         [](const auto& kind) { return to_string(kind.param); });

std::int64_t length(const Talk& talk) { return static_cast<std::int64_t>(talk.items().size()); }

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
  GenerationRequest next = dropped.request(3333, {.new_tokens = 12});
  next.prompt.items.push_back(PromptItem::of_token(5));
  const AnswerResult result = result_of(*on_.engine->submit(next));
  dropped.expect_fresh(next, result);
  EXPECT_EQ(result.usage.read, 1);
}

TEST_P(EngineOnEveryMemory, AStateMovesToAnotherEngine) {
  Talk talk(on_);
  for (std::uint64_t turn = 0; turn < 4; ++turn) talk.ask(turn);
  const SnapshotPtr snapshot = on_.engine->export_state(talk.id(), talk.prompt_for(9, 1));
  ASSERT_NE(snapshot, nullptr);
  FakeEngine elsewhere(backend());
  ASSERT_TRUE(elsewhere.engine->import_state(snapshot));
  Talk resumed(elsewhere);
  resumed.become(talk);
  EXPECT_GE(resumed.ask(9).usage.reused, length(talk) - 2);

  auto foreign = std::make_shared<Snapshot>(*snapshot);
  foreign->fingerprint = "another model";
  EXPECT_FALSE(elsewhere.engine->import_state(foreign));
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

// Does something on the engine thread in the middle of an answer: at the n-th decode from now.
class AtDecode {
 public:
  AtDecode(FakeEngine& on, int n, std::function<void()> action) : on_(on) {
    on.control->set_on_decode(
        [left = std::make_shared<std::atomic<int>>(n), action = std::move(action)](std::size_t) {
          if (--*left == 0) action();
        });
  }
  ~AtDecode() { on_.control->set_on_decode({}); }
  AtDecode(const AtDecode&) = delete;
  AtDecode& operator=(const AtDecode&) = delete;

 private:
  FakeEngine& on_;
};

// A turn whose fresh answer has at least `length` tokens.
std::uint64_t long_answer(const Talk& talk, const MemoryTraits& traits, std::size_t length) {
  for (std::uint64_t seed = 1;; ++seed) {
    const auto prompt = Talk::tokens_of(talk.prompt_for(seed, 6));
    if (fresh_fake_answer(traits, prompt, 1000).size() >= length) return seed;
  }
}

TEST_P(EngineOnEveryMemory, ClearingDuringAnAnswerTakesEffectWhenItEnds) {
  Talk talk(on_);
  talk.ask(1);
  const std::uint64_t seed = long_answer(talk, on_.traits, 8);
  std::thread clearing;
  {
    // The engine thread cannot wait for itself, so another one asks.
    const AtDecode during(
        on_, 3, [&] { clearing = std::thread([&] { on_.engine->clear_cached_state(); }); });
    EXPECT_EQ(talk.ask(seed).tokens.size(), 8U);
  }
  clearing.join();
  EXPECT_EQ(on_.idle_counters().slots_holding_state, 0);
  EXPECT_EQ(talk.ask(3).usage.reused, 0);
}

TEST_P(EngineOnEveryMemory, ASessionClosedDuringItsAnswerEndsItAndNoOther) {
  Talk closed(on_);
  Talk stays(on_);
  closed.ask(1);
  stays.ask(2);
  const std::uint64_t seed = long_answer(closed, on_.traits, 20);
  std::optional<AnswerResult> others;
  {
    const AtDecode during(on_, 5, [&] { on_.engine->close_session(closed.id()); });
    const auto answer = on_.engine->submit(closed.request(seed, {.max_tokens = 100}));
    stays.ask(3);
    EXPECT_THROW(result_of(*answer), Cancelled);
  }
  EXPECT_EQ(on_.idle_counters().slots_busy, 0);
  stays.ask(4);
}

TEST_P(EngineOnEveryMemory, ManySessionsComeAndGoWhileTheyAnswer) {
  std::vector<std::shared_ptr<Answer>> answers;
  for (std::uint64_t i = 0; i < 64; ++i) {
    const Talk talk(on_);
    answers.push_back(on_.engine->submit(talk.request(i, {.max_tokens = 50})));
    if (i % 3 != 0) on_.engine->close_session(talk.id());
  }
  int ended = 0;
  for (const auto& answer : answers) {
    try {
      result_of(*answer);
      ++ended;
    } catch (const Cancelled&) {
    }
  }
  EXPECT_GE(ended, 21);  // those that stayed open
  const CachedState counters = on_.idle_counters();
  EXPECT_EQ(counters.slots_busy, 0);
  EXPECT_EQ(counters.waiting, 0);
}

TEST_P(EngineOnEveryMemory, AReaderThatGivesUpGetsFurtherEachTime) {
  Talk talk(on_);
  std::int64_t last = -1;
  const Talk::Turn turn{.new_tokens = 300, .max_tokens = 4};
  for (int again = 0; again < 5; ++again) {
    std::shared_ptr<Answer> answer;
    std::promise<void> submitted;
    std::shared_future<void> ready = submitted.get_future().share();
    const AtDecode during(on_, 3, [&answer, ready] {
      ready.wait();
      answer->cancel();
    });
    answer = on_.engine->submit(talk.request(1, turn));
    submitted.set_value();
    EXPECT_THROW(result_of(*answer), Cancelled);
    // What a retry would find: asked of a transient reader that reads nothing more.
    on_.engine->wait_until_idle();
    const SnapshotPtr kept = on_.engine->export_state(talk.id(), talk.prompt_for(1, 300));
    const std::int64_t held = kept == nullptr ? 0 : kept->record.length().value;
    EXPECT_GT(held, last);
    last = held;
  }
  EXPECT_GE(talk.ask(1, turn).usage.reused, last);
}

TEST_P(EngineOnEveryMemory, AFullContextEndsItsOwnAnswerOnly) {
  Talk full(on_);
  Talk other(on_);
  other.ask(1);
  // An endless answer: one that no fresh read ends before the context does.
  full.ask(2, {.new_tokens = 480, .max_tokens = 1});
  const std::uint64_t seed = long_answer(full, on_.traits, 30);
  const auto answer = on_.engine->submit(full.request(seed, {.max_tokens = 1000}));
  other.ask(3);
  try {
    result_of(*answer);
    ADD_FAILURE() << "no error";
  } catch (const ContextOverflow& overflow) {
    EXPECT_EQ(overflow.context_length(), 512);
    EXPECT_GT(overflow.written_tokens(), 0);
    EXPECT_GE(overflow.prompt_tokens() + overflow.written_tokens(), 512);
  }
  other.ask(4);
  full.ask(5, {.new_tokens = 2, .max_tokens = 1});
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

TEST_P(EngineOnEveryMemory, ManyPromptsAreReadTogetherAndNoAnswerStalls) {
  FakeEngine wide(backend(4), {.shared_prefill = 4});
  Talk writer(wide);
  writer.ask(1);
  const std::uint64_t seed = long_answer(writer, wide.traits, 30);
  std::vector<std::shared_ptr<Answer>> readers;
  std::vector<Talk> talks;
  for (int i = 0; i < 3; ++i) talks.emplace_back(wide);
  std::atomic<std::size_t> largest{0};
  wide.control->set_on_decode([&](std::size_t n) {
    std::size_t seen = largest;
    while (n > seen && !largest.compare_exchange_weak(seen, n)) {
    }
  });
  const auto written = wide.engine->submit(writer.request(seed, {.max_tokens = 30}));
  std::vector<GenerationRequest> requests;
  for (std::uint64_t i = 0; i < talks.size(); ++i) {
    requests.push_back(talks[i].request(900 + i, {.new_tokens = 200, .max_tokens = 5}));
    readers.push_back(wide.engine->submit(requests.back()));
  }
  EXPECT_EQ(result_of(*written).tokens.size(), 30U);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    talks[i].expect_fresh(requests[i], result_of(*readers[i]));
  }
  EXPECT_GT(largest, 1U);
  EXPECT_LE(largest, 16U);
  wide.control->set_on_decode({});
}

// --- what does not depend on the kind ---

TEST(Engine, MaxTokensOfNoneAndOfOne) {
  FakeEngine on;
  Talk talk(on);
  const AnswerResult none = talk.ask(1, {.max_tokens = 0});
  EXPECT_TRUE(none.text.empty());
  EXPECT_EQ(none.usage.written, 0);
  EXPECT_EQ(none.finish_reason, FinishReason::max_tokens);
  const std::uint64_t seed = long_answer(talk, on.traits, 2);
  const AnswerResult one = talk.ask(seed, {.max_tokens = 1});
  EXPECT_EQ(one.usage.written, 1);
  EXPECT_EQ(one.finish_reason, FinishReason::max_tokens);
}

TEST(Engine, AStopStringOverSeveralTokensNeverLeaksAPart) {
  FakeEngine on;
  Talk talk(on);
  const std::uint64_t seed = long_answer(talk, on.traits, 12);
  GenerationRequest whole = talk.request(seed, {.max_tokens = 12});
  const std::string text = result_of(*on.engine->submit(whole)).text;
  ASSERT_EQ(text.size(), 12U);
  for (std::size_t at = 0; at + 3 <= text.size(); ++at) {
    GenerationRequest request = whole;
    request.stop = {text.substr(at, 3)};
    const auto answer = on.engine->submit(request);
    std::string pieces;
    for (;;) {
      AnswerEvent event = answer->next();
      if (const auto* piece = std::get_if<TextPiece>(&event)) pieces += piece->text;
      if (const auto* result = std::get_if<AnswerResult>(&event)) {
        EXPECT_EQ(result->finish_reason, FinishReason::stop_string);
        EXPECT_EQ(result->text, pieces);
        break;
      }
    }
    EXPECT_EQ(pieces, text.substr(0, text.find(request.stop.front())));
  }
}

TEST(Engine, AnAnswerBeyondTheQueueIsRefused) {
  FakeEngine on({.n_slots = 1}, {.max_waiting = 2});
  std::promise<void> all_asked;
  std::shared_future<void> go = all_asked.get_future().share();
  on.control->set_on_decode([go](std::size_t) { go.wait(); });
  std::vector<Talk> talks;
  std::vector<std::shared_ptr<Answer>> answers;
  for (std::uint64_t i = 0; i < 4; ++i) {
    talks.emplace_back(on);
    answers.push_back(on.engine->submit(talks.back().request(i, {})));
  }
  all_asked.set_value();
  for (int i = 0; i < 3; ++i) result_of(*answers[static_cast<std::size_t>(i)]);
  EXPECT_THROW(result_of(*answers[3]), QueueFull);
  on.control->set_on_decode({});
}

TEST(Engine, WhoComesFirstIsServedFirst) {
  FakeEngine on({.n_slots = 1});
  std::vector<Talk> talks;
  std::vector<std::shared_ptr<Answer>> answers;
  for (std::uint64_t i = 0; i < 8; ++i) {
    talks.emplace_back(on);
    answers.push_back(on.engine->submit(talks.back().request(i, {})));
  }
  std::chrono::nanoseconds last{0};
  for (const auto& answer : answers) {
    const std::chrono::nanoseconds queued = result_of(*answer).timing.queued;
    EXPECT_GE(queued + std::chrono::seconds(1), last);
    last = queued;
  }
}

TEST(Engine, APromptThatCannotFitIsRefusedWithCounts) {
  FakeEngine on;
  const Talk talk(on);
  try {
    on.engine->submit(talk.request(1, {.new_tokens = 513}));
    FAIL() << "no error";
  } catch (const ContextOverflow& overflow) {
    EXPECT_EQ(overflow.prompt_tokens(), 513);
    EXPECT_EQ(overflow.context_length(), 512);
  }
  EXPECT_THROW(on.engine->submit(talk.request(1, {.new_tokens = 0})), InvalidArgument);
}

TEST(Engine, AnswersUnderWayEndWithTheEngine) {
  std::shared_ptr<Answer> running;
  std::shared_ptr<Answer> waiting;
  {
    FakeEngine on({.n_slots = 1, .context_length = 1 << 20});
    const Talk talk(on);
    const Talk other(on);
    running = on.engine->submit(talk.request(1, {.new_tokens = 100'000, .max_tokens = 1}));
    waiting = on.engine->submit(other.request(1, {}));
  }
  EXPECT_THROW(result_of(*running), ShutDown);
  EXPECT_THROW(result_of(*waiting), ShutDown);
  running->cancel();  // rings an engine that is gone
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
