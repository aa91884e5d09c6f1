// The decision what to keep: given a prompt and everything that holds state, in which order to try
// which way of starting. A pure function: no llama.cpp, no threads, no clock.
//
// Rules (see docs/architecture.md):
// - The last prompt item is always decoded again, so at most items.size() - 1 items are kept.
// - A prefix is usable where the memory can be brought to exactly that length (MemoryTraits):
//   appending always; going back only by a cut that leaves the window whole, or by a checkpoint,
//   which brings the state to its own length, or to a shorter one that it can be cut to. A
//   single-use memory keeps nothing.
// - More items kept first, however few: what moving a state costs is a few hundredths of what
//   reading it costs, and a read can never be taken back. Among equals the cheaper way first: own
//   slot, other slot, snapshot; no cut, a cut, a checkpoint; fewer bytes to move.
// - A plan is verified after it is applied; the next one is tried where it does not hold. Plans for
//   the own slot hold only while its state does: once a plan has overwritten or cleared the slot,
//   the later ones of its own must be passed over. The last plan is always `start_empty`.
#pragma once

#include <span>
#include <vector>

#include "backend/memory_traits.h"
#include "backend/units.h"
#include "reuse/checkpoints.h"
#include "reuse/prompt.h"
#include "reuse/record.h"

namespace segue {

// Names a holder of state for the caller: a slot, or a snapshot of the store.
enum class HolderKind : std::uint8_t { own_slot, other_slot, snapshot };

struct Holder {
  HolderKind kind = HolderKind::own_slot;
  std::uint64_t id = 0;                      // the caller's: a slot number or a snapshot's id
  const Record* record = nullptr;            // borrowed for the call
  const Checkpoints* checkpoints = nullptr;  // borrowed; may be null
  // First position present in the live state; of no matter for a snapshot. What moves (another
  // slot's state, a snapshot) arrives with the window before its end and no more, and is planned
  // so.
  Position position_min;
  Bytes state_bytes;  // what a copy or restore moves
};

enum class PlanKind : std::uint8_t {
  keep,        // own slot: the whole record is a prefix of the prompt
  rewind,      // own slot: cut to `length`
  checkpoint,  // own slot: restore a checkpoint, cut the rest
  copy,        // another slot's state into this one, then as below
  restore,     // a snapshot into this slot, then as below
  start_empty,
};
// After a copy or restore: how the state gets from the holder's length to `length`.
enum class Cut : std::uint8_t { none, rewind, checkpoint };

struct Plan {
  PlanKind kind = PlanKind::start_empty;
  std::uint64_t holder = 0;
  Cut cut = Cut::none;   // the same for the own slot: none, rewind or checkpoint
  ItemCount length;      // items kept
  ItemCount checkpoint;  // Cut::checkpoint: the length of the one to restore, at least `length`
  friend bool operator==(const Plan&, const Plan&) = default;
};

// Best first, a handful at most; ends with start_empty. Plans that keep nothing are left out. A
// holder's rewind is followed by its checkpoint, which a failed verification falls back to.
std::vector<Plan> make_plans(const Prompt& prompt, std::span<const Holder> holders,
                             const MemoryTraits& memory);

// Whether a live or restored state of `record` whose first present position is `position_min` can
// be cut to `length` without a checkpoint.
bool can_cut(const Record& record, Position position_min, ItemCount length,
             const MemoryTraits& memory);

// First position that a state has which was saved at the first `length` items of `record`.
Position restored_position_min(const Record& record, ItemCount length, const MemoryTraits& memory);

// The most items of `items`, the last one excluded, that the holder's state can be brought to.
ItemCount usable_length(std::span<const PromptItem> items, const Holder& holder,
                        const MemoryTraits& memory);

// Whether the holder's state can be brought to exactly the first `length` items of its record.
bool can_reach(const Holder& holder, ItemCount length, const MemoryTraits& memory);

}  // namespace segue
