#include "chat.h"

#include <optional>
#include <utility>
#include <variant>

#include "layout.h"
#include "line_editor.h"
#include "segue/error.h"
#include "status_line.h"
#include "wording.h"
#include "words.h"

namespace segue::cli {

Chat::Chat(const CommandLine& line, Model model, Terminal& terminal, Interrupts& interrupts)
    : line_(line), model_(std::move(model)), terminal_(terminal), interrupts_(interrupts) {
  sessions_.emplace(name_, Session(model_, line.session));
}

int Chat::talk() {
  greet();
  LineEditor editor(terminal_);
  PromptAssembler assembler;
  bool interrupted_before = false;
  for (;;) {
    // At a terminal, a Ctrl-C that comes when an answer has just ended must not end the chat.
    std::optional<Interrupts::Listening> outside_of_answers;
    if (terminal_.is_interactive()) outside_of_answers.emplace(interrupts_);
    const std::optional<LineEditor::Result> read =
        editor.read(prompt_sign(assembler.is_continuing()), std::exchange(draft_, {}));
    if (!read) return end_of_input(assembler);
    if (read->interrupted) {
      if (!read->line.empty() || assembler.is_continuing()) {
        assembler.reset();
        interrupted_before = false;
        continue;
      }
      if (std::exchange(interrupted_before, true)) return 0;
      note("(Ctrl-C again or Ctrl-D leaves)");
      continue;
    }
    interrupted_before = false;
    const std::optional<std::string> text = assembler.add(read->line);
    if (text && !trim(*text).empty() && !handle(*text)) return 0;
  }
}

void Chat::greet() {
  if (!terminal_.is_interactive()) return;
  const Capabilities facts = model_.capabilities();
  const std::string between(terminal_.separator());
  note(title_of(facts) + between + grouped(facts.context_length) + " tokens of context" + between +
       "/help lists what you can do");
  if (is_bundled_model(line_.model)) {
    note(
        "This is a tiny demonstration model: it remembers what you tell it and little else. "
        "\"segue chat FILE.gguf\" talks with a real one.");
  }
}

int Chat::end_of_input(PromptAssembler& assembler) {
  if (const auto text = assembler.finish()) handle(*text);
  if (terminal_.is_interactive()) {
    terminal_.write("\n");
    return 0;
  }
  // In a pipe nobody saw the error that an answer ended with.
  return failed_ ? 1 : 0;
}

bool Chat::handle(const std::string& text) {
  const Line line = parse_line(text);
  try {
    if (const auto* said = std::get_if<SaidToModel>(&line)) {
      ask(said->text);
    } else if (const auto* command = std::get_if<Command>(&line)) {
      return carry_out(*command);
    } else {
      const auto& unknown = std::get<UnknownCommand>(line);
      complain("/" + unknown.name + " is no command; " +
               (unknown.suggestion.empty()
                    ? "/help lists them, and a line that begins with // is said to the model"
                    : "did you mean /" + unknown.suggestion + "?"));
    }
  } catch (const OutputClosed&) {
    throw;
  } catch (const Cancelled&) {
    throw;
  } catch (const std::exception& e) {
    complain(describe(e, Mode::chat));
  }
  return true;
}

void Chat::ask(const std::string& prompt) {
  answer([&](const ExchangeOptions& options) { return current().stream(prompt, options); });
}

void Chat::answer(const BeginStream& begin) {
  const QuietInput quiet;
  const Shown shown = show_answer(begin, current().options().exchange, terminal_, interrupts_);
  if (shown.interrupted) {
    if (!terminal_.is_interactive()) throw Cancelled("stopped");
    return note("(stopped; the conversation is as it was before. Arrow up brings the line back)");
  }
  const std::string status =
      format_status(shown.response, terminal_.width(), terminal_.separator());
  if (terminal_.is_interactive()) {
    note(status);
  } else if (line_.verbose) {
    terminal_.write_error(status, Style::dim);
  }
}

void Chat::say(const std::string& text, Style style) { terminal_.write(text, style); }

void Chat::note(const std::string& text) {
  if (!terminal_.is_interactive()) return;
  terminal_.write(wrapped(text, terminal_.width()), Style::dim);
  terminal_.write("\n");
}

void Chat::complain(const std::string& text) {
  failed_ = true;
  terminal_.write_error(terminal_.errors_are_terminal() ? wrapped(text, terminal_.width()) : text,
                        Style::error);
}

std::string Chat::prompt_sign(bool continued) const {
  if (continued) return terminal_.unicode() ? "…" : "...";
  return name_ == "main" ? ">" : printable(name_) + ">";
}

}  // namespace segue::cli
