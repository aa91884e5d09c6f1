#include "words.h"

#include <wchar.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "segue/error.h"

namespace segue::cli {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

constexpr std::size_t kLongestCharacter = 4;  // bytes of UTF-8

struct Character {
  std::string_view text;
  std::size_t columns = 1;
};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Takes the first character from a text that is not empty. Bytes that are no UTF-8 count as one
// each.
Character take_character(std::string_view& text) {
  std::size_t size = 1;
  while (size < std::min(text.size(), kLongestCharacter) && is_continuation(text[size])) ++size;
  const auto lead = static_cast<unsigned char>(text[0]);
  wchar_t code = lead;
  if (size > 1 && lead >= 0xC0) {
    code = static_cast<wchar_t>(lead & (0xFFU >> (size + 1)));
    for (std::size_t i = 1; i < size; ++i) {
      code = static_cast<wchar_t>(code << 6) | (static_cast<unsigned char>(text[i]) & 0x3F);
    }
  } else {
    size = 1;
  }
  const int columns = ::wcwidth(code);
  const Character taken{text.substr(0, size), columns < 0 ? 1 : static_cast<std::size_t>(columns)};
  text.remove_prefix(size);
  return taken;
}

char unescape(char c) {
  if (c == 'n') return '\n';
  if (c == 't') return '\t';
  return c;
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
  text = trim(text);
  const std::size_t end = text.find_first_of(kSpace);
  if (end == std::string_view::npos) return {text, {}};
  return {text.substr(0, end), trim(text.substr(end))};
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else if (quote == '"' && c == '\\' && i + 1 < text.size()) {
        words.back() += unescape(text[++i]);
      } else {
        words.back() += c;
      }
    } else if (kSpace.find(c) != std::string_view::npos) {
      in_word = false;
    } else {
      if (!in_word) words.emplace_back();
      in_word = true;
      if (c == '"' || c == '\'') {
        quote = c;
      } else {
        words.back() += c;
      }
    }
  }
  if (quote != 0) throw InvalidArgument(std::string("the quote ") + quote + " is not closed");
  return words;
}

std::string quote_word(std::string_view word) {
  const bool plain = !word.empty() && word.find_first_of(" \t\r\n\"'\\") == std::string_view::npos;
  if (plain) return std::string(word);
  std::string quoted = "\"";
  for (const char c : word) {
    if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      ++i;  // U+0080 to U+009F: the eight-bit control characters
    } else if (c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7F)) {
      clean += text[i];
    }
  }
  return clean;
}

std::size_t column_count(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) columns += take_character(text).columns;
  return columns;
}

std::string shortened(std::string_view text, std::size_t columns) {
  std::string line;
  for (std::string_view rest = trim(text); !rest.empty();) {
    const auto [word, after] = first_word(rest);
    if (!line.empty()) line += ' ';
    line += word;
    rest = after;
    if (line.size() > kLongestCharacter * columns) break;  // longer than any cut can keep
  }
  if (column_count(line) <= columns) return line;
  std::size_t kept = 1;  // the column of "…"
  std::size_t end = 0;
  for (std::string_view rest = line; !rest.empty();) {
    const Character next = take_character(rest);
    if (kept + next.columns > columns) break;
    kept += next.columns;
    end += next.text.size();
  }
  return line.substr(0, end) + "…";
}

std::string grouped(long long number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string short_count(long long number) {
  std::array<char, 32> text{};
  double value = static_cast<double>(number);
  std::size_t unit = 0;
  constexpr std::array<const char*, 4> kUnits = {"", "K", "M", "B"};
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  const int digits = unit > 0 && value < 9.95 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f%s", digits, value, kUnits[unit]);
  return text.data();
}

}  // namespace segue::cli
