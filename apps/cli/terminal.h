// The program's three standard streams: what they are, how wide, in which colours; writing to them.
//
// Answers go to standard output, errors and what is said aside to standard error, but in a chat on
// a terminal all of it is one conversation. Used by the main thread only, but for write_error().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace segue::cli {

// Standard output takes no more (a closed pipe, a full disk).
class OutputClosed : public std::runtime_error {
 public:
  explicit OutputClosed(int error);
  // Whoever read us went away: nothing to complain about.
  bool is_broken_pipe() const { return broken_pipe_; }

 private:
  bool broken_pipe_;
};

enum class Style : std::uint8_t { plain, dim, bold, error, prompt };

class Terminal {
 public:
  // Looks at the streams, TERM, NO_COLOR and the locale.
  explicit Terminal(bool no_color = false);

  // Input and output are both a terminal: someone sits there.
  bool is_interactive() const { return input_is_terminal_ && output_is_terminal_; }
  bool input_is_terminal() const { return input_is_terminal_; }
  bool output_is_terminal() const { return output_is_terminal_; }
  bool errors_are_terminal() const { return errors_are_terminal_; }
  bool unicode() const { return unicode_; }
  // The terminal obeys escape sequences (TERM is not dumb). NO_COLOR leaves those that move.
  bool takes_escapes() const { return takes_escapes_; }
  // Columns now (a window may change); 80 where unknown.
  int width() const;

  // To standard output, at once. On a terminal without control characters of the text's own. Throws
  // OutputClosed.
  void write(std::string_view text, Style style = Style::plain);
  // To standard error, one line; progress is cleared. Never throws; from any thread.
  void write_error(std::string_view text, Style style = Style::plain);
  // Replaces the current line of the terminal behind standard error by this; "" clears it.
  void write_progress(std::string_view text);

  // The text with what switches the style on and off, where standard output takes colours.
  std::string styled(std::string_view text, Style style) const;
  // " · " or " - ".
  std::string_view separator() const { return unicode_ ? " · " : " - "; }

 private:
  bool input_is_terminal_;
  bool output_is_terminal_;
  bool errors_are_terminal_;
  bool output_colors_;
  bool error_colors_;
  bool unicode_;
  bool takes_escapes_;
  std::atomic<std::size_t> progress_columns_{0};  // of what write_progress() shows now
};

// While one lives, what is typed is not shown (it would land inside the answer); it is kept for the
// next prompt. Does nothing where input is no terminal.
class QuietInput {
 public:
  QuietInput();
  ~QuietInput();
  QuietInput(const QuietInput&) = delete;
  QuietInput& operator=(const QuietInput&) = delete;

 private:
  bool changed_ = false;
};

// Opens /dev/null in place of a standard stream that is closed, so that no file that is opened
// later takes its number and is written to by mistake. Writing to what was closed still fails.
void replace_closed_streams();

// What makes a terminal mark the beginning and end of what is pasted (bracketed paste), to be
// written to it; stopping writes the opposite, where it was asked for. Restoring the settings stops
// it, too.
std::string_view start_marking_pastes();
void stop_marking_pastes();

// Brings the terminal's settings back to those at the program's start, for leaving from anywhere.
// Safe from any thread.
void remember_terminal_settings();
void restore_terminal_settings();

}  // namespace segue::cli
