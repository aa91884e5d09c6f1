#include "status_line.h"

#include <gtest/gtest.h>

#include "words.h"

namespace segue::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Response a_response() {
  Response response;
  response.usage = {.reused = 1204, .read = 15, .written = 87};
  response.timing.to_first = milliseconds(80);
  response.timing.tokens_per_second = 43.21;
  return response;
}

TEST(StatusLine, SaysWhatATurnCost) {
  EXPECT_EQ(format_status(a_response(), 100, " · "),
            "reused 1,204 · read 15 · wrote 87 tokens · first in 80 ms · 43.2 tokens/s");
}

TEST(StatusLine, SaysWhyAnAnswerWasCut) {
  Response response = a_response();
  response.finish_reason = FinishReason::max_tokens;
  EXPECT_NE(format_status(response, 100, " · ").find("cut at max_tokens"), std::string::npos);
}

TEST(StatusLine, LeavesOutWhatDoesNotFit) {
  EXPECT_EQ(format_status(a_response(), 45, " · "), "reused 1,204 · read 15 · wrote 87 tokens");
  for (int width = 0; width < 100; ++width) {
    const std::string line = format_status(a_response(), width, " · ");
    EXPECT_TRUE(line.empty() || column_count(line) < static_cast<std::size_t>(width));
  }
}

TEST(StatusLine, AnAnswerOfNothingHasNoSpeed) {
  Response response;
  response.usage.read = 3;
  EXPECT_EQ(format_status(response, 100, " - "), "reused 0 - read 3 - wrote 0 tokens");
}

TEST(StatusLine, DurationsReadNaturally) {
  EXPECT_EQ(format_duration(std::chrono::microseconds(600)), "0.6 ms");
  EXPECT_EQ(format_duration(milliseconds(80)), "80 ms");
  EXPECT_EQ(format_duration(milliseconds(1234)), "1.2 s");
  EXPECT_EQ(format_duration(seconds(125)), "2 min 05 s");
}

TEST(StatusLine, BytesReadNaturally) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KB");
  EXPECT_EQ(format_bytes(std::int64_t{2} << 30), "2.0 GB");
  EXPECT_EQ(format_bytes(std::int64_t{48} << 30), "48 GB");
}

TEST(StatusLine, StatsNameEveryKindOfToken) {
  CachedState state;
  state.tokens_reused = 5000;
  state.tokens_settled = 7;
  const std::string text = format_cached_state(state, 80);
  EXPECT_NE(text.find("5,000"), std::string::npos);
  EXPECT_NE(text.find("7 of them in idle time"), std::string::npos);
}

}  // namespace
}  // namespace segue::cli
