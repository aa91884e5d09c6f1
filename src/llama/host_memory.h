// How much memory this process can still take, so that a context is counted before it is made: the
// system promises more than it has, and ends the process that uses it.
//
// Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>

namespace segue {

// Bytes, swap included; unset where the system does not say (other than Linux).
std::optional<std::int64_t> available_host_memory();

}  // namespace segue
