// segue and the floor side by side: both play every step of a workload, one right after the other
// and in changing order, so that a busy machine slows both alike.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/floor.h"
#include "bench/shaped_model.h"

namespace segue::bench {

struct ComparisonOptions {
  MemoryKind kind = MemoryKind::attention;
  ModelScale scale = ModelScale::tiny;
  std::filesystem::path models;        // where the made-up models are kept
  std::vector<std::string> workloads;  // names; empty: all
  std::size_t tokens_written = 32;
  int repeats = 3;
  std::int32_t threads = 1;
  FloorCheckpoints checkpoints = FloorCheckpoints::as_needed;
};

struct WorkloadFigures {
  std::string name;
  std::string description;
  std::int64_t least_read = 0;
  std::int64_t read = 0;  // the most of all repeats
  std::int64_t written = 0;
  double to_first_ms = 0;  // median over all exchanges and repeats
  double floor_to_first_ms = 0;
  double total_ms = 0;  // median over the repeats
  double floor_total_ms = 0;
  double ratio = 0;  // median over the repeats of total / floor total
  double lowest_ratio = 0;
  double highest_ratio = 0;
};

// In the order of make_workloads(). Throws what the players throw.
std::vector<WorkloadFigures> compare(const ComparisonOptions& options);

}  // namespace segue::bench
