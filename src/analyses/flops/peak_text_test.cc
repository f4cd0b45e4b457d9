#include "analyses/flops/peak_text.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(PeakText, NamesAndRates) {
  const auto rates = parse_peaks("bfloat16=989e12,memory=4.8e12");
  ASSERT_TRUE(rates.ok());
  EXPECT_DOUBLE_EQ(rates->bfloat16, 989e12);
  EXPECT_DOUBLE_EQ(rates->memory, 4.8e12);
  EXPECT_EQ(rates->float32, 0);
}

TEST(PeakText, WhatItCannotReadIsNamed) {
  for (const char* text :
       {"", "bfloat16", "bfloat16=", "bfloat16=fast", "bfloat16=-1", "bfloat16=0", "bfloat16=inf",
        "bfloat16=nan", "bf16=1", "memory=1,", ",memory=1", "memory=1,=2"}) {
    const auto rates = parse_peaks(text);
    ASSERT_FALSE(rates.ok()) << text;
    EXPECT_NE(rates.error().message().find("float32_matrix"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace stepscope
