// One answer on its way from the engine thread to whoever asked: a bounded, cancellable channel.
//
// The engine never waits: where the reader lags, the generation pauses instead. The reader waits.
// Thread-safe for one writer (the engine) and one reader.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "backend/units.h"
#include "segue/response.h"

namespace segue {

struct ReadProgress {
  std::int64_t done = 0;   // tokens
  std::int64_t total = 0;
};

// Text ready to show: whole UTF-8 characters that no stop string can take back.
struct TextPiece {
  std::string text;
};

// The end of a successful answer.
struct AnswerResult {
  std::string text;            // all pieces together
  // The written tokens that spell `text` from its start, without the end-of-turn token. Where a stop
  // string cut through a token, the text is longer than what these spell.
  std::vector<Token> tokens;
  FinishReason finish_reason = FinishReason::end_of_turn;
  Usage usage;
  Timing timing;
  std::vector<TokenLogprob> logprobs;
};

using AnswerEvent = std::variant<ReadProgress, TextPiece, AnswerResult>;

class Answer {
 public:
  // --- reader ---
  // The next event; the AnswerResult is the last one. Waits. Throws the error that ended the answer.
  AnswerEvent next();
  // Asks the engine to stop; next() then throws Cancelled unless the result is already there. Any
  // thread.
  void cancel();
  // Waits until the engine has let go of the answer (result, error or cancelled).
  void wait_until_ended();

  // --- engine ---
  bool is_cancelled() const;
  // False: the reader lags by more than the bound; write nothing more for now. Always room for a
  // result, an error, or progress (which replaces unread progress).
  bool has_room() const;
  void push(AnswerEvent event);
  void fail(std::exception_ptr error);
  // Called (on the reader's thread) when room was made or the answer was cancelled.
  void set_wake(std::function<void()> wake);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<AnswerEvent> events_;       // guarded by mutex_
  std::exception_ptr error_;             // guarded by mutex_
  std::function<void()> wake_;           // guarded by mutex_
  bool cancelled_ = false;               // guarded by mutex_
  bool ended_ = false;                   // guarded by mutex_
};

}  // namespace segue
