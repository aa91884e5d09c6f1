// Splits an answer into content and reasoning, with the parser that llama-common made for the
// template.
//
// Immutable; thread-safe.
#pragma once

#include <memory>

#include "backend/chat_template.h"

struct common_chat_params;

namespace segue {

// Null where llama-common's parser cannot be read; then all output is content.
std::shared_ptr<const OutputParser> make_answer_parser(const common_chat_params& params);

}  // namespace segue
