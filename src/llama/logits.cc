#include "llama/logits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace segue {

namespace {

// Values are looked at in blocks; a block is an unrolled loop over lanes that do not depend on each
// other, which compilers turn into vector instructions without being allowed to reorder floats.
constexpr std::size_t kLanes = 16;
constexpr std::size_t kBlock = 32 * kLanes;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

struct BlockMax {
  float value = kLowest;
  bool has_nan = false;
};

BlockMax max_of(std::span<const float> block) {
  std::array<float, kLanes> max;
  std::array<std::int32_t, kLanes> nan;
  max.fill(kLowest);
  nan.fill(0);
  std::size_t i = 0;
  for (; i + kLanes <= block.size(); i += kLanes) {
    const float* values = block.data() + i;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      max[lane] = values[lane] > max[lane] ? values[lane] : max[lane];
      nan[lane] |= static_cast<std::int32_t>(values[lane] != values[lane]);
    }
  }
  BlockMax result;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    result.value = std::max(result.value, max[lane]);
    result.has_nan |= nan[lane] != 0;
  }
  for (; i < block.size(); ++i) {
    result.value = std::max(result.value, block[i]);
    result.has_nan |= std::isnan(block[i]);
  }
  return result;
}

std::span<const float> block_at(std::span<const float> logits, std::size_t start) {
  return logits.subspan(start, std::min(kBlock, logits.size() - start));
}

}  // namespace

Token arg_max(std::span<const float> logits) {
  float best = kLowest;
  std::size_t best_start = 0;
  for (std::size_t start = 0; start < logits.size(); start += kBlock) {
    const BlockMax max = max_of(block_at(logits, start));
    if (max.has_nan) return kNoToken;
    if (max.value > best) {
      best = max.value;
      best_start = start;
    }
  }
  if (!std::isfinite(best)) return kNoToken;
  const auto block = block_at(logits, best_start);
  return static_cast<Token>(
      best_start + static_cast<std::size_t>(std::ranges::find(block, best) - block.begin()));
}

void greatest(std::span<const float> logits, std::size_t n,
              std::vector<std::pair<Token, float>>& out) {
  using Entry = std::pair<Token, float>;
  // A heap whose front is the one to go next: the smallest, and of equal ones the last.
  const auto before = [](const Entry& a, const Entry& b) {
    return a.second > b.second || (a.second == b.second && a.first < b.first);
  };
  n = std::min(n, logits.size());
  out.clear();
  if (n == 0) return;
  out.reserve(n);
  for (std::size_t start = 0; start < logits.size(); start += kBlock) {
    const auto block = block_at(logits, start);
    // Most blocks hold nothing that could enter; an equal value further on never does.
    if (out.size() == n && !(max_of(block).value > out.front().second)) continue;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const Entry entry(static_cast<Token>(start + i), block[i]);
      if (out.size() < n) {
        out.push_back(entry);
        std::push_heap(out.begin(), out.end(), before);
      } else if (entry.second > out.front().second) {
        std::pop_heap(out.begin(), out.end(), before);
        out.back() = entry;
        std::push_heap(out.begin(), out.end(), before);
      }
    }
  }
  std::sort_heap(out.begin(), out.end(), before);
}

double log_sum_exp(std::span<const float> logits, float max) {
  // What lies this far below the greatest adds less than 1e-13 each.
  constexpr float kNegligible = 30.0F;
  double sum = 0;
  for (const float value : logits) {
    if (value > max - kNegligible) sum += std::exp(value - max);
  }
  return static_cast<double>(max) + std::log(sum);
}

}  // namespace segue
