#include "bench/report.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace segue::bench {
namespace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string percent(double share) { return fixed(share * 100, 2) + " %"; }

std::string row(const WorkloadFigures& w) {
  return "| " + w.description + " | " + std::to_string(w.read) + " | " +
         std::to_string(w.least_read) + " | " + std::to_string(w.written) + " | " +
         fixed(w.to_first_ms, 1) + " | " + fixed(w.floor_to_first_ms, 1) + " | " +
         fixed(w.total_ms / 1000, 2) + " | " + fixed(w.floor_total_ms / 1000, 2) + " | " +
         fixed(w.ratio, 3) + " (" + fixed(w.lowest_ratio, 3) + " to " + fixed(w.highest_ratio, 3) +
         ") |\n";
}

nlohmann::json to_json(const WorkloadFigures& w) {
  return {{"name", w.name},
          {"description", w.description},
          {"tokens_read", w.read},
          {"least_tokens_read", w.least_read},
          {"tokens_written", w.written},
          {"time_to_first_token_ms", w.to_first_ms},
          {"floor_time_to_first_token_ms", w.floor_to_first_ms},
          {"total_ms", w.total_ms},
          {"floor_total_ms", w.floor_total_ms},
          {"ratio", w.ratio},
          {"lowest_ratio", w.lowest_ratio},
          {"highest_ratio", w.highest_ratio}};
}

}  // namespace

std::string to_markdown(const Report& report) {
  std::string out = "Machine: " + report.machine + ", " + std::to_string(report.threads) +
                    (report.threads == 1 ? " thread" : " threads") + ", " +
                    std::to_string(report.repeats) + (report.repeats == 1 ? " run" : " runs") +
                    ".\n";
  for (const ModelFigures& model : report.models) {
    out += "\n### " + model.description + " (" + model.memory_kind + ")\n\n";
    if (!model.workloads.empty()) {
      out +=
          "| workload | read | least possible | written | first token, ms | floor's, ms | total, s "
          "| floor's, s | total / floor |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    }
    for (const WorkloadFigures& workload : model.workloads) out += row(workload);
    if (model.sampling) {
      const SamplingShare& s = *model.sampling;
      out += "\nChoosing a token and its text, beside a decode of " + fixed(s.decode_ms, 2) +
             " ms: greedy " + fixed(s.greedy_ms, 3) + " ms (" + percent(s.greedy_share()) +
             "), default options " + fixed(s.defaults_ms, 3) + " ms (" +
             percent(s.defaults_share()) + ").\n";
    }
  }
  return out;
}

std::string to_json(const Report& report) {
  nlohmann::json models = nlohmann::json::array();
  for (const ModelFigures& model : report.models) {
    nlohmann::json workloads = nlohmann::json::array();
    for (const WorkloadFigures& workload : model.workloads) workloads.push_back(to_json(workload));
    nlohmann::json entry = {{"description", model.description},
                            {"memory_kind", model.memory_kind},
                            {"workloads", std::move(workloads)}};
    if (model.sampling) {
      entry["sampling"] = {{"decode_ms", model.sampling->decode_ms},
                           {"greedy_ms", model.sampling->greedy_ms},
                           {"greedy_share", model.sampling->greedy_share()},
                           {"defaults_ms", model.sampling->defaults_ms},
                           {"defaults_share", model.sampling->defaults_share()}};
    }
    models.push_back(std::move(entry));
  }
  return nlohmann::json{{"machine", report.machine},
                        {"threads", report.threads},
                        {"repeats", report.repeats},
                        {"models", std::move(models)}}
      .dump(2);
}

}  // namespace segue::bench
