#include "session/answer_splitter.h"

#include <utility>

namespace segue {

namespace {

void hand_out_rest(PieceKind kind, const std::string& now, std::string& sent,
                   std::deque<Piece>& out) {
  if (now.size() <= sent.size() || !now.starts_with(sent)) return;
  out.push_back({kind, now.substr(sent.size())});
  sent = now;
}

}  // namespace

AnswerSplitter::AnswerSplitter(std::shared_ptr<const OutputParser> parser)
    : parser_(std::move(parser)) {}

void AnswerSplitter::add(std::string_view text, std::deque<Piece>& out) {
  text_ += text;
  if (parser_ != nullptr) {
    hand_out(parser_->parse(text_, true), out);
    return;
  }
  if (text.empty()) return;
  out.push_back({PieceKind::text, std::string(text)});
  sent_.content += text;
}

ParsedOutput AnswerSplitter::finish(std::string_view whole, std::deque<Piece>& out) {
  ParsedOutput parsed = parser_ != nullptr ? parser_->parse(whole, false)
                                           : ParsedOutput{std::string(whole), std::string()};
  hand_out(parsed, out);
  return parsed;
}

void AnswerSplitter::hand_out(const ParsedOutput& parsed, std::deque<Piece>& out) {
  hand_out_rest(PieceKind::reasoning, parsed.reasoning, sent_.reasoning, out);
  hand_out_rest(PieceKind::text, parsed.content, sent_.content, out);
}

}  // namespace segue
