// An encoder-decoder model (T5 and its kin) as a StateBackend: a llama.cpp context of its own for
// each slot, used for one prompt at a time.
//
// The prompt is the encoder's input, which it reads as a whole; what follows is the decoder's. So
// nothing that was read can be kept for another prompt: MemoryKind::single_use. A slot's positions
// count both, the input first.
//
// Engine thread only, as StateBackend says. Keeps the model alive.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "backend/state_backend.h"
#include "llama/model_file.h"

struct llama_context;

namespace segue {

class EncoderDecoderContext final : public StateBackend {
 public:
  // Throws OutOfMemory and InvalidModel (a context cannot be made).
  EncoderDecoderContext(std::shared_ptr<ModelFile> model, const ModelOptions& options);
  ~EncoderDecoderContext() override;
  EncoderDecoderContext(const EncoderDecoderContext&) = delete;
  EncoderDecoderContext& operator=(const EncoderDecoderContext&) = delete;

  const BackendShape& shape() const override { return shape_; }
  DecodeStatus decode(std::span<const BatchToken> tokens) override;
  Position position_min(SlotId slot) const override;
  Position position_max(SlotId slot) const override;
  bool remove_from(SlotId slot, Position from) override;
  void clear(SlotId slot) override;
  // Nothing: a state serves no other prompt.
  StateBlob save(SlotId, StatePart) override { return {}; }
  bool restore(SlotId, std::span<const std::byte>, StatePart) override { return false; }
  std::unique_ptr<Sampler> make_sampler(const SamplerOptions& options) override;
  void set_abort_check(std::function<bool()> check) override;

 private:
  struct ContextDeleter {
    void operator()(llama_context* context) const;
  };
  struct Seat {
    std::unique_ptr<llama_context, ContextDeleter> context;
    std::vector<Token> input;    // of the encoder
    std::int64_t n_decoded = 0;  // of the decoder, its start token left out
    bool is_encoded = false;
    std::int64_t length() const { return static_cast<std::int64_t>(input.size()) + n_decoded; }
  };

  Seat& seat(SlotId slot) { return seats_[static_cast<std::size_t>(slot.value)]; }
  const Seat& seat(SlotId slot) const { return seats_[static_cast<std::size_t>(slot.value)]; }
  std::unique_ptr<llama_context, ContextDeleter> make_context() const;
  DecodeStatus take(Seat& seat, const BatchToken& token);
  DecodeStatus encode(Seat& seat) const;
  DecodeStatus decode_one(Seat& seat, Token token, std::int64_t position) const;
  std::span<const float> logits(std::int32_t batch_index) const;

  std::shared_ptr<ModelFile> model_;
  BackendShape shape_;
  std::vector<Seat> seats_;
  std::vector<const Seat*> outputs_;  // by index in the last batch; null: no logits
  std::function<bool()> abort_check_;
};

}  // namespace segue
