// A sequence's state that can be checked: what comes next is a hash of all that the state holds, so
// a state that was cut, restored or copied wrongly gives another answer than a fresh read.
//
// It forgets as llama.cpp's memories do: a window keeps its last positions only, a recurrent state
// moves forward only, and removal says yes where a window is gone.
// A value; no synchronisation needed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backend/memory_traits.h"
#include "backend/state_backend.h"
#include "backend/units.h"

namespace segue {

// The traits of each kind as the real context gives them; `window` is of no matter for the others.
MemoryTraits fake_traits(MemoryKind kind, std::int64_t window = 8);

class FakeMemory {
 public:
  explicit FakeMemory(MemoryTraits traits) : traits_(traits) {}

  // Whether a token can be read at `position`: it is the next one in every part of the state.
  bool takes(std::int64_t position) const;
  // Reads one token. False (and nothing changes) where it cannot be read there.
  bool read(Token token, std::int64_t position);
  // Drops what lies before the window, some of it late. llama.cpp does so when it places a batch,
  // as the end before the batch is.
  void forget();
  std::uint64_t logits() const { return last_; }

  std::int64_t position_min() const;
  std::int64_t position_max() const;
  bool remove_from(std::int64_t position);
  void clear();

  StateBlob save(StatePart part) const;
  // False where the blob is damaged, of another kind or part; nothing changes then.
  bool restore(std::span<const std::byte> blob, StatePart part);

 private:
  bool has_attention() const { return traits_.kind != MemoryKind::recurrent; }
  bool has_window() const { return traits_.window > 0; }

  MemoryTraits traits_;
  // One digest a position, of everything that position had read.
  std::vector<std::uint64_t> attention_;
  std::vector<std::uint64_t> window_;  // positions [window_first_, window_first_ + size)
  std::int64_t window_first_ = 0;
  std::uint64_t recurrent_ = 0;
  std::int64_t recurrent_length_ = 0;
  std::uint64_t last_ = 0;
};

// Tokens are 0 to kFakeVocabulary - 1; 0 ends an answer.
inline constexpr Token kFakeVocabulary = 24;
inline constexpr Token kFakeEnd = 0;
// `endless`: as a sampler does that ignores the end.
Token fake_choice(std::uint64_t logits, bool endless = false);

// What a fresh full read of `prompt` answers: at most `max_tokens` tokens, the end left out.
std::vector<Token> fresh_fake_answer(const MemoryTraits& traits, std::span<const Token> prompt,
                                     std::int64_t max_tokens, bool endless = false);

}  // namespace segue
