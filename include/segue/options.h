// Options of models, sessions and exchanges: plain structs whose defaults are what users expect.
// Names and meanings of the sampling options are llama.cpp's (common/common.h, v0.5.0).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace segue {

enum class LogLevel : std::uint8_t { debug, info, warning, error };
// Called from any thread, one call at a time. What it throws is swallowed: a log must not break an
// answer.
using LogCallback = std::function<void(LogLevel, const std::string& message)>;

enum class FlashAttention : std::uint8_t { automatic, on, off };

struct ModelOptions {
  // Layers to keep on a GPU; negative: all. Ignored where no GPU back end is built in.
  std::int32_t gpu_layers = -1;
  // Threads of a decode; 0: chosen for this machine and this model (1 for very small models, where
  // synchronising costs more than the work).
  std::int32_t threads = 0;
  // Conversations whose state is in the context at the same time. More sessions than slots take
  // turns; the state of those that wait is parked in memory.
  std::int32_t slots = 4;
  // Tokens that one conversation can hold; 0: the model's training length, at most 8192.
  std::int32_t context_length = 0;
  // Tokens of one decode call at most, and so the longest that a cancellation waits. Rounded down
  // to a multiple of the slots.
  std::int32_t batch_size = 512;
  // Bytes for parked states and their checkpoints. Least worth keeping goes first.
  std::int64_t cache_bytes = std::int64_t{2} << 30;
  // Exchanges that may wait for a slot; one more throws QueueFull.
  std::int32_t max_waiting = 256;
  FlashAttention flash_attention = FlashAttention::automatic;
  bool use_mmap = true;
  // Replaces the model's own chat template (Jinja), where not empty.
  std::string chat_template{};
  // 0 to 1 while the weights load; false stops the load with Cancelled.
  std::function<bool(float)> on_progress{};
  LogCallback log{};
};

// How the next token is chosen. temperature 0 is greedy: the same prompt gives the same answer.
struct SamplingOptions {
  float temperature = 0.8F;
  std::int32_t top_k = 40;                 // 0: off
  float top_p = 0.95F;                     // 1: off
  float min_p = 0.05F;                     // 0: off
  float typical_p = 1.0F;                  // 1: off
  float top_n_sigma = -1.0F;               // negative: off
  float xtc_probability = 0.0F;            // 0: off
  float xtc_threshold = 0.1F;              // above 0.5: off
  float dynamic_temperature_range = 0.0F;  // 0: off
  float dynamic_temperature_exponent = 1.0F;
  std::int32_t penalty_last_n = 64;  // tokens to look back; 0: off
  float repeat_penalty = 1.0F;       // 1: off
  float frequency_penalty = 0.0F;    // 0: off
  float presence_penalty = 0.0F;     // 0: off
  float dry_multiplier = 0.0F;       // 0: off
  float dry_base = 1.75F;
  std::int32_t dry_allowed_length = 2;
  std::int32_t dry_penalty_last_n = -1;  // -1: the whole context
  std::vector<std::string> dry_sequence_breakers = {"\n", ":", "\"", "*"};
  std::int32_t mirostat = 0;  // 0: off, 1, 2
  float mirostat_tau = 5.0F;
  float mirostat_eta = 0.1F;
  // Unset: a new one for every answer. All 64 bits count.
  std::optional<std::uint64_t> seed{};
  // Token id → added to its logit; -infinity forbids it.
  std::map<std::int32_t, float> logit_bias{};
};

enum class WhenBusy : std::uint8_t {
  refuse,     // throw ConcurrentRequests
  transient,  // answer on a slot of its own from the same prefix; the session does not change
};

enum class WhenFull : std::uint8_t {
  refuse,       // throw ContextOverflow
  drop_oldest,  // leave the oldest whole turns out of what the model reads; instructions stay
};

struct ExchangeOptions {
  // Tokens to write at most; unset: until the model ends or the context is full (ContextOverflow).
  std::optional<std::int32_t> max_tokens{};
  SamplingOptions sampling{};
  // The answer ends before the first of these; never part of the text.
  std::vector<std::string> stop{};
  // GBNF that the answer must follow; empty: none.
  std::string grammar{};
  bool ignore_eos = false;
  // Log-probabilities: unset: none; n: each written token's own and the n likeliest others.
  std::optional<std::int32_t> top_logprobs{};
  // Unset: as the template does.
  std::optional<bool> thinking{};
  WhenBusy when_busy = WhenBusy::refuse;
  WhenFull when_full = WhenFull::refuse;
  // Ends the exchange with Cancelled; the transcript stays as before.
  std::stop_token cancel{};
  // Tokens read so far and to read, during a long read. Called on the caller's thread.
  std::function<void(std::int64_t done, std::int64_t total)> on_read{};
};

struct SessionOptions {
  // The system text. Empty: none.
  std::string instructions{};
  // Used where an exchange brings none of its own.
  ExchangeOptions exchange{};
  // Sessions share what they have read only inside one of these.
  std::string cache_namespace{};
};

}  // namespace segue
