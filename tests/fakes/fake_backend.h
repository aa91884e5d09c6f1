// A context of FakeMemory sequences, any of whose calls can be made to fail.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "backend/state_backend.h"
#include "fakes/fake_memory.h"

namespace segue {

enum class FakeCall : std::uint8_t { decode, remove_from, save, restore, make_sampler, sample };
inline constexpr std::size_t kFakeCalls = 6;

// What becomes of some calls: the k-th (from 1) since the fault was set, and those right after it.
struct FakeFault {
  FakeCall call = FakeCall::decode;
  std::int64_t k = 1;
  std::int64_t times = 1;
  // Of a decode. Where parts may have been processed, the first half of the batch has been.
  DecodeStatus status = DecodeStatus::failed;
  bool lies = false;    // says yes and has not done it (remove_from, restore)
  bool throws = false;  // std::bad_alloc instead of a status (save, make_sampler, sample, decode)
};

// Shared by a test and the backend that an engine owns. Thread-safe.
class FakeControl {
 public:
  void set_fault(std::optional<FakeFault> fault);
  std::int64_t calls(FakeCall call) const { return counts_.at(index(call)); }
  std::int64_t tokens_decoded() const { return tokens_; }
  bool struck() const { return struck_; }
  // Batches that did not follow from the state: the record of a slot said something else.
  std::int64_t refused() const { return refused_; }
  // Called on the engine thread at the start of each decode, with the number of its tokens.
  void set_on_decode(std::function<void(std::size_t)> hook);

 private:
  friend class FakeBackend;
  friend class FakeSampler;
  static std::size_t index(FakeCall call) { return static_cast<std::size_t>(call); }
  // Counts the call; the fault where this is the one to fail.
  std::optional<FakeFault> count(FakeCall call);
  void before_decode(std::size_t n_tokens);

  std::mutex mutex_;
  std::optional<FakeFault> fault_;
  std::function<void(std::size_t)> on_decode_;
  std::array<std::atomic<std::int64_t>, kFakeCalls> counts_{};
  std::int64_t fault_base_ = 0;
  std::atomic<std::int64_t> tokens_{0};
  std::atomic<std::int64_t> refused_{0};
  std::atomic<bool> struck_{false};
};

struct FakeBackendOptions {
  MemoryTraits memory{};
  std::int32_t n_slots = 2;
  std::int64_t context_length = 512;
  std::int32_t batch_size = 16;
};

class FakeBackend final : public StateBackend {
 public:
  FakeBackend(const FakeBackendOptions& options, std::shared_ptr<FakeControl> control);

  const BackendShape& shape() const override { return shape_; }
  DecodeStatus decode(std::span<const BatchToken> tokens) override;
  Position position_min(SlotId slot) const override;
  Position position_max(SlotId slot) const override;
  bool remove_from(SlotId slot, Position from) override;
  void clear(SlotId slot) override;
  StateBlob save(SlotId slot, StatePart part) override;
  bool restore(SlotId slot, std::span<const std::byte> blob, StatePart part) override;
  std::unique_ptr<Sampler> make_sampler(const SamplerOptions& options) override;
  void set_abort_check(std::function<bool()> check) override { abort_check_ = std::move(check); }

 private:
  FakeMemory& memory(SlotId slot) { return slots_.at(static_cast<std::size_t>(slot.value)); }
  const FakeMemory& memory(SlotId slot) const {
    return slots_.at(static_cast<std::size_t>(slot.value));
  }
  DecodeStatus check(std::span<const BatchToken> tokens) const;
  DecodeStatus process(std::span<const BatchToken> tokens);

  BackendShape shape_;
  std::shared_ptr<FakeControl> control_;
  std::vector<FakeMemory> slots_;
  std::vector<std::optional<std::uint64_t>> logits_;  // of the last batch, by index
  std::function<bool()> abort_check_;
};

}  // namespace segue
