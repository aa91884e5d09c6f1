#include "bench/bare_model.h"

#include <stdexcept>

namespace segue::bench {

BareModel::BareModel(const std::filesystem::path& path)
    : model_(llama_model_load_from_file(path.c_str(), llama_model_default_params()),
             llama_model_free) {
  if (!model_) throw std::runtime_error("llama.cpp cannot load " + path.string());
}

std::int32_t BareModel::vocabulary_size() const {
  return llama_vocab_n_tokens(llama_model_get_vocab(model_.get()));
}

bool BareModel::needs_checkpoints() const {
  return llama_model_n_swa(model_.get()) > 0 || llama_model_is_recurrent(model_.get()) ||
         llama_model_is_hybrid(model_.get());
}

std::vector<Token> BareModel::tokenize(std::string_view text) const {
  std::vector<Token> out(text.size() + 2);
  const std::int32_t n = llama_tokenize(llama_model_get_vocab(model_.get()), text.data(),
                                        static_cast<std::int32_t>(text.size()), out.data(),
                                        static_cast<std::int32_t>(out.size()), /*add_special=*/true,
                                        /*parse_special=*/true);
  if (n < 0) throw std::runtime_error("llama.cpp cannot tokenize a text");
  out.resize(static_cast<std::size_t>(n));
  return out;
}

std::string BareModel::detokenize(std::span<const Token> tokens) const {
  std::string out;
  char piece[256];
  for (const Token token : tokens) {
    const std::int32_t n = llama_token_to_piece(llama_model_get_vocab(model_.get()), token, piece,
                                                sizeof piece, 0, /*special=*/true);
    if (n < 0) throw std::runtime_error("a token's text is too long");
    out.append(piece, static_cast<std::size_t>(n));
  }
  return out;
}

}  // namespace segue::bench
