#include "bench/comparison.h"

#include <algorithm>

#include "bench/segue_player.h"
#include "bench/statistics.h"
#include "bench/trace.h"
#include "bench/workloads.h"

namespace segue::bench {
namespace {

constexpr std::int32_t kContextLength = 4096;

// What one player did in one workload, over all repeats.
struct Sheet {
  std::vector<double> to_first;  // ms, of each exchange
  std::vector<double> totals;    // ms, of each repeat
  std::vector<std::int64_t> reads;

  void begin_repeat() {
    totals.push_back(0);
    reads.push_back(0);
  }
  void add(const PlayedStep& step) {
    totals.back() += milliseconds(step.total);
    for (const PlayedExchange& exchange : step.exchanges) {
      to_first.push_back(milliseconds(exchange.to_first));
      reads.back() += exchange.read;
    }
  }
};

WorkloadFigures figures(const Script& script, const Trace& trace, const Sheet& segue,
                        const Sheet& floor) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < segue.totals.size(); ++i) {
    ratios.push_back(segue.totals[i] / floor.totals[i]);
  }
  return {.name = script.name,
          .description = script.description,
          .least_read = static_cast<std::int64_t>(trace.least_read()),
          .read = *std::max_element(segue.reads.begin(), segue.reads.end()),
          .written = static_cast<std::int64_t>(trace.exchanges.size() * script.tokens_written),
          .to_first_ms = median(segue.to_first),
          .floor_to_first_ms = median(floor.to_first),
          .total_ms = median(segue.totals),
          .floor_total_ms = median(floor.totals),
          .ratio = median(ratios),
          .lowest_ratio = *std::min_element(ratios.begin(), ratios.end()),
          .highest_ratio = *std::max_element(ratios.begin(), ratios.end())};
}

WorkloadFigures play(const Script& script, const Trace& trace, Floor& floor, SeguePlayer& segue,
                     int repeats) {
  Sheet segue_sheet;
  Sheet floor_sheet;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    segue_sheet.begin_repeat();
    floor_sheet.begin_repeat();
    floor.start(trace);
    segue.start(script, trace.answer_text);
    for (std::size_t step = 0; step < script.steps.size(); ++step) {
      const bool floor_first = (step + static_cast<std::size_t>(repeat)) % 2 == 0;
      if (floor_first) floor_sheet.add(floor.play(step));
      segue_sheet.add(segue.play(step));
      if (!floor_first) floor_sheet.add(floor.play(step));
    }
  }
  return figures(script, trace, segue_sheet, floor_sheet);
}

}  // namespace

std::vector<WorkloadFigures> compare(const ComparisonOptions& options) {
  const std::filesystem::path path = write_cycle_model(options.models, options.kind, options.scale);

  ModelOptions model_options;
  model_options.threads = options.threads;
  model_options.slots = kSlots;
  model_options.context_length = kContextLength;
  SeguePlayer segue(path, model_options);

  const BareModel model(path);
  Floor floor(model, {.slots = kSlots,
                      .context_length = kContextLength,
                      .batch_size = model_options.batch_size,
                      .threads = options.threads,
                      .checkpoints = options.checkpoints});
  const std::vector<Token> answer =
      floor.write(model.tokenize("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n"),
                  options.tokens_written);

  const std::vector<Script> scripts = make_workloads(
      {.tokens_written = options.tokens_written,
       .count_tokens = [&](std::string_view text) { return model.tokenize(text).size(); }});
  std::vector<WorkloadFigures> out;
  for (const Script& script : scripts) {
    const auto& wanted = options.workloads;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), script.name) == wanted.end()) {
      continue;
    }
    out.push_back(play(script, trace(script, model, answer), floor, segue, options.repeats));
  }
  return out;
}

}  // namespace segue::bench
