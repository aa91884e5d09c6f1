// `segue run`: one answer, or several in turn.
#pragma once

#include "interrupts.h"
#include "options.h"
#include "terminal.h"

namespace segue::cli {

// The exit code. Throws what loading and answering throw (where not told as JSON).
int run(const CommandLine& line, Terminal& terminal, Interrupts& interrupts);

}  // namespace segue::cli
