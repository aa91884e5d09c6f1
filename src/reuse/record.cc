#include "reuse/record.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace segue {

Record::Record(std::vector<PromptItem> items) : items_(std::move(items)) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (items_[i].n_positions != 1) wide_.push_back(ItemCount(static_cast<std::int64_t>(i)));
    end += items_[i].n_positions;
  }
  end_ = Position(end);
}

Position Record::position_at(ItemCount length) const {
  assert(length.value >= 0 && length <= this->length());
  std::int64_t position = length.value;
  for (const ItemCount index : wide_) {
    if (index >= length) break;
    position += items_[static_cast<std::size_t>(index.value)].n_positions - 1;
  }
  return Position(position);
}

ItemCount Record::length_at(Position position) const {
  if (position.value <= 0) return ItemCount(0);
  if (position >= end_) return length();
  // Between wide items a position is an item: walk the wide ones, of which there are few.
  std::int64_t shift = 0;  // position minus length, after the wide items passed so far
  for (const ItemCount index : wide_) {
    const std::int64_t start = index.value + shift;
    const std::int64_t width = items_[static_cast<std::size_t>(index.value)].n_positions;
    if (position.value <= start) break;
    if (position.value < start + width) return index;
    shift += width - 1;
  }
  return ItemCount(position.value - shift);
}

void Record::append(const PromptItem& item) {
  if (item.n_positions != 1) wide_.push_back(length());
  items_.push_back(item);
  end_ += Position(item.n_positions);
}

void Record::truncate(ItemCount length) {
  assert(length.value >= 0 && length <= this->length());
  end_ = position_at(length);
  items_.resize(static_cast<std::size_t>(length.value));
  while (!wide_.empty() && wide_.back() >= length) wide_.pop_back();
}

void Record::clear() {
  items_.clear();
  wide_.clear();
  end_ = Position(0);
}

ItemCount common_prefix(std::span<const PromptItem> a, std::span<const PromptItem> b) {
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return ItemCount(at.first - a.begin());
}

}  // namespace segue
