#include "llama/context.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "hash/xxhash/xxhash.h"
#include "llama.h"
#include "llama/host_memory.h"
#include "llama/sampler.h"
#include "segue/error.h"

namespace segue {

namespace {

// Raise when the layout of blobs changes, or what restoring them means.
constexpr std::uint32_t kBlobVersion = 1;
constexpr std::int32_t kDefaultContextLength = 8192;
// llama.cpp pads a sequence's cells to this.
constexpr std::int64_t kCellPadding = 256;

// Before each blob. What follows is llama.cpp's own dump, which trusts its input: a blob that is
// not exactly one that save() made here, or in a context of the same fingerprint, is not handed to
// it. Bytes that changed inside a blob are for the store and the session files to detect.
struct BlobHeader {
  std::array<char, 8> mark{'s', 'e', 'g', 'u', 'e', 's', 't', '\0'};
  std::uint32_t version = kBlobVersion;
  std::uint32_t part = 0;
  std::uint64_t shape_hash = 0;
  std::uint64_t size = 0;  // of the dump
};

std::uint32_t flags_of(StatePart part) {
  return part == StatePart::partial ? LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY
                                    : LLAMA_STATE_SEQ_FLAGS_NONE;
}

std::int64_t padded(std::int64_t length) {
  return (length + kCellPadding - 1) / kCellPadding * kCellPadding;
}

bool call_abort_check(void* check) noexcept {
  try {
    return (*static_cast<const std::function<bool()>*>(check))();
  } catch (...) {
    return false;
  }
}

std::string words_of(const ModelFacts& facts, const BackendShape& shape) {
  return std::to_string(shape.n_slots) + (shape.n_slots == 1 ? " slot" : " slots") + " of " +
         std::to_string(shape.context_length.value) + " tokens, batches of " +
         std::to_string(shape.batch_size) + ", beside " + std::to_string(facts.weight_bytes >> 20) +
         " MiB of weights";
}

// Bytes that the cells take at least: their bookkeeping, and where keys and values of all positions
// lie in host memory, those.
std::int64_t least_bytes(const ModelFile& model, std::int64_t n_cells) {
  constexpr std::int64_t kBookkeeping = 48;
  constexpr std::int64_t kValueBytes = 2;
  const ModelFacts& facts = model.facts();
  const llama_model* handle = model.handle();
  std::int64_t per_cell = facts.kind == MemoryKind::recurrent ? 0 : kBookkeeping;
  const std::int64_t n_head = llama_model_n_head(handle);
  if (facts.kind == MemoryKind::attention && !llama_supports_gpu_offload() && n_head > 0) {
    per_cell += 2 * kValueBytes * llama_model_n_layer(handle) * llama_model_n_head_kv(handle) *
                (llama_model_n_embd(handle) / n_head);
  }
  return n_cells * per_cell;
}

void check_memory(const ModelFile& model, const BackendShape& shape, std::int64_t n_cells) {
  const auto available = available_host_memory();
  const std::int64_t needed = least_bytes(model, n_cells);
  if (!available || needed <= *available) return;
  throw OutOfMemory("no memory for " + words_of(model.facts(), shape) + ": their state takes " +
                    std::to_string(needed >> 20) + " MiB, and " + std::to_string(*available >> 20) +
                    " MiB are left. Ask for fewer slots or a shorter context_length.");
}

// Where a context of these sizes cannot be made: which of the two it is.
[[noreturn]] void throw_refused(const ModelFacts& facts, const BackendShape& shape,
                                const LogCapture& log) {
  const std::string sizes = words_of(facts, shape);
  for (const char* part : {"alloc", "out of memory", "buffer"}) {
    if (log.mentions(part)) {
      throw OutOfMemory("no memory for " + sizes + ": " + log.reason() +
                        ". Ask for fewer slots or a shorter context_length.");
    }
  }
  throw InvalidModel("llama.cpp can make no context (" + sizes + ") for " + facts.description +
                     ": " + log.reason());
}

}  // namespace

LlamaContext::LlamaContext(std::shared_ptr<ModelFile> model, const ModelOptions& options)
    : model_(std::move(model)) {
  try {
    create(options);
    allocate_batch();
    shape_.memory = find_traits();
    shape_.fingerprint = fingerprint(options);
    shape_hash_ = XXH3_64bits(shape_.fingerprint.data(), shape_.fingerprint.size());
  } catch (...) {
    llama_free(context_);
    throw;
  }
}

LlamaContext::~LlamaContext() { llama_free(context_); }

std::int64_t LlamaContext::slots_that_fit() const {
  const std::int64_t length = padded(shape_.context_length.value);
  const std::int64_t slot_bytes = shape_.state_bytes_per_token.value * length;
  const auto available = available_host_memory();
  if (slot_bytes == 0 || !available || llama_supports_gpu_offload()) return 0;
  return std::min({shape_.n_slots + *available / slot_bytes,
                   static_cast<std::int64_t>(llama_max_parallel_sequences()),
                   std::numeric_limits<std::int32_t>::max() / length});
}

void LlamaContext::create(const ModelOptions& options) {
  const ModelFacts& facts = model_->facts();
  std::int64_t length = options.context_length;
  if (length == 0) {
    length = facts.training_context > 0 ? std::min(facts.training_context, kDefaultContextLength)
                                        : kDefaultContextLength;
  }
  if (options.slots * padded(length) > std::numeric_limits<std::int32_t>::max()) {
    throw InvalidArgument(std::to_string(options.slots) + " slots of " + std::to_string(length) +
                          " tokens are more than llama.cpp can count. Ask for fewer slots or a "
                          "shorter context_length.");
  }
  shape_.n_slots = options.slots;
  shape_.context_length = Position(length);
  // Some graphs (kimi-linear's) end the process where a full batch cannot be shared equally among
  // the sequences.
  shape_.batch_size = std::max(1, options.batch_size / options.slots) * options.slots;

  check_memory(*model_, shape_, options.slots * padded(length));

  llama_context_params params = llama_context_default_params();
  params.n_ctx = static_cast<std::uint32_t>(options.slots * padded(length));
  params.n_seq_max = static_cast<std::uint32_t>(options.slots);
  params.n_batch = static_cast<std::uint32_t>(shape_.batch_size);
  params.n_ubatch = params.n_batch;
  // Each slot wants the logits of one token at most: with a large vocabulary, llama.cpp's default
  // (one output for each token of a batch) would take more memory than all else.
  params.n_outputs_max = params.n_seq_max;
  params.n_threads = facts.threads;
  params.n_threads_batch = facts.threads;
  params.flash_attn_type =
      options.flash_attention == FlashAttention::automatic ? LLAMA_FLASH_ATTN_TYPE_AUTO
      : options.flash_attention == FlashAttention::on      ? LLAMA_FLASH_ATTN_TYPE_ENABLED
                                                           : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.kv_unified = false;
  params.swa_full = false;
  params.no_perf = true;
  {
    const LogCapture log;
    try {
      context_ = llama_init_from_model(model_->handle(), params);
    } catch (const std::bad_alloc&) {
      throw_refused(facts, shape_, log);
    } catch (const std::exception& e) {
      throw InvalidModel("llama.cpp can make no context for " + facts.description + ": " +
                         e.what());
    }
    if (context_ == nullptr) throw_refused(facts, shape_, log);
  }
  if (llama_get_memory(context_) == nullptr) {
    throw InvalidModel(facts.description +
                       " keeps no state between tokens (an encoder or a diffusion model), so it "
                       "cannot chat. Take a causal language model.");
  }
  shape_.batch_size = static_cast<std::int32_t>(llama_n_batch(context_));
}

void LlamaContext::allocate_batch() {
  const auto n = static_cast<std::size_t>(shape_.batch_size);
  batch_.tokens.resize(n);
  batch_.positions.resize(n);
  batch_.counts.assign(n, 1);
  batch_.slots.resize(n);
  batch_.slot_pointers.resize(n);
  for (std::size_t i = 0; i < n; ++i) batch_.slot_pointers[i] = &batch_.slots[i];
  batch_.outputs.resize(n);
}

MemoryTraits LlamaContext::find_traits() {
  const ModelFacts& facts = model_->facts();
  MemoryTraits traits{.kind = facts.kind, .window = facts.window, .forward_only = false};
  const Probe found = probe();
  shape_.state_bytes_per_token = found.token_bytes;
  // A window that a whole slot fits into never drops anything. One of n positions counts the token
  // that looks back.
  if (traits.window >= shape_.context_length.value) traits.window = 0;
  if (traits.window > 1) --traits.window;
  traits.forward_only = facts.kind == MemoryKind::recurrent || facts.kind == MemoryKind::hybrid ||
                        found.refuses_partial_removal;
  // A state that only moves forward is kept at exact lengths, window and all; llama.cpp gives the
  // position of its recurrent part as the first one then.
  if (traits.forward_only) traits.window = 0;
  if (traits.window > 0 && facts.architecture == "llama4") {
    // Its window is a grid of chunks, of which llama.cpp keeps the current one: how much lies
    // before a position depends on the position, so only exact lengths can be gone back to.
    traits.window = 0;
    traits.forward_only = true;
  }
  return traits;
}

// Some memories (compressed attention and the like) are neither recurrent nor hybrid by name and
// still cannot drop the last token. Ask this one, and see what a token adds to a state. The decodes
// warm the weights up, too.
LlamaContext::Probe LlamaContext::probe() {
  const auto decode_one = [&](std::int64_t position) {
    const std::array<BatchToken, 1> token{BatchToken{
        .token = 0, .position = Position(position), .slot = SlotId(0), .wants_logits = true}};
    return LlamaContext::decode(token) == DecodeStatus::ok;
  };
  const auto state_size = [&] {
    return static_cast<std::int64_t>(llama_state_seq_get_size(context_, 0));
  };
  Probe result;
  if (decode_one(0)) {
    const std::int64_t one = state_size();
    if (decode_one(1)) {
      result.token_bytes = Bytes(std::max<std::int64_t>(0, state_size() - one));
      result.refuses_partial_removal = !LlamaContext::remove_from(SlotId(0), Position(1));
    }
  }
  llama_memory_clear(llama_get_memory(context_), true);
  batch_.size = 0;
  return result;
}

// All that shapes a dump or what its numbers mean. The length of the context does not: a state
// moves between contexts of different lengths.
std::string LlamaContext::fingerprint(const ModelOptions& options) const {
  const auto flag = [](FlashAttention f) {
    return f == FlashAttention::automatic ? "auto" : f == FlashAttention::on ? "on" : "off";
  };
  return "segue-state-" + std::to_string(kBlobVersion) + " llama.cpp-" + llama_version() +
         " model-" + model_->facts().identity + " slots-" + std::to_string(shape_.n_slots) +
         " k-f16 v-f16 flash-" + flag(options.flash_attention) + " gpu-" +
         (llama_supports_gpu_offload() ? std::to_string(options.gpu_layers) : "none") +
         " swa-window";
}

DecodeStatus LlamaContext::decode(std::span<const BatchToken> tokens) {
  batch_.size = 0;
  if (tokens.empty() || tokens.size() > batch_.tokens.size()) return DecodeStatus::invalid;
  std::int32_t outputs = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const BatchToken& token = tokens[i];
    if (!has(token.slot) || token.position.value < 0 ||
        token.position.value > std::numeric_limits<std::int32_t>::max()) {
      return DecodeStatus::invalid;
    }
    batch_.tokens[i] = token.token;
    batch_.positions[i] = static_cast<std::int32_t>(token.position.value);
    batch_.slots[i] = token.slot.value;
    batch_.outputs[i] = token.wants_logits ? 1 : 0;
    outputs += batch_.outputs[i];
  }
  // llama.cpp would end the process.
  if (outputs > shape_.n_slots) return DecodeStatus::invalid;

  llama_batch batch{.n_tokens = static_cast<std::int32_t>(tokens.size()),
                    .token = batch_.tokens.data(),
                    .embd = nullptr,
                    .pos = batch_.positions.data(),
                    .n_seq_id = batch_.counts.data(),
                    .seq_id = batch_.slot_pointers.data(),
                    .logits = batch_.outputs.data()};
  std::int32_t code = 0;
  try {
    code = llama_decode(context_, batch);
  } catch (...) {
    return DecodeStatus::failed;
  }
  switch (code) {
    case 0:
      batch_.size = tokens.size();
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

std::span<const float> LlamaContext::logits(std::int32_t batch_index) const {
  if (batch_index < 0 || static_cast<std::size_t>(batch_index) >= batch_.size ||
      batch_.outputs[static_cast<std::size_t>(batch_index)] == 0) {
    return {};
  }
  try {
    const float* values = llama_get_logits_ith(context_, batch_index);
    if (values == nullptr) return {};
    return {values, static_cast<std::size_t>(model_->facts().vocabulary_size)};
  } catch (...) {
    return {};
  }
}

Position LlamaContext::position_min(SlotId slot) const {
  return Position(has(slot) ? llama_memory_seq_pos_min(llama_get_memory(context_), slot.value)
                            : -1);
}

Position LlamaContext::position_max(SlotId slot) const {
  return Position(has(slot) ? llama_memory_seq_pos_max(llama_get_memory(context_), slot.value)
                            : -1);
}

bool LlamaContext::remove_from(SlotId slot, Position from) {
  if (!has(slot) || from.value > std::numeric_limits<std::int32_t>::max()) return false;
  const std::int32_t first = from.value <= 0 ? -1 : static_cast<std::int32_t>(from.value);
  try {
    return llama_memory_seq_rm(llama_get_memory(context_), slot.value, first, -1);
  } catch (...) {
    return false;
  }
}

void LlamaContext::clear(SlotId slot) { remove_from(slot, Position(0)); }

StateBlob LlamaContext::save(SlotId slot, StatePart part) {
  if (!has(slot)) return {};
  BlobHeader header{.part = static_cast<std::uint32_t>(part), .shape_hash = shape_hash_};
  header.size = llama_state_seq_get_size_ext(context_, slot.value, flags_of(part));
  if (header.size == 0) return {};
  StateBlob blob(sizeof header + header.size);
  std::memcpy(blob.data(), &header, sizeof header);
  std::size_t written = 0;
  try {
    written = llama_state_seq_get_data_ext(
        context_, reinterpret_cast<std::uint8_t*>(blob.data() + sizeof header), header.size,
        slot.value, flags_of(part));
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    written = 0;
  }
  if (written != header.size) return {};
  return blob;
}

bool LlamaContext::restore(SlotId slot, std::span<const std::byte> blob, StatePart part) {
  BlobHeader header;
  if (!has(slot) || blob.size() < sizeof header) return false;
  std::memcpy(&header, blob.data(), sizeof header);
  const BlobHeader expected{.part = static_cast<std::uint32_t>(part),
                            .shape_hash = shape_hash_,
                            .size = blob.size() - sizeof header};
  if (std::memcmp(&header, &expected, sizeof header) != 0) return false;
  if (part == StatePart::whole) clear(slot);
  try {
    const std::size_t read = llama_state_seq_set_data_ext(
        context_, reinterpret_cast<const std::uint8_t*>(blob.data() + sizeof header), header.size,
        slot.value, flags_of(part));
    return read == header.size;
  } catch (...) {
    return false;
  }
}

std::unique_ptr<Sampler> LlamaContext::make_sampler(const SamplerOptions& options) {
  return std::make_unique<LlamaSampler>(
      model_->vocabulary(), static_cast<std::int32_t>(shape_.context_length.value), options,
      [this](std::int32_t batch_index) { return logits(batch_index); });
}

void LlamaContext::set_abort_check(std::function<bool()> check) {
  abort_check_ = std::move(check);
  if (abort_check_) {
    llama_set_abort_callback(context_, &call_abort_check, &abort_check_);
  } else {
    llama_set_abort_callback(context_, nullptr, nullptr);
  }
}

}  // namespace segue
