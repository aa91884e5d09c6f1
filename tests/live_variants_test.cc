// The bundled model with facts of its file changed: without a template, without the token that ends
// a turn, with a BOS.
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ggml.h"
#include "gguf.h"
#include "live.h"

namespace segue {
namespace {

using live::greedy;
using live::greedy_session;
using live::held_after;
using live::model;

// A copy of the bundled model whose keys `change` has changed.
class Variant {
 public:
  explicit Variant(const std::function<void(gguf_context*)>& change) {
    using File = std::unique_ptr<gguf_context, decltype(&gguf_free)>;
    ggml_context* read = nullptr;
    const File original(
        gguf_init_from_file(live::model_path().c_str(), {.no_alloc = false, .ctx = &read}),
        &gguf_free);
    const std::unique_ptr<ggml_context, decltype(&ggml_free)> tensors(read, &ggml_free);
    if (original == nullptr) throw std::runtime_error("the bundled model cannot be read");
    const File copy(gguf_init_empty(), &gguf_free);
    gguf_set_kv(copy.get(), original.get());
    for (std::int64_t i = 0; i < gguf_get_n_tensors(original.get()); ++i) {
      gguf_add_tensor(copy.get(), ggml_get_tensor(read, gguf_get_tensor_name(original.get(), i)));
    }
    change(copy.get());
    if (!gguf_write_to_file(copy.get(), scratch_.path().c_str(), false)) {
      throw std::runtime_error("the variant cannot be written");
    }
  }
  Model load() const { return Model::load(scratch_.path(), live::small_options()); }

 private:
  live::ScratchFile scratch_;
};

TEST(LiveVariant, WithoutATemplateTheTurnSyntaxOfTheVocabularyIsUsed) {
  const Variant variant(
      [](gguf_context* file) { gguf_remove_key(file, "tokenizer.chat_template"); });
  const Model plain = variant.load();
  EXPECT_EQ(plain.capabilities().template_kind, "ChatML");
  Session chat(plain, greedy_session("You are a helpful assistant."));
  const Response told = chat.respond("My name is Ada.");
  const Response asked = chat.respond("What is my name?");
  EXPECT_EQ(asked.text, "Your name is Ada.");
  EXPECT_EQ(asked.usage.reused, held_after(told));
}

TEST(LiveVariant, ATemplateThatCannotBeReadIsAsNone) {
  const Variant variant([](gguf_context* file) {
    gguf_set_val_str(file, "tokenizer.chat_template", "{% if %}{{ nonsense");
  });
  const Model broken = variant.load();
  EXPECT_EQ(broken.capabilities().template_kind, "ChatML");
  Session chat(broken, greedy_session());
  chat.respond("My name is Ada.");
  EXPECT_EQ(chat.respond("What is my name?").text, "Your name is Ada.");
}

TEST(LiveVariant, ATemplateOfTheCallersThatCannotBeReadIsRefused) {
  ModelOptions options = live::small_options();
  options.chat_template = "{% if %}{{ nonsense";
  EXPECT_THROW(Model::load(live::model_path(), options), TemplateFailed);
}

// The token of that text under another name, by which nobody takes it for the end of a turn.
void rename_turn_end(gguf_context* file) {
  const std::string old_name = "<|im_end|>";
  const std::int64_t key = gguf_find_key(file, "tokenizer.ggml.tokens");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < gguf_get_arr_n(file, key); ++i) {
    texts.emplace_back(gguf_get_arr_str(file, key, i));
    if (texts.back() == old_name) texts.back() = "<|turn|>";
  }
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  gguf_set_arr_str(file, "tokenizer.ggml.tokens", pointers.data(), pointers.size());
  gguf_remove_key(file, "tokenizer.ggml.eos_token_id");

  std::string words = gguf_get_val_str(file, gguf_find_key(file, "tokenizer.chat_template"));
  for (std::size_t at; (at = words.find(old_name)) != std::string::npos;) {
    words.replace(at, old_name.size(), "<|turn|>");
  }
  gguf_set_val_str(file, "tokenizer.chat_template", words.c_str());
}

TEST(LiveVariant, WithoutAnEndOfTurnTokenAnswersEndAtTheirLimitOrAStopString) {
  const Variant variant(rename_turn_end);
  const Model endless = variant.load();
  Session chat(endless, greedy_session());
  const Response told = chat.respond("My name is Ada.");
  EXPECT_EQ(told.finish_reason, FinishReason::max_tokens);
  EXPECT_EQ(told.usage.written, greedy().max_tokens);
  ExchangeOptions stopped = greedy();
  stopped.stop = {"."};
  const Response asked = chat.respond("What is my name?", stopped);
  EXPECT_EQ(asked.finish_reason, FinishReason::stop_string);
  // The answer went on past the turn's end, whose token has no text; up to there all is kept.
  EXPECT_GT(asked.usage.reused, told.usage.prompt());
  chat.respond("Where do I live?");
  EXPECT_EQ(live::texts(chat).back(), live::fresh_answer(chat, variant.load()).text);
}

TEST(LiveVariant, ABosStandsAtTheBeginningOnce) {
  const Variant with_bos(
      [](gguf_context* file) { gguf_set_val_bool(file, "tokenizer.ggml.add_bos_token", true); });
  const Model own = with_bos.load();
  Session chat(own, greedy_session());
  Session without(model(), greedy_session());
  EXPECT_EQ(chat.respond("Hello!").usage.prompt(), without.respond("Hello!").usage.prompt() + 1);
  const Response told = chat.respond("My name is Ada.");
  const Response asked = chat.respond("What is my name?");
  EXPECT_EQ(asked.usage.reused, held_after(told));
  EXPECT_EQ(asked.text, live::fresh_answer(chat, with_bos.load()).text);
}

TEST(LiveVariant, ABosThatTheTemplateWritesIsNotDoubled) {
  const Variant with_bos(
      [](gguf_context* file) { gguf_set_val_bool(file, "tokenizer.ggml.add_bos_token", true); });
  const Variant writes_it_too([](gguf_context* file) {
    gguf_set_val_bool(file, "tokenizer.ggml.add_bos_token", true);
    const std::string own = gguf_get_val_str(file, gguf_find_key(file, "tokenizer.chat_template"));
    gguf_set_val_str(file, "tokenizer.chat_template", ("{{ bos_token }}" + own).c_str());
  });
  const Model once = with_bos.load();
  const Model twice = writes_it_too.load();
  EXPECT_EQ(Session(once, greedy_session()).respond("Hello!").usage.prompt(),
            Session(twice, greedy_session()).respond("Hello!").usage.prompt());
}

}  // namespace
}  // namespace segue
