// UTF-8 in a few small functions: checks, character edges, code points.
//
// Pure functions; no synchronisation needed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace segue {

// True where every byte belongs to a well-formed character (no overlong forms, no surrogates).
bool is_valid_utf8(std::string_view text);

// True where `at` lies between two characters of well-formed text (its ends included).
inline bool is_character_edge(std::string_view text, std::size_t at) {
  return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xC0U) != 0x80U;
}

// The character that begins at `at` of well-formed text, and its length in bytes.
struct Character {
  char32_t code_point = 0;
  std::size_t length = 1;
};
Character character_at(std::string_view text, std::size_t at);

void append_utf8(char32_t code_point, std::string& out);

// ASCII white space, as templates trim it.
inline bool is_white_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
std::string_view trimmed(std::string_view text);

}  // namespace segue
