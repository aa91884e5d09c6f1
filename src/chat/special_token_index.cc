#include "chat/special_token_index.h"

#include <algorithm>

namespace segue {
namespace {

// In a sorted list, the texts that begin with `prefix` stand together; is one of them longer?
template <typename Text>
bool has_longer(const std::vector<Text>& sorted, std::string_view prefix) {
  auto it =
      std::lower_bound(sorted.begin(), sorted.end(), prefix,
                       [](const Text& a, std::string_view b) { return std::string_view(a) < b; });
  while (it != sorted.end() && std::string_view(*it) == prefix) ++it;
  return it != sorted.end() && std::string_view(*it).substr(0, prefix.size()) == prefix;
}

}  // namespace

SpecialTokenIndex::SpecialTokenIndex(const std::vector<SpecialToken>& tokens) : tokens_(tokens) {
  for (std::size_t rank = 0; rank < tokens_.size(); ++rank) {
    const SpecialToken& token = tokens_[rank];
    ids_.insert(token.token);
    if (token.text.empty()) continue;
    const auto lead = static_cast<unsigned char>(token.text.front());
    // Of two tokens with one text the first takes every match, as in llama.cpp.
    if (rank_of_.emplace(token.text, rank).second) {
      std::vector<std::size_t>& lengths = lengths_[lead];
      if (std::find(lengths.begin(), lengths.end(), token.text.size()) == lengths.end()) {
        lengths.push_back(token.text.size());
      }
    }
    if (!token.is_control) continue;
    is_lead_[lead] = true;
    controls_.emplace_back(token.text);
    reversed_controls_.emplace_back(token.text.rbegin(), token.text.rend());
    longest_control_ = std::max(longest_control_, token.text.size());
  }
  std::sort(controls_.begin(), controls_.end());
  std::sort(reversed_controls_.begin(), reversed_controls_.end());
}

std::vector<SpecialTokenIndex::Match> SpecialTokenIndex::find_all(std::string_view text) const {
  std::vector<Match> matches;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const std::size_t length : lengths_[static_cast<unsigned char>(text[at])]) {
      if (at + length > text.size()) continue;
      const auto found = rank_of_.find(text.substr(at, length));
      if (found != rank_of_.end()) matches.push_back({at, found->second});
    }
  }
  return matches;
}

bool SpecialTokenIndex::begins_control(std::string_view text) const {
  return has_longer(controls_, text);
}

bool SpecialTokenIndex::ends_control(std::string_view text) const {
  return has_longer(reversed_controls_, std::string(text.rbegin(), text.rend()));
}

bool SpecialTokenIndex::lies_in_control(std::string_view text) const {
  if (text.size() >= longest_control_) return false;
  return std::any_of(controls_.begin(), controls_.end(), [&](std::string_view control) {
    return control.size() > text.size() && control.find(text) != std::string_view::npos;
  });
}

}  // namespace segue
