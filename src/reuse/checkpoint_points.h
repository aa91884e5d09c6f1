// Where to take checkpoints while a prompt is read. Pure.
//
// A memory that only moves forward can go back to a checkpoint's own length and no other: there are
// some at turns' beginnings, one just before the last item (to answer the same prompt again), and
// more in a long read, which may be given up.
//
// A window is whole until more than it was read: one checkpoint at the last such length serves all
// before it. One at the prompt's end serves the length before its last item, too. So a conversation
// that is shorter than the window is never cut into pieces.
#pragma once

#include <vector>

#include "backend/memory_traits.h"
#include "backend/units.h"
#include "reuse/prompt.h"
#include "reuse/record.h"

namespace segue {

struct CheckpointWish {
  MemoryTraits memory;
  ItemCount from{};     // what is kept already
  bool answers = true;  // an answer follows, and the same prompt may be answered again
  // Forward only: no more than this many items lie between two, which is what a read that is given
  // up may lose. 0: no bound.
  ItemCount at_most_apart{};
};

// Lengths in (from, items.size()], ascending: of the boundaries the first, the last two and between
// them ones at doubling distances from the end (a long conversation that is read anew must not be
// cut into hundreds of pieces), and what the memory asks for besides. None where it needs none.
std::vector<ItemCount> checkpoint_points(const Prompt& prompt, const CheckpointWish& wish);

// The first point beyond `length`; ItemCount(0) where there is none.
ItemCount next_checkpoint(const std::vector<ItemCount>& points, ItemCount length);

// Whether a saved state of the record is the longest that still has every position: what an answer
// passes on its way is a point, too.
bool is_longest_whole(const Record& record, const MemoryTraits& memory);

}  // namespace segue
