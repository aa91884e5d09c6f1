#include "store/store.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "reuse/planner.h"

namespace segue {
namespace {

// Enough for every plan that the planner may want to try, with some to spare where the longest ones
// cannot be cut to the shared length.
constexpr std::size_t kMostCandidates = 16;

Holder holder_of(const Snapshot& snapshot) {
  return {.kind = HolderKind::snapshot,
          .id = 0,
          .record = &snapshot.record,
          .checkpoints = &snapshot.checkpoints,
          .position_min = Position(0),
          .state_bytes = Bytes(0)};
}

}  // namespace

Store::Store(Bytes budget, MemoryTraits memory) : budget_(budget), memory_(memory) {}

std::optional<SnapshotId> Store::put(SnapshotPtr snapshot) {
  const Bytes bytes = snapshot->bytes();
  if (bytes > budget_) return std::nullopt;
  drop_superseded_by(*snapshot);
  make_room(bytes);

  const SnapshotId id = ++last_id_;
  auto index = indices_.find(snapshot->cache_namespace);
  if (index == indices_.end()) {
    index = indices_.emplace(snapshot->cache_namespace, PrefixIndex()).first;
  }
  index->second.insert(id, snapshot->record.items());
  Entry entry{.snapshot = std::move(snapshot), .bytes = bytes};
  entry.worth = worth_of(entry);
  entries_.emplace(id, std::move(entry));
  bytes_ += bytes;
  return id;
}

std::vector<SnapshotId> Store::find(std::string_view cache_namespace,
                                    std::span<const PromptItem> items) const {
  const auto index = indices_.find(cache_namespace);
  if (index == indices_.end()) return {};
  // A long shared beginning is worth nothing where the memory cannot be brought back to it, so the
  // candidates are ranked by what can be used of them.
  std::vector<std::pair<ItemCount, SnapshotId>> ranked;
  ItemCount best;
  for (const PrefixIndex::Candidate& candidate : index->second.candidates(items)) {
    const ItemCount most = candidate.shared + ItemCount(PrefixIndex::kBlock);
    if (ranked.size() >= kMostCandidates && most <= best) break;  // shorter ones follow
    const ItemCount usable = usable_length(items, holder_of(*peek(candidate.id)), memory_);
    best = std::max(best, usable);
    ranked.emplace_back(usable, candidate.id);
  }
  std::ranges::stable_sort(ranked, std::greater(), &std::pair<ItemCount, SnapshotId>::first);
  if (ranked.size() > kMostCandidates) ranked.resize(kMostCandidates);
  std::vector<SnapshotId> ids;
  for (const auto& [usable, id] : ranked) ids.push_back(id);
  return ids;
}

SnapshotPtr Store::get(SnapshotId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  found->second.worth = worth_of(found->second);
  return found->second.snapshot;
}

const Snapshot* Store::peek(SnapshotId id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : found->second.snapshot.get();
}

bool Store::holds(std::string_view cache_namespace, const Record& record) const {
  const auto index = indices_.find(cache_namespace);
  if (index == indices_.end()) return false;
  const std::vector<PrefixIndex::Candidate> candidates = index->second.candidates(record.items());
  return std::ranges::any_of(candidates, [&](const PrefixIndex::Candidate& candidate) {
    const Snapshot& kept = *peek(candidate.id);
    return common_prefix(kept.record.items(), record.items()) == record.length() &&
           can_reach(holder_of(kept), record.length(), memory_);
  });
}

void Store::drop(SnapshotId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const Snapshot& snapshot = *found->second.snapshot;
  const auto index = indices_.find(snapshot.cache_namespace);
  index->second.erase(id, snapshot.record.items());
  bytes_ -= found->second.bytes;
  const std::string space = snapshot.cache_namespace;
  entries_.erase(found);
  const bool used = std::ranges::any_of(
      entries_, [&](const auto& entry) { return entry.second.snapshot->cache_namespace == space; });
  if (!used) indices_.erase(index);
}

void Store::clear() {
  entries_.clear();
  indices_.clear();
  bytes_ = Bytes(0);
}

double Store::worth_of(const Entry& entry) const {
  const auto items = static_cast<double>(entry.snapshot->record.length().value);
  return age_ + items / static_cast<double>(std::max<std::int64_t>(1, entry.bytes.value));
}

bool Store::supersedes(const Snapshot& longer, const Snapshot& shorter) const {
  if (common_prefix(longer.record.items(), shorter.record.items()) != shorter.record.length()) {
    return false;
  }
  const Holder holder = holder_of(longer);
  if (!can_reach(holder, shorter.record.length(), memory_)) return false;
  return std::ranges::all_of(shorter.checkpoints.list(), [&](const Checkpoint& checkpoint) {
    return can_reach(holder, checkpoint.length, memory_);
  });
}

void Store::drop_superseded_by(const Snapshot& snapshot) {
  const auto index = indices_.find(snapshot.cache_namespace);
  if (index == indices_.end()) return;
  for (const auto& candidate : index->second.candidates(snapshot.record.items())) {
    if (supersedes(snapshot, *peek(candidate.id))) drop(candidate.id);
  }
}

void Store::make_room(Bytes wanted) {
  while (!entries_.empty() && bytes_ + wanted > budget_) {
    const auto least = std::ranges::min_element(
        entries_, {}, [](const auto& entry) { return entry.second.worth; });
    age_ = least->second.worth;
    drop(least->first);
    ++evictions_;
  }
}

}  // namespace segue
