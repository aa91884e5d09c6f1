#include "status_line.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

#include "layout.h"
#include "words.h"

namespace segue::cli {
namespace {

std::string decimal(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

}  // namespace

std::string format_duration(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  if (seconds < 0.9995) return decimal(seconds * 1000, seconds < 0.00995 ? 1 : 0) + " ms";
  if (seconds < 59.95) return decimal(seconds, 1) + " s";
  const auto whole = std::llround(seconds);
  const std::string rest = std::to_string(whole % 60);
  return grouped(whole / 60) + " min " + (rest.size() < 2 ? "0" : "") + rest + " s";
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1023.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return decimal(value, unit > 0 && value < 9.95 ? 1 : 0) + " " + kUnits[unit];
}

std::string format_status(const Response& response, int width, std::string_view separator) {
  std::vector<std::string> parts;
  parts.push_back("reused " + grouped(response.usage.reused));
  parts.push_back("read " + grouped(response.usage.read));
  parts.push_back("wrote " + grouped(response.usage.written) + " tokens");
  if (response.finish_reason == FinishReason::max_tokens) parts.emplace_back("cut at max_tokens");
  if (response.finish_reason == FinishReason::stop_string) parts.emplace_back("stop text");
  if (response.usage.written > 0) {
    parts.push_back("first in " + format_duration(response.timing.to_first));
  }
  if (response.timing.tokens_per_second > 0) {
    const double speed = response.timing.tokens_per_second;
    parts.push_back((speed < 99.95 ? decimal(speed, 1) : grouped(std::llround(speed))) +
                    " tokens/s");
  }
  std::string line;
  for (const std::string& part : parts) {
    std::string longer = line.empty() ? part : line + std::string(separator) + part;
    if (column_count(longer) >= static_cast<std::size_t>(width)) break;
    line = std::move(longer);
  }
  return line;
}

std::string format_cached_state(const CachedState& state, int width) {
  std::vector<std::pair<std::string, std::string>> rows;
  const auto row = [&rows](const char* label, const std::string& value) {
    rows.emplace_back(label, value);
  };
  row("turns",
      grouped(state.exchanges) + " answered, " + grouped(state.failures) + " stopped or failed");
  row("tokens reused", grouped(state.tokens_reused));
  row("tokens read",
      grouped(state.tokens_read) + " (" + grouped(state.tokens_settled) + " of them in idle time)");
  row("tokens written", grouped(state.tokens_written));
  row("slots", std::to_string(state.slots_holding_state) + " hold a conversation's state, " +
                   std::to_string(state.slots_busy) + " busy");
  row("parked states", grouped(state.parked_states) + ", " + format_bytes(state.parked_bytes) +
                           " of " + format_bytes(state.cache_bytes) + ", " +
                           grouped(state.evictions) + " evicted");
  row("checkpoints", format_bytes(state.checkpoint_bytes));
  return format_rows(rows, width);
}

}  // namespace segue::cli
