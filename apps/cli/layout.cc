#include "layout.h"

#include <algorithm>

#include "words.h"

namespace segue::cli {
namespace {

constexpr std::size_t kMargin = 2;
constexpr std::size_t kGap = 2;
// Fewer columns than this for the meaning are too few to read.
constexpr std::size_t kNarrowest = 24;

}  // namespace

std::string wrapped(std::string_view text, int width, std::size_t indent) {
  const std::size_t room = width > 1 ? static_cast<std::size_t>(width) - 1 : 1;
  std::string lines;
  std::size_t column = indent;
  bool at_start = true;
  while (!text.empty()) {
    if (text[0] == '\n') {
      lines.append("\n").append(indent, ' ');
      column = indent;
      at_start = true;
      text.remove_prefix(1);
      continue;
    }
    // A word with the spaces before it, which a break swallows.
    const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
    const std::size_t end = std::min(text.find_first_of(" \n", start), text.size());
    const std::string_view spaces = text.substr(0, start);
    const std::string_view word = text.substr(start, end - start);
    const std::size_t size = column_count(word);
    if (!at_start && column + spaces.size() + size > room) {
      lines.append("\n").append(indent, ' ').append(word);
      column = indent + size;
    } else {
      lines.append(spaces).append(word);
      column += spaces.size() + size;
    }
    at_start = false;
    text.remove_prefix(end);
  }
  return lines;
}

std::string format_rows(const std::vector<std::pair<std::string, std::string>>& rows, int width) {
  std::size_t widest = 0;
  for (const auto& [name, meaning] : rows) widest = std::max(widest, column_count(name));
  const std::size_t beside = kMargin + widest + kGap;
  const bool stacked = beside + kNarrowest > static_cast<std::size_t>(std::max(width, 0));
  const std::size_t indent = stacked ? 2 * kMargin : beside;
  std::string text;
  for (const auto& [name, meaning] : rows) {
    text.append(kMargin, ' ').append(name);
    if (stacked) {
      text.append("\n").append(indent, ' ');
    } else {
      text.append(indent - kMargin - column_count(name), ' ');
    }
    text.append(wrapped(meaning, width, indent)).append("\n");
  }
  return text;
}

}  // namespace segue::cli
