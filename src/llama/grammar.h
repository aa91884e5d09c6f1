// GBNF → a llama.cpp grammar sampler.
//
// Pure functions; thread-safe. The result is used by one thread.
#pragma once

#include <string>

#include "llama/sampler_chain.h"

namespace segue {

// Never null. Throws InvalidArgument with the parser's words.
LlamaSamplerHandle make_grammar(const llama_vocab* vocab, const std::string& gbnf);

}  // namespace segue
