// A script worked out in tokens: what every exchange's prompt is, and the least of it that has to
// be read. Arithmetic only; nothing is decoded.
//
// What has been decoded once is known: the least that an exchange must read is its prompt less the
// longest beginning of it that any earlier exchange of the same namespace decoded, but at least the
// last token, whose logits are needed anew. The last token of an answer is written but never
// decoded, so the next turn reads it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "backend/units.h"
#include "bench/bare_model.h"
#include "bench/script.h"

namespace segue::bench {

struct TracedExchange {
  Act act;
  std::size_t step = 0;
  std::vector<Token> prompt;
  std::vector<Token>
      record;  // all that it leaves decoded: prompt and answer without its last token
  // The earlier exchange whose record begins like the prompt, and how much of it.
  std::optional<std::size_t> source;
  std::size_t keep = 0;
  // Lengths of the prompt at which user turns begin.
  std::vector<std::size_t> turn_starts;
  // Lengths of the prompt that this exchange reads past and to which a later one goes back.
  std::vector<std::size_t> returns;

  std::size_t least_read() const { return prompt.size() - keep; }
};

struct Trace {
  std::vector<TracedExchange> exchanges;  // forks left out
  std::vector<Token> answer;              // the same every time
  std::string answer_text;

  std::size_t least_read() const;
};

// `answer`: what the model writes, whatever it is asked. Throws std::logic_error where it does not
// tokenize to itself inside a conversation.
Trace trace(const Script& script, const BareModel& model, const std::vector<Token>& answer);

}  // namespace segue::bench
