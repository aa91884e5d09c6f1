// The one door to a context's sequences: decode, read positions, cut, save, restore. `src/llama`
// implements it over llama.cpp; tests implement it with a fake that can fail on any call.
//
// Not thread-safe: the engine thread alone calls it. Nothing here throws except where stated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/memory_traits.h"
#include "backend/sampler.h"
#include "backend/units.h"

namespace segue {

// Meaning of llama_decode's return codes (llama.h, v0.5.0).
enum class DecodeStatus : std::uint8_t {
  ok,       //   0
  no_room,  //   1: no cells for the batch; the state is as before
  aborted,  //   2: the abort check said so; parts may have been processed
  invalid,  //  -1: malformed batch; the state is as before
  failed,   // < -1: parts may have been processed
};

// One token of a batch. Tokens of one slot come in order of position, without gaps.
struct BatchToken {
  Token token = kNoToken;
  Position position;
  SlotId slot;
  bool wants_logits = false;
};

// Which part of a sequence's state: all of it, or only what cannot be rewound (window, recurrent).
enum class StatePart : std::uint8_t { whole, partial };

using StateBlob = std::vector<std::byte>;

struct BackendShape {
  std::int32_t n_slots = 1;
  Position context_length;        // positions that one slot can hold
  std::int32_t batch_size = 512;  // tokens of one decode call at most
  MemoryTraits memory;
  Bytes state_bytes_per_token;  // what one more token adds to a short state; 0 where nothing
  // Identifies everything that makes a saved state fit: model, context parameters, format version.
  std::string fingerprint;
};

class StateBackend {
 public:
  virtual ~StateBackend() = default;

  virtual const BackendShape& shape() const = 0;

  // Decodes tokens of any number of slots together. The i-th token with wants_logits has output
  // index i in the batch (its index among `tokens`), valid until the next decode.
  virtual DecodeStatus decode(std::span<const BatchToken> tokens) = 0;

  // First and last position present; -1 and -1 where the sequence is empty.
  virtual Position position_min(SlotId slot) const = 0;
  virtual Position position_max(SlotId slot) const = 0;

  // Removes positions >= from. False where the memory cannot (the state is then undefined: clear
  // it).
  virtual bool remove_from(SlotId slot, Position from) = 0;
  virtual void clear(SlotId slot) = 0;

  // The size and content of a state. Empty where saving failed. Throws std::bad_alloc.
  virtual StateBlob save(SlotId slot, StatePart part) = 0;
  // Replaces the slot's state (whole) or its non-rewindable part (partial). False: did not fit or
  // was damaged; the state is then undefined: clear it.
  virtual bool restore(SlotId slot, std::span<const std::byte> blob, StatePart part) = 0;

  // A sampler over this context's logits. Throws segue::Error for options that cannot be held.
  virtual std::unique_ptr<Sampler> make_sampler(const SamplerOptions& options) = 0;

  // Asked now and then during decode(); true ends it with DecodeStatus::aborted. Called on any
  // thread of the decode.
  virtual void set_abort_check(std::function<bool()> check) = 0;
};

}  // namespace segue
