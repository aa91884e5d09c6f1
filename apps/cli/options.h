// The command line, as data.
#pragma once

#include <string>
#include <vector>

#include "segue/options.h"

namespace segue::cli {

enum class Mode : std::uint8_t { chat, run, inspect, nothing };

struct CommandLine {
  Mode mode = Mode::nothing;
  std::string model;  // a path
  ModelOptions model_options{};
  SessionOptions session{};
  std::vector<std::string> prompts;  // of run
  bool json = false;
  bool no_color = false;
  bool verbose = false;
  std::string log_level;  // "", debug, info, warning, error
  int exit_code = 0;      // with Mode::nothing: help or version was shown, or the usage was wrong
};

// Prints help, version and usage errors itself. Never throws.
CommandLine parse_command_line(int argc, char** argv);

// The model that comes with the program (where it was installed or built), and whether a path is
// that one.
std::string bundled_model();
bool is_bundled_model(const std::string& path);

}  // namespace segue::cli
