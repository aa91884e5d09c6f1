// A snapshot as bytes, for session files.
//
// Layout, little endian: "SEGUESNP", u32 version, u64 payload bytes, the payload, XXH3-64 of it.
// The payload: fingerprint and namespace (u64 length, bytes), items (u64 count; token i32,
// positions i32, media hash 2 × u64), state (u64 length, bytes), checkpoints (u64 count; u64 length
// in items, u64 length in bytes, bytes). Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "store/snapshot.h"

namespace segue {

std::vector<std::byte> encode_snapshot(const Snapshot& snapshot);

// Throws InvalidSessionFile for bytes that are damaged, cut short or of another version. Allocates
// no more than the bytes given.
SnapshotPtr decode_snapshot(std::span<const std::byte> bytes);

}  // namespace segue
