// What a person would read of a session: its entries, in order. Values; no synchronisation needed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segue/visibility.h"

namespace segue {

// Names one entry for the life of a session and its forks; replaced or regenerated entries get new
// ones.
struct EntryId {
  std::uint64_t value = 0;
  friend bool operator==(EntryId, EntryId) = default;
};

enum class EntryKind : std::uint8_t { instructions, prompt, response };
SEGUE_API const char* to_string(EntryKind kind) noexcept;

struct Entry {
  EntryId id;
  EntryKind kind = EntryKind::prompt;
  std::string text;
  std::string reasoning;  // of a response
};

using Transcript = std::vector<Entry>;

}  // namespace segue
