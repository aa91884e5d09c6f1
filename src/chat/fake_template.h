// A chat template for tests, written as a function.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backend/chat_template.h"

namespace segue {

class FakeTemplate final : public ChatTemplate {
 public:
  using Render =
      std::function<std::string(const std::vector<TemplateMessage>&, const TemplateOptions&)>;
  explicit FakeTemplate(Render render) : render_(std::move(render)) {}

  RenderedPrompt render(const std::vector<TemplateMessage>& messages,
                        const TemplateOptions& options) const override {
    ++renders;
    RenderedPrompt prompt;
    prompt.text = render_(messages, options);
    return prompt;
  }
  std::string_view source() const override { return ""; }

  mutable int renders = 0;

 private:
  Render render_;
};

// "[role]content[end]", then "[assistant]".
inline FakeTemplate marked_turns() {
  return FakeTemplate([](const auto& messages, const TemplateOptions& options) {
    std::string text;
    for (const TemplateMessage& message : messages) {
      text.append("[").append(message.role).append("]");
      text.append(message.content).append("[end]");
    }
    if (options.add_generation_prompt) text.append("[assistant]");
    return text;
  });
}

}  // namespace segue
