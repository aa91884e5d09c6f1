#include "engine/engine.h"

#include <atomic>
#include <future>
#include <thread>
#include <utility>

#include "engine/counters.h"
#include "engine/inbox.h"
#include "engine/scheduler.h"
#include "segue/error.h"

namespace segue {

class Engine::Loop {
 public:
  Loop(std::unique_ptr<StateBackend> backend, const Vocabulary& vocabulary, EngineOptions options)
      : backend_(std::move(backend)),
        scheduler_(*backend_, vocabulary, std::move(options), *inbox_, counters_),
        thread_([this] { scheduler_.run(); }) {}

  ~Loop() {
    inbox_->close();
    thread_.join();
  }

  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  const BackendShape& shape() const { return backend_->shape(); }
  const std::shared_ptr<Inbox>& inbox() const { return inbox_; }
  const Counters& counters() const { return counters_; }
  SessionId next_session() { return SessionId(++last_session_); }

  // Runs `ask` on the engine thread and gives its result; nothing after the engine has ended.
  template <typename Result>
  std::optional<Result> ask(std::function<Result(Scheduler&)> ask) {
    auto promise = std::make_shared<std::promise<Result>>();
    std::future<Result> result = promise->get_future();
    const bool taken = inbox_->push([promise, ask = std::move(ask)](Scheduler& scheduler) {
      try {
        promise->set_value(ask(scheduler));
      } catch (...) {
        promise->set_exception(std::current_exception());
      }
    });
    if (!taken) return std::nullopt;
    return result.get();
  }

 private:
  std::unique_ptr<StateBackend> backend_;
  // Shared with the answers, which ring it for as long as they live.
  std::shared_ptr<Inbox> inbox_ = std::make_shared<Inbox>();
  Counters counters_;
  std::atomic<std::uint64_t> last_session_{0};
  Scheduler scheduler_;  // engine thread only, once it runs
  std::thread thread_;
};

Engine::Engine(std::unique_ptr<StateBackend> backend, const Vocabulary& vocabulary,
               EngineOptions options)
    : loop_(std::make_unique<Loop>(std::move(backend), vocabulary, std::move(options))) {}

Engine::~Engine() = default;

const BackendShape& Engine::shape() const { return loop_->shape(); }

SessionId Engine::open_session(std::string cache_namespace) {
  const SessionId session = loop_->next_session();
  loop_->inbox()->push([session, space = std::move(cache_namespace)](Scheduler& scheduler) {
    scheduler.open_session(session, space);
  });
  return session;
}

void Engine::close_session(SessionId session) {
  loop_->inbox()->push([session](Scheduler& scheduler) { scheduler.close_session(session); });
}

std::shared_ptr<Answer> Engine::submit(GenerationRequest request) {
  if (request.prompt.items.empty()) {
    throw InvalidArgument("the prompt has no tokens: give a message or instructions");
  }
  Position length{0};
  for (const PromptItem& item : request.prompt.items) length += Position(item.n_positions);
  const Position room = shape().context_length;
  if (length > room) {
    throw ContextOverflow(
        "the prompt of " + std::to_string(length.value) + " tokens does not fit the context of " +
            std::to_string(room.value) +
            "; use a larger context_length, a shorter conversation, or let the oldest turns be "
            "dropped (WhenFull::drop_oldest)",
        length.value, 0, room.value);
  }
  auto answer = std::make_shared<Answer>([inbox = loop_->inbox()] { inbox->ring(); });
  auto shared_request = std::make_shared<GenerationRequest>(std::move(request));
  const bool taken = loop_->inbox()->push([answer, shared_request](Scheduler& scheduler) {
    scheduler.submit(std::move(*shared_request), answer);
  });
  if (!taken) throw ShutDown("the model has been closed");
  return answer;
}

void Engine::settle(SessionId session, Prompt prefix) {
  auto shared_prefix = std::make_shared<Prompt>(std::move(prefix));
  loop_->inbox()->push([session, shared_prefix](Scheduler& scheduler) {
    scheduler.settle(session, std::move(*shared_prefix));
  });
}

void Engine::wait_until_idle() {
  auto promise = std::make_shared<std::promise<void>>();
  std::future<void> idle = promise->get_future();
  const bool taken = loop_->inbox()->push(
      [promise](Scheduler& scheduler) { scheduler.when_idle(std::move(*promise)); });
  if (taken) idle.wait();
}

SnapshotPtr Engine::export_state(SessionId session, Prompt prefix) {
  return loop_
      ->ask<SnapshotPtr>([session, prefix = std::move(prefix)](Scheduler& scheduler) {
        return scheduler.export_state(session, prefix);
      })
      .value_or(nullptr);
}

bool Engine::import_state(SnapshotPtr snapshot) {
  return loop_
      ->ask<bool>([snapshot = std::move(snapshot)](Scheduler& scheduler) {
        return scheduler.import_state(snapshot);
      })
      .value_or(false);
}

void Engine::clear_cached_state() {
  loop_->ask<bool>([](Scheduler& scheduler) {
    scheduler.clear_cached_state();
    return true;
  });
}

CachedState Engine::counters() const { return loop_->counters().read(); }

}  // namespace segue
