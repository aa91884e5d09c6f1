// What an exchange gave: text, how it ended, what it cost. Immutable values.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "segue/visibility.h"

namespace segue {

// In tokens (a media chunk counts the tokens it takes). prompt = reused + read.
struct Usage {
  std::int64_t reused = 0;   // taken from kept state
  std::int64_t read = 0;     // decoded before the first token was written
  std::int64_t written = 0;  // sampled, the end-of-turn token included
  std::int64_t prompt() const { return reused + read; }
};

struct Timing {
  std::chrono::nanoseconds queued{};    // waiting for a slot
  std::chrono::nanoseconds to_first{};  // from the request to the first token, all included
  std::chrono::nanoseconds total{};     // from the request to the end
  // Tokens a second after the first; 0 where fewer than two were written.
  double tokens_per_second = 0;
};

enum class FinishReason : std::uint8_t {
  end_of_turn,  // the model ended its turn
  stop_string,
  max_tokens,
};
SEGUE_API const char* to_string(FinishReason reason) noexcept;

struct TokenLogprob {
  std::int32_t token = 0;
  std::string text;  // bytes; may be part of a character
  float logprob = 0;
  std::vector<std::pair<std::int32_t, float>> top;  // descending
};

struct Response {
  std::string text;       // whole UTF-8, without reasoning
  std::string reasoning;  // "" where the model gave none
  FinishReason finish_reason = FinishReason::end_of_turn;
  Usage usage;
  Timing timing;
  std::vector<TokenLogprob> logprobs;
};

}  // namespace segue
