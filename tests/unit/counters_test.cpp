// Counts into FLOPs and bytes, layouts into occupancy: known answers.
#include "model/counters.hpp"

#include <gtest/gtest.h>

#include "model/occupancy.hpp"

namespace roofline {
namespace {

TEST(Counters, FlopsByPipe) {
  Counters counters;
  counters.values = {{"fp32.add", 10},
                     {"fp32.mul", 20},
                     {"fp32.fma", 100},
                     {"half.add", 1},
                     {"half.mul", 2},
                     {"half.fma", 4},
                     {"tensor.wgmma_bf16_ops", 1000},
                     {"tensor.mma_bf16_ops", 24}};
  const auto flops = counted_flops(counters);
  EXPECT_EQ(flops.at(Pipe::fp32), 10 + 20 + 200);
  EXPECT_EQ(flops.at(Pipe::fp16), 2 * (1 + 2 + 8));
  EXPECT_EQ(flops.at(Pipe::tensor_bf16), 1024);
  EXPECT_FALSE(flops.contains(Pipe::fp64)) << "was not counted, which is not the same as none";
}

TEST(Counters, APartOfAPipeThatDidNothingIsNotNone) {
  Counters counters;
  counters.values = {{"tensor.wgmma_tf32_ops", 0}};
  EXPECT_FALSE(counted_flops(counters).contains(Pipe::tensor_tf32)) << "mma.sync was not counted";
  counters.values["tensor.wgmma_tf32_ops"] = 10;
  EXPECT_EQ(counted_flops(counters).at(Pipe::tensor_tf32), 10);
  counters.values = {{"tensor.mma_tf32_ops", 0}};
  counters.missing = {{"tensor.wgmma_tf32_ops", "AD102 has no wgmma"}};
  EXPECT_EQ(counted_flops(counters).at(Pipe::tensor_tf32), 0) << "all that this chip has was counted";
}

TEST(Counters, BytesByLevel) {
  Counters counters;
  EXPECT_EQ(counted_bytes(counters, Level::hbm), std::nullopt);
  counters.values = {{"dram.read_bytes", 30}, {"dram.write_bytes", 12}, {"l2.bytes", 50}};
  EXPECT_EQ(counted_bytes(counters, Level::hbm), 42);
  EXPECT_EQ(counted_bytes(counters, Level::l2), 50);
  EXPECT_EQ(counted_bytes(counters, Level::l1), std::nullopt);
}

TEST(Counters, TheShareOfWgmma) {
  Counters counters;
  EXPECT_EQ(wgmma_share(counters), std::nullopt);
  counters.values = {{"tensor.wgmma_bf16_ops", 0}, {"tensor.mma_bf16_ops", 0}};
  EXPECT_EQ(wgmma_share(counters), std::nullopt) << "no tensor work at all";
  counters.values["tensor.mma_bf16_ops"] = 10;
  EXPECT_EQ(wgmma_share(counters), 0);
  counters.values["tensor.wgmma_bf16_ops"] = 30;
  EXPECT_EQ(wgmma_share(counters), 0.75);
}

TEST(Counters, RatiosNeedBothAndNoZero) {
  Counters counters;
  counters.values = {{"a", 6}, {"b", 4}, {"zero", 0}};
  EXPECT_EQ(counters.ratio("a", "b"), 1.5);
  EXPECT_EQ(counters.ratio("a", "zero"), std::nullopt);
  EXPECT_EQ(counters.ratio("a", "c"), std::nullopt);
}

/// GH100's SM (CUDA C++ Programming Guide, compute capability 9.0).
constexpr SmLimits kHopper = {
    .threads = 2048, .blocks = 32, .registers = 65536, .shared_bytes = 233472, .reserved_shared_bytes = 1024};

KernelLaunch occupied(std::int64_t threads, std::int64_t registers, double shared_bytes) {
  KernelLaunch kernel;
  kernel.blocks = 132 * 4;
  kernel.threads = threads;
  kernel.registers = registers;
  kernel.shared_bytes = shared_bytes;
  fill_occupancy(kernel, kHopper, 132);
  return kernel;
}

TEST(Occupancy, NamesTheResourceThatLimits) {
  const KernelLaunch threads = occupied(512, 14, 0);
  EXPECT_EQ(threads.blocks_per_sm, 4);
  EXPECT_EQ(threads.limit, OccupancyLimit::threads);
  EXPECT_EQ(threads.occupancy, 1);
  EXPECT_EQ(threads.waves, 1);

  const KernelLaunch registers = occupied(512, 38, 0);  // 40 x 32 = 1280 a warp: 48 warps on four schedulers
  EXPECT_EQ(registers.blocks_per_sm, 3);
  EXPECT_EQ(registers.limit, OccupancyLimit::registers);
  EXPECT_EQ(registers.occupancy, 0.75);

  const KernelLaunch shared = occupied(128, 32, 100 * 1024);
  EXPECT_EQ(shared.blocks_per_sm, 2);
  EXPECT_EQ(shared.limit, OccupancyLimit::shared_memory);

  const KernelLaunch blocks = occupied(32, 16, 0);
  EXPECT_EQ(blocks.blocks_per_sm, 32);
  EXPECT_EQ(blocks.limit, OccupancyLimit::blocks);
  EXPECT_EQ(blocks.occupancy, 0.5);
}

const OccupancyChange* first_change(const KernelLaunch& kernel, OccupancyLimit of) {
  const auto found = std::find_if(kernel.changes.begin(), kernel.changes.end(),
                                  [of](const OccupancyChange& change) { return change.of == of; });
  return found == kernel.changes.end() ? nullptr : &*found;
}

TEST(Occupancy, SaysWithWhatMoreBlocksWouldFit) {
  // 128 registers: 16 warps, two blocks of 256. 80 registers are 2560 a warp: 24 warps, three blocks.
  const KernelLaunch registers = occupied(256, 128, 0);
  EXPECT_EQ(registers.occupancy, 0.25);
  const OccupancyChange* change = first_change(registers, OccupancyLimit::registers);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->amount, 80);
  EXPECT_EQ(change->occupancy, 0.375);
  EXPECT_EQ(registers.changes.back().amount, 32);
  EXPECT_EQ(registers.changes.back().occupancy, 1);
  EXPECT_EQ(first_change(registers, OccupancyLimit::shared_memory), nullptr);
  EXPECT_EQ(first_change(registers, OccupancyLimit::threads), nullptr) << "no block size raises it";

  // Two blocks of 100 KiB; three fit with 75 KiB, of which one is reserved.
  const KernelLaunch shared = occupied(128, 32, 100 * 1024);
  change = first_change(shared, OccupancyLimit::shared_memory);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->amount, 75 * 1024);
  EXPECT_EQ(change->occupancy, 3 * 4 / 64.0);
  change = first_change(shared, OccupancyLimit::threads);
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(change->amount, 1024);
  EXPECT_EQ(change->occupancy, 1);
  EXPECT_EQ(first_change(shared, OccupancyLimit::registers), nullptr);

  EXPECT_TRUE(occupied(512, 14, 0).changes.empty()) << "all threads fit";
}

TEST(Occupancy, WhatTheDriverSaysIsKept) {
  KernelLaunch kernel;
  kernel.blocks = 100;
  kernel.threads = 256;
  kernel.registers = 32;
  kernel.blocks_per_sm = 2;  // clusters, for example, may leave less
  fill_occupancy(kernel, kHopper, 10);
  EXPECT_EQ(kernel.blocks_per_sm, 2);
  EXPECT_EQ(kernel.waves, 5);
}

}  // namespace
}  // namespace roofline
