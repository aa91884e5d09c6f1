// A prompt item: what the model reads. One token, or one media chunk (an image or a piece of audio)
// that is known by the hash of its decoded content and of everything that shapes its tokens.
//
// Two items are equal exactly when the model would compute the same state from them.
// Values; no synchronisation needed.
#pragma once

#include <cstdint>

#include "backend/units.h"

namespace segue {

struct PromptItem {
  Token token = kNoToken;  // kNoToken: a media chunk
  std::int32_t n_positions =
      1;  // positions that the item takes (1 for a token; M-RoPE media differ)
  std::uint64_t media_high = 0;  // 128-bit content hash of a media chunk; 0 for a token
  std::uint64_t media_low = 0;

  static constexpr PromptItem of_token(Token t) { return {.token = t}; }
  static constexpr PromptItem of_media(std::uint64_t high, std::uint64_t low,
                                       std::int32_t n_positions) {
    return {.token = kNoToken, .n_positions = n_positions, .media_high = high, .media_low = low};
  }

  constexpr bool is_media() const { return token == kNoToken; }
  friend constexpr bool operator==(const PromptItem&, const PromptItem&) = default;
};

}  // namespace segue
