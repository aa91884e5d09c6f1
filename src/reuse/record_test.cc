#include "reuse/record.h"

#include <gtest/gtest.h>

namespace segue {
namespace {

PromptItem token(Token t) { return PromptItem::of_token(t); }
PromptItem image(std::uint64_t hash, std::int32_t n_positions) {
  return PromptItem::of_media(hash, hash, n_positions);
}

std::vector<std::int64_t> positions_of(const Record& record) {
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i <= record.length().value; ++i) {
    positions.push_back(record.position_at(ItemCount(i)).value);
  }
  return positions;
}

TEST(Record, TextTakesOnePositionAnItem) {
  const Record record({token(5), token(6), token(7)});
  EXPECT_EQ(record.length(), ItemCount(3));
  EXPECT_EQ(record.end_position(), Position(3));
  EXPECT_EQ(positions_of(record), (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(Record, LengthsAndPositionsOfMediaAreNotMixed) {
  const Record record({token(5), image(1, 4), token(6), image(2, 10), image(3, 2), token(7)});
  EXPECT_EQ(positions_of(record), (std::vector<std::int64_t>{0, 1, 5, 6, 16, 18, 19}));
  EXPECT_EQ(record.end_position(), Position(19));
}

TEST(Record, APositionInsideAMediaChunkBelongsToTheLengthBeforeIt) {
  const Record record({token(5), image(1, 4), token(6), image(2, 10), image(3, 2), token(7)});
  std::vector<std::int64_t> lengths;
  for (std::int64_t p = -1; p <= 20; ++p) lengths.push_back(record.length_at(Position(p)).value);
  EXPECT_EQ(lengths, (std::vector<std::int64_t>{0, 0, 1, 1, 1, 1, 2, 3, 3, 3, 3,
                                                3, 3, 3, 3, 3, 3, 4, 4, 5, 6, 6}));
}

TEST(Record, AppendingOneByOneEqualsMakingItAtOnce) {
  const std::vector<PromptItem> items = {token(5), image(1, 4), token(6), image(2, 10)};
  Record record;
  for (const PromptItem& item : items) record.append(item);
  EXPECT_EQ(record, Record(items));
  EXPECT_EQ(positions_of(record), positions_of(Record(items)));
}

TEST(Record, ACutRecordIsThatOfItsBeginning) {
  const std::vector<PromptItem> items = {token(5), image(1, 4), token(6), image(2, 10), token(7)};
  for (std::size_t k = 0; k <= items.size(); ++k) {
    Record record(items);
    record.truncate(ItemCount(static_cast<std::int64_t>(k)));
    const Record fresh(
        std::vector<PromptItem>(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(k)));
    EXPECT_EQ(record, fresh);
    EXPECT_EQ(positions_of(record), positions_of(fresh));
    record.append(image(9, 3));
    EXPECT_EQ(record.end_position(), fresh.end_position() + Position(3));
  }
  Record record(items);
  record.clear();
  EXPECT_TRUE(record.empty());
  EXPECT_EQ(record.end_position(), Position(0));
}

TEST(Record, CommonPrefixComparesWholeItems) {
  const Record a({token(1), image(7, 4), token(2)});
  EXPECT_EQ(common_prefix(a.items(), a.items()), ItemCount(3));
  EXPECT_EQ(common_prefix(a.items(), {}), ItemCount(0));
  // Another image, and the same content cut into other tokens, are other items.
  EXPECT_EQ(common_prefix(a.items(), Record({token(1), image(8, 4)}).items()), ItemCount(1));
  EXPECT_EQ(common_prefix(a.items(), Record({token(1), image(7, 5)}).items()), ItemCount(1));
  EXPECT_EQ(common_prefix(a.items(), Record({token(1), image(7, 4), token(3)}).items()),
            ItemCount(2));
}

}  // namespace
}  // namespace segue
