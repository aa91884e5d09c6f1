#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "segue/error.h"
#include "settings.h"

namespace segue::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExamples =
    "Examples:\n"
    "  segue chat model.gguf --system \"Answer in one sentence.\"\n"
    "  segue run model.gguf -p \"Name three rivers.\" --temp 0\n"
    "  git diff | segue run model.gguf -p \"Summarise this change.\"\n"
    "  segue inspect model.gguf\n"
    "\n"
    "Exit codes: 0 done, 1 something failed, 2 wrong usage, 130 interrupted.\n"
    "Environment: SEGUE_MODEL (the model where none is named), NO_COLOR.";

void add_model(CLI::App& command, CommandLine& line, bool required) {
  auto* model = command.add_option("model", line.model, "a GGUF file");
  if (required) model->required();
}

void add_loading(CLI::App& command, CommandLine& line) {
  ModelOptions& options = line.model_options;
  command
      .add_option("--ctx", options.context_length,
                  "tokens that a conversation can hold; 0: the model's, at most 8192")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--slots", options.slots, "conversations in the context at the same time")
      ->check(CLI::PositiveNumber);
  command.add_option("--threads", options.threads, "threads; 0: chosen for the model")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--gpu-layers", options.gpu_layers, "layers on the GPU; negative: all");
  command
      .add_option_function<std::int64_t>(
          "--cache-mb", [&options](std::int64_t mb) { options.cache_bytes = mb << 20; },
          "memory for parked states, in MB")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30));
  command.add_option_function<std::string>(
      "--template",
      [&options](const std::string& path) { options.chat_template = read_text_file(path); },
      "a file with a Jinja chat template to use instead of the model's");
  command.add_option("--log", line.log_level, "show the library's messages from this level on")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}));
  command.add_flag("--no-color", line.no_color, "no colours");
}

// Every setting as a flag, "-" for "_".
void add_settings(CLI::App& command, CommandLine& line) {
  for (const Setting& setting : settings()) {
    const auto flag = [](std::string name) {
      std::ranges::replace(name, '_', '-');
      return "--" + name;
    };
    std::string names = flag(setting.name);
    if (!setting.alias.empty()) names += "," + flag(setting.alias);
    auto* option = command.add_option_function<std::vector<std::string>>(
        names,
        [&setting, &line](const std::vector<std::string>& values) {
          try {
            setting.set(line.session.exchange, values);
          } catch (const Error& e) {
            throw CLI::ValidationError("--" + setting.name, e.what());
          }
        },
        setting.help);
    option->type_name(setting.value)->group(setting.common ? "Answers" : "More about answers");
    if (!setting.many) option->expected(1);
  }
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Multi-turn chat with local models that never reads twice.", "segue");
  app.footer(kExamples);
  app.set_version_flag("--version", std::string("segue ") + SEGUE_VERSION);
  app.require_subcommand(1);

  auto* chat = app.add_subcommand("chat", "talk with a model (/help lists what you can do)");
  add_model(*chat, line, false);
  chat->add_option("--system", line.session.instructions, "the system text");
  chat->add_flag("--verbose", line.verbose, "in a pipe: what each turn cost, to standard error");
  add_loading(*chat, line);
  add_settings(*chat, line);
  chat->callback([&line] { line.mode = Mode::chat; });

  auto* run = app.add_subcommand("run", "one answer, or one for each -p in turn");
  add_model(*run, line, true);
  run->add_option("-p,--prompt", line.prompts,
                  "what to ask; text from a pipe follows the last one");
  run->add_option("--system", line.session.instructions, "the system text");
  run->add_flag("--json", line.json, "one JSON object an answer, errors too");
  add_loading(*run, line);
  add_settings(*run, line);
  run->callback([&line] { line.mode = Mode::run; });

  auto* inspect = app.add_subcommand("inspect", "what a model is, and what that means here");
  add_model(*inspect, line, true);
  inspect->add_flag("--json", line.json, "as JSON");
  add_loading(*inspect, line);
  inspect->callback([&line] { line.mode = Mode::inspect; });

  try {
    app.parse(argc, argv);
    if (line.model.empty()) line.model = bundled_model();
  } catch (const CLI::ParseError& e) {
    line.mode = Mode::nothing;
    line.exit_code = app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    std::cerr << "segue: " << e.what() << '\n';
    line.mode = Mode::nothing;
    line.exit_code = 2;
  }
  return line;
}

std::string bundled_model() {
  if (const char* named = std::getenv("SEGUE_MODEL"); named != nullptr && *named != '\0') {
    return named;
  }
  // Installed beside the program, or in the tree that it was built from.
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path installed =
      program.parent_path().parent_path() / "share" / "segue" / "segue-tiny.gguf";
  if (!error && fs::exists(installed, error)) return installed.string();
  return std::string(SEGUE_MODELS_DIR) + "/segue-tiny.gguf";
}

bool is_bundled_model(const std::string& path) {
  return fs::path(path).filename() == "segue-tiny.gguf";
}

}  // namespace segue::cli
