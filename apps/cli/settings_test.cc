#include "settings.h"

#include <gtest/gtest.h>

#include <cmath>

#include "segue/error.h"

namespace segue::cli {
namespace {

TEST(Settings, EveryOptionKeepsTheValueThatItShows) {
  for (const Setting& setting : settings()) {
    ExchangeOptions options;
    const std::string value = setting.get(options);
    apply_setting(options, setting.name + " " + value);
    EXPECT_EQ(setting.get(options), value) << setting.name;
    EXPECT_FALSE(setting.help.empty()) << setting.name;
  }
}

TEST(Settings, NumbersArriveInTheirOption) {
  ExchangeOptions options;
  apply_setting(options, "temp 0.25");
  apply_setting(options, "top-k 7");
  apply_setting(options, "seed 18446744073709551615");
  apply_setting(options, "max_tokens 12");
  EXPECT_EQ(options.sampling.temperature, 0.25F);
  EXPECT_EQ(options.sampling.top_k, 7);
  EXPECT_EQ(options.sampling.seed, 18446744073709551615ULL);
  EXPECT_EQ(options.max_tokens, 12);
  apply_setting(options, "seed random");
  apply_setting(options, "max_tokens none");
  EXPECT_EQ(options.sampling.seed, std::nullopt);
  EXPECT_EQ(options.max_tokens, std::nullopt);
}

TEST(Settings, ListsTakeQuotedTexts) {
  ExchangeOptions options;
  apply_setting(options, "stop \"\\n\\n\" User:");
  EXPECT_EQ(options.stop, (std::vector<std::string>{"\n\n", "User:"}));
  apply_setting(options, "stop none");
  EXPECT_TRUE(options.stop.empty());
  apply_setting(options, "logit_bias 5=-1.5 6=-inf");
  EXPECT_EQ(options.sampling.logit_bias[5], -1.5F);
  EXPECT_TRUE(std::isinf(options.sampling.logit_bias[6]));
}

TEST(Settings, NamedValuesAreTheOnlyOnes) {
  ExchangeOptions options;
  apply_setting(options, "thinking off");
  EXPECT_EQ(options.thinking, false);
  apply_setting(options, "when_full drop_oldest");
  EXPECT_EQ(options.when_full, WhenFull::drop_oldest);
  EXPECT_THROW(apply_setting(options, "thinking maybe"), InvalidArgument);
}

TEST(Settings, WrongValuesAreRefusedAndChangeNothing) {
  ExchangeOptions options;
  for (const char* wrong :
       {"temperature hot", "temperature -1", "temperature 1x", "temperature nan", "top_k 1.5",
        "top_k", "top_k 1 2", "top_p 1.1", "seed -1", "logit_bias 5", "logit_bias x=1",
        "mirostat 3", "top_k 99999999999"}) {
    EXPECT_THROW(apply_setting(options, wrong), InvalidArgument) << wrong;
  }
  EXPECT_EQ(list_settings(options, 100), list_settings(ExchangeOptions(), 100));
  EXPECT_THROW(apply_setting(options, "grammar /no/such/file"), IoFailed);
  EXPECT_THROW(apply_setting(options, "grammar /"), IoFailed);
}

TEST(Settings, AWrongValueIsAnsweredWithWhatIsRight) {
  const auto refusal = [](const char* text) {
    ExchangeOptions options;
    try {
      apply_setting(options, text);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal("temp hot"), "temperature: \"hot\" is not a number of at least 0");
  EXPECT_EQ(refusal("top_p 2"), "top_p: \"2\" is not a number from 0 to 1");
  EXPECT_EQ(refusal("top_k 99999999999"),
            "top_k: \"99999999999\" is not a whole number from 0 to 2147483647");
  EXPECT_EQ(refusal("thinking maybe"), "thinking: \"maybe\" is none of auto|on|off");
}

TEST(Settings, AnswersAreNotCutUnlessAsked) {
  EXPECT_EQ(find_setting("max_tokens").get(ExchangeOptions()), "none");
  EXPECT_NE(find_setting("max_tokens").help.find("context is full"), std::string::npos);
}

TEST(Settings, AMistypedNameComesWithTheNearestOne) {
  try {
    find_setting("temperatur");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean temperature?"), std::string::npos);
  }
}

TEST(Settings, TheListShowsEverySettingWithItsValue) {
  ExchangeOptions options;
  options.sampling.temperature = 0.125F;
  const std::string list = list_settings(options, 100);
  for (const Setting& setting : settings()) {
    EXPECT_NE(list.find(setting.name), std::string::npos) << setting.name;
  }
  EXPECT_NE(list.find("0.125"), std::string::npos);
}

}  // namespace
}  // namespace segue::cli
