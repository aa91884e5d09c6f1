#include "terminal.h"

#include <fcntl.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "words.h"

namespace segue::cli {
namespace {

// Written once before other threads start.
termios first_settings;
bool has_first_settings = false;

std::atomic<bool> marks_pastes{false};

std::string_view escape_sequence(Style style) {
  switch (style) {
    case Style::plain:
      return "";
    case Style::dim:
      return "\x1b[2m";
    case Style::bold:
      return "\x1b[1m";
    case Style::error:
      return "\x1b[31m";
    case Style::prompt:
      return "\x1b[1;32m";
  }
  return "";
}

std::string with_style(std::string_view text, Style style, bool colors) {
  if (!colors || style == Style::plain || text.empty()) return std::string(text);
  return std::string(escape_sequence(style)).append(text).append("\x1b[0m");
}

bool is_smart_terminal() {
  const char* const term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::strcmp(term, "dumb") != 0;
}

bool wants_colors() {
  const char* const no_color = std::getenv("NO_COLOR");
  return (no_color == nullptr || *no_color == '\0') && is_smart_terminal();
}

}  // namespace

OutputClosed::OutputClosed(int error)
    : std::runtime_error(std::string("cannot write the output: ") + std::strerror(error)),
      broken_pipe_(error == EPIPE) {}

Terminal::Terminal(bool no_color)
    : input_is_terminal_(::isatty(STDIN_FILENO) == 1),
      output_is_terminal_(::isatty(STDOUT_FILENO) == 1),
      errors_are_terminal_(::isatty(STDERR_FILENO) == 1),
      output_colors_(output_is_terminal_ && !no_color && wants_colors()),
      error_colors_(errors_are_terminal_ && !no_color && wants_colors()),
      unicode_(std::strcmp(::nl_langinfo(CODESET), "UTF-8") == 0),
      takes_escapes_(is_smart_terminal()) {}

int Terminal::width() const {
  winsize size{};
  const int stream = output_is_terminal_ ? STDOUT_FILENO : STDERR_FILENO;
  if (::ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void Terminal::write(std::string_view text, Style style) {
  const std::string shown =
      output_is_terminal_ ? with_style(printable(text), style, output_colors_) : std::string(text);
  errno = 0;
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() ||
      std::fflush(stdout) != 0) {
    throw OutputClosed(errno);
  }
}

void Terminal::write_error(std::string_view text, Style style) {
  write_progress("");
  const std::string shown = errors_are_terminal_ ? printable(text) : std::string(text);
  const std::string line = with_style(shown, style, error_colors_) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void Terminal::write_progress(std::string_view text) {
  if (!errors_are_terminal_) return;
  const std::size_t shown = progress_columns_.exchange(column_count(text));
  if (text.empty() && shown == 0) return;
  const std::string clear = takes_escapes_ ? "\r\x1b[K" : "\r" + std::string(shown, ' ') + "\r";
  const std::string line = clear + with_style(text, Style::dim, error_colors_);
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

std::string Terminal::styled(std::string_view text, Style style) const {
  return with_style(text, style, output_colors_);
}

QuietInput::QuietInput() {
  termios settings;
  if (::tcgetattr(STDIN_FILENO, &settings) != 0 || (settings.c_lflag & ECHO) == 0) return;
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  changed_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &settings) == 0;
}

QuietInput::~QuietInput() {
  if (!changed_) return;
  termios settings;
  if (::tcgetattr(STDIN_FILENO, &settings) != 0) return;
  settings.c_lflag |= ECHO;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &settings);
}

void replace_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free number is this one: those below are open.
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", O_RDONLY);
  }
}

std::string_view start_marking_pastes() {
  marks_pastes = true;
  return "\x1b[?2004h";
}

void stop_marking_pastes() {
  constexpr std::string_view kOff = "\x1b[?2004l";
  if (marks_pastes.exchange(false)) {
    [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, kOff.data(), kOff.size());
  }
}

void remember_terminal_settings() {
  has_first_settings = ::tcgetattr(STDIN_FILENO, &first_settings) == 0;
}

void restore_terminal_settings() {
  stop_marking_pastes();
  if (has_first_settings) ::tcsetattr(STDIN_FILENO, TCSANOW, &first_settings);
}

}  // namespace segue::cli
