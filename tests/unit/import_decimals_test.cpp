// Times of traces are decimals in microseconds: since 1970 they have more digits than a double.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "import/json_stream.hpp"

namespace roofline {
namespace {

TEST(Decimals, AreReadInThousandths) {
  EXPECT_EQ(thousandths_of("1700000000123456.789"), 1700000000123456789);
  EXPECT_EQ(thousandths_of("12"), 12000);
  EXPECT_EQ(thousandths_of("12.5"), 12500);
  EXPECT_EQ(thousandths_of("0.0004"), 0);
  EXPECT_EQ(thousandths_of("0.0005"), 1);
  EXPECT_EQ(thousandths_of("-1.25"), -1250);
}

TEST(Decimals, OtherNotationsAreNone) {
  for (const char* text :
       {"", ".", ".5", "1e3", "1.2.3", "NaN", "12345678901234567.0", "9999999999999999", "0x10", "--1"}) {
    EXPECT_EQ(thousandths_of(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace roofline
