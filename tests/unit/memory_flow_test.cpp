// Bytes by memory level: known counts, and what is not known.
#include "report/memory_flow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "render/html/memory_chart.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;
using testing::Not;

Machine machine() {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  const auto add = [&](const char* name, Level level, Pattern pattern, double value) {
    Ceiling ceiling;
    ceiling.name = name;
    ceiling.kind = CeilingKind::bandwidth;
    ceiling.level = level;
    ceiling.pattern = pattern;
    ceiling.value = value;
    machine.ceilings.push_back(ceiling);
  };
  add("hbm.read", Level::hbm, Pattern::read, 4e12);
  add("hbm.copy", Level::hbm, Pattern::copy, 3e12);
  add("l2.read", Level::l2, Pattern::read, 10e12);
  add("l1.read", Level::l1, Pattern::read, 30e12);
  add("shared.read", Level::shared, Pattern::read, 30e12);
  return machine;
}

/// A kernel of a millisecond.
Point point(const std::map<std::string, double>& values) {
  Point point;
  point.workload.label = "gather <8>";
  const std::vector<double> times(20, 1e-3);
  point.time = summarize(times);
  point.counters.emplace();
  for (const auto& [id, value] : values) point.counters->values[id] = value;
  return point;
}

TEST(MemoryFlow, HasTheRatesAndRoofsOfEachLevel) {
  const Point gather = point({{"dram.read_bytes", 1e9},
                              {"dram.write_bytes", 1e9},
                              {"l2.bytes", 4e9},
                              {"l1.bytes", 8e9},
                              {"l2.hit_rate", 0.6},
                              {"l1.hit_rate", 0.5},
                              {"global.load_sectors", 16e6},
                              {"global.load_instructions", 1e6},
                              {"global.load_bytes", 128e6}});
  const std::vector<MemoryFlow> flows = memory_flows(gather, machine());
  ASSERT_EQ(flows.size(), 3U) << "nothing crossed shared memory";
  EXPECT_EQ(flows[0].level, Level::l1);
  EXPECT_DOUBLE_EQ(flows[0].rate, 8e12);
  EXPECT_NEAR(flows[0].share(), 8.0 / 30, 1e-9);
  EXPECT_DOUBLE_EQ(flows[0].sectors, 16);
  EXPECT_DOUBLE_EQ(flows[0].excess, 4);
  EXPECT_DOUBLE_EQ(flows[0].hit_rate, 0.5);
  EXPECT_EQ(flows[1].level, Level::l2);
  EXPECT_TRUE(std::isnan(flows[1].sectors));
  EXPECT_EQ(flows[2].ceiling, "hbm.copy") << "it reads as much as it writes";
  EXPECT_DOUBLE_EQ(flows[2].read, 1e9);
  EXPECT_NEAR(flows[2].share(), 2.0 / 3, 1e-9);
  EXPECT_THAT(remark_on(flows[0]), testing::AllOf(HasSubstr("50"), HasSubstr("16 sectors"), HasSubstr("4×")));
}

TEST(MemoryFlow, BankConflictsAreMovedOverAsked) {
  const std::vector<MemoryFlow> flows = memory_flows(
      point({{"shared.wavefronts", 32e6}, {"shared.bank_conflicts", 31e6}, {"global.store_instructions", 0}}),
      machine());
  ASSERT_EQ(flows.size(), 1U);
  EXPECT_EQ(flows[0].level, Level::shared);
  EXPECT_NEAR(flows[0].excess, 32, 1e-6);
}

TEST(MemoryFlow, OfWhatIsNotCountedThereIsNone) {
  EXPECT_TRUE(memory_flows(point({}), machine()).empty());
  Point untimed = point({{"l2.bytes", 1e9}});
  untimed.time.reset();
  EXPECT_TRUE(memory_flows(untimed, machine()).empty());
  Machine cpu = machine();
  cpu.device.kind = DeviceKind::cpu;
  EXPECT_TRUE(memory_flows(point({{"l2.bytes", 1e9}}), cpu).empty());
  const std::vector<MemoryFlow> roofless = memory_flows(point({{"l2.bytes", 1e9}}), [] {
    Machine bare;
    bare.device.kind = DeviceKind::cuda;
    return bare;
  }());
  ASSERT_EQ(roofless.size(), 1U);
  EXPECT_TRUE(roofless[0].ceiling.empty());
  EXPECT_TRUE(std::isnan(roofless[0].share()));
}

TEST(MemoryFlow, IsAChartOfThePage) {
  Report report;
  report.machine = machine();
  report.points = {point({{"l2.bytes", 4e9}, {"l2.hit_rate", 0.6}})};
  const std::string html = html_memory_charts(report);
  EXPECT_THAT(html,
              testing::AllOf(HasSubstr("<svg"), HasSubstr("4 GB"), HasSubstr("4 TB/s"), HasSubstr("40.0 % of l2.read"),
                             HasSubstr("60.0 % hits"), Not(HasSubstr("HBM")), Not(HasSubstr("<8>"))));
  report.points = {point({})};
  EXPECT_EQ(html_memory_charts(report), "");
}

}  // namespace
}  // namespace roofline
