// Arithmetic over the logits of a whole vocabulary (150,000 floats and more), written so that the
// compiler makes vector code of it: tens of microseconds where a plain loop takes a millisecond.
//
// Values; no synchronisation needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "backend/units.h"

namespace segue {

// One look at all logits, from which the greatest are then found in a few of them. Not thread-safe.
class LogitScan {
 public:
  // `logits` must stay as they are while the results are asked for.
  void look_at(std::span<const float> logits);

  // The index of the greatest value, the first of equal ones as llama.cpp's greedy sampling has it;
  // kNoToken where any value is not a number, or where the greatest is not finite.
  Token arg_max() const;
  // The n greatest values in descending order, the lower index first among equal ones. Replaces
  // `out`; shorter where there are fewer values. None may be "not a number".
  void greatest(std::size_t n, std::vector<std::pair<Token, float>>& out);

 private:
  std::span<const float> block(std::size_t index) const;

  std::span<const float> logits_;
  std::vector<float> maxima_;         // of each block of logits
  std::vector<std::uint32_t> order_;  // of the blocks, the greatest maximum first
  bool has_nan_ = false;
};

// log(sum(exp(logits))), to about 1e-7 of the sum. `max` is the greatest value, finite.
double log_sum_exp(std::span<const float> logits, float max);

}  // namespace segue
