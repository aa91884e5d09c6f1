#include "commands.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "layout.h"
#include "suggestion.h"
#include "words.h"

namespace segue::cli {
namespace {

// Other names that people try.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kAliases = {{
    {"?", "help"},
    {"h", "help"},
    {"exit", "quit"},
    {"q", "quit"},
    {"bye", "quit"},
    {"retry", "regenerate"},
    {"history", "transcript"},
    {"load", "open"},
}};

std::string_view resolve_alias(std::string_view name) {
  const auto* const found = std::find_if(kAliases.begin(), kAliases.end(),
                                         [&](const auto& alias) { return alias.first == name; });
  return found == kAliases.end() ? name : found->second;
}

}  // namespace

const std::vector<CommandInfo>& command_table() {
  static const std::vector<CommandInfo> table = {
      {CommandKind::help, "help", "", "show this"},
      {CommandKind::regenerate, "regenerate", "", "answer your last prompt again"},
      {CommandKind::edit, "edit", "[N] [TEXT]",
       "change your last (or N-th) prompt; go on from there"},
      {CommandKind::undo, "undo", "", "take back your last prompt and its answer"},
      {CommandKind::transcript, "transcript", "", "show the conversation, prompts numbered"},
      {CommandKind::new_session, "new", "[NAME]", "start another conversation"},
      {CommandKind::fork, "fork", "[NAME]", "go on in a copy; this one stays as it is"},
      {CommandKind::sessions, "sessions", "", "list the conversations"},
      {CommandKind::switch_to, "switch", "NAME", "go to another conversation"},
      {CommandKind::save, "save", "FILE", "write the conversation and its state to a file"},
      {CommandKind::open, "open", "FILE", "open a saved conversation"},
      {CommandKind::system, "system", "[TEXT]", "show or set the system text (- removes it)"},
      {CommandKind::set, "set", "[NAME [VALUE]]", "show or set how answers are made"},
      {CommandKind::stats, "stats", "", "what was read, reused and kept so far"},
      {CommandKind::quit, "quit", "", "leave (Ctrl-D too)"},
  };
  return table;
}

Line parse_line(std::string_view text) {
  if (text.empty() || text[0] != '/') return SaidToModel{std::string(text)};
  if (text.substr(0, 2) == "//") return SaidToModel{std::string(text.substr(1))};
  const auto [typed, arguments] = first_word(text.substr(1));
  const std::string_view name = resolve_alias(typed);
  for (const CommandInfo& command : command_table()) {
    if (command.name == name) return Command{command.kind, std::string(arguments)};
  }
  return UnknownCommand{std::string(typed),
                        suggest(typed, commands_beginning("")).value_or(std::string())};
}

EditArguments parse_edit(std::string_view arguments) {
  const auto [word, rest] = first_word(arguments);
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc() && end == word.data() + word.size() && number > 0) {
    return {number, std::string(rest)};
  }
  return {0, std::string(trim(arguments))};
}

std::vector<std::string> commands_beginning(std::string_view prefix) {
  std::vector<std::string> names;
  for (const CommandInfo& command : command_table()) {
    if (command.name.substr(0, prefix.size()) == prefix) names.emplace_back(command.name);
  }
  return names;
}

std::string command_help(int width) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const CommandInfo& command : command_table()) {
    std::string left = "/" + std::string(command.name);
    if (!command.arguments.empty()) left.append(" ").append(command.arguments);
    rows.emplace_back(std::move(left), command.help);
  }
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"Ctrl-C", "stop an answer, or throw a line away; twice at an empty line: leave"},
      {"Up, Ctrl-R", "earlier lines; search in them"},
      {"Tab", "complete a command, a setting or a file"},
      {"\\ at the end", "the line goes on in the next one"},
      {"\"\"\"", "begins and ends a text of several lines"},
      {"//text", "says \"/text\" to the model"}};
  return format_rows(rows, width) + "\n" + format_rows(keys, width);
}

}  // namespace segue::cli
