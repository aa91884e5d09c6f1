// From the bytes of tokens to text that can be shown: whole UTF-8 characters, and nothing that a
// stop string may still take back. Bytes that are no UTF-8 become U+FFFD.
//
// Not thread-safe: one answer's, on the engine thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace segue {

class TextFilter {
 public:
  // Empty stop strings are ignored.
  explicit TextFilter(std::vector<std::string> stop_strings);

  // Takes the bytes of the next token; gives the text that became certain. After a stop string was
  // found (stopped()), nothing more comes.
  std::string push(std::string_view bytes);
  // The end: what was held back, an unfinished character as U+FFFD.
  std::string finish();

  bool stopped() const { return stopped_; }
  // Bytes of the input that belong to the answer: all, or those before the stop string.
  std::size_t kept_bytes() const { return kept_; }

 private:
  std::string take_certain(bool at_end);

  std::vector<std::string> stops_;
  std::size_t longest_stop_ = 0;
  std::string held_;       // bytes not given out yet
  std::size_t total_ = 0;  // bytes taken in
  std::size_t kept_ = 0;
  bool stopped_ = false;
};

}  // namespace segue
