#include <clocale>
#include <cstdio>
#include <exception>

#include "chat.h"
#include "inspect.h"
#include "interrupts.h"
#include "loading.h"
#include "options.h"
#include "run.h"
#include "segue/error.h"
#include "terminal.h"

namespace {

using namespace segue::cli;

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

}  // namespace

int main(int argc, char** argv) {
  std::setlocale(LC_ALL, "");
  std::setlocale(LC_NUMERIC, "C");
  const CommandLine line = parse_command_line(argc, argv);
  if (line.mode == Mode::nothing) return line.exit_code;

  remember_terminal_settings();
  Terminal terminal(line.no_color);
  Interrupts interrupts;
  try {
    return serve_command(line, terminal, interrupts);
  } catch (const OutputClosed& e) {
    if (!e.is_broken_pipe()) terminal.write_error(e.what(), Style::error);
    return 1;
  } catch (const segue::Cancelled& e) {
    terminal.write_error(e.what(), Style::error);
    return 130;
  } catch (const std::exception& e) {
    terminal.write_error(describe(e), Style::error);
    return 1;
  }
}
