// Loading a model with a bar, and errors as the program words them.
#pragma once

#include <exception>
#include <string>

#include "interrupts.h"
#include "options.h"
#include "segue/model.h"
#include "terminal.h"

namespace segue::cli {

// Ctrl-C stops the load (Cancelled). Throws what Model::load throws.
Model load_model(const CommandLine& line, Terminal& terminal, Interrupts& interrupts);

// "context_overflow: the prompt of …", for what a catch clause caught.
std::string describe(const std::exception& error);

}  // namespace segue::cli
