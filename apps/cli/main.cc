#include <clocale>
#include <cstdlib>
#include <exception>
#include <string>

#include "chat.h"
#include "inspect.h"
#include "interrupts.h"
#include "loading.h"
#include "options.h"
#include "run.h"
#include "segue/error.h"
#include "terminal.h"
#include "wording.h"

namespace segue::cli {
namespace {

int serve_command(const CommandLine& line, Terminal& terminal, Interrupts& interrupts) {
  switch (line.mode) {
    case Mode::chat:
      return Chat(line, load_model(line, terminal, interrupts), terminal, interrupts).talk();
    case Mode::run:
      return run(line, terminal, interrupts);
    case Mode::inspect:
      return inspect(line, terminal, interrupts);
    case Mode::nothing:
      break;
  }
  return line.exit_code;
}

// The user's, but numbers in the one way that programs read. Where the environment names none (as
// in many containers), text is UTF-8 all the same.
void set_locale() {
  std::setlocale(LC_ALL, "");
  bool named = false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    named = named || (value != nullptr && *value != '\0');
  }
  if (!named) std::setlocale(LC_CTYPE, "C.UTF-8");
  std::setlocale(LC_NUMERIC, "C");
}

int serve(int argc, char** argv) {
  replace_closed_streams();
  set_locale();
  const CommandLine line = parse_command_line(argc, argv);
  if (line.mode == Mode::nothing) return line.exit_code;

  remember_terminal_settings();
  Terminal terminal(line.no_color);
  Interrupts interrupts;
  try {
    return serve_command(line, terminal, interrupts);
  } catch (const OutputClosed& e) {
    if (!e.is_broken_pipe()) {
      terminal.write_error(std::string("segue: ") + e.what(), Style::error);
    }
    return 1;
  } catch (const Cancelled& e) {
    terminal.write_error("segue: " + describe(e, line.mode), Style::error);
    return 130;
  } catch (const std::exception& e) {
    terminal.write_error("segue: " + describe(e, line.mode), Style::error);
    return 1;
  }
}

}  // namespace
}  // namespace segue::cli

int main(int argc, char** argv) { return segue::cli::serve(argc, argv); }
