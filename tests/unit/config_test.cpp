// Spelling: whole numbers as suites write them, and the nearest name to a slip.
#include <gtest/gtest.h>

#include <limits>

#include "config/integer.hpp"
#include "config/suite.hpp"
#include "tests/support/mentions.hpp"
#include "text/nearest_name.hpp"

namespace roofline {
namespace {

TEST(Integer, Spellings) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("4096"), 4096);
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("2^28"), 268435456);
  EXPECT_EQ(parse_integer("3^4"), 81);
  EXPECT_EQ(parse_integer("10^0"), 1);
  EXPECT_EQ(parse_integer("1Ki"), 1024);
  EXPECT_EQ(parse_integer("32Mi"), 33554432);
  EXPECT_EQ(parse_integer("3Gi"), 3221225472);
  EXPECT_EQ(parse_integer("1Ti"), 1099511627776);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("2^62"), std::int64_t{1} << 62);
}

TEST(Integer, WhatIsAmbiguousOrTooLargeIsRefused) {
  for (const char* text : {"",
                           "-",
                           "+5",
                           "010",
                           "0x10",
                           "1_000",
                           "1e6",
                           "1.0",
                           " 1",
                           "1 ",
                           "2^",
                           "^2",
                           "2^63",
                           "2^-1",
                           "10^19",
                           "99999^40",
                           "9223372036854775808",
                           "8388608Ti",
                           "1K",
                           "1M",
                           "Ki",
                           "1ki",
                           "2^3Ki",
                           "--1",
                           "inf",
                           "4096x"}) {
    EXPECT_FALSE(parse_integer(text)) << text;
  }
}

TEST(Integer, AdviceSaysHowToSpellIt) {
  EXPECT_THAT(integer_advice("268_435_456"), mentions("268435456", "'_'"));
  EXPECT_THAT(integer_advice("0755"), mentions(" 755", "leading zero"));
  EXPECT_THAT(integer_advice("00"), mentions(" 0", "leading zero"));
  EXPECT_EQ(integer_advice("1e6"), "write 1000000");
  EXPECT_EQ(integer_advice("4096.0"), "write 4096");
  EXPECT_EQ(integer_advice("4096.5"), "");
  EXPECT_EQ(integer_advice("1e300"), "");
  EXPECT_EQ(integer_advice("nan"), "");
  EXPECT_EQ(integer_advice("many"), "");
}

TEST(NearestName, WithinAThirdOfItsLength) {
  const std::vector<std::string> ops = {"attention", "gemm", "layernorm", "reduction", "relu", "softmax"};
  EXPECT_EQ(nearest_name("gem", ops), "gemm");
  EXPECT_EQ(nearest_name("rleu", ops), "relu");
  EXPECT_EQ(nearest_name("layer_norm", ops), "layernorm");
  EXPECT_EQ(nearest_name("attenion", ops), "attention");
  EXPECT_EQ(nearest_name("softmax", ops), "softmax");
  EXPECT_EQ(nearest_name("conv2d", ops), "");
  EXPECT_EQ(nearest_name("gm", ops), "");
  EXPECT_EQ(nearest_name("", ops), "");
  EXPECT_EQ(nearest_name("k", {"m", "n"}), "");
  EXPECT_EQ(nearest_name("relu", {}), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'a'), ops), "");
}

}  // namespace
}  // namespace roofline
