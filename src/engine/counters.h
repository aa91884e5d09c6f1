// What a model has done and holds, for any thread to read.
//
// Thread-safe: the engine thread updates, always before it tells the reader of the answer that is
// counted, so a caller sees its own exchange in the figures.
#pragma once

#include <mutex>

#include "segue/model.h"

namespace segue {

class Counters {
 public:
  template <typename Change>
  void update(Change&& change) {
    const std::scoped_lock lock(mutex_);
    change(figures_);
  }

  CachedState read() const {
    const std::scoped_lock lock(mutex_);
    return figures_;
  }

 private:
  mutable std::mutex mutex_;
  CachedState figures_;  // guarded by mutex_
};

}  // namespace segue
