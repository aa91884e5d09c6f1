// An answer as it is written: pulled piece by piece, in whole UTF-8 characters.
//
//   for (std::string_view piece : chat.stream("Hello")) std::cout << piece;
//
// Destroying a stream before its end cancels the exchange and waits for it to stop (one decode step
// at most). One thread at a time may read a stream.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "segue/response.h"
#include "segue/visibility.h"

namespace segue {

class StreamImpl;

enum class PieceKind : unsigned char { text, reasoning };

struct Piece {
  PieceKind kind = PieceKind::text;
  std::string text;
};

class SEGUE_API Stream {
 public:
  // The next piece, or nothing at the end, when the exchange has been committed. Waits. Throws what
  // the exchange threw; the transcript is then as before.
  std::optional<Piece> next();
  // Reads on to the end and gives the whole. After the end: the same again.
  Response finish();

  // Range-for over the text (reasoning is skipped; use next() for it).
  class SEGUE_API Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using pointer = const std::string_view*;
    using reference = std::string_view;
    std::string_view operator*() const { return piece_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, std::default_sentinel_t) {
      return a.stream_ == nullptr;
    }

   private:
    friend class Stream;
    explicit Iterator(Stream* stream) : stream_(stream) {}
    Stream* stream_;
    std::string piece_;
  };
  Iterator begin();
  std::default_sentinel_t end() const { return {}; }

  // For the library's own use.
  explicit Stream(std::unique_ptr<StreamImpl> impl);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

 private:
  std::unique_ptr<StreamImpl> impl_;
};

}  // namespace segue
