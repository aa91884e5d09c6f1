// Calls of the user's functions: what they throw never crosses into the library's threads.
//
// Thread-safe.
#pragma once

#include "segue/options.h"

namespace segue {

// The caller's log as the library uses it: one call at a time, and what it throws is swallowed.
// What is logged from inside the callback itself is dropped. Empty where `log` is.
LogCallback guard_log(LogCallback log);

// True on a thread that is inside a guarded log callback, where waiting for the library would wait
// for this very thread.
bool is_inside_log();

}  // namespace segue
