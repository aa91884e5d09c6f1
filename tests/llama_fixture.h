// Vocabularies and chat templates of llama.cpp's source tree, for tests over all of them. A
// template without its model: the words for the beginning and the end of a text are the
// vocabulary's.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backend/chat_template.h"
#include "backend/vocabulary.h"
#include "chat.h"
#include "llama.h"
#include "segue/error.h"

namespace segue {

struct VocabularyFile {
  std::shared_ptr<llama_model> model;
  std::shared_ptr<const Vocabulary> vocabulary;
};

class TestVocabulary final : public Vocabulary {
 public:
  explicit TestVocabulary(const llama_model* model) : vocab_(llama_model_get_vocab(model)) {
    for (Token t = 0; t < size(); ++t) {
      std::string text(256, '\0');
      const auto n = llama_token_to_piece(vocab_, t, text.data(), 256, 0, true);
      text.resize(static_cast<std::size_t>(std::max(0, n)));
      pieces_.push_back(text);
      const auto attr = llama_vocab_get_attr(vocab_, t);
      const bool control = (attr & (LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN)) != 0;
      if (!control && (attr & LLAMA_TOKEN_ATTR_USER_DEFINED) == 0) continue;
      specials_.push_back({t, llama_vocab_get_text(vocab_, t), control,
                           (attr & LLAMA_TOKEN_ATTR_LSTRIP) != 0,
                           (attr & LLAMA_TOKEN_ATTR_RSTRIP) != 0});
    }
    std::sort(specials_.begin(), specials_.end(),
              [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
  }
  std::int32_t size() const override { return llama_vocab_n_tokens(vocab_); }
  Token added_bos() const override { return llama_vocab_get_add_bos(vocab_) ? bos() : kNoToken; }
  Token bos() const override { return llama_vocab_bos(vocab_); }
  Token eos() const override { return llama_vocab_eos(vocab_); }
  Token eot() const override { return llama_vocab_eot(vocab_); }
  bool ends_generation(Token t) const override { return llama_vocab_is_eog(vocab_, t); }
  bool is_control(Token t) const override { return llama_vocab_is_control(vocab_, t); }
  const std::vector<SpecialToken>& special_tokens() const override { return specials_; }
  void tokenize_plain(std::string_view text, std::vector<Token>& out) const override {
    tokenize(text, false, false, out);
  }
  std::vector<Token> tokenize_whole(std::string_view text) const override {
    std::vector<Token> out;
    tokenize(text, true, true, out);
    return out;
  }
  std::string_view piece(Token t, bool with_control) const override {
    if (!with_control && is_control(t)) return {};
    return pieces_[static_cast<std::size_t>(t)];
  }

 private:
  void tokenize(std::string_view text, bool special, bool parse, std::vector<Token>& out) const {
    std::vector<Token> tokens(text.size() + 8);
    const auto n = llama_tokenize(vocab_, text.data(), static_cast<int>(text.size()), tokens.data(),
                                  static_cast<int>(tokens.size()), special, parse);
    if (n < 0) throw std::runtime_error("tokenize");
    out.insert(out.end(), tokens.begin(), tokens.begin() + n);
  }
  const llama_vocab* vocab_;
  std::vector<std::string> pieces_;
  std::vector<SpecialToken> specials_;
};

class TestTemplate final : public ChatTemplate {
 public:
  TestTemplate(const llama_model* model, std::string source)
      : source_(std::move(source)), templates_(common_chat_templates_init(model, source_)) {}
  RenderedPrompt render(const std::vector<TemplateMessage>& messages,
                        const TemplateOptions& options) const override {
    common_chat_templates_inputs inputs;
    inputs.add_generation_prompt = options.add_generation_prompt;
    inputs.enable_thinking = options.enable_thinking.value_or(true);
    inputs.now = {};
    for (const auto& m : messages) {
      common_chat_msg msg;
      msg.role = m.role;
      msg.content = m.content;
      msg.reasoning_content = m.reasoning;
      inputs.messages.push_back(msg);
    }
    try {
      RenderedPrompt prompt;
      prompt.text = common_chat_templates_apply(templates_.get(), inputs).prompt;
      return prompt;
    } catch (const std::exception& e) {
      throw TemplateFailed(e.what());
    }
  }
  std::string_view source() const override { return source_; }

 private:
  std::string source_;
  common_chat_templates_ptr templates_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline VocabularyFile load_vocabulary(const std::filesystem::path& path) {
  auto params = llama_model_default_params();
  params.vocab_only = true;
  VocabularyFile file;
  file.model = {llama_model_load_from_file(path.c_str(), params), llama_model_free};
  if (file.model == nullptr) throw std::runtime_error("cannot load " + path.string());
  file.vocabulary = std::make_shared<TestVocabulary>(file.model.get());
  return file;
}

inline std::filesystem::path vocabulary_path(const std::string& name) {
  return std::filesystem::path(SEGUE_LLAMA_MODELS) / ("ggml-vocab-" + name + ".gguf");
}

inline std::filesystem::path template_path(const std::string& name) {
  return std::filesystem::path(SEGUE_LLAMA_MODELS) / "templates" / name;
}

inline std::vector<std::filesystem::path> template_paths() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(template_path(""))) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

inline std::unique_ptr<ChatTemplate> load_template(const VocabularyFile& file,
                                                   const std::filesystem::path& path) {
  return std::make_unique<TestTemplate>(file.model.get(), read_text(path));
}

}  // namespace segue
