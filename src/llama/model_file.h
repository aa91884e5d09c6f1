// A GGUF file in memory: weights and vocabulary, with the facts that the other rooms need, or a
// typed error that says why the file cannot chat and what to do.
//
// Immutable after load() and shared by whatever uses it (contexts, vocabulary, template).
// Thread-safe, except that llama.cpp wants a mutable model to make a context: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "backend/memory_traits.h"
#include "llama/log_router.h"
#include "segue/options.h"

struct llama_model;
struct llama_vocab;

namespace segue {

struct ModelFacts {
  std::string description;   // as llama.cpp words it
  std::string architecture;  // gguf general.architecture
  std::int64_t parameters = 0;
  std::int64_t weight_bytes = 0;
  std::int32_t training_context = 0;  // 0 where the file does not say
  std::int32_t vocabulary_size = 0;
  // The model's own kind and window; a context may turn out to be more exacting (BackendShape).
  MemoryKind kind = MemoryKind::attention;
  std::int64_t window = 0;
  // As asked, else chosen for this machine and this model.
  std::int32_t threads = 1;
  // 32 hex digits; equal for two loads of the same file wherever it lies (model_identity.h).
  std::string identity;
};

class ModelFile {
 public:
  // Throws InvalidModel, InvalidArgument, OutOfMemory, Cancelled (on_progress
  // returned false), CallbackFailed (on_progress threw).
  static std::shared_ptr<ModelFile> load(const std::filesystem::path& path,
                                         const ModelOptions& options);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;

  const ModelFacts& facts() const { return facts_; }
  llama_model* handle() const { return model_; }
  const llama_vocab* vocabulary() const;
  // A scalar of the file's metadata as text; "" where there is none.
  std::string metadata(const std::string& key) const;

 private:
  explicit ModelFile(const LogCallback& log) : log_(log) {}

  LogRegistration log_;  // before the model: its end is logged, too
  llama_model* model_ = nullptr;
  ModelFacts facts_;
};

}  // namespace segue
