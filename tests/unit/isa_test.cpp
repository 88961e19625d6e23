// Instruction-set levels: what the environment may do to them, and that every usable one really runs.
#include "device/cpu/isa.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "model/error.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

/// Sets ROOFLINE_ISA for a scope.
class IsaVariable {
 public:
  explicit IsaVariable(const char* value) {
    const char* old = std::getenv("ROOFLINE_ISA");
    had_ = old != nullptr;
    if (had_) old_ = old;
    if (value != nullptr) {
      setenv("ROOFLINE_ISA", value, 1);
    } else {
      unsetenv("ROOFLINE_ISA");
    }
  }
  ~IsaVariable() {
    if (had_) {
      setenv("ROOFLINE_ISA", old_.c_str(), 1);
    } else {
      unsetenv("ROOFLINE_ISA");
    }
  }
  IsaVariable(const IsaVariable&) = delete;
  IsaVariable& operator=(const IsaVariable&) = delete;

 private:
  bool had_ = false;
  std::string old_;
};

std::string baseline() { return std::string(to_string(Isa::baseline)); }

TEST(Isa, NamesAreTheOnesInFiles) {
  EXPECT_TRUE(baseline() == "sse2" || baseline() == "neon");
  EXPECT_EQ(to_string(Isa::avx2), "avx2");
  EXPECT_EQ(to_string(Isa::avx512), "avx512");
}

TEST(Isa, UsableLevelsRiseFromTheBaselineToTheBest) {
  const IsaVariable unset(nullptr);
  const std::span<const Isa> usable = usable_isas();
  ASSERT_FALSE(usable.empty());
  EXPECT_EQ(usable.front(), Isa::baseline);
  EXPECT_EQ(usable.back(), best_isa());
}

TEST(Isa, AgreesWithTheCpu) {
#if defined(__x86_64__)
  // Every CPU with AVX2 has F16C, which Clang 14 can't be asked for.
  EXPECT_EQ(cpu_isa() >= Isa::avx2,
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"));
#else
  EXPECT_EQ(cpu_isa(), Isa::baseline);
#endif
}

// Tests of every level are else tests of some.
TEST(Isa, ThisBuildHasAllLevelsOfThisCpu) { EXPECT_EQ(lacking_levels(cpu_isa(), kHighestIsa), ""); }

TEST(Isa, WhatTheBuildLacksIsSaid) {
  EXPECT_EQ(lacking_levels(Isa::avx2, Isa::avx2), "");
  EXPECT_EQ(lacking_levels(Isa::avx2, Isa::avx512), "");
  EXPECT_EQ(lacking_levels(Isa::avx512, Isa::avx2),
            "no kernels for avx512, which this CPU supports: build with -DROOFLINE_CPU_LEVELS=ALL");
}

TEST(Isa, ALevelThatTheBuildLacksIsNotPicked) {
  EXPECT_EQ(isa_in_use(Isa::avx512, Isa::avx512, ""), Isa::avx512);
  EXPECT_EQ(isa_in_use(Isa::avx512, Isa::avx2, ""), Isa::avx2);
  EXPECT_EQ(isa_in_use(Isa::avx2, Isa::avx512, ""), Isa::avx2);
  EXPECT_EQ(isa_in_use(Isa::avx512, Isa::baseline, ""), Isa::baseline);
  EXPECT_EQ(isa_in_use(Isa::avx512, Isa::avx2, baseline()), Isa::baseline);
  EXPECT_EQ(isa_in_use(Isa::avx512, Isa::avx2, "avx2"), Isa::avx2);
}

TEST(Isa, WantingALevelThatTheBuildLacksIsAMistakeOfTheUser) {
  try {
    isa_in_use(Isa::avx512, Isa::avx2, "avx512");
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), mentions("'avx512'"));
    EXPECT_NE(error.hint().find("-DROOFLINE_CPU_LEVELS=ALL"), std::string::npos);
  }
  // A CPU that could not run it would not have been given it either way.
  EXPECT_EQ(isa_in_use(Isa::avx2, Isa::avx2, "avx512"), Isa::avx2);
  EXPECT_EQ(isa_in_use(Isa::baseline, Isa::avx2, "avx512"), Isa::baseline);
}

TEST(Isa, TheEnvironmentLowersTheLevel) {
  const IsaVariable lowered(baseline().c_str());
  EXPECT_EQ(best_isa(), Isa::baseline);
  EXPECT_EQ(usable_isas().size(), 1U);
}

TEST(Isa, TheEnvironmentNeverRaisesTheLevel) {
  Isa best = Isa::baseline;
  {
    const IsaVariable unset(nullptr);
    best = best_isa();
  }
  const IsaVariable highest(std::string(to_string(kHighestIsa)).c_str());
  EXPECT_EQ(best_isa(), best);
  EXPECT_EQ(isa_in_use(Isa::avx2, Isa::avx512, "avx512"), Isa::avx2);
}

TEST(Isa, AnUnknownLevelIsAMistakeOfTheUser) {
  const IsaVariable unknown("mmx");
  try {
    best_isa();
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("mmx"), std::string::npos);
    EXPECT_NE(error.hint().find("avx2"), std::string::npos);
  }
}

#if defined(__x86_64__) && defined(__linux__)
TEST(DotUnit, AgreesWithTheKernel) {
  const IsaVariable unset(nullptr);
  std::string flags;
  std::ifstream cpuinfo("/proc/cpuinfo");
  while (std::getline(cpuinfo, flags) && !flags.starts_with("flags")) {
  }
  flags += ' ';
  EXPECT_EQ(has(DotUnit::avx512_bf16), flags.find(" avx512_bf16 ") != std::string::npos);
  EXPECT_EQ(has(DotUnit::avx512_vnni), flags.find(" avx512_vnni ") != std::string::npos);
  EXPECT_EQ(has(DotUnit::avx_vnni), flags.find(" avx_vnni ") != std::string::npos);
}
#endif

#if defined(__aarch64__)
TEST(DotUnit, AgreesWithTheKernel) {
  std::string features;
  std::ifstream cpuinfo("/proc/cpuinfo");
  while (std::getline(cpuinfo, features) && !features.starts_with("Features")) {
  }
  if (features.empty()) GTEST_SKIP() << "/proc/cpuinfo is that of another architecture: the CPU is emulated";
  features += ' ';
  EXPECT_EQ(has(DotUnit::neon_dot), features.find(" asimddp ") != std::string::npos);
}
#endif

TEST(DotUnit, SaysWhatIsMissing) {
  for (const DotUnit unit : {DotUnit::avx512_bf16, DotUnit::avx512_vnni, DotUnit::avx_vnni, DotUnit::neon_dot}) {
    EXPECT_EQ(missing(unit, best_isa()).has_value(), !has(unit));
  }
  EXPECT_THAT(missing(DotUnit::avx512_bf16, Isa::avx2).value(), mentions("AVX512_BF16", "avx2"));
  EXPECT_THAT(missing(DotUnit::avx_vnni, Isa::baseline).value(), mentions("AVX-VNNI", baseline()));
}

TEST(DotUnit, NeedsTheRegistersOfTheLevel) {
  const IsaVariable lowered(baseline().c_str());
  for (const DotUnit unit : {DotUnit::avx512_bf16, DotUnit::avx512_vnni, DotUnit::avx_vnni}) EXPECT_FALSE(has(unit));
#if defined(__x86_64__)
  EXPECT_FALSE(has(DotUnit::neon_dot));
#endif
}

TEST(Isa, WithIsaCallsTheLevelGiven) {
  for (const Isa isa : usable_isas()) {
    EXPECT_EQ(with_isa(isa, []<Isa level>() { return level; }), isa);
  }
}

}  // namespace
}  // namespace roofline
