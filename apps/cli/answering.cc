#include "answering.h"

#include <optional>
#include <string>

#include "progress_bar.h"
#include "segue/error.h"
#include "words.h"

namespace segue::cli {

Shown show_answer(const BeginStream& begin, ExchangeOptions options, Terminal& terminal,
                  Interrupts& interrupts) {
  const Interrupts::Listening listening(interrupts);
  ProgressBar bar(terminal, terminal.is_interactive() && terminal.errors_are_terminal());
  options.cancel = listening.token();
  options.on_read = [&bar](std::int64_t done, std::int64_t total) {
    bar.update("reading " + grouped(done) + " of " + grouped(total) + " tokens",
               total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0);
  };
  Shown shown;
  bool wrote_reasoning = false;
  bool wrote = false;
  try {
    Stream stream = begin(options);
    while (std::optional<Piece> piece = stream.next()) {
      bar.clear();
      if (piece->kind == PieceKind::reasoning) {
        if (!terminal.output_is_terminal()) continue;
        terminal.write(piece->text, Style::dim);
        wrote_reasoning = true;
      } else {
        if (wrote_reasoning && !wrote) terminal.write("\n");
        terminal.write(piece->text);
        wrote = true;
      }
    }
    bar.clear();
    shown.response = stream.finish();
  } catch (const Cancelled&) {
    if (!listening.interrupted()) throw;
    shown.interrupted = true;
  }
  bar.clear();
  terminal.write("\n");
  return shown;
}

}  // namespace segue::cli
