// A snapshot: everything that brings a sequence back in a context with the same fingerprint.
//
// Immutable once made; shared by pointer. Thread-safe as such.
#pragma once

#include <memory>
#include <string>

#include "backend/state_backend.h"
#include "backend/units.h"
#include "reuse/checkpoints.h"
#include "reuse/record.h"

namespace segue {

struct Snapshot {
  Record record;
  std::shared_ptr<const StateBlob> state;  // StatePart::whole at record.length()
  Checkpoints checkpoints;
  std::string fingerprint;
  std::string cache_namespace;

  Bytes bytes() const;  // record, state and checkpoints
};

using SnapshotPtr = std::shared_ptr<const Snapshot>;

}  // namespace segue
