// A record: the prompt items that a sequence's state holds, in order.
//
// Invariant: items and positions agree; a record is extended only by what has been decoded and cut
// only to what the memory still holds, so it never says more or less than the state.
// A value; no synchronisation needed.
#pragma once

#include <span>
#include <vector>

#include "backend/item.h"
#include "backend/units.h"

namespace segue {

class Record {
 public:
  Record() = default;
  explicit Record(std::vector<PromptItem> items);

  ItemCount length() const { return ItemCount(static_cast<std::int64_t>(items_.size())); }
  bool empty() const { return items_.empty(); }
  std::span<const PromptItem> items() const { return items_; }

  // The position at which the item after the first `length` ones stands. Requires length <=
  // length().
  Position position_at(ItemCount length) const;
  Position end_position() const { return end_; }
  // The greatest length whose position is <= `position` (a media chunk is never split).
  ItemCount length_at(Position position) const;

  void append(const PromptItem& item);
  // Requires length <= length().
  void truncate(ItemCount length);
  void clear();

  friend bool operator==(const Record& a, const Record& b) { return a.items_ == b.items_; }

 private:
  std::vector<PromptItem> items_;
  Position end_;
  // Indices (ascending) of the items that take other than one position; empty for text.
  std::vector<ItemCount> wide_;
};

// How many leading items are equal.
ItemCount common_prefix(std::span<const PromptItem> a, std::span<const PromptItem> b);

}  // namespace segue
