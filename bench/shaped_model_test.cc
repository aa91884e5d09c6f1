#include "bench/shaped_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backend/units.h"
#include "llama.h"

namespace segue::bench {
namespace {

const std::filesystem::path kDirectory = SEGUE_TEST_MODELS;

// Just enough of llama.cpp to read and to write greedily.
class BareModel {
 public:
  explicit BareModel(const std::filesystem::path& path)
      : model_(llama_model_load_from_file(path.c_str(), llama_model_default_params()),
               llama_model_free) {
    if (!model_) throw std::runtime_error("cannot load " + path.string());
  }

  const llama_vocab* vocab() const { return llama_model_get_vocab(model_.get()); }

  std::vector<Token> tokenize(const std::string& text) const {
    std::vector<Token> out(text.size() + 1);
    const int n = llama_tokenize(vocab(), text.data(), static_cast<int>(text.size()), out.data(),
                                 static_cast<int>(out.size()), true, true);
    out.resize(static_cast<std::size_t>(n));
    return out;
  }

  std::string detokenize(const std::vector<Token>& tokens) const {
    std::string out;
    for (const Token token : tokens) {
      char piece[64];
      const int n = llama_token_to_piece(vocab(), token, piece, sizeof piece, 0, true);
      out.append(piece, static_cast<std::size_t>(n));
    }
    return out;
  }

  struct Written {
    std::vector<Token> tokens;
    std::vector<float> first_logits;
  };

  Written write(std::vector<Token> prompt, std::size_t count) const {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = 4096;
    params.n_threads = params.n_threads_batch = 1;
    params.swa_full = false;
    const std::unique_ptr<llama_context, decltype(&llama_free)> context(
        llama_init_from_model(model_.get(), params), llama_free);
    Written out;
    std::vector<Token> batch = std::move(prompt);
    while (out.tokens.size() < count) {
      if (llama_decode(context.get(),
                       llama_batch_get_one(batch.data(), static_cast<int>(batch.size()))) != 0) {
        throw std::runtime_error("decode failed");
      }
      const float* logits = llama_get_logits_ith(context.get(), -1);
      const std::vector<float> all(logits, logits + llama_vocab_n_tokens(vocab()));
      if (out.tokens.empty()) out.first_logits = all;
      batch = {static_cast<Token>(std::max_element(all.begin(), all.end()) - all.begin())};
      out.tokens.push_back(batch.front());
    }
    return out;
  }

 private:
  std::unique_ptr<llama_model, decltype(&llama_model_free)> model_;
};

std::string chat(const std::string& user) {
  return "<|im_start|>user\n" + user + "<|im_end|>\n<|im_start|>assistant\n";
}

class ShapedModels : public testing::TestWithParam<MemoryKind> {};

TEST_P(ShapedModels, ARandomModelWritesWholeWordsThatTokenizeToThemselves) {
  const BareModel model(write_random_model(kDirectory, GetParam(), 1));
  const auto written = model.write(model.tokenize(chat("Who are you?")), 100).tokens;
  const std::string text = model.detokenize(written);
  EXPECT_EQ(text.front(), ' ');
  std::vector<Token> again = model.tokenize(text);
  EXPECT_EQ(again, written) << text;
  const std::vector<Token> distinct = [&] {
    std::sort(again.begin(), again.end());
    again.erase(std::unique(again.begin(), again.end()), again.end());
    return again;
  }();
  EXPECT_GT(distinct.size(), 10U) << "stuck: " << text;
}

TEST_P(ShapedModels, ARandomModelsNextTokenDependsOnAllThatItHasRead) {
  const BareModel model(write_random_model(kDirectory, GetParam(), 1));
  const std::string tail = " asks what the time is, and then waits for a while";
  const auto of_ada = model.write(model.tokenize(chat("Ada" + tail)), 1).first_logits;
  const auto of_bob = model.write(model.tokenize(chat("Bob" + tail)), 1).first_logits;
  float most = 0;
  for (std::size_t i = 0; i < of_ada.size(); ++i) {
    most = std::max(most, std::abs(of_ada[i] - of_bob[i]));
  }
  EXPECT_GT(most, 0.1F);
}

TEST_P(ShapedModels, TheSeedAloneDecidesARandomModel) {
  const BareModel one(write_random_model(kDirectory, GetParam(), 1));
  std::filesystem::remove(write_random_model(kDirectory / "again", GetParam(), 1));
  const BareModel again(write_random_model(kDirectory / "again", GetParam(), 1));
  const BareModel other(write_random_model(kDirectory, GetParam(), 2));
  const std::vector<Token> prompt = one.tokenize(chat("Who are you?"));
  const auto written = one.write(prompt, 20).tokens;
  EXPECT_EQ(again.write(prompt, 20).tokens, written);
  EXPECT_NE(other.write(prompt, 20).tokens, written);
}

TEST_P(ShapedModels, ACycleModelWritesTheSameWordsWhateverItWasAsked) {
  const BareModel model(write_cycle_model(kDirectory, GetParam(), ModelScale::tiny));
  const auto written = model.write(model.tokenize(chat("Who are you?")), 500).tokens;
  const std::string text = model.detokenize(written);
  EXPECT_TRUE(text.starts_with("The ")) << text;
  EXPECT_EQ(model.tokenize(text), written);
  std::vector<Token> distinct = written;
  std::sort(distinct.begin(), distinct.end());
  EXPECT_EQ(std::unique(distinct.begin(), distinct.end()), distinct.end()) << text;
  EXPECT_EQ(model.write(model.tokenize(chat("Something else.")), 500).tokens, written);
}

INSTANTIATE_TEST_SUITE_P(EveryMemoryKind, ShapedModels,
                         testing::Values(MemoryKind::attention, MemoryKind::sliding_window,
                                         MemoryKind::hybrid, MemoryKind::recurrent),
                         [](const auto& info) { return to_string(info.param); });

}  // namespace
}  // namespace segue::bench
