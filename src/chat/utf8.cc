#include "chat/utf8.h"

#include <cstdint>

namespace segue {
namespace {

std::size_t length_from_lead(unsigned char lead) {
  if (lead < 0x80U) return 1;
  if (lead >= 0xC2U && lead <= 0xDFU) return 2;
  if (lead >= 0xE0U && lead <= 0xEFU) return 3;
  if (lead >= 0xF0U && lead <= 0xF4U) return 4;
  return 0;
}

}  // namespace

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i]));
  };
  const std::size_t length = length_from_lead(static_cast<unsigned char>(text[at]));
  if (length <= 1 || at + length > text.size()) return {static_cast<char32_t>(byte(0)), 1};
  std::uint32_t code_point = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code_point = (code_point << 6U) | (byte(i) & 0x3FU);
  return {static_cast<char32_t>(code_point), length};
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_from_lead(static_cast<unsigned char>(text[at]));
    if (length == 0 || at + length > text.size()) return false;
    for (std::size_t i = 1; i < length; ++i) {
      if ((static_cast<unsigned char>(text[at + i]) & 0xC0U) != 0x80U) return false;
    }
    const char32_t code_point = character_at(text, at).code_point;
    const bool is_overlong =
        (length == 3 && code_point < 0x800U) || (length == 4 && code_point < 0x10000U);
    const bool is_surrogate = code_point >= 0xD800U && code_point <= 0xDFFFU;
    if (is_overlong || is_surrogate || code_point > 0x10FFFFU) return false;
    at += length;
  }
  return true;
}

void append_utf8(char32_t code_point, std::string& out) {
  const auto value = static_cast<std::uint32_t>(code_point);
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto tail = [&](unsigned shift) { put(0x80U | ((value >> shift) & 0x3FU)); };
  if (value < 0x80U) {
    put(value);
  } else if (value < 0x800U) {
    put(0xC0U | (value >> 6U));
    tail(0);
  } else if (value < 0x10000U) {
    put(0xE0U | (value >> 12U));
    tail(6);
    tail(0);
  } else {
    put(0xF0U | (value >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_white_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_white_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace segue
