// Every architecture that llama.cpp knows, on random models of its own making: whatever way a state
// was brought back, the answer is that of a fresh, full read.
//
// The models have no tokenizer, so this stands at the engine's level: prompt items in, tokens and
// log-probabilities out. Noise is measured, not assumed: the same prompts are read anew in pieces
// of another length, and what reuse may differ by is a small multiple of what that differs by.
//
//   segue_architectures_test DIR [NAME-PART]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "llama/context.h"
#include "llama/model_file.h"
#include "segue/error.h"

namespace segue {
namespace {

namespace fs = std::filesystem;

constexpr std::int32_t kWritten = 6;
constexpr std::int32_t kTop = 4;
// A greater noise than this is no rounding: the graph of the model is not causal over pieces.
constexpr double kSteady = 0.01;

// These models have no text: every token is itself, none ends an answer.
class NoText final : public Vocabulary {
 public:
  explicit NoText(std::int32_t size) : size_(size) {}
  std::int32_t size() const override { return size_; }
  Token added_bos() const override { return kNoToken; }
  Token bos() const override { return kNoToken; }
  Token eos() const override { return kNoToken; }
  Token eot() const override { return kNoToken; }
  bool ends_generation(Token) const override { return false; }
  bool is_control(Token) const override { return false; }
  const std::vector<SpecialToken>& special_tokens() const override { return none_; }
  void tokenize_plain(std::string_view, std::vector<Token>&) const override {}
  std::vector<Token> tokenize_whole(std::string_view) const override { return {}; }
  std::string_view piece(Token, bool) const override { return "x"; }

 private:
  std::int32_t size_;
  std::vector<SpecialToken> none_;
};

// A conversation of items; turns begin at its boundaries.
struct Talk {
  Prompt prompt;

  void turn(std::int32_t length, std::uint32_t seed, std::int32_t vocabulary) {
    if (!prompt.items.empty()) {
      prompt.boundaries.emplace_back(static_cast<std::int64_t>(prompt.items.size()));
    }
    std::mt19937 random(seed);
    for (std::int32_t i = 0; i < length; ++i) {
      const auto token = static_cast<Token>(random() % static_cast<std::uint32_t>(vocabulary));
      prompt.items.push_back(PromptItem::of_token(token));
    }
  }
  void answer(const AnswerResult& result) {
    for (const Token token : result.tokens) prompt.items.push_back(PromptItem::of_token(token));
  }
  // The talk up to where its n-th turn begins.
  Talk before(std::size_t turn) const {
    Talk talk;
    const auto length = static_cast<std::ptrdiff_t>(prompt.boundaries[turn].value);
    talk.prompt.items.assign(prompt.items.begin(), prompt.items.begin() + length);
    talk.prompt.boundaries.assign(prompt.boundaries.begin(),
                                  prompt.boundaries.begin() + static_cast<std::ptrdiff_t>(turn));
    return talk;
  }
  std::int64_t length() const { return static_cast<std::int64_t>(prompt.items.size()); }
};

class Bench {
 public:
  Bench(const std::shared_ptr<ModelFile>& model, std::int32_t slots, std::int32_t batch)
      : vocabulary_(model->facts().vocabulary_size) {
    ModelOptions options;
    options.slots = slots;
    options.context_length = 512;
    options.batch_size = batch;
    options.threads = 1;
    auto context = std::make_unique<LlamaContext>(model, options);
    traits_ = context->shape().memory;
    engine_ = std::make_unique<Engine>(std::move(context), vocabulary_, EngineOptions{});
  }

  Engine& engine() { return *engine_; }
  const MemoryTraits& traits() const { return traits_; }

  AnswerResult ask(SessionId session, const Talk& talk) {
    GenerationRequest request;
    request.session = session;
    request.prompt = talk.prompt;
    request.sampler.sampling.temperature = 0;
    request.sampler.n_top_logprobs = kTop;
    request.max_tokens = kWritten;
    const auto answer = engine_->submit(std::move(request));
    for (;;) {
      AnswerEvent event = answer->next();
      if (auto* result = std::get_if<AnswerResult>(&event)) return std::move(*result);
    }
  }
  AnswerResult fresh(const Talk& talk) {
    engine_->clear_cached_state();
    return ask(engine_->open_session("fresh"), talk);
  }

 private:
  NoText vocabulary_;
  MemoryTraits traits_;
  std::unique_ptr<Engine> engine_;
};

// The greatest difference in log-probability over the likeliest tokens, up to the first step at
// which the chosen tokens differ; `differs` tells of such a step whose choice was not a near tie.
struct Difference {
  double logprob = 0;
  bool differs = false;
};

using Top = std::vector<std::pair<Token, float>>;

// A token that one list does not name is at most as likely there as the last one that it does.
double difference(const Top& a, const Top& b) {
  double most = 0;
  for (const auto& [token, value] : a) {
    const auto same = std::ranges::find(b, token, &Top::value_type::first);
    const double apart =
        same != b.end() ? std::abs(value - same->second) : std::max(0.0F, value - b.back().second);
    most = std::max(most, apart);
  }
  return most;
}

Difference compare(const AnswerResult& a, const AnswerResult& b, double tie) {
  Difference out;
  const std::size_t steps = std::min(a.logprobs.size(), b.logprobs.size());
  for (std::size_t i = 0; i < steps; ++i) {
    const Top& top = a.logprobs[i].top;
    out.logprob = std::max(
        {out.logprob, difference(top, b.logprobs[i].top), difference(b.logprobs[i].top, top)});
    if (a.logprobs[i].token != b.logprobs[i].token) {
      out.differs = top[0].second - top[1].second > tie;
      return out;
    }
  }
  out.differs = a.tokens.size() != b.tokens.size();
  return out;
}

struct Row {
  std::string name;
  std::vector<std::string> wrong;
  std::string reads;
  double noise = 0;
  double worst = 0;
};

class Trial {
 public:
  Trial(const std::shared_ptr<ModelFile>& model, Row& row)
      : row_(row), own_(model, 3, 256), other_chunks_(model, 3, 19) {}

  void run(std::int32_t vocabulary);

 private:
  void check(const std::string& what, SessionId session, const Talk& talk,
             std::int64_t read_at_most, AnswerResult* keep = nullptr);

  Row& row_;
  Bench own_;
  Bench other_chunks_;
};

void Trial::check(const std::string& what, SessionId session, const Talk& talk,
                  std::int64_t read_at_most, AnswerResult* keep) {
  const AnswerResult result = own_.ask(session, talk);
  // The fresh reads run on a context of their own, so that they disturb nothing here.
  const AnswerResult whole = other_chunks_.fresh(talk);
  row_.reads +=
      " " + what + "=" + std::to_string(result.usage.read) + "/" + std::to_string(talk.length());
  const Difference difference = compare(result, whole, 8 * row_.noise);
  row_.worst = std::max(row_.worst, difference.logprob);
  if (difference.differs) row_.wrong.push_back(what + ": other tokens than a fresh read");
  if (difference.logprob > 8 * row_.noise) {
    row_.wrong.push_back(what + ": log-probabilities differ by " +
                         std::to_string(difference.logprob));
  }
  if (result.usage.read > read_at_most) {
    row_.wrong.push_back(what + ": read " + std::to_string(result.usage.read) + ", at most " +
                         std::to_string(read_at_most) + " were needed");
  }
  if (keep != nullptr) *keep = result;
}

void Trial::run(std::int32_t vocabulary) {
  Talk first;
  first.turn(60, 1, vocabulary);
  // This model's own noise: the same read in pieces of another length.
  Bench& a = own_;
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    Talk probe;
    probe.turn(60 + 20 * static_cast<std::int32_t>(seed), 100 + seed, vocabulary);
    const AnswerResult one = a.fresh(probe);
    const AnswerResult two = other_chunks_.fresh(probe);
    row_.noise = std::max(row_.noise, compare(one, two, 0).logprob);
  }
  row_.noise = std::max(row_.noise, 1e-4);
  a.engine().clear_cached_state();

  const SessionId s = a.engine().open_session("t");
  AnswerResult r;
  check("first", s, first, 60, &r);
  first.answer(r);
  Talk second = first;
  second.turn(40, 2, vocabulary);
  // The last written token was never decoded, so it is read with the new turn.
  check("append", s, second, 41, &r);
  Talk third = second;
  third.answer(r);
  third.turn(30, 3, vocabulary);
  check("append2", s, third, 31, &r);
  check("regenerate", s, third, 1);

  Talk rewound = third.before(1);
  rewound.turn(25, 4, vocabulary);
  check("rewind", s, rewound, 25);
  Talk far = third.before(0);
  far.turn(35, 5, vocabulary);
  check("far-edit", s, far, 35, &r);
  far.answer(r);
  far.turn(20, 6, vocabulary);
  check("far-append", s, far, 21);
  Talk back = third;
  back.turn(10, 7, vocabulary);
  check("return", s, back, 11);

  // More sessions than slots, in turn: states are parked and come back.
  std::vector<Talk> talks(5);
  std::vector<SessionId> sessions;
  for (std::uint32_t i = 0; i < talks.size(); ++i) {
    sessions.push_back(a.engine().open_session("t"));
    talks[i].turn(50, 20 + i, vocabulary);
    check("open" + std::to_string(i), sessions[i], talks[i], 50, &r);
    talks[i].answer(r);
  }
  for (std::uint32_t i = 0; i < talks.size(); ++i) {
    talks[i].turn(12, 40 + i, vocabulary);
    check("turn" + std::to_string(i), sessions[i], talks[i], 13, &r);
    talks[i].answer(r);
  }
  Talk parked_edit = talks[0].before(0);
  parked_edit.turn(9, 60, vocabulary);
  check("parked-edit", sessions[0], parked_edit, 9 + 1);
  // A newcomer that begins like another's first turn takes nothing away.
  const SessionId newcomer = a.engine().open_session("t");
  Talk shared = talks[1].before(0);
  shared.turn(7, 61, vocabulary);
  check("shared", newcomer, shared, 7 + 1);
  talks[1].turn(5, 62, vocabulary);
  check("after-shared", sessions[1], talks[1], 6);
}

Row run_model(const fs::path& file) {
  Row row{.name = file.stem().string(), .wrong = {}, .reads = {}};
  try {
    ModelOptions options;
    options.threads = 1;
    const std::shared_ptr<ModelFile> model = ModelFile::load(file, options);
    Trial trial(model, row);
    trial.run(std::min<std::int32_t>(model->facts().vocabulary_size, 128));
  } catch (const InvalidModel& e) {
    row.reads = std::string(" cannot chat: ") + e.what();
  } catch (const std::exception& e) {
    row.wrong.push_back(e.what());
  }
  return row;
}

int run_all(const fs::path& directory, const std::string& part) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".gguf" &&
        entry.path().filename().string().find(part) != std::string::npos) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  int passed = 0;
  int failed = 0;
  for (const fs::path& file : files) {
    Row row = run_model(file);
    (row.wrong.empty() ? passed : failed) += 1;
    if (row.noise > kSteady) row.reads += " (its own reads differ with the length of the pieces)";
    std::printf("%s %s noise %.2g worst %.2g%s\n", row.wrong.empty() ? "ok  " : "FAIL",
                row.name.c_str(), row.noise, row.worst, row.reads.c_str());
    for (const std::string& wrong : row.wrong) std::printf("     %s\n", wrong.c_str());
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace segue

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s DIR [NAME-PART]\n", argv[0]);
    return 2;
  }
  return segue::run_all(argv[1], argc > 2 ? argv[2] : "");
}
