// A bar that shows how far something long has come, on a terminal only; cleared when it is done.
// Used by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "terminal.h"

namespace segue::cli {

// "reading 1,024 of 4,096 tokens  ████████████░░░░░░░░  25%" in at most `width` columns; the bar is
// left out where it has no room.
std::string format_progress(std::string_view label, double fraction, int width, bool unicode);

class ProgressBar {
 public:
  // Nothing is drawn at first: what is quick needs no bar.
  explicit ProgressBar(Terminal& terminal);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(std::string_view label, double fraction);
  void clear();

 private:
  Terminal& terminal_;
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace segue::cli
