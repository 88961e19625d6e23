// Calibrations kept between runs: found again, never replaced by lesser ones, known to be stale.
#include "calibrate/machine_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "calibrate/measuring_lock.hpp"
#include "host/files.hpp"
#include "model/error.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

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

  std::function<void(const std::string&)> said() {
    return [this](const std::string& line) { said_.push_back(line); };
  }

  fs::path folder_;
  std::vector<std::string> said_;
};

TEST_F(MachineStore, FindsWhatItKept) {
  EXPECT_FALSE(find_machine("cpu-test-2t", said()));
  EXPECT_TRUE(keep_machine(machine(1e11)));
  EXPECT_EQ(machine_path("cpu-test-2t"), folder_ / "roofline" / "cpu-test-2t.json");
  const auto found = find_machine("cpu-test-2t", said());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->find("fp32")->value, 1e11);
  EXPECT_FALSE(find_machine("cpu-other", said()));
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
  EXPECT_EQ(find_machine("cpu-test-2t", said())->find("fp32")->value, 1e11);
}

/// Broken off, foreign, of another device, a folder: each is out of the way the next time.
TEST_F(MachineStore, ABrokenFileIsMovedAsideAndItIsSaid) {
  keep_machine(machine(1e11));
  const fs::path path = machine_path("cpu-test-2t");
  const std::string whole = read_file(path);
  Machine other = machine(1e11);
  other.device.identity = "cpu-other";
  keep_machine(other);
  const std::string foreign = read_file(machine_path("cpu-other"));
  for (const std::string& text : {std::string(), std::string("{"), whole.substr(0, whole.size() / 2), foreign,
                                  std::string("\x7f"
                                              "ELF"),
                                  std::string(R"({"schema": "roofline.machine/99"})")}) {
    write_file(path, text);
    said_.clear();
    EXPECT_FALSE(find_machine("cpu-test-2t", said()));
    ASSERT_EQ(said_.size(), 2U) << text;
    EXPECT_THAT(said_[0], HasSubstr(path.string()));
    EXPECT_THAT(said_[1], HasSubstr(path.string() + ".broken"));
    EXPECT_EQ(read_file(path.string() + ".broken"), text);
    EXPECT_FALSE(fs::exists(path));
    said_.clear();
    EXPECT_FALSE(find_machine("cpu-test-2t", said()));
    EXPECT_TRUE(said_.empty()) << "it is said once";
  }
  EXPECT_TRUE(keep_machine(machine(2e11)));
  EXPECT_EQ(find_machine("cpu-test-2t", said())->find("fp32")->value, 2e11);
}

TEST_F(MachineStore, AFolderInItsPlaceIsMovedToo) {
  fs::create_directories(machine_path("cpu-test-2t") / "inside");
  EXPECT_FALSE(find_machine("cpu-test-2t", said()));
  EXPECT_TRUE(keep_machine(machine(1e11)));
  EXPECT_TRUE(find_machine("cpu-test-2t", said()));
}

TEST_F(MachineStore, ABrokenFileIsReplacedByAnyThatIsWhole) {
  write_file(machine_path("cpu-test-2t"), "{");
  Machine quick = machine(2e11);
  quick.quick = true;
  EXPECT_TRUE(keep_machine(quick));
  EXPECT_TRUE(find_machine("cpu-test-2t", said()));
}

/// What stands there at any time is whole, and a full calibration stays, whoever comes last.
TEST_F(MachineStore, SeveralCalibrationsAtOnce) {
  constexpr int kWriters = 4, kTimes = 25;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.push_back(::fork());
    if (writers.back() != 0) continue;
    bool kept = true;
    for (int i = 0; i < kTimes; ++i) {
      Machine one = machine(1e9 * (writer + 1));
      one.quick = writer > 0;
      kept = keep_machine(one) && kept;
    }
    ::_exit(writer == 0 && !kept ? 1 : 0);
  }
  for (int found = 0; found < 100; ++found) {
    const auto kept = find_machine("cpu-test-2t", said());
    EXPECT_TRUE(!kept || kept->ceilings.size() == 1);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    ::waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(said_.empty()) << said_.front();
  EXPECT_FALSE(find_machine("cpu-test-2t", said())->quick);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "roofline"), fs::directory_iterator()), 1);
}

TEST_F(MachineStore, AFolderThatCanNotBeWrittenIsAnErrorThatNamesIt) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "roofline") << "a file where the folder has to be";
  EXPECT_FALSE(find_machine("cpu-test-2t", said()));
  EXPECT_THROW(keep_machine(machine(1e11)), UsageError);
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
  EXPECT_THAT(reasons[0], mentions("580.1", "590.2"));
  EXPECT_THAT(reasons[1], mentions("1980 MHz", "1700 MHz"));
  EXPECT_THAT(reasons[2], mentions("0.2.0"));
}

TEST(Age, InTheLargestUnitThatFits) {
  constexpr std::int64_t kThen = 1795233600;  // 2026-11-21T04:00:00Z
  const std::string fresh = age_of("2026-11-21T04:00:00Z", kThen + 30);
  EXPECT_THAT(fresh, mentions("minute"));
  EXPECT_EQ(age_of("2026-11-21T04:00:00Z", kThen + 61), "1 minute old");
  EXPECT_EQ(age_of("2026-11-21T04:00:00Z", kThen + 7200), "2 hours old");
  EXPECT_EQ(age_of("2026-11-21T04:00:00Z", kThen + 12 * 86400), "12 days old");
  EXPECT_EQ(age_of("2026-11-21T04:00:00Z", kThen - 20), fresh) << "clocks of two hosts";
  EXPECT_THAT(age_of("2026-11-21T04:00:00Z", kThen - 3600), mentions("clock"));
  EXPECT_THAT(age_of("yesterday", kThen), mentions("unknown"));
}

TEST_F(MachineStore, OneProcessMeasuresADeviceAndADeadOneDoesNot) {
  const DeviceInfo cpu = machine(1e11).device;
  DeviceInfo one_core = cpu, gpu = cpu;
  one_core.identity = "cpu-test-1t";
  gpu.kind = DeviceKind::cuda;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    MeasuringLock lock(cpu);
    const char taken = lock.take() ? 'y' : 'n';
    static_cast<void>(!::write(ready[1], &taken, 1));
    for (;;) ::pause();
  }
  char taken = 'n';
  ASSERT_EQ(::read(ready[0], &taken, 1), 1);
  EXPECT_EQ(taken, 'y');
  for (const DeviceInfo& device : {cpu, one_core}) {
    MeasuringLock lock(device);
    EXPECT_FALSE(lock.take()) << device.identity;
    EXPECT_EQ(lock.holder(), other);
  }
  EXPECT_TRUE(MeasuringLock(gpu).take());
  EXPECT_EQ(MeasuringLock(gpu).holder(), std::nullopt);

  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
  EXPECT_EQ(MeasuringLock(cpu).holder(), std::nullopt);
  EXPECT_TRUE(MeasuringLock(cpu).take());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(MachineStore, WhereNothingCanBeLockedEverybodyMayMeasure) {
  const DeviceInfo cpu = machine(1e11).device;
  fs::create_directories(folder_);
  std::ofstream(folder_ / "roofline") << "a file where a folder has to be";
  MeasuringLock first(cpu), second(cpu);
  EXPECT_TRUE(first.take());
  EXPECT_TRUE(second.take());
  EXPECT_EQ(second.holder(), std::nullopt);
}

TEST_F(MachineStore, ALockThatCannotBeOpenedIsNamed) {
  const DeviceInfo cpu = machine(1e11).device;
  const fs::path path = MeasuringLock(cpu).path();
  EXPECT_EQ(MeasuringLock(cpu).problem(), "");
  fs::remove(path);
  fs::create_symlink("/nonexistent", path);  // as a file that belongs to root cannot, but also for root
  MeasuringLock lock(cpu);
  EXPECT_NE(lock.problem().find(path.string()), std::string::npos) << lock.problem();
  EXPECT_TRUE(lock.take());
  EXPECT_EQ(lock.holder(), std::nullopt);
}

}  // namespace
}  // namespace roofline
