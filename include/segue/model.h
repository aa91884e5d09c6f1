// A loaded model: weights, vocabulary, template, and the engine whose slots all its sessions share.
//
// A Model is a handle; copies share one engine, which ends when the last handle and the last
// session are gone. Thread-safe: every function may be called from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "segue/error.h"
#include "segue/options.h"
#include "segue/visibility.h"

namespace segue {

class ModelImpl;

struct Capabilities {
  std::string description;    // "llama 3B Q4_0", as llama.cpp words it
  std::string architecture;   // gguf general.architecture
  std::string memory_kind;    // attention, sliding_window, recurrent, hybrid, single_use
  std::string template_kind;  // "model", "option", or the name of a direct rendering
  std::int64_t parameters = 0;
  std::int64_t weight_bytes = 0;
  std::int32_t vocabulary_size = 0;
  std::int32_t training_context = 0;
  std::int32_t context_length = 0;  // tokens that one session can hold here
  std::int32_t slots = 0;
  // Slots of this context length that main memory would have held when the model was loaded, those
  // above included; 0 where that is not known (state on a GPU, or of one size).
  std::int32_t slots_that_fit = 0;
  std::int32_t threads = 0;
  std::int64_t window = 0;  // of a sliding-window model, in tokens; else 0
  // What one more token adds to a session's state; 0 where the state has one size (recurrent). In a
  // sliding-window model the layers with a window stop growing when it is full.
  std::int64_t state_bytes_per_token = 0;
  bool reasoning = false;  // the template can switch thinking on or off
};

// Counters of a model since it was loaded, and what is held now. Exact at the moment of the call.
struct CachedState {
  std::int64_t tokens_reused = 0;
  std::int64_t tokens_read = 0;     // settling included
  std::int64_t tokens_settled = 0;  // the part of tokens_read done in idle time
  std::int64_t tokens_written = 0;
  std::int64_t exchanges = 0;  // committed
  std::int64_t failures = 0;   // failed or cancelled
  std::int32_t slots_busy = 0;
  std::int32_t slots_holding_state = 0;
  std::int32_t waiting = 0;
  std::int64_t parked_states = 0;
  std::int64_t parked_bytes = 0;      // checkpoints of parked states included
  std::int64_t checkpoint_bytes = 0;  // of the states in slots
  std::int64_t cache_bytes = 0;       // the budget
  std::int64_t evictions = 0;
};

class SEGUE_API Model {
 public:
  // Loads a GGUF file. Throws InvalidModel, OutOfMemory, InvalidArgument, Cancelled.
  static Model load(const std::filesystem::path& path, ModelOptions options = {});

  Capabilities capabilities() const;
  CachedState cached_state() const;

  // Frees every parked state and every slot that is not in use now, and the others when they are
  // released. Sessions lose time, never content.
  void clear_cached_state();

  // Tokens of plain text, without BOS.
  std::int64_t token_count(std::string_view text) const;

  // For the library's own use.
  const std::shared_ptr<ModelImpl>& impl() const { return impl_; }
  explicit Model(std::shared_ptr<ModelImpl> impl) : impl_(std::move(impl)) {}

 private:
  std::shared_ptr<ModelImpl> impl_;
};

}  // namespace segue
