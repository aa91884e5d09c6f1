#include "reuse/checkpoints.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace segue {
namespace {

// The one whose loss lengthens a later read least, measured against how far back it lies: this
// keeps the distances between those that stay in proportion to their distance from the end.
std::size_t least_needed(const std::vector<Checkpoint>& list) {
  if (list.size() <= 2) return 0;
  const std::int64_t latest = list.back().length.value;
  std::size_t least = 1;
  double least_loss = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i + 1 < list.size(); ++i) {
    const auto gap = static_cast<double>(list[i + 1].length.value - list[i - 1].length.value);
    const auto distance = static_cast<double>(latest - list[i].length.value);
    const double loss = gap / distance;
    if (loss < least_loss) {
      least_loss = loss;
      least = i;
    }
  }
  return least;
}

Bytes bytes_of(const Checkpoint& checkpoint) {
  return Bytes(checkpoint.blob ? static_cast<std::int64_t>(checkpoint.blob->size()) : 0);
}

auto first_longer(const std::vector<Checkpoint>& list, ItemCount length) {
  return std::upper_bound(list.begin(), list.end(), length,
                          [](ItemCount l, const Checkpoint& c) { return l < c.length; });
}

}  // namespace

void Checkpoints::add(Checkpoint checkpoint) {
  const auto after = first_longer(list_, checkpoint.length) - list_.begin();
  if (after > 0 && list_[static_cast<std::size_t>(after - 1)].length == checkpoint.length) {
    list_[static_cast<std::size_t>(after - 1)] = std::move(checkpoint);
    return;
  }
  list_.insert(list_.begin() + after, std::move(checkpoint));
}

const Checkpoint* Checkpoints::at_or_before(ItemCount length) const {
  const auto after = first_longer(list_, length);
  return after == list_.begin() ? nullptr : &*std::prev(after);
}

const Checkpoint* Checkpoints::first_after(ItemCount length) const {
  const auto after = first_longer(list_, length);
  return after == list_.end() ? nullptr : &*after;
}

bool Checkpoints::contains(ItemCount length) const {
  const Checkpoint* found = at_or_before(length);
  return found != nullptr && found->length == length;
}

void Checkpoints::truncate(ItemCount length) {
  list_.erase(first_longer(list_, length), list_.end());
}

void Checkpoints::thin(Bytes budget) {
  Bytes held = bytes();
  while (held > budget && !list_.empty()) {
    const auto victim = list_.begin() + static_cast<std::ptrdiff_t>(least_needed(list_));
    held -= bytes_of(*victim);
    list_.erase(victim);
  }
}

Bytes Checkpoints::bytes() const {
  Bytes sum;
  for (const Checkpoint& checkpoint : list_) sum += bytes_of(checkpoint);
  return sum;
}

}  // namespace segue
