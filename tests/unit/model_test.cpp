// The vocabulary, the lookup of ceilings and the bound rule, against values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "model/bound.hpp"
#include "model/find.hpp"

namespace roofline {
namespace {

Ceiling bandwidth(Level level, Pattern pattern, double value, double half_width = 0.001) {
  Ceiling ceiling;
  ceiling.name = std::string(to_string(level)) + "." + std::string(to_string(pattern));
  ceiling.kind = CeilingKind::bandwidth;
  ceiling.level = level;
  ceiling.pattern = pattern;
  ceiling.value = value;
  ceiling.ci95 = {value * (1 - half_width), value * (1 + half_width)};
  return ceiling;
}

Ceiling compute(Pipe pipe, double value, double half_width = 0.001) {
  Ceiling ceiling;
  ceiling.name = std::string(to_string(pipe));
  ceiling.kind = CeilingKind::compute;
  ceiling.pipe = pipe;
  ceiling.value = value;
  ceiling.ci95 = {value * (1 - half_width), value * (1 + half_width)};
  return ceiling;
}

Ceiling launch(const std::string& name, double per_second) {
  Ceiling ceiling;
  ceiling.name = name;
  ceiling.kind = CeilingKind::overhead;
  ceiling.value = per_second;
  ceiling.ci95 = {per_second * 0.99, per_second * 1.01};
  return ceiling;
}

Machine gpu() {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.ceilings = {bandwidth(Level::hbm, Pattern::read, 4e12),
                      bandwidth(Level::hbm, Pattern::write, 3e12),
                      bandwidth(Level::hbm, Pattern::copy, 2e12),
                      bandwidth(Level::hbm, Pattern::triad, 2.5e12),
                      compute(Pipe::fp32, 60e12),
                      compute(Pipe::tensor_fp16, 800e12),
                      compute(Pipe::sfu, 4e12),
                      launch("launch.stream", 2.5e5),
                      launch("launch.graph", 1e6)};
  return machine;
}

TEST(Names, SpellAndParseAreInverse) {
  for (const auto name : pipe_names()) EXPECT_EQ(to_string(*parse_pipe(name)), name);
  for (const auto name : level_names()) EXPECT_EQ(to_string(*parse_level(name)), name);
  for (const auto name : pattern_names()) EXPECT_EQ(to_string(*parse_pattern(name)), name);
  for (const auto name : dtype_names()) EXPECT_EQ(to_string(*parse_dtype(name)), name);
  EXPECT_EQ(pipe_names().size(), 13U);
  EXPECT_EQ(to_string(Pipe::tensor_int8), "tensor.int8");
  EXPECT_EQ(to_string(Level::nvlink), "nvlink");
  EXPECT_FALSE(parse_pipe("tensor"));
  EXPECT_FALSE(parse_dtype("FP32"));
}

/// A tensor pipe that does 800 TFLOP/s at 1.9 GHz, and 600 once the power limiter has taken it to 1.425 GHz.
Machine throttling_gpu() {
  Machine machine = gpu();
  Ceiling burst = compute(Pipe::tensor_bf16, 800e12);
  burst.clocks.core_hz = 1.9e9;
  Ceiling sustained = compute(Pipe::tensor_bf16, 600e12);
  sustained.regime = Regime::sustained;
  sustained.clocks.core_hz = 1.425e9;
  sustained.audit.checks = {{"steady while timed", CheckStatus::fail, "drifting"}};
  machine.ceilings.insert(machine.ceilings.end(), {burst, sustained});
  return machine;
}

TEST(Bound, APointIsHeldAgainstTheRegimeOfItsClock) {
  Work work;
  work.flops[Pipe::tensor_bf16] = 6e12;
  const Machine machine = throttling_gpu();
  const Bound unknown = bound_of(work, machine);
  EXPECT_EQ(unknown.regime, Regime::burst);
  EXPECT_DOUBLE_EQ(unknown.attainable_time_s, 6e12 / 800e12);
  const Bound throttled = bound_of(work, machine, 1.43e9);
  EXPECT_EQ(throttled.regime, Regime::sustained);
  EXPECT_TRUE(throttled.suspect) << "the sustained ceiling failed its audit, the burst one did not";
  EXPECT_DOUBLE_EQ(throttled.attainable_time_s, 6e12 / 600e12) << "0.4 % is the same clock";
  EXPECT_FALSE(throttled.resources[0].at_clock_hz);
  EXPECT_FALSE(bound_of(work, machine, 1.9e9).suspect);
  Machine alike = machine;
  alike.ceilings.back().clocks.core_hz = 1.899e9;
  EXPECT_EQ(bound_of(work, alike, 1.8985e9).regime, Regime::burst) << "where no limiter acts the two are one";
}

/// On a CPU with neighbours the sustained rate is lower at the same clock, or by more than its clock: that is no regime
/// of its own.
TEST(Bound, RegimesAreToldApartByTheirClocksAlone) {
  Machine machine;
  Ceiling burst = compute(Pipe::fp32, 200e9);
  burst.clocks.core_hz = 3.24e9;
  Ceiling sustained = compute(Pipe::fp32, 130e9);
  sustained.regime = Regime::sustained;
  sustained.clocks.core_hz = 3.19e9;
  machine.ceilings = {burst, sustained};
  EXPECT_EQ(machine.compute_at(Pipe::fp32, 3.19e9)->regime, Regime::burst);
  EXPECT_EQ(machine.compute_at(Pipe::fp32, 2.5e9)->regime, Regime::burst);
  machine.ceilings[1].clocks.core_hz = 3.0e9;
  EXPECT_EQ(machine.compute_at(Pipe::fp32, 3.05e9)->regime, Regime::burst) << "0.70 of what a cycle does in the other";
  machine.ceilings[1].value = 183e9;
  EXPECT_EQ(machine.compute_at(Pipe::fp32, 3.05e9)->regime, Regime::sustained) << "0.99 of it";
  EXPECT_EQ(machine.compute_at(Pipe::fp32, 3.22e9)->regime, Regime::burst);
}

TEST(Bound, BetweenTheRegimesTheCeilingIsCarriedToTheOwnClock) {
  Work work;
  work.flops[Pipe::tensor_bf16] = 6e12;
  work.bytes[Level::hbm] = {.read = 1e9, .write = 0};
  const Bound bound = bound_of(work, throttling_gpu(), 1.71e9);
  EXPECT_EQ(bound.regime, Regime::burst);
  EXPECT_DOUBLE_EQ(bound.attainable_time_s, 6e12 / (800e12 * 0.9));
  EXPECT_EQ(bound.resources[0].at_clock_hz, 1.71e9);
  EXPECT_NEAR(bound.resources[0].ci95.low, bound.attainable_time_s, bound.attainable_time_s * 0.0011);
  EXPECT_EQ(bound.resources[1].ceiling, "hbm.read");
  EXPECT_DOUBLE_EQ(bound.resources[1].time_s, 1e9 / 4e12) << "memory has a clock of its own";
  EXPECT_FALSE(bound.resources[1].at_clock_hz);
}

TEST(Machine, ReferencesAreNoRoofs) {
  Machine machine = gpu();
  Ceiling zeros = compute(Pipe::fp32, 90e12);
  zeros.name = "fp32.zeros";
  zeros.role = Role::reference;
  Ceiling pageable = bandwidth(Level::hbm, Pattern::read, 9e12);
  pageable.role = Role::reference;
  machine.ceilings.insert(machine.ceilings.begin(), {zeros, pageable});
  EXPECT_EQ(machine.compute(Pipe::fp32)->value, 60e12);
  EXPECT_EQ(machine.bandwidth(Level::hbm, {.read = 1, .write = 0}).value().value, 4e12);
  EXPECT_EQ(machine.slope(Level::hbm)->value, 4e12);
  EXPECT_EQ(machine.find("fp32.zeros")->value, 90e12);
}

/// Eight threads under one L3, with roofs of all and references of one core.
Machine cpu_of_eight() {
  Machine machine;
  machine.device.kind = DeviceKind::cpu;
  machine.device.units = 8;
  machine.device.caches = {{Level::l1, 32e3, 8}, {Level::l2, 1e6, 8}, {Level::l3, 32e6, 1}};
  machine.ceilings = {bandwidth(Level::dram, Pattern::read, 200e9),
                      bandwidth(Level::dram, Pattern::copy, 180e9),
                      bandwidth(Level::l3, Pattern::read, 800e9),
                      bandwidth(Level::l2, Pattern::read, 1600e9),
                      bandwidth(Level::l1, Pattern::read, 3200e9),
                      compute(Pipe::fp32, 1e12),
                      launch("launch.pool", 1e6)};
  const auto one_core = [&](Ceiling ceiling) {
    ceiling.name += kOneCore;
    ceiling.role = Role::reference;
    machine.ceilings.push_back(ceiling);
  };
  one_core(bandwidth(Level::dram, Pattern::read, 30e9));
  one_core(bandwidth(Level::dram, Pattern::copy, 20e9));
  one_core(bandwidth(Level::l2, Pattern::read, 210e9));
  one_core(compute(Pipe::fp32, 0.14e12));
  return machine;
}

TEST(Machine, AHotRowsCacheIsTheNearestThatHoldsIt) {
  Machine machine = cpu_of_eight();
  EXPECT_EQ(machine.cache_for(30e3, 1), Level::l1);
  EXPECT_EQ(machine.cache_for(40e3, 1), Level::l2) << "one thread has one L1";
  EXPECT_EQ(machine.cache_for(40e3, 0), Level::l1) << "all threads have eight";
  EXPECT_EQ(machine.cache_for(40e3, 4), Level::l1);
  EXPECT_EQ(machine.cache_for(7e6, 1), Level::l3);
  EXPECT_EQ(machine.cache_for(7e6, 0), Level::l2);
  EXPECT_EQ(machine.cache_for(33e6, 0), std::nullopt);
  // What was not measured is bounded by the next nearer level: more than it can do, never less.
  std::erase_if(machine.ceilings, [](const Ceiling& ceiling) { return ceiling.level == Level::l3; });
  EXPECT_EQ(machine.cache_for(7e6, 1), Level::l2);
  std::erase_if(machine.ceilings, [](const Ceiling& ceiling) { return ceiling.level != Level::dram; });
  EXPECT_EQ(machine.cache_for(30e3, 1), std::nullopt);
}

/// L1 keeps nothing from one launch to the next.
TEST(Machine, TheCacheOfAHotRowOnAGpuIsL2) {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.device.caches = {{Level::l1, 256e3, 132}, {Level::l2, 50e6, 1}};
  machine.ceilings = {bandwidth(Level::hbm, Pattern::copy, 3e12), bandwidth(Level::l1, Pattern::read, 30e12)};
  EXPECT_EQ(machine.cache_for(30e3, 0), std::nullopt) << "L2 was not measured";
  machine.ceilings.push_back(bandwidth(Level::l2, Pattern::copy, 6e12));
  EXPECT_EQ(machine.cache_for(30e3, 0), Level::l2);
  EXPECT_EQ(machine.cache_for(49e6, 0), Level::l2);
  EXPECT_EQ(machine.cache_for(51e6, 0), std::nullopt);
  Work hot{.flops = {}, .uncounted = {}, .bytes = {{Level::hbm, {.read = 6e6, .write = 6e6}}}, .extra = {}};
  hot.launches = 0;
  EXPECT_EQ(bound_of(hot, machine).limiting_ceiling, "hbm.copy");
  hot.cache = machine.cache_for(12e6, 0);
  EXPECT_EQ(bound_of(hot, machine).limiting_ceiling, "l2.copy");
  EXPECT_NEAR(bound_of(hot, machine).attainable_time_s, 2e-6, 1e-12);
}

TEST(Machine, OneOfSeveralThreadsHasTheCeilingsOfOneCore) {
  Machine machine = cpu_of_eight();
  const Traffic copy = {.read = 1, .write = 1};
  EXPECT_EQ(machine.bandwidth(Level::dram, copy, 1)->nearest->name, "dram.copy.one_core");
  EXPECT_EQ(machine.bandwidth(Level::dram, copy, 0)->nearest->name, "dram.copy");
  EXPECT_EQ(machine.bandwidth(Level::dram, copy, 2)->nearest->name, "dram.copy");
  EXPECT_EQ(machine.bandwidth(Level::l1, copy, 1)->nearest->name, "l1.read") << "none was measured of one core";
  EXPECT_EQ(machine.compute_at(Pipe::fp32, std::nullopt, 1)->name, "fp32.one_core");
  EXPECT_EQ(machine.compute_at(Pipe::fp32, std::nullopt)->name, "fp32");
  machine.device.units = 1;
  EXPECT_EQ(machine.bandwidth(Level::dram, copy, 1)->nearest->name, "dram.copy") << "the roof is that of one core";
  EXPECT_EQ(machine.slope(Level::dram)->name, "dram.read") << "the chart's line is that of all threads";
}

TEST(Bound, AHotRowIsBoundedByTheCacheThatHoldsIt) {
  const Machine machine = cpu_of_eight();
  Work work;
  work.bytes[Level::dram] = {.read = 1e6, .write = 0};
  EXPECT_EQ(bound_of(work, machine).limiting_ceiling, "dram.read");
  work.cache = Level::l2;
  const Bound hot = bound_of(work, machine);
  EXPECT_EQ(hot.limiting_ceiling, "launch.pool") << "0.6 us of L2 are less than a region";
  work.launches = 0;
  EXPECT_EQ(bound_of(work, machine).limiting_ceiling, "l2.read");
  EXPECT_EQ(bound_of(work, machine).label, BoundLabel::memory);
  EXPECT_DOUBLE_EQ(bound_of(work, machine).attainable_time_s, 1e6 / 1600e9);
  EXPECT_DOUBLE_EQ(bound_of(work, machine).arithmetic_intensity, hot.arithmetic_intensity) << "its place on the chart";
  work.threads = 1;
  EXPECT_EQ(bound_of(work, machine).limiting_ceiling, "l2.read.one_core");
}

TEST(Bound, APlainCallStartsNoRegion) {
  Work work;
  work.bytes[Level::dram] = {.read = 64, .write = 0};
  work.threads = 1;
  EXPECT_EQ(bound_of(work, cpu_of_eight()).limiting_ceiling, "launch.pool");
  work.launches = 0;
  const Bound bound = bound_of(work, cpu_of_eight());
  EXPECT_EQ(bound.limiting_ceiling, "dram.read.one_core");
  for (const ResourceTime& resource : bound.resources) EXPECT_NE(resource.kind, CeilingKind::overhead);
}

TEST(Names, MatrixProductsGoToTheFastestPipeOfTheirType) {
  EXPECT_EQ(matrix_pipe(DType::fp16, DeviceKind::cuda), Pipe::tensor_fp16);
  EXPECT_EQ(matrix_pipe(DType::tf32, DeviceKind::cuda), Pipe::tensor_tf32);
  EXPECT_EQ(matrix_pipe(DType::fp32, DeviceKind::cuda), Pipe::fp32);
  EXPECT_EQ(matrix_pipe(DType::fp32, DeviceKind::cpu), Pipe::fp32);
  EXPECT_EQ(matrix_pipe(DType::fp64, DeviceKind::cpu), Pipe::fp64);
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    EXPECT_EQ(matrix_pipe(DType::bf16, kind), Pipe::tensor_bf16);
    EXPECT_EQ(matrix_pipe(DType::int8, kind), Pipe::tensor_int8);
  }
}

/// A CPU without AMX, or where it was not given, multiplies on its vectors; a GPU's missing roof stays missing.
TEST(Machine, OperationsRunOnTheUnitsThatItHas) {
  Work work;
  work.flops = {{Pipe::tensor_bf16, 1e9}, {Pipe::fp32, 1e6}, {Pipe::tensor_int8, 5e8}};
  work.uncounted = {{Pipe::tensor_fp16, 3}};
  Machine cpu;
  cpu.device.kind = DeviceKind::cpu;
  cpu.ceilings = {compute(Pipe::fp32, 1e11), compute(Pipe::int8, 4e11)};
  const Work on_vectors = on_units_of(cpu, work);
  EXPECT_EQ(on_vectors.flops, (std::map<Pipe, double>{{Pipe::fp32, 1.001e9}, {Pipe::int8, 5e8}}));
  EXPECT_EQ(on_vectors.uncounted, (std::map<Pipe, double>{{Pipe::fp32, 3}}));
  cpu.ceilings.push_back(compute(Pipe::bf16, 2e11));
  EXPECT_EQ(on_units_of(cpu, work).flops,
            (std::map<Pipe, double>{{Pipe::bf16, 1e9}, {Pipe::fp32, 1e6}, {Pipe::int8, 5e8}}))
      << "dot products of pairs";
  cpu.ceilings.push_back(compute(Pipe::tensor_bf16, 1e12));
  EXPECT_EQ(on_units_of(cpu, work).flops,
            (std::map<Pipe, double>{{Pipe::tensor_bf16, 1e9}, {Pipe::fp32, 1e6}, {Pipe::int8, 5e8}}));
  Machine gpu_without = cpu;
  gpu_without.device.kind = DeviceKind::cuda;
  gpu_without.ceilings.clear();
  EXPECT_EQ(on_units_of(gpu_without, work).flops, work.flops);
}

/// "hbm.read", or "hbm.copy + hbm.triad" between two mixes; empty without a roof.
std::string roof_of(const Machine& machine, Level level, const Traffic& traffic) {
  const std::optional<MixRoof> roof = machine.bandwidth(level, traffic);
  if (!roof) return "";
  return roof->other == nullptr ? roof->nearest->name : roof->nearest->name + " + " + roof->other->name;
}

TEST(Machine, AMeasuredMixHasItsOwnCeiling) {
  const Machine machine = gpu();
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 8, .write = 0}), "hbm.read");
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 4, .write = 4}), "hbm.copy");
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 8, .write = 4}), "hbm.triad");
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 0, .write = 4}), "hbm.write");
  EXPECT_EQ(machine.bandwidth(Level::hbm, {.read = 8, .write = 4})->value, 2.5e12) << "exactly, though 1/3 is not";
  EXPECT_EQ(machine.bandwidth(Level::hbm, {.read = 8, .write = 4})->ci95.low, 2.5e12 * 0.999);
  EXPECT_EQ(roof_of(machine, Level::l2, {.read = 1, .write = 0}), "");
  EXPECT_EQ(machine.slope(Level::hbm)->name, "hbm.read");
  EXPECT_EQ(machine.launch()->name, "launch.graph");
}

TEST(Machine, BetweenTwoMixesTheTimePerByteIsInterpolated) {
  const Machine machine = gpu();
  // 11 of 30 bytes are written: a fifth of the way from triad (1/3) to copy (1/2).
  const MixRoof fifth = machine.bandwidth(Level::hbm, {.read = 19, .write = 11}).value();
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 19, .write = 11}), "hbm.triad + hbm.copy");
  EXPECT_DOUBLE_EQ(fifth.value, 1 / (0.8 / 2.5e12 + 0.2 / 2e12));
  EXPECT_DOUBLE_EQ(fifth.ci95.low, 0.999 * fifth.value);
  EXPECT_DOUBLE_EQ(fifth.ci95.high, 1.001 * fifth.value);
  // Half way between read (0) and triad (1/3): the higher is named.
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 5, .write = 1}), "hbm.read + hbm.triad");
  EXPECT_DOUBLE_EQ(machine.bandwidth(Level::hbm, {.read = 5, .write = 1})->value, 1 / (0.5 / 4e12 + 0.5 / 2.5e12));
}

TEST(Machine, TheRoofHasNoStepBetweenMixes) {
  const Machine machine = gpu();
  double before = machine.bandwidth(Level::hbm, {.read = 1, .write = 0})->value;
  for (int written = 1; written <= 3000; ++written) {
    const double share = written / 3000.0;
    const double now = machine.bandwidth(Level::hbm, {.read = 1 - share, .write = share})->value;
    // Where a mix counts as the measured one, within 1 % of the way to the next, the roof steps by 1 % of the way.
    EXPECT_NEAR(now / before, 1, 0.01) << share;
    before = now;
  }
}

/// A norm's weights are read besides, one byte of thousands: that does not make its roof that of two ceilings.
TEST(Machine, AlmostAMeasuredMixIsThatMix) {
  const Machine machine = gpu();
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 1001, .write = 1000}), "hbm.copy");
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 1100, .write = 1000}), "hbm.copy + hbm.triad");
}

TEST(Machine, BeyondTheMeasuredMixesTheOutermostApplies) {
  Machine machine;
  machine.ceilings = {bandwidth(Level::hbm, Pattern::triad, 2.5e12), bandwidth(Level::hbm, Pattern::copy, 2e12)};
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 8, .write = 0}), "hbm.triad");
  EXPECT_EQ(roof_of(machine, Level::hbm, {.read = 0, .write = 8}), "hbm.copy");
}

TEST(Machine, ALinkIsHeldAgainstTheDirectionOfItsTraffic) {
  Machine machine;
  machine.ceilings = {bandwidth(Level::pcie, Pattern::d2h, 5e10), bandwidth(Level::pcie, Pattern::h2d, 6e10)};
  EXPECT_EQ(roof_of(machine, Level::pcie, {.read = 8, .write = 0}), "pcie.h2d");
  EXPECT_EQ(roof_of(machine, Level::pcie, {.read = 0, .write = 8}), "pcie.d2h");
  EXPECT_EQ(roof_of(machine, Level::pcie, {.read = 4, .write = 1}), "pcie.h2d") << "directions do not mix";
  EXPECT_EQ(machine.bandwidth(Level::pcie, {.read = 4, .write = 1})->value, 6e10);
}

Machine cpu_with_in_place_roofs() {
  Machine machine;
  machine.device.kind = DeviceKind::cpu;
  machine.ceilings = {
      bandwidth(Level::dram, Pattern::read, 133e9),   bandwidth(Level::dram, Pattern::write, 156e9),
      bandwidth(Level::dram, Pattern::copy, 150e9),   bandwidth(Level::dram, Pattern::triad, 144e9),
      bandwidth(Level::dram, Pattern::update, 158e9), bandwidth(Level::dram, Pattern::accumulate, 152e9),
      bandwidth(Level::l3, Pattern::copy, 300e9)};
  return machine;
}

TEST(Machine, TrafficInPlaceHasRoofsOfItsOwn) {
  const Machine machine = cpu_with_in_place_roofs();
  const Traffic update{.read = 4, .write = 4, .in_place = true}, accumulate{.read = 8, .write = 4, .in_place = true};
  EXPECT_EQ(roof_of(machine, Level::dram, update), "dram.update");
  EXPECT_EQ(roof_of(machine, Level::dram, accumulate), "dram.accumulate");
  // y = f(x, z, w, y): between reads alone and the nearest mix in place.
  const Traffic four_to_one{.read = 16, .write = 4, .in_place = true};
  EXPECT_EQ(roof_of(machine, Level::dram, four_to_one), "dram.accumulate + dram.read");
  EXPECT_DOUBLE_EQ(machine.bandwidth(Level::dram, four_to_one)->value, 1 / (0.4 / 133e9 + 0.6 / 152e9));
  EXPECT_EQ(roof_of(machine, Level::dram, {.read = 4, .write = 0, .in_place = true}), "dram.read");
  EXPECT_EQ(roof_of(machine, Level::dram, {.read = 0, .write = 4, .in_place = true}), "dram.write");
}

TEST(Machine, TrafficElsewhereHasNoRoofInPlace) {
  const Machine machine = cpu_with_in_place_roofs();
  EXPECT_EQ(roof_of(machine, Level::dram, {.read = 4, .write = 4}), "dram.copy");
  EXPECT_EQ(roof_of(machine, Level::dram, {.read = 8, .write = 4}), "dram.triad");
  EXPECT_EQ(roof_of(machine, Level::dram, {.read = 7, .write = 4}), "dram.triad + dram.copy");
  Machine only_in_place;
  only_in_place.ceilings = {bandwidth(Level::dram, Pattern::update, 158e9)};
  EXPECT_EQ(roof_of(only_in_place, Level::dram, {.read = 4, .write = 4}), "");
}

TEST(Machine, WithoutARoofInPlaceTheMixDecides) {
  const Machine machine = cpu_with_in_place_roofs();
  EXPECT_EQ(roof_of(machine, Level::l3, {.read = 4, .write = 4, .in_place = true}), "l3.copy");
  EXPECT_EQ(roof_of(gpu(), Level::hbm, {.read = 8, .write = 4, .in_place = true}), "hbm.triad");
}

TEST(Bound, MemoryBoundKernel) {
  Work work;
  work.flops[Pipe::fp32] = 1e9;
  work.bytes[Level::hbm] = {.read = 4e9, .write = 4e9};
  const Bound bound = bound_of(work, gpu());
  EXPECT_EQ(bound.label, BoundLabel::memory);
  EXPECT_EQ(bound.limiting_ceiling, "hbm.copy");
  EXPECT_DOUBLE_EQ(bound.attainable_time_s, 8e9 / 2e12);
  EXPECT_DOUBLE_EQ(bound.arithmetic_intensity, 0.125);
  EXPECT_DOUBLE_EQ(bound.ridge, 30);
  ASSERT_EQ(bound.resources.size(), 3U);
  EXPECT_EQ(bound.resources[1].ceiling, "fp32");
  EXPECT_DOUBLE_EQ(bound.resources[1].time_s, 1e9 / 60e12);
  EXPECT_DOUBLE_EQ(fraction_of_roof(bound, 5e-3), 0.8);
  EXPECT_DOUBLE_EQ(fraction_of_roof(bound, 2e-3), 2.0) << "a point above its roof must not be clamped";
}

TEST(Bound, ComputeBoundKernelOnSeveralPipes) {
  Work work;  // attention: products on the tensor cores, exponentials beside them
  work.flops[Pipe::tensor_fp16] = 8e12;
  work.uncounted[Pipe::sfu] = 1e9;
  work.bytes[Level::hbm] = {.read = 3e6, .write = 1e6};
  const Bound bound = bound_of(work, gpu());
  EXPECT_EQ(bound.label, BoundLabel::compute);
  EXPECT_EQ(bound.limiting_ceiling, "tensor.fp16");
  EXPECT_DOUBLE_EQ(bound.attainable_time_s, 0.01);
  EXPECT_DOUBLE_EQ(bound.arithmetic_intensity, 2e6) << "what the convention leaves out is not in the intensity";
}

TEST(Bound, UncountedOperationsCanBeTheWall) {
  Work work;
  work.flops[Pipe::tensor_fp16] = 8e9;  // 10 us
  work.uncounted[Pipe::sfu] = 4e9;      // 1 ms
  work.bytes[Level::hbm] = {.read = 1e6, .write = 0};
  EXPECT_EQ(bound_of(work, gpu()).limiting_ceiling, "sfu");
}

TEST(Bound, UncountedOperationsShareTheirPipeWithCountedOnes) {
  Work work;
  work.flops[Pipe::fp32] = 30e12;
  work.uncounted[Pipe::fp32] = 30e12;
  work.bytes[Level::hbm] = {.read = 1, .write = 0};
  EXPECT_DOUBLE_EQ(bound_of(work, gpu()).attainable_time_s, 1.0);
}

TEST(Bound, EmptyLaunchIsLatencyBound) {
  Work work;
  work.flops[Pipe::fp32] = 100;
  work.bytes[Level::hbm] = {.read = 400, .write = 400};
  const Bound bound = bound_of(work, gpu());
  EXPECT_EQ(bound.label, BoundLabel::latency);
  EXPECT_EQ(bound.limiting_ceiling, "launch.graph");
  EXPECT_DOUBLE_EQ(bound.attainable_time_s, 1e-6);
}

TEST(Bound, BalancedOnlyWhereIntervalsOfDifferentResourcesOverlap) {
  Work work;
  work.flops[Pipe::fp32] = 60e9;                       // 1 ms
  work.bytes[Level::hbm] = {.read = 4e9, .write = 0};  // 1 ms
  EXPECT_EQ(bound_of(work, gpu()).label, BoundLabel::balanced);
  work.flops[Pipe::fp32] = 60e9 * 1.01;  // 1 % apart, intervals of 0.1 %
  EXPECT_EQ(bound_of(work, gpu()).label, BoundLabel::compute);
  work.flops[Pipe::fp32] = 60e9 * 0.99;
  EXPECT_EQ(bound_of(work, gpu()).label, BoundLabel::memory);

  Work two_pipes;
  two_pipes.flops[Pipe::fp32] = 60e9;
  two_pipes.flops[Pipe::sfu] = 4e9;
  EXPECT_EQ(bound_of(two_pipes, gpu()).label, BoundLabel::compute) << "two pipes that tie are still compute";
}

TEST(Bound, MissingCeilingsAreListedAndNotGuessed) {
  Work work;
  work.flops[Pipe::tensor_fp8] = 1e12;
  work.bytes[Level::hbm] = {.read = 4e9, .write = 0};
  work.flops[Pipe::sfu] = 1e3;
  const Bound bound = bound_of(work, gpu());
  EXPECT_EQ(bound.resources.front().ceiling, "hbm.read");
  EXPECT_EQ(bound.resources.back().ceiling, "tensor.fp8");
  EXPECT_TRUE(std::isnan(bound.resources.back().time_s));
  EXPECT_TRUE(std::isnan(bound.ridge));

  const Bound nothing = bound_of(work, Machine{});
  EXPECT_EQ(nothing.label, BoundLabel::unknown);
  EXPECT_TRUE(nothing.limiting_ceiling.empty());
  EXPECT_TRUE(std::isnan(nothing.attainable_time_s));
  EXPECT_TRUE(std::isnan(fraction_of_roof(nothing, 1.0)));
}

TEST(Bound, OneRoofAloneDoesNotSayWhatLimits) {
  Work work;
  work.flops[Pipe::tensor_fp8] = 1e12;
  work.bytes[Level::hbm] = {.read = 4e9, .write = 0};
  const Bound no_pipe = bound_of(work, gpu());
  EXPECT_EQ(no_pipe.label, BoundLabel::unknown);
  EXPECT_TRUE(std::isnan(no_pipe.attainable_time_s));
  EXPECT_EQ(missing_roof(no_pipe), "tensor.fp8");

  Work small;
  small.flops[Pipe::tensor_fp8] = 1e6;
  small.bytes[Level::hbm] = {.read = 4e3, .write = 0};
  small.launches = 1;
  EXPECT_EQ(bound_of(small, gpu()).label, BoundLabel::unknown) << "the launch takes longer than the bytes";
  small.flops = {{Pipe::fp32, 1e6}};
  EXPECT_EQ(bound_of(small, gpu()).label, BoundLabel::latency);

  work.flops = {{Pipe::fp32, 60e12}, {Pipe::tensor_fp8, 10}};
  EXPECT_EQ(bound_of(work, gpu()).label, BoundLabel::compute) << "a pipe of few operations decides nothing";
  EXPECT_EQ(missing_roof(bound_of(work, gpu())), "");
  Machine machine = gpu();
  std::erase_if(machine.ceilings, [](const Ceiling& ceiling) { return ceiling.level == Level::hbm; });
  const Bound no_memory = bound_of(work, machine);
  EXPECT_EQ(no_memory.label, BoundLabel::unknown);
  EXPECT_EQ(missing_roof(no_memory), "hbm");
  work.bytes.clear();
  EXPECT_EQ(bound_of(work, machine).label, BoundLabel::compute) << "it moves no bytes there";
  EXPECT_EQ(missing_roof(bound_of(work, Machine{})), "") << "none is known";
}

TEST(Bound, SuspectCeilingMakesTheBoundSuspect) {
  Machine machine = gpu();
  for (Ceiling& ceiling : machine.ceilings) {
    if (ceiling.name == "hbm.read") ceiling.audit.checks = {{"doubling", CheckStatus::fail, "1.4 x"}};
  }
  Work work;
  work.bytes[Level::hbm] = {.read = 4e9, .write = 0};
  EXPECT_TRUE(bound_of(work, machine).suspect);
  EXPECT_FALSE(bound_of(work, machine).provisional);
  work.bytes[Level::hbm] = {.read = 4e9, .write = 4e9};
  EXPECT_FALSE(bound_of(work, machine).suspect);
  for (Ceiling& ceiling : machine.ceilings) {
    if (ceiling.name == "hbm.copy") ceiling.audit.checks = {{"plateau", CheckStatus::provisional, "1 round"}};
  }
  EXPECT_TRUE(bound_of(work, machine).provisional);
}

TEST(Bound, AMixHasBothCeilingsAndIsSuspectByEither) {
  Work work;
  work.flops[Pipe::fp32] = 19e9;
  work.bytes[Level::hbm] = {.read = 19e9, .write = 11e9};
  Machine machine = gpu();
  const double rate = 1 / (0.8 / 2.5e12 + 0.2 / 2e12);
  const Bound bound = bound_of(work, machine);
  EXPECT_EQ(bound.limiting_ceiling, "hbm.triad");
  EXPECT_EQ(bound.resources.front().mixed_with, "hbm.copy");
  EXPECT_DOUBLE_EQ(bound.attainable_time_s, 30e9 / rate);
  EXPECT_DOUBLE_EQ(bound.ridge, 60e12 / rate);
  EXPECT_FALSE(bound.suspect);
  EXPECT_FALSE(bound.resources[1].mixed_with);
  for (const char* name : {"hbm.triad", "hbm.copy", "hbm.read"}) {
    machine = gpu();
    for (Ceiling& ceiling : machine.ceilings) {
      if (ceiling.name == name) ceiling.audit.checks = {{"doubling", CheckStatus::fail, "1.4 x"}};
    }
    EXPECT_EQ(bound_of(work, machine).suspect, std::string(name) != "hbm.read") << name;
  }
}

TEST(Names, MixesInPlaceHaveTheSharesOfThoseOutOfPlace) {
  EXPECT_EQ(write_share(Pattern::update), write_share(Pattern::copy));
  EXPECT_EQ(write_share(Pattern::accumulate), write_share(Pattern::triad));
  for (const auto name : pattern_names()) {
    EXPECT_EQ(is_in_place(*parse_pattern(name)), name == "update" || name == "accumulate") << name;
  }
}

TEST(Audit, OneFailureDecides) {
  Audit audit;
  EXPECT_EQ(audit.status(), CheckStatus::not_run);
  audit.checks = {{"a", CheckStatus::pass, ""}, {"b", CheckStatus::not_run, ""}};
  EXPECT_EQ(audit.status(), CheckStatus::pass);
  audit.checks.push_back({"d", CheckStatus::provisional, ""});
  EXPECT_TRUE(audit.provisional());
  audit.checks.push_back({"c", CheckStatus::fail, ""});
  EXPECT_TRUE(audit.suspect());
  EXPECT_FALSE(audit.provisional());
}

TEST(Intensity, DegenerateWork) {
  Work work;
  EXPECT_TRUE(std::isnan(arithmetic_intensity(work, Level::hbm)));
  work.flops[Pipe::fp32] = 1;
  EXPECT_TRUE(std::isinf(arithmetic_intensity(work, Level::hbm)));
}

TEST(Find, AnElementOrNothing) {
  std::vector<Ceiling> ceilings = {bandwidth(Level::l2, Pattern::read, 2), compute(Pipe::fp32, 3)};
  EXPECT_EQ(find_by(ceilings, &Ceiling::name, "fp32"), &ceilings[1]);
  EXPECT_EQ(find_by(ceilings, &Ceiling::name, "fp64"), nullptr);
  EXPECT_EQ(find_in(ceilings, [](const Ceiling& ceiling) { return ceiling.value < 3; }), &ceilings[0]);
  EXPECT_TRUE(contains(std::vector{1, 2}, 2));
  EXPECT_FALSE(contains(std::vector{1, 2}, 3));
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& name : std::vector<std::string>{"b", "a", "b"}) ++value_of_key(counts, name);
  EXPECT_EQ(counts, (std::vector<std::pair<std::string, int>>{{"b", 2}, {"a", 1}}));
}

TEST(Interval, OfAQuotientTakesTheOtherEndOfTheDivisor) {
  const Interval ratio = quotient({2, 4}, {1, 2});
  EXPECT_EQ(ratio.low, 1);
  EXPECT_EQ(ratio.high, 4);
  const Interval exact = Interval{}.or_exact(5), known = Interval{1, 9}.or_exact(5);
  EXPECT_EQ(exact.low, 5);
  EXPECT_EQ(exact.high, 5);
  EXPECT_EQ(known.low, 1);
  EXPECT_EQ(known.high, 9);
}

}  // namespace
}  // namespace roofline
