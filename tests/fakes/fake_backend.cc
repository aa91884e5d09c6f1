#include "fakes/fake_backend.h"

#include <map>
#include <new>
#include <utility>

#include "segue/error.h"

namespace segue {

void FakeControl::set_fault(std::optional<FakeFault> fault) {
  const std::scoped_lock lock(mutex_);
  fault_ = fault;
  fault_base_ = fault ? calls(fault->call) : 0;
  struck_ = false;
}

void FakeControl::set_on_decode(std::function<void(std::size_t)> hook) {
  const std::scoped_lock lock(mutex_);
  on_decode_ = std::move(hook);
}

std::optional<FakeFault> FakeControl::count(FakeCall call) {
  const std::scoped_lock lock(mutex_);
  const std::int64_t number = ++counts_.at(index(call));
  if (!fault_ || fault_->call != call) return std::nullopt;
  const std::int64_t since = number - fault_base_ - fault_->k;
  if (since < 0 || since >= fault_->times) return std::nullopt;
  struck_ = true;
  if (fault_->throws) throw std::bad_alloc();
  return fault_;
}

void FakeControl::before_decode(std::size_t n_tokens) {
  std::function<void(std::size_t)> hook;
  {
    const std::scoped_lock lock(mutex_);
    hook = on_decode_;
  }
  if (hook) hook(n_tokens);
}

// Greedy over the logits of the last batch.
class FakeSampler final : public Sampler {
 public:
  FakeSampler(std::shared_ptr<FakeControl> control,
              const std::vector<std::optional<std::uint64_t>>& logits, bool endless)
      : control_(std::move(control)), logits_(logits), endless_(endless) {}

  void accept_prompt(Token) override {}
  TokenChoice sample(std::int32_t batch_index) override {
    if (control_->count(FakeCall::sample)) throw DecodingFailed("no logit is finite");
    const auto& logits = logits_.at(static_cast<std::size_t>(batch_index));
    if (!logits) throw DecodingFailed("no logits were asked for");
    return {.token = fake_choice(*logits, endless_), .top = {}};
  }

 private:
  std::shared_ptr<FakeControl> control_;
  const std::vector<std::optional<std::uint64_t>>& logits_;
  const bool endless_;
};

FakeBackend::FakeBackend(const FakeBackendOptions& options, std::shared_ptr<FakeControl> control)
    : control_(std::move(control)),
      slots_(static_cast<std::size_t>(options.n_slots), FakeMemory(options.memory)) {
  shape_.n_slots = options.n_slots;
  shape_.context_length = Position(options.context_length);
  shape_.batch_size = options.batch_size;
  shape_.memory = options.memory;
  shape_.state_bytes_per_token = Bytes(8);
  shape_.fingerprint = "fake";
}

DecodeStatus FakeBackend::decode(std::span<const BatchToken> tokens) {
  control_->before_decode(tokens.size());
  const std::optional<FakeFault> fault = control_->count(FakeCall::decode);
  if (!fault) {
    if (abort_check_ && abort_check_()) {
      process(tokens.first(tokens.size() / 2));
      return DecodeStatus::aborted;
    }
    return process(tokens);
  }
  const bool partly =
      fault->status == DecodeStatus::failed || fault->status == DecodeStatus::aborted;
  if (partly) process(tokens.first(tokens.size() / 2));
  return fault->status;
}

// A batch that is refused leaves everything as it was.
DecodeStatus FakeBackend::check(std::span<const BatchToken> tokens) const {
  std::map<SlotId, std::int64_t> next;
  for (const BatchToken& token : tokens) {
    if (token.position >= shape_.context_length) return DecodeStatus::no_room;
    const auto seen = next.find(token.slot);
    const bool follows = seen == next.end() ? memory(token.slot).takes(token.position.value)
                                            : seen->second == token.position.value;
    if (!follows) return DecodeStatus::invalid;
    next[token.slot] = token.position.value + 1;
  }
  return DecodeStatus::ok;
}

DecodeStatus FakeBackend::process(std::span<const BatchToken> tokens) {
  if (const DecodeStatus status = check(tokens); status != DecodeStatus::ok) {
    ++control_->refused_;
    return status;
  }
  logits_.assign(tokens.size(), std::nullopt);
  for (const BatchToken& token : tokens) {
    if (memory(token.slot).takes(token.position.value)) memory(token.slot).forget();
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const BatchToken& token = tokens[i];
    memory(token.slot).read(token.token, token.position.value);
    if (token.wants_logits) logits_[i] = memory(token.slot).logits();
  }
  control_->tokens_ += static_cast<std::int64_t>(tokens.size());
  return DecodeStatus::ok;
}

Position FakeBackend::position_min(SlotId slot) const {
  return Position(memory(slot).position_min());
}

Position FakeBackend::position_max(SlotId slot) const {
  return Position(memory(slot).position_max());
}

bool FakeBackend::remove_from(SlotId slot, Position from) {
  if (const auto fault = control_->count(FakeCall::remove_from)) {
    if (!fault->lies) memory(slot).clear();
    return fault->lies;
  }
  return memory(slot).remove_from(from.value);
}

void FakeBackend::clear(SlotId slot) { memory(slot).clear(); }

StateBlob FakeBackend::save(SlotId slot, StatePart part) {
  if (control_->count(FakeCall::save)) return {};
  return memory(slot).save(part);
}

bool FakeBackend::restore(SlotId slot, std::span<const std::byte> blob, StatePart part) {
  // What is there after a restore that failed is not to be used.
  const auto fault = control_->count(FakeCall::restore);
  if (!fault && memory(slot).restore(blob, part)) return true;
  memory(slot).clear();
  memory(slot).read(1, 0);
  return fault && fault->lies;
}

std::unique_ptr<Sampler> FakeBackend::make_sampler(const SamplerOptions& options) {
  if (control_->count(FakeCall::make_sampler)) {
    throw InvalidArgument("the grammar cannot be read");
  }
  return std::make_unique<FakeSampler>(control_, logits_, options.ignore_eos);
}

}  // namespace segue
