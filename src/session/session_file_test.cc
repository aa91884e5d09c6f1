#include "session/session_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "segue/error.h"
#include "session/whole_file.h"

namespace segue {
namespace {

using testing::HasSubstr;

SavedSession example() {
  SavedSession session;
  session.options.cache_namespace = "tenant";
  ExchangeOptions& exchange = session.options.exchange;
  exchange.max_tokens = 12;
  exchange.stop = {"\n\n", "\xE2\x82\xAC"};
  exchange.grammar = "root ::= \"a\"";
  exchange.ignore_eos = true;
  exchange.top_logprobs = 3;
  exchange.thinking = false;
  exchange.when_busy = WhenBusy::transient;
  exchange.when_full = WhenFull::drop_oldest;
  exchange.sampling.temperature = 0.1F;
  exchange.sampling.seed = 0xFEDCBA9876543210U;
  exchange.sampling.logit_bias = {{5, -std::numeric_limits<float>::infinity()}, {7, 1.5F}};
  exchange.sampling.dry_sequence_breakers = {"x"};
  Conversation conversation;
  conversation.set_instructions("rules \xC3\xA9");
  conversation.add_prompt("");
  conversation.add_response("answer", "thought",
                            std::make_shared<const std::vector<Token>>(std::vector<Token>{3, 1}));
  conversation.add_prompt(std::string("nul \0 inside", 12));
  session.entries = conversation.entries();
  session.first_read = session.entries[1].entry.id;
  session.vocabulary = "v1";
  session.state = {std::byte{0}, std::byte{255}, std::byte{7}};
  return session;
}

std::string refusal(std::span<const std::byte> content) {
  try {
    decode_session(content);
  } catch (const InvalidSessionFile& error) {
    return error.what();
  }
  return "accepted";
}

TEST(SessionFile, GivesBackEverythingThatWasSaved) {
  const SavedSession before = example();
  const SavedSession after = decode_session(encode_session(before));
  EXPECT_EQ(after.options.cache_namespace, before.options.cache_namespace);
  const ExchangeOptions& exchange = after.options.exchange;
  EXPECT_EQ(exchange.max_tokens, 12);
  EXPECT_EQ(exchange.stop, before.options.exchange.stop);
  EXPECT_EQ(exchange.grammar, before.options.exchange.grammar);
  EXPECT_TRUE(exchange.ignore_eos);
  EXPECT_EQ(exchange.top_logprobs, 3);
  EXPECT_EQ(exchange.thinking, false);
  EXPECT_EQ(exchange.when_busy, WhenBusy::transient);
  EXPECT_EQ(exchange.when_full, WhenFull::drop_oldest);
  EXPECT_EQ(exchange.sampling.temperature, 0.1F);
  EXPECT_EQ(exchange.sampling.seed, 0xFEDCBA9876543210U);
  EXPECT_EQ(exchange.sampling.logit_bias, before.options.exchange.sampling.logit_bias);
  EXPECT_EQ(exchange.sampling.dry_sequence_breakers, std::vector<std::string>{"x"});
  ASSERT_EQ(after.entries.size(), before.entries.size());
  for (std::size_t i = 0; i < after.entries.size(); ++i) {
    EXPECT_EQ(after.entries[i].entry.id, before.entries[i].entry.id);
    EXPECT_EQ(after.entries[i].entry.kind, before.entries[i].entry.kind);
    EXPECT_EQ(after.entries[i].entry.text, before.entries[i].entry.text);
    EXPECT_EQ(after.entries[i].entry.reasoning, before.entries[i].entry.reasoning);
  }
  EXPECT_EQ(*after.entries[2].written, *before.entries[2].written);
  EXPECT_EQ(after.entries[1].written, nullptr);
  EXPECT_EQ(after.first_read, before.first_read);
  EXPECT_EQ(after.vocabulary, "v1");
  EXPECT_EQ(after.state, before.state);
}

TEST(SessionFile, UnsetOptionsStayUnset) {
  const SavedSession after = decode_session(encode_session(SavedSession{}));
  EXPECT_EQ(after.options.exchange.max_tokens, std::nullopt);
  EXPECT_EQ(after.options.exchange.sampling.seed, std::nullopt);
  EXPECT_EQ(after.options.exchange.thinking, std::nullopt);
  EXPECT_TRUE(after.state.empty());
}

TEST(SessionFile, EveryTruncationIsRefused) {
  const std::vector<std::byte> whole = encode_session(example());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_NE(refusal(std::span(whole).first(length)), "accepted") << length;
  }
}

TEST(SessionFile, EveryFlippedByteIsRefused) {
  const std::vector<std::byte> whole = encode_session(example());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> damaged = whole;
    damaged[at] ^= std::byte{0x20};
    EXPECT_NE(refusal(damaged), "accepted") << at;
  }
}

TEST(SessionFile, ARefusalSaysWhatIsWrong) {
  std::vector<std::byte> content = encode_session(example());
  EXPECT_THAT(refusal(std::as_bytes(std::span("GGUF....................."))),
              HasSubstr("not a session file"));
  EXPECT_THAT(refusal(std::span(content).first(content.size() - 1)), HasSubstr("cut short"));
  content[8] = std::byte{9};
  EXPECT_THAT(refusal(content), HasSubstr("format 9"));
}

class WholeFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("whole_file_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

const std::vector<std::byte> kOld = {std::byte{1}, std::byte{2}};
const std::vector<std::byte> kNew = {std::byte{3}};

TEST_F(WholeFile, IsReplacedAsAWholeAndLeavesNothingBeside) {
  const std::filesystem::path path = folder_ / "a.segue";
  replace_whole_file(path, kOld);
  EXPECT_EQ(read_whole_file(path), kOld);
  replace_whole_file(path, kNew);
  EXPECT_EQ(read_whole_file(path), kNew);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(WholeFile, ALinkStaysALink) {
  replace_whole_file(folder_ / "a.segue", kOld);
  std::filesystem::create_symlink("a.segue", folder_ / "link");
  replace_whole_file(folder_ / "link", kNew);
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_whole_file(folder_ / "a.segue"), kNew);
}

TEST_F(WholeFile, AMissingFileOrFolderIsATypedError) {
  EXPECT_THROW(read_whole_file(folder_ / "none"), IoFailed);
  EXPECT_THROW(replace_whole_file(folder_ / "none" / "a.segue", kNew), IoFailed);
  EXPECT_THROW(read_whole_file(folder_), IoFailed);
}

TEST_F(WholeFile, AFailedWriteLeavesTheOldFile) {
  const std::filesystem::path path = folder_ / "a";
  std::filesystem::create_directories(path / "not empty");
  EXPECT_THROW(replace_whole_file(path, kNew), IoFailed);
  EXPECT_TRUE(std::filesystem::is_directory(path));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace segue
