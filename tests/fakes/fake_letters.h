// The vocabulary of FakeMemory: a letter a token, token 0 ends an answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/vocabulary.h"
#include "fakes/fake_memory.h"

namespace segue {

class FakeLetters final : public Vocabulary {
 public:
  std::int32_t size() const override { return kFakeVocabulary; }
  Token added_bos() const override { return kNoToken; }
  Token bos() const override { return kNoToken; }
  Token eos() const override { return kFakeEnd; }
  Token eot() const override { return kFakeEnd; }
  bool ends_generation(Token token) const override { return token == kFakeEnd; }
  bool is_control(Token token) const override { return token == kFakeEnd; }
  const std::vector<SpecialToken>& special_tokens() const override { return none_; }
  void tokenize_plain(std::string_view text, std::vector<Token>& out) const override {
    for (const char c : text) out.push_back(c - 'a' + 1);
  }
  std::vector<Token> tokenize_whole(std::string_view text) const override {
    std::vector<Token> tokens;
    tokenize_plain(text, tokens);
    return tokens;
  }
  std::string_view piece(Token token, bool with_control = false) const override {
    static constexpr std::string_view kPieces = "$abcdefghijklmnopqrstuvw";
    if (token == kFakeEnd && !with_control) return {};
    return kPieces.substr(static_cast<std::size_t>(token), 1);
  }

 private:
  std::vector<SpecialToken> none_;
};

}  // namespace segue
