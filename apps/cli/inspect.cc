#include "inspect.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "loading.h"
#include "status_line.h"
#include "words.h"

namespace segue::cli {
namespace {

std::string what_reuse_means(const Capabilities& facts) {
  if (facts.memory_kind == "attention") {
    return "any beginning can be kept: edits read only from where they change something";
  }
  if (facts.memory_kind == "sliding_window") {
    return "the window of " + grouped(facts.window) +
           " tokens is kept; going back further restarts from a checkpoint at a turn's start";
  }
  if (facts.memory_kind == "single_use") {
    return "an encoder-decoder model: every prompt is read as a whole, nothing can be kept";
  }
  return "the state only moves forward; going back restarts from a checkpoint at a turn's start";
}

std::int64_t free_memory() {
  return static_cast<std::int64_t>(::sysconf(_SC_AVPHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
}

// Slots of the present length that the machine's free memory could hold as well.
std::int64_t slots_that_fit(const Capabilities& facts) {
  const std::int64_t slot = facts.state_bytes_per_token * facts.context_length;
  return slot > 0 ? facts.slots + free_memory() / slot : 0;
}

nlohmann::ordered_json as_json(const Capabilities& facts) {
  return {{"description", facts.description},
          {"architecture", facts.architecture},
          {"memory_kind", facts.memory_kind},
          {"window", facts.window},
          {"template_kind", facts.template_kind},
          {"reasoning", facts.reasoning},
          {"parameters", facts.parameters},
          {"weight_bytes", facts.weight_bytes},
          {"vocabulary_size", facts.vocabulary_size},
          {"training_context", facts.training_context},
          {"context_length", facts.context_length},
          {"slots", facts.slots},
          {"threads", facts.threads},
          {"state_bytes_per_token", facts.state_bytes_per_token},
          {"slots_that_fit", slots_that_fit(facts)}};
}

}  // namespace

int inspect(const CommandLine& line, Terminal& terminal, Interrupts& interrupts) {
  const Model model = load_model(line, terminal, interrupts);
  const Capabilities facts = model.capabilities();
  if (line.json) {
    terminal.write(as_json(facts).dump(2) + "\n");
    return 0;
  }
  std::vector<std::pair<std::string, std::string>> rows = {
      {"model", facts.description + " (" + facts.architecture + ")"},
      {"parameters", grouped(facts.parameters) + ", " + format_bytes(facts.weight_bytes)},
      {"vocabulary", grouped(facts.vocabulary_size) + " tokens"},
      {"memory", facts.memory_kind},
      {"reuse", what_reuse_means(facts)},
      {"template", facts.template_kind + (facts.reasoning ? ", can think" : "")},
      {"context", grouped(facts.context_length) + " tokens here, trained on " +
                      grouped(facts.training_context)},
      {"threads", grouped(facts.threads)},
      {"slots", grouped(facts.slots) + " here"}};
  if (facts.state_bytes_per_token > 0) {
    rows.emplace_back(
        "state", format_bytes(facts.state_bytes_per_token) + " a token, " +
                     format_bytes(facts.state_bytes_per_token * facts.context_length) + " a slot");
    rows.back().second += "; " + grouped(slots_that_fit(facts)) + " slots fit in free memory";
  }
  for (const auto& [name, value] : rows) {
    std::string label = name;
    label.resize(12, ' ');
    terminal.write(label, Style::dim);
    terminal.write(value + "\n");
  }
  return 0;
}

}  // namespace segue::cli
