// Showing one answer while it is written.
#pragma once

#include <functional>

#include "interrupts.h"
#include "segue/session.h"
#include "terminal.h"

namespace segue::cli {

struct Shown {
  Response response;
  bool interrupted = false;  // by Ctrl-C: the conversation is as before
};

// Begins a stream with the options it is given, which carry cancellation and progress.
using BeginStream = std::function<Stream(const ExchangeOptions&)>;

// Streams the answer to standard output (reasoning dimmed on a terminal, left out in a pipe); a bar
// during a long read. Throws what the exchange throws.
Shown show_answer(const BeginStream& begin, ExchangeOptions options, Terminal& terminal,
                  Interrupts& interrupts);

}  // namespace segue::cli
