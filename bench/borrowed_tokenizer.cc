#include "bench/borrowed_tokenizer.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "llama.h"

namespace segue::bench {
namespace {

constexpr const char* kTemplate =
    "{%- for message in messages -%}"
    "{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}";

constexpr std::size_t kByteTokens = 256;  // of a byte-pair vocabulary, before the first merge

class VocabularyFile {
 public:
  explicit VocabularyFile(const std::string& name)
      : path_(std::string(SEGUE_VOCABULARY_DIR) + "/" + name),
        file_(gguf_init_from_file(path_.c_str(), {.no_alloc = true, .ctx = nullptr}), gguf_free) {
    if (!file_) throw std::runtime_error("cannot read " + path_);
  }

  std::vector<std::string> strings(const char* key) const {
    const std::int64_t id = find(key);
    std::vector<std::string> out(gguf_get_arr_n(file_.get(), id));
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = gguf_get_arr_str(file_.get(), id, i);
    return out;
  }

  std::vector<std::int32_t> integers(const char* key) const {
    const std::int64_t id = find(key);
    const auto* data = static_cast<const std::int32_t*>(gguf_get_arr_data(file_.get(), id));
    return {data, data + gguf_get_arr_n(file_.get(), id)};
  }

 private:
  std::int64_t find(const char* key) const {
    const std::int64_t id = gguf_find_key(file_.get(), key);
    if (id < 0) throw std::runtime_error(path_ + " has no " + key);
    return id;
  }

  std::string path_;
  std::unique_ptr<gguf_context, decltype(&gguf_free)> file_;
};

// llama.cpp's own tokenizer over a written file.
class LoadedVocabulary {
 public:
  explicit LoadedVocabulary(const std::filesystem::path& path) : model_(nullptr, llama_model_free) {
    llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    model_.reset(llama_model_load_from_file(path.c_str(), params));
    if (!model_) throw std::runtime_error("llama.cpp cannot load " + path.string());
  }

  std::vector<Token> tokenize(std::string_view text) const {
    const llama_vocab* vocab = llama_model_get_vocab(model_.get());
    std::vector<Token> out(text.size() + 1);
    const std::int32_t n =
        llama_tokenize(vocab, text.data(), static_cast<std::int32_t>(text.size()), out.data(),
                       static_cast<std::int32_t>(out.size()), false, false);
    out.resize(static_cast<std::size_t>(std::max(n, 0)));
    return out;
  }

 private:
  std::unique_ptr<llama_model, decltype(&llama_model_free)> model_;
};

void set_strings(gguf_context* out, const char* key, const std::vector<std::string>& values) {
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const std::string& value : values) pointers.push_back(value.c_str());
  gguf_set_arr_str(out, key, pointers.data(), pointers.size());
}

bool is_lower_case_word(std::string_view text) {
  return text.size() >= 4 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

}  // namespace

BorrowedTokenizer BorrowedTokenizer::qwen2(std::int32_t size) {
  const VocabularyFile file("ggml-vocab-qwen2.gguf");
  BorrowedTokenizer out;
  out.model_ = "gpt2";
  out.pre_ = "qwen2";
  out.space_ = "\u0120";
  out.newline_ = "\u010A";
  out.tokens_ = file.strings("tokenizer.ggml.tokens");
  out.types_ = file.integers("tokenizer.ggml.token_type");
  out.merges_ = file.strings("tokenizer.ggml.merges");
  if (size > 0) {
    const std::vector<std::string> special = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    const std::size_t plain = static_cast<std::size_t>(size) - special.size();
    out.tokens_.resize(plain);
    out.types_.resize(plain);
    out.merges_.resize(plain - kByteTokens);
    for (const std::string& text : special) {
      out.tokens_.push_back(text);
      out.types_.push_back(LLAMA_TOKEN_TYPE_CONTROL);
    }
  }
  out.bos_ = out.eos_ = out.find("<|endoftext|>");  // named, never added
  return out;
}

BorrowedTokenizer BorrowedTokenizer::gemma() {
  const VocabularyFile file("ggml-vocab-gemma-4.gguf");
  BorrowedTokenizer out;
  out.model_ = "gemma4";
  out.space_ = "\u2581";
  out.newline_.push_back('\n');
  out.tokens_ = file.strings("tokenizer.ggml.tokens");
  out.types_ = file.integers("tokenizer.ggml.token_type");
  out.merges_ = file.strings("tokenizer.ggml.merges");
  const std::pair<const char*, const char*> turn_tokens[] = {{"<unused0>", "<|im_start|>"},
                                                             {"<unused1>", "<|im_end|>"}};
  for (const auto& [unused, text] : turn_tokens) {
    const auto token = static_cast<std::size_t>(out.find(unused));
    out.tokens_[token] = text;
    out.types_[token] = LLAMA_TOKEN_TYPE_CONTROL;
  }
  out.bos_ = out.find("<bos>");
  out.adds_bos_ = true;
  out.eos_ = out.find("<eos>");
  return out;
}

bool BorrowedTokenizer::is_control(Token token) const {
  return types_[static_cast<std::size_t>(token)] == LLAMA_TOKEN_TYPE_CONTROL;
}

Token BorrowedTokenizer::find(const std::string& text) const {
  const auto found = std::find(tokens_.begin(), tokens_.end(), text);
  if (found == tokens_.end()) throw std::runtime_error("no token is spelled " + text);
  return static_cast<Token>(found - tokens_.begin());
}

void BorrowedTokenizer::write_to(GgufWriter& out) const {
  out.set("tokenizer.ggml.model", model_);
  if (!pre_.empty()) out.set("tokenizer.ggml.pre", pre_);
  set_strings(out.keys(), "tokenizer.ggml.tokens", tokens_);
  gguf_set_arr_data(out.keys(), "tokenizer.ggml.token_type", GGUF_TYPE_INT32, types_.data(),
                    types_.size());
  set_strings(out.keys(), "tokenizer.ggml.merges", merges_);
  out.set("tokenizer.ggml.bos_token_id", static_cast<std::uint32_t>(bos_));
  out.set("tokenizer.ggml.eos_token_id", static_cast<std::uint32_t>(eos_));
  gguf_set_val_bool(out.keys(), "tokenizer.ggml.add_bos_token", adds_bos_);
  out.set("tokenizer.chat_template", std::string(kTemplate));
}

std::vector<Token> BorrowedTokenizer::words(const std::filesystem::path& written,
                                            std::size_t most) const {
  const LoadedVocabulary vocabulary(written);
  std::vector<Token> words;
  for (Token token = 0; token < size() && words.size() < most; ++token) {
    const std::string& stored = tokens_[static_cast<std::size_t>(token)];
    if (!stored.starts_with(space_)) continue;
    const std::string word = stored.substr(space_.size());
    if (!is_lower_case_word(word)) continue;
    // Between two copies of itself a word has a neighbour on either side.
    const std::string text = " " + word;
    const std::vector<Token> itself(3, token);
    if (vocabulary.tokenize(text + text + text) == itself) words.push_back(token);
  }
  return words;
}

}  // namespace segue::bench
