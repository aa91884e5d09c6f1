// The five workloads.
//
// Wherever two conversations part (sessions side by side, an edited turn), their texts differ in
// the first letter, and so, with any tokenizer, in the first token of the content. What they share
// then ends where a turn's text begins, and the least that must be read is plain arithmetic.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "bench/script.h"

namespace segue::bench {

struct WorkloadSizes {
  std::size_t tokens_written = 32;  // of every answer
  std::size_t system_tokens = 1200;
  // How many tokens a text has.
  std::function<std::size_t(std::string_view)> count_tokens;
};

// One chat of 20 turns; 12 sessions in turn on 4 slots; 24 sessions with one long system prompt;
// edit, regenerate and back to the first branch; 8 at once on 4 slots.
std::vector<Script> make_workloads(const WorkloadSizes& sizes);

// Of the context, in every workload.
inline constexpr int kSlots = 4;

}  // namespace segue::bench
