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

  // True where a proper prefix of a control token's text is `text` (or a proper suffix, or an inner
  // part).
  bool begins_control(std::string_view text) const;
  bool ends_control(std::string_view text) const;
  bool lies_in_control(std::string_view text) const;
  // True where some control token's text begins with the byte.
  bool is_control_lead(char byte) const { return is_lead_[static_cast<unsigned char>(byte)]; }
  std::size_t longest_control() const { return longest_control_; }

 private:
  const std::vector<SpecialToken>& tokens_;
  std::unordered_map<std::string_view, std::size_t> rank_of_;
  std::unordered_set<Token> ids_;
  std::array<std::vector<std::size_t>, 256> lengths_;  // of the texts that begin with a byte
  std::array<bool, 256> is_lead_{};
  std::vector<std::string_view> controls_;      // sorted
  std::vector<std::string> reversed_controls_;  // sorted
  std::size_t longest_control_ = 0;
};

}  // namespace segue
