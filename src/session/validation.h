// What callers may pass: options in range, text that is UTF-8. Each check throws InvalidArgument
// that names the option, the value and the range.
//
// Pure functions; thread-safe.
#pragma once

#include <string_view>

#include "segue/options.h"

namespace segue {

void check_options(const ModelOptions& options);
void check_options(const ExchangeOptions& options);
// Instructions included.
void check_options(const SessionOptions& options);

// `what` names the text in the message ("the prompt"); the message has the offset of the first byte
// that is not UTF-8.
void check_utf8(std::string_view text, std::string_view what);

}  // namespace segue
