#include "run.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "answering.h"
#include "loading.h"
#include "segue/error.h"
#include "wording.h"
#include "words.h"

namespace segue::cli {
namespace {

constexpr int kInterrupted = 130;

// What to ask: each -p, the last one followed by what comes through a pipe.
std::vector<std::string> prompts_of(const CommandLine& line, const Terminal& terminal) {
  std::vector<std::string> prompts = line.prompts;
  if (terminal.input_is_terminal()) return prompts;
  std::string piped((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  while (!piped.empty() && (piped.back() == '\n' || piped.back() == '\r')) piped.pop_back();
  if (piped.empty()) return prompts;
  if (prompts.empty()) {
    prompts.push_back(std::move(piped));
  } else {
    prompts.back() += "\n\n" + piped;
  }
  return prompts;
}

bool is_blank(const std::string& prompt) { return trim(prompt).empty(); }

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

nlohmann::ordered_json as_json(const Response& response) {
  return {{"text", response.text},
          {"reasoning", response.reasoning},
          {"finish_reason", to_string(response.finish_reason)},
          {"usage",
           {{"reused", response.usage.reused},
            {"read", response.usage.read},
            {"written", response.usage.written}}},
          {"timing",
           {{"to_first_seconds", seconds(response.timing.to_first)},
            {"total_seconds", seconds(response.timing.total)},
            {"tokens_per_second", response.timing.tokens_per_second}}}};
}

int run_as_json(const CommandLine& line, const std::vector<std::string>& prompts,
                Terminal& terminal, Interrupts& interrupts) {
  try {
    const Model model = load_model(line, terminal, interrupts);
    Session session(model, line.session);
    const Interrupts::Listening listening(interrupts);
    ExchangeOptions options = line.session.exchange;
    options.cancel = listening.token();
    for (const std::string& prompt : prompts) {
      terminal.write(as_json(session.respond(prompt, options)).dump() + "\n");
    }
    return 0;
  } catch (const Error& e) {
    const nlohmann::ordered_json error = {
        {"error", {{"code", to_string(e.code())}, {"message", describe(e, Mode::run)}}}};
    terminal.write(error.dump() + "\n");
    return e.code() == ErrorCode::cancelled ? kInterrupted : 1;
  }
}

}  // namespace

int run(const CommandLine& line, Terminal& terminal, Interrupts& interrupts) {
  const std::vector<std::string> prompts = prompts_of(line, terminal);
  if (prompts.empty() || std::ranges::any_of(prompts, is_blank)) {
    terminal.write_error(prompts.empty()
                             ? "segue run: nothing to ask; give -p TEXT, or text in a pipe"
                             : "segue run: a prompt is empty; give -p TEXT",
                         Style::error);
    return 2;
  }
  if (line.json) return run_as_json(line, prompts, terminal, interrupts);

  const Model model = load_model(line, terminal, interrupts);
  Session session(model, line.session);
  for (const std::string& prompt : prompts) {
    const auto begin = [&](const ExchangeOptions& options) {
      return session.stream(prompt, options);
    };
    if (show_answer(begin, line.session.exchange, terminal, interrupts).interrupted) {
      return kInterrupted;
    }
  }
  return 0;
}

}  // namespace segue::cli
