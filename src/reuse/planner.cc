#include "reuse/planner.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

namespace segue {
namespace {

// Ways to try before the slot is read from the start. A way fails only where the memory is not as
// the traits say or a restore fails, so a few are plenty.
constexpr std::size_t kMostPlans = 8;

struct Way {
  Cut cut;
  ItemCount length;
  ItemCount checkpoint{};
};

// A holder's ways, best first: the exact length or a cut, and a checkpoint where something is cut.
struct Ways {
  std::optional<Way> direct;
  std::optional<Way> checkpoint;
};

Position arriving_position_min(const Holder& holder, const MemoryTraits& memory) {
  if (holder.kind == HolderKind::own_slot) return holder.position_min;
  const Position restored = restored_position_min(*holder.record, holder.record->length(), memory);
  return holder.kind == HolderKind::snapshot ? restored : std::max(holder.position_min, restored);
}

bool has_window_before(const Record& record, ItemCount length, Position position_min,
                       const MemoryTraits& memory) {
  const std::int64_t needed = record.position_at(length).value - memory.window;
  return position_min.value <= std::max<std::int64_t>(0, needed);
}

// The next longer checkpoint where it can be cut to `length` (the longer ones lack more), else the
// longest that is no longer.
std::optional<Way> checkpoint_way(const Holder& holder, ItemCount length,
                                  const MemoryTraits& memory) {
  if (holder.checkpoints == nullptr) return std::nullopt;
  const Checkpoint* shorter = holder.checkpoints->at_or_before(length);
  if (shorter != nullptr && shorter->length == length) {
    return Way{Cut::checkpoint, length, length};
  }
  const Checkpoint* longer = holder.checkpoints->first_after(length);
  if (longer != nullptr && memory.keeps_window() && longer->length <= holder.record->length()) {
    const Position first = restored_position_min(*holder.record, longer->length, memory);
    if (has_window_before(*holder.record, length, first, memory)) {
      return Way{Cut::checkpoint, length, longer->length};
    }
  }
  if (shorter == nullptr || shorter->length.value == 0) return std::nullopt;
  return Way{Cut::checkpoint, shorter->length, shorter->length};
}

// `most`: items that may be kept at most.
Ways ways_of(std::span<const PromptItem> items, const Holder& holder, ItemCount most,
             const MemoryTraits& memory) {
  const Record& record = *holder.record;
  const ItemCount shared = std::min(common_prefix(record.items(), items), most);
  Ways ways;
  if (shared.value <= 0) return ways;
  if (shared == record.length()) {
    ways.direct = Way{Cut::none, shared};
    return ways;
  }
  // A shorter cut needs a window that lies further back still, so this is the only one to try.
  if (can_cut(record, arriving_position_min(holder, memory), shared, memory)) {
    ways.direct = Way{Cut::rewind, shared};
  }
  ways.checkpoint = checkpoint_way(holder, shared, memory);
  return ways;
}

ItemCount most_kept(std::span<const PromptItem> items) {
  return ItemCount(std::max<std::int64_t>(0, static_cast<std::int64_t>(items.size()) - 1));
}

PlanKind plan_kind(HolderKind holder, Cut cut) {
  if (holder == HolderKind::other_slot) return PlanKind::copy;
  if (holder == HolderKind::snapshot) return PlanKind::restore;
  constexpr std::array kKinds = {PlanKind::keep, PlanKind::rewind, PlanKind::checkpoint};
  return kKinds.at(static_cast<std::size_t>(cut));
}

struct Candidate {
  Plan plan;
  HolderKind holder;
  Bytes state_bytes;

  // Smaller is better.
  auto rank() const {
    return std::make_tuple(-plan.length.value, holder, plan.cut, state_bytes, plan.holder);
  }
};

}  // namespace

bool can_cut(const Record& record, Position position_min, ItemCount length,
             const MemoryTraits& memory) {
  if (length == record.length()) return true;
  if (memory.forward_only) return false;
  return memory.window == 0 || has_window_before(record, length, position_min, memory);
}

Position restored_position_min(const Record& record, ItemCount length, const MemoryTraits& memory) {
  if (memory.window == 0) return Position(0);
  return Position(
      std::max<std::int64_t>(0, record.position_at(length).value - memory.saved_window()));
}

std::vector<Plan> make_plans(const Prompt& prompt, std::span<const Holder> holders,
                             const MemoryTraits& memory) {
  if (memory.kind == MemoryKind::single_use) return {Plan{}};
  std::vector<Candidate> found;
  const ItemCount most = most_kept(prompt.items);
  for (const Holder& holder : holders) {
    const Ways ways = ways_of(prompt.items, holder, most, memory);
    for (const auto& way : {ways.direct, ways.checkpoint}) {
      if (!way) continue;
      const Plan plan{plan_kind(holder.kind, way->cut), holder.id, way->cut, way->length,
                      way->checkpoint};
      found.push_back({plan, holder.kind, holder.state_bytes});
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Candidate& a, const Candidate& b) { return a.rank() < b.rank(); });

  std::vector<Plan> plans;
  for (const Candidate& candidate : found) {
    if (plans.size() + 1 == kMostPlans) break;
    plans.push_back(candidate.plan);
  }
  plans.push_back(Plan{});
  return plans;
}

ItemCount usable_length(std::span<const PromptItem> items, const Holder& holder,
                        const MemoryTraits& memory) {
  const Ways ways = ways_of(items, holder, most_kept(items), memory);
  ItemCount best;
  for (const auto& way : {ways.direct, ways.checkpoint}) {
    if (way) best = std::max(best, way->length);
  }
  return best;
}

bool can_reach(const Holder& holder, ItemCount length, const MemoryTraits& memory) {
  if (length > holder.record->length()) return false;
  if (can_cut(*holder.record, arriving_position_min(holder, memory), length, memory)) return true;
  const std::optional<Way> way = checkpoint_way(holder, length, memory);
  return way && way->length == length;
}

}  // namespace segue
