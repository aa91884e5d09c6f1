#include "chat/piece_splitter.h"

#include <utility>

namespace segue {
namespace {

// Up to here the parser is asked for every piece; beyond, for every 64th part of the text.
constexpr std::size_t kAlwaysParsed = std::size_t{8} << 10;
constexpr std::size_t kPart = 64;

void give(PieceKind kind, const std::string& now, std::string& given, std::deque<Piece>& out) {
  // A parser that changes its mind about text given out cannot be followed before it agrees again.
  if (now.size() <= given.size() || now.compare(0, given.size(), given) != 0) return;
  out.push_back({kind, now.substr(given.size())});
  given = now;
}

}  // namespace

PieceSplitter::PieceSplitter(std::shared_ptr<const OutputParser> parser)
    : parser_(std::move(parser)) {}

void PieceSplitter::add(std::string_view text, std::deque<Piece>& out) {
  if (text.empty()) return;
  text_.append(text);
  if (parser_ == nullptr) {
    given_.content.append(text);
    out.push_back({PieceKind::text, std::string(text)});
    return;
  }
  if (text_.size() > kAlwaysParsed && text_.size() - parsed_bytes_ < text_.size() / kPart) return;
  parsed_bytes_ = text_.size();
  give_out(parser_->parse(text_, /*is_partial=*/true), out);
}

ParsedOutput PieceSplitter::finish(std::string_view whole, std::deque<Piece>& out) {
  ParsedOutput parsed;
  if (parser_ == nullptr) {
    parsed.content = whole;
  } else {
    parsed = parser_->parse(whole, /*is_partial=*/false);
  }
  give_out(parsed, out);
  return parsed;
}

void PieceSplitter::give_out(const ParsedOutput& parsed, std::deque<Piece>& out) {
  give(PieceKind::reasoning, parsed.reasoning, given_.reasoning, out);
  give(PieceKind::text, parsed.content, given_.content, out);
}

}  // namespace segue
