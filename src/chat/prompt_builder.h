// A conversation → the prompt items that the model should have read. A pure function of the
// conversation, the template and the vocabulary (a cache makes it fast, never different):
//
// - Text that the model wrote keeps its very tokens: an old answer is never tokenized again, as
// long
//   as the template renders it as it was written.
// - Everything else equals llama.cpp's tokenization of the whole text at once, but that control
//   tokens arise only from the template's words, never from content.
//
// Thread-safe: build() is const; the cache is the caller's (one per session).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/chat_template.h"
#include "backend/vocabulary.h"
#include "chat/fragment_cache.h"
#include "chat/prompt_tokenizer.h"
#include "reuse/prompt.h"

namespace segue {

enum class ChatRole : std::uint8_t { system, user, assistant };

struct ChatMessage {
  ChatRole role = ChatRole::user;
  std::string text;
  std::string reasoning;
  // The whole output as the model wrote it (reasoning and marks included), for an assistant message
  // that it wrote; null otherwise (edited, or given by the user).
  std::shared_ptr<const std::vector<Token>> written;
};

struct BuildOptions {
  bool add_generation_prompt = true;
  std::optional<bool> enable_thinking{};
};

struct BuiltPrompt {
  Prompt prompt;
  std::shared_ptr<const OutputParser> parser;
  std::vector<std::string> stop_strings;
  // Special tokens (by text) whose text the parser needs in the output.
  std::vector<std::string> preserved_tokens;
};

class PromptBuilder {
 public:
  // Both must outlive the builder.
  PromptBuilder(const Vocabulary& vocabulary, const ChatTemplate& chat_template);

  // Throws TemplateFailed, InvalidArgument (text that is not UTF-8).
  BuiltPrompt build(const std::vector<ChatMessage>& messages, const BuildOptions& options,
                    FragmentCache* cache = nullptr) const;

  // The items with which every next prompt begins, whatever the next user message says: what
  // settling and prewarming bring a state to. Ends at a boundary. Empty where that is not known
  // (the template refuses a user message there).
  Prompt certain_prefix(const std::vector<ChatMessage>& messages, const BuildOptions& options,
                        FragmentCache* cache = nullptr) const;

 private:
  struct Layout;
  Layout lay_out(const std::vector<ChatMessage>& messages, const BuildOptions& options,
                 FragmentCache* cache) const;

  const Vocabulary& vocabulary_;
  const ChatTemplate& template_;
  PromptTokenizer tokenizer_;
  // The model's own earlier words may hold marks that are not control tokens: templates look for
  // some of them there.
  ControlTexts controls_of_answers_;
};

}  // namespace segue
