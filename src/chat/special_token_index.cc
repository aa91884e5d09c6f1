#include "chat/special_token_index.h"

#include <algorithm>

namespace segue {

SpecialTokenIndex::SpecialTokenIndex(const std::vector<SpecialToken>& tokens) : tokens_(tokens) {
  for (std::size_t rank = 0; rank < tokens_.size(); ++rank) {
    const SpecialToken& token = tokens_[rank];
    ids_.insert(token.token);
    if (token.text.empty()) continue;
    // Of two tokens with one text the first takes every match, as in llama.cpp.
    if (!rank_of_.emplace(token.text, rank).second) continue;
    std::vector<std::size_t>& lengths = lengths_[static_cast<unsigned char>(token.text.front())];
    if (std::find(lengths.begin(), lengths.end(), token.text.size()) == lengths.end()) {
      lengths.push_back(token.text.size());
    }
  }
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

}  // namespace segue
