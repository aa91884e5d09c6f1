#include "segue/error.h"

#include "segue/response.h"
#include "segue/transcript.h"

namespace segue {

const char* to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::invalid_model:
      return "invalid_model";
    case ErrorCode::unsupported_feature:
      return "unsupported_feature";
    case ErrorCode::template_failed:
      return "template_failed";
    case ErrorCode::context_overflow:
      return "context_overflow";
    case ErrorCode::decoding_failed:
      return "decoding_failed";
    case ErrorCode::encoding_failed:
      return "encoding_failed";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::concurrent_requests:
      return "concurrent_requests";
    case ErrorCode::queue_full:
      return "queue_full";
    case ErrorCode::invalid_session_file:
      return "invalid_session_file";
    case ErrorCode::io_failed:
      return "io_failed";
    case ErrorCode::callback_failed:
      return "callback_failed";
    case ErrorCode::shut_down:
      return "shut_down";
  }
  return "unknown";
}

const char* to_string(FinishReason reason) noexcept {
  switch (reason) {
    case FinishReason::end_of_turn:
      return "end_of_turn";
    case FinishReason::stop_string:
      return "stop_string";
    case FinishReason::max_tokens:
      return "max_tokens";
  }
  return "unknown";
}

const char* to_string(EntryKind kind) noexcept {
  switch (kind) {
    case EntryKind::instructions:
      return "instructions";
    case EntryKind::prompt:
      return "prompt";
    case EntryKind::response:
      return "response";
  }
  return "unknown";
}

}  // namespace segue
