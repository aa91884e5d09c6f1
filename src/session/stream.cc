#include "segue/stream.h"

#include <utility>

#include "segue/error.h"
#include "session/stream_impl.h"

namespace segue {

Stream::Stream(std::unique_ptr<StreamImpl> impl) : impl_(std::move(impl)) {}
Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&&) noexcept = default;
Stream::~Stream() = default;

std::optional<Piece> Stream::next() {
  if (impl_ == nullptr) throw InvalidArgument("the stream has been moved from");
  return impl_->exchange().next();
}

Response Stream::finish() {
  if (impl_ == nullptr) throw InvalidArgument("the stream has been moved from");
  return impl_->exchange().finish();
}

Stream::Iterator Stream::begin() {
  Iterator first(this);
  ++first;
  return first;
}

Stream::Iterator& Stream::Iterator::operator++() {
  while (std::optional<Piece> piece = stream_->next()) {
    if (piece->kind != PieceKind::text) continue;
    piece_ = std::move(piece->text);
    return *this;
  }
  stream_ = nullptr;
  return *this;
}

}  // namespace segue
