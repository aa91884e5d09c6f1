// The reader's side of one request to the engine, with what its caller asked for: cancellation by
// stop token and progress of long reads.
//
// Destroying it cancels the request where it still runs, and waits until the engine has let go.
// One thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <variant>

#include "engine/answer.h"
#include "engine/engine.h"
#include "segue/options.h"

namespace segue {

class AnswerReader {
 public:
  // Submits the request. Throws what Engine::submit() throws, and Cancelled where a stop has been
  // requested already. The engine must outlive the reader.
  AnswerReader(Engine& engine, GenerationRequest request, const ExchangeOptions& options);
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  // The next text, or the result, which is the last event. Throws what ended the answer, and
  // CallbackFailed where on_read threw.
  std::variant<TextPiece, AnswerResult> next();

 private:
  void tell(const ReadProgress& progress);

  std::function<void(std::int64_t, std::int64_t)> on_read_;
  std::shared_ptr<Answer> answer_;
  bool has_ended_ = false;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace segue
