#include "session/validation.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string>

#include "chat/utf8.h"
#include "segue/error.h"

namespace segue {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

template <typename Number>
void check_range(const char* name, Number value, double low, double high = kUnbounded) {
  const auto number = static_cast<double>(value);
  if (std::isfinite(number) && number >= low && number <= high) return;
  std::ostringstream message;
  message << name << " is " << value << "; it must be ";
  if (high == kUnbounded) {
    message << "a finite number of at least " << low;
  } else {
    message << "from " << low << " to " << high;
  }
  throw InvalidArgument(message.str());
}

void check_finite(const char* name, float value) {
  check_range(name, value, std::numeric_limits<double>::lowest());
}

void check_sampling(const SamplingOptions& sampling) {
  check_range("temperature", sampling.temperature, 0);
  check_range("top_k", sampling.top_k, 0);
  check_range("top_p", sampling.top_p, 0, 1);
  check_range("min_p", sampling.min_p, 0, 1);
  check_range("typical_p", sampling.typical_p, 0, 1);
  check_finite("top_n_sigma", sampling.top_n_sigma);
  check_range("xtc_probability", sampling.xtc_probability, 0, 1);
  check_range("xtc_threshold", sampling.xtc_threshold, 0, 1);
  check_range("dynamic_temperature_range", sampling.dynamic_temperature_range, 0);
  check_finite("dynamic_temperature_exponent", sampling.dynamic_temperature_exponent);
  check_range("penalty_last_n", sampling.penalty_last_n, 0);
  if (sampling.repeat_penalty == 0) {
    throw InvalidArgument("repeat_penalty is 0; it must be above 0 (1 switches it off)");
  }
  check_range("repeat_penalty", sampling.repeat_penalty, 0);
  check_finite("frequency_penalty", sampling.frequency_penalty);
  check_finite("presence_penalty", sampling.presence_penalty);
  check_range("dry_multiplier", sampling.dry_multiplier, 0);
  check_range("dry_base", sampling.dry_base, 0);
  check_range("dry_allowed_length", sampling.dry_allowed_length, 0);
  check_range("dry_penalty_last_n", sampling.dry_penalty_last_n, -1);
  for (const std::string& breaker : sampling.dry_sequence_breakers) {
    check_utf8(breaker, "a dry_sequence_breakers string");
  }
  check_range("mirostat", sampling.mirostat, 0, 2);
  check_range("mirostat_tau", sampling.mirostat_tau, 0);
  check_range("mirostat_eta", sampling.mirostat_eta, 0);
  for (const auto& [token, bias] : sampling.logit_bias) {
    if (std::isnan(bias) || bias == std::numeric_limits<float>::infinity()) {
      throw InvalidArgument("logit_bias of token " + std::to_string(token) + " is " +
                            std::to_string(bias) + "; it must be a number or -infinity");
    }
  }
}

}  // namespace

void check_utf8(std::string_view text, std::string_view what) {
  if (is_valid_utf8(text)) return;
  std::size_t at = 0;
  while (true) {
    const std::size_t length = character_at(text, at).length;
    if (!is_valid_utf8(text.substr(at, length))) break;
    at += length;
  }
  throw InvalidArgument(std::string(what) + " is not UTF-8 at byte " + std::to_string(at));
}

void check_options(const ModelOptions& options) {
  check_range("threads", options.threads, 0);
  check_range("slots", options.slots, 1);
  check_range("context_length", options.context_length, 0);
  check_range("batch_size", options.batch_size, 1);
  check_range("cache_bytes", options.cache_bytes, 0);
  check_range("max_waiting", options.max_waiting, 0);
  check_utf8(options.chat_template, "chat_template");
}

void check_options(const ExchangeOptions& options) {
  if (options.max_tokens) check_range("max_tokens", *options.max_tokens, 0);
  if (options.top_logprobs) check_range("top_logprobs", *options.top_logprobs, 0);
  check_sampling(options.sampling);
  for (const std::string& stop : options.stop) {
    if (stop.empty()) throw InvalidArgument("a stop string is empty; it would end every answer");
    check_utf8(stop, "a stop string");
  }
  check_utf8(options.grammar, "the grammar");
}

void check_options(const SessionOptions& options) {
  check_utf8(options.instructions, "the instructions");
  check_utf8(options.cache_namespace, "cache_namespace");
  check_options(options.exchange);
}

}  // namespace segue
