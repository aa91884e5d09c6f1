// Finds the texts of special tokens in a text, in one pass.
//
// Immutable after construction; thread-safe. Keeps views into the vocabulary's special tokens,
// which must outlive it.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "backend/vocabulary.h"

namespace segue {

class SpecialTokenIndex {
 public:
  explicit SpecialTokenIndex(const std::vector<SpecialToken>& tokens);

  struct Match {
    std::size_t begin = 0;  // byte offset
    std::size_t rank = 0;   // index into tokens(): a lower rank is matched first
  };
  // Every occurrence, overlapping ones included, ascending by offset.
  std::vector<Match> find_all(std::string_view text) const;

  const std::vector<SpecialToken>& tokens() const { return tokens_; }
  bool is_special(Token token) const { return ids_.count(token) != 0; }

 private:
  const std::vector<SpecialToken>& tokens_;
  std::unordered_map<std::string_view, std::size_t> rank_of_;
  std::unordered_set<Token> ids_;
  std::array<std::vector<std::size_t>, 256> lengths_;  // of the texts that begin with a byte
};

}  // namespace segue
