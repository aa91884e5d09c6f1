// The known word that a mistyped one was probably meant to be. A pure function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace segue::cli {

// The candidate nearest to `word` by inserted, dropped, changed and swapped letters, or the one
// that begins with it; nothing where none is near. The first of equals wins.
std::optional<std::string> suggest(std::string_view word,
                                   const std::vector<std::string>& candidates);

}  // namespace segue::cli
