// `segue inspect`: what a model is, and what that means on this machine.
#pragma once

#include "interrupts.h"
#include "options.h"
#include "terminal.h"

namespace segue::cli {

int inspect(const CommandLine& line, Terminal& terminal, Interrupts& interrupts);

}  // namespace segue::cli
