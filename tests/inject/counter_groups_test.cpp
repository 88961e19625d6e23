// The real CUPTI plans for chips that are not here; skipped where it is not installed.
#include "inject/counter_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "cupti/library.hpp"
#include "device/cuda/counter_metrics.hpp"
#include "model/error.hpp"

namespace roofline::inject {
namespace {

std::vector<Quantity> standard_set() {
  std::vector<Quantity> quantities;
  for (const CounterMetric& metric : counter_metrics()) {
    if (metric.set != CounterSet::standard) continue;
    Quantity& quantity = quantities.emplace_back();
    quantity.id = metric.id;
    quantity.scale = metric.scale;
    for (const std::string_view name : metric.candidates) {
      if (!name.empty()) quantity.candidates.emplace_back(name);
    }
  }
  return quantities;
}

/// nullptr: not installed.
const CuptiProfiler* installed() {
  static const auto found = [] {
    const CuptiLibrary library = find_cupti(13, [](void* handle) { return CuptiProfiler(handle).complete(); });
    return library.handle != nullptr ? std::make_unique<CuptiProfiler>(library.handle) : nullptr;
  }();
  return found.get();
}

TEST(CounterGroups, TheListIsReadLineByLine) {
  std::istringstream file("dram.read_bytes 1 dram__bytes_read.sum dram__bytes_op_read.sum\n\nhit 0.01 rate.pct\n");
  const std::vector<Quantity> quantities = read_quantities(file);
  ASSERT_EQ(quantities.size(), 2U);
  EXPECT_EQ(quantities[0].id, "dram.read_bytes");
  EXPECT_THAT(quantities[0].candidates, testing::ElementsAre("dram__bytes_read.sum", "dram__bytes_op_read.sum"));
  EXPECT_EQ(quantities[1].scale, 0.01);
}

struct Expected {
  const char* chip;
  std::size_t most_groups;
};

class OfAChip : public testing::TestWithParam<Expected> {};

TEST_P(OfAChip, TheStandardSetTakesFewGroupsOfOnePass) {
  const CuptiProfiler* const profiler = installed();
  if (profiler == nullptr) GTEST_SKIP() << "CUPTI is not installed";
  const std::vector<Quantity> quantities = standard_set();
  const CounterGroups chip(*profiler, GetParam().chip, {}, quantities);

  RecordProperty("groups", static_cast<int>(chip.groups().size()));
  EXPECT_LE(chip.groups().size(), GetParam().most_groups);
  for (const CounterGroup& group : chip.groups()) {
    EXPECT_EQ(group.names.size(), group.scales.size());
    ROOFLINE_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
    passes.configImageSize = group.config.size();
    std::vector<std::uint8_t> config = group.config;
    passes.pConfigImage = config.data();
    ASSERT_EQ(profiler->passes(&passes), CUPTI_SUCCESS);
    EXPECT_EQ(passes.numOfPasses, 1U);
    for (const std::string& name : group.names) {
      EXPECT_EQ(name.find("_sass_") != std::string::npos, group.instrumented) << name;
    }
  }
  std::size_t counted = 0;
  for (std::size_t i = 0; i < quantities.size(); ++i) {
    const CounterGroups::Place& place = chip.places()[i];
    if (place.name.empty()) continue;
    ++counted;
    EXPECT_THAT(quantities[i].candidates, testing::Contains(place.name));
    EXPECT_EQ(chip.groups().at(place.group).names.at(place.index), place.name);
    EXPECT_EQ(chip.groups().at(place.group).scales.at(place.index), quantities[i].scale);
  }
  std::size_t all = 0;
  for (const CounterGroup& group : chip.groups()) all += group.names.size();
  EXPECT_EQ(counted, all);
  const auto named = [&](const char* id) {
    const auto quantity = std::find_if(quantities.begin(), quantities.end(), [&](const auto& q) { return q.id == id; });
    return chip.places()[static_cast<std::size_t>(quantity - quantities.begin())].name;
  };
  EXPECT_EQ(named("l2.hit_rate"), "") << "takes two passes even alone";
  EXPECT_EQ(named("dram.read_bytes").substr(0, 11), "dram__bytes");
  EXPECT_NE(named("fp32.fma"), "");
  EXPECT_NE(named("l2.bytes"), "");
}

INSTANTIATE_TEST_SUITE_P(Chips, OfAChip,
                         testing::Values(Expected{"GH100", 4}, Expected{"GA100", 5}, Expected{"AD102", 5},
                                         Expected{"GB202", 6}),
                         [](const auto& test) { return std::string(test.param.chip); });

TEST(CounterGroups, AnUnknownChipIsRefused) {
  const CuptiProfiler* const profiler = installed();
  if (profiler == nullptr) GTEST_SKIP() << "CUPTI is not installed";
  EXPECT_THROW(CounterGroups(*profiler, "XX999", {}, standard_set()), Error);
}

}  // namespace
}  // namespace roofline::inject
