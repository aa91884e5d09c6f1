// Every call of the context that can fail is made to fail, at each k-th call, over a scripted
// conversation: always a typed error or the right answer, never a wrong one; afterwards everything
// works and nothing is stuck.
#include <array>
#include <memory>
#include <string>

#include "engine_fixture.h"

namespace segue {
namespace {

struct FaultKind {
  const char* name;
  FakeCall call;
  DecodeStatus status = DecodeStatus::failed;
  bool throws = false;
  bool lies = false;
  int times = 1;
};

constexpr std::array kFaults = {
    FaultKind{"decode_no_room", FakeCall::decode, DecodeStatus::no_room},
    FaultKind{"decode_invalid", FakeCall::decode, DecodeStatus::invalid},
    FaultKind{"decode_aborted", FakeCall::decode, DecodeStatus::aborted},
    FaultKind{"decode_failed", FakeCall::decode, DecodeStatus::failed},
    FaultKind{"decode_fails_twice", FakeCall::decode, DecodeStatus::failed, false, false, 2},
    FaultKind{"decode_throws", FakeCall::decode, DecodeStatus::failed, true},
    FaultKind{"remove_refused", FakeCall::remove_from},
    FaultKind{"remove_lies", FakeCall::remove_from, DecodeStatus::failed, false, true},
    FaultKind{"save_empty", FakeCall::save},
    FaultKind{"save_throws", FakeCall::save, DecodeStatus::failed, true},
    FaultKind{"restore_refused", FakeCall::restore},
    FaultKind{"restore_lies", FakeCall::restore, DecodeStatus::failed, false, true},
    FaultKind{"sampler_refused", FakeCall::make_sampler},
    FaultKind{"sampler_throws", FakeCall::make_sampler, DecodeStatus::failed, true},
    FaultKind{"sample_fails", FakeCall::sample},
    FaultKind{"sample_throws", FakeCall::sample, DecodeStatus::failed, true},
};

// Three sessions on two slots: turns in turn, an edit far back, the first branch again, a long
// prompt, a fork, two at once.
class Script {
 public:
  explicit Script(FakeEngine& on) : on_(on) {
    for (int i = 0; i < 3; ++i) talks_.emplace_back(on);
  }

  // Runs all of it. Each step that a fault struck is asked again and must be right then.
  void run() {
    for (std::uint64_t turn = 0; turn < 3; ++turn) {
      for (std::size_t i = 0; i < 3; ++i) step(talks_[i], 10 * turn + i, {});
    }
    const Talk first_branch = talks_[0];
    talks_[0].rewind_to(1);
    step(talks_[0], 100, {});
    step(talks_[1], 101, {.new_tokens = 50});
    talks_[0].become(first_branch);
    step(talks_[0], 102, {});
    Talk fork = talks_[0].fork();
    step(fork, 103, {});
    step(talks_[2], 104, {.transient = true});
    together(talks_[1], talks_[2]);
    const Prompt ahead = talks_[0].prompt_for(7, 9);
    on_.engine->settle(talks_[0].id(), ahead);
    on_.engine->wait_until_idle();
    step(talks_[0], 7, {.new_tokens = 10});
    talks_.push_back(std::move(fork));
  }

  int errors() const { return errors_; }

 private:
  static constexpr int kMostErrors = 10;  // more would have no end

  void step(Talk& talk, std::uint64_t seed, const Talk::Turn& turn) {
    const std::vector<Token> before = talk.items();
    for (;;) {
      try {
        talk.ask(seed, turn);
        return;
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()), "");
        EXPECT_EQ(talk.items(), before);
        if (++errors_ > kMostErrors) throw;
      }
    }
  }

  // The second one comes during the first one's first decode, so that they share the later ones;
  // where the first one ends before any, the second one comes after it.
  void together(Talk& one, Talk& two) {
    const std::array requests = {one.request(200, {.new_tokens = 40}),
                                 two.request(201, {.new_tokens = 30})};
    std::shared_ptr<Answer> second;
    {
      const AtDecode during(on_, 1, [&] { second = on_.engine->submit(requests[1]); });
      ask_once(one, requests[0], on_.engine->submit(requests[0]));
      on_.engine->wait_until_idle();
    }
    ask_once(two, requests[1], second ? second : on_.engine->submit(requests[1]));
    step(one, 210, {});
    step(two, 211, {});
  }
  void ask_once(const Talk& talk, const GenerationRequest& request,
                const std::shared_ptr<Answer>& answer) {
    try {
      talk.expect_fresh(request, result_of(*answer));
    } catch (const Error&) {
      ++errors_;
    }
  }

  FakeEngine& on_;
  std::vector<Talk> talks_;
  int errors_ = 0;
};

using Case = std::tuple<MemoryKind, FaultKind>;

// Exchanges that the fault may end: what is only kept costs time when it fails, and no answer. A
// lie is found by the positions, except where they are those of a part that did not lie.
int errors_allowed(MemoryKind kind, const FaultKind& fault) {
  const bool of_kept_state = fault.call == FakeCall::remove_from || fault.call == FakeCall::save ||
                             fault.call == FakeCall::restore;
  if (!of_kept_state) return fault.times;
  const bool has_parts = kind == MemoryKind::sliding_window || kind == MemoryKind::hybrid;
  return fault.lies && has_parts ? 1 : 0;
}

class EngineFaults : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(
    All, EngineFaults, testing::Combine(testing::ValuesIn(kKeptKinds), testing::ValuesIn(kFaults)),
    [](const auto& info) {
      return std::string(to_string(std::get<0>(info.param))) + "_" + std::get<1>(info.param).name;
    });

TEST_P(EngineFaults, AtEveryCall) {
  const auto& [kind, fault] = GetParam();
  const FakeBackendOptions backend{.memory = fake_traits(kind)};
  std::int64_t calls = 0;
  {
    FakeEngine sound(backend);
    Script script(sound);
    script.run();
    ASSERT_EQ(script.errors(), 0);
    calls = sound.control->calls(fault.call);
  }
  std::int64_t struck = 0;
  for (std::int64_t k = 1; k <= calls && !HasFailure(); ++k) {
    SCOPED_TRACE(std::string(fault.name) + " at call " + std::to_string(k));
    FakeEngine on(backend);
    on.control->set_fault(FakeFault{.call = fault.call,
                                    .k = k,
                                    .times = fault.times,
                                    .status = fault.status,
                                    .lies = fault.lies,
                                    .throws = fault.throws});
    Script script(on);
    script.run();
    struck += on.control->struck() ? 1 : 0;
    EXPECT_LE(script.errors(), errors_allowed(kind, fault));
    if (!fault.lies) {
      EXPECT_EQ(on.control->refused(), 0);
    }

    const CachedState counters = on.idle_counters();
    EXPECT_EQ(counters.slots_busy, 0);
    EXPECT_EQ(counters.waiting, 0);
    EXPECT_EQ(counters.failures, script.errors());
  }
  EXPECT_EQ(struck, calls);
}

}  // namespace
}  // namespace segue
