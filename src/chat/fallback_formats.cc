#include "chat/fallback_formats.h"

#include <algorithm>
#include <initializer_list>

#include "chat/reasoning_marks.h"
#include "chat/utf8.h"

namespace segue {
namespace {

bool has_all(const Vocabulary& vocabulary, std::initializer_list<std::string_view> texts) {
  const std::vector<SpecialToken>& tokens = vocabulary.special_tokens();
  return std::all_of(texts.begin(), texts.end(), [&](std::string_view text) {
    return std::any_of(tokens.begin(), tokens.end(),
                       [&](const SpecialToken& token) { return token.text == text; });
  });
}

TurnSyntax chatml(const Vocabulary& vocabulary) {
  const bool can_think = has_all(vocabulary, {"<think>", "</think>"});
  return {.name = "ChatML",
          .before_role = "<|im_start|>",
          .after_role = "\n",
          .after_content = "<|im_end|>\n",
          .think_open = can_think ? "<think>" : "",
          .think_close = can_think ? "</think>" : "",
          .no_thought = can_think ? "<think>\n\n</think>\n\n" : ""};
}

TurnSyntax llama3() {
  return {.name = "Llama 3",
          .before_role = "<|start_header_id|>",
          .after_role = "<|end_header_id|>\n\n",
          .after_content = "<|eot_id|>",
          .trims = true};
}

TurnSyntax gemma3() {
  return {.name = "Gemma 3",
          .before_role = "<start_of_turn>",
          .after_role = "\n",
          .after_content = "<end_of_turn>\n",
          .answer_role = "model",
          .trims = true,
          .has_system_turn = false};
}

TurnSyntax gemma4() {
  return {.name = "Gemma 4",
          .before_role = "<|turn>",
          .after_role = "\n",
          .after_content = "<turn|>\n",
          .answer_role = "model",
          .trims = true,
          .think_open = "<|channel>thought\n",
          .think_close = "<channel|>",
          .no_thought = "<|channel>thought\n<channel|>",
          .think_switch = "<|think|>\n"};
}

TurnSyntax phi3() {
  return {.name = "Phi-3", .before_role = "<|", .after_role = "|>\n", .after_content = "<|end|>\n"};
}

TurnSyntax mistral(const Vocabulary& vocabulary) {
  return {.name = "Mistral",
          .after_content = std::string(vocabulary.piece(vocabulary.eos(), true)),
          .has_system_turn = false};
}

}  // namespace

std::unique_ptr<DirectTemplate> DirectTemplate::for_vocabulary(const Vocabulary& vocabulary) {
  const auto of = [](TurnSyntax syntax) {
    return std::make_unique<DirectTemplate>(std::move(syntax));
  };
  if (has_all(vocabulary, {"<|im_start|>", "<|im_end|>"})) return of(chatml(vocabulary));
  if (has_all(vocabulary, {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"})) {
    return of(llama3());
  }
  if (has_all(vocabulary, {"<|turn>", "<turn|>"})) return of(gemma4());
  if (has_all(vocabulary, {"<start_of_turn>", "<end_of_turn>"})) return of(gemma3());
  if (has_all(vocabulary, {"<|user|>", "<|assistant|>", "<|end|>"})) return of(phi3());
  if (has_all(vocabulary, {"[INST]", "[/INST]"}) && vocabulary.eos() != kNoToken) {
    return of(mistral(vocabulary));
  }
  return nullptr;
}

RenderedPrompt DirectTemplate::render(const std::vector<TemplateMessage>& messages,
                                      const TemplateOptions& options) const {
  const bool is_mistral = syntax_.before_role.empty();
  const bool can_think = !syntax_.think_open.empty();
  const bool thinks = can_think && options.enable_thinking.value_or(syntax_.think_switch.empty());
  const auto content_of = [&](const TemplateMessage& message) {
    return syntax_.trims ? trimmed(message.content) : std::string_view(message.content);
  };
  RenderedPrompt prompt;
  std::string& text = prompt.text;
  const auto open_turn = [&](std::string_view role) {
    if (is_mistral) return;
    text.append(syntax_.before_role);
    text.append(role == "assistant" ? std::string_view(syntax_.answer_role) : role);
    text.append(syntax_.after_role);
  };
  std::string preface;  // instructions that wait for the first user message
  const bool opens_with_system = !messages.empty() && messages.front().role == "system";
  const std::string_view think_switch = thinks ? std::string_view(syntax_.think_switch) : "";
  if (!think_switch.empty() && !opens_with_system) {
    open_turn("system");
    text.append(think_switch).append(syntax_.after_content);
  }
  for (const TemplateMessage& message : messages) {
    const bool is_first = &message == &messages.front();
    if (message.role == "system" && !syntax_.has_system_turn) {
      preface.append(content_of(message)).append("\n\n");
      continue;
    }
    const bool is_answer = message.role == "assistant";
    open_turn(message.role);
    if (is_mistral && !is_answer) text.append("[INST]");
    if (message.role == "system" && is_first) text.append(think_switch);
    if (!is_answer) {
      text.append(preface);
      preface.clear();
    }
    text.append(content_of(message));
    text.append(is_mistral && !is_answer ? "[/INST]" : syntax_.after_content);
  }
  if (!preface.empty()) {
    // Only instructions so far: they stand where the first user message will.
    open_turn("user");
    if (is_mistral) text.append("[INST]");
    text.append(preface).append(is_mistral ? "[/INST]" : syntax_.after_content);
  }
  if (options.add_generation_prompt) {
    open_turn("assistant");
    if (can_think && !thinks) text.append(syntax_.no_thought);
    if (thinks) {
      prompt.parser = std::make_shared<ReasoningMarks>(syntax_.think_open, syntax_.think_close);
    }
  }
  prompt.supports_thinking = can_think;
  return prompt;
}

}  // namespace segue
