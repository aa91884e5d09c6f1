#include "completion.h"

#include <algorithm>
#include <variant>

#include "commands.h"
#include "settings.h"
#include "words.h"

namespace segue::cli {
namespace {

Completion choose(std::string_view typed, const std::vector<std::string>& candidates) {
  std::vector<std::string> fitting;
  for (const std::string& candidate : candidates) {
    if (candidate.compare(0, typed.size(), typed) == 0) fitting.push_back(candidate);
  }
  Completion completion;
  if (fitting.empty()) return completion;
  std::string common = fitting[0];
  for (const std::string& candidate : fitting) {
    const auto [end, other] =
        std::mismatch(common.begin(), common.end(), candidate.begin(), candidate.end());
    common.erase(end, common.end());
  }
  completion.added = common.substr(typed.size());
  if (fitting.size() == 1) {
    completion.added += ' ';
  } else if (completion.added.empty()) {
    completion.choices = std::move(fitting);
  }
  return completion;
}

bool takes_file(const Command& command) {
  return command.kind == CommandKind::save || command.kind == CommandKind::open;
}

}  // namespace

Completion complete(std::string_view typed) {
  if (typed.empty() || typed[0] != '/') return {};
  const std::size_t space = typed.find(' ');
  if (space == std::string_view::npos) {
    return choose(typed.substr(1), commands_beginning(""));
  }
  const Line line = parse_line(typed);
  const auto* const command = std::get_if<Command>(&line);
  if (command == nullptr) return {};
  if (takes_file(*command)) return {.added = {}, .choices = {}, .is_file = true};
  const std::string_view argument = typed.substr(space + 1);
  if (command->kind != CommandKind::set || argument.find(' ') != std::string_view::npos) return {};
  std::vector<std::string> names;
  for (const Setting& setting : settings()) names.push_back(setting.name);
  return choose(argument, names);
}

}  // namespace segue::cli
