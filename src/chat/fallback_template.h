// The model's own chat template, and where that is missing or fails, a direct rendering of the turn
// syntax that its vocabulary shows.
//
// Immutable after construction; thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/chat_template.h"
#include "backend/vocabulary.h"
#include "chat/fallback_formats.h"

namespace segue {

class FallbackTemplate final : public ChatTemplate {
 public:
  // `own`: the model's template, or null where it has none. Throws TemplateFailed where it is null
  // and the vocabulary shows no known syntax; the message says what to pass.
  FallbackTemplate(std::unique_ptr<ChatTemplate> own, const Vocabulary& vocabulary);

  // Throws TemplateFailed with the template's own words where there is no direct rendering.
  RenderedPrompt render(const std::vector<TemplateMessage>& messages,
                        const TemplateOptions& options) const override;
  std::string_view source() const override;

  // The direct rendering's name where the model has no template of its own, else "".
  std::string direct_name() const;

 private:
  std::unique_ptr<ChatTemplate> own_;
  std::unique_ptr<DirectTemplate> direct_;
};

}  // namespace segue
