// What a Stream handle stands for: its exchange. One thread at a time.
#pragma once

#include <memory>
#include <utility>

#include "session/exchange.h"

namespace segue {

class StreamImpl {
 public:
  explicit StreamImpl(std::unique_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  Exchange& exchange() { return *exchange_; }

 private:
  std::unique_ptr<Exchange> exchange_;
};

}  // namespace segue
