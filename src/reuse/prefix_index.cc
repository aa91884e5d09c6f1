#include "reuse/prefix_index.h"

#include <algorithm>
#include <unordered_set>

namespace segue {
namespace {

// splitmix64's finalizer.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

std::uint64_t hash_of(const PromptItem& item) {
  if (!item.is_media()) return mix(static_cast<std::uint32_t>(item.token));
  return mix(item.media_high ^ mix(item.media_low));
}

// Hashes of the first 0, 1, 2... whole blocks.
std::vector<std::uint64_t> chain(std::span<const PromptItem> items) {
  std::vector<std::uint64_t> hashes = {0};
  hashes.reserve(items.size() / PrefixIndex::kBlock + 1);
  for (std::size_t i = 0; i + PrefixIndex::kBlock <= items.size(); i += PrefixIndex::kBlock) {
    std::uint64_t hash = hashes.back();
    for (const PromptItem& item : items.subspan(i, PrefixIndex::kBlock)) {
      hash = mix(hash ^ hash_of(item));
    }
    hashes.push_back(hash);
  }
  return hashes;
}

}  // namespace

void PrefixIndex::insert(std::uint64_t id, std::span<const PromptItem> items) {
  for (const std::uint64_t hash : chain(items)) holders_[hash].push_back(id);
}

void PrefixIndex::erase(std::uint64_t id, std::span<const PromptItem> items) {
  for (const std::uint64_t hash : chain(items)) {
    const auto at = holders_.find(hash);
    if (at == holders_.end()) continue;
    std::vector<std::uint64_t>& ids = at->second;
    ids.erase(std::remove(ids.begin(), ids.end(), id), ids.end());
    if (ids.empty()) holders_.erase(at);
  }
}

std::vector<PrefixIndex::Candidate> PrefixIndex::candidates(
    std::span<const PromptItem> items) const {
  std::vector<Candidate> found;
  std::unordered_set<std::uint64_t> seen;
  const std::vector<std::uint64_t> hashes = chain(items);
  for (std::size_t blocks = hashes.size(); blocks-- > 0;) {
    const auto at = holders_.find(hashes[blocks]);
    if (at == holders_.end()) continue;
    for (const std::uint64_t id : at->second) {
      if (!seen.insert(id).second) continue;
      found.push_back({id, ItemCount(static_cast<std::int64_t>(blocks * kBlock))});
    }
  }
  return found;
}

}  // namespace segue
