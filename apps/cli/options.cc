#include "options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <system_error>

#include "segue/error.h"
#include "settings.h"
#include "suggestion.h"
#include "words.h"

namespace segue::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kWrongUsage = 2;

constexpr const char* kExamples =
    "Examples:\n"
    "  segue chat model.gguf --system \"Answer in one sentence.\"\n"
    "  segue run model.gguf -p \"Name three rivers.\" --temp 0\n"
    "  git diff | segue run model.gguf -p \"Summarise this change.\"\n"
    "  segue inspect model.gguf\n"
    "\n"
    "Exit codes: 0 done, 1 something failed, 2 wrong usage, 130 interrupted.\n"
    "Environment: SEGUE_MODEL (the model where none is named), NO_COLOR.\n"
    "Without either, chat uses the tiny model that comes with the program.";

// A check for CLI11: "" where the text is a whole number in the range.
CLI::Validator whole_number(std::int64_t min, std::int64_t max) {
  const auto check = [min, max](std::string& text) -> std::string {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && read == end && number >= min && number <= max) return {};
    return "\"" + text + "\" is not a whole number from " + std::to_string(min) + " to " +
           std::to_string(max);
  };
  return {check, ""};
}

// What `make` gives; where it throws, the error names the flag.
template <class Make>
auto value_for(const std::string& flag, const Make& make) {
  try {
    return make();
  } catch (const Error& e) {
    throw CLI::ValidationError(flag, e.what());
  }
}

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

void add_model(CLI::App& command, CommandLine& line) {
  command.add_option("MODEL", line.model, "a GGUF file")->type_name("");
}

void add_loading(CLI::App& command, CommandLine& line) {
  ModelOptions& options = line.model_options;
  command
      .add_option("--ctx", options.context_length,
                  "tokens that a conversation can hold; 0: the model's, at most 8192")
      ->type_name("N")
      ->check(whole_number(0, kMost));
  command.add_option("--slots", options.slots, "conversations in the context at the same time")
      ->type_name("N")
      ->check(whole_number(1, kMost));
  command.add_option("--threads", options.threads, "threads; 0: chosen for the model")
      ->type_name("N")
      ->check(whole_number(0, kMost));
  command.add_option("--gpu-layers", options.gpu_layers, "layers on the GPU; negative: all")
      ->type_name("N")
      ->check(whole_number(-1, kMost));
  command
      .add_option_function<std::int64_t>(
          "--cache-mb", [&options](std::int64_t mb) { options.cache_bytes = mb << 20; },
          "memory for parked states, in MB")
      ->type_name("N")
      ->check(whole_number(0, kMost));
  command
      .add_option_function<std::string>(
          "--template",
          [&options](const std::string& path) {
            options.chat_template = value_for("--template", [&] { return read_text_file(path); });
          },
          "a file with a Jinja chat template to use instead of the model's")
      ->type_name("FILE");
  command
      .add_option("--log", line.log_level,
                  "show the library's messages from this level on: debug, info, warning, error")
      ->type_name("LEVEL")
      ->check([](const std::string& level) {
        const bool known =
            level == "debug" || level == "info" || level == "warning" || level == "error";
        return known ? std::string() : "\"" + level + "\" is none of debug, info, warning, error";
      });
  command.add_flag("--no-color", line.no_color, "no colours");
}

std::string flag_of(std::string setting) {
  std::ranges::replace(setting, '_', '-');
  return "--" + setting;
}

// Every setting as a flag, "-" for "_". One that takes many values is given several times: a list
// after one flag would swallow what follows it.
void add_settings(CLI::App& command, CommandLine& line) {
  for (const Setting& setting : settings()) {
    std::string names = flag_of(setting.name);
    if (!setting.alias.empty()) names += "," + flag_of(setting.alias);
    const auto take = [&setting, &line,
                       all = std::vector<std::string>()](const std::string& value) mutable {
      if (!setting.many) all.clear();
      all.push_back(value);
      value_for(flag_of(setting.name), [&] { setting.set(line.session.exchange, all); });
    };
    command
        .add_option_function<std::string>(
            names, take, setting.help + (setting.many ? " (may be given several times)" : ""))
        ->trigger_on_parse()
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->type_name(setting.value)
        ->group(setting.common ? "Answers" : "More about answers");
  }
}

void add_prompts(CLI::App& command, CommandLine& line) {
  // As a list, CLI11 would take "[a,b]" for two prompts.
  command
      .add_option_function<std::string>(
          "-p,--prompt", [&line](const std::string& text) { line.prompts.push_back(text); },
          "what to ask; may be given several times; text from a pipe follows the last one")
      ->trigger_on_parse()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name("TEXT");
}

void add_system(CLI::App& command, CommandLine& line) {
  command.add_option("--system", line.session.instructions, "the system text")->type_name("TEXT");
}

void add_commands(CLI::App& app, CommandLine& line) {
  auto* chat = app.add_subcommand("chat", "talk with a model (/help lists what you can do)");
  add_model(*chat, line);
  add_system(*chat, line);
  chat->add_flag("--verbose", line.verbose, "in a pipe: what each turn cost, to standard error");
  add_loading(*chat, line);
  add_settings(*chat, line);
  chat->callback([&line] { line.mode = Mode::chat; });

  auto* run = app.add_subcommand("run", "one answer, or one for each -p in turn");
  add_model(*run, line);
  add_prompts(*run, line);
  add_system(*run, line);
  run->add_flag("--json", line.json, "one JSON object an answer, errors too");
  add_loading(*run, line);
  add_settings(*run, line);
  run->callback([&line] { line.mode = Mode::run; });

  auto* inspect = app.add_subcommand("inspect", "what a model is, and what that means here");
  add_model(*inspect, line);
  inspect->add_flag("--json", line.json, "as JSON");
  add_loading(*inspect, line);
  inspect->callback([&line] { line.mode = Mode::inspect; });
}

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

bool is_flag(const std::string& argument) { return argument.size() > 1 && argument[0] == '-'; }

// What is wrong with an argument that nobody expected.
std::string describe_unexpected(const CLI::App& command, const std::string& argument) {
  if (!is_flag(argument)) {
    return "\"" + argument + "\" is one argument too many; text of several words needs quotes";
  }
  const std::string flag = argument.substr(0, argument.find('='));
  const auto near = suggest(flag, flags_of(command));
  return "there is no " + flag + (near ? "; did you mean " + *near + "?" : std::string());
}

std::string describe_first_word(const std::string& word) {
  std::error_code error;
  if (is_flag(word)) return "say what to do first: chat, run or inspect";
  if (fs::is_regular_file(word, error)) {
    return "\"" + word + "\" is a file; segue chat " + quote_word(word) + " talks with a model";
  }
  const auto near = suggest(word, {"chat", "run", "inspect"});
  return "\"" + word + "\" is no command; " +
         (near ? "did you mean " + *near + "?" : std::string("there are chat, run and inspect"));
}

// To standard error, with where to read more.
int report_usage(const CLI::App& app, const std::string& problem) {
  const auto chosen = app.get_subcommands();
  const std::string name = chosen.empty() ? "segue" : "segue " + chosen[0]->get_name();
  std::cerr << name << ": " << problem << "\n" << name << " --help lists what there is.\n";
  return kWrongUsage;
}

// Prints what a parse that did not succeed asks for; the exit code.
int explain(const CLI::App& app, const CLI::ParseError& error, const std::string& first_word) {
  // Help and version are "errors" without a code.
  if (error.get_exit_code() == 0) return app.exit(error);
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    if (!first_word.empty()) return report_usage(app, describe_first_word(first_word));
    std::cerr << app.help();
    return kWrongUsage;
  }
  const std::vector<std::string> unexpected = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !unexpected.empty()) {
    const auto flag = std::ranges::find_if(unexpected, is_flag);
    return report_usage(
        app, describe_unexpected(*chosen[0], flag != unexpected.end() ? *flag : unexpected[0]));
  }
  return report_usage(app, error.what());
}

void choose_model(CommandLine& line) {
  if (!line.model.empty()) return;
  const char* const named = std::getenv("SEGUE_MODEL");
  if (named != nullptr && *named != '\0') {
    line.model = named;
  } else if (line.mode == Mode::chat) {
    line.model = bundled_model();
  } else {
    throw InvalidArgument("name a model (a GGUF file), or set SEGUE_MODEL");
  }
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CommandLine line;
  CLI::App app("Multi-turn chat with local models that never reads twice.", "segue");
  app.footer(kExamples);
  app.set_version_flag("--version", std::string("segue ") + SEGUE_VERSION);
  app.require_subcommand(1);
  add_commands(app, line);
  try {
    app.parse(argc, argv);
    choose_model(line);
  } catch (const CLI::ParseError& e) {
    line.mode = Mode::nothing;
    line.exit_code = explain(app, e, argc > 1 ? argv[1] : "");
  } catch (const std::exception& e) {
    line.mode = Mode::nothing;
    line.exit_code = report_usage(app, e.what());
  }
  return line;
}

std::string bundled_model() {
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
