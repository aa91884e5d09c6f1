// Many threads, many sessions, cancellations, clears and closes at random; every answer is that of
// a fresh read. Made for ThreadSanitizer.
#include <atomic>
#include <random>
#include <thread>

#include "engine_fixture.h"

namespace segue {
namespace {

class EngineConcurrency : public testing::TestWithParam<MemoryKind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, EngineConcurrency, testing::ValuesIn(kKeptKinds),
                         [](const auto& kind) { return to_string(kind.param); });

struct Tally {
  std::atomic<int> answered{0};
  std::atomic<int> cancelled{0};
};

void chat(FakeEngine& on, std::uint64_t seed, Tally& tally) {
  std::mt19937_64 random(seed);
  std::optional<Talk> talk(std::in_place, on);
  for (int i = 0; i < 40; ++i) {
    if (random() % 10 == 0) {
      on.engine->close_session(talk->id());
      talk.emplace(on);
    }
    if (talk->items().size() > 300 || random() % 6 == 0) {
      talk->rewind_to(random() % (talk->turns_begin_count() + 1));
    }
    const Talk::Turn turn{.new_tokens = 1 + static_cast<std::int64_t>(random() % 40)};
    // The texts of different threads are the same now and then, so that they share states.
    const GenerationRequest asked = talk->request(random() % 30, turn);
    const auto answer = on.engine->submit(asked);
    std::thread canceller;
    if (random() % 4 == 0) canceller = std::thread([answer] { answer->cancel(); });
    try {
      const AnswerResult result = result_of(*answer);
      talk->expect_fresh(asked, result);
      talk->take(asked.prompt, result);
      ++tally.answered;
    } catch (const Cancelled&) {
      ++tally.cancelled;
    }
    if (canceller.joinable()) canceller.join();
    if (random() % 5 == 0) on.engine->settle(talk->id(), talk->prompt_for(3, 5));
  }
  on.engine->close_session(talk->id());
}

TEST_P(EngineConcurrency, EveryAnswerIsThatOfAFreshRead) {
  FakeEngine on({.memory = fake_traits(GetParam()), .n_slots = 3},
                {.cache_bytes = Bytes(30'000), .shared_prefill = 8});
  Tally tally;
  std::atomic<bool> done{false};
  std::thread meddler([&] {
    std::mt19937_64 random(1);
    while (!done) {
      if (random() % 3 == 0) on.engine->clear_cached_state();
      const CachedState counters = on.engine->counters();
      EXPECT_LE(counters.parked_bytes + counters.checkpoint_bytes, 30'000);
      EXPECT_LE(counters.slots_busy, 3);
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 8; ++i) {
    threads.emplace_back([&on, &tally, i] { chat(on, i, tally); });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  meddler.join();
  EXPECT_EQ(tally.answered + tally.cancelled, 8 * 40);
  EXPECT_GT(tally.answered, 100);
  const CachedState counters = on.idle_counters();
  EXPECT_EQ(counters.slots_busy, 0);
  EXPECT_EQ(counters.waiting, 0);
  EXPECT_EQ(counters.exchanges, tally.answered);
  EXPECT_EQ(counters.failures, tally.cancelled);
  EXPECT_EQ(on.control->refused(), 0);
}

TEST_P(EngineConcurrency, EnginesEndWhileOthersAsk) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    auto on = std::make_unique<FakeEngine>(FakeBackendOptions{.memory = fake_traits(GetParam())});
    std::vector<std::shared_ptr<Answer>> answers;
    for (std::uint64_t i = 0; i < 6; ++i) {
      const Talk talk(*on);
      answers.push_back(on->engine->submit(talk.request(i, {.max_tokens = 100})));
    }
    std::vector<std::thread> readers;
    for (const auto& answer : answers) {
      readers.emplace_back([answer] {
        try {
          result_of(*answer);
        } catch (const ShutDown&) {
        }
      });
    }
    on.reset();
    for (std::thread& reader : readers) reader.join();
  }
}

}  // namespace
}  // namespace segue
