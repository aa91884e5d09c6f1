#include "llama/vocabulary.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "llama.h"
#include "segue/error.h"

namespace segue {

namespace {

bool has_attribute(const llama_vocab* vocab, Token token, unsigned attribute) {
  return (static_cast<unsigned>(llama_vocab_get_attr(vocab, token)) & attribute) != 0;
}

}  // namespace

LlamaVocabulary::LlamaVocabulary(std::shared_ptr<const ModelFile> model)
    : LlamaVocabulary(model->vocabulary()) {
  model_ = std::move(model);
}

LlamaVocabulary::LlamaVocabulary(const llama_vocab* vocab)
    : vocab_(vocab),
      size_(llama_vocab_n_tokens(vocab)),
      bos_(llama_vocab_bos(vocab)),
      eos_(llama_vocab_eos(vocab)),
      eot_(llama_vocab_eot(vocab)) {
  if (llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_NONE || size_ == 0) {
    throw InvalidModel(
        "the model file has no tokenizer, so text cannot be read. Convert the model again with its "
        "tokenizer files.");
  }
  added_bos_ = llama_vocab_get_add_bos(vocab) ? bos_ : kNoToken;
  collect_special_tokens();
  collect_pieces();
}

// The same selection and the same sort as llama.cpp's own cache (llama_vocab::impl::load): where
// two texts of one length overlap in a prompt, the one that it looks for first wins, and std::sort
// is not stable, so only the same call on the same sequence gives the same order.
void LlamaVocabulary::collect_special_tokens() {
  constexpr unsigned kSpecial =
      LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_USER_DEFINED | LLAMA_TOKEN_ATTR_UNKNOWN;
  std::vector<Token> ids;
  for (Token token = 0; token < size_; ++token) {
    if (has_attribute(vocab_, token, kSpecial)) ids.push_back(token);
  }
  std::sort(ids.begin(), ids.end(), [this](Token a, Token b) {
    return std::strlen(llama_vocab_get_text(vocab_, a)) >
           std::strlen(llama_vocab_get_text(vocab_, b));
  });
  special_tokens_.reserve(ids.size());
  for (const Token token : ids) {
    special_tokens_.push_back(
        {.token = token,
         .text = llama_vocab_get_text(vocab_, token),
         // Tokens of unknown text are left out of plain text just as control tokens are.
         .is_control =
             has_attribute(vocab_, token, LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN),
         .strips_left = has_attribute(vocab_, token, LLAMA_TOKEN_ATTR_LSTRIP),
         .strips_right = has_attribute(vocab_, token, LLAMA_TOKEN_ATTR_RSTRIP)});
  }
}

void LlamaVocabulary::collect_pieces() {
  pieces_.resize(static_cast<std::size_t>(size_));
  std::vector<char> buffer(256);
  for (Token token = 0; token < size_; ++token) {
    const auto write = [&](bool special) {
      return llama_token_to_piece(vocab_, token, buffer.data(),
                                  static_cast<std::int32_t>(buffer.size()), 0, special);
    };
    std::int32_t length = write(true);
    if (length < 0) {
      buffer.resize(static_cast<std::size_t>(-length));
      length = write(true);
    }
    Piece& piece = pieces_[static_cast<std::size_t>(token)];
    piece.offset = static_cast<std::uint32_t>(piece_text_.size());
    piece.length = static_cast<std::uint32_t>(std::max(length, 0));
    piece.ends_generation = llama_vocab_is_eog(vocab_, token);
    piece.control =
        has_attribute(vocab_, token, LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_UNKNOWN);
    piece_text_.append(buffer.data(), piece.length);
  }
  piece_text_.shrink_to_fit();
}

bool LlamaVocabulary::ends_generation(Token token) const {
  return has(token) && pieces_[static_cast<std::size_t>(token)].ends_generation;
}

bool LlamaVocabulary::is_control(Token token) const {
  return has(token) && llama_vocab_is_control(vocab_, token);
}

std::string_view LlamaVocabulary::piece(Token token, bool with_control) const {
  if (!has(token)) return {};
  const Piece& piece = pieces_[static_cast<std::size_t>(token)];
  if (piece.control && !with_control) return {};
  return std::string_view(piece_text_).substr(piece.offset, piece.length);
}

void LlamaVocabulary::tokenize(std::string_view text, bool whole, std::vector<Token>& out) const {
  const std::size_t start = out.size();
  out.resize(start + text.size() + 2);
  const auto run = [&] {
    return llama_tokenize(vocab_, text.data(), static_cast<std::int32_t>(text.size()),
                          out.data() + start, static_cast<std::int32_t>(out.size() - start), whole,
                          whole);
  };
  std::int32_t n = run();
  if (n < 0) {
    out.resize(start + static_cast<std::size_t>(-n));
    n = run();
  }
  out.resize(start + static_cast<std::size_t>(std::max(n, 0)));
}

void LlamaVocabulary::tokenize_plain(std::string_view text, std::vector<Token>& out) const {
  if (!text.empty()) tokenize(text, false, out);
}

std::vector<Token> LlamaVocabulary::tokenize_whole(std::string_view text) const {
  std::vector<Token> tokens;
  tokenize(text, true, tokens);
  // A prompt goes on with an answer: an EOS that the tokenizer adds to texts has no place in it.
  if (llama_vocab_get_add_eos(vocab_) && !tokens.empty() && tokens.back() == eos_) {
    tokens.pop_back();
  }
  return tokens;
}

}  // namespace segue
