#include "session/model_impl.h"

#include <cstdint>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "session/callbacks.h"

namespace segue {

namespace {

// Size and content of every token, so that two vocabularies with one name spell alike.
std::string name_of(const Vocabulary& vocabulary) {
  std::uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto add = [&](unsigned char byte) { hash = (hash ^ byte) * 1099511628211U; };
  for (Token token = 0; token < vocabulary.size(); ++token) {
    for (const char byte : vocabulary.piece(token, true)) add(static_cast<unsigned char>(byte));
    add(0xFF);  // in no UTF-8 text, so pieces cannot run together
  }
  return std::to_string(vocabulary.size()) + "-" + std::to_string(hash);
}

// Threads that end models whose last handle was dropped where nobody can wait; joined at exit.
class Undertaker {
 public:
  ~Undertaker() {
    for (std::thread& thread : threads_) thread.join();
  }

  template <typename Work>
  void run(Work work) {
    const std::scoped_lock lock(mutex_);
    threads_.emplace_back(std::move(work));
  }

  static Undertaker& instance() {
    static Undertaker undertaker;
    return undertaker;
  }

 private:
  std::mutex mutex_;
  std::vector<std::thread> threads_;
};

}  // namespace

// The engine joins its thread when it ends. In a callback on that very thread this would wait for
// ever, so another thread does it then.
class ModelEnd {
 public:
  void operator()(ModelImpl* model) const {
    if (!is_inside_log()) {
      delete model;
      return;
    }
    try {
      Undertaker::instance().run([model] { delete model; });
    } catch (const std::system_error&) {  // no thread to be had: kept until the process ends
    }
  }
};

ModelImpl::ModelImpl(ModelParts parts, EngineOptions engine_options)
    : foundation_(std::move(parts.foundation)),
      vocabulary_(std::move(parts.vocabulary)),
      template_(std::move(parts.chat_template)),
      builder_(*vocabulary_, *template_),
      capabilities_(std::move(parts.capabilities)),
      vocabulary_name_(name_of(*vocabulary_)),
      log_(engine_options.log),
      engine_(std::move(parts.backend), *vocabulary_, std::move(engine_options)) {}

std::shared_ptr<ModelImpl> ModelImpl::assemble(ModelParts parts, EngineOptions engine_options) {
  return {new ModelImpl(std::move(parts), std::move(engine_options)), ModelEnd()};
}

void ModelImpl::log(LogLevel level, const std::string& message) const {
  if (log_) log_(level, message);
}

}  // namespace segue
