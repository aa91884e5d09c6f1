// What a chat's commands do.
#include <algorithm>
#include <utility>

#include "chat.h"
#include "segue/error.h"
#include "settings.h"
#include "status_line.h"
#include "words.h"

namespace segue::cli {

bool Chat::carry_out(const Command& command) {
  const std::string& arguments = command.arguments;
  switch (command.kind) {
    case CommandKind::help:
      say(command_help());
      break;
    case CommandKind::regenerate:
      answer([&](const ExchangeOptions& options) { return current().stream_regenerate(options); });
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
      if (!sessions_.contains(arguments)) {
        complain("no conversation is called \"" + arguments + "\"; /sessions lists them");
      } else {
        name_ = arguments;
      }
      break;
    case CommandKind::new_session:
      open_named(free_name(arguments, "chat"), Session(model_, line_.session));
      break;
    case CommandKind::save:
      if (arguments.empty()) {
        complain("/save FILE: name a file");
      } else {
        current().save(arguments);
        say("saved in " + arguments + "\n", Style::dim);
      }
      break;
    case CommandKind::open:
      if (arguments.empty()) {
        complain("/open FILE: name a file that /save wrote");
      } else {
        open_named(free_name({}, "opened"), Session::open(model_, arguments));
        show_transcript();
      }
      break;
    case CommandKind::system:
      set_system(arguments);
      break;
    case CommandKind::set:
      set_option(arguments);
      break;
    case CommandKind::stats:
      say(format_cached_state(model_.cached_state()));
      break;
    case CommandKind::transcript:
      show_transcript();
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
    return complain("there are " + std::to_string(list.size()) +
                    " prompts; /transcript shows their numbers");
  }
  if (wanted.text.empty()) return complain("/edit [N] TEXT: give the new text");
  const EntryId target = list[number - 1].id;
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
  say("took back: " + shortened(last->text, 60) + "\n", Style::dim);
}

void Chat::open_named(const std::string& name, Session session) {
  sessions_.insert_or_assign(name, std::move(session));
  name_ = name;
  say("now in \"" + name + "\"; /switch NAME goes back\n", Style::dim);
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
  if (!arguments.empty()) {
    current().set_instructions(arguments == "-" ? "" : arguments);
    return;
  }
  const Transcript transcript = current().transcript();
  const bool has = !transcript.empty() && transcript.front().kind == EntryKind::instructions;
  say(has ? transcript.front().text + "\n" : "there is no system text; /system TEXT sets it\n");
}

void Chat::set_option(const std::string& arguments) {
  ExchangeOptions options = current().options().exchange;
  if (arguments.empty()) {
    say(list_settings(options));
    return;
  }
  apply_setting(options, arguments);
  current().set_exchange_options(options);
}

void Chat::list_sessions() {
  for (const auto& [name, session] : sessions_) {
    const Transcript transcript = session.transcript();
    const auto turns = std::ranges::count(transcript, EntryKind::prompt, &Entry::kind);
    say((name == name_ ? "* " : "  ") + name + "  " + std::to_string(turns) +
        (turns == 1 ? " turn, " : " turns, ") + grouped(session.token_count()) + " tokens\n");
  }
}

void Chat::show_transcript() {
  int number = 0;
  for (const Entry& entry : current().transcript()) {
    switch (entry.kind) {
      case EntryKind::instructions:
        say("system: " + entry.text + "\n", Style::dim);
        break;
      case EntryKind::prompt:
        say(std::to_string(++number) + "> ", Style::prompt);
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
