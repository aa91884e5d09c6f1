#include <gtest/gtest.h>

#include "bench/comparison.h"

namespace segue::bench {
namespace {

class Workloads : public testing::TestWithParam<MemoryKind> {};

TEST_P(Workloads, EachReadsNoTokenMoreThanTheLeastPossible) {
  const std::vector<WorkloadFigures> workloads = compare({.kind = GetParam(),
                                                          .scale = ModelScale::tiny,
                                                          .models = SEGUE_TEST_MODELS,
                                                          .workloads = {},
                                                          .tokens_written = 8,
                                                          .repeats = 2});
  EXPECT_EQ(workloads.size(), 5U);
  for (const WorkloadFigures& workload : workloads) {
    EXPECT_GT(workload.least_read, 0) << workload.name;
    EXPECT_EQ(workload.read, workload.least_read) << workload.name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryMemoryKind, Workloads,
                         testing::Values(MemoryKind::attention, MemoryKind::sliding_window,
                                         MemoryKind::hybrid, MemoryKind::recurrent),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace segue::bench
