#include "progress_bar.h"

#include <algorithm>
#include <cmath>

#include "words.h"

namespace segue::cli {
namespace {

constexpr std::chrono::milliseconds kPatience{300};
constexpr std::chrono::milliseconds kBetween{50};
constexpr int kWidestBar = 40;
constexpr int kNarrowestBar = 5;

}  // namespace

std::string format_progress(std::string_view label, double fraction, int width, bool unicode) {
  fraction = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
  std::string percent = std::to_string(static_cast<int>(fraction * 100)) + "%";
  percent.insert(0, 4 - percent.size(), ' ');
  // One column stays free: a line that fills the last one wraps on some terminals.
  const int room = width - 1 - static_cast<int>(percent.size());
  const int bar = std::min(kWidestBar, room - static_cast<int>(column_count(label)) - 3);
  if (bar < kNarrowestBar) {
    if (room <= 1) return {};
    return shortened(label, static_cast<std::size_t>(room - 1)) + " " + percent;
  }
  const int full = static_cast<int>(std::lround(fraction * bar));
  std::string line(label);
  line += "  ";
  for (int i = 0; i < bar; ++i) {
    if (unicode) {
      line += i < full ? "█" : "░";
    } else {
      line += i < full ? '#' : '.';
    }
  }
  return line + " " + percent;
}

ProgressBar::ProgressBar(Terminal& terminal)
    : terminal_(terminal),
      enabled_(terminal.errors_are_terminal()),
      next_(std::chrono::steady_clock::now() + kPatience) {}

void ProgressBar::update(std::string_view label, double fraction) {
  if (!enabled_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kBetween;
  drawn_ = true;
  terminal_.write_progress(
      format_progress(label, fraction, terminal_.width(), terminal_.unicode()));
}

void ProgressBar::clear() {
  if (drawn_) terminal_.write_progress("");
  drawn_ = false;
}

}  // namespace segue::cli
