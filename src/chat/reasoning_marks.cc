#include "chat/reasoning_marks.h"

#include <algorithm>
#include <utility>

#include "chat/utf8.h"

namespace segue {
namespace {

std::string_view without_leading_space(std::string_view text) {
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  return text;
}

// Bytes at the end of `text` that may be the beginning of `mark`.
std::size_t begun(std::string_view text, std::string_view mark) {
  for (std::size_t n = std::min(text.size(), mark.size() - 1); n > 0; --n) {
    if (text.substr(text.size() - n) == mark.substr(0, n)) return n;
  }
  return 0;
}

}  // namespace

ReasoningMarks::ReasoningMarks(std::string open, std::string close)
    : open_(std::move(open)), close_(std::move(close)) {}

ParsedOutput ReasoningMarks::parse(std::string_view text, bool is_partial) const {
  ParsedOutput parsed;
  const std::string_view begin = without_leading_space(text);
  if (begin.substr(0, open_.size()) != open_) {
    const bool may_open = std::string_view(open_).substr(0, begin.size()) == begin;
    if (!is_partial || !may_open) parsed.content = text;
    return parsed;
  }
  const std::string_view inside = begin.substr(open_.size());
  const std::size_t close = inside.find(close_);
  std::string_view reasoning = inside.substr(0, close);
  if (close != std::string_view::npos) {
    parsed.content = without_leading_space(inside.substr(close + close_.size()));
  } else if (is_partial) {
    reasoning.remove_suffix(begun(reasoning, close_));
  }
  parsed.reasoning = trimmed(reasoning);
  return parsed;
}

}  // namespace segue
