// Answers under way: many at once, cancelled, cleared, closed, unread, queued, at their ends.
#include <atomic>
#include <future>
#include <optional>

#include "engine_fixture.h"

namespace segue {
namespace {

class EngineAnswers : public EngineOnEveryMemory {};

INSTANTIATE_TEST_SUITE_P(Kinds, EngineAnswers, testing::ValuesIn(kKeptKinds),
                         [](const auto& kind) { return to_string(kind.param); });

// More than the engine writes before somebody reads: such an answer keeps its slot until then.
constexpr Talk::Turn kUntilRead{.max_tokens = static_cast<std::int64_t>(Answer::kMaxUnread) + 50,
                                .endless = true};

// A turn whose fresh answer has at least `length` tokens.
std::uint64_t long_answer(const Talk& talk, const MemoryTraits& traits, std::size_t length) {
  for (std::uint64_t seed = 1;; ++seed) {
    const auto prompt = Talk::tokens_of(talk.prompt_for(seed, 6));
    if (fresh_fake_answer(traits, prompt, 1000).size() >= length) return seed;
  }
}

TEST_P(EngineAnswers, ClearingDuringAnAnswerTakesEffectWhenItEnds) {
  Talk talk(on_);
  talk.ask(1);
  const GenerationRequest asked = talk.request(2, kUntilRead);
  const auto answer = on_.engine->submit(asked);
  on_.engine->clear_cached_state();
  EXPECT_EQ(on_.engine->counters().slots_busy, 1);
  talk.expect_fresh(asked, result_of(*answer));
  EXPECT_EQ(on_.idle_counters().slots_holding_state, 0);
  EXPECT_EQ(talk.ask(3).usage.reused, 0);
}

TEST_P(EngineAnswers, AnAnswerThatNobodyReadsPausesAndTheOthersGoOn) {
  Talk unread(on_);
  const GenerationRequest asked = unread.request(1, kUntilRead);
  const auto answer = on_.engine->submit(asked);
  Talk other(on_);
  std::int64_t written = 0;
  for (std::uint64_t turn = 0; written < 2 * kUntilRead.max_tokens; ++turn) {
    if (length(other) > 400) other.rewind_to(1);
    written += other.ask(turn, {.endless = true}).usage.written;
  }
  EXPECT_EQ(on_.engine->counters().slots_busy, 1);
  unread.expect_fresh(asked, result_of(*answer));
}

TEST_P(EngineAnswers, ASessionClosedDuringItsAnswerEndsItAndNoOther) {
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

TEST_P(EngineAnswers, ManySessionsComeAndGoWhileTheyAnswer) {
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

TEST_P(EngineAnswers, ACancelledAnswerCostsTheOthersNothing) {
  const Talk stays(on_);
  const Talk gives_up(on_);
  const GenerationRequest staying = stays.request(1, {.max_tokens = 20, .endless = true});
  std::shared_ptr<Answer> cancelled;
  int decodes = 0;
  on_.control->set_on_decode([&](std::size_t) {
    ++decodes;
    if (decodes == 3) cancelled = on_.engine->submit(gives_up.request(2, {.new_tokens = 500}));
    if (decodes == 5) cancelled->cancel();
  });
  stays.expect_fresh(staying, result_of(*on_.engine->submit(staying)));
  EXPECT_THROW(result_of(*cancelled), Cancelled);
  on_.engine->wait_until_idle();
  on_.control->set_on_decode({});
  // The prompt (its last item apart where nothing can be cut), and each token but the last.
  EXPECT_EQ(decodes, on_.traits.forward_only ? 21 : 20);
}

TEST_P(EngineAnswers, AReaderThatGivesUpGetsFurtherEachTime) {
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

TEST_P(EngineAnswers, ATransientAnswerRunsBesideTheSessionsOwn) {
  Talk talk(on_);
  talk.ask(1);
  const GenerationRequest asked = talk.request(2, kUntilRead);
  const auto own = on_.engine->submit(asked);
  talk.ask(90, {.transient = true});
  EXPECT_EQ(on_.engine->counters().slots_busy, 1);
  talk.expect_fresh(asked, result_of(*own));
}

TEST_P(EngineAnswers, SettlingGivesWayToAnExchangeAtOnce) {
  constexpr std::int64_t kLong = 400;
  for (const bool own : {true, false}) {
    FakeEngine narrow(backend(1));
    Talk talk(narrow);
    talk.ask(1);
    const Talk other(narrow);
    Talk dropped = talk;
    dropped.rewind_to(0);
    const GenerationRequest asked = own ? talk.request(2, {}) : other.request(2, {});
    std::promise<std::shared_ptr<Answer>> submitted;
    const AtDecode during(narrow, 3, [&] { submitted.set_value(narrow.engine->submit(asked)); });
    narrow.engine->settle(talk.id(), dropped.prompt_for(3, kLong));
    const AnswerResult result = result_of(*submitted.get_future().get());
    talk.expect_fresh(asked, result);
    narrow.engine->wait_until_idle();
    EXPECT_LT(narrow.control->tokens_decoded(), kLong / 2);
  }
}

TEST_P(EngineAnswers, AFullContextEndsItsOwnAnswerOnly) {
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

TEST_P(EngineAnswers, ManyPromptsAreReadTogetherAndNoAnswerStalls) {
  constexpr std::int32_t kPiece = 4;
  FakeEngine wide(backend(4), {.shared_prefill = kPiece});
  const Talk writer(wide);
  const GenerationRequest writing = writer.request(1, {.max_tokens = 200, .endless = true});
  std::vector<Talk> talks;
  std::vector<GenerationRequest> requests;
  for (std::uint64_t i = 0; i < 3; ++i) {
    talks.emplace_back(wide);
    requests.push_back(talks.back().request(900 + i, {.new_tokens = 200, .max_tokens = 5}));
  }
  // The prompts come while the writer is at its third token. They take 150 decodes, it takes more.
  std::vector<std::shared_ptr<Answer>> readers;
  std::atomic<std::size_t> largest{0};
  std::atomic<int> decodes{0};
  wide.control->set_on_decode([&](std::size_t n) {
    largest = std::max<std::size_t>(largest, n);
    if (++decodes != 3) return;
    for (const GenerationRequest& request : requests) {
      readers.push_back(wide.engine->submit(request));
    }
  });
  const AnswerResult written = result_of(*wide.engine->submit(writing));
  wide.control->set_on_decode({});
  writer.expect_fresh(writing, written);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    talks[i].expect_fresh(requests[i], result_of(*readers[i]));
  }
  EXPECT_GT(largest, kPiece);
  EXPECT_LE(largest, 4 + kPiece);  // a token of each that writes, and one piece
  EXPECT_LE(decodes, 202);
}

TEST(EngineAnswer, MaxTokensOfNoneAndOfOne) {
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

TEST(EngineAnswer, AStopStringOverSeveralTokensNeverLeaksAPart) {
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
        EXPECT_EQ(result->tokens.size(), pieces.size());  // a letter a token
        break;
      }
    }
    EXPECT_EQ(pieces, text.substr(0, text.find(request.stop.front())));
  }
}

TEST(EngineAnswer, WhatACancelledAnswerWroteIsNotParked) {
  FakeEngine on;
  Talk talk(on);
  const auto answer = on.engine->submit(talk.request(1, kUntilRead));
  for (int pieces = 0; pieces < 5;) {  // each but the last has been decoded
    pieces += std::holds_alternative<TextPiece>(answer->next()) ? 1 : 0;
  }
  answer->cancel();
  EXPECT_THROW(result_of(*answer), Cancelled);
  // The same prompt and one item more: all of the state that is worth anything stays.
  EXPECT_EQ(talk.ask(1, {.new_tokens = kUntilRead.new_tokens + 1}).usage.read, 1);
  EXPECT_EQ(on.idle_counters().parked_states, 0);
}

TEST(EngineAnswer, AnAnswerBeyondTheQueueIsRefused) {
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

TEST(EngineAnswer, WhoComesFirstIsServedFirst) {
  FakeEngine on({.n_slots = 1});
  std::promise<void> all_asked;
  std::shared_future<void> go = all_asked.get_future().share();
  // Each prompt is one decode of a length of its own; an answer's tokens are decodes of one.
  std::vector<std::size_t> prompts;
  on.control->set_on_decode([&prompts, go](std::size_t n_tokens) {
    go.wait();
    if (n_tokens > 1) prompts.push_back(n_tokens);
  });
  std::vector<Talk> talks;
  std::vector<std::shared_ptr<Answer>> answers;
  for (std::uint64_t i = 0; i < 8; ++i) {
    talks.emplace_back(on, std::to_string(i));  // nothing is shared
    answers.push_back(on.engine->submit(
        talks.back().request(i, {.new_tokens = 5 + static_cast<std::int64_t>(i)})));
  }
  all_asked.set_value();
  for (const auto& answer : answers) result_of(*answer);
  on.engine->wait_until_idle();
  EXPECT_THAT(prompts, testing::ElementsAre(5, 6, 7, 8, 9, 10, 11, 12));
}

TEST(EngineAnswer, APromptThatCannotFitIsRefusedWithCounts) {
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

TEST(EngineAnswer, AnswersUnderWayEndWithTheEngine) {
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

}  // namespace
}  // namespace segue
