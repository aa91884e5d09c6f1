// One request to a session, from the prompt to the committed response: all or nothing.
//
// It works on a copy of the conversation and puts it in place when the whole answer is there. An
// exchange that ends in any other way leaves the session as it was.
// One thread at a time.
#pragma once

#include <chrono>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "chat/piece_splitter.h"
#include "chat/prompt_builder.h"
#include "segue/options.h"
#include "segue/response.h"
#include "segue/stream.h"
#include "session/answer_reader.h"
#include "session/conversation.h"
#include "session/session_impl.h"

namespace segue {

class Exchange {
 public:
  // Asks. Without a prompt, the last one is answered again. Throws what error.h lists; nothing has
  // changed then.
  Exchange(const std::shared_ptr<SessionImpl>& session, std::optional<std::string_view> prompt,
           ExchangeOptions options);
  // Cancels where the end has not been reached.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // The next piece; nothing after the commit. Waits. An error is thrown again by every later call.
  std::optional<Piece> next();
  // Reads on to the end.
  const Response& finish();

 private:
  using Clock = std::chrono::steady_clock;

  GenerationRequest request() const;
  void advance();
  WrittenTokens commit(AnswerResult result);
  void settle(const std::vector<Token>& written);
  void release() noexcept;

  const Clock::time_point asked_ = Clock::now();
  const std::shared_ptr<SessionImpl> session_;
  const ExchangeOptions options_;
  // Null: answered apart from the session, which does not change.
  std::unique_ptr<SessionImpl::Turn> turn_;
  Conversation conversation_;
  BuiltPrompt built_;
  Clock::duration building_{};
  std::unique_ptr<AnswerReader> reader_;
  std::optional<PieceSplitter> splitter_;
  std::deque<Piece> ready_;
  std::exception_ptr error_;
  std::optional<Response> response_;
};

}  // namespace segue
