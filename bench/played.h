// What playing a step cost, whoever played it.
//
// Values; no synchronisation needed.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace segue::bench {

struct PlayedExchange {
  std::int64_t read = 0;                // tokens of the prompt that were decoded
  std::chrono::nanoseconds to_first{};  // from asking to the first token
};

struct PlayedStep {
  std::vector<PlayedExchange> exchanges;  // in the script's order, forks left out
  std::chrono::nanoseconds total{};
};

}  // namespace segue::bench
