#include "llama/log_router.h"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

#include "llama.h"
#include "log.h"

namespace segue {

struct LogRegistration::Entry {
  // Recursive, since a callback may end its own registration.
  std::recursive_mutex mutex;
  LogCallback callback;
  bool alive = true;
};

namespace {

thread_local LogCapture* t_capture = nullptr;
thread_local bool t_delivering = false;
// llama.cpp writes some lines in pieces.
thread_local std::string t_line;
thread_local ggml_log_level t_level = GGML_LOG_LEVEL_NONE;

LogLevel level_of(ggml_log_level level) {
  switch (level) {
    case GGML_LOG_LEVEL_ERROR:
      return LogLevel::error;
    case GGML_LOG_LEVEL_WARN:
      return LogLevel::warning;
    case GGML_LOG_LEVEL_INFO:
      return LogLevel::info;
    default:
      return LogLevel::debug;
  }
}

// "llama_model_load: error loading model: x" → "error loading model: x".
std::string without_function_name(std::string_view line) {
  const auto colon = line.find(": ");
  if (colon != std::string_view::npos &&
      line.substr(0, colon).find_first_of(" \t") == std::string_view::npos) {
    line.remove_prefix(colon + 2);
  }
  return std::string(line);
}

}  // namespace

class LogRouter {
 public:
  static LogRouter& instance() {
    // Never destroyed: llama.cpp may log while static objects end.
    static LogRouter& router = *std::make_unique<LogRouter>().release();
    return router;
  }

  LogRouter() {
    llama_log_set(&LogRouter::receive, nullptr);
    // llama-common prints through a log of its own; what matters in it arrives as exceptions.
    common_log_set_verbosity_thold(-1);
  }

  void add(std::shared_ptr<LogRegistration::Entry> entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }

  void remove(const std::shared_ptr<LogRegistration::Entry>& entry) {
    {
      const std::lock_guard lock(mutex_);
      std::erase(entries_, entry);
    }
    const std::lock_guard lock(entry->mutex);
    entry->alive = false;
  }

  // Ends the line that this thread's calls have begun: some messages come without an end of line.
  static void flush() noexcept {
    try {
      deliver_line();
    } catch (...) {
      t_line.clear();
    }
  }

 private:
  // Called by llama.cpp, often through C frames: nothing may be thrown out of here.
  static void receive(ggml_log_level level, const char* text, void*) noexcept {
    try {
      if (level != GGML_LOG_LEVEL_CONT) {
        flush();
        t_level = level;
      }
      for (const char c : std::string_view(text)) {
        if (c == '\n') {
          flush();
        } else {
          t_line += c;
        }
      }
    } catch (...) {
      t_line.clear();
    }
  }

  static void deliver_line() {
    if (t_line.empty()) return;
    const std::string line = std::exchange(t_line, {});
    const LogLevel level = level_of(t_level);
    if (t_capture != nullptr) {
      if (level == LogLevel::error) t_capture->errors_.push_back(without_function_name(line));
      if (level == LogLevel::warning) t_capture->warnings_.push_back(without_function_name(line));
    }
    if (!t_delivering) instance().deliver(level, line);
  }

  void deliver(LogLevel level, const std::string& line) {
    std::vector<std::shared_ptr<LogRegistration::Entry>> entries;
    {
      const std::lock_guard lock(mutex_);
      entries = entries_;
    }
    t_delivering = true;
    for (const auto& entry : entries) {
      const std::lock_guard lock(entry->mutex);
      if (!entry->alive) continue;
      try {
        entry->callback(level, line);
      } catch (...) {
        // A log must not break an answer.
      }
    }
    t_delivering = false;
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<LogRegistration::Entry>> entries_;  // guarded by mutex_
};

LogRegistration::LogRegistration(LogCallback callback) {
  LogRouter& router = LogRouter::instance();
  if (!callback) return;
  entry_ = std::make_shared<Entry>();
  entry_->callback = std::move(callback);
  router.add(entry_);
}

LogRegistration::~LogRegistration() {
  if (entry_) LogRouter::instance().remove(entry_);
}

LogCapture::LogCapture() {
  LogRouter::flush();
  outer_ = std::exchange(t_capture, this);
}

LogCapture::~LogCapture() {
  LogRouter::flush();
  t_capture = outer_;
}

std::string LogCapture::reason() const {
  LogRouter::flush();
  std::string text;
  for (const std::string& line : errors_.empty() ? warnings_ : errors_) {
    if (!text.empty()) text += "; ";
    text += line;
  }
  return text;
}

bool LogCapture::mentions(std::string_view part) const {
  LogRouter::flush();
  const auto has = [part](const std::string& line) { return line.find(part) != std::string::npos; };
  return std::any_of(errors_.begin(), errors_.end(), has) ||
         std::any_of(warnings_.begin(), warnings_.end(), has);
}

}  // namespace segue
