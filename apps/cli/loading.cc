#include "loading.h"

#include <map>
#include <string>

#include "progress_bar.h"

namespace segue::cli {
namespace {

LogCallback log_to_errors(const std::string& least, Terminal& terminal) {
  static const std::map<std::string, LogLevel> levels = {{"debug", LogLevel::debug},
                                                         {"info", LogLevel::info},
                                                         {"warning", LogLevel::warning},
                                                         {"error", LogLevel::error}};
  const auto found = levels.find(least);
  if (found == levels.end()) return {};
  return [&terminal, level = found->second](LogLevel of, const std::string& message) {
    if (of >= level) terminal.write_error(message, Style::dim);
  };
}

}  // namespace

Model load_model(const CommandLine& line, Terminal& terminal, Interrupts& interrupts) {
  const QuietInput quiet;
  const Interrupts::Listening listening(interrupts);
  ProgressBar bar(terminal);
  ModelOptions options = line.model_options;
  options.log = log_to_errors(line.log_level, terminal);
  options.on_progress = [&](float fraction) {
    bar.update("loading the model", fraction);
    return !listening.interrupted();
  };
  return Model::load(line.model, options);
}

}  // namespace segue::cli
