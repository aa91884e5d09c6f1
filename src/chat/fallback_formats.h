// Direct renderings: the turn syntaxes of the common model families, for a model without a chat
// template, or with one that fails.
//
// Immutable after construction; thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/chat_template.h"
#include "backend/vocabulary.h"

namespace segue {

// The words around a message, by family.
struct TurnSyntax {
  std::string name = {};  // "ChatML"
  std::string before_role = {};
  std::string after_role = {};
  std::string after_content = {};
  std::string answer_role = "assistant";
  bool trims = false;
  // Instructions come as a turn of their own; else before the first user message's content.
  bool has_system_turn = true;
  // Where the model can think: what opens and closes it in the output, and what a prompt ends with
  // to keep the model from it.
  std::string think_open = {};
  std::string think_close = {};
  std::string no_thought = {};
  // Gemma 4: the first words of the system turn where thinking is on; else off unless asked for.
  std::string think_switch = {};
};

class DirectTemplate final : public ChatTemplate {
 public:
  // The syntax that the vocabulary's control tokens show; null where they show none.
  static std::unique_ptr<DirectTemplate> for_vocabulary(const Vocabulary& vocabulary);

  explicit DirectTemplate(TurnSyntax syntax) : syntax_(std::move(syntax)) {}

  // "ChatML", "Llama 3", "Gemma 3", "Gemma 4", "Mistral", "Phi-3".
  const std::string& name() const { return syntax_.name; }

  RenderedPrompt render(const std::vector<TemplateMessage>& messages,
                        const TemplateOptions& options) const override;
  std::string_view source() const override { return {}; }

 private:
  TurnSyntax syntax_;
};

}  // namespace segue
