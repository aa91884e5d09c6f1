// Finds the tokens that a model wrote in a later rendering of its answer.
//
// The template may trim the answer, drop its reasoning, or stand it elsewhere: then the longest run
// of whole written tokens that spells the rendered text around the content is kept.
// Pure functions; no synchronisation needed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/vocabulary.h"
#include "chat/prompt_tokenizer.h"

namespace segue {

// Where an answer stands in a rendered text.
struct RenderedAnswer {
  ByteRange content;         // its content (or its reasoning, where it has no content)
  std::size_t earliest = 0;  // where the model may have begun to write, at the earliest
  std::size_t latest = 0;    // text from here on is not the answer's
};

// The run's tokens are a part of `written`. Empty where no whole token fits. Both of its edges lie
// between characters.
std::optional<TokenRun> align_written(const Vocabulary& vocabulary,
                                      const std::vector<Token>& written, std::string_view rendered,
                                      const RenderedAnswer& answer);

}  // namespace segue
