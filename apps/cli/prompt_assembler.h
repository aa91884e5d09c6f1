// Lines → prompts: a line that ends in "\" goes on in the next one, and """ begins and ends a block
// of lines. Everything else is a prompt of one line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace segue::cli {

class PromptAssembler {
 public:
  // A whole prompt, or nothing where more lines belong to it.
  std::optional<std::string> add(std::string_view line);

  // What was begun and not ended, at the end of the input; nothing where nothing was.
  std::optional<std::string> finish();

  // Forgets what was begun.
  void reset();

  bool is_continuing() const { return continuing_ || in_block_; }

 private:
  std::string take();

  std::string text_;
  bool in_block_ = false;    // after an opening """
  bool continuing_ = false;  // after a line that ended in "\"
};

}  // namespace segue::cli
