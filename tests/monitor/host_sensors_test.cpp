// What Linux tells, from files of a system that is made up.
#include "device/cpu/host_sensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/files_under_a_root.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;

using HostFiles = FilesUnderARoot;

TEST_F(HostFiles, EverythingThatTheFilesSay) {
  write("proc/stat",
        "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 100 0 50 900 0 0 0 20 0 0\ncpu1 300 0 50 500 0 0 0 40 0 0\nintr 1\n");
  write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:          10 kB\nMemAvailable:    250 kB\n");
  write("proc/loadavg", "1.75 1.00 0.50 2/300 4711\n");
  write("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n");
  write("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 total=5\n");
  write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
  write("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n");
  write("sys/class/powercap/intel-rapl:0/name", "package-0\n");
  write("sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850\n");
  write("sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
  HostSensors sensors(root_.string());
  HostReading reading = sensors.read();
  EXPECT_EQ(reading.cpus, 2);
  EXPECT_DOUBLE_EQ(reading.busy_s, 5);
  EXPECT_DOUBLE_EQ(reading.stolen_s, 0.6);
  EXPECT_EQ(reading.core_hz, 2.5e9);
  EXPECT_EQ(reading.max_core_hz, 3.5e9);
  EXPECT_EQ(reading.memory_total_bytes, 1000 * 1024);
  EXPECT_EQ(reading.memory_used_bytes, 750 * 1024);
  EXPECT_EQ(reading.load, 1.75);
  EXPECT_EQ(reading.cpu_pressure_s, 2.5);
  EXPECT_EQ(reading.io_pressure_s, 1);
  EXPECT_EQ(reading.memory_pressure_s, std::nullopt);
  EXPECT_THAT(reading.absent.at("memory_pressure_s"), HasSubstr("CONFIG_PSI"));
  const double joules = reading.energy_j.value();
  write("sys/class/powercap/intel-rapl:0/energy_uj", "4000000\n");
  EXPECT_DOUBLE_EQ(sensors.read().energy_j.value() - joules, 3);
}

TEST_F(HostFiles, ASystemThatSaysNothingHasReasons) {
  HostSensors sensors(root_.string());
  const HostReading reading = sensors.read();
  EXPECT_EQ(reading.cpus, 0);
  for (const char* name : {"energy_j", "temperature_c", "memory_used_bytes", "cpu_pressure_s", "load"}) {
    EXPECT_FALSE(reading.absent.at(name).empty()) << name;
  }
  EXPECT_THAT(reading.absent.at("energy_j"), HasSubstr("no RAPL"));
}

}  // namespace
}  // namespace roofline
