#include "session/conversation.h"

#include <algorithm>
#include <utility>

#include "segue/error.h"

namespace segue {

namespace {

ChatRole role_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::instructions:
      return ChatRole::system;
    case EntryKind::prompt:
      return ChatRole::user;
    case EntryKind::response:
      return ChatRole::assistant;
  }
  return ChatRole::user;
}

}  // namespace

Conversation::Conversation() : last_id_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

Conversation::Conversation(std::vector<ConversationEntry> entries, EntryId first_read)
    : entries_(std::move(entries)),
      first_read_(first_read),
      last_id_(std::make_shared<std::atomic<std::uint64_t>>(0)) {
  std::vector<std::uint64_t> ids;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i].entry;
    if (entry.kind == EntryKind::instructions && i != 0) {
      throw InvalidArgument("instructions are not the first entry");
    }
    ids.push_back(entry.id.value);
  }
  std::sort(ids.begin(), ids.end());
  const bool has_twins = std::adjacent_find(ids.begin(), ids.end()) != ids.end();
  if (has_twins || (!ids.empty() && ids.front() == 0)) {
    throw InvalidArgument("entries whose ids are not distinct and above zero");
  }
  if (!ids.empty()) *last_id_ = ids.back();
}

bool Conversation::has_instructions() const {
  return !entries_.empty() && entries_.front().entry.kind == EntryKind::instructions;
}

std::string_view Conversation::instructions() const {
  return has_instructions() ? std::string_view(entries_.front().entry.text) : std::string_view();
}

void Conversation::set_instructions(std::string_view text) {
  if (text == instructions()) return;
  if (has_instructions()) entries_.erase(entries_.begin());
  if (text.empty()) return;
  ConversationEntry added;
  added.entry = {next_id(), EntryKind::instructions, std::string(text), {}};
  entries_.insert(entries_.begin(), std::move(added));
}

EntryId Conversation::add_prompt(std::string_view text) {
  ConversationEntry added;
  added.entry = {next_id(), EntryKind::prompt, std::string(text), {}};
  entries_.push_back(std::move(added));
  return entries_.back().entry.id;
}

EntryId Conversation::add_response(std::string_view text, std::string_view reasoning,
                                   WrittenTokens written) {
  ConversationEntry added;
  added.entry = {next_id(), EntryKind::response, std::string(text), std::string(reasoning)};
  added.written = std::move(written);
  entries_.push_back(std::move(added));
  return entries_.back().entry.id;
}

std::size_t Conversation::index_of(EntryId entry) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].entry.id == entry) return i;
  }
  throw InvalidArgument("the session has no entry " + std::to_string(entry.value) +
                        "; transcript() lists those that it has");
}

void Conversation::rewind_to(EntryId entry) {
  const std::size_t kept = entry == EntryId{} ? (has_instructions() ? 1 : 0) : index_of(entry) + 1;
  entries_.resize(kept);
}

void Conversation::replace(EntryId entry, std::string_view text) {
  const std::size_t index = index_of(entry);
  ConversationEntry& found = entries_[index];
  if (found.entry.kind == EntryKind::instructions) {
    set_instructions(text);
    return;
  }
  const bool begins_what_is_read = first_read_ == entry;
  found.entry = {next_id(), found.entry.kind, std::string(text), {}};
  found.written = nullptr;
  if (begins_what_is_read) first_read_ = found.entry.id;
}

void Conversation::reopen_last_prompt() {
  std::size_t kept = entries_.size();
  while (kept > 0 && entries_[kept - 1].entry.kind != EntryKind::prompt) --kept;
  if (kept == 0) throw InvalidArgument("there is no prompt to answer again");
  entries_.resize(kept);
}

std::size_t Conversation::first_read_index() const {
  const std::size_t first = has_instructions() ? 1 : 0;
  if (first_read_ == EntryId{}) return first;
  for (std::size_t i = first; i < entries_.size(); ++i) {
    if (entries_[i].entry.id == first_read_) return i;
  }
  return first;
}

bool Conversation::leave_out_oldest_turn() {
  for (std::size_t i = first_read_index() + 1; i < entries_.size(); ++i) {
    if (entries_[i].entry.kind == EntryKind::prompt) {
      first_read_ = entries_[i].entry.id;
      return true;
    }
  }
  return false;
}

std::size_t Conversation::turns_read() const {
  return static_cast<std::size_t>(std::count_if(
      entries_.begin() + static_cast<std::ptrdiff_t>(first_read_index()), entries_.end(),
      [](const ConversationEntry& each) { return each.entry.kind == EntryKind::prompt; }));
}

Transcript Conversation::transcript() const {
  Transcript transcript;
  transcript.reserve(entries_.size());
  for (const ConversationEntry& each : entries_) transcript.push_back(each.entry);
  return transcript;
}

std::vector<ChatMessage> Conversation::messages() const {
  std::vector<ChatMessage> messages;
  const std::size_t first = first_read_index();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i].entry;
    if (i < first && entry.kind != EntryKind::instructions) continue;
    messages.push_back({role_of(entry.kind), entry.text, entry.reasoning, entries_[i].written});
  }
  return messages;
}

}  // namespace segue
