#include "session/answer_reader.h"

#include <exception>
#include <string>
#include <utility>

#include "segue/error.h"
#include "session/callbacks.h"

namespace segue {

AnswerReader::AnswerReader(Engine& engine, GenerationRequest request,
                           const ExchangeOptions& options)
    : on_read_(options.on_read) {
  if (options.cancel.stop_requested()) {
    throw Cancelled("the exchange was cancelled before it began");
  }
  if (is_inside_log()) {
    throw InvalidArgument("a log callback asked a session; it would wait for itself");
  }
  answer_ = engine.submit(std::move(request));
  on_stop_.emplace(options.cancel, [answer = answer_] { answer->cancel(); });
}

AnswerReader::~AnswerReader() {
  on_stop_.reset();
  if (has_ended_) return;
  answer_->cancel();
  // In a log callback this may be the engine's own thread: it goes on when the callback returns.
  if (!is_inside_log()) answer_->wait_until_ended();
}

std::variant<TextPiece, AnswerResult> AnswerReader::next() {
  while (true) {
    AnswerEvent event;
    try {
      event = answer_->next();
    } catch (...) {
      has_ended_ = true;
      throw;
    }
    if (auto* text = std::get_if<TextPiece>(&event)) return std::move(*text);
    if (auto* result = std::get_if<AnswerResult>(&event)) {
      has_ended_ = true;
      return std::move(*result);
    }
    tell(std::get<ReadProgress>(event));
  }
}

void AnswerReader::tell(const ReadProgress& progress) {
  if (!on_read_) return;
  try {
    on_read_(progress.done, progress.total);
  } catch (const std::exception& error) {
    throw CallbackFailed(std::string("on_read threw: ") + error.what());
  } catch (...) {
    throw CallbackFailed("on_read threw something that is not a std::exception");
  }
}

}  // namespace segue
