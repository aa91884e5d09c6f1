#include "session/validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "segue/error.h"

namespace segue {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& check) {
  try {
    check();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Validation, TheDefaultsAreAccepted) {
  EXPECT_NO_THROW(check_options(ModelOptions{}));
  EXPECT_NO_THROW(check_options(ExchangeOptions{}));
  EXPECT_NO_THROW(check_options(SessionOptions{}));
}

TEST(Validation, ARefusalNamesTheOptionTheValueAndTheRange) {
  ExchangeOptions options;
  options.sampling.top_p = 1.5F;
  const std::string message = refusal([&] { check_options(options); });
  EXPECT_THAT(message, HasSubstr("top_p"));
  EXPECT_THAT(message, HasSubstr("1.5"));
  EXPECT_THAT(message, HasSubstr("from 0 to 1"));
}

TEST(Validation, EveryOptionOutOfRangeIsRefused) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<std::function<void(ExchangeOptions&)>> mistakes = {
      [](auto& o) { o.max_tokens = -1; },
      [](auto& o) { o.top_logprobs = -1; },
      [](auto& o) { o.sampling.temperature = -0.1F; },
      [&](auto& o) { o.sampling.temperature = nan; },
      [&](auto& o) { o.sampling.temperature = infinity; },
      [](auto& o) { o.sampling.top_k = -1; },
      [](auto& o) { o.sampling.min_p = 2; },
      [](auto& o) { o.sampling.typical_p = -1; },
      [](auto& o) { o.sampling.repeat_penalty = 0; },
      [](auto& o) { o.sampling.penalty_last_n = -2; },
      [](auto& o) { o.sampling.mirostat = 3; },
      [&](auto& o) {
        o.sampling.logit_bias = {{1, nan}};
      },
      [&](auto& o) {
        o.sampling.logit_bias = {{1, infinity}};
      },
      [](auto& o) { o.stop = {""}; },
      [](auto& o) { o.stop = {"\xFF"}; },
  };
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    ExchangeOptions options;
    mistakes[i](options);
    EXPECT_THROW(check_options(options), InvalidArgument) << "mistake " << i;
  }
}

TEST(Validation, ATokenMayBeForbidden) {
  ExchangeOptions options;
  options.sampling.logit_bias = {{1, -std::numeric_limits<float>::infinity()}};
  EXPECT_NO_THROW(check_options(options));
}

TEST(Validation, WellFormedTextIsAccepted) {
  EXPECT_NO_THROW(check_utf8("", "it"));
  EXPECT_NO_THROW(check_utf8("plain, \xC3\xA9, \xE2\x82\xAC, \xF0\x9F\x98\x80", "it"));
  EXPECT_NO_THROW(check_utf8(std::string_view("a\0b", 3), "it"));
}

TEST(Validation, IllFormedTextIsRefusedWithTheOffset) {
  const std::vector<std::string> ill_formed = {
      "\x80", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF",
  };
  for (const std::string& bytes : ill_formed) {
    EXPECT_THAT(refusal([&] { check_utf8("abc" + bytes, "the prompt"); }),
                HasSubstr("the prompt is not UTF-8 at byte 3"));
  }
}

}  // namespace
}  // namespace segue
