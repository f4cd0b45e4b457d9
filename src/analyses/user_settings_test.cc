#include "analyses/user_settings.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

class UserSettingsTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* const name : {"PROFILING_FP_START", "PROFILING_BP_END", "STEPSCOPE_PEAKS"})
      ::unsetenv(name);
  }
};

TEST_F(UserSettingsTest, TheEnvironmentSaysWhatOptionsDoNot) {
  const auto nothing = analysis_options();
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(nothing->fp_start, "");
  EXPECT_FALSE(nothing->peaks);
  ::setenv("PROFILING_FP_START", "first", 1);
  ::setenv("PROFILING_BP_END", "last", 1);
  ::setenv("STEPSCOPE_PEAKS", "memory=2e12", 1);
  const auto options = analysis_options({"mine", "", ""});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->fp_start, "mine");
  EXPECT_EQ(options->bp_end, "last");
  ASSERT_TRUE(options->peaks);
  EXPECT_DOUBLE_EQ(options->peaks->memory, 2e12);
}

TEST_F(UserSettingsTest, PeaksThatCannotBeReadAreAnError) {
  ::setenv("STEPSCOPE_PEAKS", "fast", 1);
  const auto refused = analysis_options();
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("STEPSCOPE_PEAKS: fast"), std::string::npos);
  const auto option = analysis_options({"", "", "slow"});
  ASSERT_FALSE(option.ok());
  EXPECT_EQ(option.error().message().find("STEPSCOPE_PEAKS"), std::string::npos);
  EXPECT_TRUE(analysis_options({"", "", "memory=1e12"}).ok());
}

}  // namespace
}  // namespace stepscope
