// What other threads ask of the engine thread: a queue of commands and a bell.
//
// Thread-safe. Bounded by its callers: each session has at most a few commands under way.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace segue {

class Scheduler;

class Inbox {
 public:
  // Runs on the engine thread, in the order of arrival.
  using Command = std::function<void(Scheduler&)>;

  // False after close(): the command will never run.
  bool push(Command command) {
    {
      const std::scoped_lock lock(mutex_);
      if (closed_) return false;
      commands_.push_back(std::move(command));
    }
    rung_.notify_one();
    return true;
  }

  // Makes the next wait return.
  void ring() {
    {
      const std::scoped_lock lock(mutex_);
      bell_ = true;
    }
    rung_.notify_one();
  }

  void close() {
    {
      const std::scoped_lock lock(mutex_);
      closed_ = true;
    }
    rung_.notify_one();
  }

  // Everything that has arrived; where nothing has and `wait`, waits for a command, the bell or the
  // close.
  std::vector<Command> take(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) rung_.wait(lock, [&] { return !commands_.empty() || bell_ || closed_; });
    bell_ = false;
    return std::exchange(commands_, {});
  }

  bool is_closed() const {
    const std::scoped_lock lock(mutex_);
    return closed_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable rung_;
  // Guarded by mutex_:
  std::vector<Command> commands_;
  bool bell_ = false;
  bool closed_ = false;
};

}  // namespace segue
