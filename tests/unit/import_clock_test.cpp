// Launches that ncu replayed at a locked clock: their cycles are their own, and the clock of their roof is another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "import/ncu_metrics.hpp"
#include "import/replay_clock.hpp"
#include "import/roofs.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/roof_share.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

struct ClockedMetric {
  std::string name, unit, value;
};

/// A launch of 1 ms.
std::string clocked_launch(std::vector<ClockedMetric> metrics) {
  metrics.push_back({"gpu__time_duration.sum", "ns", "1000000"});
  std::string names = "ID,Kernel Name,Block Size,Grid Size", units = ",,,",
              values = "0,k,\"(256, 1, 1)\",\"(64, 1, 1)\"";
  for (const ClockedMetric& metric : metrics) {
    names += "," + metric.name;
    units += "," + metric.unit;
    values += "," + metric.value;
  }
  return names + "\n" + units + "\n" + values + "\n";
}

/// An A100 whose roofs come from attributes: 1410 MHz.
Machine a100_at_1410_mhz() {
  return data_sheet_machine({.name = "NVIDIA A100-SXM4-80GB",
                             .compute_major = 8,
                             .compute_minor = 0,
                             .sms = 108,
                             .core_hz = 1.41e9,
                             .memory_hz = 1.593e9,
                             .bus_bits = 5120});
}

Report report_at_clock(const std::vector<ClockedMetric>& metrics) {
  const TemporaryFile file("a.csv", clocked_launch(metrics));
  return report_of_file(file.path(), a100_at_1410_mhz());
}

Quantities quantities_at_clock(const std::vector<ClockedMetric>& metrics) {
  const Report report = report_at_clock(metrics);
  const Point& point = report.points.at(0);
  return quantities_of(point, report.machine, &*point.counters);
}

TEST(ReplayClock, ActivityIsOfTheCyclesOfTheLaunch) {
  const ClockedMetric active = {"sm__cycles_active.avg", "cycle", "733000"};
  const std::vector<ClockedMetric> spellings[] = {
      {active, {"sm__cycles_elapsed.avg", "cycle", "766000"}},
      {active, {"sm__cycles_elapsed.avg.per_second", "cycle/nsecond", "0.766"}},
      {active, {"gpc__cycles_elapsed.max", "cycle", "766000"}},
      {active, {"gpc__cycles_elapsed.avg.per_second", "Mhz", "766"}}};
  for (const auto& metrics : spellings) {
    const Quantities quantities = quantities_at_clock(metrics);
    EXPECT_NEAR(quantities.at("sm.active.share"), 0.957, 0.001) << metrics[1].name;
    EXPECT_NEAR(quantities.at("replay.clock"), 766e6, 1e3) << metrics[1].name;
  }
  const Quantities idle = quantities_at_clock({{"sm__cycles_active.avg", "cycle", "249000"}, spellings[0][1]});
  EXPECT_NEAR(idle.at("sm.active.share"), 0.325, 0.001);
  EXPECT_FALSE(quantities_at_clock({active}).contains("sm.active.share")) << "the clock is not in the file";
}

/// Multiply-adds at that part of the fp32 rate of a clock.
std::vector<ClockedMetric> products_at(double hz, double part) {
  constexpr double kFmaPerCycle = 108 * 64, kSeconds = 1e-3;
  const std::string op = "smsp__sass_thread_inst_executed_op_";
  return {{op + "fadd_pred_on.sum", "inst", "0"},
          {op + "fmul_pred_on.sum", "inst", "0"},
          {op + "ffma_pred_on.sum", "inst", fmt::format("{:.0f}", part * kFmaPerCycle * kSeconds * hz)},
          {"sm__inst_executed_pipe_tensor.sum", "inst", "0"},
          {"dram__bytes_read.sum", "byte", "1000000"},
          {"dram__bytes_write.sum", "byte", "1000000"},
          {"sm__cycles_elapsed.avg.per_second", "hz", fmt::format("{:.0f}", hz)}};
}

std::vector<std::string> rules_at_clock(double hz, double part) {
  std::vector<std::string> rules;
  for (const Advice& advice : diagnose(quantities_at_clock(products_at(hz, part)), DeviceKind::cuda)) {
    rules.emplace_back(advice.rule);
  }
  return rules;
}

TEST(ReplayClock, IsStatedBesideThatOfTheRoof) {
  EXPECT_THAT(rules_at_clock(766e6, 0.95), Contains("replay-clock-limit"));
  EXPECT_THAT(rules_at_clock(766e6, 0.5), AllOf(Contains("replay-clock"), Not(Contains("replay-clock-limit"))));
  EXPECT_THAT(rules_at_clock(1.41e9, 0.5), Not(Contains("replay-clock")));
  const Report locked = report_at_clock(products_at(766e6, 0.95)), full = report_at_clock(products_at(1.41e9, 0.95));
  EXPECT_THAT(note_of_replay_clocks(locked), testing::HasSubstr("766 MHz"));
  EXPECT_THAT(locked.notes, Contains(note_of_replay_clocks(locked)));
  EXPECT_THAT(note_of_replay_clocks(full), IsEmpty());
  EXPECT_NEAR(locked.points.at(0).fraction_of_roof(), 0.95 * 766 / 1410, 1e-3) << "the roof is not scaled";
  EXPECT_EQ(replay_clock_hz(locked.points.at(0)), 766e6);
}

TEST(ReplayClock, IsNotThatOfTracedTimes) {
  Report report = report_at_clock(products_at(766e6, 0.95));
  report.points.at(0).profiled->time_source = TimeSource::traced;
  EXPECT_FALSE(replay_clock_hz(report.points.at(0)));
  EXPECT_THAT(note_of_replay_clocks(report), IsEmpty());
}

}  // namespace
}  // namespace roofline
