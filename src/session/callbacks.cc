#include "session/callbacks.h"

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace segue {

namespace {

thread_local bool inside_log = false;

class InsideLog {
 public:
  InsideLog() { inside_log = true; }
  ~InsideLog() { inside_log = false; }
  InsideLog(const InsideLog&) = delete;
  InsideLog& operator=(const InsideLog&) = delete;
};

}  // namespace

bool is_inside_log() { return inside_log; }

LogCallback guard_log(LogCallback log) {
  if (!log) return {};
  return [log = std::move(log), one_at_a_time = std::make_shared<std::mutex>()](
             LogLevel level, const std::string& message) {
    if (inside_log) return;
    const std::scoped_lock lock(*one_at_a_time);
    const InsideLog mark;
    try {
      log(level, message);
    } catch (...) {  // a log must not break an answer
    }
  };
}

}  // namespace segue
