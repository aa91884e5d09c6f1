#include "llama/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "llama/logits.h"
#include "llama/test_models.h"
#include "llama/vocabulary.h"
#include "sampling.h"
#include "segue/error.h"

namespace segue {
namespace {

using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> random_logits(std::uint32_t seed, std::size_t n) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(n);
  for (float& value : logits) value = normal(random);
  return logits;
}

class LlamaSamplerTest : public ::testing::Test {
 protected:
  LlamaSampler make(const SamplerOptions& options) {
    return LlamaSampler(tiny_model()->vocabulary(), 1024, options,
                        [this](std::int32_t) { return std::span<const float>(logits_); });
  }
  std::size_t n_vocab() const {
    return static_cast<std::size_t>(tiny_model()->facts().vocabulary_size);
  }
  std::vector<Token> run(LlamaSampler& sampler, int n) {
    std::vector<Token> tokens;
    for (int i = 0; i < n; ++i) {
      logits_ = random_logits(static_cast<std::uint32_t>(i), n_vocab());
      tokens.push_back(sampler.sample(0).token);
    }
    return tokens;
  }
  std::vector<Token> run(const SamplerOptions& options, int n = 60) {
    LlamaSampler sampler = make(options);
    return run(sampler, n);
  }
  std::vector<Token> run_whole_chain(const SamplerOptions& options, int n = 60) {
    LlamaSampler sampler = make(options);
    sampler.use_whole_chain();
    return run(sampler, n);
  }
  static SamplerOptions seeded(std::uint64_t seed) {
    SamplerOptions options;
    options.sampling.seed = seed;
    return options;
  }

  std::vector<float> logits_ = random_logits(1, n_vocab());
};

TEST_F(LlamaSamplerTest, TheSameSeedGivesTheSameTokensAndAnotherSeedOthers) {
  EXPECT_EQ(run(seeded(7)), run(seeded(7)));
  EXPECT_NE(run(seeded(7)), run(seeded(8)));
  EXPECT_NE(run(SamplerOptions{}), run(SamplerOptions{}));
}

TEST_F(LlamaSamplerTest, AllBitsOfASeedCount) {
  EXPECT_NE(run(seeded(7)), run(seeded(7 + (std::uint64_t{1} << 32))));
  EXPECT_NE(fold_seed(1), fold_seed(1 | (std::uint64_t{1} << 63)));
  EXPECT_EQ(fold_seed(12345), 12345U);
  EXPECT_NE(fold_seed(0xFFFFFFFF), LLAMA_DEFAULT_SEED);
  EXPECT_EQ(run(seeded(0xFFFFFFFF)), run(seeded(0xFFFFFFFF)));
}

TEST_F(LlamaSamplerTest, TheShortCutsChooseWhatTheWholeChainChooses) {
  std::vector<SamplerOptions> cases;
  const auto add = [&](auto change) {
    SamplerOptions options = seeded(3);
    change(options.sampling);
    cases.push_back(options);
  };
  add([](SamplingOptions&) {});
  add([](SamplingOptions& s) { s.temperature = 0; });
  add([](SamplingOptions& s) { s.temperature = 0, s.logit_bias = {{5, 3.0F}, {6, -kInf}}; });
  add([](SamplingOptions& s) { s.top_k = 1; });
  add([](SamplingOptions& s) { s.top_k = 200, s.top_p = 1, s.min_p = 0, s.temperature = 2; });
  add([](SamplingOptions& s) { s.typical_p = 0.5F; });
  add([](SamplingOptions& s) { s.xtc_probability = 0.7F, s.temperature = 1.5F; });
  add([](SamplingOptions& s) { s.dynamic_temperature_range = 0.5F; });
  add([](SamplingOptions& s) { s.temperature = 0, s.dynamic_temperature_range = 0.5F; });
  add([](SamplingOptions& s) { s.logit_bias = {{5, 3.0F}, {6, -kInf}}; });
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(run(cases[i]), run_whole_chain(cases[i])) << "case " << i;
  }
}

TEST_F(LlamaSamplerTest, ItChoosesWhatLlamaCommonsSamplerChooses) {
  // llama-common's sampler over the same chain of defaults, fed with the same logits.
  common_params_sampling params;
  params.seed = 11;
  params.no_perf = true;
  params.dry_penalty_last_n = 0;
  const std::unique_ptr<common_sampler, void (*)(common_sampler*)> theirs(
      common_sampler_init(tiny_model()->handle(), params), &common_sampler_free);
  LlamaSampler ours = make(seeded(11));
  for (std::uint32_t i = 0; i < 50; ++i) {
    logits_ = random_logits(i, n_vocab());
    std::vector<llama_token_data> all(logits_.size());
    for (std::size_t t = 0; t < all.size(); ++t) {
      all[t] = {static_cast<Token>(t), logits_[t], 0};
    }
    llama_token_data_array array{all.data(), all.size(), -1, false};
    llama_sampler_apply(common_sampler_get(theirs.get()), &array);
    EXPECT_EQ(ours.sample(0).token, array.data[array.selected].id);
  }
}

TEST_F(LlamaSamplerTest, EqualLogitsAreLeftToTheChain) {
  SamplerOptions options = seeded(5);
  const auto choose = [&](bool whole) {
    LlamaSampler sampler = make(options);
    if (whole) sampler.use_whole_chain();
    std::vector<Token> tokens;
    for (int i = 0; i < 40; ++i) tokens.push_back(sampler.sample(0).token);
    return tokens;
  };
  logits_.assign(n_vocab(), 1.0F);
  EXPECT_EQ(choose(false), choose(true));
}

TEST_F(LlamaSamplerTest, GreedyTakesTheFirstOfEqualTokens) {
  logits_.assign(n_vocab(), 0.0F);
  logits_[900] = logits_[70] = logits_[71] = 4;
  EXPECT_EQ(make({.sampling = {.temperature = 0}}).sample(0).token, 70);
}

TEST_F(LlamaSamplerTest, PenaltiesReachBackIntoThePrompt) {
  logits_.assign(n_vocab(), 0.0F);
  logits_[70] = 4;
  logits_[71] = 3.9F;
  SamplerOptions options{.sampling = {.temperature = 0, .repeat_penalty = 2.0F}};
  EXPECT_EQ(make(options).sample(0).token, 70);
  LlamaSampler sampler = make(options);
  sampler.accept_prompt(70);
  EXPECT_EQ(sampler.sample(0).token, 71);
}

TEST_F(LlamaSamplerTest, DryOverTheWholeContextBreaksARepetition) {
  logits_.assign(n_vocab(), 0.0F);
  logits_[73] = 2;
  logits_[80] = 1.9F;
  SamplerOptions options{.sampling = {.temperature = 0, .dry_multiplier = 1.0F}};
  LlamaSampler sampler = make(options);
  for (const Token token : {70, 71, 72, 73, 74, 70, 71, 72}) sampler.accept_prompt(token);
  EXPECT_EQ(sampler.sample(0).token, 80);
}

TEST_F(LlamaSamplerTest, LogProbabilitiesAreThoseOfTheRawLogits) {
  SamplerOptions options = seeded(1);
  options.n_top_logprobs = 5;
  options.sampling.logit_bias = {{3, -kInf}};
  const TokenChoice choice = make(options).sample(0);
  double sum = 0;
  for (const float value : logits_) sum += std::exp(static_cast<double>(value));
  EXPECT_NEAR(choice.logprob, logits_[static_cast<std::size_t>(choice.token)] - std::log(sum),
              1e-5);
  ASSERT_EQ(choice.top.size(), 5U);
  EXPECT_TRUE(std::ranges::is_sorted(
      choice.top, [](const auto& a, const auto& b) { return a.second > b.second; }));
  EXPECT_EQ(choice.top[0].first, std::ranges::max_element(logits_) - logits_.begin());
  options.n_top_logprobs = -1;
  EXPECT_TRUE(make(options).sample(0).top.empty());
}

TEST_F(LlamaSamplerTest, AGrammarIsFollowedToItsEnd) {
  const LlamaVocabulary vocabulary(tiny_model());
  for (const float temperature : {0.0F, 0.8F}) {
    SamplerOptions options = seeded(4);
    options.sampling.temperature = temperature;
    options.grammar = "root ::= \"yes\" | \"no\"";
    LlamaSampler sampler = make(options);
    std::string text;
    for (int i = 0; i < 10; ++i) {
      logits_ = random_logits(static_cast<std::uint32_t>(i), n_vocab());
      const Token token = sampler.sample(0).token;
      if (vocabulary.ends_generation(token)) break;
      text += vocabulary.piece(token);
    }
    EXPECT_TRUE(text == "yes" || text == "no") << text;
  }
}

TEST_F(LlamaSamplerTest, AGrammarThatHasEndedWithoutALeftTokenIsAnError) {
  SamplerOptions options = seeded(4);
  options.grammar = "root ::= \"a\"";
  options.ignore_eos = true;
  LlamaSampler sampler = make(options);
  sampler.sample(0);
  EXPECT_THROW(sampler.sample(0), DecodingFailed);
}

TEST_F(LlamaSamplerTest, ABrokenGrammarIsRefusedWithTheParsersWordsAndPrintsNothing) {
  const auto words = [&](const char* grammar) -> std::string {
    SamplerOptions options;
    options.grammar = grammar;
    try {
      make(options);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "accepted";
  };
  ::testing::internal::CaptureStderr();
  EXPECT_THAT(words("root = \"a\""), HasSubstr("expecting ::="));
  EXPECT_THAT(words("root ::= other"), HasSubstr("undefined rule 'other'"));
  EXPECT_THAT(words("# nothing\n\n"), HasSubstr("no rule 'root'"));
  EXPECT_THAT(words("first ::= \"a\""), HasSubstr("no rule 'root'"));
  EXPECT_THAT(words("root ::= root \"a\""), HasSubstr("left recursion"));
  EXPECT_THAT(words("%llguidance {}\nstart: \"a\""), HasSubstr("not valid GBNF"));
  EXPECT_EQ(words("# comment\nroot ::= \"a\" # end\n"), "accepted");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(LlamaSamplerTest, IgnoringTheEndForbidsEveryTokenThatEnds) {
  const LlamaVocabulary vocabulary(tiny_model());
  logits_.assign(n_vocab(), 0.0F);
  for (Token token = 0; token < vocabulary.size(); ++token) {
    if (vocabulary.ends_generation(token)) logits_[static_cast<std::size_t>(token)] = 9;
  }
  SamplerOptions options{.sampling = {.temperature = 0}};
  EXPECT_TRUE(vocabulary.ends_generation(make(options).sample(0).token));
  options.ignore_eos = true;
  EXPECT_FALSE(vocabulary.ends_generation(make(options).sample(0).token));
}

TEST_F(LlamaSamplerTest, LogitsThatAreNoNumbersAreAnError) {
  for (const float temperature : {0.0F, 0.8F}) {
    const SamplerOptions options{.sampling = {.temperature = temperature}};
    logits_ = random_logits(1, n_vocab());
    logits_[77] = std::nanf("");
    EXPECT_THROW(make(options).sample(0), DecodingFailed);
    logits_.assign(n_vocab(), -kInf);
    EXPECT_THROW(make(options).sample(0), DecodingFailed);
    logits_[3] = kInf;
    EXPECT_THROW(make(options).sample(0), DecodingFailed);
    logits_.clear();
    EXPECT_THROW(make(options).sample(0), DecodingFailed);
    logits_.assign(n_vocab(), -kInf);
    logits_[42] = 1;
    EXPECT_EQ(make(options).sample(0).token, 42);
  }
}

TEST_F(LlamaSamplerTest, OptionsOutOfRangeAreNamedWithTheirRange) {
  const auto words = [&](auto change) -> std::string {
    SamplerOptions options;
    change(options);
    try {
      make(options);
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(words([](SamplerOptions& o) { o.sampling.top_p = 1.5F; }),
              HasSubstr("top_p is 1.5; it must be from 0 to 1"));
  EXPECT_THAT(words([](SamplerOptions& o) { o.sampling.temperature = std::nanf(""); }),
              HasSubstr("temperature"));
  EXPECT_THAT(words([](SamplerOptions& o) { o.sampling.top_k = -1; }), HasSubstr("top_k"));
  EXPECT_THAT(words([](SamplerOptions& o) { o.sampling.repeat_penalty = 0; }),
              HasSubstr("repeat_penalty"));
  EXPECT_THAT(words([](SamplerOptions& o) { o.sampling.mirostat = 3; }), HasSubstr("mirostat"));
  EXPECT_THAT(words([](SamplerOptions& o) {
                o.sampling.logit_bias = {{1'000'000, 1.0F}};
              }),
              HasSubstr("no such token"));
  EXPECT_THAT(words([](SamplerOptions& o) {
                o.sampling.logit_bias = {{1, std::nanf("")}};
              }),
              HasSubstr("logit_bias"));
  EXPECT_EQ(words([](SamplerOptions& o) { o.sampling.mirostat = 2; }), "accepted");
}

TEST_F(LlamaSamplerTest, MirostatIsReproducible) {
  for (const int mirostat : {1, 2}) {
    SamplerOptions options = seeded(9);
    options.sampling.mirostat = mirostat;
    EXPECT_EQ(run(options), run(options));
  }
}

TEST(Logits, TheGreatestAreThoseOfASort) {
  for (const std::size_t n : {1U, 15U, 16U, 511U, 512U, 513U, 5000U}) {
    std::vector<float> logits = random_logits(static_cast<std::uint32_t>(n), n);
    if (n > 100) logits[99] = logits[7];
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, [&](auto a, auto b) { return logits[a] > logits[b]; });
    LogitScan scan;
    scan.look_at(logits);
    EXPECT_EQ(scan.arg_max(), static_cast<Token>(order[0]));
    std::vector<std::pair<Token, float>> top;
    for (const std::size_t k : {0U, 1U, 41U, 6000U}) {
      scan.greatest(k, top);
      ASSERT_EQ(top.size(), std::min<std::size_t>(k, n));
      for (std::size_t i = 0; i < top.size(); ++i) {
        EXPECT_EQ(top[i].first, static_cast<Token>(order[i]));
      }
    }
  }
  EXPECT_EQ(LogitScan().arg_max(), kNoToken);
}

}  // namespace
}  // namespace segue
