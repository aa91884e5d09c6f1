// What an exchange wants the model to have read: the prompt's items, and where people return to.
//
// Values; no synchronisation needed.
#pragma once

#include <vector>

#include "backend/item.h"
#include "backend/units.h"

namespace segue {

struct Prompt {
  std::vector<PromptItem> items;
  // Lengths that later prompts are likely to share, ascending, 0 < length < items.size(): where the
  // text of each user turn begins (so also: the end of the instructions and of the template's words
  // before the first turn). Checkpoints are taken there.
  std::vector<ItemCount> boundaries;
};

}  // namespace segue
