// Encoder-decoder models: every prompt is read as a whole by a context of single use. The answers
// are those of a bare loop over llama_encode and llama_decode.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/encoder_decoder_model.h"
#include "llama.h"
#include "llama/encoder_decoder_context.h"
#include "llama/model_file.h"
#include "segue/segue.h"

namespace segue {
namespace {

constexpr int kWritten = 8;

std::filesystem::path model_path() {
  return bench::write_random_encoder_decoder(SEGUE_TEST_MODELS, 3);
}

ModelOptions options(std::int32_t slots = 2) {
  ModelOptions options;
  options.slots = slots;
  options.threads = 1;
  return options;
}

SessionOptions greedy() {
  SessionOptions session;
  session.exchange.sampling.temperature = 0;
  session.exchange.max_tokens = kWritten;
  session.exchange.ignore_eos = true;
  return session;
}

// llama.cpp alone: the arg-max tokens after an input.
std::vector<Token> bare_answer(llama_model* model, std::vector<Token> input) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = params.n_batch = params.n_ubatch = 512;
  params.n_threads = params.n_threads_batch = 1;
  const std::unique_ptr<llama_context, decltype(&llama_free)> context(
      llama_init_from_model(model, params), &llama_free);
  const auto size = static_cast<std::int32_t>(input.size());
  EXPECT_EQ(llama_encode(context.get(), llama_batch_get_one(input.data(), size)), 0);
  const std::int32_t n_vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
  std::vector<Token> written;
  Token next = llama_model_decoder_start_token(model);
  for (int i = 0; i < kWritten; ++i) {
    EXPECT_EQ(llama_decode(context.get(), llama_batch_get_one(&next, 1)), 0);
    const float* logits = llama_get_logits_ith(context.get(), -1);
    next = static_cast<Token>(std::max_element(logits, logits + n_vocab) - logits);
    written.push_back(next);
  }
  return written;
}

TEST(EncoderDecoder, WritesWhatABareLoopWrites) {
  const auto model = ModelFile::load(model_path(), options());
  EncoderDecoderContext context(model, options());
  const auto sampler = context.make_sampler({.sampling = {.temperature = 0}});
  for (std::int32_t length : {3, 20, 90}) {
    std::vector<Token> input;
    for (std::int32_t i = 0; i < length; ++i) input.push_back((i * 37 + length) % 1000 + 300);
    const SlotId slot(length % 2);
    context.clear(slot);
    std::vector<BatchToken> batch;
    for (std::int32_t i = 0; i < length; ++i) {
      batch.push_back({input[static_cast<std::size_t>(i)], Position(i), slot, i + 1 == length});
    }
    ASSERT_EQ(context.decode(batch), DecodeStatus::ok);
    std::vector<Token> written = {sampler->sample(length - 1).token};
    while (static_cast<int>(written.size()) < kWritten) {
      const Position position(length + static_cast<std::int64_t>(written.size()) - 1);
      const BatchToken next{written.back(), position, slot, true};
      ASSERT_EQ(context.decode(std::span(&next, 1)), DecodeStatus::ok);
      EXPECT_EQ(context.position_max(slot), position);
      written.push_back(sampler->sample(0).token);
    }
    EXPECT_EQ(written, bare_answer(model->handle(), input));
  }
}

TEST(EncoderDecoder, ATokenOutOfPlaceIsRefused) {
  EncoderDecoderContext context(ModelFile::load(model_path(), options()), options());
  const BatchToken token{5, Position(3), SlotId(0), true};
  EXPECT_NE(context.decode(std::span(&token, 1)), DecodeStatus::ok);
}

TEST(EncoderDecoder, EveryTurnReadsAllAndAnswersLikeAFreshRead) {
  const Model model = Model::load(model_path(), options());
  EXPECT_EQ(model.capabilities().memory_kind, "single_use");
  Session chat(model, greedy());
  Session other(model, greedy());
  chat.respond("one two three");
  other.respond("another talk");
  const Response second = chat.respond("four five");
  EXPECT_EQ(second.usage.reused, 0);
  EXPECT_GT(second.usage.read, 0);
  EXPECT_EQ(second.usage.written, kWritten);

  Model fresh_model = Model::load(model_path(), options(1));
  Session fresh(fresh_model, greedy());
  fresh.respond("one two three");
  fresh_model.clear_cached_state();
  EXPECT_EQ(fresh.respond("four five").text, second.text);
  EXPECT_EQ(model.cached_state().parked_states, 0);
}

TEST(EncoderDecoder, RegenerateForkAndSaveWork) {
  const Model model = Model::load(model_path(), options());
  Session chat(model, greedy());
  const std::string text = chat.respond("alpha beta").text;
  EXPECT_EQ(chat.regenerate().text, text);
  Session branch = chat.fork();
  EXPECT_EQ(branch.respond("gamma").text, chat.respond("gamma").text);
  const std::filesystem::path file =
      std::filesystem::path(testing::TempDir()) / "encoder-decoder.segue";
  chat.save(file);
  Session opened = Session::open(model, file);
  EXPECT_EQ(opened.respond("delta").text, chat.respond("delta").text);
}

TEST(EncoderDecoder, APromptThatIsTooLongIsATypedError) {
  const Model model = Model::load(model_path(), options());
  Session chat(model, greedy());
  std::string text;
  for (int i = 0; i < 900; ++i) text += "word ";
  EXPECT_THROW(chat.respond(text), ContextOverflow);
  EXPECT_TRUE(chat.transcript().empty());
  EXPECT_FALSE(chat.respond("short").text.empty());
}

}  // namespace
}  // namespace segue
