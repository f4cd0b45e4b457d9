#include "analyses/common/fuzzy_match.h"

#include <string>

#include <gtest/gtest.h>

namespace stepscope {
namespace {

std::string best(std::string_view query, size_t limit = 20) {
  static constexpr std::string_view kNames[] = {"aten::convolution_backward",
                                                "aten::conv2d",
                                                "aten::mm",
                                                "aten::addmm",
                                                "MatMulV2",
                                                "BatchMatMulV2",
                                                "aten::softmax"};
  std::string found;
  for (const size_t index : fuzzy_search(kNames, query, limit))
    found += (found.empty() ? "" : " ") + std::string(kNames[index]);
  return found;
}

TEST(FuzzyMatch, RanksTheNameThenWordsThenLettersInOrder) {
  EXPECT_EQ(best("matmulv2"), "MatMulV2 BatchMatMulV2");
  EXPECT_EQ(best("mm"), "aten::mm aten::addmm MatMulV2 BatchMatMulV2");
  EXPECT_EQ(best("conv"), "aten::conv2d aten::convolution_backward");
  EXPECT_EQ(best("cnvbwd"), "aten::convolution_backward");
}

TEST(FuzzyMatch, ForgivesASlip) {
  EXPECT_EQ(best("sofmtax"), "aten::softmax");
  EXPECT_EQ(best("convelution"), "aten::convolution_backward");
  EXPECT_EQ(best("xyz"), "");
}

TEST(FuzzyMatch, AnEmptyQueryIsEverythingAndTheLimitHolds) {
  EXPECT_EQ(best("", 2), "aten::convolution_backward aten::conv2d");
  EXPECT_FALSE(fuzzy_score("", "a").has_value());
  EXPECT_TRUE(fuzzy_score(std::string(100'000, 'x'), std::string(100'000, 'x')).has_value());
}

}  // namespace
}  // namespace stepscope
