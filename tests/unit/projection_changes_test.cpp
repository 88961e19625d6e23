// What differs between two GPUs beside their roofs: caches, grids, units, clocks, hosts and power; and what-ifs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/occupancy.hpp"
#include "project/projection.hpp"
#include "project/what_if.hpp"
#include "tests/support/projection_machines.hpp"

namespace roofline {
namespace {

using example::bandwidth;
using example::compute;
using example::gpu;
using example::report_of;
using example::row;
using example::with_step;
using testing::HasSubstr;

constexpr double kMega = 1e6;

Machine with_l2(Machine machine, double bytes) {
  machine.device.caches = {{.level = Level::l2, .bytes = bytes}};
  return machine;
}

/// Main-memory bytes there of a row that fetched and requested so many here, with an L2 of 40 MB.
double bytes_there(double fetched, double requested, double l2_there, double modelled = 0) {
  Point point = row("row", 1e-3, modelled);
  if (modelled <= 0) point.profiled.emplace();
  point.counters.emplace();
  point.counters->values = {{"dram.read_bytes", fetched}, {"dram.write_bytes", 0}, {"l2.bytes", requested}};
  const RowWork work = work_on_both(point, with_l2(gpu("here", 3e12), 40e6), with_l2(gpu("there", 3e12), l2_there), {});
  EXPECT_LE(work.there[1].bytes.at(Level::hbm).total(), work.there[0].bytes.at(Level::hbm).total());
  EXPECT_GE(work.there[2].bytes.at(Level::hbm).total(), work.there[0].bytes.at(Level::hbm).total());
  return work.there[0].bytes.at(Level::hbm).total();
}

TEST(ProjectedBytes, FollowTheSizeOfL2WhereDataAreReused) {
  // All of 100 MB fetched, 400 MB requested: three quarters were found in L2. Four times the cache halves the misses
  // of that part.
  EXPECT_NEAR(bytes_there(100e6, 400e6, 160e6), 100e6 * (1 - 0.75 / 2), 1);
  EXPECT_NEAR(bytes_there(100e6, 400e6, 10e6), 100e6 * (1 + 0.75), 1);
  // With a model it is known what was fetched more than once.
  EXPECT_NEAR(bytes_there(100e6, 400e6, 160e6, 80e6), 80e6 + 20e6 / 2, 1);
}

TEST(ProjectedBytes, StayWhereNothingIsReusedOrAllFits) {
  EXPECT_DOUBLE_EQ(bytes_there(100e6, 100e6, 160e6), 100e6) << "a stream";
  EXPECT_DOUBLE_EQ(bytes_there(30e6, 400e6, 160e6), 30e6) << "fits here";
  EXPECT_DOUBLE_EQ(bytes_there(5e6, 9e6, 10e6), 5e6) << "fits there";
  EXPECT_DOUBLE_EQ(bytes_there(100e6, 400e6, 50e6), 100e6) << "caches of similar size";
  EXPECT_DOUBLE_EQ(bytes_there(100e6, 400e6, 40e6), 100e6);
  EXPECT_LE(bytes_there(100e6, 120e6, 1e6), 120e6) << "no more than was requested";
}

TEST(ProjectedBytes, AHotRowThatNoLongerFitsReadsMainMemory) {
  Point point = row("hot", 1e-3, 7.8e9);
  point.work.cache = Level::l2;
  point.resident_bytes = 30e6;
  Report report = report_of({point});
  report.machine = with_l2(report.machine, 40e6);
  const ProjectedRow small = project(report, with_l2(gpu("there", 3e12), 6e6)).rows.at(0);
  EXPECT_EQ(small.limit_there, "hbm.read");
  EXPECT_NEAR(small.there.seconds / small.here_s, 8.0 / 3, 0.1);
  EXPECT_NEAR(project(report, with_l2(gpu("there", 3e12), 80e6)).rows.at(0).there.seconds, 1e-3, 1e-6);
}

/// A GPU of compute capability 9.0 with 100 SMs, unless told otherwise.
Machine with_sms(std::int64_t sms, const std::string& isa = "sm_90") {
  Machine machine = gpu("there", 3e12, 60e12 * static_cast<double>(sms) / 100);
  machine.device.units = sms;
  machine.device.isa = isa;
  return machine;
}

Point launch(std::int64_t blocks, double flops = 0, std::int64_t threads = 1024, double shared_bytes = 0) {
  Point point = row("kernel", 1e-3, 1e6, flops);
  point.profiled.emplace();
  point.profiled->full_name = "my_kernel(float*)";
  point.counters.emplace();
  KernelLaunch kernel;
  kernel.blocks = blocks;
  kernel.threads = threads;
  kernel.registers = 32;
  kernel.shared_bytes = shared_bytes;
  fill_occupancy(kernel, *sm_limits_of("sm_90"), 100);
  point.counters->kernels = {kernel};
  return point;
}

ProjectedRow on(const Point& point, const Machine& there) {
  Report report = report_of({point});
  report.machine = with_sms(100);
  report.machine.device.name = "here";
  return project(report, there).rows.at(0);
}

TEST(ProjectedGrid, WavesFollowTheSms) {
  // Two blocks of 1024 threads per SM: 200 at once. 800 blocks are 4 waves here and 8 on half of the SMs.
  const ProjectedRow half = on(launch(800), with_sms(50));
  EXPECT_DOUBLE_EQ(half.launch_here->waves, 4);
  EXPECT_DOUBLE_EQ(half.launch_there->waves, 8);
  EXPECT_NEAR(half.there.seconds / half.here_s, 2, 0.02);
  EXPECT_NEAR(on(launch(20), with_sms(50)).there.seconds, 1e-3, 1e-6) << "one wave on both";
  EXPECT_NEAR(on(launch(800), with_sms(100)).there.seconds, 1e-3, 1e-9);
}

TEST(ProjectedGrid, ATailOnOneBlockMoreTakesAWholeTurnOfPipes) {
  // 100 blocks for 100 SMs that all work; on 99 SMs one block is left over, and pipes take twice as long.
  Point point = launch(100, 0.98 * 60e9, 1024, 200e3);
  point.counters->kernels[0].blocks = 101;
  fill_occupancy(point.counters->kernels[0], *sm_limits_of("sm_90"), 100);
  const ProjectedRow row = on(point, with_sms(101));
  EXPECT_LT(row.there.seconds, 0.56e-3) << "two turns here, one there";
  EXPECT_GT(row.there.high, 0.95e-3) << "blocks of different length fill the last turn";
}

TEST(ProjectedGrid, AGridOfAllSmsFollowsTheirNumber) {
  // One wave of exactly 2 blocks per SM: the program asks for the number of SMs.
  const ProjectedRow more = on(launch(200), with_sms(200));
  EXPECT_DOUBLE_EQ(more.launch_there->waves, 1);
  EXPECT_NEAR(more.there.seconds, 0.5e-3, 0.01e-3);
}

TEST(ProjectedGrid, OccupancyFollowsSharedMemory) {
  // Blocks of 70 KiB: 3 on an SM with 228 KiB, 1 with 100 KiB.
  const ProjectedRow row = on(launch(600, 0, 256, 70 * 1024), with_sms(100, "sm_89"));
  EXPECT_EQ(row.launch_here->blocks_per_sm, 3);
  EXPECT_EQ(row.launch_there->blocks_per_sm, 1);
  EXPECT_DOUBLE_EQ(row.launch_there->waves, 6);
  EXPECT_NEAR(row.there.seconds / row.here_s, 3, 0.02);
}

TEST(ProjectedGrid, ABlockThatDoesNotFitIsRefusedUnlessALibraryChoosesIt) {
  Point point = launch(600, 0, 256, 150 * 1024);
  const ProjectedRow refused = on(point, with_sms(100, "sm_89"));
  EXPECT_THAT(refused.why_not, HasSubstr("150 KiB"));
  EXPECT_FALSE(refused.is_projected());
  EXPECT_EQ(on(point, with_sms(100, "sm_90")).why_not, "");
  point.profiled->full_name = "cutlass::gemm";
  EXPECT_EQ(on(point, with_sms(100, "sm_89")).why_not, "");
  point = launch(600);
  point.profiled->cluster = {2, 1, 1};
  EXPECT_THAT(on(point, with_sms(100, "sm_80")).why_not, HasSubstr("cluster"));
}

Point product(Pipe pipe) {
  Point point = row("product", 1e-3, 1e6);
  point.work.flops[pipe] = 0.98e12;
  return point;
}

TEST(ProjectedUnits, FP8IsRefusedOnAChipWithoutIt) {
  Report report = report_of({product(Pipe::tensor_fp8), row("copy", 1e-3, 2e9)});
  report.machine.ceilings.push_back(compute("tensor.fp8", Pipe::tensor_fp8, 1e15));
  const Projection a100 = project(report, with_sms(108, "sm_80"));
  EXPECT_THAT(a100.rows.at(0).why_not, HasSubstr("tensor.fp8"));
  EXPECT_DOUBLE_EQ(a100.refused_s, 1e-3);
  EXPECT_DOUBLE_EQ(a100.here_s, 1e-3) << "the other row alone";
  EXPECT_TRUE(a100.runs_there()) << "rows of a suite do not need each other";
  Machine h100 = with_sms(132, "sm_90");
  EXPECT_EQ(project(report, h100).rows.at(0).why_not, "") << "not measured is not missing";
  h100.ceilings.push_back(compute("tensor.fp8", Pipe::tensor_fp8, 2e15));
  EXPECT_NEAR(project(report, h100).rows.at(0).there.seconds, 0.5e-3, 0.15e-3);
}

TEST(ProjectedUnits, ADataSheetWithoutARateHasNoSuchUnit) {
  Report report = report_of({product(Pipe::tensor_fp8)});
  report.machine.ceilings.push_back(compute("tensor.fp8", Pipe::tensor_fp8, 1e15));
  Machine sheet = gpu("MI250", 3e12);
  EXPECT_EQ(project(report, sheet).rows.at(0).why_not, "") << "no rate of any product";
  sheet.ceilings.push_back(compute("tensor.fp16", Pipe::tensor_fp16, 1e14));
  sheet.ceilings.back().origin = kDataSheetOrigin;
  EXPECT_THAT(project(report, sheet).rows.at(0).why_not, HasSubstr("MI250"));
}

TEST(ProjectedUnits, AProgramNeedsAllOfItsKernels) {
  Report report = with_step(9e-3, 1e-3);
  report.points[0].work.flops[Pipe::tensor_fp8] = 1e9;
  const Projection refused = project(report, with_sms(108, "sm_80"));
  EXPECT_FALSE(refused.runs_there());
  EXPECT_FALSE(refused.energy);
}

TEST(LimitChanges, NameRowsOfOneLimitHereAndAnotherThere) {
  Report report = report_of({row("copy", 1e-3, 0.98 * 3e9), row("both", 2e-3, 0.95 * 6e9, 0.8 * 120e9)});
  const Projection faster = project(report, gpu("there", 9e12), {.at_roofs = true});
  const std::vector<LimitChange> changes = limit_changes(faster);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].here, LimitGroup::memory);
  EXPECT_EQ(changes[0].there, LimitGroup::compute);
  EXPECT_THAT(changes[0].rows, testing::ElementsAre(1));
  EXPECT_DOUBLE_EQ(changes[0].here_s, 2e-3);
  EXPECT_TRUE(limit_changes(project(report, report.machine)).empty());
}

TEST(WhatIf, AHigherClockShortensPipesAndWaitsButNotMemory) {
  Report report = report_of({row("copy", 1e-3, 0.98 * 3e9), row("wait", 1e-3, 1e6)});
  report.machine.device.max_core_hz = 2000 * kMega;
  Machine slower = report.machine;
  EXPECT_FALSE(set_core_clock(slower, 0));
  ASSERT_TRUE(set_core_clock(slower, 1000 * kMega));
  EXPECT_DOUBLE_EQ(slower.find("fp32")->value, 30e12);
  EXPECT_DOUBLE_EQ(slower.find("l2.read")->value, 4e12);
  EXPECT_DOUBLE_EQ(slower.find("hbm.read")->value, 3e12);
  const Projection projection = project(report, slower);
  EXPECT_LT(projection.rows.at(0).there.seconds, 1.1e-3);
  EXPECT_NEAR(projection.rows.at(1).there.seconds, 2e-3, 0.01e-3);
  Machine unknown = gpu("here", 3e12);
  EXPECT_FALSE(set_core_clock(unknown, 1000 * kMega));
}

TEST(WhatIf, ARoofBelowTheNewClockStays) {
  Machine machine = gpu("here", 3e12);
  machine.device.max_core_hz = 2000 * kMega;
  machine.ceilings[2].clocks.core_hz = 1400 * kMega;  // held by power
  Machine higher = machine;
  ASSERT_TRUE(set_core_clock(higher, 1800 * kMega));
  EXPECT_DOUBLE_EQ(higher.find("fp32")->value, 60e12);
  ASSERT_TRUE(set_core_clock(machine, 700 * kMega));
  EXPECT_DOUBLE_EQ(machine.find("fp32")->value, 30e12);
}

Machine with_power(double watts) {
  Machine machine = gpu("here", 3e12);
  machine.idle_watts = 100;
  Ceiling sustained = machine.ceilings[2];
  sustained.regime = Regime::sustained;
  sustained.power.watts = watts;
  sustained.power.limiter = std::string(kPowerCap);
  sustained.value *= 0.8;
  machine.ceilings.push_back(sustained);
  return machine;
}

TEST(WhatIf, PowerAboveIdleFollowsTheCubeOfTheClock) {
  Machine machine = with_power(900);
  ASSERT_TRUE(set_power_limit(machine, 200));  // an eighth of the power above idle
  EXPECT_NEAR(machine.find("fp32", Regime::sustained)->value, 24e12, 1e6);
  EXPECT_NEAR(machine.find("fp32")->value, 30e12, 1e6);
  EXPECT_DOUBLE_EQ(machine.find("hbm.read")->value, 3e12);
  EXPECT_NEAR(*machine.find("fp32", Regime::sustained)->power.watts, 200, 1e-6);
  EXPECT_DOUBLE_EQ(*power_limit(machine.device), 200);
  Machine same = with_power(900);
  ASSERT_TRUE(set_power_limit(same, 900));
  EXPECT_DOUBLE_EQ(same.find("fp32")->value, 60e12);
  Machine more = with_power(900);
  ASSERT_TRUE(set_power_limit(more, 9000));
  EXPECT_DOUBLE_EQ(more.find("fp32", Regime::sustained)->value, 60e12) << "at most the burst roof";
  Machine unknown = gpu("here", 3e12);
  EXPECT_FALSE(set_power_limit(unknown, 200));
}

TEST(WhatIf, SmsScalePipesAndNotMemory) {
  Machine machine = with_sms(100);
  ASSERT_TRUE(set_sms(machine, 50));
  EXPECT_DOUBLE_EQ(machine.find("fp32")->value, 30e12);
  EXPECT_DOUBLE_EQ(machine.find("l2.read")->value, 8e12);
  EXPECT_EQ(machine.device.units, 50);
  Machine unknown = gpu("here", 3e12);
  EXPECT_FALSE(set_sms(unknown, 50));
}

TEST(WhatIf, AnotherTypeMovesProductsAndShrinksOperands) {
  Point point = product(Pipe::tensor_bf16);
  Report report = report_of({point, row("copy", 1e-3, 0.98 * 3e9)});
  report.machine.ceilings.push_back(compute("tensor.bf16", Pipe::tensor_bf16, 1e15));
  report.machine.ceilings.push_back(compute("tensor.fp8", Pipe::tensor_fp8, 2e15));
  ProjectionOptions options;
  options.type = TypeChange{DType::bf16, DType::fp8};
  const Projection projection = project(report, report.machine, options);
  EXPECT_EQ(projection.rows.at(0).limit_there, "tensor.fp8");
  EXPECT_NEAR(projection.rows.at(0).there.seconds, 0.5e-3, 0.15e-3);
  EXPECT_DOUBLE_EQ(projection.rows.at(0).bytes_there, 0.5e6);
  EXPECT_NEAR(projection.rows.at(1).there.seconds, 1e-3, 1e-9) << "has no products";
  EXPECT_THAT(project(report, with_sms(100, "sm_80"), options).rows.at(0).why_not, HasSubstr("tensor.fp8"));
}

TEST(WhatIf, TwiceTheBatchKeepsTheHostsTime) {
  const Report report = with_step(6e-3, 4e-3);
  ProjectionOptions options;
  options.batch = 2;
  const Projection projection = project(report, report.machine, options);
  EXPECT_GT(projection.step->there.seconds, 0.95 * 16e-3);
  EXPECT_LT(projection.step->there.seconds, 1.03 * 16e-3);
  EXPECT_LT(projection.step->there.low, 11e-3) << "if all bytes are of weights";
  EXPECT_DOUBLE_EQ(projection.batch, 2);
}

TEST(WhatIf, AFasterHostShortensIdleTime) {
  const Report report = with_step(1e-3, 9e-3);
  ProjectionOptions options;
  options.host = 3;
  EXPECT_NEAR(project(report, report.machine, options).step->there.seconds, 4e-3, 1e-6);
  options.host = 1;
  EXPECT_NEAR(project(report, report.machine, options).step->there.seconds, 10e-3, 1e-6);
}

TEST(Projection, LaunchesAreAsFastAsTheHostThereMakesThem) {
  Report report = with_step(1e-3, 9e-3);
  report.profile->steps->devices[0].idle_launching_s = 10 * 6e-3;
  report.profile->steps->devices[0].idle_elsewhere_s = 10 * 3e-3;
  report.machine.ceilings.push_back(example::ceiling_of("launch.stream", CeilingKind::overhead, 2e5));
  Machine there = report.machine;
  there.ceilings.back().value = 4e5;
  EXPECT_NEAR(project(report, there).step->there.seconds, 7e-3, 0.05e-3);
  EXPECT_NEAR(project(report, report.machine).step->there.seconds, 10e-3, 1e-6);
}

TEST(WhatIf, OneKernelAtItsRoof) {
  const Report report = report_of({row("softmax", 1e-3, 1.5e9), row("copy", 1e-3, 1.5e9)});
  ProjectionOptions options;
  options.perfect = "soft*";
  const Projection projection = project(report, report.machine, options);
  EXPECT_DOUBLE_EQ(projection.rows.at(0).there.seconds, 0.5e-3);
  EXPECT_NEAR(projection.rows.at(1).there.seconds, 1e-3, 1e-9);
}

TEST(ProjectedEnergy, IsMeasuredPowerOrAtMostThePowerLimit) {
  Machine there = with_power(500);
  const Report bound = report_of({row("product", 1e-3, 1e6, 0.98 * 60e9)});
  const Projection measured = project(bound, there);
  ASSERT_TRUE(measured.energy);
  EXPECT_NEAR(measured.energy->joules, 0.5, 0.001);
  EXPECT_FALSE(measured.energy->upper_bound);
  const Report waiting = report_of({row("wait", 1e-3, 1e6)});
  EXPECT_FALSE(project(waiting, there).energy) << "neither measured nor limited";
  there.device.attributes.emplace_back(AttributeKey::power_limit, "700 W");
  const Projection limited = project(waiting, there);
  ASSERT_TRUE(limited.energy);
  EXPECT_NEAR(limited.energy->joules, 0.7, 0.001);
  EXPECT_TRUE(limited.energy->upper_bound);
}

TEST(ProjectedEnergy, OfAStepHasIdlePowerAndAllGpus) {
  Report report = with_step(1e-3, 9e-3);
  report.profile->steps->devices.push_back(report.profile->steps->devices[0]);
  Machine there = report.machine;
  there.idle_watts = 100;
  there.device.attributes.emplace_back(AttributeKey::power_limit, "700 W");
  const Projection projection = project(report, there);
  EXPECT_NEAR(projection.energy->joules, 2 * (0.7 + 0.9), 0.01);
}

TEST(SmLimits, AreKnownByComputeCapability) {
  EXPECT_EQ(compute_capability("sm_90"), 90);
  EXPECT_EQ(compute_capability("sm_100a"), 100);
  EXPECT_EQ(compute_capability("gfx942"), 0);
  EXPECT_DOUBLE_EQ(sm_limits_of("sm_90")->shared_bytes, 233472);  // as an H200's driver reports it
  EXPECT_FALSE(sm_limits_of("sm_52"));
  EXPECT_FALSE(sm_limits_of("avx2"));
}

}  // namespace
}  // namespace roofline
