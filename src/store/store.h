// Snapshots outside the context, by content, under a byte budget: the memory tier.
//
// Invariants:
// - A snapshot whose record another one of the same namespace extends, and from which every length
//   that it serves can be reached, is superseded and dropped.
// - bytes() <= budget after every call.
// - Eviction takes what costs least to read again per byte held, aged by use (GreedyDual-Size, Cao
//   and Irani 1997): worth = age at the last use + items / bytes; the smallest goes, and its worth
//   becomes the age.
// Not thread-safe: the engine thread alone calls it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
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

  // Keeps a snapshot, evicting others; nothing where it alone exceeds the budget. One with the
  // record of a kept one takes its place.
  std::optional<SnapshotId> put(SnapshotPtr snapshot);
  // The snapshots of the namespace worth planning with for this prompt, likeliest first.
  std::vector<SnapshotId> find(std::string_view cache_namespace,
                               std::span<const PromptItem> items) const;
  // Null where it has been evicted. Counts as a use.
  SnapshotPtr get(SnapshotId id);
  // The same without counting. Borrowed until the next call that changes the store.
  const Snapshot* peek(SnapshotId id) const;
  // Whether a kept snapshot of the namespace can be brought to exactly this record.
  bool holds(std::string_view cache_namespace, const Record& record) const;
  void drop(SnapshotId id);
  void clear();

  Bytes bytes() const { return bytes_; }
  std::int64_t count() const { return static_cast<std::int64_t>(entries_.size()); }
  // Snapshots that had to go for the budget, since the store was made.
  std::int64_t evictions() const { return evictions_; }

 private:
  struct Entry {
    SnapshotPtr snapshot;
    Bytes bytes;
    double worth = 0;
  };

  double worth_of(const Entry& entry) const;
  // Whether `longer` serves every length that `shorter` serves.
  bool supersedes(const Snapshot& longer, const Snapshot& shorter) const;
  void drop_superseded_by(const Snapshot& snapshot);
  void make_room(Bytes wanted);

  const Bytes budget_;
  const MemoryTraits memory_;
  std::map<SnapshotId, Entry> entries_;
  std::map<std::string, PrefixIndex, std::less<>> indices_;  // by namespace
  Bytes bytes_;
  double age_ = 0;
  SnapshotId last_id_ = 0;
  std::int64_t evictions_ = 0;
};

}  // namespace segue
