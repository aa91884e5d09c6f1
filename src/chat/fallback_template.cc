#include "chat/fallback_template.h"

#include <utility>

#include "segue/error.h"

namespace segue {

FallbackTemplate::FallbackTemplate(std::unique_ptr<ChatTemplate> own, const Vocabulary& vocabulary)
    : own_(std::move(own)), direct_(DirectTemplate::for_vocabulary(vocabulary)) {
  if (own_ == nullptr && direct_ == nullptr) {
    throw TemplateFailed(
        "The model has no chat template, and its vocabulary shows no known turn syntax (ChatML, "
        "Llama 3, Gemma, Mistral, Phi-3). Pass a Jinja template: ModelOptions::chat_template.");
  }
}

RenderedPrompt FallbackTemplate::render(const std::vector<TemplateMessage>& messages,
                                        const TemplateOptions& options) const {
  if (own_ == nullptr) return direct_->render(messages, options);
  try {
    return own_->render(messages, options);
  } catch (const TemplateFailed&) {
    if (direct_ == nullptr) throw;
    return direct_->render(messages, options);
  }
}

std::string_view FallbackTemplate::source() const {
  return own_ == nullptr ? std::string_view() : own_->source();
}

std::string FallbackTemplate::direct_name() const {
  return own_ == nullptr ? direct_->name() : std::string();
}

}  // namespace segue
