// Which holders of state begin like a prompt: an index over records by hashes of their blocks, so
// that a long record is found without comparing every item of every record. Hashes only narrow the
// search: the caller compares the items themselves.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "backend/item.h"
#include "backend/units.h"

namespace segue {

class PrefixIndex {
 public:
  // Items of a block. Records that differ only within their last shared block are told apart by the
  // caller.
  static constexpr std::size_t kBlock = 32;

  struct Candidate {
    std::uint64_t id = 0;
    // The record and the items share at least `shared` and fewer than `shared + kBlock` items (up
    // to collisions of hashes).
    ItemCount shared;
  };

  void insert(std::uint64_t id, std::span<const PromptItem> items);
  // `items` as they were inserted.
  void erase(std::uint64_t id, std::span<const PromptItem> items);
  // Every id, the longest shared run first.
  std::vector<Candidate> candidates(std::span<const PromptItem> items) const;
  bool empty() const { return holders_.empty(); }

 private:
  // Chained hash of the first n blocks → ids whose records begin with them; all ids for n = 0.
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> holders_;
};

}  // namespace segue
