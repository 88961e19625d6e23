// The CPU device: choice of CPUs, limits of control groups, identity, buffers, and the timing of a batch.
#include "device/cpu/cpu_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "device/cpu/arm_cores.hpp"
#include "device/cpu/cgroup.hpp"
#include "device/cpu/core_clock.hpp"
#include "device/cpu/mapped_buffer.hpp"
#include "device/cpu/power_sensors.hpp"
#include "device/cpu/topology.hpp"
#include "model/error.hpp"
#include "tests/support/files_under_a_root.hpp"

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two packages of two cores, each with an SMT sibling; L3 by package.
Topology four_cores() {
  Topology topology;
  topology.cores = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  topology.caches = {{Level::l1, 32768, {0, 4}}, {Level::l1, 32768, {1, 5}},     {Level::l1, 49152, {2, 6}},
                     {Level::l1, 49152, {3, 7}}, {Level::l3, 1e6, {0, 1, 4, 5}}, {Level::l3, 1e6, {2, 3, 6, 7}}};
  topology.packages = 2;
  return topology;
}

TEST(Topology, CountsWhatLiesUnderTheWorkers) {
  const Topology topology = four_cores();
  EXPECT_EQ(topology.cpus(), 8);
  EXPECT_EQ(cores_under(topology, {0, 4}), 1);
  EXPECT_EQ(cores_under(topology, {0, 1, 4}), 2);
  const auto bytes = [&](const std::vector<int>& cpus, Level level) {
    DeviceInfo info;
    info.caches = caches_under(topology, cpus);
    return cache_bytes(info, level);
  };
  EXPECT_EQ(bytes({0, 1}, Level::l3), 1e6);
  EXPECT_EQ(bytes({0, 2}, Level::l3), 2e6);
  EXPECT_EQ(bytes({0, 1, 2}, Level::l1), 2 * 32768 + 49152);
  EXPECT_EQ(caches_under(topology, {1, 2}).size(), 3U);  // L1 of two sizes, and one entry for both L3
  EXPECT_EQ(bytes({0}, Level::l2), 0);
}

TEST(Topology, GroupsWorkersByWhatTheyShare) {
  const std::vector<std::vector<int>> l3 = sets_of(four_cores(), Level::l3);
  EXPECT_THAT(grouped({0, 2, 1, 3}, l3), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));  // indices, not CPUs
  EXPECT_THAT(grouped({1, 5}, l3), ElementsAre(ElementsAre(0, 1)));
  EXPECT_THAT(grouped({1, 9}, l3), ElementsAre(ElementsAre(0), ElementsAre(1)));  // 9 lies under no cache
  EXPECT_THAT(grouped({4}, {}), ElementsAre(ElementsAre(0)));
}

TEST(CpuName, ReadsBothArchitectures) {
  const CpuName x86 = parse_cpu_name(
      "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\nstepping\t: 2\n"
      "flags\t\t: fpu hypervisor avx2\n");
  EXPECT_EQ(x86.name, "AMD EPYC 7763");
  EXPECT_EQ(x86.version, "25-1-2");
  EXPECT_EQ(x86.hypervisor, true);
  const CpuName arm = parse_cpu_name("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(arm.name, "Neoverse N1");
  EXPECT_EQ(arm.version, "0x41-0xd0c");
  EXPECT_FALSE(arm.hypervisor);  // which is not to say that there is none
  EXPECT_EQ(parse_cpu_name("processor\t: 0\nCPU implementer\t: 0x99\nCPU part\t: 0x001\n").name, "Arm 0x99-0x001");
  EXPECT_EQ(parse_cpu_name("").name, "CPU");
}

TEST(CpuName, IsThatOfTheCoreAskedFor) {
  const std::string cpuinfo =
      "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd05\n\n"
      "processor\t: 4\nCPU implementer\t: 0x41\nCPU part\t: 0xd0b\n";
  EXPECT_EQ(parse_cpu_name(cpuinfo).name, "Cortex-A55");
  EXPECT_EQ(parse_cpu_name(cpuinfo, 4).name, "Cortex-A76");
  EXPECT_EQ(parse_cpu_name(cpuinfo, 9).name, "Cortex-A55");
}

TEST(ArmCores, AreOneEntryEachAndSaySoWhereNothingIsKnown) {
  EXPECT_EQ(find_arm_core("0x41-0xd40")->name, "Neoverse V1");
  EXPECT_EQ(find_arm_core("0x41-0xd40")->neon_pipes * 128, find_arm_core("0x41-0xd40")->sve_pipes * 256);
  EXPECT_EQ(find_arm_core("0x41-0xd08")->neon_pipes, 0);
  EXPECT_EQ(find_arm_core("25-1-2"), nullptr);
}

class CgroupFiles : public FilesUnderARoot {
 protected:
  CgroupLimits read() const { return read_cgroup_limits(root_.string()); }
};

class PowerFiles : public FilesUnderARoot {
 protected:
  void write_zone(const std::string& zone, const std::string& name, const std::string& microjoules) const {
    write("sys/class/powercap/" + zone + "/name", name + "\n");
    write("sys/class/powercap/" + zone + "/energy_uj", microjoules + "\n");
    write("sys/class/powercap/" + zone + "/max_energy_range_uj", "262143328850\n");
  }
};

TEST_F(CgroupFiles, Version2KeepsTheTightestLimitOnTheWayUp) {
  write("proc/self/cgroup", "0::/slice/service\n");
  write("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
  write("sys/fs/cgroup/slice/service/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/slice/memory.max", "max\n");
  write("sys/fs/cgroup/slice/service/memory.max", "1000000\n");
  write("sys/fs/cgroup/slice/service/memory.current", "400000\n");
  EXPECT_EQ(read().cpus, 1.5);
  EXPECT_EQ(read().memory_bytes, 1e6);
  EXPECT_EQ(read().free_memory_bytes, 6e5);
}

TEST_F(CgroupFiles, Version1) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read().cpus, 3);
  EXPECT_EQ(read().memory_bytes, 2000);
  EXPECT_EQ(read().free_memory_bytes, 0);
}

TEST_F(CgroupFiles, NoneMeansNoLimit) { EXPECT_FALSE(read().cpus || read().memory_bytes || read().free_memory_bytes); }

TEST_F(PowerFiles, PackagesAddUpAndTheirPartsDoNot) {
  write_zone("intel-rapl:0", "package-0", "1000000");
  write_zone("intel-rapl:0:0", "core", "700000");
  write_zone("intel-rapl:1", "package-1", "2000000");
  write_zone("intel-rapl:2", "psys", "9000000");
  write_zone("intel-rapl-mmio:0", "package-0", "1000000");  // package 0 again
  PowerSensors sensors(root_);
  EXPECT_EQ(sensors.read().energy_j, 0);  // only differences mean anything
  write_zone("intel-rapl:0", "package-0", "3500000");
  write_zone("intel-rapl:1", "package-1", "2250000");
  write_zone("intel-rapl:2", "psys", "99000000");
  EXPECT_NEAR(*sensors.read().energy_j, 2.75, 1e-9);
}

TEST_F(PowerFiles, ACounterThatStartsAgainLosesNothing) {
  write_zone("intel-rapl:0", "package-0", "262143328000");
  PowerSensors sensors(root_);
  sensors.read();
  write_zone("intel-rapl:0", "package-0", "1999150");
  EXPECT_NEAR(*sensors.read().energy_j, 2.0, 1e-9);  // 850 uJ to the end of the range, then 1999150
  write_zone("intel-rapl:0", "package-0", "2999150");
  EXPECT_NEAR(*sensors.read().energy_j, 3.0, 1e-9);
}

TEST_F(PowerFiles, OnePackageThatFallsSilentSilencesTheSum) {
  write_zone("intel-rapl:0", "package-0", "1000000");
  write_zone("intel-rapl:1", "package-1", "1000000");
  PowerSensors sensors(root_);
  ASSERT_TRUE(sensors.read().energy_j);
  std::filesystem::remove(root_ / "sys/class/powercap/intel-rapl:1/energy_uj");
  EXPECT_FALSE(sensors.read().energy_j);
}

TEST_F(PowerFiles, TheHottestPackageCountsAndNeitherCoresNorDisks) {
  write("sys/class/hwmon/hwmon0/name", "nvme\n");
  write("sys/class/hwmon/hwmon0/temp1_label", "Package\n");
  write("sys/class/hwmon/hwmon0/temp1_input", "99000\n");
  for (const auto& [chip, celsius] : {std::pair("hwmon1", "61000\n"), std::pair("hwmon2", "64500\n")}) {
    const std::string folder = std::string("sys/class/hwmon/") + chip;
    write(folder + "/name", "coretemp\n");
    write(folder + "/temp1_label", "Package id 0\n");
    write(folder + "/temp1_input", celsius);
    write(folder + "/temp2_label", "Core 0\n");
    write(folder + "/temp2_input", "90000\n");
  }
  EXPECT_EQ(PowerSensors(root_).read().temperature_c, 64.5);
}

TEST_F(PowerFiles, AThermalZoneServesWhereNoChipDoes) {
  write("sys/class/thermal/thermal_zone0/type", "acpitz\n");
  write("sys/class/thermal/thermal_zone0/temp", "20000\n");
  write("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
  write("sys/class/thermal/thermal_zone1/temp", "47000\n");
  EXPECT_EQ(PowerSensors(root_).read().temperature_c, 47);
}

TEST_F(PowerFiles, WithoutFilesThereIsNothingToSay) {
  const PowerReading reading = PowerSensors(root_).read();
  EXPECT_FALSE(reading.energy_j || reading.temperature_c || reading.limiter);
}

TEST(MemInfo, ReadsWhatIsAvailable) {
  EXPECT_EQ(available_memory_bytes("MemTotal: 100 kB\nMemAvailable:     42 kB\n"), 42 * 1024);
  EXPECT_EQ(available_memory_bytes("MemTotal: 100 kB\n"), 0);
}

TEST(HugePages, AreThoseOfTheMappingsThatMeetTheBuffer) {
  const std::string smaps =
      "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \nSize:               4096 kB\nAnonHugePages:      2048 kB\n"
      "VmFlags: rd wr hg\n"
      "7f0000400000-7f0000800000 rw-p 00000000 00:00 0                          [heap: 1-2]\n"
      "AnonHugePages:      4096 kB\nShmemPmdMapped:        0 kB\n";
  EXPECT_EQ(huge_page_bytes(smaps, 0x7f0000000000, 0x7f0000400000), 2 << 20);
  EXPECT_EQ(huge_page_bytes(smaps, 0x7f00003ff000, 0x7f0000401000), 6 << 20);
  EXPECT_EQ(huge_page_bytes(smaps, 0x7f0000800000, 0x7f0000801000), 0);
  EXPECT_EQ(huge_page_bytes("", 0, 4096), 0);
}

TEST(HugePages, OfABufferAreNeverMoreThanItHas) {
  ThreadPool pool({-1});
  const MappedBuffer small(4096, pool);
  EXPECT_LE(small.huge_page_bytes(), 4096);
  const MappedBuffer large(std::size_t{8} << 20, pool);
  EXPECT_LE(large.huge_page_bytes(), 8 << 20);
  if (!huge_pages_allowed()) {
    EXPECT_EQ(large.huge_page_bytes(), 0);
  }
}

TEST(CpuDevice, SaysWhetherHugePagesAreGranted) {
  CpuDevice device(DeviceOptions{1});
  const std::string* found = find_attribute(device.info().attributes, AttributeKey::huge_pages);
  ASSERT_NE(found, nullptr);
  EXPECT_FALSE(found->empty());
  ASSERT_TRUE(device.info().huge_page_share);
  EXPECT_GE(*device.info().huge_page_share, 0);
  EXPECT_LE(*device.info().huge_page_share, 1);
}

TEST(CpuDevice, KnowsItself) {
  CpuDevice device(DeviceOptions{});
  const DeviceInfo& info = device.info();
  EXPECT_EQ(info.kind, DeviceKind::cpu);
  EXPECT_EQ(info.units, device.pool().size());
  EXPECT_GE(info.units, device.cores());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.memory_bytes, 1e6);
  EXPECT_EQ(info.isa, to_string(device.isa()));
  EXPECT_EQ(info.identity.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
  EXPECT_THAT(info.identity, HasSubstr("-" + std::to_string(info.units) + "t-" + info.isa));
  EXPECT_EQ(info.identity, CpuDevice(DeviceOptions{}).info().identity);
}

TEST(CpuDevice, IdentityTellsThreadCountsApart) {
  if (host_topology().cpus() < 2) GTEST_SKIP() << "needs two logical CPUs";
  EXPECT_NE(CpuDevice(DeviceOptions{1}).info().identity, CpuDevice(DeviceOptions{2}).info().identity);
  const CpuDevice one(DeviceOptions{1});
  EXPECT_EQ(one.info().units, 1);
  // Counting one worker's caches only.
  for (const CacheInfo& cache : one.info().caches) EXPECT_EQ(cache.instances, 1);
}

TEST(CpuDevice, RunsOnTheCpusThatAreNamedAndSaysSoInItsIdentity) {
  const std::vector<int> usual = CpuDevice(DeviceOptions{}).cpus();
  const int last = host_topology().cores.back().back();
  const CpuDevice named(DeviceOptions{.threads = 0, .cpus = {last}});
  EXPECT_THAT(named.cpus(), ElementsAre(last));
  const std::string suffix = "-cpus-" + std::to_string(last);
  EXPECT_EQ(named.info().identity.ends_with(suffix), last != usual.front());
  EXPECT_EQ(CpuDevice(DeviceOptions{.threads = 0, .cpus = usual}).info().identity,
            CpuDevice(DeviceOptions{}).info().identity);
  EXPECT_THROW(CpuDevice(DeviceOptions{.threads = 0, .cpus = {8191}}), UsageError);
}

TEST(Caches, AddUpByLevel) {
  DeviceInfo info;
  info.caches = {{Level::l1, 32768, 2}, {Level::l2, 1 << 20, 2}, {Level::l2, 4 << 20, 1}, {Level::l3, 5 << 20, 1}};
  EXPECT_EQ(cache_bytes(info, Level::l2), 6 << 20);
  EXPECT_EQ(nearer_cache_bytes(info, Level::l2), 65536);
  EXPECT_EQ(nearer_cache_bytes(info, Level::l1), 0);
  EXPECT_EQ(nearer_cache_bytes(info, Level::dram), 6 << 20);  // not the last level: that one holds less
}

TEST(CpuDevice, LastLevelCacheIsTheLargest) {
  CpuDevice device(DeviceOptions{1});
  double largest = 0;
  for (const CacheInfo& cache : device.info().caches) {
    largest = std::max(largest, cache_bytes(device.info(), cache.level));
  }
  EXPECT_EQ(device.last_level_cache_bytes(), largest);
}

TEST(CpuDevice, BuffersAreAlignedZeroedAndCopied) {
  CpuDevice device(DeviceOptions{});
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4097}, std::size_t{3} << 20}) {
    const auto buffer = device.allocate(bytes);
    ASSERT_EQ(buffer->size(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 4096, 0U);
    std::vector<unsigned char> host(bytes, 1);
    device.download(host.data(), buffer->data(), bytes);
    EXPECT_EQ(std::count(host.begin(), host.end(), 0), static_cast<std::ptrdiff_t>(bytes));
    std::iota(host.begin(), host.end(), static_cast<unsigned char>(7));
    device.upload(buffer->data(), host.data(), bytes);
    EXPECT_EQ(std::memcmp(buffer->data(), host.data(), bytes), 0);
    device.fill(buffer->data(), std::byte{0xab}, bytes);
    const auto* data = static_cast<const unsigned char*>(buffer->data());
    EXPECT_EQ(std::count(data, data + bytes, 0xab), static_cast<std::ptrdiff_t>(bytes));
  }
}

TEST(CpuDevice, ScratchIsKeptUntilMoreIsWanted) {
  CpuDevice device(DeviceOptions{1});
  std::shared_ptr<Buffer> first = device.scratch(1 << 20);
  static_cast<char*>(first->data())[5] = 42;
  EXPECT_EQ(device.scratch(4096), first);
  const void* before = first->data();
  first.reset();
  std::shared_ptr<Buffer> again = device.scratch(1 << 20);
  EXPECT_EQ(again->data(), before);
  EXPECT_EQ(static_cast<char*>(again->data())[5], 42);
  again.reset();
  EXPECT_GE(device.scratch(4 << 20)->size(), std::size_t{4} << 20);
}

TEST(CpuDevice, SaysWhatItsSensorsSayOrNothing) {
  CpuDevice device(DeviceOptions{1});
  const PowerReading reading = device.power();
  if (reading.energy_j) {
    EXPECT_GE(*reading.energy_j, 0);
  }
  if (reading.temperature_c) {
    EXPECT_GT(*reading.temperature_c, -50);
    EXPECT_LT(*reading.temperature_c, 150);
  }
}

TEST(CpuDevice, RefusesMoreMemoryThanThereIs) {
  CpuDevice device(DeviceOptions{1});
  EXPECT_GT(device.free_memory_bytes(), 0);
  try {
    device.allocate(std::size_t{1} << 50);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("1073741824.0 MiB"));
    EXPECT_THAT(error.what(), HasSubstr("free"));
  }
}

TEST(CpuDevice, TimesEveryLaunchOnce) {
  CpuDevice device(DeviceOptions{1});
  std::vector<std::int64_t> seen;
  const auto timer = device.timer([&seen](std::int64_t launch) {
    seen.push_back(launch);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
    while (std::chrono::steady_clock::now() < end) {
    }
  });
  const Reading reading = timer->time(3);
  EXPECT_THAT(seen, ElementsAre(0, 1, 2));
  EXPECT_GE(reading.seconds, 0.006);  // what the launches waited for, however busy the machine is
}

TEST(CpuDevice, TheTimerResolvesLessThanAMicrosecondOrSaysSo) {
  const double resolution = CpuDevice(DeviceOptions{1}).timer_resolution_s();
  EXPECT_GT(resolution, 0);
  EXPECT_LT(resolution, 0.02);
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(CoreClock, IsThatOfARealCore) {
  double clock = 0;  // the fastest of many: an interruption makes it lower
  for (int i = 0; i < 200; ++i) clock = std::max(clock, measure_core_hz().value_or(0));
  EXPECT_GT(clock, 1e8);
  EXPECT_LT(clock, 1e10);
}
#endif

TEST(AsCpu, IsTheDeviceItself) {
  CpuDevice device(DeviceOptions{1});
  Device& base = device;
  EXPECT_EQ(&as_cpu(base), &device);
}

TEST(ListDevices, EndsWithAUsableCpu) {
  const std::vector<DeviceListing> listings = list_devices(DeviceOptions{});
  ASSERT_GE(listings.size(), 2U);  // a CUDA listing, or the reason why there is none, comes first
  EXPECT_EQ(listings.front().info.kind, DeviceKind::cuda);
  EXPECT_TRUE(listings.front().usable || !listings.front().reason.empty());
  EXPECT_EQ(listings.back().info.kind, DeviceKind::cpu);
  EXPECT_TRUE(listings.back().usable);
}

TEST(OpenDevice, RefusesASecondCpu) {
  EXPECT_THROW(open_device(DeviceKind::cpu, 1, DeviceOptions{}), DeviceError);
  EXPECT_EQ(open_device(DeviceKind::cpu, 0, DeviceOptions{1})->info().units, 1);
}

}  // namespace
}  // namespace roofline
