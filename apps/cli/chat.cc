#include "chat.h"

#include <optional>
#include <utility>
#include <variant>

#include "line_editor.h"
#include "loading.h"
#include "prompt_assembler.h"
#include "segue/error.h"
#include "status_line.h"
#include "words.h"

namespace segue::cli {

Chat::Chat(const CommandLine& line, Model model, Terminal& terminal, Interrupts& interrupts)
    : line_(line), model_(std::move(model)), terminal_(terminal), interrupts_(interrupts) {
  sessions_.emplace(name_, Session(model_, line.session));
}

int Chat::talk() {
  if (terminal_.is_interactive()) {
    say(model_.capabilities().description + "  -  /help lists what you can do\n", Style::dim);
    if (is_bundled_model(line_.model)) {
      say("This is a tiny demonstration model: it remembers what you tell it and little else. "
          "make chat MODEL=path/to/model.gguf talks with a real one.\n",
          Style::dim);
    }
  }
  LineEditor editor(terminal_);
  PromptAssembler assembler;
  bool interrupted_before = false;
  for (;;) {
    std::optional<LineEditor::Result> read = editor.read(prompt_sign(assembler.is_continuing()));
    std::optional<std::string> text;
    if (!read) {
      text = assembler.finish();
      if (text) handle(*text);
      if (terminal_.is_interactive()) terminal_.write("\n");
      // In a pipe nobody saw the error that an answer ended with.
      return failed_ && !terminal_.is_interactive() ? 1 : 0;
    }
    if (read->interrupted) {
      assembler.reset();
      if (std::exchange(interrupted_before, true)) return 0;
      say("(Ctrl-C again or Ctrl-D leaves)\n", Style::dim);
      continue;
    }
    interrupted_before = false;
    text = assembler.add(read->line);
    if (text && !trim(*text).empty() && !handle(*text)) return 0;
  }
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
      complain("/" + unknown.name + " is no command" +
               (unknown.suggestion.empty() ? std::string("; /help lists them")
                                           : "; did you mean /" + unknown.suggestion + "?"));
    }
  } catch (const Error& e) {
    complain(describe(e));
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
    say("(stopped; the conversation is as it was before)\n", Style::dim);
    return;
  }
  const std::string status =
      format_status(shown.response, terminal_.width(), terminal_.separator());
  if (terminal_.is_interactive()) {
    say(status + "\n", Style::dim);
  } else if (line_.verbose) {
    terminal_.write_error(status, Style::dim);
  }
}

void Chat::say(const std::string& text, Style style) { terminal_.write(text, style); }

void Chat::complain(const std::string& text) {
  failed_ = true;
  terminal_.write_error(text, Style::error);
}

std::string Chat::prompt_sign(bool continued) const {
  if (!terminal_.is_interactive()) return {};
  const std::string sign = continued ? "… " : (name_ == "main" ? "> " : name_ + "> ");
  const std::string shown = terminal_.unicode() || !continued ? sign : ". ";
  const std::string styled = terminal_.styled("\x02", Style::prompt);
  const std::size_t at = styled.find('\x02');
  if (styled.size() == 1) return shown;
  // libedit does not count what stands between two \1.
  return "\1" + styled.substr(0, at) + "\1" + shown + "\1" + styled.substr(at + 1) + "\1";
}

}  // namespace segue::cli
