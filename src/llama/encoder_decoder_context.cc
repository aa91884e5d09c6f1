#include "llama/encoder_decoder_context.h"

#include <algorithm>
#include <string>
#include <utility>

#include "llama.h"
#include "llama/sampler.h"
#include "segue/error.h"

namespace segue {
namespace {

// An encoder reads its whole input in one piece, whose attention grows with its square.
constexpr std::int32_t kMostLength = 2048;
constexpr std::int32_t kDefaultLength = 512;

DecodeStatus status_of(std::int32_t code) {
  switch (code) {
    case 0:
      return DecodeStatus::ok;
    case 1:
      return DecodeStatus::no_room;
    case 2:
      return DecodeStatus::aborted;
    case -1:
      return DecodeStatus::invalid;
    default:
      return DecodeStatus::failed;
  }
}

bool call_abort_check(void* check) noexcept {
  try {
    return (*static_cast<const std::function<bool()>*>(check))();
  } catch (...) {
    return false;
  }
}

}  // namespace

void EncoderDecoderContext::ContextDeleter::operator()(llama_context* context) const {
  llama_free(context);
}

EncoderDecoderContext::EncoderDecoderContext(std::shared_ptr<ModelFile> model,
                                             const ModelOptions& options)
    : model_(std::move(model)) {
  const std::int32_t trained = model_->facts().training_context;
  const std::int32_t asked = options.context_length > 0 ? options.context_length
                             : trained > 0              ? trained
                                                        : kDefaultLength;
  const std::int32_t length = std::min(asked, kMostLength);
  shape_.n_slots = options.slots;
  shape_.context_length = Position(length);
  shape_.batch_size = length;
  shape_.memory = {.kind = MemoryKind::single_use, .window = 0, .forward_only = true};
  shape_.fingerprint = "single use";
  seats_.resize(static_cast<std::size_t>(options.slots));
  for (Seat& seat : seats_) seat.context = make_context();
}

EncoderDecoderContext::~EncoderDecoderContext() = default;

std::unique_ptr<llama_context, EncoderDecoderContext::ContextDeleter>
EncoderDecoderContext::make_context() const {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(shape_.context_length.value) + 1;  // the start token
  params.n_batch = params.n_ctx;
  params.n_ubatch = params.n_ctx;
  params.n_seq_max = 1;
  params.n_threads = model_->facts().threads;
  params.n_threads_batch = model_->facts().threads;
  params.no_perf = true;
  std::unique_ptr<llama_context, ContextDeleter> context(
      llama_init_from_model(model_->handle(), params));
  if (context == nullptr) {
    throw OutOfMemory("llama.cpp can make no context of " +
                      std::to_string(shape_.context_length.value) + " tokens for " +
                      model_->facts().description + " (" + std::to_string(shape_.n_slots) +
                      " slots); ask for fewer slots or a shorter context_length");
  }
  return context;
}

DecodeStatus EncoderDecoderContext::decode(std::span<const BatchToken> tokens) {
  outputs_.assign(tokens.size(), nullptr);
  if (tokens.empty()) return DecodeStatus::invalid;
  for (const BatchToken& token : tokens) {
    if (token.slot.value < 0 || token.slot.value >= shape_.n_slots) return DecodeStatus::invalid;
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    Seat& taker = seat(tokens[i].slot);
    const DecodeStatus status = take(taker, tokens[i]);
    // Seats before this one have taken theirs, so the batch as a whole is partly done.
    if (status != DecodeStatus::ok) {
      return status == DecodeStatus::aborted ? status : DecodeStatus::failed;
    }
    if (tokens[i].wants_logits) outputs_[i] = &taker;
  }
  return DecodeStatus::ok;
}

DecodeStatus EncoderDecoderContext::take(Seat& seat, const BatchToken& token) {
  if (token.position.value != seat.length()) return DecodeStatus::invalid;
  if (seat.is_encoded) {
    // The start token stands at the decoder's position 0.
    const DecodeStatus status = decode_one(seat, token.token, seat.n_decoded + 1);
    if (status == DecodeStatus::ok) ++seat.n_decoded;
    return status;
  }
  seat.input.push_back(token.token);
  return token.wants_logits ? encode(seat) : DecodeStatus::ok;
}

DecodeStatus EncoderDecoderContext::encode(Seat& seat) const {
  const llama_vocab* vocab = model_->vocabulary();
  std::vector<Token> input = seat.input;
  const Token eos = llama_vocab_eos(vocab);
  if (llama_vocab_get_add_eos(vocab) && input.back() != eos) input.push_back(eos);
  llama_memory_clear(llama_get_memory(seat.context.get()), true);
  const std::int32_t code =
      llama_encode(seat.context.get(),
                   llama_batch_get_one(input.data(), static_cast<std::int32_t>(input.size())));
  if (code != 0) return DecodeStatus::failed;
  seat.is_encoded = true;
  Token start = llama_model_decoder_start_token(model_->handle());
  if (start == LLAMA_TOKEN_NULL) start = llama_vocab_bos(vocab);
  return decode_one(seat, start, 0);
}

DecodeStatus EncoderDecoderContext::decode_one(Seat& seat, Token token,
                                               std::int64_t position) const {
  auto place = static_cast<llama_pos>(position);
  std::int32_t n_sequences = 1;
  llama_seq_id sequence = 0;
  llama_seq_id* sequences = &sequence;
  std::int8_t output = 1;
  const llama_batch batch{.n_tokens = 1,
                          .token = &token,
                          .embd = nullptr,
                          .pos = &place,
                          .n_seq_id = &n_sequences,
                          .seq_id = &sequences,
                          .logits = &output};
  return status_of(llama_decode(seat.context.get(), batch));
}

Position EncoderDecoderContext::position_min(SlotId slot) const {
  return Position(seat(slot).length() == 0 ? -1 : 0);
}

Position EncoderDecoderContext::position_max(SlotId slot) const {
  return Position(seat(slot).length() - 1);
}

bool EncoderDecoderContext::remove_from(SlotId slot, Position from) {
  if (from.value >= seat(slot).length()) return true;
  if (from.value > 0) return false;
  clear(slot);
  return true;
}

void EncoderDecoderContext::clear(SlotId slot) {
  Seat& cleared = seat(slot);
  llama_memory_clear(llama_get_memory(cleared.context.get()), true);
  cleared.input.clear();
  cleared.n_decoded = 0;
  cleared.is_encoded = false;
}

std::unique_ptr<Sampler> EncoderDecoderContext::make_sampler(const SamplerOptions& options) {
  return std::make_unique<LlamaSampler>(
      model_->vocabulary(), static_cast<std::int32_t>(shape_.context_length.value), options,
      [this](std::int32_t batch_index) { return logits(batch_index); });
}

std::span<const float> EncoderDecoderContext::logits(std::int32_t batch_index) const {
  if (batch_index < 0 || static_cast<std::size_t>(batch_index) >= outputs_.size()) return {};
  const Seat* seat = outputs_[static_cast<std::size_t>(batch_index)];
  if (seat == nullptr) return {};
  const float* values = llama_get_logits_ith(seat->context.get(), -1);
  if (values == nullptr) return {};
  return {values, static_cast<std::size_t>(model_->facts().vocabulary_size)};
}

void EncoderDecoderContext::set_abort_check(std::function<bool()> check) {
  abort_check_ = std::move(check);
  for (Seat& seat : seats_) {
    llama_set_abort_callback(seat.context.get(), abort_check_ ? &call_abort_check : nullptr,
                             abort_check_ ? &abort_check_ : nullptr);
  }
}

}  // namespace segue
