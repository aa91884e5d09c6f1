// An answer's text as it comes → pieces of content and of reasoning.
//
// The pieces of one kind put together are the beginning of the final text of that kind: what was
// handed out is never taken back. Where the parser changes its mind, later pieces wait.
// One answer each; not thread-safe.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "backend/chat_template.h"
#include "segue/stream.h"

namespace segue {

class AnswerSplitter {
 public:
  // Without a parser all is content.
  explicit AnswerSplitter(std::shared_ptr<const OutputParser> parser);

  // Appends to `out` what has become certain with this text.
  void add(std::string_view text, std::deque<Piece>& out);
  // `whole` is the complete output. Appends the rest and gives both parts as a whole.
  ParsedOutput finish(std::string_view whole, std::deque<Piece>& out);

 private:
  void hand_out(const ParsedOutput& parsed, std::deque<Piece>& out);

  const std::shared_ptr<const OutputParser> parser_;
  std::string text_;
  ParsedOutput sent_;
};

}  // namespace segue
