#include <gtest/gtest.h>
TEST(Cpu, Placeholder) {}
