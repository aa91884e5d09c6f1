// The engine: one thread that owns a context, gives sessions slots, and decodes for all of them
// together.
//
// Thread-safe: every public function may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/sampler.h"
#include "backend/state_backend.h"
#include "backend/units.h"
#include "backend/vocabulary.h"
#include "engine/answer.h"
#include "reuse/prompt.h"
#include "segue/model.h"
#include "segue/options.h"
#include "store/snapshot.h"

namespace segue {

struct EngineOptions {
  Bytes cache_bytes{std::int64_t{2} << 30};
  std::int32_t max_waiting = 256;
  // Tokens of one prefill piece while other slots are writing.
  std::int32_t shared_prefill = 128;
  LogCallback log{};
};

struct GenerationRequest {
  SessionId session;
  Prompt prompt;
  SamplerOptions sampler;
  std::optional<std::int32_t> max_tokens;  // unset: until the context is full (ContextOverflow)
  std::vector<std::string> stop;
  // Control tokens whose text belongs to the output (marks of reasoning and tool calls).
  std::vector<Token> visible_controls;
  // True: a slot of its own from the same prefix; the session's state is left alone.
  bool transient = false;
  // True: only read the prompt; the result has no text (prewarming).
  bool read_only = false;
};

class Engine {
 public:
  // `vocabulary` must outlive the engine.
  Engine(std::unique_ptr<StateBackend> backend, const Vocabulary& vocabulary,
         EngineOptions options);
  // Ends every answer with ShutDown and joins the thread.
  ~Engine();

  const BackendShape& shape() const;

  SessionId open_session(std::string cache_namespace);
  // The session's state loses its owner; a running answer is cancelled first.
  void close_session(SessionId session);

  // Queues an exchange. Throws QueueFull, ShutDown, ContextOverflow (a prompt that cannot fit).
  std::shared_ptr<Answer> submit(GenerationRequest request);

  // In idle time, brings the session's state to exactly these items where it is not a prefix of
  // them already. Replaced by the next request of the session. Never throws.
  void settle(SessionId session, Prompt prefix);
  // Waits until no settling is due or running (for tests and benchmarks).
  void wait_until_idle();

  // The state of the session's namespace that serves the longest beginning of `prefix`, as a
  // snapshot, or null where there is none. Waits for the engine.
  SnapshotPtr export_state(SessionId session, Prompt prefix);
  // Keeps a snapshot for the session's next exchange. False where its fingerprint does not fit.
  bool import_state(SnapshotPtr snapshot);

  void clear_cached_state();
  CachedState counters() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace segue
