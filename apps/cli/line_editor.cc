#include "line_editor.h"

#include <histedit.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "commands.h"

namespace segue::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kHistoryLines = 1000;

std::string history_file() {
  fs::path directory;
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/') {
    directory = state;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    directory = fs::path(home) / ".local" / "state";
  } else {
    return {};
  }
  directory /= "segue";
  std::error_code error;
  fs::create_directories(directory, error);
  return error ? std::string() : (directory / "history").string();
}

// Completes the name of a command at the beginning of a line.
unsigned char complete_command(EditLine* editor, int) {
  const LineInfo* info = el_line(editor);
  const std::string_view typed(info->buffer, static_cast<std::size_t>(info->cursor - info->buffer));
  if (typed.empty() || typed[0] != '/' || typed.find(' ') != std::string_view::npos) {
    return CC_ERROR;
  }
  const auto names = commands_beginning(typed.substr(1));
  if (names.size() != 1) return CC_ERROR;
  const std::string rest = names[0].substr(typed.size() - 1) + " ";
  return el_insertstr(editor, rest.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

}  // namespace

struct LineEditor::State {
  EditLine* editor = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string history_path;
  std::string prompt;

  // libedit edits the line itself, so Ctrl-C is to it what it is to a shell: the line is given up.
  static unsigned char give_up_line(EditLine* editor, int) {
    State* state = nullptr;
    el_get(editor, EL_CLIENTDATA, &state);
    state->interrupted = true;
    return CC_NEWLINE;
  }
  static char* show_prompt(EditLine* editor) {
    State* state = nullptr;
    el_get(editor, EL_CLIENTDATA, &state);
    return state->prompt.data();
  }
  bool interrupted = false;
};

LineEditor::LineEditor(Terminal& terminal) {
  if (!terminal.is_interactive()) return;
  state_ = std::make_unique<State>();
  State& state = *state_;
  state.editor = el_init("segue", stdin, stdout, stderr);
  state.history = history_init();
  history(state.history, &state.event, H_SETSIZE, kHistoryLines);
  history(state.history, &state.event, H_SETUNIQUE, 1);
  state.history_path = history_file();
  if (!state.history_path.empty()) {
    history(state.history, &state.event, H_LOAD, state.history_path.c_str());
  }
  el_set(state.editor, EL_CLIENTDATA, &state);
  el_set(state.editor, EL_EDITOR, "emacs");
  el_set(state.editor, EL_PROMPT_ESC, &State::show_prompt, '\1');
  el_set(state.editor, EL_HIST, history, state.history);
  el_set(state.editor, EL_ADDFN, "segue-complete", "Complete a command", &complete_command);
  el_set(state.editor, EL_BIND, "^I", "segue-complete", nullptr);
  el_set(state.editor, EL_ADDFN, "segue-give-up", "Throw the line away", &State::give_up_line);
  // While a line is edited, Ctrl-C is a key like others.
  el_set(state.editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(state.editor, EL_BIND, "^C", "segue-give-up", nullptr);
  el_set(state.editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(state.editor, nullptr);
}

LineEditor::~LineEditor() {
  if (state_ == nullptr) return;
  if (!state_->history_path.empty()) {
    history(state_->history, &state_->event, H_SAVE, state_->history_path.c_str());
  }
  history_end(state_->history);
  el_end(state_->editor);
}

std::optional<LineEditor::Result> LineEditor::read(const std::string& prompt) {
  if (state_ == nullptr) {
    Result result;
    if (!std::getline(std::cin, result.line)) return std::nullopt;
    return result;
  }
  State& state = *state_;
  state.prompt = prompt;
  state.interrupted = false;
  int count = 0;
  const char* text = el_gets(state.editor, &count);
  if (text == nullptr || count <= 0) return std::nullopt;
  if (state.interrupted) {
    std::fputs("\n", stdout);
    return Result{.line = {}, .interrupted = true};
  }
  Result result{.line = std::string(text, static_cast<std::size_t>(count))};
  while (!result.line.empty() && (result.line.back() == '\n' || result.line.back() == '\r')) {
    result.line.pop_back();
  }
  if (!result.line.empty()) {
    history(state.history, &state.event, H_ENTER, result.line.c_str());
  }
  return result;
}

}  // namespace segue::cli
