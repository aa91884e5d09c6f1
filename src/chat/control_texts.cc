#include "chat/control_texts.h"

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

bool looks_like_mark(std::string_view text) {
  return text.size() > 2 && ((text.front() == '<' && text.back() == '>') ||
                             (text.front() == '[' && text.back() == ']'));
}

}  // namespace

ControlTexts::ControlTexts(const SpecialTokenIndex& index, std::string_view template_words)
    : is_control_(index.tokens().size(), false) {
  for (std::size_t rank = 0; rank < index.tokens().size(); ++rank) {
    const SpecialToken& token = index.tokens()[rank];
    if (token.text.empty()) continue;
    const bool is_template_mark = !token.is_control && looks_like_mark(token.text) &&
                                  template_words.find(token.text) != std::string_view::npos;
    if (!token.is_control && !is_template_mark) continue;
    is_control_[rank] = true;
    is_lead_[static_cast<unsigned char>(token.text.front())] = true;
    texts_.emplace_back(token.text);
    reversed_.emplace_back(token.text.rbegin(), token.text.rend());
    longest_ = std::max(longest_, token.text.size());
  }
  std::sort(texts_.begin(), texts_.end());
  std::sort(reversed_.begin(), reversed_.end());
}

bool ControlTexts::begins_one(std::string_view text) const { return has_longer(texts_, text); }

bool ControlTexts::ends_one(std::string_view text) const {
  return has_longer(reversed_, std::string(text.rbegin(), text.rend()));
}

bool ControlTexts::lies_in_one(std::string_view text) const {
  if (text.size() >= longest_) return false;
  return std::any_of(texts_.begin(), texts_.end(), [&](std::string_view control) {
    return control.size() > text.size() && control.find(text) != std::string_view::npos;
  });
}

}  // namespace segue
