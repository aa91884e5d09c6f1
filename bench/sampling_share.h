// What choosing a token and turning it into text cost beside decoding it.
#pragma once

#include <cstddef>
#include <vector>

#include "backend/state_backend.h"
#include "backend/vocabulary.h"

namespace segue::bench {

// Medians over the tokens of one answer, in milliseconds.
struct SamplingShare {
  double decode_ms = 0;
  double greedy_ms = 0;    // temperature 0, and the token's text
  double defaults_ms = 0;  // the default sampling options, and the token's text

  double greedy_share() const { return greedy_ms / decode_ms; }
  double defaults_share() const { return defaults_ms / decode_ms; }
};

// Both ways choose from the same logits, one after the other, so that they and the decode are
// slowed alike by whatever else the machine does. Empties slot 0 first. Throws segue::Error, and
// std::runtime_error where a decode fails.
SamplingShare measure_sampling(StateBackend& backend, const Vocabulary& vocabulary,
                               const std::vector<Token>& prompt, std::size_t count);

}  // namespace segue::bench
