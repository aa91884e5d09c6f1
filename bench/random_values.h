// Normally distributed numbers, fast: a pool drawn once, from which every row takes a stretch at a
// random place. Enough for weights that only have to be work, or to mix what they are given.
//
// The same seed gives the same rows in the same order. Not thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace segue::bench {

class RandomValues {
 public:
  explicit RandomValues(std::uint64_t seed);

  // Standard deviation `scale`, mean 0. 0 gives zeros. Requires out.size() <= 65,536.
  void fill(std::span<float> out, float scale);
  // The same, but every value is drawn anew: for rows that must differ from all others.
  void draw(std::span<float> out, float scale);

 private:
  std::mt19937_64 random_;
  std::normal_distribution<float> normal_;
  std::vector<float> pool_;
};

}  // namespace segue::bench
