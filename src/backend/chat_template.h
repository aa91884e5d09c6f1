// A model's chat template: messages → text, and the model's output → content, reasoning, calls.
//
// Thread-safe: immutable after construction; render() and parse() may run at the same time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace segue {

struct TemplateMessage {
  std::string role;  // "system", "user", "assistant", "tool"
  std::string content;
  std::string reasoning;  // of an assistant message; the template decides whether it appears
};

struct TemplateOptions {
  bool add_generation_prompt = true;
  std::optional<bool> enable_thinking{};  // unset: as the template does
};

// Splits one answer. Made for one rendered prompt; cheap to keep, not thread-safe.
struct ParsedOutput {
  std::string content;
  std::string reasoning;
};
class OutputParser {
 public:
  virtual ~OutputParser() = default;
  // `text` is the whole output so far; `is_partial` while more may come. Never throws: what cannot
  // be split is content.
  virtual ParsedOutput parse(std::string_view text, bool is_partial) const = 0;
};

struct RenderedPrompt {
  std::string text;                            // without a BOS that the tokenizer adds itself
  std::vector<std::string> stop_strings;       // that the template's format asks for
  std::shared_ptr<const OutputParser> parser;  // null where add_generation_prompt is false
  // Special tokens (by text) that mark parts of the output: their text must reach the parser.
  std::vector<std::string> preserved_tokens;
  bool supports_thinking = false;
};

class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;
  // Throws segue::Error (TemplateFailed) with the template engine's words.
  virtual RenderedPrompt render(const std::vector<TemplateMessage>& messages,
                                const TemplateOptions& options) const = 0;
  // The template's source, or "" for a direct rendering.
  virtual std::string_view source() const = 0;
};

}  // namespace segue
