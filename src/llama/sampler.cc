#include "llama/sampler.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <string>

#include "llama.h"
#include "llama/grammar.h"
#include "segue/error.h"

namespace segue {

namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();
// Above this many, keeping a heap of them costs more than llama.cpp's own sort.
constexpr std::int32_t kMostPreselected = 512;

std::vector<std::pair<Token, float>> collect_biases(const llama_vocab* vocab,
                                                    const SamplerOptions& options) {
  std::vector<std::pair<Token, float>> biases(options.sampling.logit_bias.begin(),
                                              options.sampling.logit_bias.end());
  const std::int32_t n_vocab = llama_vocab_n_tokens(vocab);
  std::int32_t n_suppressed = 0;
  const llama_token* suppressed = llama_vocab_get_suppress_tokens(vocab, &n_suppressed);
  for (std::int32_t i = 0; i < n_suppressed; ++i) {
    if (suppressed[i] >= 0 && suppressed[i] < n_vocab) {
      biases.emplace_back(suppressed[i], kForbidden);
    }
  }
  if (options.ignore_eos) {
    for (Token token = 0; token < n_vocab; ++token) {
      if (llama_vocab_is_eog(vocab, token)) biases.emplace_back(token, kForbidden);
    }
  }
  return biases;
}

}  // namespace

LlamaSampler::LlamaSampler(const llama_vocab* vocab, std::int32_t context_length,
                           const SamplerOptions& options, LogitsSource logits)
    : logits_(std::move(logits)), n_top_logprobs_(options.n_top_logprobs) {
  const std::int32_t n_vocab = llama_vocab_n_tokens(vocab);
  check_sampler_options(options, n_vocab);
  const SamplingOptions& sampling = options.sampling;
  greedy_ = is_greedy(sampling);
  preselected_ =
      starts_with_top_k(sampling) && sampling.top_k <= kMostPreselected && sampling.top_k < n_vocab
          ? static_cast<std::size_t>(sampling.top_k)
          : 0;
  biases_ = collect_biases(vocab, options);
  chain_ = make_chain(vocab, context_length, sampling);
  if (!options.grammar.empty()) grammar_ = make_grammar(vocab, options.grammar);
}

LlamaSampler::~LlamaSampler() = default;

void LlamaSampler::accept_prompt(Token token) { llama_sampler_accept(chain_.get(), token); }

TokenChoice LlamaSampler::sample(std::int32_t batch_index) {
  const std::span<const float> logits = logits_(batch_index);
  if (logits.empty()) {
    throw DecodingFailed("token " + std::to_string(batch_index) +
                         " of the last batch has no logits");
  }
  scan_.look_at(logits);
  const Token likeliest = scan_.arg_max();
  if (likeliest == kNoToken) {
    throw DecodingFailed(
        "the model computed logits that are not numbers, or none that is finite. Its weights or "
        "its "
        "state are damaged, or this quantization overflows.");
  }
  TokenChoice choice;
  try {
    const std::span<const float> values = biased(logits);
    choice.token = propose(values);
    if (grammar_ && !grammar_allows(choice.token)) choice.token = propose_by_grammar(values);
    accept(choice.token);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw DecodingFailed(std::string("no token could be chosen: ") + e.what());
  }
  if (n_top_logprobs_ >= 0) {
    add_logprobs(logits, logits[static_cast<std::size_t>(likeliest)], choice);
  }
  return choice;
}

std::span<const float> LlamaSampler::biased(std::span<const float> logits) {
  if (biases_.empty()) return logits;
  biased_.assign(logits.begin(), logits.end());
  for (const auto& [token, bias] : biases_) biased_[static_cast<std::size_t>(token)] += bias;
  scan_.look_at(biased_);
  if (scan_.arg_max() == kNoToken) {
    throw DecodingFailed("every token is forbidden (logit_bias, ignore_eos)");
  }
  return biased_;
}

Token LlamaSampler::propose(std::span<const float> values) {
  if (greedy_) return scan_.arg_max();
  if (preselected_ > 0) {
    const Token token = propose_from_greatest();
    if (token != kNoToken) return token;
  }
  fill_candidates(values);
  return run_chain(candidates_.size(), false);
}

// kNoToken where equal logits leave open which tokens the chain would keep, and in which order.
Token LlamaSampler::propose_from_greatest() {
  scan_.greatest(preselected_ + 1, greatest_);
  const auto same = [](const auto& a, const auto& b) { return a.second == b.second; };
  if (std::adjacent_find(greatest_.begin(), greatest_.end(), same) != greatest_.end()) {
    return kNoToken;
  }
  candidates_.resize(preselected_);
  for (std::size_t i = 0; i < preselected_; ++i) {
    candidates_[i] = {.id = greatest_[i].first, .logit = greatest_[i].second, .p = 0};
  }
  return run_chain(preselected_, true);
}

Token LlamaSampler::propose_by_grammar(std::span<const float> values) {
  fill_candidates(values);
  llama_token_data_array all{candidates_.data(), candidates_.size(), -1, false};
  llama_sampler_apply(grammar_.get(), &all);
  if (std::none_of(candidates_.begin(), candidates_.end(),
                   [](const llama_token_data& c) { return std::isfinite(c.logit); })) {
    throw DecodingFailed(
        "the grammar allows no token here (it has ended and ignore_eos or logit_bias forbids the "
        "end, or the vocabulary cannot spell what it asks for)");
  }
  return run_chain(candidates_.size(), false);
}

Token LlamaSampler::run_chain(std::size_t n_candidates, bool sorted) {
  llama_token_data_array array{candidates_.data(), n_candidates, -1, sorted};
  llama_sampler_apply(chain_.get(), &array);
  if (array.selected < 0 || array.selected >= static_cast<std::int64_t>(array.size)) {
    throw DecodingFailed("the sampling options leave no token to choose");
  }
  return array.data[array.selected].id;
}

void LlamaSampler::fill_candidates(std::span<const float> values) {
  candidates_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    candidates_[i] = {.id = static_cast<Token>(i), .logit = values[i], .p = 0};
  }
}

bool LlamaSampler::grammar_allows(Token token) {
  llama_token_data one{.id = token, .logit = 1, .p = 0};
  llama_token_data_array array{&one, 1, -1, false};
  llama_sampler_apply(grammar_.get(), &array);
  return one.logit != kForbidden;
}

void LlamaSampler::accept(Token token) {
  if (grammar_) llama_sampler_accept(grammar_.get(), token);
  llama_sampler_accept(chain_.get(), token);
}

void LlamaSampler::add_logprobs(std::span<const float> logits, float max, TokenChoice& choice) {
  const double total = log_sum_exp(logits, max);
  const auto logprob = [total](float logit) {
    return static_cast<float>(static_cast<double>(logit) - total);
  };
  choice.logprob = logprob(logits[static_cast<std::size_t>(choice.token)]);
  if (!biases_.empty()) scan_.look_at(logits);
  scan_.greatest(static_cast<std::size_t>(n_top_logprobs_), choice.top);
  for (auto& [token, value] : choice.top) value = logprob(value);
}

}  // namespace segue
