#include "bench/segue_player.h"

#include <chrono>
#include <exception>
#include <map>
#include <stdexcept>
#include <thread>

namespace segue::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The entry after which the given turn's prompt stands.
EntryId entry_before(const Transcript& transcript, std::size_t turn) {
  std::size_t prompts = 0;
  for (std::size_t i = 1; i < transcript.size(); ++i) {
    if (transcript[i - 1].kind == EntryKind::prompt) ++prompts;
    if (prompts == turn && transcript[i].kind == EntryKind::prompt) return transcript[i - 1].id;
  }
  throw std::logic_error("the script edits a turn that has nothing before it");
}

}  // namespace

SeguePlayer::SeguePlayer(const std::filesystem::path& path, const ModelOptions& options)
    : model_(Model::load(path, options)) {}

void SeguePlayer::start(const Script& script, std::string answer) {
  script_ = &script;
  answer_ = std::move(answer);
  sessions_.clear();
  model_.clear_cached_state();
  for (const ScriptSession& spec : script.sessions) {
    SessionOptions options;
    options.instructions = spec.instructions;
    options.cache_namespace = spec.cache_namespace;
    options.exchange.max_tokens = static_cast<std::int32_t>(script.tokens_written);
    options.exchange.sampling.temperature = 0;
    sessions_.emplace_back(std::in_place, model_, options);
  }
}

PlayedStep SeguePlayer::play(std::size_t index) {
  const Step& step = script_->steps.at(index);
  std::vector<std::optional<Response>> responses(step.acts.size());
  const Clock::time_point begin = Clock::now();
  if (step.together) {
    std::map<std::size_t, std::vector<std::size_t>> acts_of;  // by session
    for (std::size_t i = 0; i < step.acts.size(); ++i) acts_of[step.acts[i].session].push_back(i);
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> errors(acts_of.size());
    for (const auto& [session, acts] : acts_of) {
      threads.emplace_back([&, &error = errors[threads.size()], &acts = acts] {
        try {
          for (const std::size_t i : acts) act(step.acts[i], responses[i]);
        } catch (...) {
          error = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  } else {
    for (std::size_t i = 0; i < step.acts.size(); ++i) act(step.acts[i], responses[i]);
  }

  PlayedStep out{.exchanges = {}, .total = Clock::now() - begin};
  for (const std::optional<Response>& response : responses) {
    if (!response) continue;
    if (response->text != answer_) {
      throw std::runtime_error("segue's answer is not the expected one: " + response->text);
    }
    out.exchanges.push_back({.read = response->usage.read, .to_first = response->timing.to_first});
  }
  return out;
}

void SeguePlayer::act(const Act& act, std::optional<Response>& out) {
  switch (act.kind) {
    case ActKind::ask:
      out = session(act.session).respond(act.text);
      break;
    case ActKind::edit:
      session(act.session).rewind_to(entry_before(session(act.session).transcript(), act.turn));
      out = session(act.session).respond(act.text);
      break;
    case ActKind::regenerate:
      out = session(act.session).regenerate();
      break;
    case ActKind::fork:
      sessions_.at(act.session).emplace(session(act.from).fork());
      break;
  }
}

}  // namespace segue::bench
