// Every compute probe of a GPU: passes its audit, uses the instruction that it names, and reaches on Hopper what the
// chip is known to do at the clock of the measurement.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <iostream>
#include <map>

#include "calibrate/measure_probe.hpp"
#include "host/host.hpp"
#include "quick_audit.hpp"

namespace roofline {
namespace {

class ComputeProbeTest : public GpuTest {
 protected:
  /// Every compute ceiling of this GPU, measured in burst once for all tests.
  static const std::map<std::string, Ceiling>& ceilings() {
    static const std::map<std::string, Ceiling> all = [] {
      std::map<std::string, Ceiling> measured;
      for (const Probe* probe : all_probes(DeviceKind::cuda)) {
        if (probe->kind != CeilingKind::compute || probe->sweep) continue;
        const double start_s = wall_seconds();
        const ProbeOutcome outcome =
            measure_probe(*probe, gpu(), Effort{.quick = false, .sustain_s = 0}, [] { return false; });
        if (const auto* reason = std::get_if<std::string>(&outcome)) {
          std::cout << "  " << probe->name << ": " << *reason << '\n';
        } else {
          measured.emplace(probe->name, std::get<MeasuredProbe>(outcome).ceiling);
          std::cout << fmt::format("  {}: {:.2f} s\n", probe->name, wall_seconds() - start_s);
        }
      }
      return measured;
    }();
    return all;
  }
};

TEST_F(ComputeProbeTest, EveryOnePassesItsAudit) {
  ASSERT_FALSE(ceilings().empty());
  for (const auto& [name, ceiling] : ceilings()) {
    std::cout << fmt::format("  {:22} {:8.2f} T/s {:6.2f} % {:5.0f} MHz  {}, {}, {} samples\n", name,
                             ceiling.value * 1e-12, ceiling.limit ? 100 * ceiling.value / ceiling.limit->value : 0,
                             ceiling.clocks.core_hz.value_or(0) * 1e-6, ceiling.instruction, ceiling.variant,
                             ceiling.samples);
    for (const Check& check : ceiling.audit.checks) {
      // References are sampled for 0.4 s only: on some cards the clock has not settled by then.
      const bool of_the_clock = check.name.starts_with("interval") || check.name.starts_with("steady");
      if (ceiling.role == Role::reference && of_the_clock) continue;
      EXPECT_NE(check.status, CheckStatus::fail) << name << ": " << check.name << ": " << check.detail;
    }
  }
}

TEST_F(ComputeProbeTest, TheInstructionStandsInTheMachineCode) {
  for (const auto& [name, ceiling] : ceilings()) {
    if (ceiling.origin == "library GEMM") continue;
    const Check* const check = check_of(ceiling, "instruction");
    ASSERT_NE(check, nullptr) << name;
    EXPECT_FALSE(ceiling.instruction.empty()) << name;
    if (gpu().properties().major == 9) {
      EXPECT_EQ(check->status, CheckStatus::pass) << name << ": " << check->detail;
    }
  }
}

TEST_F(ComputeProbeTest, TensorOperandsAreRandomUnlessTheNameSaysZeros) {
  for (const auto& [name, ceiling] : ceilings()) {
    if (name.find("tensor.") == std::string::npos) continue;
    const Check* const check = check_of(ceiling, "operands");
    EXPECT_EQ(check != nullptr && check->status == CheckStatus::pass, name.find(".zeros") == std::string::npos) << name;
  }
}

// Shares of the clock-derived limit that an H200 is known to reach.
TEST_F(ComputeProbeTest, HopperReachesWhatItIsKnownFor) {
  if (gpu().properties().major != 9) GTEST_SKIP() << "not a Hopper GPU";
  const std::map<std::string, double> least = {{"fp32", 0.97},        {"fp64", 0.98},        {"fp16", 0.95},
                                               {"bf16", 0.95},        {"int32", 0.95},       {"sfu", 0.95},
                                               {"tensor.fp64", 0.95}, {"tensor.tf32", 0.95}, {"tensor.fp16", 0.95},
                                               {"tensor.bf16", 0.95}, {"tensor.fp8", 0.95},  {"tensor.int8", 0.95}};
  for (const auto& [name, share] : least) {
    const auto found = ceilings().find(name);
    ASSERT_NE(found, ceilings().end()) << name;
    ASSERT_TRUE(found->second.limit.has_value()) << name;
    EXPECT_GE(found->second.value, share * found->second.limit->value) << name;
    EXPECT_EQ(found->second.below_peak, "") << name;
  }
}

TEST_F(ComputeProbeTest, TheSlowerPathSaysSo) {
  for (const auto& [name, ceiling] : ceilings()) {
    const std::size_t suffix = name.find(".mma_sync");
    if (suffix == std::string::npos) continue;
    EXPECT_EQ(ceiling.role, Role::reference) << name;
    EXPECT_NE(ceiling.below_peak, "") << name;
    const auto roof = ceilings().find(name.substr(0, suffix));
    if (roof != ceilings().end()) {
      EXPECT_LT(ceiling.value, roof->second.value) << name;
    }
  }
}

}  // namespace
}  // namespace roofline
