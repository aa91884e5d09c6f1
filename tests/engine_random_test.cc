// Random operations on random sessions, with and without faults, against what must hold whatever
// happens: answers of a fresh read, records exact, budgets kept, nothing stuck. A case that fails
// is shrunk to the fewest operations that still fail, and printed.
#include <optional>
#include <random>
#include <sstream>

#include "engine_fixture.h"
#include "shrink.h"

namespace segue {
namespace {

struct Operation {
  enum class Kind : std::uint8_t {
    ask,
    ask_transient,
    edit,        // back to an earlier turn, then ask
    regenerate,  // the last turn again
    remember,    // this branch, to come back to
    return_to_branch,
    fork,
    close,
    read_ahead,
    settle,
    clear,
    cancel,
    move_state,  // export and import
    fault,
  };
  static constexpr int kKinds = 14;
  Kind kind = Kind::ask;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};

std::string in_words(const Operation& operation) {
  static constexpr std::array kNames = {
      "ask",   "ask_transient", "edit",   "regenerate", "remember", "return_to_branch", "fork",
      "close", "read_ahead",    "settle", "clear",      "cancel",   "move_state",       "fault"};
  std::ostringstream out;
  out << kNames.at(static_cast<std::size_t>(operation.kind)) << ' ' << operation.a << ' '
      << operation.b;
  return out.str();
}

struct Case {
  MemoryKind kind = MemoryKind::attention;
  std::int32_t n_slots = 2;
  std::int64_t cache_bytes = 1 << 20;
  bool with_faults = false;
  std::vector<Operation> operations;
};

// Plays a case; what does not hold, or nothing.
class Player {
 public:
  explicit Player(const Case& played)
      : case_(played),
        on_({.memory = fake_traits(played.kind), .n_slots = played.n_slots},
            {.cache_bytes = Bytes(played.cache_bytes)}) {}

  std::optional<std::string> play() {
    for (const Operation& operation : case_.operations) {
      try {
        perform(operation);
      } catch (const Error& error) {
        if (!on_.control->struck()) {
          wrong(std::string("an error without a fault: ") + error.what());
        }
      }
      if (!wrong_) check_counters();
      if (wrong_) return in_words(operation) + ": " + *wrong_;
    }
    const CachedState counters = on_.idle_counters();
    if (counters.slots_busy != 0 || counters.waiting != 0) wrong("a slot is stuck");
    return wrong_;
  }

 private:
  struct Branch {
    Talk talk;
    std::vector<Talk> remembered{};
    std::optional<Talk> before_last{};
    std::uint64_t last_seed = 0;
  };

  void perform(const Operation& operation) {
    using Kind = Operation::Kind;
    if (branches_.empty()) branches_.push_back({.talk = Talk(on_, space(operation.b))});
    Branch& branch = branches_[operation.a % branches_.size()];
    // Long conversations begin anew, so that none outgrows the context.
    if (branch.talk.items().size() > 350) branch.talk.rewind_to(operation.b % 2);
    switch (operation.kind) {
      case Kind::ask:
        return ask(branch, operation.b, false);
      case Kind::ask_transient:
        return ask(branch, operation.b, true);
      case Kind::edit:
        branch.talk.rewind_to(operation.b % (branch.talk.turns_begin_count() + 1));
        return ask(branch, operation.b, false);
      case Kind::regenerate:
        if (branch.before_last) branch.talk.become(*branch.before_last);
        return ask(branch, branch.last_seed, false);
      case Kind::remember:
        branch.remembered.push_back(branch.talk);
        return;
      case Kind::return_to_branch:
        if (branch.remembered.empty()) return;
        branch.talk.become(branch.remembered[operation.b % branch.remembered.size()]);
        return ask(branch, operation.b, false);
      case Kind::fork:
        if (branches_.size() >= 6) return;
        branches_.push_back({.talk = branch.talk.fork()});
        return ask(branches_.back(), operation.b, false);
      case Kind::close:
        on_.engine->close_session(branch.talk.id());
        branches_.erase(branches_.begin() +
                        static_cast<std::ptrdiff_t>(operation.a % branches_.size()));
        return;
      case Kind::read_ahead: {
        GenerationRequest ahead = branch.talk.request(operation.b, {.new_tokens = 10});
        ahead.read_only = true;
        result_of(*on_.engine->submit(std::move(ahead)));
        return;
      }
      case Kind::settle: {
        Talk dropped = branch.talk;
        dropped.rewind_to(branch.talk.turns_begin_count() / 2);
        on_.engine->settle(branch.talk.id(), dropped.prompt_for(operation.b, 7));
        if (operation.b % 2 == 0) on_.engine->wait_until_idle();
        return;
      }
      case Kind::clear:
        return on_.engine->clear_cached_state();
      case Kind::cancel: {
        const auto answer = on_.engine->submit(
            branch.talk.request(operation.b, {.new_tokens = 60, .max_tokens = 30}));
        if (operation.b % 2 == 0) answer->next();
        answer->cancel();
        try {
          result_of(*answer);
        } catch (const Cancelled&) {
        }
        return;
      }
      case Kind::move_state: {
        const SnapshotPtr moved =
            on_.engine->export_state(branch.talk.id(), branch.talk.prompt_for(1, 1));
        if (moved != nullptr && !on_.engine->import_state(moved)) wrong("its own state refused");
        return;
      }
      case Kind::fault:
        if (!case_.with_faults) return;
        on_.control->set_fault(
            FakeFault{.call = static_cast<FakeCall>(operation.a % kFakeCalls),
                      .k = 1 + static_cast<std::int64_t>(operation.b % 12),
                      .status = static_cast<DecodeStatus>(1 + operation.b / 16 % 4),
                      .lies = operation.b % 5 == 0,
                      .throws = operation.b % 3 == 0});
        return;
    }
  }

  static std::string space(std::uint64_t b) { return b % 4 == 0 ? "other" : ""; }

  void ask(Branch& branch, std::uint64_t seed, bool transient) {
    const Talk before = branch.talk;
    const Talk::Turn turn{.new_tokens = 1 + static_cast<std::int64_t>(seed % 23),
                          .max_tokens = static_cast<std::int64_t>(seed / 23 % 9),
                          .transient = transient};
    const GenerationRequest asked = branch.talk.request(seed, turn);
    const AnswerResult result = result_of(*on_.engine->submit(asked));
    const std::vector<Token> prompt = Talk::tokens_of(asked.prompt);
    if (result.tokens != fresh_fake_answer(on_.traits, prompt, turn.max_tokens)) {
      wrong("another answer than a fresh read's, with " + std::to_string(result.usage.reused) +
            " of " + std::to_string(prompt.size()) + " items reused");
    }
    if (result.usage.prompt() != static_cast<std::int64_t>(prompt.size())) {
      wrong("reused and read do not add up");
    }
    if (transient) return;
    branch.talk.take(asked.prompt, result);
    branch.before_last = before;
    branch.last_seed = seed;
  }

  void check_counters() {
    const CachedState counters = on_.engine->counters();
    if (counters.parked_bytes + counters.checkpoint_bytes > case_.cache_bytes) {
      wrong("the budget of " + std::to_string(case_.cache_bytes) + " bytes is exceeded");
    }
  }

  void wrong(std::string what) {
    if (!wrong_) wrong_ = std::move(what);
  }

  const Case& case_;
  FakeEngine on_;
  std::vector<Branch> branches_;
  std::optional<std::string> wrong_;
};

Case random_case(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Case made;
  made.kind = kKeptKinds.at(seed % kKeptKinds.size());
  made.n_slots = 1 + static_cast<std::int32_t>(random() % 3);
  made.cache_bytes = std::int64_t{1} << (10 + random() % 12);
  made.with_faults = random() % 2 == 0;
  const std::size_t length = 5 + random() % 40;
  for (std::size_t i = 0; i < length; ++i) {
    // Half of them are turns.
    const bool turn = random() % 2 == 0;
    made.operations.push_back(
        {.kind = turn ? Operation::Kind::ask
                      : static_cast<Operation::Kind>(random() % Operation::kKinds),
         .a = random() % 1000,
         .b = random() % 100'000});
  }
  return made;
}

std::string report(Case failing) {
  failing.operations = shrunk(failing.operations, [&](const std::vector<Operation>& fewer) {
    Case smaller = failing;
    smaller.operations = fewer;
    return Player(smaller).play().has_value();
  });
  std::ostringstream out;
  out << to_string(failing.kind) << ", " << failing.n_slots << " slots, cache of "
      << failing.cache_bytes << " bytes, faults " << failing.with_faults << ":\n";
  for (const Operation& operation : failing.operations) out << "  " << in_words(operation) << '\n';
  out << Player(failing).play().value_or("(not every time)");
  return out.str();
}

TEST(EngineRandom, WhateverPeopleDoTheAnswerIsThatOfAFreshRead) {
  constexpr std::uint64_t kCases = 4000;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const Case made = random_case(seed);
    if (Player(made).play()) {
      FAIL() << "case " << seed << ", shrunk: " << report(made);
    }
  }
}

// With room for all, every item that any conversation of the namespace held is found again.
TEST(EngineRandom, WithRoomForAllNothingIsReadTwice) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    FakeEngine on({.memory = fake_traits(MemoryKind::attention),
                   .n_slots = 1 + static_cast<std::int32_t>(random() % 3)});
    std::vector<Talk> talks(1, Talk(on));
    std::vector<std::vector<Token>> held;
    for (int i = 0; i < 30; ++i) {
      Talk& talk = talks[random() % talks.size()];
      if (random() % 3 == 0) talk.rewind_to(random() % (talk.turns_begin_count() + 1));
      if (talk.items().size() > 350) talk.rewind_to(1);
      const std::uint64_t text = random() % 50;
      const Talk::Turn turn{.new_tokens = 1 + static_cast<std::int64_t>(random() % 20)};
      const auto prompt = Talk::tokens_of(talk.prompt_for(text, turn.new_tokens));
      std::size_t least = 0;
      for (const auto& other : held) {
        const auto end = std::ranges::mismatch(prompt, other).in1;
        least = std::max(least, static_cast<std::size_t>(end - prompt.begin()));
      }
      least = std::min(least, prompt.size() - 1);
      const AnswerResult result = talk.ask(text, turn);
      ASSERT_GE(result.usage.reused, static_cast<std::int64_t>(least)) << seed << ", step " << i;
      // The last token of an answer that was cut was written, not read.
      std::vector<Token> now = prompt;
      now.insert(now.end(), result.tokens.begin(), result.tokens.end());
      if (result.finish_reason == FinishReason::max_tokens) now.pop_back();
      held.push_back(std::move(now));
      if (talks.size() < 5 && random() % 4 == 0) talks.push_back(talk.fork());
    }
  }
}

}  // namespace
}  // namespace segue
