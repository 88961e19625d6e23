// The CUDA device: identity, memory, the timer and its clock, and what a lost context looks like.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <vector>

#include "device/cuda/check.hpp"
#include "device/cuda/nvml.hpp"
#include "device/cuda/throughput.hpp"
#include "gpu_test.hpp"
#include "model/error.hpp"
#include "op/registry.hpp"

namespace roofline {
namespace {

/// A kernel to launch: the vectorised ReLU of n fp32 elements.
Kernel relu_kernel(Device& device, std::int64_t n) {
  Workload workload;
  workload.op = "relu";
  workload.shape = {{"n", n}};
  const Op* op = find_op("relu");
  if (op == nullptr) throw Error("relu is not registered");
  return implementations_of(*op, DeviceKind::cuda).back().prepare(workload, device);
}

using DeviceTest = GpuTest;

TEST(Listing, SaysWhyADeviceCantBeUsed) {
  for (const DeviceListing& listing : list_cuda_devices()) {
    EXPECT_EQ(listing.info.kind, DeviceKind::cuda);
    EXPECT_FALSE(listing.info.identity.empty());
    EXPECT_EQ(listing.usable, listing.reason.empty());
  }
}

TEST(Listing, OpeningADeviceThatIsNotThereThrows) { EXPECT_THROW(open_cuda_device(4096), DeviceError); }

TEST(Throughput, KnowsHopperAndNothingOfTheUnknown) {
  EXPECT_EQ(flops_per_cycle(9, 0, Pipe::fp32), 256);
  EXPECT_EQ(flops_per_cycle(9, 0, Pipe::fp64), 128);
  EXPECT_EQ(flops_per_cycle(9, 0, Pipe::tensor_bf16), 4096);
  EXPECT_EQ(flops_per_cycle(8, 0, Pipe::fp32), 128);
  EXPECT_EQ(flops_per_cycle(9, 0, Pipe::fp16), 512);
  EXPECT_EQ(flops_per_cycle(9, 0, Pipe::int32), 128);
  EXPECT_EQ(flops_per_cycle(9, 0, Pipe::sfu), 16);
  EXPECT_EQ(flops_per_cycle(9, 0, Pipe::tensor_int8), 8192);
  EXPECT_EQ(flops_per_cycle(8, 0, Pipe::tensor_fp8), std::nullopt);
  EXPECT_EQ(flops_per_cycle(7, 5, Pipe::fp32), std::nullopt);
}

TEST(Errors, AreTakenOnceAndAreStickyOnlyWhenTheContextIsLost) {
  EXPECT_NO_THROW(check(cudaSuccess, "nothing"));
  EXPECT_THROW(check(cudaErrorIllegalAddress, "a kernel"), PoisonedDevice);
  try {
    check(cudaErrorInvalidValue, "an argument");
    FAIL() << "an error must throw";
  } catch (const PoisonedDevice&) {
    FAIL() << "an invalid argument loses nothing";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("an argument"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("cudaErrorInvalidValue"), std::string::npos);
  }
}

TEST_F(DeviceTest, DescribesItself) {
  const DeviceInfo& info = gpu().info();
  EXPECT_EQ(info.identity.rfind("cuda-", 0), 0u) << info.identity;
  EXPECT_EQ(info.identity.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
  EXPECT_GT(info.units, 0);
  EXPECT_GT(info.memory_bytes, 1e9);
  EXPECT_GT(gpu().last_level_cache_bytes(), 1e6);
  EXPECT_FALSE(info.driver.empty());
  EXPECT_EQ(info.isa.rfind("sm_", 0), 0u);
  EXPECT_EQ(open_cuda_device(0)->info().identity, info.identity);
  for (const Attribute& attribute : info.attributes) {
    std::cout << "  " << attribute.name << ": " << attribute.value << '\n';
  }
}

TEST_F(DeviceTest, MovesMemoryThereAndBack) {
  std::vector<unsigned> sent(100003);
  std::iota(sent.begin(), sent.end(), 7u);
  const std::size_t bytes = sent.size() * sizeof(unsigned);
  const auto first = gpu().allocate(bytes);
  const auto second = gpu().allocate(bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first->data()) % 256, 0u);
  EXPECT_EQ(first->size(), bytes);
  gpu().upload(first->data(), sent.data(), bytes);
  gpu().copy(second->data(), first->data(), bytes);
  gpu().fill(first->data(), std::byte{0xA5}, bytes);
  std::vector<unsigned> received(sent.size());
  gpu().download(received.data(), second->data(), bytes);
  EXPECT_EQ(received, sent);
  gpu().download(received.data(), first->data(), bytes);
  EXPECT_EQ(received, std::vector<unsigned>(sent.size(), 0xA5A5A5A5u));
}

TEST_F(DeviceTest, RefusesMoreMemoryThanThereIsAndGoesOn) {
  const auto bytes = static_cast<std::size_t>(gpu().info().memory_bytes * 2);
  EXPECT_THROW(gpu().allocate(bytes), Error);
  EXPECT_NO_THROW(gpu().allocate(1 << 20));
}

TEST_F(DeviceTest, TwiceTheLaunchesTakeTwiceTheTime) {
  constexpr std::int64_t kElements = 1 << 24;
  const Kernel kernel = relu_kernel(gpu(), kElements);
  const auto x = gpu().allocate(kElements * sizeof(float));
  const auto y = gpu().allocate(kElements * sizeof(float));
  gpu().fill(x->data(), std::byte{0}, x->size());
  const std::array<void*, 2> tensors = {x->data(), y->data()};
  const auto timer = gpu().timer([&](std::int64_t) { kernel(tensors); });
  const auto fastest = [&](std::int64_t launches) {
    double seconds = 1e9;
    for (int i = 0; i < 7; ++i) seconds = std::min(seconds, timer->time(launches).seconds);
    return seconds;
  };
  fastest(50);
  EXPECT_NEAR(fastest(100) / fastest(50), 2.0, 0.05);
  EXPECT_NEAR(fastest(5000) / fastest(2500), 2.0, 0.05) << "several graphs in a row";
}

TEST_F(DeviceTest, TimerNumbersLaunchesAndAgreesWithTheWallClock) {
  std::vector<std::int64_t> seen;
  const auto timer = gpu().timer([&](std::int64_t launch) { seen.push_back(launch); });
  timer->time(5);
  timer->time(5);
  EXPECT_EQ(seen, (std::vector<std::int64_t>{0, 1, 2, 3, 4})) << "captured once";

  const auto buffer = gpu().allocate(std::size_t{1} << 30);
  const auto fills = gpu().timer(
      [&](std::int64_t) { check(cudaMemsetAsync(buffer->data(), 1, buffer->size(), gpu().stream()), "filling"); });
  fills->time(100);
  double best = 0;  // a busy host adds to the wall time of any batch, but hardly to that of all
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double measured = fills->time(100).seconds;
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    EXPECT_LT(measured, wall);
    best = std::max(best, measured / wall);
  }
  EXPECT_GT(best, 0.8) << "hundreds of microseconds of overhead at most";
}

TEST_F(DeviceTest, MeasuresAPlausibleClock) {
  constexpr std::int64_t kElements = 1 << 26;
  const Kernel kernel = relu_kernel(gpu(), kElements);
  const auto x = gpu().allocate(kElements * sizeof(float));
  const auto y = gpu().allocate(kElements * sizeof(float));
  const std::array<void*, 2> tensors = {x->data(), y->data()};
  const auto timer = gpu().timer([&](std::int64_t) { kernel(tensors); });
  timer->time(200);
  const auto clock = timer->time(200).clock_hz;
  ASSERT_TRUE(clock.has_value());
  std::cout << "  measured SM clock: " << *clock * 1e-6 << " MHz\n";
  EXPECT_GT(*clock, 100e6);
  if (gpu().properties().max_core_hz > 0) {
    EXPECT_LT(*clock, 1.02 * gpu().properties().max_core_hz);
  }
  if (const auto nvml = gpu().clocks().core_hz) {
    EXPECT_NEAR(*clock / *nvml, 1.0, 0.1) << "NVML says " << *nvml * 1e-6 << " MHz";
  }
}

TEST_F(DeviceTest, AFailedCaptureLeavesTheDeviceUsable) {
  const auto timer = gpu().timer([](std::int64_t) { throw Error("not launched"); });
  EXPECT_THROW(timer->time(3), Error);
  EXPECT_NO_THROW(gpu().synchronize());
  const auto works = gpu().timer([&](std::int64_t) {
    check(cudaStreamIsCapturing(gpu().stream(), std::array<cudaStreamCaptureStatus, 1>{}.data()), "asking");
  });
  EXPECT_NO_THROW(works->time(1));
}

void launch_for(CudaDevice& gpu, double seconds) {
  constexpr std::int64_t kElements = 1 << 26;
  const Kernel kernel = relu_kernel(gpu, kElements);
  const auto x = gpu.allocate(kElements * sizeof(float));
  const auto y = gpu.allocate(kElements * sizeof(float));
  const std::array<void*, 2> tensors = {x->data(), y->data()};
  const auto timer = gpu.timer([&](std::int64_t) { kernel(tensors); });
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto begin = now();
  while (std::chrono::duration<double>(now() - begin).count() < seconds) timer->time(50);
}

/// The neighbour of the test below, in a process of its own; nobody waits for its end.
TEST_F(DeviceTest, DISABLED_IsANeighbour) { launch_for(gpu(), 60); }

TEST_F(DeviceTest, KnowsWhetherAnotherProcessComputes) {
  if (gpu().nvml() == nullptr) GTEST_SKIP() << "there is no NVML";
  const auto share_of_others = [] {
    const auto seen = gpu().watch_contention();
    launch_for(gpu(), 2.5);
    const Contention contention = seen();
    EXPECT_EQ(is_significant(contention), contention.others_s >= 0.05 * contention.wall_s);
    return contention.others_s / contention.wall_s;
  };
  const double alone = share_of_others();
  if (alone > 0) GTEST_SKIP() << "another process computes on this GPU already";
  const pid_t neighbour = ::fork();
  if (neighbour == 0) {
    ::execl("/proc/self/exe", "neighbour", "--gtest_filter=DeviceTest.DISABLED_IsANeighbour",
            "--gtest_also_run_disabled_tests", "--gtest_output=", nullptr);
    ::_exit(1);
  }
  double beside = 0;
  for (int trial = 0; trial < 5 && !(beside > 0.1); ++trial) beside = share_of_others();  // it takes time to begin
  ::kill(neighbour, SIGKILL);
  ::waitpid(neighbour, nullptr, 0);
  if (!gpu().nvml()->share_of_others(0))
    GTEST_SKIP() << "the driver doesn't tell, or knows this process by another number";
  EXPECT_GT(beside, 0.1) << "of a neighbour that never rests";
  share_of_others();  // in which it ended
  EXPECT_EQ(share_of_others(), 0) << "after it has gone";
}

/// Exits with 42 when an illegal access is reported as a lost context, then and from then on.
[[noreturn]] void poison_and_exit() {
  const auto device = open_cuda_device(0);
  const Kernel kernel = relu_kernel(*device, 1 << 20);
  const std::array<void*, 2> nowhere = {reinterpret_cast<void*>(std::uintptr_t{1} << 44),
                                        reinterpret_cast<void*>(std::uintptr_t{1} << 45)};
  int lost = 0;
  try {
    kernel(nowhere);
    device->synchronize();
  } catch (const PoisonedDevice&) {
    ++lost;
  }
  try {
    device->allocate(1 << 20);
  } catch (const PoisonedDevice&) {
    ++lost;
  }
  std::_Exit(lost == 2 ? 42 : 1);
}

// In a process of its own, started anew: a fork of one that has used CUDA can't use it.
TEST(PoisonDeathTest, AnIllegalAccessLosesTheContextAndSaysSo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string reason = why_no_gpu();
  if (!reason.empty()) GTEST_SKIP() << "no usable GPU: " << reason;
  EXPECT_EXIT(poison_and_exit(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace roofline
