// A slot: our seat for one sequence of the context, and exactly what that sequence holds.
//
// Invariant: `record` and `checkpoints` describe the sequence's state; where that is not certain,
// the sequence is cleared and the record empty. Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "backend/units.h"
#include "reuse/checkpoints.h"
#include "reuse/record.h"

namespace segue {

struct Slot {
  SlotId id;
  Record record;
  Checkpoints checkpoints;
  // The part of the record that somebody may come back to; what lies beyond it (an answer that was
  // cancelled) is dropped without being parked.
  ItemCount worth;
  // Whose state this is; nobody's when the session is gone or answered on a transient slot.
  std::optional<SessionId> owner;
  std::string cache_namespace;
  std::uint64_t last_used = 0;  // a counter, not a time
  bool busy = false;            // an exchange or a settling runs here
  bool clear_on_release = false;
};

}  // namespace segue
