// Two readings with known answers: rates, shares of roofs, counters that wrap or begin anew, reasons.
#include "monitor/rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/wire.hpp"

namespace roofline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Ceiling bandwidth_roof(const std::string& name, Level level, Pattern pattern, double value, double limit) {
  Ceiling roof;
  roof.name = name;
  roof.kind = CeilingKind::bandwidth;
  roof.level = level;
  roof.pattern = pattern;
  roof.value = value;
  roof.limit = Limit{limit, "2 x 3201 MHz x 6016 bit"};
  return roof;
}

Ceiling tensor_roof(Regime regime, double value, double core_hz, double flops_per_cycle) {
  Ceiling roof;
  roof.name = "tensor.bf16";
  roof.kind = CeilingKind::compute;
  roof.pipe = Pipe::tensor_bf16;
  roof.regime = regime;
  roof.value = value;
  roof.clocks.core_hz = core_hz;
  roof.limit = Limit{core_hz * flops_per_cycle, "SMs x FLOP/cycle"};
  return roof;
}

Watched watched_gpu() {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.measured_at = "2026-11-20T00:00:00Z";
  machine.ceilings = {bandwidth_roof("hbm.read", Level::hbm, Pattern::read, 4.7e12, 4.8e12),
                      bandwidth_roof("hbm.copy", Level::hbm, Pattern::copy, 4.3e12, 4.8e12),
                      bandwidth_roof("pcie.h2d", Level::pcie, Pattern::h2d, 50e9, 63e9),
                      tensor_roof(Regime::burst, 900e12, 1750e6, 540672),
                      tensor_roof(Regime::sustained, 850e12, 1600e6, 540672)};
  Watched watched;
  watched.device = "cuda:3";
  watched.info = machine.device;
  watched.info.name = "A GPU";
  watched.info.driver = "580.1";
  watched.roofs = machine;
  return watched;
}

GpuActivity busy_activity() {
  GpuActivity activity;
  activity.seconds = 2;
  activity.samples = 200;
  activity.source = "CUPTI 13.0 on GH100";
  activity.values = {{"tensor_active_fraction", 0.6}, {"dram_read_fraction", 0.3},
                     {"dram_write_fraction", 0.2},    {"busy_fraction", 0.9},
                     {"sm_active_fraction", 0.7},     {"core_hz", 1600e6},
                     {"dram_read_bytes", 3e12},       {"dram_write_bytes", 2e12},
                     {"dram_bytes_per_cycle", 1500},  {"dram_hz", 3.2e9}};
  return activity;
}

GpuReading reading_at(double time_s) {
  GpuReading reading;
  reading.time_s = time_s;
  reading.core_hz = 1500e6;
  reading.power_w = 600;
  reading.limiters = {"power cap"};
  reading.processes.emplace();
  return reading;
}

ByteCheck check_of(double counted, double share) {
  ByteCheck check;
  check.activity_source = "CUPTI 13.0 on GH100";
  check.driver = "580.1";
  check.known = {1e12, 1e12};
  check.counted = MovedBytes{counted * 1e12, 1e12};
  check.share_of_peak = MovedBytes{share * 1e12, share * 1e12};
  return check;
}

const RoofShare* find_share(const DeviceSample& sample, const std::string& resource) {
  for (const RoofShare& share : sample.roofs) {
    if (share.resource == resource) return &share;
  }
  return nullptr;
}

TEST(Advance, CountersThatWrapAndThoseThatBeginAnew) {
  EXPECT_EQ(advance({10, 0}, {25, 0}), 15);
  EXPECT_EQ(advance({250, 256}, {4, 256}), 10);
  EXPECT_EQ(advance({250, 0}, {4, 0}), std::nullopt);
}

TEST(GpuSample, RatesAreOverTheTimeBetweenTheReadings) {
  GpuReading before = reading_at(10), now = reading_at(14);
  before.pcie_rx_bytes = WrappingCounter{1e9, 0};
  now.pcie_rx_bytes = WrappingCounter{21e9, 0};
  before.nvlink_tx_bytes = WrappingCounter{4e9, 5e9};
  now.nvlink_tx_bytes = WrappingCounter{1e9, 5e9};
  before.power_capped_s = 100;
  now.power_capped_s = 101;
  const DeviceSample sample = gpu_sample(watched_gpu(), &before, now);
  EXPECT_EQ(sample.seconds, 4);
  EXPECT_EQ(sample.find("pcie_rx_bytes_per_second"), 5e9);
  EXPECT_EQ(sample.find("nvlink_tx_bytes_per_second"), 0.5e9);
  EXPECT_EQ(sample.find("power_capped_fraction"), 0.25);
  EXPECT_EQ(sample.find("power_watts"), 600);
  ASSERT_NE(find_share(sample, "pcie_rx"), nullptr);
  EXPECT_DOUBLE_EQ(find_share(sample, "pcie_rx")->share(), 0.1);
  EXPECT_THAT(*sample.limited_by, ElementsAre("power cap"));
}

TEST(GpuSample, WithoutAReadingBeforeThereAreNoRates) {
  GpuReading now = reading_at(14);
  now.pcie_rx_bytes = WrappingCounter{21e9, 0};
  now.power_capped_s = 3;
  const DeviceSample sample = gpu_sample(watched_gpu(), nullptr, now);
  EXPECT_FALSE(sample.find("pcie_rx_bytes_per_second"));
  EXPECT_THAT(sample.absent.at("pcie_rx_bytes_per_second"), HasSubstr("two readings"));
  EXPECT_THAT(sample.absent.at("power_capped_fraction"), HasSubstr("two readings"));
  EXPECT_EQ(sample.find("power_watts"), 600);
}

TEST(GpuSample, ACounterThatBeganAnewGivesNoRate) {
  GpuReading before = reading_at(10), now = reading_at(11);
  before.pcie_rx_bytes = WrappingCounter{1e9, 0};
  now.pcie_rx_bytes = WrappingCounter{5, 0};
  before.power_capped_s = 100;
  now.power_capped_s = 0;
  const DeviceSample sample = gpu_sample(watched_gpu(), &before, now);
  EXPECT_FALSE(sample.find("pcie_rx_bytes_per_second"));
  EXPECT_THAT(sample.absent.at("pcie_rx_bytes_per_second"), HasSubstr("reset"));
  EXPECT_FALSE(sample.find("power_capped_fraction"));
}

TEST(GpuSample, TheDriversOwnPcieRateWhereItCountsNoBytes) {
  GpuReading before = reading_at(10), now = reading_at(11);
  now.pcie_rx_bytes_per_second = 3e9;
  EXPECT_EQ(gpu_sample(watched_gpu(), &before, now).find("pcie_rx_bytes_per_second"), 3e9);
}

TEST(GpuSample, BytesAreShownOnlyOnceTheyWereChecked) {
  GpuReading now = reading_at(10);
  now.activity = busy_activity();
  Watched watched = watched_gpu();
  const auto read_rate = [&] { return gpu_sample(watched, nullptr, now).find("dram_read_bytes_per_second"); };
  EXPECT_FALSE(read_rate());
  EXPECT_THAT(gpu_sample(watched, nullptr, now).absent.at("dram_read_bytes_per_second"), HasSubstr("monitor --check"));
  watched.bytes = check_of(1.01, 1.2);
  EXPECT_EQ(read_rate(), 1.5e12);  // 3 TB in 2 s
  watched.bytes = check_of(3.6, 0.99);
  EXPECT_DOUBLE_EQ(read_rate().value(), 0.3 * 1500 * 3.2e9);
  watched.bytes = check_of(3.6, 0.9);
  EXPECT_FALSE(read_rate());
  EXPECT_THAT(gpu_sample(watched, nullptr, now).absent.at("dram_read_bytes_per_second"), HasSubstr("failed the check"));
  watched.bytes = check_of(1, 1);
  watched.bytes->driver = "570.2";
  EXPECT_FALSE(read_rate()) << "another driver's check says nothing";
}

TEST(GpuSample, DramIsHeldAgainstTheRoofOfItsMix) {
  GpuReading now = reading_at(10);
  now.activity = busy_activity();
  Watched watched = watched_gpu();
  // Unchecked: its share of the limit. 40 % of the traffic are writes: nearest to copy's half.
  const DeviceSample unchecked = gpu_sample(watched, nullptr, now);
  ASSERT_NE(find_share(unchecked, "dram"), nullptr);
  EXPECT_EQ(find_share(unchecked, "dram")->roof, "hbm.copy");
  const double roof = 1 / (0.2 / 4.7e12 + 0.8 / 4.3e12);  // of two bytes written among five: 0.8 of the way to the copy
  EXPECT_DOUBLE_EQ(find_share(unchecked, "dram")->share(), 0.5 * 4.8e12 / roof);
  EXPECT_THAT(find_share(unchecked, "dram")->basis, HasSubstr("3201 MHz"));
  EXPECT_DOUBLE_EQ(unchecked.find("dram_active_fraction").value(), 0.5);
  watched.bytes = check_of(1, 1);
  const DeviceSample checked = gpu_sample(watched, nullptr, now);
  EXPECT_DOUBLE_EQ(find_share(checked, "dram")->share(), 2.5e12 / roof);
  EXPECT_THAT(find_share(checked, "dram")->basis, IsEmpty());
}

TEST(GpuSample, TensorIsHeldAgainstTheRegimeOfItsClock) {
  GpuReading now = reading_at(10);
  now.activity = busy_activity();
  const DeviceSample sample = gpu_sample(watched_gpu(), nullptr, now);
  EXPECT_EQ(sample.find("core_clock_hertz"), 1600e6) << "the mean of the samples, not the moment's";
  const RoofShare* share = find_share(sample, "tensor");
  ASSERT_NE(share, nullptr);
  EXPECT_EQ(share->roof, "tensor.bf16 (sustained)");
  EXPECT_DOUBLE_EQ(share->share(), 0.6 * 1600e6 * 540672 / 850e12);
  EXPECT_THAT(share->basis, HasSubstr("at most"));
}

TEST(GpuSample, WithoutACalibrationThereAreFiguresAndNoShares) {
  GpuReading now = reading_at(10);
  now.activity = busy_activity();
  Watched watched = watched_gpu();
  watched.roofs.reset();
  const DeviceSample sample = gpu_sample(watched, nullptr, now);
  EXPECT_THAT(sample.roofs, IsEmpty());
  EXPECT_THAT(sample.absent.at("roofs"), HasSubstr("roofline calibrate --device cuda:3"));
  EXPECT_EQ(sample.find("tensor_active_fraction"), 0.6);
}

TEST(GpuSample, EveryQuantityIsThereOrSaysWhyNot) {
  GpuReading before = reading_at(10), now = reading_at(11);
  now = GpuReading{};
  now.time_s = 11;
  now.absent = {{"nvml", "no NVML here"}, {"activity", "not permitted"}};
  const DeviceSample sample = gpu_sample(watched_gpu(), &before, now);
  constexpr const char* kOfGpus[] = {"core_clock_hertz",           "power_watts",
                                     "pcie_rx_bytes_per_second",   "energy_joules",
                                     "nvlink_tx_bytes_per_second", "thermal_capped_fraction",
                                     "memory_used_bytes"};
  for (const char* name : kOfGpus) EXPECT_EQ(sample.absent.at(name), "no NVML here") << name;
  for (const char* name : {"tensor_active_fraction", "dram_active_fraction", "dram_read_bytes_per_second"}) {
    EXPECT_EQ(sample.absent.at(name), "not permitted") << name;
  }
  EXPECT_EQ(sample.absent.at("limited_by"), "no NVML here");
  for (const Quantity& quantity : quantities()) {
    EXPECT_FALSE(sample.values.contains(quantity.name) && sample.absent.contains(quantity.name)) << quantity.name;
  }
}

TEST(GpuSample, EveryValueIsInTheTable) {
  GpuReading before = reading_at(10), now = reading_at(11);
  now.activity = busy_activity();
  for (const DeviceSample& sample :
       {gpu_sample(watched_gpu(), &before, now), cpu_sample(watched_gpu(), nullptr, HostReading{})}) {
    for (const auto& entry : sample.values) {
      const auto known = std::any_of(quantities().begin(), quantities().end(),
                                     [&](const Quantity& quantity) { return quantity.name == entry.first; });
      EXPECT_TRUE(known) << entry.first;
    }
  }
}

TEST(CpuSample, SumsOfAllCpusBecomeShares) {
  HostReading before, now;
  before.time_s = 5;
  now.time_s = 7;
  before.cpus = now.cpus = 4;
  before.busy_s = 100;
  now.busy_s = 106;  // of 8 s
  before.stolen_s = 1;
  now.stolen_s = 1.8;
  before.throttled_s = 0;
  now.throttled_s = 1;
  before.energy_j = 1000;
  now.energy_j = 1300;
  before.memory_pressure_s = 2;
  now.memory_pressure_s = 2.5;
  now.absent["dram"] = "no such counters";
  Watched watched;
  watched.device = "cpu";
  const DeviceSample sample = cpu_sample(watched, &before, now);
  EXPECT_DOUBLE_EQ(sample.find("busy_fraction").value(), 0.75);
  EXPECT_DOUBLE_EQ(sample.find("stolen_fraction").value(), 0.1);
  EXPECT_DOUBLE_EQ(sample.find("throttled_fraction").value(), 0.5);
  EXPECT_EQ(sample.find("power_watts"), 150);
  EXPECT_EQ(sample.find("memory_pressure_fraction"), 0.25);
  EXPECT_EQ(sample.absent.at("dram_read_bytes_per_second"), "no such counters");
}

TEST(CpuSample, MemoryTrafficAgainstItsRoof) {
  Watched watched;
  watched.device = "cpu";
  watched.roofs.emplace();
  watched.roofs->ceilings = {bandwidth_roof("dram.copy", Level::dram, Pattern::copy, 20e9, 25e9),
                             bandwidth_roof("dram.read", Level::dram, Pattern::read, 24e9, 25e9)};
  HostReading before, now;
  now.time_s = 1;
  before.dram_read_bytes = before.dram_write_bytes = 0;
  now.dram_read_bytes = 5e9;
  now.dram_write_bytes = 5e9;
  const DeviceSample sample = cpu_sample(watched, &before, now);
  ASSERT_NE(find_share(sample, "dram"), nullptr);
  EXPECT_EQ(find_share(sample, "dram")->roof, "dram.copy");
  EXPECT_DOUBLE_EQ(find_share(sample, "dram")->share(), 0.5);
}

TEST(SilentSample, HasNothingButTheReason) {
  const DeviceSample sample = silent_sample(watched_gpu(), "it is gone");
  EXPECT_THAT(sample.values, IsEmpty());
  EXPECT_EQ(sample.absent.at("device"), "it is gone");
}

TEST(Wire, AReadingComesAsItWas) {
  GpuReading reading = reading_at(12.25);
  reading.pcie_rx_bytes = WrappingCounter{5, 4294967296};
  reading.activity = busy_activity();
  reading.activity->gap = true;
  reading.processes = {{4711, "python", 1e9, 0.5}, {12, "", {}, {}}};
  reading.absent["fan_fraction"] = "not supported";
  const GpuReading read = reading_from_text(reading_to_text(reading));
  EXPECT_EQ(read.time_s, 12.25);
  EXPECT_EQ(read.power_w, 600);
  EXPECT_EQ(read.temperature_c, std::nullopt);
  EXPECT_EQ(read.pcie_rx_bytes->modulus, 4294967296);
  EXPECT_EQ(read.activity->values, reading.activity->values);
  EXPECT_TRUE(read.activity->gap);
  EXPECT_EQ(read.activity->source, reading.activity->source);
  EXPECT_EQ(read.limiters, reading.limiters);
  ASSERT_EQ(read.processes->size(), 2U);
  EXPECT_EQ(read.processes->at(0).name, "python");
  EXPECT_EQ(read.processes->at(0).sm_fraction, 0.5);
  EXPECT_EQ(read.processes->at(1).memory_bytes, std::nullopt);
  EXPECT_EQ(read.absent, reading.absent);
  EXPECT_ANY_THROW(reading_from_text("{}"));
  EXPECT_ANY_THROW(reading_from_text("nonsense"));
}

TEST(ByteCheck, WhatIsNearInBothDirectionsIsTrusted) {
  EXPECT_EQ(check_of(1.02, 1).trusted(), CountedBy::sums);
  EXPECT_EQ(check_of(1.04, 1).trusted(), CountedBy::share_of_peak);
  EXPECT_EQ(check_of(0.9, 0.9).trusted(), std::nullopt);
  EXPECT_EQ(ByteCheck{}.trusted(), std::nullopt);
}

TEST(ByteCheck, IsKeptAndReadAgain) {
  ByteCheck check = check_of(1, 0.5);
  check.checked_at = "2026-11-23T05:00:00Z";
  const auto read = byte_check_from_json(byte_check_to_json(check));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->driver, "580.1");
  EXPECT_EQ(read->known.write, 1e12);
  EXPECT_EQ(read->share_of_peak->read, 0.5e12);
  EXPECT_EQ(read->trusted(), CountedBy::sums);
  EXPECT_FALSE(byte_check_from_json(""));
  EXPECT_FALSE(byte_check_from_json("{\"schema\": \"roofline.machine/1\"}"));
}

}  // namespace
}  // namespace roofline
