// A tiny made-up encoder-decoder model (T5) for tests: random weights, a real BPE tokenizer,
// ChatML. What it writes depends on all of its input. Written when it is first asked for.
// Thread-safe as write_random_model() is, and throws what that throws.
#pragma once

#include <cstdint>
#include <filesystem>

namespace segue::bench {

std::filesystem::path write_random_encoder_decoder(const std::filesystem::path& directory,
                                                   std::uint64_t seed);

}  // namespace segue::bench
