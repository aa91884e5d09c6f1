// llama.cpp's chain of samplers for our options, in llama.cpp's own order (common/sampling.cpp),
// and the facts about it that allow short cuts.
//
// Pure functions; thread-safe. A chain is used by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "backend/sampler.h"

struct llama_sampler;
struct llama_vocab;

namespace segue {

struct LlamaSamplerDeleter {
  void operator()(llama_sampler* sampler) const;
};
using LlamaSamplerHandle = std::unique_ptr<llama_sampler, LlamaSamplerDeleter>;

// Throws InvalidArgument, naming the option and its range.
void check_sampler_options(const SamplerOptions& options, std::int32_t vocabulary_size);

// Everything but grammar and biases. `context_length`: how far back "the whole context" goes.
LlamaSamplerHandle make_chain(const llama_vocab* vocab, std::int32_t context_length,
                              const SamplingOptions& options);

// True where the chain always chooses the greatest logit.
bool is_greedy(const SamplingOptions& options);
// True where top-k is the first to act on the logits, so that the k greatest can stand for all.
bool starts_with_top_k(const SamplingOptions& options);
// llama.cpp's generators take 32 bits: seeds below 2^32 are taken as they are, higher ones are
// mixed in, so that two seeds that differ only above bit 31 differ. Never llama.cpp's "random"
// (2^32 - 1).
std::uint32_t fold_seed(std::optional<std::uint64_t> seed);

}  // namespace segue
