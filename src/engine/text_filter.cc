#include "engine/text_filter.h"

#include <algorithm>
#include <cstdint>

namespace segue {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// The bytes that the character starting here should have; 0 for a byte that starts none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// Whether `next` may follow as the second byte of the character that `lead` starts (Unicode 15,
// table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
bool valid_second(unsigned char lead, unsigned char next) {
  switch (lead) {
    case 0xE0:
      return next >= 0xA0 && next <= 0xBF;
    case 0xED:
      return next >= 0x80 && next <= 0x9F;
    case 0xF0:
      return next >= 0x90 && next <= 0xBF;
    case 0xF4:
      return next >= 0x80 && next <= 0x8F;
    default:
      return next >= 0x80 && next <= 0xBF;
  }
}

// Length of the well-formed beginning of a character at `at`, and whether it is complete.
struct Scan {
  std::size_t length = 0;
  bool complete = false;
};

Scan scan_character(std::string_view bytes, std::size_t at) {
  const auto lead = static_cast<unsigned char>(bytes[at]);
  const std::size_t want = sequence_length(lead);
  if (want == 0) return {1, false};
  std::size_t have = 1;
  while (have < want && at + have < bytes.size()) {
    const auto next = static_cast<unsigned char>(bytes[at + have]);
    const bool fits = have == 1 ? valid_second(lead, next) : (next & 0xC0) == 0x80;
    if (!fits) return {have, false};
    ++have;
  }
  return {have, have == want};
}

// Appends `bytes` to `out` with every ill-formed part replaced. Where more input may come, an
// unfinished character at the end is left; returns the bytes consumed.
std::size_t append_well_formed(std::string_view bytes, bool at_end, std::string& out) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const Scan scan = scan_character(bytes, at);
    const bool may_continue = at + scan.length == bytes.size() &&
                              sequence_length(static_cast<unsigned char>(bytes[at])) != 0;
    if (scan.complete) {
      out.append(bytes.substr(at, scan.length));
    } else if (may_continue && !at_end) {
      break;
    } else {
      out.append(kReplacement);
    }
    at += scan.length;
  }
  return at;
}

}  // namespace

TextFilter::TextFilter(std::vector<std::string> stop_strings) : stops_(std::move(stop_strings)) {
  std::erase(stops_, std::string());
  for (const std::string& stop : stops_) longest_stop_ = std::max(longest_stop_, stop.size());
}

std::string TextFilter::push(std::string_view bytes) {
  if (stopped_) return {};
  held_.append(bytes);
  total_ += bytes.size();
  kept_ = total_;

  std::size_t found = std::string::npos;
  for (const std::string& stop : stops_) found = std::min(found, held_.find(stop));
  if (found != std::string::npos) {
    stopped_ = true;
    kept_ = total_ - (held_.size() - found);
    held_.resize(found);
    return take_certain(true);
  }
  return take_certain(false);
}

std::string TextFilter::finish() { return take_certain(true); }

std::string TextFilter::take_certain(bool at_end) {
  std::size_t certain = held_.size();
  if (!at_end) {
    // The longest tail that some stop string begins with may still be taken back.
    const std::size_t first = held_.size() - std::min(held_.size(), longest_stop_);
    for (std::size_t from = first; from < held_.size(); ++from) {
      const std::string_view tail = std::string_view(held_).substr(from);
      const bool begins_stop = std::any_of(stops_.begin(), stops_.end(), [&](const auto& stop) {
        return std::string_view(stop).starts_with(tail);
      });
      if (begins_stop) {
        certain = from;
        break;
      }
    }
  }
  std::string out;
  const bool all = at_end && certain == held_.size();
  const std::size_t consumed =
      append_well_formed(std::string_view(held_).substr(0, certain), all, out);
  held_.erase(0, consumed);
  return out;
}

}  // namespace segue
