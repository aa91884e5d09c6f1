// Text laid out for a terminal's width. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace segue::cli {

// Broken at spaces into lines of fewer than `width` columns (a longer word stays whole), each with
// `indent` spaces before it but the first. Line breaks of the text stay. No line break at the end.
std::string wrapped(std::string_view text, int width, std::size_t indent = 0);

// Names and what they mean, in two columns; where the window is too narrow for two, the meaning
// stands below its name. Ends with a line break.
std::string format_rows(const std::vector<std::pair<std::string, std::string>>& rows, int width);

}  // namespace segue::cli
