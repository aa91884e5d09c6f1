// Tokens of text fragments seen before, so that a long conversation is not tokenized again for each
// turn. Bounded in bytes; forgetting costs time only. One per session.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/units.h"

namespace segue {

class FragmentCache {
 public:
  explicit FragmentCache(std::size_t max_bytes = std::size_t{16} << 20) : max_bytes_(max_bytes) {}

  // Null where the fragment is not known. Valid until the next call.
  const std::vector<Token>* find(const std::string& fragment);
  void put(const std::string& fragment, const std::vector<Token>& tokens);

  std::size_t bytes() const { return recent_bytes_ + older_bytes_; }

 private:
  using Fragments = std::unordered_map<std::string, std::vector<Token>>;

  std::size_t max_bytes_;
  // Two generations: when the recent one is half the bound it becomes the older one, and what was
  // not asked for meanwhile is forgotten.
  Fragments recent_;
  Fragments older_;
  std::size_t recent_bytes_ = 0;
  std::size_t older_bytes_ = 0;
};

}  // namespace segue
