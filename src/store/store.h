// Snapshots outside the context, by content, under a byte budget: the memory tier.
//
// Invariants:
// - A snapshot whose record another one of the same namespace extends, and from which every length
//   that it serves can be reached, is superseded and dropped.
// - bytes() <= budget after every call, except while a pinned snapshot alone is larger.
// - Eviction takes what costs least to read again per byte held, aged by use (GreedyDual-Size).
// Not thread-safe: the engine thread alone calls it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "backend/units.h"
#include "reuse/prefix_index.h"
#include "reuse/prompt.h"
#include "store/snapshot.h"

namespace segue {

using SnapshotId = std::uint64_t;

class Store {
 public:
  Store(Bytes budget, MemoryTraits memory);

  // Keeps a snapshot, evicting others; nothing where it alone exceeds the budget.
  std::optional<SnapshotId> put(SnapshotPtr snapshot);
  // The snapshots of the namespace worth planning with for this prompt, likeliest first.
  std::vector<SnapshotId> find(std::string_view cache_namespace,
                               std::span<const PromptItem> items) const;
  // Null where it has been evicted. Counts as a use.
  SnapshotPtr get(SnapshotId id);
  const Snapshot* peek(SnapshotId id) const;
  // Whether a kept snapshot of the namespace already serves this whole record.
  bool holds(std::string_view cache_namespace, const Record& record) const;
  void drop(SnapshotId id);
  void clear();

  Bytes bytes() const;
  std::int64_t count() const;
  std::int64_t evictions() const;

 private:
  struct Entry;
  // ...
};

}  // namespace segue
