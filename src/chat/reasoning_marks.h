// Splits an answer that opens with marked reasoning: "<think>…</think>", then the content. White
// space next to the marks belongs to neither.
//
// Immutable; thread-safe.
#pragma once

#include <string>

#include "backend/chat_template.h"

namespace segue {

class ReasoningMarks final : public OutputParser {
 public:
  ReasoningMarks(std::string open, std::string close);

  ParsedOutput parse(std::string_view text, bool is_partial) const override;

 private:
  std::string open_;
  std::string close_;
};

}  // namespace segue
