// What a Session handle stands for: the conversation, and who may change it when.
//
// Invariants:
// - At most one Turn exists at a time. While it does, it alone changes the conversation, by one
//   commit; edits are refused.
// - The conversation is replaced as a whole, so that readers see it before or after, never between.
// Thread-safe. Exchanges and streams share it with the handle; it ends with the last of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/units.h"
#include "chat/prompt_builder.h"
#include "segue/options.h"
#include "segue/transcript.h"
#include "session/conversation.h"
#include "session/model_impl.h"

namespace segue {

class SessionImpl : public std::enable_shared_from_this<SessionImpl> {
 public:
  SessionImpl(std::shared_ptr<ModelImpl> model, const SessionOptions& options);
  static std::shared_ptr<SessionImpl> open(std::shared_ptr<ModelImpl> model,
                                           const std::filesystem::path& path);
  ~SessionImpl();
  SessionImpl(const SessionImpl&) = delete;
  SessionImpl& operator=(const SessionImpl&) = delete;

  // The right to change the conversation and to use the session's own state; given back when it is
  // destroyed. Keeps the session alive.
  class Turn {
   public:
    explicit Turn(std::shared_ptr<SessionImpl> session) : session_(std::move(session)) {}
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    void commit(Conversation conversation);
    FragmentCache& fragments() { return *session_->fragments_; }
    // Whether the template last left the history as the model had read and written it.
    bool history_is_stable() const { return session_->history_is_stable_; }
    void set_history_is_stable(bool is_stable) { session_->history_is_stable_ = is_stable; }

   private:
    std::shared_ptr<SessionImpl> session_;
  };
  // Null where another one holds it.
  std::unique_ptr<Turn> try_begin();
  // Throws ConcurrentRequests.
  std::unique_ptr<Turn> begin();

  ModelImpl& model() const { return *model_; }
  SessionId id() const { return id_; }
  bool is_responding() const;
  Conversation conversation() const;
  SessionOptions options() const;
  void set_exchange_options(const ExchangeOptions& options);

  // Applies an edit, all or nothing. Throws ConcurrentRequests, and what the edit throws.
  template <typename Change>
  void edit(Change change) {
    const std::scoped_lock lock(mutex_);
    refuse_while_responding();
    Conversation edited = conversation_;
    change(edited);
    conversation_ = std::move(edited);
  }

  std::shared_ptr<SessionImpl> fork() const;
  void save(const std::filesystem::path& path) const;
  void prewarm();
  std::int64_t token_count() const;

 private:
  SessionImpl(std::shared_ptr<ModelImpl> model, SessionOptions options, Conversation conversation);
  std::vector<std::byte> encoded_state(const Conversation& conversation,
                                       const ExchangeOptions& options) const;
  void take_state(std::span<const std::byte> encoded);
  void refuse_while_responding() const;  // requires mutex_

  const std::shared_ptr<ModelImpl> model_;
  const std::string cache_namespace_;
  const SessionId id_;
  // Used by the holder of the turn alone.
  const std::unique_ptr<FragmentCache> fragments_;
  bool history_is_stable_ = false;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  Conversation conversation_;
  ExchangeOptions exchange_options_;
  bool is_responding_ = false;
};

}  // namespace segue
