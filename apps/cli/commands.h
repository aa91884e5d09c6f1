// The commands of a chat: what a line that begins with "/" asks for. Pure; carrying them out is
// Chat's (chat.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace segue::cli {

enum class CommandKind : std::uint8_t {
  help,
  regenerate,
  edit,
  undo,
  fork,
  sessions,
  switch_to,
  new_session,
  save,
  open,
  system,
  set,
  stats,
  transcript,
  quit,
};

struct CommandInfo {
  CommandKind kind;
  std::string_view name;
  std::string_view arguments;  // as /help shows them
  std::string_view help;
};

// All commands, in the order of /help.
const std::vector<CommandInfo>& command_table();

// The line is said to the model ("//text" says "/text").
struct SaidToModel {
  std::string text;
};
struct Command {
  CommandKind kind;
  std::string arguments;  // as typed, without space at both ends
};
struct UnknownCommand {
  std::string name;
  std::string suggestion;  // a command's name, or ""
};
using Line = std::variant<SaidToModel, Command, UnknownCommand>;

Line parse_line(std::string_view text);

// "/edit [N] TEXT": the number of the prompt (from 1; 0: the last one) and its new text.
struct EditArguments {
  int number = 0;
  std::string text;
};
EditArguments parse_edit(std::string_view arguments);

// The names that begin so, for completing a line.
std::vector<std::string> commands_beginning(std::string_view prefix);

// The text of /help, for a window of `width` columns.
std::string command_help(int width);

}  // namespace segue::cli
