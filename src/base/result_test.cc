// The one line that users see of an error, and what errno turns into.
#include "base/result.h"

#include <cerrno>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(Error, MessageHasTheFourPartsAndLeavesEmptyOnesOut) {
  const Error whole{ErrorCode::kBadInput, "cannot import", "a.json, byte 7", "it ends early",
                    "record it again"};
  EXPECT_EQ(whole.message(), "cannot import: a.json, byte 7: it ends early (record it again)");
  EXPECT_EQ((Error{ErrorCode::kIo, "cannot import", "", "why", ""}).message(),
            "cannot import: why");
  EXPECT_EQ((Error{ErrorCode::kIo, "", "where", "", ""}).message(), "where");
}

TEST(Error, SystemErrorsNameThePathAndARemedy) {
  const struct {
    int number;
    ErrorCode code;
  } cases[] = {{ENOENT, ErrorCode::kNotFound},  {EACCES, ErrorCode::kPermission},
               {EROFS, ErrorCode::kPermission}, {ENOSPC, ErrorCode::kNoSpace},
               {EDQUOT, ErrorCode::kNoSpace},   {EFBIG, ErrorCode::kNoSpace}};
  for (const auto& [number, code] : cases) {
    const Error error = system_error("cannot write", "some/path", number);
    EXPECT_EQ(error.code, code) << number;
    EXPECT_EQ(error.where, "some/path");
    EXPECT_FALSE(error.why.empty());
    EXPECT_FALSE(error.remedy.empty()) << number;
  }
  EXPECT_EQ(system_error("x", "y", EIO).code, ErrorCode::kIo);
  // Whoever writes, not all of them have an option -o.
  EXPECT_EQ(system_error("x", "y", ENOSPC).remedy, "free some space, or write to another disk");
  EXPECT_NE(system_error("x", "y", EFBIG).remedy.find("ulimit -f"), std::string::npos);
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 7;
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 7);
  const Result<int> error = Error{ErrorCode::kLimit, "a", "b", "c", "d"};
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, ErrorCode::kLimit);
  EXPECT_TRUE(Status());
  EXPECT_FALSE(Status(Error{}));
}

}  // namespace
}  // namespace stepscope
