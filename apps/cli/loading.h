// Loading a model with a bar.
#pragma once

#include "interrupts.h"
#include "options.h"
#include "segue/model.h"
#include "terminal.h"

namespace segue::cli {

// Ctrl-C stops the load (Cancelled). Throws what Model::load throws.
Model load_model(const CommandLine& line, Terminal& terminal, Interrupts& interrupts);

}  // namespace segue::cli
