// AMX: what synthetic CPUs are said to have, and that this one is spoken of as its system does.
#include "device/cpu/amx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace roofline {
namespace {

using ::testing::HasSubstr;

// As CPUID gives them on an Emerald Rapids, and what Granite Rapids adds.
constexpr AmxFacts kEmeraldRapids{.leaf_7_edx = 0xbfd14410, .leaf_7_1_eax = 0x00001c30, .palettes = 1, .xcr0 = 0x602e7};
constexpr std::uint32_t kFp16 = 1U << 21U;

std::string missing(const AmxFacts& facts, DType dtype) { return amx_missing(facts, dtype).value_or(""); }

TEST(Amx, HasTheTypesThatCpuidNames) {
  EXPECT_EQ(missing(kEmeraldRapids, DType::bf16), "");
  EXPECT_EQ(missing(kEmeraldRapids, DType::int8), "");
  EXPECT_THAT(missing(kEmeraldRapids, DType::fp16), HasSubstr("not multiply fp16"));
  AmxFacts granite_rapids = kEmeraldRapids;
  granite_rapids.leaf_7_1_eax |= kFp16;
  EXPECT_EQ(missing(granite_rapids, DType::fp16), "");
  for (const DType dtype : {DType::fp32, DType::fp64, DType::tf32, DType::fp8}) {
    EXPECT_NE(missing(granite_rapids, dtype), "") << to_string(dtype);
  }
  AmxFacts only_int8 = kEmeraldRapids;
  only_int8.leaf_7_edx &= ~(1U << 22U);
  EXPECT_NE(missing(only_int8, DType::bf16), "");
  EXPECT_EQ(missing(only_int8, DType::int8), "");
}

TEST(Amx, NeedsTilesAndTheirShape) {
  EXPECT_THAT(missing({}, DType::bf16), HasSubstr("no AMX"));
  AmxFacts masked = kEmeraldRapids;  // by a hypervisor, which may leave the types
  masked.leaf_7_edx &= ~(1U << 24U);
  EXPECT_THAT(missing(masked, DType::bf16), HasSubstr("no AMX"));
  AmxFacts shapeless = kEmeraldRapids;
  shapeless.palettes = 0;
  EXPECT_THAT(missing(shapeless, DType::int8), HasSubstr("no AMX"));
}

TEST(Amx, NeedsAnOperatingSystemThatSavesBothParts) {
  for (const std::uint64_t lost : {1ULL << 17U, 1ULL << 18U, 3ULL << 17U}) {
    AmxFacts facts = kEmeraldRapids;
    facts.xcr0 &= ~lost;
    EXPECT_THAT(missing(facts, DType::bf16), HasSubstr("operating system"));
  }
}

TEST(Amx, GoesWithTheLevelThatPreparesItsOperands) {
  for (const Isa isa : {Isa::baseline, Isa::avx2}) EXPECT_NE(amx_missing(DType::bf16, isa), std::nullopt);
}

#if defined(__x86_64__) && defined(__linux__)
/// Linux lists what CPUID has, and takes amx_tile off the list where it can't save the tiles.
TEST(Amx, AgreesWithTheKernel) {
  std::string flags;
  std::ifstream cpuinfo("/proc/cpuinfo");
  while (std::getline(cpuinfo, flags) && !flags.starts_with("flags")) {
  }
  flags += ' ';
  const bool tiles = flags.find(" amx_tile ") != std::string::npos;
  const AmxFacts facts = amx_facts();
  EXPECT_EQ(!amx_missing(facts, DType::bf16), tiles && flags.find(" amx_bf16 ") != std::string::npos);
  EXPECT_EQ(!amx_missing(facts, DType::int8), tiles && flags.find(" amx_int8 ") != std::string::npos);
}
#endif

TEST(Amx, IsDescribedWhereTheCpuHasIt) {
  const auto described = describe_amx(best_isa());
  const auto types = 1U << 22U | 1U << 25U;
  EXPECT_EQ(described.has_value(), (amx_facts().leaf_7_edx & types) != 0);
  if (described && !amx_missing(DType::bf16, best_isa())) {
    EXPECT_THAT(*described, HasSubstr("bf16"));
  }
}

}  // namespace
}  // namespace roofline
