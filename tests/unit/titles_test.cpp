// Short names of devices: what tells two of them apart in a headline.
#include "report/titles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofline {
namespace {

TEST(DeviceNames, AreShortWithoutVendorMemoryAndClock) {
  EXPECT_EQ(short_device_name("NVIDIA H100 80GB HBM3"), "H100");
  EXPECT_EQ(short_device_name("NVIDIA H200"), "H200");
  EXPECT_EQ(short_device_name("NVIDIA A100-SXM4-80GB"), "A100-SXM4-80GB");
  EXPECT_EQ(short_device_name("NVIDIA GeForce RTX 4090"), "GeForce RTX 4090");
  EXPECT_EQ(short_device_name("AMD EPYC 9B45 128-Core Processor"), "EPYC 9B45");
  EXPECT_EQ(short_device_name("Intel(R) Xeon(R) Platinum 8581C CPU @ 2.10GHz"), "Xeon Platinum 8581C");
  EXPECT_EQ(short_device_name("B200"), "B200");
  EXPECT_EQ(short_device_name("NVIDIA "), "NVIDIA");
  EXPECT_EQ(short_device_name(""), "");
}

TEST(DeviceNames, StayWholeWhereShortOnesWouldBeTheSame) {
  EXPECT_THAT(names_apart("NVIDIA H100 80GB HBM3", "NVIDIA H100 94GB HBM2e"),
              testing::Pair("NVIDIA H100 80GB HBM3", "NVIDIA H100 94GB HBM2e"));
  EXPECT_THAT(names_apart("NVIDIA H100 80GB HBM3", "NVIDIA H200"), testing::Pair("H100", "H200"));
}

}  // namespace
}  // namespace roofline
