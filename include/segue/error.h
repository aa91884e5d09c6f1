// Every error that segue throws. Catch segue::Error, or a class below it; `code()` is stable and
// suits a switch or a C interface; `what()` says what happened, with the numbers, and what to do.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "segue/visibility.h"

namespace segue {

enum class ErrorCode : std::uint8_t {
  invalid_argument,
  invalid_model,
  unsupported_feature,
  template_failed,
  context_overflow,
  decoding_failed,
  encoding_failed,
  out_of_memory,
  cancelled,
  concurrent_requests,
  queue_full,
  invalid_session_file,
  io_failed,
  callback_failed,
  shut_down,
};

// The code's name as written above, for logs and machine-readable output.
SEGUE_API const char* to_string(ErrorCode code) noexcept;

class SEGUE_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

// One class a code, so that a catch clause can name it.
template <ErrorCode Code>
class SEGUE_API CodedError : public Error {
 public:
  explicit CodedError(const std::string& message) : Error(Code, message) {}
};

// A caller's mistake: an option out of range, an entry that does not exist, text that is not UTF-8.
using InvalidArgument = CodedError<ErrorCode::invalid_argument>;
// The file is missing, damaged, of an unknown architecture, or a model that cannot chat.
using InvalidModel = CodedError<ErrorCode::invalid_model>;
using UnsupportedFeature = CodedError<ErrorCode::unsupported_feature>;
// The chat template is missing or refused the conversation.
using TemplateFailed = CodedError<ErrorCode::template_failed>;
using DecodingFailed = CodedError<ErrorCode::decoding_failed>;
using EncodingFailed = CodedError<ErrorCode::encoding_failed>;
using OutOfMemory = CodedError<ErrorCode::out_of_memory>;
using Cancelled = CodedError<ErrorCode::cancelled>;
// The session is already answering.
using ConcurrentRequests = CodedError<ErrorCode::concurrent_requests>;
// More exchanges wait than the model's options allow.
using QueueFull = CodedError<ErrorCode::queue_full>;
using InvalidSessionFile = CodedError<ErrorCode::invalid_session_file>;
using IoFailed = CodedError<ErrorCode::io_failed>;
// A callback of the caller's threw; the message holds its what().
using CallbackFailed = CodedError<ErrorCode::callback_failed>;
// The model was shut down while the request waited.
using ShutDown = CodedError<ErrorCode::shut_down>;

// The prompt, or prompt and answer, do not fit the context. Lengths are in tokens.
class SEGUE_API ContextOverflow : public Error {
 public:
  ContextOverflow(const std::string& message, std::int64_t prompt_tokens,
                  std::int64_t written_tokens, std::int64_t context_length)
      : Error(ErrorCode::context_overflow, message),
        prompt_tokens_(prompt_tokens),
        written_tokens_(written_tokens),
        context_length_(context_length) {}
  std::int64_t prompt_tokens() const noexcept { return prompt_tokens_; }
  std::int64_t written_tokens() const noexcept { return written_tokens_; }
  std::int64_t context_length() const noexcept { return context_length_; }

 private:
  std::int64_t prompt_tokens_;
  std::int64_t written_tokens_;
  std::int64_t context_length_;
};

}  // namespace segue
