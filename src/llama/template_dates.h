// The date in chat templates, made to stand still.
//
// Pure functions; thread-safe.
#pragma once

#include <ctime>
#include <string>

namespace segue {

// `format` as strftime has it, in local time.
std::string format_time(const char* format, std::time_t time);

// Replaces each call of strftime_now with a literal format by what it gives at `time`. Calls with
// other arguments stay (no known template has one).
std::string with_fixed_dates(const std::string& source, std::time_t time);

}  // namespace segue
