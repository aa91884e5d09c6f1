// Keeps content from becoming control tokens. A template mixes content into its own words, so
// before rendering each place where content could take part in a control token's text is marked:
// the first character there is replaced by a private-use one. After rendering the marks are taken
// back and their places are known: no control token may match across them.
//
// - Content without such places is rendered exactly as it stands.
// - Taking back gives the very text: every mark stands for one character, and content's own
//   characters of the marks' plane are marked too.
//
// One guard serves one prompt. Not thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "chat/control_texts.h"
#include "chat/special_token_index.h"

namespace segue {

struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

// Text with the bytes that no control token may cover: ascending, disjoint.
struct GuardedText {
  std::string text;
  std::vector<ByteRange> guarded;
  bool is_guarded(std::size_t begin, std::size_t end) const;
};

class ContentGuard {
 public:
  // `index` must outlive the guard; characters of `template_source` never serve as marks.
  ContentGuard(const SpecialTokenIndex& index, std::string_view template_source);

  enum class Reach : std::uint8_t {
    touching,  // where content contains or touches a control token's text
    every,     // wherever one could begin: for content that the template takes apart
  };
  // Throws InvalidArgument where content holds more private-use characters than there are marks.
  std::string mark(std::string_view content, const ControlTexts& controls, Reach reach);

  // `offsets`, ascending, are moved from the marked to the returned text.
  GuardedText unmark(std::string_view rendered, const std::vector<std::size_t*>& offsets) const;

 private:
  std::vector<std::size_t> places(std::string_view content, const ControlTexts& controls,
                                  Reach reach) const;
  char32_t mark_for(char32_t code_point);

  const SpecialTokenIndex& index_;
  std::string_view template_source_;
  char32_t next_mark_;
  std::unordered_map<char32_t, char32_t> mark_of_;
  std::unordered_map<char32_t, char32_t> meant_by_;
};

}  // namespace segue
