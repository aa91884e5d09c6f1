// A transcript as data: entries in order, the tokens that the model wrote for them, and the edits
// that people make. Nothing here reads, writes or waits.
//
// Invariants:
// - Instructions, where there are any, are the first entry and the only one of their kind.
// - Ids are never used twice by a conversation and its copies: copies share one counter.
// - An entry's written tokens spell what the model wrote for it; an edited entry has none.
// A value: an exchange works on a copy and puts it in place when it commits. Not thread-safe, but
// copies may be used by different threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/units.h"
#include "chat/prompt_builder.h"
#include "segue/transcript.h"

namespace segue {

using WrittenTokens = std::shared_ptr<const std::vector<Token>>;

struct ConversationEntry {
  Entry entry;
  WrittenTokens written;  // of a response that the model wrote; else null
};

class Conversation {
 public:
  Conversation();
  // Puts a saved conversation together again. Throws InvalidArgument where entries break the
  // invariants above.
  Conversation(std::vector<ConversationEntry> entries, EntryId first_read);

  // Replaces the instructions; "" removes them.
  void set_instructions(std::string_view text);
  std::string_view instructions() const;
  EntryId add_prompt(std::string_view text);
  EntryId add_response(std::string_view text, std::string_view reasoning, WrittenTokens written);

  // Drops every entry after this one; EntryId{} drops all but the instructions. Throws
  // InvalidArgument where there is no such entry.
  void rewind_to(EntryId entry);
  // Gives an entry another text (and a new id). Instructions with no text are removed. Throws
  // InvalidArgument where there is no such entry.
  void replace(EntryId entry, std::string_view text);
  // Drops what follows the last prompt, so that it can be answered again. Throws InvalidArgument
  // where there is no prompt.
  void reopen_last_prompt();

  // Leaves the oldest turn (a prompt and what follows it) out of what the model reads; the
  // transcript keeps it. False where only the last turn is left.
  bool leave_out_oldest_turn();
  // Prompts among what is read.
  std::size_t turns_read() const;
  // The first entry after the instructions that is read; EntryId{}: all are.
  EntryId first_read() const { return first_read_; }
  void read_all() { first_read_ = EntryId{}; }

  const std::vector<ConversationEntry>& entries() const { return entries_; }
  Transcript transcript() const;
  // What the model reads, oldest first.
  std::vector<ChatMessage> messages() const;

 private:
  EntryId next_id() { return EntryId{++*last_id_}; }
  bool has_instructions() const;
  std::size_t index_of(EntryId entry) const;  // throws InvalidArgument
  std::size_t first_read_index() const;       // the whole where first_read_ is gone

  std::vector<ConversationEntry> entries_;
  EntryId first_read_;
  std::shared_ptr<std::atomic<std::uint64_t>> last_id_;
};

}  // namespace segue
