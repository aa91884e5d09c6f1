#include "inspect.h"

#include <nlohmann/json.hpp>
#include <string>

#include "layout.h"
#include "loading.h"
#include "status_line.h"
#include "wording.h"
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

std::string describe_state(const Capabilities& facts) {
  if (facts.memory_kind == "single_use") return "none is kept";
  if (facts.state_bytes_per_token == 0) return "one size, however long the conversation";
  std::string words = format_bytes(facts.state_bytes_per_token) + " a token, " +
                      format_bytes(facts.state_bytes_per_token * facts.context_length) + " a slot";
  if (facts.memory_kind == "sliding_window") words += " at most";
  if (facts.memory_kind == "hybrid") words += ", beside a part of one size";
  return words;
}

std::string describe_slots(const Capabilities& facts) {
  std::string words = grouped(facts.slots) + " here";
  if (facts.slots_that_fit > 0) {
    words += "; " + grouped(facts.slots_that_fit) + " of this length would fit in memory";
  }
  return words;
}

std::string describe_template(const Capabilities& facts) {
  std::string words = facts.template_kind;
  if (words == "model") words = "the model's own";
  if (words == "option") words = "the one given with --template";
  return words + (facts.reasoning ? "; thinking can be switched on and off" : "");
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
          {"slots_that_fit", facts.slots_that_fit}};
}

}  // namespace

int inspect(const CommandLine& line, Terminal& terminal, Interrupts& interrupts) {
  const Model model = load_model(line, terminal, interrupts);
  const Capabilities facts = model.capabilities();
  if (line.json) {
    terminal.write(as_json(facts).dump(2) + "\n");
    return 0;
  }
  terminal.write(format_rows(
      {{"model", title_of(facts)},
       {"architecture", facts.architecture},
       {"parameters", grouped(facts.parameters) + ", " + format_bytes(facts.weight_bytes)},
       {"vocabulary", grouped(facts.vocabulary_size) + " tokens"},
       {"template", describe_template(facts)},
       {"context", grouped(facts.context_length) + " tokens a conversation here; trained on " +
                       grouped(facts.training_context)},
       {"memory", facts.memory_kind},
       {"reuse", what_reuse_means(facts)},
       {"state", describe_state(facts)},
       {"slots", describe_slots(facts)},
       {"threads", grouped(facts.threads)}},
      terminal.width()));
  return 0;
}

}  // namespace segue::cli
