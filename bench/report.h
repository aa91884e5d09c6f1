// The figures as a Markdown page and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/comparison.h"
#include "bench/sampling_share.h"

namespace segue::bench {

struct ModelFigures {
  std::string description;  // of the model
  std::string memory_kind;
  std::vector<WorkloadFigures> workloads;
  std::optional<SamplingShare> sampling;
};

struct Report {
  std::string machine;
  std::int32_t threads = 1;
  int repeats = 1;
  std::vector<ModelFigures> models;
};

std::string to_markdown(const Report& report);
std::string to_json(const Report& report);

}  // namespace segue::bench
