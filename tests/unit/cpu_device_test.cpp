// The CPU device: choice of CPUs, limits of control groups, identity, buffers, and the timing of a batch.
#include "device/cpu/cpu_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "device/cpu/cgroup.hpp"
#include "device/cpu/core_clock.hpp"
#include "device/cpu/mapped_buffer.hpp"
#include "device/cpu/topology.hpp"
#include "model/error.hpp"

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

TEST(ChooseCpus, PhysicalCoresComeFirst) {
  EXPECT_THAT(choose_cpus(four_cores(), 0, 0), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(choose_cpus(four_cores(), 2, 0), ElementsAre(0, 1));
  EXPECT_THAT(choose_cpus(four_cores(), 6, 0), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ChooseCpus, AQuotaLimitsTheDefaultOnly) {
  EXPECT_THAT(choose_cpus(four_cores(), 0, 2.5), ElementsAre(0, 1));
  EXPECT_THAT(choose_cpus(four_cores(), 0, 0.5), ElementsAre(0));
  EXPECT_THAT(choose_cpus(four_cores(), 3, 1.0), ElementsAre(0, 1, 2));
}

TEST(ChooseCpus, RefusesWhatTheMachineLacks) {
  EXPECT_THROW(choose_cpus(four_cores(), 9, 0), UsageError);
  EXPECT_THROW(choose_cpus(four_cores(), -1, 0), UsageError);
}

TEST(Topology, CountsWhatLiesUnderTheWorkers) {
  const Topology topology = four_cores();
  EXPECT_EQ(topology.cpus(), 8);
  EXPECT_EQ(cores_under(topology, {0, 4}), 1);
  EXPECT_EQ(cores_under(topology, {0, 1, 4}), 2);
  EXPECT_EQ(caches_under(topology, Level::l3, {0, 1}).instances, 1);
  EXPECT_EQ(caches_under(topology, Level::l3, {0, 2}).instances, 2);
  EXPECT_EQ(caches_under(topology, Level::l1, {1, 2}).bytes, 32768);
  EXPECT_EQ(caches_under(topology, Level::l2, {0}).instances, 0);
}

TEST(CpuName, ReadsBothArchitectures) {
  const CpuName x86 = parse_cpu_name(
      "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763\nstepping\t: 2\n"
      "flags\t\t: fpu hypervisor avx2\n");
  EXPECT_EQ(x86.name, "AMD EPYC 7763");
  EXPECT_EQ(x86.version, "25-1-2");
  EXPECT_TRUE(x86.hypervisor);
  const CpuName arm = parse_cpu_name("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(arm.name, "Arm 0x41-0xd0c");
  EXPECT_FALSE(arm.hypervisor);
  EXPECT_EQ(parse_cpu_name("").name, "CPU");
}

class CgroupFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("roofline-cgroup-" + std::to_string(getpid()));
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  CgroupLimits read() const { return read_cgroup_limits(root_.string()); }

 private:
  std::filesystem::path root_;
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

TEST(MemInfo, ReadsWhatIsAvailable) {
  EXPECT_EQ(available_memory_bytes("MemTotal: 100 kB\nMemAvailable:     42 kB\n"), 42 * 1024);
  EXPECT_EQ(available_memory_bytes("MemTotal: 100 kB\n"), 0);
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

TEST(CpuDevice, LastLevelCacheIsTheOutermost) {
  CpuDevice device(DeviceOptions{1});
  double outermost = 0;
  for (const CacheInfo& cache : device.info().caches) outermost = cache.bytes * static_cast<double>(cache.instances);
  EXPECT_EQ(device.last_level_cache_bytes(), outermost);
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

TEST(CpuDevice, RefusesMoreMemoryThanThereIs) {
  CpuDevice device(DeviceOptions{1});
  EXPECT_GT(device.free_memory_bytes(), 0);
  try {
    device.allocate(std::size_t{1} << 50);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("asked for"));
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
  EXPECT_GE(reading.seconds, 0.006);
  EXPECT_LT(reading.seconds, 6);
}

TEST(CpuDevice, TheTimerResolvesLessThanAMicrosecondOrSaysSo) {
  const double resolution = CpuDevice(DeviceOptions{1}).timer_resolution_s();
  EXPECT_GT(resolution, 0);
  EXPECT_LT(resolution, 0.02);
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(CoreClock, IsThatOfARealCoreAndRepeats) {
  double best[2] = {0, 0};
  for (double& clock : best) {
    for (int i = 0; i < 200; ++i) clock = std::max(clock, measure_core_hz().value_or(0));
    EXPECT_GT(clock, 2e8);
    EXPECT_LT(clock, 1e10);
  }
  EXPECT_NEAR(best[0] / best[1], 1, 0.25);  // boost clocks move, but no add chain runs at half or double speed
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
