#include "reuse/checkpoint_points.h"

#include <algorithm>

namespace segue {
namespace {

// `points` ascending; fills the gaps from `from` on.
std::vector<ItemCount> with_gaps_filled(ItemCount from, const std::vector<ItemCount>& points,
                                        ItemCount most) {
  std::vector<ItemCount> filled;
  ItemCount last = from;
  for (const ItemCount point : points) {
    for (last += most; last < point; last += most) filled.push_back(last);
    filled.push_back(point);
    last = point;
  }
  return filled;
}

// The longest beginning that a saved state has whole.
ItemCount longest_whole(const Prompt& prompt, const MemoryTraits& memory) {
  ItemCount length{0};
  std::int64_t positions = 0;
  for (const PromptItem& item : prompt.items) {
    positions += item.n_positions;
    if (positions > memory.saved_window()) break;
    length += ItemCount(1);
  }
  return length;
}

// Of the boundaries in (from, end).
std::vector<ItemCount> boundary_points(const Prompt& prompt, ItemCount from, ItemCount end) {
  std::vector<ItemCount> open;
  for (const ItemCount boundary : prompt.boundaries) {
    if (boundary > from && boundary < end) open.push_back(boundary);
  }
  std::vector<ItemCount> points;
  // Backwards: the last two, then whenever the distance to the end has doubled, then the first.
  ItemCount distance{0};
  for (std::size_t i = open.size(); i-- > 0;) {
    const bool near_end = open.size() - i <= 2;
    if (near_end || i == 0 || (end - open[i]).value >= 2 * distance.value) {
      points.push_back(open[i]);
      distance = end - open[i];
    }
  }
  std::ranges::reverse(points);
  return points;
}

std::vector<ItemCount> window_points(const Prompt& prompt, const CheckpointWish& wish) {
  const ItemCount end(static_cast<std::int64_t>(prompt.items.size()));
  const ItemCount whole = longest_whole(prompt, wish.memory);
  if (end <= whole) return {};
  std::vector<ItemCount> points = boundary_points(prompt, std::max(wish.from, whole), end);
  if (wish.from < whole) points.insert(points.begin(), whole);
  if (wish.from < end) points.push_back(end);
  return points;
}

std::vector<ItemCount> forward_points(const Prompt& prompt, const CheckpointWish& wish) {
  const ItemCount end(static_cast<std::int64_t>(prompt.items.size()));
  const ItemCount last = wish.answers ? end - ItemCount(1) : end;
  std::vector<ItemCount> points = boundary_points(prompt, wish.from, end);
  if (last > wish.from && (points.empty() || points.back() < last)) points.push_back(last);
  if (wish.at_most_apart == ItemCount(0)) return points;
  return with_gaps_filled(wish.from, points, wish.at_most_apart);
}

}  // namespace

std::vector<ItemCount> checkpoint_points(const Prompt& prompt, const CheckpointWish& wish) {
  if (!wish.memory.needs_checkpoints()) return {};
  return wish.memory.keeps_window() ? window_points(prompt, wish) : forward_points(prompt, wish);
}

ItemCount next_checkpoint(const std::vector<ItemCount>& points, ItemCount length) {
  const auto next = std::ranges::upper_bound(points, length);
  return next == points.end() ? ItemCount(0) : *next;
}

bool is_longest_whole(const Record& record, const MemoryTraits& memory) {
  return memory.keeps_window() && record.end_position().value == memory.saved_window();
}

}  // namespace segue
