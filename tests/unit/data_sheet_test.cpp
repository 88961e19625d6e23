// GPUs that only their name describes: the chip of the data sheet.
#include <gtest/gtest.h>

#include "import/roofs.hpp"
#include "model/occupancy.hpp"
#include "project/energy.hpp"

namespace roofline {
namespace {

TEST(DataSheet, ANameHasSmsCapabilityClockAndPower) {
  const Machine h100 = machine_of_data_sheet("H100");
  EXPECT_EQ(h100.device.units, 132);
  EXPECT_EQ(h100.device.isa, "sm_90");
  EXPECT_NEAR(*h100.device.max_core_hz, 1.98e9, 0.01e9);
  EXPECT_DOUBLE_EQ(*power_limit(h100.device), 700);
  const Machine mi300x = machine_of_data_sheet("MI300X");
  EXPECT_EQ(mi300x.device.units, 304);
  EXPECT_DOUBLE_EQ(*power_limit(mi300x.device), 750);
  EXPECT_EQ(machine_of_data_sheet("RTX 4090 Laptop").device.units, 0) << "another chip";
  EXPECT_FALSE(power_limit(machine_of_data_sheet("GH200").device)) << "the sheet has that of the module";
}

TEST(DataSheet, AllGpusOfNvidiaHaveLimitsOfTheirSmsAndAPlausibleClock) {
  for (const std::string_view name : data_sheet_names()) {
    const Machine machine = machine_of_data_sheet(std::string(name));
    EXPECT_GT(machine.device.units, 0) << name;
    if (name.starts_with("mi")) continue;
    EXPECT_TRUE(sm_limits_of(machine.device.isa)) << name;
    ASSERT_TRUE(machine.device.max_core_hz) << name;
    EXPECT_GT(*machine.device.max_core_hz, 1.3e9) << name;
    EXPECT_LT(*machine.device.max_core_hz, 2.6e9) << name;
  }
}

}  // namespace
}  // namespace roofline
