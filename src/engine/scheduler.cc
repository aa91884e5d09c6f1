#include "engine/scheduler.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "reuse/checkpoint_points.h"
#include "segue/error.h"

namespace segue {

namespace {

template <typename E>
std::exception_ptr error(const std::string& message) {
  return std::make_exception_ptr(E(message));
}

}  // namespace

std::exception_ptr Scheduler::as_segue_error(const std::exception_ptr& caught) {
  try {
    std::rethrow_exception(caught);
  } catch (const Error&) {
    return caught;
  } catch (const std::bad_alloc&) {
    return error<OutOfMemory>(
        "not enough memory to go on with the answer; use a shorter context, fewer slots or a "
        "smaller "
        "cache");
  } catch (const std::exception& e) {
    return error<DecodingFailed>(std::string("the answer failed: ") + e.what());
  } catch (...) {
    return error<DecodingFailed>("the answer failed for an unknown reason");
  }
}

Scheduler::Scheduler(StateBackend& backend, const Vocabulary& vocabulary, EngineOptions options,
                     Inbox& inbox, Counters& counters)
    : backend_(backend),
      vocabulary_(vocabulary),
      options_(std::move(options)),
      inbox_(inbox),
      counters_(counters),
      keeper_(backend, options_.cache_bytes, options_.log) {
  counters_.update([&](CachedState& figures) { figures.cache_bytes = options_.cache_bytes.value; });
  // A decode is given up only when nobody waits for any part of it: others must not lose theirs.
  backend_.set_abort_check([this] {
    return inbox_.is_closed() || (!batch_answers_.empty() &&
                                  std::ranges::all_of(batch_answers_, [](const Answer* answer) {
                                    return answer->is_cancelled();
                                  }));
  });
}

void Scheduler::run() {
  while (!inbox_.is_closed()) {
    for (Inbox::Command& command : inbox_.take(!has_work())) command(*this);
    try {
      turn();
    } catch (...) {
      fail_everything(as_segue_error(std::current_exception()));
    }
  }
  for (Inbox::Command& command : inbox_.take(false)) command(*this);
  fail_everything(error<ShutDown>("the model was closed while the answer was under way"));
  for (std::promise<void>& idle : idle_waiters_) idle.set_value();
  idle_waiters_.clear();
  backend_.set_abort_check({});
}

void Scheduler::turn() {
  drop_cancelled();
  admit();
  step();
  publish();
  if (waiting_.empty() && active_.empty() && to_settle_.empty()) {
    for (std::promise<void>& idle : std::exchange(idle_waiters_, {})) idle.set_value();
  }
}

bool Scheduler::has_work() const {
  if (!to_settle_.empty()) return true;
  // The last step may have left a slot that somebody waits for.
  const bool slot_free =
      std::ranges::any_of(keeper_.slots(), [](const Slot& slot) { return !slot.busy; });
  if (!waiting_.empty() && slot_free) return true;
  // An exchange that is paused is woken by its reader.
  return std::ranges::any_of(active_, [](const JobPtr& job) {
    return job->is_settling() || job->is_cancelled() || job->answer()->has_room();
  });
}

// --- commands ---

void Scheduler::open_session(SessionId session, std::string cache_namespace) {
  namespaces_[session] = std::move(cache_namespace);
}

void Scheduler::close_session(SessionId session) {
  const auto cancel = [&](const JobPtr& job) {
    if (job->session() == session && !job->is_settling()) job->answer()->cancel();
  };
  std::ranges::for_each(waiting_, cancel);
  std::ranges::for_each(active_, cancel);
  preempt_settling(session);
  drop_cancelled();
  to_settle_.erase(session);
  keeper_.disown(session);
  namespaces_.erase(session);
}

void Scheduler::submit(GenerationRequest request, std::shared_ptr<Answer> answer) {
  to_settle_.erase(request.session);
  waiting_.push_back(std::make_unique<Job>(std::move(request), std::move(answer)));
  admit();
  if (static_cast<std::int64_t>(waiting_.size()) <= options_.max_waiting) return;
  JobPtr refused = std::move(waiting_.back());
  waiting_.pop_back();
  counters_.update([](CachedState& figures) { ++figures.failures; });
  refused->fail(error<QueueFull>(std::to_string(waiting_.size()) +
                                 " exchanges wait for a slot already, the most that this model "
                                 "allows; try again later or raise max_waiting"));
}

void Scheduler::settle(SessionId session, Prompt prefix) {
  if (!namespaces_.contains(session) || prefix.items.empty()) return;
  to_settle_[session] = std::move(prefix);
}

void Scheduler::clear_cached_state() {
  to_settle_.clear();
  keeper_.clear();
  publish();
}

SnapshotPtr Scheduler::export_state(SessionId session, const Prompt& prefix) {
  const auto found = namespaces_.find(session);
  if (found == namespaces_.end()) return nullptr;
  return keeper_.best_snapshot(found->second, prefix.items);
}

bool Scheduler::import_state(SnapshotPtr snapshot) { return keeper_.keep(std::move(snapshot)); }

void Scheduler::when_idle(std::promise<void> idle) { idle_waiters_.push_back(std::move(idle)); }

// --- admission ---

void Scheduler::drop_cancelled() {
  const auto cancelled = [](const JobPtr& job) { return job->is_cancelled(); };
  const auto message = [] {
    return error<Cancelled>("the answer was cancelled; the conversation is as it was before");
  };
  for (;;) {
    const auto found = std::ranges::find_if(active_, cancelled);
    if (found == active_.end()) break;
    fail(**found, message());
  }
  // Each is asked once: one that is cancelled meanwhile must not go without an end.
  std::erase_if(waiting_, [&](const JobPtr& job) {
    if (!cancelled(job)) return false;
    counters_.update([](CachedState& figures) { ++figures.failures; });
    job->fail(message());
    return true;
  });
}

void Scheduler::admit() {
  while (!waiting_.empty()) {
    preempt_settling(waiting_.front()->session());
    if (!start(waiting_.front())) return;
    waiting_.pop_front();
  }
  if (!to_settle_.empty()) start_settling();
}

// False (and the job is left where it is) where no slot is free.
bool Scheduler::start(JobPtr& job) {
  const GenerationRequest& request = job->request();
  const auto owner = request.transient ? std::nullopt : std::optional(request.session);
  const auto space = namespaces_.find(request.session);
  if (space == namespaces_.end()) {
    job->fail(error<Cancelled>("the session was closed before its answer began"));
    return true;
  }
  Slot* slot = keeper_.take(owner, space->second);
  while (slot == nullptr) {
    const auto settling =
        std::ranges::find_if(active_, [](const JobPtr& other) { return other->is_settling(); });
    if (settling == active_.end()) return false;
    stop_settling(**settling);
    slot = keeper_.take(owner, space->second);
  }
  Job& started = *job;
  active_.push_back(std::move(job));
  try {
    auto sampler = request.read_only || request.max_tokens == 0
                       ? nullptr
                       : backend_.make_sampler(request.sampler);
    const bool already =
        request.read_only &&
        common_prefix(slot->record.items(), started.sequence().items) == started.prompt_length();
    const ItemCount kept =
        already ? started.prompt_length() : keeper_.prepare(*slot, started.sequence());
    started.start(*slot, kept, std::move(sampler));
    plan_checkpoints(started, kept);
    if (already) finish(started);
  } catch (...) {
    started.start(*slot, ItemCount(0), nullptr);
    fail(started, as_segue_error(std::current_exception()));
  }
  return true;
}

void Scheduler::start_settling() {
  for (auto& [session, prefix] : std::exchange(to_settle_, {})) {
    Slot* slot = keeper_.slot_of(session);
    if (slot == nullptr || slot->busy) continue;
    // Only a state that the next prompt cannot simply extend needs work now.
    const ItemCount length(static_cast<std::int64_t>(prefix.items.size()));
    const ItemCount shared = common_prefix(slot->record.items(), prefix.items);
    if (shared == std::min(slot->record.length(), length)) continue;
    Job& job = *active_.emplace_back(std::make_unique<Job>(session, std::move(prefix)));
    job.start(*slot, ItemCount(0), nullptr);
    keeper_.take(session, slot->cache_namespace);
    try {
      const ItemCount kept = keeper_.prepare(*slot, job.sequence(), TailCare::drop);
      job.start(*slot, kept, nullptr);
      plan_checkpoints(job, kept);
    } catch (...) {  // nobody waits for it; the next turn reads what it would have read
      slot->clear_on_release = true;
      stop_settling(job);
    }
  }
}

void Scheduler::plan_checkpoints(Job& job, ItemCount kept) const {
  const BackendShape& shape = backend_.shape();
  // A decode that ends early leaves nothing certain of a state that only moves forward.
  job.set_checkpoint_points(
      checkpoint_points(job.sequence(), {.memory = shape.memory,
                                         .from = kept,
                                         .answers = job.writes(),
                                         .at_most_apart = ItemCount(shape.batch_size)}));
}

bool Scheduler::preempt_settling(SessionId session) {
  const auto found = std::ranges::find_if(
      active_, [&](const JobPtr& job) { return job->is_settling() && job->session() == session; });
  if (found == active_.end()) return false;
  stop_settling(**found);
  return true;
}

void Scheduler::stop_settling(const Job& job) {
  Slot& slot = *job.slot();
  slot.worth = slot.record.length();
  keeper_.release(slot);
  forget(job);
}

void Scheduler::finish(Job& job) {
  const bool settling = job.is_settling();
  const bool session_state = settling || !job.request().transient;
  // What a transient answer wrote belongs to no transcript.
  leave_slot(job, session_state ? job.slot()->record.length() : job.prompt_length());
  counters_.update([&](CachedState& figures) {
    figures.tokens_reused += settling ? 0 : job.reused();
    figures.tokens_read += job.read();
    figures.tokens_settled += settling ? job.read() : 0;
    figures.tokens_written += job.written();
    figures.exchanges += settling ? 0 : 1;
  });
  publish();
  job.finish();
  forget(job);
}

void Scheduler::fail(Job& job, std::exception_ptr reason) {
  leave_slot(job, job.prompt_length());
  counters_.update([&](CachedState& figures) {
    figures.tokens_reused += job.reused();
    figures.tokens_read += job.read();
    figures.tokens_written += job.written();
    figures.failures += job.is_settling() ? 0 : 1;
  });
  publish();
  job.fail(std::move(reason));
  forget(job);
}

void Scheduler::leave_slot(Job& job, ItemCount worth) {
  Slot& slot = *job.slot();
  slot.worth = std::min(slot.record.length(), worth);
  keeper_.release(slot);
}

void Scheduler::forget(const Job& job) {
  std::erase_if(active_, [&](const JobPtr& other) { return other.get() == &job; });
}

void Scheduler::fail_everything(const std::exception_ptr& reason) {
  while (!active_.empty()) {
    Job& job = *active_.front();
    // Where the fault struck is not known, so nothing of the slot is certain.
    job.slot()->clear_on_release = true;
    fail(job, reason);
  }
  for (const JobPtr& job : waiting_) job->fail(reason);
  waiting_.clear();
  to_settle_.clear();
}

void Scheduler::publish() {
  counters_.update([&](CachedState& figures) {
    figures.slots_busy = 0;
    figures.slots_holding_state = 0;
    for (const Slot& slot : keeper_.slots()) {
      figures.slots_busy += slot.busy ? 1 : 0;
      figures.slots_holding_state += slot.record.empty() ? 0 : 1;
    }
    figures.waiting = static_cast<std::int32_t>(waiting_.size());
    figures.parked_states = keeper_.store().count();
    figures.parked_bytes = keeper_.store().bytes().value;
    figures.checkpoint_bytes = keeper_.checkpoint_bytes().value;
    figures.evictions = keeper_.store().evictions();
  });
}

}  // namespace segue
