// A model from its file: where the rooms' parts meet llama.cpp's.
#include <utility>

#include "chat/fallback_template.h"
#include "llama/chat_template.h"
#include "llama/context.h"
#include "llama/encoder_decoder_context.h"
#include "llama/model_file.h"
#include "llama/vocabulary.h"
#include "segue/error.h"
#include "session/callbacks.h"
#include "session/model_impl.h"
#include "session/validation.h"

namespace segue {

namespace {

struct ChosenTemplate {
  std::shared_ptr<const ChatTemplate> chat_template;
  std::string kind;
  bool reasoning = false;
};

// The caller's template must be right; a model's own that cannot be read is as none.
ChosenTemplate choose_template(const ModelFile& file, const Vocabulary& vocabulary,
                               const ModelOptions& options) {
  std::unique_ptr<LlamaChatTemplate> own;
  try {
    own = LlamaChatTemplate::load(file, options.chat_template);
  } catch (const TemplateFailed& error) {
    if (!options.chat_template.empty()) throw;
    if (options.log) options.log(LogLevel::warning, error.what());
  }
  ChosenTemplate chosen;
  chosen.reasoning = own != nullptr && own->supports_thinking();
  auto with_fallback = std::make_shared<FallbackTemplate>(std::move(own), vocabulary);
  const std::string direct = with_fallback->direct_name();
  chosen.kind = !direct.empty() ? direct : options.chat_template.empty() ? "model" : "option";
  chosen.chat_template = std::move(with_fallback);
  return chosen;
}

Capabilities describe(const ModelFacts& facts, const BackendShape& shape,
                      const ChosenTemplate& chosen) {
  Capabilities capabilities;
  capabilities.description = facts.description;
  capabilities.architecture = facts.architecture;
  capabilities.memory_kind = to_string(facts.kind);
  capabilities.template_kind = chosen.kind;
  capabilities.parameters = facts.parameters;
  capabilities.weight_bytes = facts.weight_bytes;
  capabilities.vocabulary_size = facts.vocabulary_size;
  capabilities.training_context = facts.training_context;
  capabilities.context_length = static_cast<std::int32_t>(shape.context_length.value);
  capabilities.slots = shape.n_slots;
  capabilities.threads = facts.threads;
  capabilities.window = facts.window;
  capabilities.state_bytes_per_token = shape.state_bytes_per_token.value;
  capabilities.reasoning = chosen.reasoning;
  return capabilities;
}

}  // namespace

std::shared_ptr<ModelImpl> ModelImpl::load(const std::filesystem::path& path,
                                           ModelOptions options) {
  check_options(options);
  options.log = guard_log(std::move(options.log));
  std::shared_ptr<ModelFile> file = ModelFile::load(path, options);

  ModelParts parts;
  parts.foundation = file;
  parts.vocabulary = std::make_shared<LlamaVocabulary>(file);
  const ChosenTemplate chosen = choose_template(*file, *parts.vocabulary, options);
  parts.chat_template = chosen.chat_template;
  std::unique_ptr<StateBackend> context;
  std::int64_t slots_that_fit = 0;
  if (file->facts().kind == MemoryKind::single_use) {
    context = std::make_unique<EncoderDecoderContext>(file, options);
  } else {
    auto made = std::make_unique<LlamaContext>(file, options);
    slots_that_fit = made->slots_that_fit();
    context = std::move(made);
  }
  parts.capabilities = describe(file->facts(), context->shape(), chosen);
  parts.capabilities.slots_that_fit = static_cast<std::int32_t>(slots_that_fit);
  parts.backend = std::move(context);

  EngineOptions engine_options;
  engine_options.cache_bytes = Bytes(options.cache_bytes);
  engine_options.max_waiting = options.max_waiting;
  engine_options.log = options.log;
  return assemble(std::move(parts), std::move(engine_options));
}

}  // namespace segue
