// Every option of an answer that a user can set by name: one table behind the flags of the command
// line, /set, and the lists of both. Immutable after its first use; thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "segue/options.h"

namespace segue::cli {

struct Setting {
  std::string name;   // as options.h spells it; a flag has "-" for "_"
  std::string alias;  // another name, or ""
  std::string value;  // what the help calls the value
  std::string help;
  bool common = false;  // in the short help
  bool many = false;    // takes any number of values
  // Throws InvalidArgument (or IoFailed, where the value names a file).
  std::function<void(ExchangeOptions&, const std::vector<std::string>&)> set;
  std::function<std::string(const ExchangeOptions&)> get;
};

const std::vector<Setting>& settings();

// By name or alias, "-" and "_" alike. Throws InvalidArgument with the nearest name.
const Setting& find_setting(std::string_view name);

// "NAME VALUE…" as /set takes it. Throws InvalidArgument, which names the setting and what it
// takes.
void apply_setting(ExchangeOptions& options, std::string_view text);

// The list that /set shows alone, for a window of `width` columns.
std::string list_settings(const ExchangeOptions& options, int width);

// The whole of a file. Throws IoFailed.
std::string read_text_file(const std::string& path);

}  // namespace segue::cli
