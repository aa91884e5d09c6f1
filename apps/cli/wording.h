// The library's errors in the program's words: without codes, and with the flags and commands that
// help in place of the library's names. Pure functions.
#pragma once

#include <exception>
#include <string>

#include "options.h"
#include "segue/model.h"

namespace segue::cli {

// What happened and what to do, for a person who runs the program in this mode.
std::string describe(const std::exception& error, Mode mode);

// "llama 2.7M Q8_0".
std::string title_of(const Capabilities& model);

}  // namespace segue::cli
