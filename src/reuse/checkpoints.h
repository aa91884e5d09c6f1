// Checkpoints of one state: saved copies of the part that cannot be rewound, each at the length of
// the record at which it was taken. A checkpoint is valid for every record that begins with the
// same `length` items. One of a window may serve shorter lengths too (planner.h).
//
// Thinning: over the byte budget, the first, the latest and geometrically spaced ones stay (dense
// near the end, where people return to most often; sparse far back). A value (blobs are shared and
// immutable); no synchronisation needed.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "backend/state_backend.h"
#include "backend/units.h"

namespace segue {

struct Checkpoint {
  ItemCount length;
  std::shared_ptr<const StateBlob> blob;
};

class Checkpoints {
 public:
  // Keeps them in order of length; one at the same length is replaced.
  void add(Checkpoint checkpoint);
  // The longest of at most `length`, or null.
  const Checkpoint* at_or_before(ItemCount length) const;
  // The shortest that is longer than `length`, or null.
  const Checkpoint* first_after(ItemCount length) const;
  bool contains(ItemCount length) const;
  // Drops those longer than `length`.
  void truncate(ItemCount length);
  void clear() { list_.clear(); }
  // Thins until bytes() <= budget; may drop all. The latest goes last.
  void thin(Bytes budget);

  std::span<const Checkpoint> list() const { return list_; }
  Bytes bytes() const;

 private:
  std::vector<Checkpoint> list_;
};

}  // namespace segue
