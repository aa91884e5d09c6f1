// A llama.cpp context as the engine's StateBackend: one sequence a slot, each in a stream of its
// own (kv_unified = false), windows kept as windows (swa_full = false).
//
// Engine thread only, as StateBackend says; the abort check is called on the decode's threads.
// Keeps the model alive. At most one output a slot in a decode.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/state_backend.h"
#include "llama/model_file.h"

struct llama_context;

namespace segue {

class LlamaContext : public StateBackend {
 public:
  // Throws OutOfMemory (with the sizes asked for), InvalidModel (the model has no memory, or its
  // context cannot be made), InvalidArgument.
  LlamaContext(std::shared_ptr<ModelFile> model, const ModelOptions& options);
  ~LlamaContext() override;
  LlamaContext(const LlamaContext&) = delete;
  LlamaContext& operator=(const LlamaContext&) = delete;

  const BackendShape& shape() const override { return shape_; }
  DecodeStatus decode(std::span<const BatchToken> tokens) override;
  Position position_min(SlotId slot) const override;
  Position position_max(SlotId slot) const override;
  bool remove_from(SlotId slot, Position from) override;
  void clear(SlotId slot) override;
  StateBlob save(SlotId slot, StatePart part) override;
  bool restore(SlotId slot, std::span<const std::byte> blob, StatePart part) override;
  std::unique_ptr<Sampler> make_sampler(const SamplerOptions& options) override;
  void set_abort_check(std::function<bool()> check) override;

  // Slots of this length that memory would hold now, those that exist included; 0: not known (the
  // state does not grow by tokens, or lies on a GPU).
  std::int64_t slots_that_fit() const;

  // The logits of a token of the last decoded batch; empty where it has none.
  std::span<const float> logits(std::int32_t batch_index) const;

 private:
  // llama_batch's arrays, allocated once.
  struct Batch {
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t> counts;
    std::vector<std::int32_t> slots;
    std::vector<std::int32_t*> slot_pointers;
    std::vector<std::int8_t> outputs;
    std::size_t size = 0;  // of the last decode that succeeded
  };

  bool has(SlotId slot) const { return slot.value >= 0 && slot.value < shape_.n_slots; }
  void create(const ModelOptions& options);
  void allocate_batch();
  MemoryTraits find_traits();
  struct Probe {
    bool refuses_partial_removal = true;
    Bytes token_bytes;  // that the second token added to the state
  };
  Probe probe();
  std::string fingerprint(const ModelOptions& options) const;

  std::shared_ptr<ModelFile> model_;
  llama_context* context_ = nullptr;
  BackendShape shape_;
  std::uint64_t shape_hash_ = 0;  // of the fingerprint; in every blob
  Batch batch_;
  std::function<bool()> abort_check_;
};

}  // namespace segue
