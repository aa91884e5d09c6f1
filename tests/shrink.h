// Makes a failing list of operations short enough to read.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace segue {

// The operations without those that the failure does not need: none of what is left can be removed
// alone. Requires that `fails(operations)` is true; `fails` must be a function of the list.
template <typename Operation, typename Fails>
std::vector<Operation> shrunk(std::vector<Operation> operations, const Fails& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = operations.size(); i-- > 0;) {
      std::vector<Operation> without = operations;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
      if (!fails(without)) continue;
      operations = std::move(without);
      smaller = true;
    }
  }
  return operations;
}

}  // namespace segue
