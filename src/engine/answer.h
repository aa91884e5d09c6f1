// One answer on its way from the engine thread to whoever asked: a bounded, cancellable channel.
//
// The engine never waits: where the reader lags, the generation pauses instead. The reader waits.
// Thread-safe for one writer (the engine) and one reader; cancel() may come from any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "backend/units.h"
#include "segue/response.h"

namespace segue {

struct ReadProgress {
  std::int64_t done = 0;  // tokens
  std::int64_t total = 0;
};

// Text ready to show: whole UTF-8 characters that no stop string can take back.
struct TextPiece {
  std::string text;
};

// The end of a successful answer.
struct AnswerResult {
  std::string text;  // all pieces together
  // The written tokens that spell `text` from its start, without the end-of-turn token. Where a
  // stop string cut through a token, the text is longer than what these spell.
  std::vector<Token> tokens;
  FinishReason finish_reason = FinishReason::end_of_turn;
  Usage usage;
  Timing timing;
  std::vector<TokenLogprob> logprobs;
};

using AnswerEvent = std::variant<ReadProgress, TextPiece, AnswerResult>;

class Answer {
 public:
  // Unread pieces at which the engine pauses.
  static constexpr std::size_t kMaxUnread = 256;

  // `wake` is called, on the caller's thread and without a lock, when room was made or the answer
  // was cancelled. It must be safe for as long as the answer lives.
  explicit Answer(std::function<void()> wake) : wake_(std::move(wake)) {}

  // --- reader ---
  // The next event; the AnswerResult is the last one. Waits. Throws the error that ended the
  // answer, again at each further call.
  AnswerEvent next();
  // Asks the engine to stop; next() then throws Cancelled, unless the result was there first.
  void cancel();
  // Waits until the engine has let go of the answer (result, error or cancelled).
  void wait_until_ended();

  // --- engine ---
  bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  // False: the reader lags; write nothing more for now. A result, an error and progress (which
  // replaces unread progress) always find room.
  bool has_room() const;
  void push(AnswerEvent event);
  void fail(std::exception_ptr error);

 private:
  const std::function<void()> wake_;
  std::atomic<bool> cancelled_{false};

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_:
  std::deque<AnswerEvent> events_;
  std::exception_ptr error_;
  bool ended_ = false;
};

}  // namespace segue
