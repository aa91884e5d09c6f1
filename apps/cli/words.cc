#include "words.h"

#include "segue/error.h"

namespace segue::cli {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

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
    if (c == '\n' || c == '\t') {
      clean += text[i];
    } else if (c == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      ++i;  // U+0080 to U+009F: the eight-bit control characters
    } else if (c >= 0x20 && c != 0x7F) {
      clean += text[i];
    }
  }
  return clean;
}

std::string shortened(std::string_view text, std::size_t length) {
  std::string line;
  for (std::string_view rest = trim(text); !rest.empty();) {
    const auto [word, after] = first_word(rest);
    if (!line.empty()) line += ' ';
    line += word;
    rest = after;
    if (line.size() > 4 * length) break;  // longer than any cut can keep
  }
  if (character_count(line) <= length) return line;
  std::size_t end = 0;
  for (std::size_t kept = 0; end < line.size(); ++end) {
    if (!is_continuation(line[end]) && kept++ == (length > 0 ? length - 1 : 0)) break;
  }
  return line.substr(0, end) + "…";
}

std::size_t character_count(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += is_continuation(c) ? 0 : 1;
  return count;
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

}  // namespace segue::cli
