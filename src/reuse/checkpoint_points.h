// Where to take checkpoints while a prompt is read. Pure.
#pragma once

#include <vector>

#include "backend/units.h"
#include "reuse/prompt.h"

namespace segue {

struct CheckpointWish {
  ItemCount from{};             // what is kept already
  bool last_item_apart = true;  // also just before the last item, to answer the same prompt again
  // Also so that no more than this many items lie between two: what a read that is given up may
  // lose. 0: no bound.
  ItemCount at_most_apart{};
};

// Lengths in (from, items.size()], ascending: of the boundaries the first, the last two and between
// them ones at doubling distances from the end (a long conversation that is read anew must not be
// cut into hundreds of pieces), and the wish's own.
std::vector<ItemCount> checkpoint_points(const Prompt& prompt, const CheckpointWish& wish);

// The first point beyond `length`; ItemCount(0) where there is none.
ItemCount next_checkpoint(const std::vector<ItemCount>& points, ItemCount length);

}  // namespace segue
