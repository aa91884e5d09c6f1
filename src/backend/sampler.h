// Choosing the next token from logits.
//
// A sampler belongs to one generation and to the context that made it; engine thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backend/units.h"
#include "segue/options.h"

namespace segue {

// Everything that shapes the choice. `sampling` is what the user sees; the rest comes from the
// exchange.
struct SamplerOptions {
  SamplingOptions sampling{};
  bool ignore_eos = false;
  std::string grammar{};             // GBNF; empty: none
  std::int32_t n_top_logprobs = -1;  // -1: no log-probabilities at all
};

struct TokenChoice {
  Token token = kNoToken;
  // Natural logarithms over the whole vocabulary, before any sampling option; only where asked.
  float logprob = 0.0F;
  std::vector<std::pair<Token, float>> top{};  // descending
};

class Sampler {
 public:
  virtual ~Sampler() = default;

  // Tells the sampler of a token of the prompt (for penalties); not checked against the grammar.
  virtual void accept_prompt(Token token) = 0;

  // Chooses from the logits of the given index of the last decoded batch and accepts the choice.
  // Throws segue::Error (DecodingFailed) where there are no such logits or none is finite.
  virtual TokenChoice sample(std::int32_t batch_index) = 0;
};

}  // namespace segue
