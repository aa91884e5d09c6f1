// llama.cpp's log is one for the whole process; this hands each message to every callback that is
// registered, so that nothing is ever printed.
//
// Thread-safe. A callback gets one message at a time, from any thread; what it throws is swallowed,
// and messages that arise while it runs on the same thread are dropped rather than nested.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "segue/options.h"

namespace segue {

// A callback's place in the router, until destroyed. After the destructor the callback is never
// called again, unless the destructor runs inside the callback itself.
class LogRegistration {
 public:
  // Takes llama.cpp's log away from the terminal also where `callback` is empty.
  explicit LogRegistration(LogCallback callback);
  ~LogRegistration();
  LogRegistration(const LogRegistration&) = delete;
  LogRegistration& operator=(const LogRegistration&) = delete;

 private:
  struct Entry;
  friend class LogRouter;
  std::shared_ptr<Entry> entry_;
};

// Collects the warnings and errors that the current thread's calls cause: the reasons that
// llama.cpp gives only to its log. One at a time on each thread; they may nest.
class LogCapture {
 public:
  LogCapture();
  ~LogCapture();
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;

  // The errors, or the warnings where there are no errors, without function names; "" for none.
  std::string reason() const;
  // Whether an error or a warning contains `part`.
  bool mentions(std::string_view part) const;

 private:
  friend class LogRouter;
  LogCapture* outer_;
  std::vector<std::string> warnings_;
  std::vector<std::string> errors_;
};

}  // namespace segue
