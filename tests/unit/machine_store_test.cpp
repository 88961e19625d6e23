// Calibrations kept between runs: found again, never replaced by lesser ones, known to be stale.
#include "calibrate/machine_store.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model/error.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

class MachineStore : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("roofline-store-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    ::setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  void TearDown() override {
    fs::remove_all(folder_);
    ::unsetenv("XDG_CACHE_HOME");
  }

  static Machine machine(double value) {
    Machine machine;
    machine.device.identity = "cpu-test-2t";
    machine.device.name = "Test";
    machine.measured_at = "2026-11-21T04:00:00Z";
    machine.tool_version = "0.1.0";
    Ceiling ceiling;
    ceiling.name = "fp32";
    ceiling.kind = CeilingKind::compute;
    ceiling.pipe = Pipe::fp32;
    ceiling.value = value;
    ceiling.ci95 = {value, value};
    ceiling.stop = "converged";
    machine.ceilings = {ceiling};
    return machine;
  }

  fs::path folder_;
};

TEST_F(MachineStore, FindsWhatItKept) {
  EXPECT_FALSE(find_machine("cpu-test-2t"));
  EXPECT_TRUE(keep_machine(machine(1e11)));
  EXPECT_EQ(machine_path("cpu-test-2t"), folder_ / "roofline" / "cpu-test-2t.json");
  const auto found = find_machine("cpu-test-2t");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->find("fp32")->value, 1e11);
  EXPECT_FALSE(find_machine("cpu-other"));
}

TEST_F(MachineStore, ALesserCalibrationNeverReplacesAFullOne) {
  Machine quick = machine(2e11);
  quick.quick = true;
  EXPECT_TRUE(keep_machine(quick)) << "better than nothing";
  EXPECT_TRUE(keep_machine(machine(1e11)));
  EXPECT_FALSE(keep_machine(quick));
  Machine cancelled = machine(3e11);
  cancelled.cancelled = true;
  EXPECT_FALSE(keep_machine(cancelled));
  EXPECT_EQ(find_machine("cpu-test-2t")->find("fp32")->value, 1e11);
}

TEST_F(MachineStore, ABrokenFileIsAnErrorAndIsReplaced) {
  fs::create_directories(folder_ / "roofline");
  std::ofstream(machine_path("cpu-test-2t")) << "{";
  EXPECT_THROW(find_machine("cpu-test-2t"), UsageError);
  Machine quick = machine(2e11);
  quick.quick = true;
  EXPECT_TRUE(keep_machine(quick));
  EXPECT_TRUE(find_machine("cpu-test-2t"));
}

TEST_F(MachineStore, RelativeCacheFolderIsIgnored) {
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(machine_path("x"), "/home/somebody/.cache/roofline/x.json");
}

TEST(Staleness, NamesWhatChanged) {
  Machine machine;
  machine.tool_version = "0.1.0";
  machine.device.driver = "580.1";
  machine.device.isa = "sm_90";
  machine.device.max_core_hz = 1.98e9;
  DeviceInfo now = machine.device;
  EXPECT_TRUE(staleness(machine, now, "0.1.0").empty());
  now.driver = "590.2";
  now.max_core_hz = 1.7e9;
  const auto reasons = staleness(machine, now, "0.2.0");
  ASSERT_EQ(reasons.size(), 3U);
  EXPECT_EQ(reasons[0], "the driver was 580.1 then and is 590.2 now");
  EXPECT_NE(reasons[1].find("1980 MHz then and is 1700 MHz now"), std::string::npos);
  EXPECT_NE(reasons[2].find("0.2.0"), std::string::npos);
}

TEST(Age, InTheLargestUnitThatFits) {
  constexpr std::int64_t kThen = 1795233600;  // 2026-11-21T04:00:00Z
  EXPECT_EQ(age_of("2026-11-21T04:00:00Z", kThen + 30), "less than a minute old");
  EXPECT_EQ(age_of("2026-11-21T04:00:00Z", kThen + 61), "1 minute old");
  EXPECT_EQ(age_of("2026-11-21T04:00:00Z", kThen + 7200), "2 hours old");
  EXPECT_EQ(age_of("2026-11-21T04:00:00Z", kThen + 12 * 86400), "12 days old");
  EXPECT_EQ(age_of("yesterday", kThen), "of unknown age");
}

}  // namespace
}  // namespace roofline
