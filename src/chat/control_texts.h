// The texts of the tokens that must not arise from content, and the questions that guarding content
// asks about them.
//
// Which tokens: all control tokens; and of the user-defined tokens those that the template uses as
// marks of its own ("<|START_OF_TURN_TOKEN|>" is one in some vocabularies), unless only control
// tokens are asked for.
// Immutable after construction; thread-safe. Keeps views into the index's tokens.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "chat/special_token_index.h"

namespace segue {

class ControlTexts {
 public:
  // `template_words`: the template's source, or what it renders; "" to take control tokens only.
  ControlTexts(const SpecialTokenIndex& index, std::string_view template_words);

  bool contains(std::size_t rank) const { return is_control_[rank]; }
  // True where `text` is a proper beginning, a proper end, or an inner part of one.
  bool begins_one(std::string_view text) const;
  bool ends_one(std::string_view text) const;
  bool lies_in_one(std::string_view text) const;
  bool is_lead(char byte) const { return is_lead_[static_cast<unsigned char>(byte)]; }
  std::size_t longest() const { return longest_; }  // bytes

 private:
  std::vector<bool> is_control_;         // by rank
  std::array<bool, 256> is_lead_{};      // by byte: some text begins with it
  std::vector<std::string_view> texts_;  // sorted
  std::vector<std::string> reversed_;    // sorted
  std::size_t longest_ = 0;
};

}  // namespace segue
