#include "bench/random_values.h"

#include <algorithm>

namespace segue::bench {
namespace {

constexpr std::size_t kPool = std::size_t{1} << 20;
constexpr std::size_t kLongestRow = std::size_t{1} << 16;

}  // namespace

RandomValues::RandomValues(std::uint64_t seed) : random_(seed), pool_(kPool) { draw(pool_, 1.0F); }

void RandomValues::fill(std::span<float> out, float scale) {
  const std::size_t start = random_() % (kPool - kLongestRow);
  std::transform(pool_.begin() + static_cast<std::ptrdiff_t>(start),
                 pool_.begin() + static_cast<std::ptrdiff_t>(start + out.size()), out.begin(),
                 [scale](float value) { return value * scale; });
}

void RandomValues::draw(std::span<float> out, float scale) {
  for (float& value : out) value = normal_(random_) * scale;
}

}  // namespace segue::bench
