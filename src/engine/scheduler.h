// The engine's loop: admits exchanges to slots, decodes for all of them together, hands out what
// they write, and settles states in idle time.
//
// - First come, first served. An exchange waits only while every slot is busy with another one.
// - One decode holds a token of every slot that writes, and a bounded piece of the prompts that are
//   still read, the oldest exchange first.
// - A fault ends the exchange that it belongs to and no other.
// Everything here runs on the engine thread, except where stated.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/state_backend.h"
#include "backend/vocabulary.h"
#include "engine/counters.h"
#include "engine/engine.h"
#include "engine/inbox.h"
#include "engine/job.h"
#include "engine/state_keeper.h"

namespace segue {

class Scheduler {
 public:
  // All references must outlive the scheduler.
  Scheduler(StateBackend& backend, const Vocabulary& vocabulary, EngineOptions options,
            Inbox& inbox, Counters& counters);

  // The engine thread's whole life: until the inbox is closed.
  void run();

  // --- commands ---
  void open_session(SessionId session, std::string cache_namespace);
  void close_session(SessionId session);
  void submit(GenerationRequest request, std::shared_ptr<Answer> answer);
  void settle(SessionId session, Prompt prefix);
  void clear_cached_state();
  SnapshotPtr export_state(SessionId session, const Prompt& prefix);
  bool import_state(SnapshotPtr snapshot);
  void when_idle(std::promise<void> idle);

 private:
  using JobPtr = std::unique_ptr<Job>;
  // One job's part of a batch: tokens [first, first + count).
  struct Share {
    Job* job = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;
  };

  // What an unexpected exception on the engine thread means to whoever waits for an answer.
  static std::exception_ptr as_segue_error(const std::exception_ptr& caught);

  bool has_work() const;
  void turn();

  // Admission (scheduler.cc).
  void drop_cancelled();
  void admit();
  bool start(JobPtr& job);
  void start_settling();
  void plan_checkpoints(Job& job, ItemCount kept) const;
  void stop_settling(const Job& job);
  bool preempt_settling(SessionId session);
  void finish(Job& job);
  void fail(Job& job, std::exception_ptr error);
  void leave_slot(Job& job, ItemCount worth);
  void forget(const Job& job);
  void fail_everything(const std::exception_ptr& error);
  void publish();

  // Decoding (scheduler_step.cc).
  void step();
  void collect(std::vector<Share>& shares);
  void add_share(Job& job, std::size_t most, std::vector<Share>& shares);
  std::size_t piece_length(const Job& job, std::size_t most) const;
  DecodeStatus decode_batch(const std::vector<Share>& shares);
  void accept(const Share& share);
  void recover(const std::vector<Share>& shares, DecodeStatus status);
  void reconcile(Job& job);
  void fail_decode(Job& job, DecodeStatus status);
  void decode_alone(Job& job);
  bool overflows(const Job& job) const;

  StateBackend& backend_;
  const Vocabulary& vocabulary_;
  const EngineOptions options_;
  Inbox& inbox_;
  Counters& counters_;
  StateKeeper keeper_;

  std::map<SessionId, std::string> namespaces_;
  std::deque<JobPtr> waiting_;
  std::vector<JobPtr> active_;  // in order of admission; settling ones among them
  std::map<SessionId, Prompt> to_settle_;
  std::vector<std::promise<void>> idle_waiters_;
  std::vector<BatchToken> batch_;
  // The answers of the batch being decoded, for the abort check, which other threads call.
  std::vector<const Answer*> batch_answers_;
};

}  // namespace segue
