// An answer's growing text → pieces of content and reasoning, each given out once.
//
// Parsers read the whole text each time; over a long answer they are therefore asked less often, so
// that the work stays within a small multiple of the text.
// Not thread-safe: one answer's.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "backend/chat_template.h"
#include "segue/stream.h"

namespace segue {

class PieceSplitter {
 public:
  // Without a parser all text is content.
  explicit PieceSplitter(std::shared_ptr<const OutputParser> parser);

  // Takes the text that came; appends what became certain to `out`.
  void add(std::string_view text, std::deque<Piece>& out);
  // The end: `whole` is all the text. Gives the answer's two parts, and their last pieces.
  ParsedOutput finish(std::string_view whole, std::deque<Piece>& out);

 private:
  void give_out(const ParsedOutput& parsed, std::deque<Piece>& out);

  std::shared_ptr<const OutputParser> parser_;
  std::string text_;
  std::size_t parsed_bytes_ = 0;  // of text_, when the parser was last asked
  ParsedOutput given_;
};

}  // namespace segue
