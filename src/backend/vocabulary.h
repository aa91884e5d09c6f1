// Tokens and their text. The rules of which text may become a control token are in chat/; here are
// the facts that those rules need.
//
// Thread-safe: immutable after construction.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/units.h"

namespace segue {

// A token that the tokenizer finds in text before anything else, in the order it looks for them
// (longest text first, as llama.cpp does).
struct SpecialToken {
  Token token = kNoToken;
  std::string text;
  bool is_control = false;    // must never arise from content; user-defined tokens may
  bool strips_left = false;   // swallows white space before it
  bool strips_right = false;  // swallows white space after it
};

class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  virtual std::int32_t size() const = 0;
  // BOS where the tokenizer adds one at the start of a text, else kNoToken.
  virtual Token added_bos() const = 0;
  virtual Token bos() const = 0;
  virtual Token eos() const = 0;
  virtual Token eot() const = 0;
  virtual bool ends_generation(Token token) const = 0;
  virtual bool is_control(Token token) const = 0;
  virtual const std::vector<SpecialToken>& special_tokens() const = 0;

  // Tokens of plain text: no control token arises, no BOS or EOS is added. Appends to `out`.
  virtual void tokenize_plain(std::string_view text, std::vector<Token>& out) const = 0;
  // llama.cpp's own tokenization of a whole text, control tokens parsed, BOS as the model says: the
  // reference that tests compare with.
  virtual std::vector<Token> tokenize_whole(std::string_view text) const = 0;
  // The text of one token as it appears in running output (bytes; may be part of a character).
  // Control tokens have none unless `with_control`.
  virtual std::string_view piece(Token token, bool with_control = false) const = 0;
};

}  // namespace segue
