// The format of session files: transcript, options, the model's own tokens and its state.
//
//   magic (8 bytes) · format version (u32) · header bytes (u64) · state bytes (u64)
//   header (JSON) · state (as the store encodes a snapshot) · checksum of all before (u64)
//
// Numbers are little-endian. Readers ignore header fields that they do not know, and take the
// default of those that are missing; anything else that changes needs another version. Pure
// functions; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "segue/options.h"
#include "session/conversation.h"

namespace segue {

struct SavedSession {
  // Without instructions (an entry has them) and callbacks.
  SessionOptions options;
  std::vector<ConversationEntry> entries;
  EntryId first_read;
  // Names the vocabulary that the written tokens belong to.
  std::string vocabulary;
  // An encoded snapshot; empty: none.
  std::vector<std::byte> state;
};

std::vector<std::byte> encode_session(const SavedSession& session);
// Throws InvalidSessionFile for content that is foreign, damaged, cut short or too new.
SavedSession decode_session(std::span<const std::byte> content);

}  // namespace segue
