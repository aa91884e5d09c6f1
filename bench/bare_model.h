// A model through llama.cpp alone: for the floor that segue is measured against, and for the
// arithmetic of what an exchange has to read.
//
// Thread-safe: immutable after construction. Errors are std::runtime_error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/memory_traits.h"
#include "backend/units.h"
#include "llama.h"

namespace segue::bench {

class BareModel {
 public:
  explicit BareModel(const std::filesystem::path& path);

  llama_model* get() const { return model_.get(); }
  std::int32_t vocabulary_size() const;
  // Whether going back needs a saved state: all memory kinds but attention.
  bool needs_checkpoints() const;

  // A whole text: control tokens parsed, BOS as the model says.
  std::vector<Token> tokenize(std::string_view text) const;
  std::string detokenize(std::span<const Token> tokens) const;

 private:
  std::unique_ptr<llama_model, decltype(&llama_model_free)> model_;
};

}  // namespace segue::bench
