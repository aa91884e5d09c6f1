#include "prompt_assembler.h"

#include <utility>

#include "words.h"

namespace segue::cli {
namespace {

constexpr std::string_view kFence = "\"\"\"";

}  // namespace

std::optional<std::string> PromptAssembler::add(std::string_view line) {
  if (!in_block_ && !continuing_) {
    const std::string_view start = trim(line);
    if (start.substr(0, kFence.size()) == kFence) {
      in_block_ = true;
      line = start.substr(kFence.size());
      if (line.empty()) return std::nullopt;
    }
  }
  if (in_block_) {
    const std::size_t end = line.rfind(kFence);
    if (end != std::string_view::npos && trim(line.substr(end + kFence.size())).empty()) {
      text_ += line.substr(0, end);
      if (end == 0 && !text_.empty()) text_.pop_back();  // the line break before a closing """
      return take();
    }
    text_.append(line).append("\n");
    return std::nullopt;
  }
  if (!line.empty() && line.back() == '\\') {
    line.remove_suffix(1);
    text_.append(line).append("\n");
    continuing_ = true;
    return std::nullopt;
  }
  text_ += line;
  return take();
}

std::optional<std::string> PromptAssembler::finish() {
  if (!is_continuing()) return std::nullopt;
  if (!text_.empty() && text_.back() == '\n') text_.pop_back();
  return take();
}

void PromptAssembler::reset() { take(); }

std::string PromptAssembler::take() {
  in_block_ = false;
  continuing_ = false;
  return std::exchange(text_, {});
}

}  // namespace segue::cli
