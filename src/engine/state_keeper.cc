#include "engine/state_keeper.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <utility>

namespace segue {
namespace {

// A quarter of the cache is for the checkpoints of states in slots, the rest for parked states.
// Models whose states can be rewound have no checkpoints.
Bytes slot_share(Bytes cache, const BackendShape& shape) {
  if (!shape.memory.needs_checkpoints()) return Bytes(0);
  return Bytes(cache.value / 4 / std::max(1, shape.n_slots));
}

Bytes store_share(Bytes cache, const BackendShape& shape) {
  return shape.memory.needs_checkpoints() ? Bytes(cache.value - cache.value / 4) : cache;
}

}  // namespace

StateKeeper::StateKeeper(StateBackend& backend, Bytes cache_bytes, LogCallback log)
    : backend_(backend),
      memory_(backend.shape().memory),
      checkpoint_budget_(slot_share(cache_bytes, backend.shape())),
      log_(std::move(log)),
      store_(store_share(cache_bytes, backend.shape()), backend.shape().memory) {
  for (std::int32_t i = 0; i < backend.shape().n_slots; ++i) {
    slots_.emplace_back().id = SlotId(i);
  }
}

Slot* StateKeeper::slot_of(SessionId session) {
  const auto found =
      std::ranges::find_if(slots_, [&](const Slot& slot) { return slot.owner == session; });
  return found == slots_.end() ? nullptr : &*found;
}

Slot* StateKeeper::take(std::optional<SessionId> session, std::string_view cache_namespace) {
  Slot* chosen = session ? slot_of(*session) : nullptr;
  if (chosen != nullptr && chosen->busy) return nullptr;
  if (chosen == nullptr) {
    for (Slot& slot : slots_) {
      if (slot.busy) continue;
      const auto rank = [](const Slot& s) { return s.record.empty() ? 0 : s.last_used; };
      if (chosen == nullptr || rank(slot) < rank(*chosen)) chosen = &slot;
    }
    if (chosen == nullptr) return nullptr;
    park(*chosen);
    // What is parked need not be kept here as well, but where it serves the newcomer it is already
    // in place: only another namespace's state must go.
    if (chosen->cache_namespace != cache_namespace) empty(*chosen);
    chosen->owner = session;
    chosen->cache_namespace = cache_namespace;
  }
  chosen->busy = true;
  chosen->last_used = ++uses_;
  return chosen;
}

void StateKeeper::release(Slot& slot) {
  slot.busy = false;
  slot.last_used = ++uses_;
  if (std::exchange(slot.clear_on_release, false)) empty(slot);
}

ItemCount StateKeeper::prepare(Slot& slot, const Prompt& prompt, TailCare care) {
  // Each failed plan empties the slot, so a second round plans with what the store and the other
  // slots have; holders that failed are not tried again.
  std::vector<Plan> failed;
  for (;;) {
    const std::vector<Holder> holders = holders_for(slot, prompt.items);
    std::vector<Plan> plans = make_plans(prompt, holders, memory_);
    std::erase_if(plans, [&](const Plan& plan) { return std::ranges::count(failed, plan) > 0; });
    if (plans.empty()) break;
    const Plan plan = plans.front();

    // Fetched first, so that parking cannot evict it.
    const SnapshotPtr source = plan.kind == PlanKind::restore ? store_.get(plan.holder) : nullptr;
    const bool replaces = plan.kind == PlanKind::copy || plan.kind == PlanKind::restore ||
                          plan.kind == PlanKind::start_empty;
    const ItemCount kept = replaces ? ItemCount(0) : plan.length;
    if (care == TailCare::park && plan.kind != PlanKind::keep && kept < slot.worth) park(slot);
    if (plan.kind != PlanKind::start_empty && apply(slot, plan, source.get()) && holds(slot)) {
      slot.worth = std::min(slot.worth, slot.record.length());
      return slot.record.length();
    }
    if (plan.kind == PlanKind::start_empty) break;
    log(LogLevel::warning, "a kept state of " + std::to_string(plan.length.value) +
                               " items could not be used; reading more of the prompt again");
    empty(slot);
    failed.push_back(plan);
  }
  empty(slot);
  return ItemCount(0);
}

void StateKeeper::checkpoint(Slot& slot) {
  if (!memory_.needs_checkpoints() || slot.record.empty()) return;
  if (slot.checkpoints.contains(slot.record.length())) return;
  try {
    auto blob = std::make_shared<const StateBlob>(backend_.save(slot.id, StatePart::partial));
    if (blob->empty()) return;
    slot.checkpoints.add({.length = slot.record.length(), .blob = std::move(blob)});
    slot.checkpoints.thin(checkpoint_budget_);
  } catch (const std::bad_alloc&) {
    log(LogLevel::warning, "no memory for a checkpoint; going back in this session will cost more");
  }
}

void StateKeeper::reconcile(Slot& slot) {
  // A state that only moves forward may have been changed in place: nothing of it is certain but
  // what was saved.
  if (memory_.forward_only) return back_to_checkpoint(slot);
  const Position end = slot.record.end_position();
  if (backend_.position_max(slot.id) == end - Position(1)) return;
  // Parts beyond the record were left behind; they are cut off again.
  if (!backend_.remove_from(slot.id, end) || !holds(slot)) empty(slot);
}

void StateKeeper::back_to_checkpoint(Slot& slot) {
  const Checkpoint* latest = slot.checkpoints.at_or_before(slot.record.length());
  const ItemCount length = latest != nullptr ? latest->length : ItemCount(0);
  const Plan plan{PlanKind::checkpoint, 0, Cut::checkpoint, length, length};
  if (latest == nullptr || !cut(slot, plan) || !holds(slot)) {
    empty(slot);
  }
}

void StateKeeper::disown(SessionId session) {
  if (Slot* slot = slot_of(session)) slot->owner.reset();
}

SnapshotPtr StateKeeper::best_snapshot(std::string_view cache_namespace,
                                       std::span<const PromptItem> items) {
  const Slot* best_slot = nullptr;
  ItemCount longest{0};
  for (const Slot& slot : slots_) {
    if (slot.cache_namespace != cache_namespace) continue;
    const ItemCount shared = common_prefix(slot.record.items(), items);
    if (shared > longest) {
      longest = shared;
      best_slot = &slot;
    }
  }
  std::optional<SnapshotId> best_id;
  for (const SnapshotId id : store_.find(cache_namespace, items)) {
    const Snapshot* snapshot = store_.peek(id);
    if (snapshot == nullptr) continue;
    const ItemCount shared = common_prefix(snapshot->record.items(), items);
    if (shared > longest) {
      longest = shared;
      best_id = id;
    }
  }
  if (best_id) return store_.get(*best_id);
  return best_slot != nullptr ? snapshot_of(*best_slot) : nullptr;
}

bool StateKeeper::keep(SnapshotPtr snapshot) {
  if (snapshot->fingerprint != backend_.shape().fingerprint) return false;
  store_.put(std::move(snapshot));
  return true;
}

void StateKeeper::clear() {
  store_.clear();
  for (Slot& slot : slots_) {
    if (slot.busy) {
      slot.clear_on_release = true;
    } else {
      empty(slot);
    }
  }
}

Bytes StateKeeper::checkpoint_bytes() const {
  Bytes sum{0};
  for (const Slot& slot : slots_) sum += slot.checkpoints.bytes();
  return sum;
}

void StateKeeper::empty(Slot& slot) {
  backend_.clear(slot.id);
  slot.record.clear();
  slot.checkpoints.clear();
  slot.worth = ItemCount(0);
}

void StateKeeper::park(const Slot& slot) {
  if (slot.record.empty() || slot.worth == ItemCount(0)) return;
  if (memory_.kind == MemoryKind::single_use) return;
  if (store_.holds(slot.cache_namespace, slot.record)) return;
  if (SnapshotPtr snapshot = snapshot_of(slot)) store_.put(std::move(snapshot));
}

SnapshotPtr StateKeeper::snapshot_of(const Slot& slot) {
  if (slot.record.empty()) return nullptr;
  try {
    auto state = std::make_shared<const StateBlob>(backend_.save(slot.id, StatePart::whole));
    if (state->empty()) {
      log(LogLevel::warning, "the state of a session could not be saved; it will be read again");
      return nullptr;
    }
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->record = slot.record;
    snapshot->state = std::move(state);
    snapshot->checkpoints = slot.checkpoints;
    snapshot->fingerprint = backend_.shape().fingerprint;
    snapshot->cache_namespace = slot.cache_namespace;
    return snapshot;
  } catch (const std::bad_alloc&) {
    log(LogLevel::warning, "no memory to park a session of " +
                               std::to_string(slot.record.length().value) +
                               " items; it will be read again");
    return nullptr;
  }
}

std::vector<Holder> StateKeeper::holders_for(const Slot& slot,
                                             std::span<const PromptItem> items) const {
  std::vector<Holder> holders;
  const auto add_slot = [&](const Slot& s, HolderKind kind) {
    if (s.record.empty() || s.cache_namespace != slot.cache_namespace) return;
    holders.push_back({.kind = kind,
                       .id = static_cast<std::uint64_t>(s.id.value),
                       .record = &s.record,
                       .checkpoints = &s.checkpoints,
                       .position_min = backend_.position_min(s.id),
                       .state_bytes = Bytes(0)});
  };
  add_slot(slot, HolderKind::own_slot);
  for (const Slot& other : slots_) {
    if (other.id != slot.id) add_slot(other, HolderKind::other_slot);
  }
  for (const SnapshotId id : store_.find(slot.cache_namespace, items)) {
    const Snapshot* snapshot = store_.peek(id);
    if (snapshot == nullptr) continue;
    holders.push_back({.kind = HolderKind::snapshot,
                       .id = id,
                       .record = &snapshot->record,
                       .checkpoints = &snapshot->checkpoints,
                       .position_min = Position(0),
                       .state_bytes = snapshot->bytes()});
  }
  return holders;
}

bool StateKeeper::apply(Slot& slot, const Plan& plan, const Snapshot* source) {
  switch (plan.kind) {
    case PlanKind::keep:
      return true;
    case PlanKind::rewind:
    case PlanKind::checkpoint:
      return cut(slot, plan);
    case PlanKind::copy: {
      // The other slot may be in use; between two decodes its record is exact all the same.
      const SnapshotPtr copy = snapshot_of(slots_[plan.holder]);
      return copy != nullptr && fill(slot, *copy) && cut(slot, plan);
    }
    case PlanKind::restore:
      return source != nullptr && fill(slot, *source) && cut(slot, plan);
    case PlanKind::start_empty:
      break;
  }
  return false;
}

bool StateKeeper::fill(Slot& slot, const Snapshot& snapshot) {
  empty(slot);
  if (!backend_.restore(slot.id, *snapshot.state, StatePart::whole)) return false;
  slot.record = snapshot.record;
  slot.checkpoints = snapshot.checkpoints;
  slot.worth = ItemCount(0);  // the source still has it
  return true;
}

// From the record's length, or the plan's checkpoint, to the plan's length.
bool StateKeeper::cut(Slot& slot, const Plan& plan) {
  if (plan.cut == Cut::none) return slot.record.length() == plan.length;
  const Position from = slot.record.position_at(plan.length);
  if (plan.cut == Cut::checkpoint) {
    const Checkpoint* point = slot.checkpoints.at_or_before(plan.checkpoint);
    if (point == nullptr || point->length != plan.checkpoint) return false;
    if (!backend_.restore(slot.id, *point->blob, StatePart::partial)) return false;
  }
  if (!backend_.remove_from(slot.id, from)) return false;
  slot.record.truncate(plan.length);
  slot.checkpoints.truncate(plan.length);
  return true;
}

bool StateKeeper::holds(const Slot& slot) const {
  const Position end = slot.record.end_position();
  if (backend_.position_max(slot.id) != end - Position(1)) return false;
  if (memory_.window == 0) return true;
  const std::int64_t needed = std::max<std::int64_t>(0, end.value - memory_.window);
  return backend_.position_min(slot.id).value <= needed;
}

void StateKeeper::log(LogLevel level, const std::string& message) const {
  if (!log_) return;
  try {
    log_(level, message);
  } catch (...) {  // a log must not break an answer
  }
}

}  // namespace segue
