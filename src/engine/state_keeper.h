// Where the sessions' states are: the slots of the context and the store beside it. Carries out
// what the planner decides, checks that it held, and parks what would otherwise be lost.
//
// Every function leaves each slot's record exact. Faults of the context cost time, never content:
// the next best plan is taken, down to an empty slot. Engine thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/state_backend.h"
#include "engine/slot.h"
#include "reuse/planner.h"
#include "reuse/prompt.h"
#include "segue/options.h"
#include "store/store.h"

namespace segue {

enum class TailCare : std::uint8_t {
  park,  // keep a snapshot of a state before its end is dropped
  drop,  // nobody can come back to it
};

class StateKeeper {
 public:
  // `backend` must outlive the keeper. `cache_bytes` bounds parked states and checkpoints together.
  StateKeeper(StateBackend& backend, Bytes cache_bytes, LogCallback log);

  std::vector<Slot>& slots() { return slots_; }
  const std::vector<Slot>& slots() const { return slots_; }
  const Store& store() const { return store_; }

  // The slot that holds the session's state, or null.
  Slot* slot_of(SessionId session);
  // A slot that is not busy, made the session's (or nobody's, for a transient answer) and busy: the
  // session's own, an empty one, or the least recently used, whose state is parked first. Null
  // where all are busy.
  Slot* take(std::optional<SessionId> session, std::string_view cache_namespace);
  void release(Slot& slot);

  // Brings the slot to the longest usable prefix of the prompt that is held anywhere, and gives its
  // length. The slot must be busy (taken).
  ItemCount prepare(Slot& slot, const Prompt& prompt, TailCare care = TailCare::park);

  // Saves a checkpoint of the slot at its present length, where the memory needs them.
  void checkpoint(Slot& slot);
  // After a decode that may have left parts behind: makes the record exact again, shortens it to
  // the latest checkpoint, or empties it.
  void reconcile(Slot& slot);

  // Takes the owner off a session's slot; the state may still serve others.
  void disown(SessionId session);
  // A snapshot of what serves the longest beginning of `items`, or null.
  SnapshotPtr best_snapshot(std::string_view cache_namespace, std::span<const PromptItem> items);
  // False where the fingerprint is another's.
  bool keep(SnapshotPtr snapshot);
  // Empties the store and every idle slot, and busy ones when they are released.
  void clear();

  Bytes checkpoint_bytes() const;

 private:
  void empty(Slot& slot);
  void back_to_checkpoint(Slot& slot);
  // Keeps a snapshot of the slot's state unless the store already serves it. Never throws.
  void park(const Slot& slot);
  SnapshotPtr snapshot_of(const Slot& slot);
  std::vector<Holder> holders_for(const Slot& slot, std::span<const PromptItem> items) const;
  bool apply(Slot& slot, const Plan& plan, const Snapshot* source);
  bool fill(Slot& slot, const Snapshot& snapshot);
  bool cut(Slot& slot, const Plan& plan);
  bool holds(const Slot& slot) const;
  void log(LogLevel level, const std::string& message) const;

  StateBackend& backend_;
  const MemoryTraits memory_;
  const Bytes checkpoint_budget_;  // a slot's
  const LogCallback log_;
  std::vector<Slot> slots_;
  Store store_;
  std::uint64_t uses_ = 0;
};

}  // namespace segue
