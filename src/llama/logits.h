// Arithmetic over the logits of a whole vocabulary (150,000 floats and more), written so that the
// compiler makes vector code of it: tens of microseconds where a plain loop takes a millisecond.
//
// Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "backend/units.h"

namespace segue {

// The index of the greatest value, the first of equal ones as llama.cpp's greedy sampling has it;
// kNoToken where any value is not a number, or where the greatest is not finite.
Token arg_max(std::span<const float> logits);

// The n greatest values in descending order, the lower index first among equal ones. Replaces
// `out`; shorter where there are fewer values.
void greatest(std::span<const float> logits, std::size_t n,
              std::vector<std::pair<Token, float>>& out);

// log(sum(exp(logits))), to about 1e-7 of the sum. `max` is the greatest value, finite.
double log_sum_exp(std::span<const float> logits, float max);

}  // namespace segue
