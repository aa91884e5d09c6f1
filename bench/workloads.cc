#include "bench/workloads.h"

#include <array>
#include <stdexcept>
#include <string>

namespace segue::bench {
namespace {

// One for each letter but two, so that no two begin alike.
constexpr std::array kSubjects = {
    "Apples",   "Boats",   "Clouds",   "Doors",    "Engines",   "Forests", "Gardens",   "Harbours",
    "Islands",  "Jackets", "Kitchens", "Lanterns", "Markets",   "Nets",    "Orchards",  "Pianos",
    "Quarries", "Rivers",  "Stones",   "Trains",   "Umbrellas", "Valleys", "Windmills", "Yachts"};

constexpr std::array kQuestions = {
    "are what I think about today, and I would like to know where they come from and who needs "
    "them.",
    "came up again this morning, so tell me what changes when there are more of them than before.",
    "seem simple to most people, but what would you say to someone who has never heard about them?",
    "matter to me more than to others, so please compare them with what was common years ago.",
};

std::string message(std::size_t subject, std::size_t question) {
  return std::string(kSubjects.at(subject)) + " " + kQuestions.at(question % kQuestions.size());
}

Act ask(std::size_t session, std::size_t subject, std::size_t question) {
  return {.kind = ActKind::ask, .session = session, .text = message(subject, question)};
}

Step one(Act act) { return {.acts = {std::move(act)}}; }

std::string long_instructions(const WorkloadSizes& sizes) {
  std::string text = "You answer questions for the visitors of a small museum.";
  for (int rule = 1; sizes.count_tokens(text) < sizes.system_tokens; ++rule) {
    text += " Rule " + std::to_string(rule) +
            ": be kind, say what you know, and when you do not know, say who does.";
  }
  return text;
}

Script one_chat(const WorkloadSizes& sizes) {
  Script script{.name = "chat",
                .description = "one chat of 20 turns",
                .sessions = {{}},
                .steps = {},
                .tokens_written = sizes.tokens_written};
  for (std::size_t turn = 0; turn < 20; ++turn) script.steps.push_back(one(ask(0, turn, turn)));
  return script;
}

Script sessions_in_turn(const WorkloadSizes& sizes) {
  Script script{.name = "sessions",
                .description = "12 sessions in turn on 4 slots, 3 turns each",
                .sessions = std::vector<ScriptSession>(12),
                .steps = {},
                .tokens_written = sizes.tokens_written};
  for (std::size_t turn = 0; turn < 3; ++turn) {
    for (std::size_t session = 0; session < script.sessions.size(); ++session) {
      script.steps.push_back(one(ask(session, session, turn)));
    }
  }
  return script;
}

Script shared_system_prompt(const WorkloadSizes& sizes) {
  Script script{.name = "system",
                .description = "24 sessions with one system prompt of " +
                               std::to_string(sizes.system_tokens) + " tokens",
                .sessions = std::vector<ScriptSession>(
                    24, {.instructions = long_instructions(sizes), .cache_namespace = {}}),
                .steps = {},
                .tokens_written = sizes.tokens_written};
  for (std::size_t session = 0; session < script.sessions.size(); ++session) {
    script.steps.push_back(one(ask(session, session, session)));
  }
  return script;
}

Script edit_and_return(const WorkloadSizes& sizes) {
  Script script{.name = "edit",
                .description = "edit an early turn, regenerate, go back to the first branch",
                .sessions = std::vector<ScriptSession>(2),
                .steps = {},
                .tokens_written = sizes.tokens_written};
  for (std::size_t turn = 0; turn < 6; ++turn) script.steps.push_back(one(ask(0, turn, turn)));
  script.steps.push_back(one({.kind = ActKind::fork, .session = 1, .from = 0}));
  script.steps.push_back(
      one({.kind = ActKind::edit, .session = 0, .text = message(10, 0), .turn = 2}));
  script.steps.push_back(one({.kind = ActKind::regenerate, .session = 0}));
  script.steps.push_back(one(ask(0, 11, 1)));
  script.steps.push_back(one(ask(1, 6, 2)));  // the first branch goes on
  script.steps.push_back(one({.kind = ActKind::regenerate, .session = 1}));
  script.steps.push_back(one(ask(0, 12, 3)));  // and the edited one again
  return script;
}

Script eight_at_once(const WorkloadSizes& sizes) {
  Script script{.name = "at-once",
                .description = "8 sessions at once on 4 slots, 2 turns each",
                .sessions = {},
                .steps = {{.acts = {}, .together = true}},
                .tokens_written = sizes.tokens_written};
  // A namespace each: whether two that start at the same moment could share the template's first
  // tokens would be a matter of luck.
  for (std::size_t session = 0; session < 8; ++session) {
    script.sessions.push_back({.instructions = {}, .cache_namespace = std::to_string(session)});
  }
  for (std::size_t turn = 0; turn < 2; ++turn) {
    for (std::size_t session = 0; session < script.sessions.size(); ++session) {
      script.steps.front().acts.push_back(ask(session, session, turn));
    }
  }
  return script;
}

}  // namespace

std::vector<Script> make_workloads(const WorkloadSizes& sizes) {
  return {one_chat(sizes), sessions_in_turn(sizes), shared_system_prompt(sizes),
          edit_and_return(sizes), eight_at_once(sizes)};
}

}  // namespace segue::bench
