// The plan of the counters, made without a GPU: every chip has the quantities that the roofline needs, and the standard
// set fits into four passes on GH100.
#if __has_include(<cupti_range_profiler.h>)

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <iostream>
#include <set>

#include "device/cuda/counter_plan.hpp"
#include "device/cuda/cupti.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

class CounterPlanTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    try {
      static_cast<void>(cupti());
    } catch (const Error& error) {
      GTEST_SKIP() << error.what() << " (" << error.hint() << ")";
    }
  }

  static std::set<std::string> ids(const CounterPlan& plan) {
    std::set<std::string> found;
    for (const PlannedMetric& metric : plan.metrics()) found.emplace(metric.metric->id);
    return found;
  }
};

TEST_P(CounterPlanTest, EveryChipHasWhatTheRooflineNeeds) {
  const CounterPlan plan(GetParam(), CounterSet::standard);
  const std::set<std::string> found = ids(plan);
  for (const char* id : {"time_s", "sm.clock_hz", "dram.read_bytes", "dram.write_bytes", "l2.bytes", "l2.hit_rate",
                         "l1.bytes", "l1.hit_rate", "shared.wavefronts", "occupancy", "tensor.active", "fp64.fma",
                         "fp32.fma", "half.fma", "tensor.mma_bf16_ops", "tensor.mma_fp16_ops", "local.bytes"}) {
    EXPECT_TRUE(found.contains(id)) << id << " on " << GetParam();
  }
  for (const auto& [id, reason] : plan.missing()) {
    EXPECT_FALSE(found.contains(id));
    EXPECT_THAT(reason, testing::StartsWith(GetParam() + " has no ")) << id;
  }
  std::cout << fmt::format("  {}: {} metrics in {} passes, {} missing\n", GetParam(), found.size(), plan.passes(),
                           plan.missing().size());
}

TEST_P(CounterPlanTest, FullHasMoreThanStandard) {
  const CounterPlan standard(GetParam(), CounterSet::standard);
  const CounterPlan full(GetParam(), CounterSet::full);
  EXPECT_GT(full.metrics().size(), standard.metrics().size());
  EXPECT_GT(full.passes(), standard.passes());
  EXPECT_TRUE(ids(full).contains("stall.long_scoreboard"));
}

INSTANTIATE_TEST_SUITE_P(Chips, CounterPlanTest, testing::Values("GA100", "AD102", "GH100", "GB100", "GB202"),
                         [](const auto& chip) { return chip.param; });

using CounterPlanOf = CounterPlanTest;

TEST_F(CounterPlanOf, HopperTakesFourPassesAtMost) {
  const CounterPlan plan("GH100", CounterSet::standard);
  EXPECT_LE(plan.passes(), 4U);
  EXPECT_TRUE(plan.missing().empty());
}

TEST_F(CounterPlanOf, AnUnknownChipIsRefusedInWords) {
  try {
    const CounterPlan plan("ZX81", CounterSet::standard);
    FAIL() << "a plan for a chip that there is not";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("CUPTI error"));
  }
}

}  // namespace
}  // namespace roofline

#endif
