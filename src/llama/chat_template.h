// A Jinja chat template, rendered and parsed by llama-common.
//
// The date that a template may write is that of the moment when it was loaded, for as long as it
// lives: a date that changes at midnight stands at the very beginning of most prompts, and every
// session would have to be read again whole.
//
// llama-common analyses the template and renders it three times for each prompt. What that finds
// out (how an answer begins, and its parser) is kept here, and later prompts are rendered once,
// wherever that is the very same rendering (can_render_directly()).
//
// Thread-safe: fixed after construction but for a cache of its own.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backend/chat_template.h"
#include "llama/model_file.h"

struct common_chat_templates;
struct common_chat_template;
struct common_chat_params;
struct common_chat_templates_inputs;

namespace segue {

class LlamaChatTemplate : public ChatTemplate {
 public:
  struct Specials {
    std::string bos;
    std::string eos;
    // The tokenizer adds a BOS of its own, so the template's must go.
    bool adds_bos = false;
  };

  // The template of `override`, or where that is empty, the model's; null where it has none. Throws
  // TemplateFailed where it does not parse.
  static std::unique_ptr<LlamaChatTemplate> load(const ModelFile& model,
                                                 const std::string& override);
  // Throws TemplateFailed where `source` does not parse.
  LlamaChatTemplate(std::string source, Specials specials);
  ~LlamaChatTemplate() override;

  RenderedPrompt render(const std::vector<TemplateMessage>& messages,
                        const TemplateOptions& options) const override;
  std::string_view source() const override { return source_; }

  // Whether the template can switch thinking on or off.
  bool supports_thinking() const { return supports_thinking_; }
  // Renders as llama-common does in all steps, without the short cut (for tests).
  RenderedPrompt render_fully(const std::vector<TemplateMessage>& messages,
                              const TemplateOptions& options) const;

 private:
  // How an answer begins, and all that follows from it. Immutable.
  struct AnswerForm {
    bool thinking = false;
    std::string beginning;    // the end of the prompt
    RenderedPrompt rendered;  // without text
  };

  bool can_render_directly(const std::vector<TemplateMessage>& messages) const;
  common_chat_templates_inputs inputs_of(const std::vector<TemplateMessage>& messages,
                                         const TemplateOptions& options) const;
  common_chat_params apply(const std::vector<TemplateMessage>& messages,
                           const TemplateOptions& options) const;
  std::string render_directly(const std::vector<TemplateMessage>& messages,
                              const TemplateOptions& options) const;
  std::string without_bos(std::string text) const;
  RenderedPrompt form_of(const common_chat_params& params) const;
  std::shared_ptr<const AnswerForm> known_form(std::string_view text, bool thinking) const;

  const std::string source_;
  const Specials specials_;
  std::string datetime_;  // JSON texts of what templates call datetime and date_string
  std::string date_string_;
  std::unique_ptr<common_chat_templates, void (*)(common_chat_templates*)> templates_;
  std::unique_ptr<common_chat_template> template_;  // what templates_ renders
  bool is_general_ = false;  // llama-common has no special code for this template
  bool supports_thinking_ = false;

  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const AnswerForm>> forms_;  // guarded by mutex_
};

}  // namespace segue
