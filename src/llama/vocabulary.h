// A model's vocabulary over llama.cpp: tokens, their text, and the special tokens as llama.cpp's
// tokenizer looks for them.
//
// Thread-safe: immutable after construction. Keeps the model alive.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/vocabulary.h"
#include "llama/model_file.h"

namespace segue {

class LlamaVocabulary : public Vocabulary {
 public:
  // Throws InvalidModel for a model without a tokenizer.
  explicit LlamaVocabulary(std::shared_ptr<const ModelFile> model);
  // For a vocabulary that belongs to no ModelFile (a vocabulary file); `vocab` must outlive it.
  explicit LlamaVocabulary(const llama_vocab* vocab);

  std::int32_t size() const override { return size_; }
  Token added_bos() const override { return added_bos_; }
  Token bos() const override { return bos_; }
  Token eos() const override { return eos_; }
  Token eot() const override { return eot_; }
  bool ends_generation(Token token) const override;
  bool is_control(Token token) const override;
  const std::vector<SpecialToken>& special_tokens() const override { return special_tokens_; }

  void tokenize_plain(std::string_view text, std::vector<Token>& out) const override;
  std::vector<Token> tokenize_whole(std::string_view text) const override;
  std::string_view piece(Token token, bool with_control = false) const override;

 private:
  struct Piece {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    bool control = false;
    bool ends_generation = false;
  };

  bool has(Token token) const { return token >= 0 && token < size_; }
  void tokenize(std::string_view text, bool whole, std::vector<Token>& out) const;
  void collect_special_tokens();
  void collect_pieces();

  std::shared_ptr<const ModelFile> model_;
  const llama_vocab* vocab_;
  std::int32_t size_;
  Token added_bos_;
  Token bos_;
  Token eos_;
  Token eot_;
  std::vector<SpecialToken> special_tokens_;
  std::vector<Piece> pieces_;
  std::string piece_text_;  // of all pieces, one after another
};

}  // namespace segue
