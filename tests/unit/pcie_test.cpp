// PCI Express rates against the figures that everybody quotes for 16 lanes.
#include <gtest/gtest.h>

#include "device/pcie.hpp"

namespace roofline {
namespace {

TEST(PcieLane, SixteenLanesCarryWhatIsQuoted) {
  const double quoted[] = {4.0, 8.0, 15.754, 31.508, 63.015, 121};  // GB/s
  for (unsigned generation = 1; generation <= 6; ++generation) {
    const auto lane = pcie_lane(generation);
    ASSERT_TRUE(lane.has_value());
    EXPECT_NEAR(16 * lane->bytes_per_s() * 1e-9, quoted[generation - 1], 1e-3 * quoted[generation - 1]);
  }
}

TEST(PcieLane, KnowsNoOtherGeneration) {
  EXPECT_FALSE(pcie_lane(0).has_value());
  EXPECT_FALSE(pcie_lane(7).has_value());
}

}  // namespace
}  // namespace roofline
