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

}  // namespace

std::vector<ItemCount> checkpoint_points(const Prompt& prompt, const CheckpointWish& wish) {
  const ItemCount end(static_cast<std::int64_t>(prompt.items.size()));
  std::vector<ItemCount> points;
  std::vector<ItemCount> open;
  for (const ItemCount boundary : prompt.boundaries) {
    if (boundary > wish.from && boundary < end) open.push_back(boundary);
  }
  // Backwards: the last two, then whenever the distance to the end has doubled, then the first.
  ItemCount distance{0};
  for (std::size_t i = open.size(); i-- > 0;) {
    const bool near_end = open.size() - i <= 2;
    if (near_end || i == 0 || (end - open[i]).value >= 2 * distance.value) {
      points.push_back(open[i]);
      distance = end - open[i];
    }
  }
  if (wish.last_item_apart) {
    const ItemCount last = end - ItemCount(1);
    if (last > wish.from) points.push_back(last);
  } else if (end > wish.from) {
    points.push_back(end);
  }
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (wish.at_most_apart == ItemCount(0)) return points;
  return with_gaps_filled(wish.from, points, wish.at_most_apart);
}

ItemCount next_checkpoint(const std::vector<ItemCount>& points, ItemCount length) {
  const auto next = std::ranges::upper_bound(points, length);
  return next == points.end() ? ItemCount(0) : *next;
}

}  // namespace segue
