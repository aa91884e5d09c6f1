#include "bench/floor.h"

#include <gtest/gtest.h>

#include <string_view>

#include "bench/shaped_model.h"
#include "bench/workloads.h"

namespace segue::bench {
namespace {

class Floors : public testing::TestWithParam<MemoryKind> {
 protected:
  Floors() : model_(write_cycle_model(SEGUE_TEST_MODELS, GetParam(), ModelScale::tiny)) {}

  std::vector<Script> workloads() const {
    return make_workloads(
        {.tokens_written = 8, .system_tokens = 300, .count_tokens = [this](std::string_view text) {
           return model_.tokenize(text).size();
         }});
  }

  // Throws where an answer is wrong or a state could not be kept.
  void play_all(FloorCheckpoints checkpoints) {
    Floor floor(model_, {.slots = kSlots, .context_length = 2048, .checkpoints = checkpoints});
    const std::vector<Token> answer = floor.write(model_.tokenize("assistant\n"), 8);
    for (const Script& script : workloads()) {
      const Trace traced = trace(script, model_, answer);
      floor.start(traced);
      std::size_t exchanges = 0;
      for (std::size_t step = 0; step < script.steps.size(); ++step) {
        exchanges += floor.play(step).exchanges.size();
      }
      EXPECT_EQ(exchanges, traced.exchanges.size()) << script.name;
    }
  }

  BareModel model_;
};

TEST_P(Floors, PlayEveryWorkloadReadingOnlyWhatIsNew) { play_all(FloorCheckpoints::as_needed); }

TEST_P(Floors, PlayEveryWorkloadWithCheckpointsAtEveryTurn) {
  play_all(FloorCheckpoints::every_turn);
}

TEST_P(Floors, TheLeastPossibleReadIsWhatNobodyHasDecodedBefore) {
  Floor floor(model_, {.slots = 1, .context_length = 2048});
  const std::vector<Token> answer = floor.write(model_.tokenize("assistant\n"), 8);
  for (const Script& script : workloads()) {
    const Trace traced = trace(script, model_, answer);
    for (const TracedExchange& exchange : traced.exchanges) {
      SCOPED_TRACE(script.name + " of session " + std::to_string(exchange.act.session));
      const std::size_t turns = exchange.turn_starts.size();
      // The words of this turn and of the answer's beginning, and nothing of what was there before.
      const std::size_t own = exchange.prompt.size() - exchange.turn_starts.back();
      if (exchange.act.kind == ActKind::regenerate) {
        EXPECT_EQ(exchange.least_read(), 1U);
      } else if (exchange.act.kind == ActKind::edit || (turns == 1 && exchange.source)) {
        EXPECT_EQ(exchange.least_read(), own);
      } else if (turns == 1) {
        EXPECT_EQ(exchange.least_read(), exchange.prompt.size());
      } else {
        // And the last word of the answer before, the end of its turn and the start of this one.
        const std::size_t between =
            model_.tokenize("x<|im_end|>\n<|im_start|>user\n").size() - model_.tokenize("").size();
        EXPECT_EQ(exchange.least_read(), own + between);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryMemoryKind, Floors,
                         testing::Values(MemoryKind::attention, MemoryKind::sliding_window,
                                         MemoryKind::hybrid, MemoryKind::recurrent),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace segue::bench
