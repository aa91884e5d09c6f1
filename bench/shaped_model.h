// Chat models made up for tests and benchmarks: real architectures, tokenizers and templates
// (ChatML), made-up weights. One file each, written when it is first asked for; a second call finds
// it.
//
//   segue::bench::write_random_model(dir, segue::MemoryKind::hybrid, /*seed=*/1)
//     A tiny model (about 2 MB, 4,096 tokens, milliseconds to load) whose next token depends on all
//     that it has read, so that a greedy answer after reuse equals that after a fresh read only
//     where the state was right. It writes whole words with a space before them, never ends its
//     turn (set max_tokens), and is otherwise nonsense. Kinds: attention, sliding_window (window
//     64), hybrid, recurrent.
//
//   segue::bench::write_cycle_model(dir, segue::MemoryKind::attention, ModelScale::real)
//     A model whose layers do their work and add nothing, and whose output matrix maps each word to
//     the next of a fixed cycle: every answer begins "The", goes on through the cycle and tokenizes
//     to itself. Real: 0.5B qwen2 with 151,936 tokens; 270M gemma3 with a window of 512 and 262,144
//     tokens; 350M lfm2 with 65,536 tokens; 8-bit weights. Tiny: seconds of work in all.
//
// To use it, link segue_shaped_models. Thread-safe, and safe between processes: a file appears
// whole. All throw std::runtime_error where a vocabulary file is missing or the disk refuses, and
// std::invalid_argument for kinds that are not named here.
#pragma once

#include <cstdint>
#include <filesystem>

#include "backend/memory_traits.h"

namespace segue::bench {

enum class ModelScale : std::uint8_t { tiny, real };

// Creates `directory` where it is missing; returns the file in it.
std::filesystem::path write_random_model(const std::filesystem::path& directory, MemoryKind kind,
                                         std::uint64_t seed);
std::filesystem::path write_cycle_model(const std::filesystem::path& directory, MemoryKind kind,
                                        ModelScale scale);

}  // namespace segue::bench
