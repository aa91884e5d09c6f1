#include "llama/logits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

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

}  // namespace

std::span<const float> LogitScan::block(std::size_t index) const {
  const std::size_t start = index * kBlock;
  return logits_.subspan(start, std::min(kBlock, logits_.size() - start));
}

void LogitScan::look_at(std::span<const float> logits) {
  logits_ = logits;
  maxima_.resize((logits.size() + kBlock - 1) / kBlock);
  has_nan_ = false;
  for (std::size_t i = 0; i < maxima_.size(); ++i) {
    const BlockMax max = max_of(block(i));
    maxima_[i] = max.value;
    has_nan_ |= max.has_nan;
  }
}

Token LogitScan::arg_max() const {
  const auto best = std::ranges::max_element(maxima_);
  if (has_nan_ || best == maxima_.end() || !std::isfinite(*best)) return kNoToken;
  const auto index = static_cast<std::size_t>(best - maxima_.begin());
  const auto values = block(index);
  const auto offset = std::ranges::find(values, *best) - values.begin();
  return static_cast<Token>(index * kBlock + static_cast<std::size_t>(offset));
}

void LogitScan::greatest(std::size_t n, std::vector<std::pair<Token, float>>& out) {
  using Entry = std::pair<Token, float>;
  // A heap whose front is the one to go next: the smallest, and of equal ones the last.
  const auto before = [](const Entry& a, const Entry& b) {
    return a.second > b.second || (a.second == b.second && a.first < b.first);
  };
  n = std::min(n, logits_.size());
  out.clear();
  if (n == 0) return;
  out.reserve(n);
  order_.resize(maxima_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::sort(order_, [this](auto a, auto b) { return maxima_[a] > maxima_[b]; });
  for (const std::uint32_t index : order_) {
    if (out.size() == n && maxima_[index] < out.front().second) break;
    const auto values = block(index);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (out.size() == n && values[i] < out.front().second) continue;
      const Entry entry(static_cast<Token>(index * kBlock + i), values[i]);
      if (out.size() == n) {
        if (!before(entry, out.front())) continue;
        std::pop_heap(out.begin(), out.end(), before);
        out.pop_back();
      }
      out.push_back(entry);
      std::push_heap(out.begin(), out.end(), before);
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
