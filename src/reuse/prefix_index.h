// Which holders of state begin like a prompt: an index over records by hashes of their blocks, so
// that thousands of snapshots cost no more to search than the prompt is long. Hashes only narrow the
// search: the caller compares the items themselves.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "backend/item.h"
#include "backend/units.h"

namespace segue {

class PrefixIndex {
 public:
  void insert(std::uint64_t id, std::span<const PromptItem> items);
  // `items` as they were inserted.
  void erase(std::uint64_t id, std::span<const PromptItem> items);
  // Ids whose records share the longest run of whole blocks with `items`, and every id that shares
  // less than one block's worth more or less: never misses the longest. At most `most`, the ones with
  // the longest shared run first.
  std::vector<std::uint64_t> candidates(std::span<const PromptItem> items, std::size_t most) const;

 private:
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> holders_;  // chained block hash → ids
};

}  // namespace segue
