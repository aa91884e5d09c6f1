#include "line_editor.h"

#include <histedit.h>
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "completion.h"
#include "words.h"

namespace segue::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kHistoryLines = 1000;
constexpr const char* kPasteBegins = "\033[200~";
constexpr std::wstring_view kPasteEnds = L"\033[201~";
// A key that no keyboard has: pushed into the editor's input, it inserts the draft.
constexpr const char* kDraftKey = "\033[segue~";

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

unsigned char complete_word(EditLine* editor, int key) {
  const LineInfo* info = el_line(editor);
  const Completion found =
      complete({info->buffer, static_cast<std::size_t>(info->cursor - info->buffer)});
  if (found.is_file) return _el_fn_complete(editor, key);
  if (!found.added.empty()) {
    return el_insertstr(editor, found.added.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  }
  if (found.choices.empty()) return CC_ERROR;
  std::string list = "\n";
  for (const std::string& choice : found.choices) list += choice + "  ";
  std::fputs((list + "\n").c_str(), stdout);
  std::fflush(stdout);
  return CC_REDISPLAY;
}

// A paste goes into the line as it is, without what would drive the editor or the terminal. The
// line break at its end is left out: the user sees what will be said before saying it.
unsigned char insert_paste(EditLine* editor, int) {
  std::wstring text;
  wchar_t next = 0;
  while (el_wgetc(editor, &next) == 1) {
    if (next == L'\r') next = L'\n';
    text += next;
    if (text.size() >= kPasteEnds.size() &&
        text.compare(text.size() - kPasteEnds.size(), kPasteEnds.size(), kPasteEnds) == 0) {
      text.resize(text.size() - kPasteEnds.size());
      break;
    }
  }
  std::erase_if(text, [](wchar_t c) {
    return (c < L' ' && c != L'\n' && c != L'\t') || (c >= 0x7F && c < 0xA0);
  });
  while (!text.empty() && text.back() == L'\n') text.pop_back();
  if (text.empty()) return CC_NORM;
  return el_winsertstr(editor, text.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
}

// libedit's handlers (EL_SIGNAL) give the terminal back to the shell and take it again. As the
// terminal itself would do it, all processes of the job are stopped.
unsigned char suspend(EditLine*, int) {
  stop_marking_pastes();
  ::kill(0, SIGTSTP);
  return CC_REDISPLAY;
}

}  // namespace

struct LineEditor::State {
  explicit State(const Terminal& its_terminal) : terminal(its_terminal) {}

  const Terminal& terminal;
  EditLine* editor = nullptr;
  History* history = nullptr;
  HistEvent event{};
  std::string history_path;
  std::string prompt;
  std::string draft;
  bool interrupted = false;

  static State& of(EditLine* editor) {
    State* state = nullptr;
    el_get(editor, EL_CLIENTDATA, &state);
    return *state;
  }

  // What Ctrl-C is to a shell: the line is given up, and what comes next stands below it.
  static unsigned char give_up_line(EditLine* editor, int) {
    of(editor).interrupted = true;
    const LineInfo* info = el_line(editor);
    el_cursor(editor, static_cast<int>(info->lastchar - info->cursor));
    el_insertstr(editor, "^C");
    el_push(editor, "\n");
    return CC_REFRESH;
  }
  static unsigned char insert_draft(EditLine* editor, int) {
    const std::string& draft = of(editor).draft;
    return draft.empty() || el_insertstr(editor, draft.c_str()) != 0 ? CC_ERROR : CC_REFRESH;
  }
  static char* show_prompt(EditLine* editor) { return of(editor).prompt.data(); }

  // libedit does not count what stands between two \1, and leaves it out where no other character
  // follows. Pastes are marked by what is drawn with the prompt, so that they are again after a
  // time in the background.
  std::string drawn(const std::string& text) const {
    if (!terminal.takes_escapes()) return text + " ";
    const std::string styled = terminal.styled("\x02", Style::prompt);
    const std::size_t at = styled.find('\x02');
    std::string drawn = "\1" + std::string(start_marking_pastes()) + styled.substr(0, at) + "\1";
    drawn += text;
    if (at > 0) drawn += "\1" + styled.substr(at + 1) + "\1";
    return drawn + " ";
  }

  void set_up_keys() const {
    // As wide strings, or libedit makes copies that it never frees.
    el_wset(editor, EL_ADDFN, L"segue-complete", L"Complete a word", &complete_word);
    el_wset(editor, EL_ADDFN, L"segue-paste", L"Insert what is pasted", &insert_paste);
    el_wset(editor, EL_ADDFN, L"segue-draft", L"Begin with a draft", &State::insert_draft);
    el_wset(editor, EL_ADDFN, L"segue-suspend", L"Stop until the shell goes on", &suspend);
    el_wset(editor, EL_ADDFN, L"segue-give-up", L"Throw the line away", &State::give_up_line);
    el_set(editor, EL_BIND, "^I", "segue-complete", nullptr);
    el_set(editor, EL_BIND, kPasteBegins, "segue-paste", nullptr);
    el_set(editor, EL_BIND, kDraftKey, "segue-draft", nullptr);
    el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    // While a line is edited, Ctrl-C and Ctrl-Z are keys like others.
    el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
    el_set(editor, EL_BIND, "^C", "segue-give-up", nullptr);
    el_set(editor, EL_BIND, "^Z", "segue-suspend", nullptr);
  }

  void remember(const std::string& line) {
    ::history(history, &event, H_ENTER, line.c_str());
    // At once: a window that is closed leaves no time for it.
    if (!history_path.empty()) ::history(history, &event, H_SAVE, history_path.c_str());
  }
};

LineEditor::LineEditor(Terminal& terminal) {
  if (!terminal.is_interactive()) return;
  state_ = std::make_unique<State>(terminal);
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
  // Being suspended and windows that change; SIGINT and others are not for this thread.
  el_set(state.editor, EL_SIGNAL, 1);
  el_set(state.editor, EL_PROMPT_ESC, &State::show_prompt, '\1');
  el_set(state.editor, EL_HIST, history, state.history);
  state.set_up_keys();
  el_source(state.editor, nullptr);
}

LineEditor::~LineEditor() {
  if (state_ == nullptr) return;
  history_end(state_->history);
  el_end(state_->editor);
}

std::optional<LineEditor::Result> LineEditor::read(const std::string& prompt,
                                                   const std::string& draft) {
  if (state_ == nullptr) {
    Result result;
    if (!std::getline(std::cin, result.line)) return std::nullopt;
    if (!result.line.empty() && result.line.back() == '\r') result.line.pop_back();
    return result;
  }
  State& state = *state_;
  state.prompt = state.drawn(prompt);
  state.draft = printable(draft);
  state.interrupted = false;
  if (!draft.empty()) el_push(state.editor, kDraftKey);
  // The window may have changed while nobody edited.
  el_resize(state.editor);
  // libedit shows the prompt first, and what is typed then would be the terminal's own: shown
  // twice, and Ctrl-C a signal.
  el_set(state.editor, EL_PREP_TERM, 1);
  int count = 0;
  const char* text = el_gets(state.editor, &count);
  stop_marking_pastes();
  if (text == nullptr || count <= 0) return std::nullopt;
  Result result{.line = std::string(text, static_cast<std::size_t>(count)),
                .interrupted = state.interrupted};
  while (!result.line.empty() && result.line.back() == '\n') result.line.pop_back();
  if (result.interrupted) {
    result.line.resize(result.line.rfind("^C"));
  } else if (!trim(result.line).empty()) {
    state.remember(result.line);
  }
  return result;
}

}  // namespace segue::cli
