// What a model's memory can go back to. llama.cpp answers "yes" to some removals that silently lose
// what later tokens attend to, so these facts decide, and the answer is checked again afterwards.
//
// Values; no synchronisation needed.
#pragma once

#include <cstdint>

namespace segue {

enum class MemoryKind : std::uint8_t {
  none,            // encoder only or diffusion: not a chat model
  attention,       // key/value cells of every position: any prefix can be kept
  sliding_window,  // some layers keep a window only
  recurrent,       // one state that only moves forward
  hybrid,          // attention layers and recurrent (or windowed) ones together
  single_use,      // encoder-decoder: a state serves the prompt it was made for and no other
};

constexpr const char* to_string(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::none:
      return "none";
    case MemoryKind::attention:
      return "attention";
    case MemoryKind::sliding_window:
      return "sliding_window";
    case MemoryKind::recurrent:
      return "recurrent";
    case MemoryKind::hybrid:
      return "hybrid";
    case MemoryKind::single_use:
      return "single_use";
  }
  return "unknown";
}

struct MemoryTraits {
  MemoryKind kind = MemoryKind::attention;
  // Positions before p that must be present to continue at p; 0 where there is no window. A state
  // that is saved has one more, since llama.cpp saves what its last token saw and that token.
  std::int64_t window = 0;
  // True where a state moves forward only, so that going back needs a checkpoint at the very
  // length.
  bool forward_only = false;

  // True where a saved partial state is needed (or may be) to go back.
  constexpr bool needs_checkpoints() const {
    return kind != MemoryKind::single_use && (window > 0 || forward_only);
  }
  // True where a saved state may be cut: what it lacks lies before its window.
  constexpr bool keeps_window() const { return window > 0 && !forward_only; }
  // Positions that a saved state has before its end.
  constexpr std::int64_t saved_window() const { return window + 1; }
};

}  // namespace segue
