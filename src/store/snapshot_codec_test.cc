#include "store/snapshot_codec.h"

#include <gtest/gtest.h>

#include "segue/error.h"

namespace segue {
namespace {

std::shared_ptr<const StateBlob> blob_of(std::initializer_list<int> bytes) {
  auto blob = std::make_shared<StateBlob>();
  for (const int b : bytes) blob->push_back(static_cast<std::byte>(b));
  return blob;
}

Snapshot some_snapshot() {
  Snapshot snapshot;
  for (const Token token : {5, 0, 7, 151'935}) {
    snapshot.record.append(PromptItem::of_token(token));
  }
  snapshot.record.append(PromptItem::of_media(0xFEDCBA9876543210ULL, 1, 12));
  snapshot.state = blob_of({1, 2, 255, 0, 9});
  snapshot.checkpoints.add({.length = ItemCount(2), .blob = blob_of({7})});
  snapshot.checkpoints.add({.length = ItemCount(5), .blob = blob_of({})});
  snapshot.fingerprint = "model and context";
  snapshot.cache_namespace = "a tenant";
  return snapshot;
}

TEST(SnapshotCodec, WhatWasWrittenIsRead) {
  const Snapshot written = some_snapshot();
  const SnapshotPtr read = decode_snapshot(encode_snapshot(written));
  EXPECT_EQ(read->record, written.record);
  EXPECT_EQ(read->record.end_position(), written.record.end_position());
  EXPECT_EQ(*read->state, *written.state);
  EXPECT_EQ(read->fingerprint, written.fingerprint);
  EXPECT_EQ(read->cache_namespace, written.cache_namespace);
  ASSERT_EQ(read->checkpoints.list().size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read->checkpoints.list()[i].length, written.checkpoints.list()[i].length);
    EXPECT_EQ(*read->checkpoints.list()[i].blob, *written.checkpoints.list()[i].blob);
  }
}

TEST(SnapshotCodec, AnEmptyOneToo) {
  const SnapshotPtr read = decode_snapshot(encode_snapshot(Snapshot{}));
  EXPECT_TRUE(read->record.empty());
  EXPECT_TRUE(read->state->empty());
}

TEST(SnapshotCodec, DamageToAnyByteIsSeen) {
  const std::vector<std::byte> good = encode_snapshot(some_snapshot());
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int bits : {0x01, 0x80, 0xFF}) {
      std::vector<std::byte> bad = good;
      bad[at] ^= static_cast<std::byte>(bits);
      EXPECT_THROW(decode_snapshot(bad), InvalidSessionFile) << "byte " << at;
    }
  }
}

TEST(SnapshotCodec, EveryShorterOrLongerFileIsRefused) {
  std::vector<std::byte> bytes = encode_snapshot(some_snapshot());
  bytes.push_back(std::byte{0});
  EXPECT_THROW(decode_snapshot(bytes), InvalidSessionFile);
  bytes.pop_back();
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_THROW(decode_snapshot(bytes), InvalidSessionFile) << bytes.size() << " bytes";
  }
}

}  // namespace
}  // namespace segue
