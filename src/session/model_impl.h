// What a Model handle stands for: the parts that all its sessions share, put together and taken
// apart in the right order.
//
// Thread-safe. Shared by handles and sessions; the last one to go ends the engine, on whichever
// thread it happens to be, even on the engine's own.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "backend/chat_template.h"
#include "backend/state_backend.h"
#include "backend/vocabulary.h"
#include "chat/prompt_builder.h"
#include "engine/engine.h"
#include "segue/model.h"

namespace segue {

// What a model is made of. Whatever a part refers to must be kept alive by `foundation`.
struct ModelParts {
  std::shared_ptr<const void> foundation;
  std::shared_ptr<const Vocabulary> vocabulary;
  std::shared_ptr<const ChatTemplate> chat_template;
  std::unique_ptr<StateBackend> backend;
  Capabilities capabilities;
};

class ModelImpl {
 public:
  // Throws what Model::load() throws.
  static std::shared_ptr<ModelImpl> load(const std::filesystem::path& path, ModelOptions options);
  // `engine_options.log` is expected to be guarded (session/callbacks.h).
  static std::shared_ptr<ModelImpl> assemble(ModelParts parts, EngineOptions engine_options);

  ModelImpl(const ModelImpl&) = delete;
  ModelImpl& operator=(const ModelImpl&) = delete;

  Engine& engine() { return engine_; }
  const PromptBuilder& builder() const { return builder_; }
  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const Capabilities& capabilities() const { return capabilities_; }
  // Equal for two models exactly when a token of one spells the same text in the other.
  const std::string& vocabulary_name() const { return vocabulary_name_; }
  void log(LogLevel level, const std::string& message) const;

 private:
  ModelImpl(ModelParts parts, EngineOptions engine_options);
  ~ModelImpl() = default;
  friend class ModelEnd;

  // In the order in which they are needed: the engine ends first.
  const std::shared_ptr<const void> foundation_;
  const std::shared_ptr<const Vocabulary> vocabulary_;
  const std::shared_ptr<const ChatTemplate> template_;
  const PromptBuilder builder_;
  const Capabilities capabilities_;
  const std::string vocabulary_name_;
  const LogCallback log_;
  Engine engine_;
};

}  // namespace segue
