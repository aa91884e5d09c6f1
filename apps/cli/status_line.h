// What a turn cost, in words. Pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "segue/model.h"
#include "segue/response.h"

namespace segue::cli {

// "80 ms", "1.2 s", "2 min 05 s".
std::string format_duration(std::chrono::nanoseconds duration);

// "512 B", "1.5 MB", "12 GB" (powers of 1024).
std::string format_bytes(std::int64_t bytes);

// "reused 1,204 · read 15 · wrote 87 tokens · first in 80 ms · 43.2 tokens/s", and why the answer
// ended where the model did not end it. What does not fit in `width` columns is left out from the
// end.
std::string format_status(const Response& response, int width, std::string_view separator);

// The lines of /stats, for a window of `width` columns.
std::string format_cached_state(const CachedState& state, int width);

}  // namespace segue::cli
