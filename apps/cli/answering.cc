#include "answering.h"

#include <cstdint>
#include <optional>
#include <string>

#include "progress_bar.h"
#include "segue/error.h"
#include "words.h"

namespace segue::cli {
namespace {

// What the line that the cursor stands on holds.
enum class Shows : std::uint8_t { none, reasoning, text };

}  // namespace

Shown show_answer(const BeginStream& begin, ExchangeOptions options, Terminal& terminal,
                  Interrupts& interrupts) {
  const Interrupts::Listening listening(interrupts);
  ProgressBar bar(terminal);
  options.cancel = listening.token();
  options.on_read = [&bar](std::int64_t done, std::int64_t total) {
    bar.update("reading " + grouped(done) + " of " + grouped(total) + " tokens",
               total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1.0);
  };
  Shown shown;
  Shows line = Shows::none;
  try {
    Stream stream = begin(options);
    while (std::optional<Piece> piece = stream.next()) {
      bar.clear();
      if (piece->kind == PieceKind::reasoning) {
        if (!terminal.output_is_terminal()) continue;
        terminal.write(piece->text, Style::dim);
        line = Shows::reasoning;
      } else {
        if (line == Shows::reasoning) terminal.write("\n");
        terminal.write(piece->text);
        line = Shows::text;
      }
    }
    shown.response = stream.finish();
  } catch (const Error& e) {
    bar.clear();
    // What is said about it stands on a line of its own.
    if (line != Shows::none) terminal.write("\n");
    if (e.code() != ErrorCode::cancelled || !listening.interrupted()) throw;
    shown.interrupted = true;
    return shown;
  }
  bar.clear();
  if (line == Shows::none && terminal.is_interactive()) {
    terminal.write("(an empty answer)", Style::dim);
  }
  terminal.write("\n");
  return shown;
}

}  // namespace segue::cli
