// What the Tab key adds to a line of a chat. A pure function.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace segue::cli {

struct Completion {
  std::string added;                 // text to insert at the cursor
  std::vector<std::string> choices;  // to show, where nothing can be added and several fit
  bool is_file = false;              // the word is the name of a file: complete it as such
};

// `typed` is the line before the cursor.
Completion complete(std::string_view typed);

}  // namespace segue::cli
