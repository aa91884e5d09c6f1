#include "engine/answer.h"

#include <utility>

namespace segue {

AnswerEvent Answer::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !events_.empty() || error_; });
  if (events_.empty()) std::rethrow_exception(error_);
  const bool was_full = events_.size() >= kMaxUnread;
  AnswerEvent event = std::move(events_.front());
  events_.pop_front();
  lock.unlock();
  if (was_full) wake_();
  return event;
}

void Answer::cancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  wake_();
}

void Answer::wait_until_ended() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended_; });
}

bool Answer::has_room() const {
  const std::scoped_lock lock(mutex_);
  return events_.size() < kMaxUnread;
}

void Answer::push(AnswerEvent event) {
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    if (std::holds_alternative<AnswerResult>(event)) ended_ = true;
    const bool replaces = std::holds_alternative<ReadProgress>(event) && !events_.empty() &&
                          std::holds_alternative<ReadProgress>(events_.back());
    if (replaces) {
      events_.back() = std::move(event);
    } else {
      events_.push_back(std::move(event));
    }
  }
  changed_.notify_all();
}

void Answer::fail(std::exception_ptr error) {
  {
    const std::scoped_lock lock(mutex_);
    if (ended_) return;
    ended_ = true;
    error_ = std::move(error);
    // What was written before a failure is no answer: the reader learns of the failure at once.
    events_.clear();
  }
  changed_.notify_all();
}

}  // namespace segue
