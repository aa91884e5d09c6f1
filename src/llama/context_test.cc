#include "llama/context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "llama/test_models.h"
#include "llama/vocabulary.h"
#include "segue/error.h"

namespace segue {
namespace {

constexpr SlotId kFirst{0};
constexpr SlotId kSecond{1};

class LlamaContextTest : public ::testing::Test {
 protected:
  static ModelOptions options() {
    return {.threads = 1, .slots = 2, .context_length = 256, .batch_size = 64};
  }
  static std::vector<Token> tokens_of(std::string_view text) {
    std::vector<Token> tokens;
    LlamaVocabulary(tiny_model()).tokenize_plain(text, tokens);
    return tokens;
  }
  // Reads tokens from a position on; the logits after the last.
  static std::vector<float> read(LlamaContext& context, SlotId slot, std::span<const Token> tokens,
                                 std::int64_t from = 0) {
    std::vector<BatchToken> batch;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      batch.push_back({.token = tokens[i],
                       .position = Position(from + static_cast<std::int64_t>(i)),
                       .slot = slot,
                       .wants_logits = i + 1 == tokens.size()});
    }
    EXPECT_EQ(context.decode(batch), DecodeStatus::ok);
    const auto logits = context.logits(static_cast<std::int32_t>(batch.size()) - 1);
    return {logits.begin(), logits.end()};
  }

  LlamaContext context_{tiny_model(), options()};
  const std::vector<Token> story_ = tokens_of("The quick brown fox jumps over the lazy dog, and");
  std::span<const Token> story() const { return story_; }
};

TEST_F(LlamaContextTest, ItsShapeIsAsAskedFor) {
  EXPECT_EQ(context_.shape().n_slots, 2);
  EXPECT_EQ(context_.shape().context_length, Position(256));
  EXPECT_EQ(context_.shape().batch_size, 64);
  EXPECT_EQ(context_.shape().memory.kind, MemoryKind::attention);
  EXPECT_FALSE(context_.shape().memory.needs_checkpoints());
}

TEST_F(LlamaContextTest, StartsEmptyAndKnowsItsPositions) {
  EXPECT_EQ(context_.position_max(kFirst), Position(-1));
  read(context_, kFirst, story());
  EXPECT_EQ(context_.position_min(kFirst), Position(0));
  EXPECT_EQ(context_.position_max(kFirst), Position(std::ssize(story_) - 1));
  EXPECT_EQ(context_.position_max(kSecond), Position(-1));
  context_.clear(kFirst);
  EXPECT_EQ(context_.position_max(kFirst), Position(-1));
}

TEST_F(LlamaContextTest, ACutTailReadAgainGivesTheLogitsOfAFreshRead) {
  const auto fresh = read(context_, kFirst, story());
  read(context_, kFirst, story().first(3), std::ssize(story_));
  const std::int64_t kept = std::ssize(story_) - 1;
  ASSERT_TRUE(context_.remove_from(kFirst, Position(kept)));
  EXPECT_EQ(context_.position_max(kFirst), Position(kept - 1));
  const auto again = read(context_, kFirst, story().subspan(static_cast<std::size_t>(kept)), kept);
  ASSERT_EQ(again.size(), fresh.size());
  for (std::size_t i = 0; i < fresh.size(); ++i) ASSERT_NEAR(again[i], fresh[i], 1e-3) << i;
}

TEST_F(LlamaContextTest, ASavedStateContinuesInAnotherSlotExactly) {
  read(context_, kFirst, story());
  const StateBlob blob = context_.save(kFirst, StatePart::whole);
  ASSERT_FALSE(blob.empty());
  const auto next = story().first(1);
  const auto expected = read(context_, kFirst, next, std::ssize(story_));
  read(context_, kSecond, story().first(2));  // to be replaced
  ASSERT_TRUE(context_.restore(kSecond, blob, StatePart::whole));
  EXPECT_EQ(context_.position_max(kSecond), Position(std::ssize(story_) - 1));
  EXPECT_EQ(read(context_, kSecond, next, std::ssize(story_)), expected);
}

TEST_F(LlamaContextTest, AStateMovesToAContextOfAnotherLengthButNotOfOtherSlots) {
  read(context_, kFirst, story());
  const StateBlob blob = context_.save(kFirst, StatePart::whole);
  ModelOptions longer = options();
  longer.context_length = 512;
  LlamaContext other(tiny_model(), longer);
  EXPECT_EQ(other.shape().fingerprint, context_.shape().fingerprint);
  EXPECT_TRUE(other.restore(kFirst, blob, StatePart::whole));
  EXPECT_EQ(read(other, kFirst, story().first(1), std::ssize(story_)),
            read(context_, kFirst, story().first(1), std::ssize(story_)));
  ModelOptions wider = options();
  wider.slots = 3;
  LlamaContext third(tiny_model(), wider);
  EXPECT_NE(third.shape().fingerprint, context_.shape().fingerprint);
  EXPECT_FALSE(third.restore(kFirst, blob, StatePart::whole));
}

TEST_F(LlamaContextTest, ADamagedOrForeignBlobIsRefused) {
  read(context_, kFirst, story());
  const StateBlob blob = context_.save(kFirst, StatePart::whole);
  const std::span<const std::byte> whole(blob);
  EXPECT_FALSE(context_.restore(kSecond, whole.first(whole.size() - 1), StatePart::whole));
  EXPECT_FALSE(context_.restore(kSecond, whole.first(5), StatePart::whole));
  EXPECT_FALSE(context_.restore(kSecond, {}, StatePart::whole));
  EXPECT_FALSE(context_.restore(kSecond, whole, StatePart::partial));
  EXPECT_FALSE(context_.restore(SlotId(2), whole, StatePart::whole));
}

TEST_F(LlamaContextTest, SlotsDecodedTogetherDoNotMix) {
  const std::vector<Token> other = tokens_of("Once upon a time there");
  LlamaContext alone(tiny_model(), options());
  const auto expected_first = read(alone, kFirst, story());
  const auto expected_second = read(alone, kSecond, other);
  std::vector<BatchToken> batch;
  const auto add = [&](SlotId slot, const std::vector<Token>& tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      batch.push_back(
          {tokens[i], Position(static_cast<std::int64_t>(i)), slot, i + 1 == tokens.size()});
    }
    return static_cast<std::int32_t>(batch.size()) - 1;
  };
  const std::int32_t first = add(kFirst, story_);
  const std::int32_t second = add(kSecond, other);
  ASSERT_EQ(context_.decode(batch), DecodeStatus::ok);
  const auto near = [](std::span<const float> a, const std::vector<float>& b) {
    return std::ranges::equal(a, b, [](float x, float y) { return std::abs(x - y) < 1e-3F; });
  };
  EXPECT_TRUE(near(context_.logits(first), expected_first));
  EXPECT_TRUE(near(context_.logits(second), expected_second));
  EXPECT_TRUE(context_.logits(0).empty());
}

TEST_F(LlamaContextTest, MalformedBatchesAreRefusedAndChangeNothing) {
  read(context_, kFirst, story());
  const Position last = context_.position_max(kFirst);
  const auto decode = [&](Token token, std::int64_t position, std::int32_t slot) {
    const BatchToken one{token, Position(position), SlotId(slot), true};
    return context_.decode({&one, 1});
  };
  EXPECT_EQ(context_.decode({}), DecodeStatus::invalid);
  EXPECT_EQ(decode(1, 0, 7), DecodeStatus::invalid);
  EXPECT_EQ(decode(1'000'000, last.value + 1, 0), DecodeStatus::invalid);
  EXPECT_EQ(decode(1, last.value + 5, 0), DecodeStatus::invalid);
  const std::vector<BatchToken> greedy(3, {1, Position(0), kSecond, true});
  EXPECT_EQ(context_.decode(greedy), DecodeStatus::invalid);
  const std::vector<BatchToken> long_one(65, {1, Position(0), kSecond, false});
  EXPECT_EQ(context_.decode(long_one), DecodeStatus::invalid);
  EXPECT_EQ(context_.position_max(kFirst), last);
  EXPECT_TRUE(context_.logits(0).empty());
}

TEST_F(LlamaContextTest, AFullSlotHasNoRoomAndStaysAsItWas) {
  const std::vector<Token> filler(64, story_[0]);
  for (std::int64_t at = 0; at < 256; at += 64) read(context_, kFirst, filler, at);
  const BatchToken one{story_[0], Position(256), kFirst, true};
  EXPECT_EQ(context_.decode({&one, 1}), DecodeStatus::no_room);
  EXPECT_EQ(context_.position_max(kFirst), Position(255));
}

TEST_F(LlamaContextTest, TheAbortCheckEndsADecode) {
  context_.set_abort_check([] { return true; });
  const BatchToken one{story_[0], Position(0), kFirst, true};
  EXPECT_EQ(context_.decode({&one, 1}), DecodeStatus::aborted);
  context_.set_abort_check({});
  context_.clear(kFirst);
  EXPECT_EQ(context_.decode({&one, 1}), DecodeStatus::ok);
}

TEST_F(LlamaContextTest, AContextTooLargeForMemoryNamesItsSizes) {
  ModelOptions huge = options();
  huge.slots = 256;
  huge.context_length = 8'000'000;
  try {
    LlamaContext context(tiny_model(), huge);
    FAIL() << "created";
  } catch (const OutOfMemory& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("256 slots of 8000000 tokens"));
  }
}

}  // namespace
}  // namespace segue
