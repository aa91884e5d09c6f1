// A small vocabulary for tests: one token a byte, words that the longest match takes, and special
// tokens. With `add_space` it writes a space before a fragment, as SentencePiece vocabularies do.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/vocabulary.h"

namespace segue {

class FakeVocabulary final : public Vocabulary {
 public:
  FakeVocabulary(std::vector<std::string> words, std::vector<SpecialToken> specials,
                 bool add_space = false, bool add_bos = false)
      : specials_(std::move(specials)), add_space_(add_space) {
    for (int byte = 0; byte < 256; ++byte) pieces_.emplace_back(1, static_cast<char>(byte));
    for (std::string& word : words) pieces_.push_back(std::move(word));
    for (SpecialToken& special : specials_) {
      special.token = static_cast<Token>(pieces_.size());
      pieces_.push_back(special.text);
      if (special.text == "<s>" && add_bos) bos_ = special.token;
    }
    std::stable_sort(specials_.begin(), specials_.end(),
                     [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
  }

  std::int32_t size() const override { return static_cast<std::int32_t>(pieces_.size()); }
  Token added_bos() const override { return bos_; }
  Token bos() const override { return bos_; }
  Token eos() const override { return kNoToken; }
  Token eot() const override { return kNoToken; }
  bool ends_generation(Token) const override { return false; }
  bool is_control(Token token) const override {
    return std::any_of(specials_.begin(), specials_.end(),
                       [&](const auto& s) { return s.token == token && s.is_control; });
  }
  const std::vector<SpecialToken>& special_tokens() const override { return specials_; }

  void tokenize_plain(std::string_view text, std::vector<Token>& out) const override {
    std::string rest = add_space_ && !text.empty() ? " " : "";
    rest.append(text);
    const auto words_end = pieces_.size() - specials_.size();
    for (std::size_t at = 0; at < rest.size();) {
      Token best = static_cast<Token>(static_cast<unsigned char>(rest[at]));
      for (std::size_t i = 256; i < words_end; ++i) {
        const bool fits = rest.compare(at, pieces_[i].size(), pieces_[i]) == 0;
        if (fits && pieces_[i].size() > piece(best).size()) best = static_cast<Token>(i);
      }
      out.push_back(best);
      at += piece(best).size();
    }
  }
  std::vector<Token> tokenize_whole(std::string_view) const override { return {}; }
  std::string_view piece(Token token, bool with_control = false) const override {
    if (!with_control && is_control(token)) return {};
    return pieces_.at(static_cast<std::size_t>(token));
  }

  // The token whose text this is.
  Token token(std::string_view text) const {
    const auto it = std::find(pieces_.begin(), pieces_.end(), text);
    return it == pieces_.end() ? kNoToken : static_cast<Token>(it - pieces_.begin());
  }

 private:
  std::vector<std::string> pieces_;
  std::vector<SpecialToken> specials_;
  bool add_space_;
  Token bos_ = kNoToken;
};

}  // namespace segue
