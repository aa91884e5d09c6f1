#include "bench/sampling_share.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

#include "bench/statistics.h"

namespace segue::bench {
namespace {

using Clock = std::chrono::steady_clock;

// Milliseconds that `what` took.
template <typename What>
double timed(const What& what) {
  const Clock::time_point begin = Clock::now();
  what();
  return milliseconds(Clock::now() - begin);
}

std::unique_ptr<Sampler> make_sampler(StateBackend& backend, bool is_greedy) {
  SamplerOptions options;
  options.sampling.seed = 1;
  if (is_greedy) options.sampling.temperature = 0;
  return backend.make_sampler(options);
}

}  // namespace

SamplingShare measure_sampling(StateBackend& backend, const Vocabulary& vocabulary,
                               const std::vector<Token>& prompt, std::size_t count) {
  const auto greedy = make_sampler(backend, true);
  const auto defaults = make_sampler(backend, false);
  for (const Token token : prompt) {
    greedy->accept_prompt(token);
    defaults->accept_prompt(token);
  }

  const SlotId slot(0);
  backend.clear(slot);
  std::vector<BatchToken> batch;
  for (const Token token : prompt) {
    batch.push_back({.token = token,
                     .position = Position(static_cast<std::int64_t>(batch.size())),
                     .slot = slot});
  }
  batch.back().wants_logits = true;
  auto end = static_cast<std::int64_t>(prompt.size());
  std::vector<double> decode_times;
  std::vector<double> greedy_times;
  std::vector<double> defaults_times;
  std::string text;
  const auto choose = [&](Sampler& sampler) {
    const Token token = sampler.sample(static_cast<std::int32_t>(batch.size()) - 1).token;
    text.assign(vocabulary.piece(token));
    return token;
  };
  for (std::size_t i = 0; i < count; ++i) {
    DecodeStatus status = DecodeStatus::failed;
    const double decode_time = timed([&] { status = backend.decode(batch); });
    if (status != DecodeStatus::ok) throw std::runtime_error("a decode failed");
    Token next = kNoToken;
    greedy_times.push_back(timed([&] { next = choose(*greedy); }));
    defaults_times.push_back(timed([&] { choose(*defaults); }));
    if (i > 0) decode_times.push_back(decode_time);  // the first one read the prompt
    batch = {{.token = next, .position = Position(end++), .slot = slot, .wants_logits = true}};
  }
  return {.decode_ms = median(decode_times),
          .greedy_ms = median(greedy_times),
          .defaults_ms = median(defaults_times)};
}

}  // namespace segue::bench
