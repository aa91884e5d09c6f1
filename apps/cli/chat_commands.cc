// What a chat's commands do.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "chat.h"
#include "layout.h"
#include "segue/error.h"
#include "settings.h"
#include "status_line.h"
#include "suggestion.h"
#include "words.h"

namespace segue::cli {

namespace {

// What a file that a session was saved in begins with.
constexpr std::string_view kSessionFile = "\x89segue\r\n";
constexpr std::size_t kLongestName = 24;  // columns of a prompt's name
constexpr std::size_t kShownAfterOpen = 2;
constexpr std::size_t kAllTurns = std::numeric_limits<std::size_t>::max();

// "~/x" as a shell would read it.
std::string expand_home(const std::string& path) {
  const char* const home = std::getenv("HOME");
  if (home == nullptr || (path != "~" && path.rfind("~/", 0) != 0)) return path;
  return home + path.substr(1);
}

// True where saving would destroy something else.
bool holds_something_else(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file.is_open() || !std::filesystem::is_regular_file(path, ignored)) return false;
  std::string start(kSessionFile.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file.gcount() > 0 && start != kSessionFile;
}

std::string count_of(std::size_t number, const std::string& what) {
  return grouped(static_cast<long long>(number)) + " " + what + (number == 1 ? "" : "s");
}

std::string size_of(const Session& session) {
  const Transcript transcript = session.transcript();
  const auto turns = std::ranges::count(transcript, EntryKind::prompt, &Entry::kind);
  return count_of(static_cast<std::size_t>(turns), "turn") + ", " +
         count_of(static_cast<std::size_t>(session.token_count()), "token");
}

}  // namespace

bool Chat::carry_out(const Command& command) {
  const std::string& arguments = command.arguments;
  switch (command.kind) {
    case CommandKind::help:
      say(command_help(terminal_.width()));
      break;
    case CommandKind::regenerate:
      if (prompts().empty()) {
        complain("there is no prompt to answer again yet");
      } else {
        answer(
            [&](const ExchangeOptions& options) { return current().stream_regenerate(options); });
      }
      break;
    case CommandKind::edit:
      edit(arguments);
      break;
    case CommandKind::undo:
      undo();
      break;
    case CommandKind::fork:
      open_named(free_name(arguments, name_ + "-fork"), current().fork());
      break;
    case CommandKind::sessions:
      list_sessions();
      break;
    case CommandKind::switch_to:
      switch_to(arguments);
      break;
    case CommandKind::new_session:
      open_named(free_name(arguments, "chat"), Session(model_, line_.session));
      break;
    case CommandKind::save:
      save(arguments);
      break;
    case CommandKind::open:
      open(arguments);
      break;
    case CommandKind::system:
      set_system(arguments);
      break;
    case CommandKind::set:
      set_option(arguments);
      break;
    case CommandKind::stats:
      say(format_cached_state(model_.cached_state(), terminal_.width()));
      break;
    case CommandKind::transcript:
      show_transcript(kAllTurns);
      break;
    case CommandKind::quit:
      return false;
  }
  return true;
}

std::vector<Entry> Chat::prompts() const {
  std::vector<Entry> found;
  for (Entry& entry : current().transcript()) {
    if (entry.kind == EntryKind::prompt) found.push_back(std::move(entry));
  }
  return found;
}

// Goes on from an earlier prompt in other words. What was there stays until the answer is whole:
// the conversation is replaced by an edited copy that was answered.
void Chat::edit(const std::string& arguments) {
  const EditArguments wanted = parse_edit(arguments);
  const std::vector<Entry> list = prompts();
  if (list.empty()) return complain("there is no prompt to edit yet");
  const std::size_t number =
      wanted.number == 0 ? list.size() : static_cast<std::size_t>(wanted.number);
  if (number > list.size()) {
    return complain("there is no prompt " + std::to_string(number) + ": the conversation has " +
                    std::to_string(list.size()) + "; /transcript shows their numbers");
  }
  const Entry& old = list[number - 1];
  if (wanted.text.empty()) {
    if (!terminal_.is_interactive()) return complain("/edit [N] TEXT: give the new text");
    draft_ = "/edit " + std::to_string(number) + " " + old.text;
    return;
  }
  const EntryId target = old.id;
  Session edited = current().fork();
  edited.rewind_to(target);
  edited.replace(target, wanted.text);
  bool answered = false;
  answer([&](const ExchangeOptions& options) {
    answered = true;
    return edited.stream_regenerate(options);
  });
  const Transcript after = edited.transcript();
  if (answered && !after.empty() && after.back().kind == EntryKind::response) {
    sessions_.insert_or_assign(name_, std::move(edited));
  }
}

void Chat::undo() {
  const Transcript transcript = current().transcript();
  const auto last = std::find_if(transcript.rbegin(), transcript.rend(), [](const Entry& entry) {
    return entry.kind == EntryKind::prompt;
  });
  if (last == transcript.rend()) return complain("there is nothing to take back yet");
  const auto before = std::next(last);
  current().rewind_to(before == transcript.rend() ? EntryId{} : before->id);
  note("took back: " +
       shortened(last->text, static_cast<std::size_t>(std::max(terminal_.width() - 16, 8))));
}

void Chat::open_named(const std::string& name, Session session) {
  const std::string before = name_;
  sessions_.insert_or_assign(name, std::move(session));
  name_ = name;
  note("now in \"" + name + "\" (" + size_of(current()) + "); /switch " + before + " goes back");
}

std::string Chat::free_name(const std::string& wanted, const std::string& stem) const {
  if (!wanted.empty()) {
    if (!sessions_.contains(wanted)) return wanted;
    throw InvalidArgument("a conversation is called \"" + wanted + "\" already");
  }
  for (int i = 1;; ++i) {
    const std::string name = i == 1 ? stem : stem + std::to_string(i);
    if (!sessions_.contains(name)) return name;
  }
}

void Chat::set_system(const std::string& arguments) {
  if (arguments == "-") {
    current().set_instructions("");
    return note("there is no system text now");
  }
  if (!arguments.empty()) {
    current().set_instructions(arguments);
    return note("the system text is set; the next turn reads the conversation with it");
  }
  const Transcript transcript = current().transcript();
  const bool has = !transcript.empty() && transcript.front().kind == EntryKind::instructions;
  if (!has) return note("there is no system text; /system TEXT sets it");
  say(transcript.front().text + "\n");
}

void Chat::set_option(const std::string& arguments) {
  ExchangeOptions options = current().options().exchange;
  if (arguments.empty()) return say(list_settings(options, terminal_.width()));
  const auto [name, value] = first_word(arguments);
  const Setting& setting = find_setting(name);
  if (value.empty()) {
    return say(format_rows({{setting.name + " " + setting.get(options),
                             setting.help + " (takes " + setting.value + ")"}},
                           terminal_.width()));
  }
  apply_setting(options, arguments);
  current().set_exchange_options(options);
  note(setting.name + " is " + setting.get(options) + " now");
}

void Chat::save(const std::string& file) {
  if (file.empty()) return complain("/save FILE: name a file");
  const std::string path = expand_home(file);
  if (holds_something_else(path)) {
    return complain(path + " exists and is no saved conversation; name another file");
  }
  current().save(path);
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  note("saved in " + path + " (" + size_of(current()) +
       (error ? "" : ", " + format_bytes(static_cast<std::int64_t>(bytes))) + "); /open reads it");
}

void Chat::open(const std::string& file) {
  if (file.empty()) return complain("/open FILE: name a file that /save wrote");
  const std::string path = expand_home(file);
  Session opened = Session::open(model_, path);
  const std::string stem =
      shortened(printable(std::filesystem::path(path).stem().string()), kLongestName);
  open_named(free_name({}, stem.empty() ? "opened" : stem), std::move(opened));
  const std::size_t turns = prompts().size();
  if (!terminal_.is_interactive() || turns == 0) return;
  if (turns > kShownAfterOpen) {
    note("(the last " + count_of(kShownAfterOpen, "turn") + " of " + std::to_string(turns) +
         "; /transcript shows all)");
  }
  show_transcript(kShownAfterOpen);
}

void Chat::switch_to(const std::string& name) {
  if (name.empty()) return complain("/switch NAME: /sessions lists the conversations");
  if (sessions_.contains(name)) {
    name_ = name;
    return;
  }
  std::vector<std::string> names;
  for (const auto& [each, session] : sessions_) names.push_back(each);
  const auto near = suggest(name, names);
  complain("no conversation is called \"" + name + "\"; " +
           (near ? "did you mean " + *near + "?" : "/sessions lists them"));
}

void Chat::list_sessions() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [name, session] : sessions_) {
    rows.emplace_back((name == name_ ? "* " : "  ") + name, size_of(session));
  }
  say(format_rows(rows, terminal_.width()));
}

void Chat::show_transcript(std::size_t turns) {
  const std::size_t all = prompts().size();
  const std::size_t left_out = all > turns ? all - turns : 0;
  std::size_t number = 0;
  for (const Entry& entry : current().transcript()) {
    if (entry.kind == EntryKind::prompt) ++number;
    if (entry.kind != EntryKind::instructions && number <= left_out) continue;
    switch (entry.kind) {
      case EntryKind::instructions:
        say("system: " + entry.text + "\n", Style::dim);
        break;
      case EntryKind::prompt:
        say(std::to_string(number) + "> ", Style::prompt);
        say(entry.text + "\n");
        break;
      case EntryKind::response:
        if (!entry.reasoning.empty()) say(entry.reasoning + "\n", Style::dim);
        say(entry.text + "\n");
        break;
    }
  }
}

}  // namespace segue::cli
