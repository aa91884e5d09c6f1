#include "llama/sampler_chain.h"

#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "llama.h"
#include "segue/error.h"

namespace segue {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// llama.cpp's default for mirostat's estimate.
constexpr std::int32_t kMirostatTokens = 100;

void check_range(const char* name, double value, double low, double high = kInfinity) {
  if (std::isfinite(value) && value >= low && value <= high) return;
  std::ostringstream text;
  text << name << " is " << value << "; it must be ";
  if (low == -kInfinity) {
    text << "a finite number";
  } else if (high == kInfinity) {
    text << "a finite number of at least " << low;
  } else {
    text << "from " << low << " to " << high;
  }
  throw InvalidArgument(text.str());
}

bool has_penalties(const SamplingOptions& options) {
  return options.penalty_last_n != 0 &&
         (options.repeat_penalty != 1.0F || options.frequency_penalty != 0.0F ||
          options.presence_penalty != 0.0F);
}

bool has_dry(const SamplingOptions& options) {
  return options.dry_multiplier != 0.0F && options.dry_base >= 1.0F &&
         options.dry_penalty_last_n != 0;
}

bool has_xtc(const SamplingOptions& options) {
  return options.xtc_probability > 0.0F && options.xtc_threshold <= 0.5F;
}

}  // namespace

void LlamaSamplerDeleter::operator()(llama_sampler* sampler) const { llama_sampler_free(sampler); }

void check_sampler_options(const SamplerOptions& options, std::int32_t vocabulary_size) {
  const SamplingOptions& s = options.sampling;
  check_range("temperature", s.temperature, -kInfinity);
  check_range("top_k", s.top_k, 0);
  check_range("top_p", s.top_p, 0, 1);
  check_range("min_p", s.min_p, 0, 1);
  check_range("typical_p", s.typical_p, 0, 1);
  check_range("top_n_sigma", s.top_n_sigma, -kInfinity);
  check_range("xtc_probability", s.xtc_probability, 0, 1);
  check_range("xtc_threshold", s.xtc_threshold, 0, 1);
  check_range("dynamic_temperature_range", s.dynamic_temperature_range, 0);
  check_range("dynamic_temperature_exponent", s.dynamic_temperature_exponent, -kInfinity);
  check_range("penalty_last_n", s.penalty_last_n, 0);
  // Smaller ones have no finite inverse, which llama.cpp multiplies with.
  check_range("repeat_penalty", s.repeat_penalty, 1e-37);
  check_range("frequency_penalty", s.frequency_penalty, -kInfinity);
  check_range("presence_penalty", s.presence_penalty, -kInfinity);
  check_range("dry_multiplier", s.dry_multiplier, 0);
  check_range("dry_base", s.dry_base, 0);
  check_range("dry_allowed_length", s.dry_allowed_length, 0);
  check_range("dry_penalty_last_n", s.dry_penalty_last_n, -1);
  check_range("mirostat", s.mirostat, 0, 2);
  check_range("mirostat_tau", s.mirostat_tau, 0);
  check_range("mirostat_eta", s.mirostat_eta, 0);
  check_range("top_logprobs", options.n_top_logprobs, -1, vocabulary_size);
  for (const auto& [token, bias] : s.logit_bias) {
    const std::string name = "logit_bias of token " + std::to_string(token);
    if (token < 0 || token >= vocabulary_size) {
      throw InvalidArgument(name + ": there is no such token; the vocabulary has " +
                            std::to_string(vocabulary_size));
    }
    if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity()) {
      throw InvalidArgument(name + " must be a number or -infinity");
    }
  }
}

LlamaSamplerHandle make_chain(const llama_vocab* vocab, std::int32_t context_length,
                              const SamplingOptions& options) {
  llama_sampler_chain_params params = llama_sampler_chain_default_params();
  params.no_perf = true;
  LlamaSamplerHandle chain(llama_sampler_chain_init(params));
  const auto add = [&chain](llama_sampler* sampler) {
    llama_sampler_chain_add(chain.get(), sampler);
  };
  const std::int32_t n_vocab = llama_vocab_n_tokens(vocab);
  const std::uint32_t seed = fold_seed(options.seed);
  if (options.mirostat != 0) {
    add(llama_sampler_init_temp(options.temperature));
    add(options.mirostat == 1
            ? llama_sampler_init_mirostat(n_vocab, seed, options.mirostat_tau, options.mirostat_eta,
                                          kMirostatTokens)
            : llama_sampler_init_mirostat_v2(seed, options.mirostat_tau, options.mirostat_eta));
    return chain;
  }
  if (has_penalties(options)) {
    add(llama_sampler_init_penalties(n_vocab, options.penalty_last_n, options.repeat_penalty,
                                     options.frequency_penalty, options.presence_penalty));
  }
  if (has_dry(options)) {
    std::vector<const char*> breakers;
    for (const std::string& breaker : options.dry_sequence_breakers) {
      breakers.push_back(breaker.c_str());
    }
    // llama.cpp's sampler takes a negative number for "off".
    const std::int32_t last_n =
        options.dry_penalty_last_n < 0 ? context_length : options.dry_penalty_last_n;
    add(llama_sampler_init_dry(vocab, options.dry_multiplier, options.dry_base,
                               options.dry_allowed_length, last_n, breakers.data(),
                               breakers.size()));
  }
  if (options.top_n_sigma > 0) add(llama_sampler_init_top_n_sigma(options.top_n_sigma));
  if (options.top_k > 0) add(llama_sampler_init_top_k(options.top_k));
  if (options.typical_p < 1) add(llama_sampler_init_typical(options.typical_p, 0));
  if (options.top_p < 1) add(llama_sampler_init_top_p(options.top_p, 0));
  if (options.min_p > 0) add(llama_sampler_init_min_p(options.min_p, 0));
  if (has_xtc(options)) {
    add(llama_sampler_init_xtc(options.xtc_probability, options.xtc_threshold, 0, seed));
  }
  add(llama_sampler_init_temp_ext(options.temperature, options.dynamic_temperature_range,
                                  options.dynamic_temperature_exponent));
  add(llama_sampler_init_dist(seed));
  return chain;
}

bool is_greedy(const SamplingOptions& options) {
  // Typical sampling and XTC may drop the greatest; the other filters never do.
  return options.temperature <= 0 && options.dynamic_temperature_range <= 0 &&
         options.mirostat == 0 && options.typical_p >= 1 && !has_xtc(options) &&
         !has_penalties(options) && !has_dry(options);
}

bool starts_with_top_k(const SamplingOptions& options) {
  return options.top_k > 0 && options.mirostat == 0 && options.top_n_sigma <= 0 &&
         !has_penalties(options) && !has_dry(options);
}

std::uint32_t fold_seed(std::optional<std::uint64_t> seed) {
  constexpr std::uint32_t kInsteadOfRandom = LLAMA_DEFAULT_SEED - 1;
  if (!seed) {
    std::random_device device;
    seed = device();
  }
  // A bijection of the high half that keeps 0 (the finalizer of MurmurHash3).
  auto high = static_cast<std::uint32_t>(*seed >> 32);
  high = (high ^ (high >> 16)) * 0x85EBCA6BU;
  high = (high ^ (high >> 13)) * 0xC2B2AE35U;
  high ^= high >> 16;
  const std::uint32_t folded = static_cast<std::uint32_t>(*seed) ^ high;
  return folded == LLAMA_DEFAULT_SEED ? kInsteadOfRandom : folded;
}

}  // namespace segue
