// The command line of segue_bench.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "backend/memory_traits.h"
#include "bench/floor.h"
#include "bench/shaped_model.h"

namespace segue::bench {

struct Arguments {
  bool help = false;
  ModelScale scale = ModelScale::real;
  std::vector<MemoryKind> kinds = {MemoryKind::attention, MemoryKind::sliding_window,
                                   MemoryKind::hybrid};
  std::vector<std::string> workloads;  // empty: all
  bool sampling = true;                // measure sampling as well
  std::size_t tokens_written = 32;
  int repeats = 3;
  std::int32_t threads = 0;  // 0: all cores
  FloorCheckpoints checkpoints = FloorCheckpoints::as_needed;
  std::filesystem::path models;  // empty: the build's own directory
  std::filesystem::path json;    // empty: none is written
};

// Throws std::invalid_argument with what is wrong.
Arguments parse_arguments(const std::vector<std::string>& words);

extern const char* const kUsage;

}  // namespace segue::bench
