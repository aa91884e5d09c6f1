#include "session/callbacks.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace segue {
namespace {

TEST(GuardedLog, SwallowsWhatTheCallbackThrows) {
  int calls = 0;
  const LogCallback log = guard_log([&](LogLevel, const std::string&) {
    ++calls;
    throw std::runtime_error("broken log");
  });
  EXPECT_NO_THROW(log(LogLevel::info, "one"));
  EXPECT_NO_THROW(log(LogLevel::info, "two"));
  EXPECT_EQ(calls, 2);
  EXPECT_FALSE(is_inside_log());
}

TEST(GuardedLog, DropsWhatIsLoggedFromInsideIt) {
  std::vector<std::string> seen;
  LogCallback log;
  log = guard_log([&](LogLevel level, const std::string& message) {
    EXPECT_TRUE(is_inside_log());
    seen.push_back(message);
    log(level, "again");
  });
  log(LogLevel::info, "one");
  EXPECT_EQ(seen, std::vector<std::string>{"one"});
}

TEST(GuardedLog, NoCallbackStaysNone) { EXPECT_FALSE(guard_log(nullptr)); }

}  // namespace
}  // namespace segue
