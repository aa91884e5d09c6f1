// Choosing tokens with llama.cpp's samplers, with short cuts that give the very same choice: greedy
// sampling is an arg-max over the logits, and where top-k comes first, only the k greatest are
// handed to the chain.
//
// Engine thread only. The vocabulary, and what `logits` refers to, must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "backend/sampler.h"
#include "llama/logits.h"
#include "llama/sampler_chain.h"

struct llama_token_data;

namespace segue {

class LlamaSampler : public Sampler {
 public:
  // Logits of the whole vocabulary by batch index; empty where there are none.
  using LogitsSource = std::function<std::span<const float>(std::int32_t batch_index)>;

  // Throws InvalidArgument: an option out of its range, a grammar that does not parse.
  LlamaSampler(const llama_vocab* vocab, std::int32_t context_length, const SamplerOptions& options,
               LogitsSource logits);
  ~LlamaSampler() override;

  void accept_prompt(Token token) override;
  TokenChoice sample(std::int32_t batch_index) override;

  // Turns the short cuts off, so that tests can compare with the whole chain.
  void use_whole_chain() { greedy_ = false, preselected_ = 0; }

 private:
  // The logits with biases added, looked at; throws where no token is left.
  std::span<const float> biased(std::span<const float> logits);
  Token propose(std::span<const float> values);
  Token propose_from_greatest();
  Token propose_by_grammar(std::span<const float> values);
  Token run_chain(std::size_t n_candidates, bool sorted);
  void fill_candidates(std::span<const float> values);
  bool grammar_allows(Token token);
  void accept(Token token);
  void add_logprobs(std::span<const float> logits, float max, TokenChoice& choice);

  LogitsSource logits_;
  std::int32_t n_top_logprobs_;
  bool greedy_;
  std::size_t preselected_;  // how many of the greatest stand for all; 0: none do
  std::vector<std::pair<Token, float>> biases_;
  LlamaSamplerHandle chain_;
  LlamaSamplerHandle grammar_;  // null: none
  LogitScan scan_;              // of the logits, or with biases of biased_
  std::vector<float> biased_;
  std::vector<std::pair<Token, float>> greatest_;
  std::vector<llama_token_data> candidates_;
};

}  // namespace segue
