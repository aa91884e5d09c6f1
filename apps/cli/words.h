// Text that a user typed, cut into words; and text made fit to be typed or shown. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace segue::cli {

// Without white space at both ends.
std::string_view trim(std::string_view text);

// The first word, and what follows it without the space between.
std::pair<std::string_view, std::string_view> first_word(std::string_view text);

// Cuts at white space; '…' and "…" hold words together, and inside "…" the escapes \n \t \"
// \\ count. Throws InvalidArgument where a quote is not closed.
std::vector<std::string> split_words(std::string_view text);

// One word as split_words() would read it back: quoted where it must be.
std::string quote_word(std::string_view word);

// Without control characters (escape sequences that a model writes must not drive the terminal);
// new lines and tabs stay.
std::string printable(std::string_view text);

// Columns that UTF-8 text takes on a terminal: wide characters two, combining ones none, as far as
// the C library's locale knows them.
std::size_t column_count(std::string_view text);

// On one line, at most `columns` wide: white space folded, "…" where it was cut.
std::string shortened(std::string_view text, std::size_t columns);

// 1234567 → "1,234,567".
std::string grouped(long long number);

// 1234567 → "1.2M"; in thousands, millions, billions.
std::string short_count(long long number);

}  // namespace segue::cli
