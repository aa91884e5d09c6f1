// A byte-pair tokenizer taken from a vocabulary file of llama.cpp's source tree, with the turn
// tokens and the template of ChatML: what a made-up model needs to chat.
//
// Immutable after construction; thread-safe as such.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "backend/units.h"
#include "bench/gguf_writer.h"

namespace segue::bench {

class BorrowedTokenizer {
 public:
  // qwen2's, cut to its first tokens and merges; 0: all 151,936. At least 1,000. A cut vocabulary
  // tokenizes as a real one of that size does, since every merge makes the token at its own rank.
  static BorrowedTokenizer qwen2(std::int32_t size = 0);
  // gemma-4's 262,144 tokens; two unused ones become the turn tokens.
  static BorrowedTokenizer gemma();

  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }
  bool is_control(Token token) const;
  // The token of exactly this (stored) text. Throws std::runtime_error where there is none.
  Token find(const std::string& text) const;

  Token newline() const { return find(newline_); }

  void write_to(GgufWriter& out) const;

  // Whole lower-case words of four letters or more, each with the space before it, which in any
  // order tokenize to themselves; in order of their ids, at most `most`. `written` is any file that
  // write_to() went into. Throws std::runtime_error where llama.cpp cannot load it.
  std::vector<Token> words(const std::filesystem::path& written, std::size_t most) const;

 private:
  BorrowedTokenizer() = default;

  std::string model_;    // tokenizer.ggml.model
  std::string pre_;      // tokenizer.ggml.pre; "" where the model implies it
  std::string space_;    // how a leading space is spelled in a token's stored text
  std::string newline_;  // and a line end
  std::vector<std::string> tokens_;
  std::vector<std::int32_t> types_;  // llama_token_type
  std::vector<std::string> merges_;
  Token bos_ = kNoToken;
  bool adds_bos_ = false;  // at the start of a text
  Token eos_ = kNoToken;
};

}  // namespace segue::bench
