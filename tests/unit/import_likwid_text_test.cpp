// The tables that likwid-perfctr prints without -O.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

constexpr std::string_view kCpu =
    "--------\nCPU name:\tAMD EPYC 7543 32-Core Processor                \nCPU type:\tAMD K19 (Zen3) architecture\n"
    "CPU clock:\t2.80 GHz\n--------\n";

/// Lines of two threads as a table with borders.
std::string table(std::string_view lines) { return fmt::format("+----+----+\n{}+----+----+\n\n", lines); }
std::string table(std::string_view header, std::string_view lines) {
  return fmt::format("+----+----+\n{}\n{}", header, table(lines));
}

/// A region's tables: its time, its events, their sums, its metrics, their sums.
std::string region_tables(std::string_view line, std::string_view events, std::string_view metrics) {
  return fmt::format(
      "{}\n{}{}{}{}{}", line,
      table("|    Region Info    | HWThread 0 | HWThread 1 |",
            "| RDTSC Runtime [s] |   0.500100 |   0.400000 |\n|     call count    |         10 |         10 |\n"),
      table("|   Event   | Counter | HWThread 0 | HWThread 1 |", events),
      table("|   Event   | Counter |  Sum  |  Min  |  Max  |  Avg  |", "| A STAT | PMC0 | 9 | 4 | 5 | 4.5 |\n"),
      table("|       Metric        | HWThread 0 | HWThread 1 |", metrics),
      table("|       Metric        |  Sum  |  Min  |  Max  |  Avg  |",
            "| Runtime (RDTSC) [s] STAT | 9 | 4 | 5 | 4.5 |\n| DP [MFLOP/s] STAT | 9 | 4 | 5 | 4.5 |\n"));
}

constexpr std::string_view kEvents = "| RETIRED_SSE_AVX_FLOPS_ALL | PMC2 | 5000 | 4000 |\n";
constexpr std::string_view kMetrics =
    "| Runtime (RDTSC) [s] | 0.5001 | 0.4000 |\n| DP [MFLOP/s] | 1000 | 2000 |\n"
    "| Memory data volume [GBytes] | 4.0000 | 0 |\n| Operational intensity | 0.2 | nan |\n";

const ProcessTrace::Model& only_model(const ImportedProfile& profile) {
  EXPECT_EQ(profile.trace.models.size(), 1U);
  return profile.trace.models.begin()->second;
}

std::uint64_t length_of(const ImportedProfile& profile) {
  return profile.trace.kernels.back().end - profile.trace.kernels.front().start;
}

TEST(LikwidText, HasTheFiguresOfTheCsv) {
  const ImportedProfile csv = import_text(
      "a.csv",
      "STRUCT,Info,3,\nCPU name:,AMD EPYC 7543 32-Core Processor,\nTABLE,Region triad,Group 1 Raw,MEM_DP,1,\n"
      "Region Info,HWThread 0,HWThread 1,\nRDTSC Runtime [s],0.500100,0.400000,\ncall count,10,10,\n"
      "Event,Counter,HWThread 0,HWThread 1\nRETIRED_SSE_AVX_FLOPS_ALL,PMC2,5000,4000\n"
      "TABLE,Region triad,Group 1 Metric,MEM_DP,3,\nMetric,HWThread 0,HWThread 1,\n"
      "Runtime (RDTSC) [s],0.5001,0.4000,\nDP [MFLOP/s],1000,2000,\nMemory data volume [GBytes],4.0000,0,\n");
  const ImportedProfile text =
      import_text("a.out", std::string(kCpu) + region_tables("Region triad, Group 1: MEM_DP", kEvents, kMetrics));
  ASSERT_EQ(text.trace.kernels.size(), 10U);
  EXPECT_EQ(text.trace.kernels.size(), csv.trace.kernels.size());
  EXPECT_EQ(length_of(text), length_of(csv));
  EXPECT_EQ(length_of(text), 500'100'000U);
  EXPECT_EQ(only_model(text).work.flops, only_model(csv).work.flops);
  EXPECT_NEAR(only_model(text).work.flops.at(Pipe::fp64), (1000e6 * 0.5001 + 2000e6 * 0.4) / 10, 1);
  EXPECT_EQ(only_model(text).work.bytes.at(Level::dram).total(), 0.4e9);
  EXPECT_EQ(text.devices.at(0).name, csv.devices.at(0).name);
  EXPECT_EQ(text.notes.size(), csv.notes.size());
}

TEST(LikwidText, WhatTheProgramPrintsIsInNoTable) {
  const std::string tables = region_tables("Region triad, Group 1: MEM_DP", kEvents, kMetrics);
  const std::string printed =
      "Group 1: of atoms\n5\" wide, 3 | 4 |\n| Metric | Value |\n| Runtime (RDTSC) [s] | 99 |\n+---+\nRegion of "
      "interest\n";
  const ImportedProfile profile =
      import_text("a.out", "Warning: pin your program\n" + std::string(kCpu) + printed + tables + printed);
  EXPECT_EQ(profile.trace.kernels.size(), 10U);
  EXPECT_EQ(length_of(profile), 500'100'000U);
}

TEST(LikwidText, RegionsAndGroupsAreRows) {
  const ImportedProfile profile =
      import_text("a.out", std::string(kCpu) + region_tables("Region sweep, left, Group 1: MEM_DP", kEvents, kMetrics) +
                               region_tables("Region sweep, left, Group 2: ENERGY", "",
                                             "| Runtime (RDTSC) [s] | 0.5001 | 0.4 |\n| Energy [J] | 25.5 | 0 |\n") +
                               region_tables("Region solve, Group 1: MEM_DP", kEvents, kMetrics));
  EXPECT_EQ(profile.trace.kernels.size(), 30U);
  EXPECT_EQ(profile.trace.models.size(), 2U);
  EXPECT_EQ(profile.trace.uncounted.size(), 1U) << "energy is no work";
}

TEST(LikwidText, WithoutMarkersTheProgramIsARowOfEachGroupAndRun) {
  const std::string run = std::string(kCpu) + "Group 1: FLOPS_DP\n" +
                          table("| Event | Counter | Core 0 |", "| Runtime (RDTSC) [s] | TSC | 2.5 |\n") +
                          table("| Metric | Core 0 |", "| Runtime (RDTSC) [s] | 2.5000 |\n| DP [MFLOP/s] | 4 |\n") +
                          "Group 2: ENERGY\n" + table("| Metric | Core 0 |", "| Runtime (RDTSC) [s] | 1.5000 |\n");
  const ImportedProfile one = import_text("a.out", run), two = import_text("a.out", run + run);
  ASSERT_EQ(one.trace.kernels.size(), 2U);
  EXPECT_EQ(one.trace.kernels[0].end - one.trace.kernels[0].start, 2'500'000'000U);
  EXPECT_NEAR(only_model(one).work.flops.at(Pipe::fp64), 1e7, 1);
  EXPECT_EQ(two.trace.kernels.size(), 4U);
  EXPECT_EQ(two.notes.size(), one.notes.size() + 1);
}

TEST(LikwidText, ATableWithoutItsEndIsTruncated) {
  const std::string text = std::string(kCpu) + region_tables("Region triad, Group 1: MEM_DP", kEvents, kMetrics);
  EXPECT_THAT(refusal_of("a.out", text.substr(0, text.find("Memory data volume"))), HasSubstr("truncated"));
  EXPECT_THAT(refusal_of("a.out", text.substr(0, text.find("Region triad"))), HasSubstr("no region"));
  std::string without_borders;  // grep '|'
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    if (text[at] != '+') without_borders += text.substr(at, text.find('\n', at) + 1 - at);
  }
  EXPECT_EQ(length_of(import_text("a.out", without_borders)), 500'100'000U);
}

TEST(Likwid, EventsHaveMoreDigitsThanRates) {
  const auto flops = [](std::string_view events, std::string_view rates) {
    const ImportedProfile profile = import_text(
        "a.out", std::string(kCpu) + "Group 1: FLOPS_DP\n" +
                     table("| Event | Counter | HWThread 0 | HWThread 1 |", events) +
                     table("| Metric | HWThread 0 | HWThread 1 |",
                           fmt::format("| Runtime (RDTSC) [s] | 1 | 0.5 |\n| DP [MFLOP/s] | {} |\n", rates)));
    return only_model(profile).work.flops.at(Pipe::fp64);
  };
  const std::string_view events =
      "| FP_ARITH_INST_RETIRED_128B_PACKED_DOUBLE | PMC0 | 10 | 0 |\n"
      "| FP_ARITH_INST_RETIRED_SCALAR_DOUBLE | PMC1 | 101 | 3 |\n"
      "| FP_ARITH_INST_RETIRED_256B_PACKED_DOUBLE | PMC2 | 0 | 1 |\n"
      "| FP_ARITH_INST_RETIRED_512B_PACKED_DOUBLE | PMC3 | 1 | 0 |\n";
  EXPECT_EQ(flops(events, "0.0001 | 1.4e-05"), 20 + 104 + 4 + 8) << "the rates tell 107";
  EXPECT_NEAR(flops(events, "1000 | 2000"), 2e9, 1) << "rates of other operations";
}

TEST(Likwid, VolumesOfReadsAndWritesAreDirections) {
  const auto traffic = [](std::string_view volumes) {
    const ImportedProfile profile = import_text(
        "a.out",
        std::string(kCpu) + "Group 1: MEM\n" +
            table("| Metric | HWThread 0 | HWThread 1 |", fmt::format("| Runtime (RDTSC) [s] | 1 | 1 |\n{}", volumes)));
    return only_model(profile).work.bytes.at(Level::dram);
  };
  const Traffic split = traffic(
      "| Memory read data volume [GBytes] | 3 | 0 |\n| Memory write data volume [GBytes] | 1 | 0 |\n"
      "| Memory data volume [GBytes] | 4 | 0 |\n");
  EXPECT_EQ(split.read, 3e9);
  EXPECT_EQ(split.write, 1e9);
  EXPECT_FALSE(split.unsplit);
  EXPECT_TRUE(
      traffic("| Memory read data volume [GBytes] | 3 | 0 |\n| Memory data volume [GBytes] | 4 | 0 |\n").unsplit);
}

}  // namespace
}  // namespace roofline
