#include "chat/fragment_cache.h"

#include <utility>

namespace segue {
namespace {

std::size_t cost(const std::string& fragment, const std::vector<Token>& tokens) {
  constexpr std::size_t kEntry = 96;  // map node and the two headers, about
  return fragment.size() + tokens.size() * sizeof(Token) + kEntry;
}

}  // namespace

const std::vector<Token>* FragmentCache::find(const std::string& fragment) {
  const auto recent = recent_.find(fragment);
  if (recent != recent_.end()) return &recent->second;
  const auto older = older_.find(fragment);
  if (older == older_.end()) return nullptr;
  const std::vector<Token> tokens = std::move(older->second);
  older_bytes_ -= cost(fragment, tokens);
  older_.erase(older);
  put(fragment, tokens);
  const auto kept = recent_.find(fragment);
  return kept == recent_.end() ? nullptr : &kept->second;
}

void FragmentCache::put(const std::string& fragment, const std::vector<Token>& tokens) {
  const std::size_t bytes = cost(fragment, tokens);
  if (bytes > max_bytes_ / 2) return;
  if (recent_bytes_ + bytes > max_bytes_ / 2) {
    older_ = std::exchange(recent_, {});
    older_bytes_ = std::exchange(recent_bytes_, 0);
  }
  if (recent_.emplace(fragment, tokens).second) recent_bytes_ += bytes;
}

}  // namespace segue
