// One conversation with a model. It keeps its state whatever other sessions do: a turn reads only
// what is new, and its answer is the one that a fresh read of everything would give.
//
// Thread-safe. One exchange at a time: a second one meanwhile is refused (ConcurrentRequests) or,
// on request, answered apart (WhenBusy::transient). Editing functions throw ConcurrentRequests
// while an exchange runs. An exchange is all or nothing: where it throws, the transcript is as
// before.
//
// Movable, not copyable: fork() makes a second conversation. Destroying a session while it answers
// is allowed from the thread that does not wait for it; the state is released when the answer has
// ended.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "segue/error.h"
#include "segue/model.h"
#include "segue/options.h"
#include "segue/response.h"
#include "segue/stream.h"
#include "segue/transcript.h"
#include "segue/visibility.h"

namespace segue {

class SessionImpl;

class SEGUE_API Session {
 public:
  explicit Session(const Model& model, const SessionOptions& options = {});

  // Reads a file that save() wrote. A file whose state does not fit this model is opened without
  // the state (the next turn reads everything). Throws InvalidSessionFile, IoFailed.
  static Session open(const Model& model, const std::filesystem::path& path);
  // Writes transcript, options and state; replaces the file only when all is written. Throws
  // IoFailed.
  void save(const std::filesystem::path& path) const;

  // Asks and waits for the whole answer. With no options, the session's own. Throws what error.h
  // lists.
  Response respond(std::string_view prompt);
  Response respond(std::string_view prompt, const ExchangeOptions& options);
  // Asks and gives the answer piece by piece. The exchange commits when the stream has been read to
  // its end; leaving it earlier cancels.
  Stream stream(std::string_view prompt);
  Stream stream(std::string_view prompt, const ExchangeOptions& options);

  // Answers the last prompt again, in place of the answer it has (if any). Throws InvalidArgument
  // where there is no prompt.
  Response regenerate();
  Response regenerate(const ExchangeOptions& options);
  Stream stream_regenerate();
  Stream stream_regenerate(const ExchangeOptions& options);

  Transcript transcript() const;
  SessionOptions options() const;
  void set_exchange_options(const ExchangeOptions& options);
  // Replaces the system text; "" removes it.
  void set_instructions(std::string_view text);

  // A second conversation with the same transcript and state; both go on independently.
  Session fork() const;
  // Drops every entry after this one; EntryId{} drops all but the instructions. Throws
  // InvalidArgument where the session has no such entry.
  void rewind_to(EntryId entry);
  // Replaces the text of an entry; later entries stay.
  void replace(EntryId entry, std::string_view text);

  // Reads what is certain of the next prompt now, so that the next turn starts at once.
  void prewarm();
  bool is_responding() const;
  // Tokens of the conversation as the model would read it now.
  std::int64_t token_count() const;

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

 private:
  explicit Session(std::shared_ptr<SessionImpl> impl);
  std::shared_ptr<SessionImpl> impl_;
};

}  // namespace segue
