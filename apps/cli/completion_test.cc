#include "completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace segue::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Completion, ACommandIsWrittenOut) {
  EXPECT_EQ(complete("/reg").added, "enerate ");
  EXPECT_EQ(complete("/help").added, " ");
}

TEST(Completion, WhereSeveralFitTheyAreShown) {
  const Completion both = complete("/s");
  EXPECT_EQ(both.added, "");
  EXPECT_THAT(both.choices, testing::Contains("sessions"));
  EXPECT_THAT(complete("/sw").choices, IsEmpty());
  EXPECT_EQ(complete("/sw").added, "itch ");
}

TEST(Completion, WhatIsCommonToAllIsAdded) {
  EXPECT_EQ(complete("/set top").added, "_");
  EXPECT_THAT(complete("/set top_").choices, ElementsAre("top_k", "top_p", "top_n_sigma"));
}

TEST(Completion, ASettingIsWrittenOut) { EXPECT_EQ(complete("/set max").added, "_tokens "); }

TEST(Completion, FilesAreTheEditorsOwn) {
  EXPECT_TRUE(complete("/open ./mod").is_file);
  EXPECT_TRUE(complete("/save x").is_file);
  EXPECT_FALSE(complete("/set x").is_file);
}

TEST(Completion, WhatIsSaidToTheModelStaysAsItIs) {
  EXPECT_EQ(complete("re").added, "");
  EXPECT_EQ(complete("//re").added, "");
  EXPECT_EQ(complete("").added, "");
  EXPECT_THAT(complete("hello /re").choices, IsEmpty());
}

}  // namespace
}  // namespace segue::cli
