// Models and vocabularies for this room's tests. Loaded once a process where that is enough.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "llama.h"
#include "llama/log_router.h"
#include "llama/model_file.h"

namespace segue {

inline std::filesystem::path tiny_model_path() {
  return std::filesystem::path(SEGUE_SOURCE_DIR) / "models" / "segue-tiny.gguf";
}

inline std::filesystem::path llama_models() {
  return std::filesystem::path(SEGUE_LLAMA_SOURCE) / "models";
}

inline std::shared_ptr<ModelFile> tiny_model() {
  static const std::shared_ptr<ModelFile> model =
      ModelFile::load(tiny_model_path(), ModelOptions{.threads = 1});
  return model;
}

// One of llama.cpp's vocabulary files, which ModelFile rightly refuses.
class VocabularyFile {
 public:
  explicit VocabularyFile(const std::string& name) : log_({}) {
    llama_backend_init();
    llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    const auto path = llama_models() / ("ggml-vocab-" + name + ".gguf");
    model_.reset(llama_model_load_from_file(path.c_str(), params));
  }
  const llama_vocab* get() const { return llama_model_get_vocab(model_.get()); }

 private:
  struct Deleter {
    void operator()(llama_model* model) const { llama_model_free(model); }
  };
  LogRegistration log_;
  std::unique_ptr<llama_model, Deleter> model_;
};

}  // namespace segue
