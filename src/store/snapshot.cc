#include "store/snapshot.h"

namespace segue {

Bytes Snapshot::bytes() const {
  const auto items = static_cast<std::int64_t>(record.items().size_bytes());
  const auto whole = state == nullptr ? 0 : static_cast<std::int64_t>(state->size());
  return Bytes(items + whole) + checkpoints.bytes();
}

}  // namespace segue
