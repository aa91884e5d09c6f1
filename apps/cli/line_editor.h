// A line from the user: edited and remembered on a terminal, plain in a pipe.
//
// On a terminal, a paste of several lines is one input, which the user can still edit; the window
// may change its size and the program may be suspended (Ctrl-Z) at any time.
//
// One at a time in a process (libedit keeps no state of its own outside it, but the terminal does).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "terminal.h"

namespace segue::cli {

class LineEditor {
 public:
  // The history is kept in the user's state directory, where there is one.
  explicit LineEditor(Terminal& terminal);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  struct Result {
    std::string line;
    bool interrupted = false;  // Ctrl-C: the line was thrown away
  };
  // The next line without its end; nothing at the end of the input. On a terminal the line begins
  // as `draft`, to be edited.
  std::optional<Result> read(const std::string& prompt, const std::string& draft = {});

 private:
  struct State;
  std::unique_ptr<State> state_;  // null in a pipe
};

}  // namespace segue::cli
