// segue_bench: segue against the floor, as a table for docs/benchmarks.md and as JSON.
#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/arguments.h"
#include "bench/comparison.h"
#include "bench/report.h"
#include "llama.h"
#include "llama/context.h"
#include "llama/model_file.h"
#include "llama/vocabulary.h"

namespace segue::bench {
namespace {

constexpr std::size_t kSampledTokens = 200;

std::string describe(MemoryKind kind, ModelScale scale) {
  if (scale == ModelScale::tiny) return "tiny";
  switch (kind) {
    case MemoryKind::sliding_window:
      return "gemma3 270M, window 512, vocabulary 262,144, 8 bits";
    case MemoryKind::hybrid:
      return "lfm2 350M, vocabulary 65,536, 8 bits";
    default:
      return "qwen2 0.5B, vocabulary 151,936, 8 bits";
  }
}

std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

SamplingShare sample(const std::filesystem::path& path, std::int32_t threads) {
  ModelOptions options;
  options.threads = threads;
  options.context_length = 1024;
  const std::shared_ptr<ModelFile> model = ModelFile::load(path, options);
  const LlamaVocabulary vocabulary(model);
  LlamaContext context(model, options);
  const std::vector<Token> prompt =
      vocabulary.tokenize_whole("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n");
  return measure_sampling(context, vocabulary, prompt, kSampledTokens);
}

int run(const Arguments& arguments) {
  // What llama.cpp says while it loads is not part of the table.
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  Report report;
  report.machine = machine();
  report.threads =
      arguments.threads > 0
          ? arguments.threads
          : static_cast<std::int32_t>(std::max(1U, std::thread::hardware_concurrency()));
  report.repeats = arguments.repeats;
  const std::filesystem::path models =
      arguments.models.empty() ? std::filesystem::path(SEGUE_BENCH_MODELS) : arguments.models;
  for (const MemoryKind kind : arguments.kinds) {
    std::cerr << "segue_bench: " << describe(kind, arguments.scale) << "\n";
    ModelFigures figures{.description = describe(kind, arguments.scale),
                         .memory_kind = to_string(kind),
                         .workloads = {},
                         .sampling = {}};
    figures.workloads = compare({.kind = kind,
                                 .scale = arguments.scale,
                                 .models = models,
                                 .workloads = arguments.workloads,
                                 .tokens_written = arguments.tokens_written,
                                 .repeats = arguments.repeats,
                                 .threads = report.threads,
                                 .checkpoints = arguments.checkpoints});
    if (arguments.sampling) {
      figures.sampling = sample(write_cycle_model(models, kind, arguments.scale), report.threads);
    }
    report.models.push_back(std::move(figures));
  }
  std::cout << to_markdown(report);
  if (!arguments.json.empty()) {
    std::ofstream file(arguments.json);
    file << to_json(report) << "\n";
    file.close();
    if (!file) throw std::runtime_error("cannot write " + arguments.json.string());
  }
  const bool reads_least =
      std::all_of(report.models.begin(), report.models.end(), [](const ModelFigures& model) {
        return std::all_of(model.workloads.begin(), model.workloads.end(),
                           [](const WorkloadFigures& w) { return w.read == w.least_read; });
      });
  if (!reads_least) std::cerr << "segue_bench: more was read than the least possible\n";
  return reads_least ? 0 : 1;
}

}  // namespace
}  // namespace segue::bench

int main(int argc, char** argv) {
  try {
    const auto arguments = segue::bench::parse_arguments({argv + 1, argv + argc});
    if (arguments.help) {
      std::cout << segue::bench::kUsage;
      return 0;
    }
    return segue::bench::run(arguments);
  } catch (const std::invalid_argument& error) {
    std::cerr << "segue_bench: " << error.what() << "\n" << segue::bench::kUsage;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "segue_bench: " << error.what() << "\n";
    return 1;
  }
}
