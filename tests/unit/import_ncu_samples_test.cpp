// Source counters in reports of Nsight Compute: samples by instruction, reason and line, as its own pages have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>

#include "import/roofs.hpp"
#include "profile/instructions.hpp"
#include "report/diagnosis/verdict.hpp"
#include "tests/support/import_files.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/protobuf_message.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

constexpr const char* kSampled = "source-counters.ncu-rep";
constexpr std::string_view kStalled = "smsp__pcsamp_warps_issue_stalled_";

std::string text_of_recorded(const char* name) {
  std::ifstream file(recorded(name), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

KernelSamples samples_of(const ImportedProfile& profile) { return kernel_samples({profile.trace}); }

/// By offset and reason.
using Counts = std::map<std::int64_t, std::map<std::string, std::int64_t>>;

Counts counts_of(const SampledKernel& kernel) {
  Counts counts;
  for (const SampledInstruction& instruction : kernel.instructions) {
    for (const ReasonCount& reason : instruction.reasons) counts[instruction.offset][reason.reason] = reason.samples;
  }
  return counts;
}

/// What ncu's page of instructions shows, under the names that its metrics have.
Counts counts_of_page(std::map<std::int64_t, std::string>& names) {
  static const std::map<std::string, std::string> kReasons = {
      {"dispatch", "dispatch_stall"}, {"imc", "imc_miss"},
      {"lg", "lg_throttle"},          {"long_sb", "long_scoreboard"},
      {"math", "math_pipe_throttle"}, {"mio", "mio_throttle"},
      {"no_inst", "no_instructions"}, {"sleep", "sleeping"},
      {"tex", "tex_throttle"},        {"short_sb", "short_scoreboard"}};
  constexpr std::string_view kStall = "stall_";
  std::istringstream page(text_of_recorded("source-counters.csv"));
  std::vector<std::string> header;
  Counts counts;
  std::int64_t begin = -1;
  for (std::string line; std::getline(page, line);) {
    std::vector<std::string> row;
    line = line.substr(1, line.size() - 2);
    for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 3) {
      end = line.find("\",\"", at);
      row.push_back(line.substr(at, end - at));
    }
    if (header.empty()) {
      header = row;
      continue;
    }
    const std::int64_t address = std::stoll(row.at(0), nullptr, 16);
    if (begin < 0) begin = address;
    names[address - begin] = row.at(1);
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (!header[i].starts_with(kStall) || row.at(i) == "0") continue;
      const std::string reason = header[i].substr(kStall.size());
      const auto known = kReasons.find(reason);
      counts[address - begin][known == kReasons.end() ? reason : known->second] = std::stoll(row[i]);
    }
  }
  return counts;
}

TEST(NcuSamples, AreThoseOfItsPageOfInstructions) {
  const KernelSamples samples = samples_of(read_profile_file(recorded(kSampled)));
  EXPECT_EQ(samples.by, "ncu 2025.3.1.0");
  EXPECT_EQ(samples.samples, 266'523) << "smsp__pcsamp_sample_count";
  EXPECT_EQ(samples.elsewhere, 0);
  EXPECT_EQ(samples.dropped, 0);
  EXPECT_EQ(samples.period, 2048);
  ASSERT_EQ(samples.kernels.size(), 1U);
  const SampledKernel& kernel = samples.kernels[0];
  EXPECT_EQ(kernel.name, "(anonymous namespace)::bank_conflicts_faulty(float const*, float*)");
  EXPECT_EQ(kernel.samples, 266'523);
  std::map<std::int64_t, std::string> names;
  const Counts page = counts_of_page(names);
  EXPECT_EQ(page.size(), 53U);
  EXPECT_EQ(counts_of(kernel), page);
  for (const SampledInstruction& instruction : kernel.instructions) {
    EXPECT_THAT(names[instruction.offset], HasSubstr(instruction.name)) << instruction.offset;
  }
}

/// What its page of source lines shows.
TEST(NcuSamples, HaveTheLinesOfTheCodeInTheReport) {
  const KernelSamples samples = samples_of(read_profile_file(recorded(kSampled)));
  ASSERT_EQ(samples.kernels.size(), 1U);
  const SampledKernel& kernel = samples.kernels[0];
  std::map<std::int64_t, std::int64_t> lines;
  for (const SampledLine& line : kernel.lines) {
    EXPECT_TRUE(line.file.ends_with("/planted.cu")) << line.file;
    lines[line.line] = line.samples;
  }
  EXPECT_EQ(lines, (std::map<std::int64_t, std::int64_t>{{167, 63},
                                                         {169, 48'342},
                                                         {170, 1406},
                                                         {171, 58'307},
                                                         {172, 13},
                                                         {175, 220},
                                                         {176, 150'139},
                                                         {178, 1017},
                                                         {179, 7016}}));
  EXPECT_EQ(kernel.lines[0].line, 176);
  EXPECT_THAT(kernel.lines[0].text, testing::EndsWith("// FAULT")) << "the source is in the report";
  ASSERT_FALSE(kernel.waits.empty());
  EXPECT_EQ(kernel.waits[0].what, WaitFor::shared_load);
  EXPECT_EQ(kernel.waits[0].line, "planted.cu:176");
}

TEST(NcuSamples, NameTheLineInTheVerdict) {
  DeviceFacts device;
  device.name = "NVIDIA H200";
  const Report report = report_of_file(recorded(kSampled), data_sheet_machine(device));
  ASSERT_EQ(report.points.size(), 1U);
  ASSERT_TRUE(report.points[0].profiled->sampled);
  EXPECT_EQ(report.points[0].profiled->sampled->samples, 266'523);
  const std::vector<Verdict> found = verdicts(report);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].finding, mentions("shared memory", "planted.cu:176"));
}

TEST(NcuSamples, WithoutCodeHaveOffsetsAndReasonsButNoLines) {
  std::string text = text_of_recorded(kSampled);
  const std::size_t image = text.find("\177ELF");
  ASSERT_NE(image, std::string::npos);
  text[image] = '\0';
  const ImportedProfile profile = import_text("a.ncu-rep", text);
  EXPECT_THAT(profile.notes, testing::Contains(HasSubstr("no code of some sampled kernels")));
  const KernelSamples samples = samples_of(profile);
  ASSERT_EQ(samples.kernels.size(), 1U);
  std::map<std::int64_t, std::string> names;
  EXPECT_EQ(counts_of(samples.kernels[0]), counts_of_page(names));
  for (const SampledInstruction& instruction : samples.kernels[0].instructions) EXPECT_EQ(instruction.name, "?");
  for (const SampledLine& line : samples.kernels[0].lines) EXPECT_TRUE(line.file.empty());
}

TEST(NcuSamples, OfSeveralReportsAddUp) {
  std::vector<std::string> joined;
  const Report report = report_of_files({recorded(kSampled), recorded(kSampled)}, joined);
  ASSERT_EQ(report.profile->instructions.kernels.size(), 1U);
  EXPECT_EQ(report.profile->instructions.kernels[0].samples, 2 * 266'523);
}

TEST(NcuSamples, BelongToTheKernelsOfAFileWithTimes) {
  // Another tool's spelling of the name.
  const TemporaryFile times("trace.json", std::string(R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": ")") +
                                              "(anonymous namespace)::bank_conflicts_faulty(float const *, float *)" +
                                              R"(", "ts": 1, "dur": 500, "args": {"device": 0, "stream": 7,)" +
                                              R"("correlation": 1, "grid": [16384, 1, 1], "block": [32, 32, 1]}}]})");
  std::vector<std::string> joined;
  const Report report = report_of_files({times.path(), recorded(kSampled)}, joined);
  EXPECT_THAT(joined, testing::ElementsAre(mentions("source-counters.ncu-rep", "1 kernel")));
  ASSERT_EQ(report.points.size(), 1U);
  ASSERT_TRUE(report.points[0].profiled->sampled);
  EXPECT_EQ(report.points[0].profiled->sampled->samples, 266'523);
  EXPECT_NEAR(report.points[0].profiled->total_s, 500e-6, 1e-9);
  ASSERT_EQ(report.profile->instructions.kernels.size(), 1U);
  EXPECT_EQ(report.profile->instructions.kernels[0].lines.at(0).line, 176);
}

// --- reports of other versions, and broken ones

std::string value_of(std::uint64_t number) { return ProtobufMessage().number(5, number).bytes(); }

std::string instance(const std::string& address, const std::string& count) {
  return ProtobufMessage().text(1, address).text(2, count).bytes();
}

/// A report of one launch of "kernel" with these metrics by name, each with its instances.
std::string report_of_instances(const std::vector<std::pair<std::string, std::vector<std::string>>>& metrics,
                                std::optional<std::uint64_t> begin = std::nullopt) {
  ProtobufMessage table, result, source;
  result.number(1, 1).text(5, "kernel").text(15, ProtobufMessage().number(1, 77).bytes());
  std::uint64_t id = 0;
  for (const auto& [name, instances] : metrics) {
    table.text(1, name);
    ProtobufMessage metric;
    metric.number(1, id++).text(2, value_of(6));
    for (const std::string& one : instances) metric.text(3, one);
    result.text(13, metric.bytes());
  }
  source.number(1, 77);
  if (begin) {
    source.text(9, ProtobufMessage().text(1, ProtobufMessage().text(1, "kernel").number(2, *begin).bytes()).bytes());
  }
  const std::string payload = source.framed() + result.framed();
  const ProtobufMessage header =
      ProtobufMessage().number(1, 1).number(2, 1).text(4, table.bytes()).number(5, payload.size());
  return ncu_report_begin() + header.framed() + payload;
}

Counts counts_in(const std::string& text) {
  const KernelSamples samples = samples_of(import_text("a.ncu-rep", text));
  return samples.kernels.empty() ? Counts() : counts_of(samples.kernels[0]);
}

const std::string kWait = std::string(kStalled) + "wait";

TEST(NcuSamples, BeginWhereTheReportSaysOrWhereTheLowestInstructionIs) {
  const std::vector<std::string> sampled = {instance(value_of(0x70020), value_of(3))};
  EXPECT_EQ(counts_in(report_of_instances({{kWait, sampled}}, 0x70000)), (Counts{{0x20, {{"wait", 3}}}}));
  EXPECT_EQ(counts_in(report_of_instances({{kWait, sampled}}, 0x6ff00)), (Counts{{0x120, {{"wait", 3}}}}));
  // Nothing is stated, or what can't be: a kernel begins at a multiple of 128 bytes.
  EXPECT_EQ(counts_in(report_of_instances({{kWait, sampled}})), (Counts{{0x20, {{"wait", 3}}}}));
  EXPECT_EQ(counts_in(report_of_instances({{kWait, sampled}}, 0x80000)), (Counts{{0x20, {{"wait", 3}}}}));
  const std::vector<std::string> executed = {instance(value_of(0x6f000), value_of(8))};
  EXPECT_EQ(counts_in(report_of_instances({{kWait, sampled}, {"inst_executed", executed}})),
            (Counts{{0x1020, {{"wait", 3}}}}));
}

TEST(NcuSamples, NumbersOfAnyType) {
  const auto of_type = [](unsigned field, std::uint64_t number) {
    return ProtobufMessage().number(field, number).bytes();
  };
  const auto real = [](double number) { return ProtobufMessage().real(3, number).bytes(); };
  EXPECT_EQ(counts_in(report_of_instances({{kWait, {instance(of_type(4, 0x80), of_type(4, 5))}}})),
            (Counts{{0, {{"wait", 5}}}}));
  EXPECT_EQ(counts_in(report_of_instances({{kWait, {instance(real(0x90), real(7))}}})),
            (Counts{{0x10, {{"wait", 7}}}}));
  for (const std::string& no_count : {real(-1), real(1e300), real(std::numeric_limits<double>::quiet_NaN()),
                                      ProtobufMessage().text(1, "seven").bytes(), std::string()}) {
    EXPECT_EQ(counts_in(report_of_instances({{kWait, {instance(value_of(0x80), no_count)}}})), Counts());
    EXPECT_EQ(counts_in(report_of_instances({{kWait, {instance(no_count, value_of(7))}}})), Counts());
  }
  // The interval as ncu's option has it.
  const ImportedProfile profile = import_text(
      "a.ncu-rep", report_of_instances({{kWait, {instance(value_of(0), value_of(1))}}, {"smsp__pcsamp_interval", {}}}));
  EXPECT_EQ(samples_of(profile).period, 2048);
}

TEST(NcuSamples, SamplesAreCountedOnce) {
  const std::vector<std::string> sampled = {instance(value_of(0x80), value_of(3))};
  EXPECT_EQ(counts_in(report_of_instances({{kWait, sampled},
                                           {kWait + "_not_issued", sampled},
                                           {"smsp__pcsamp_sample_count", sampled},
                                           {"group:smsp__pcsamp_warp_stall_reasons", sampled}})),
            (Counts{{0, {{"wait", 3}}}}));
}

TEST(NcuSamples, OutsideOfTheKernelAreElsewhere) {
  const ImportedProfile profile = import_text(
      "a.ncu-rep",
      report_of_instances({{kWait,
                            {instance(value_of(0x70010), value_of(3)), instance(value_of(0x60000), value_of(4)),
                             instance(value_of(0xffffffffffffffff), value_of(5))}}},
                          0x70000));
  const KernelSamples samples = samples_of(profile);
  EXPECT_EQ(samples.samples, 12);
  EXPECT_EQ(samples.elsewhere, 9);
  ASSERT_EQ(samples.kernels.size(), 1U);
  EXPECT_EQ(samples.kernels[0].samples, 3);
}

TEST(NcuSamples, BrokenOnesAreRefusedWithTheirPlace) {
  const std::string whole = report_of_instances({{kWait, {instance(value_of(0x80), value_of(3))}}}, 0x80);
  for (std::size_t size = ncu_report_begin().size() + 1; size < whole.size(); ++size) {
    EXPECT_THAT(refusal_of("a.ncu-rep", whole.substr(0, size)), HasSubstr("byte")) << size;
  }
  const std::string broken = "\x0a\x7f";  // a message longer than what it is in
  for (const std::string& one : {broken, instance(broken, value_of(3)), instance(value_of(0x80), broken)}) {
    EXPECT_THAT(refusal_of("a.ncu-rep", report_of_instances({{kWait, {one}}})), mentions("byte", "is broken"));
  }
}

TEST(NcuSamples, FilesAndKernelsOfAnotherShapeAreSkipped) {
  for (const unsigned field : {8U, 9U}) {
    const std::string payload = ProtobufMessage().number(1, 77).text(field, "some text").framed() +
                                ProtobufMessage().text(5, "kernel").framed();
    const ProtobufMessage header = ProtobufMessage().number(1, 1).number(2, 1).number(5, payload.size());
    EXPECT_EQ(refusal_of("a.ncu-rep", ncu_report_begin() + header.framed() + payload), "");
  }
}

TEST(NcuSamples, MoreThanThereIsRoomForAreLeftOut) {
  constexpr std::size_t kMost = std::size_t{1} << 20, kMore = 10;
  std::vector<std::string> instances;
  for (std::size_t i = 0; i < kMost + kMore; ++i) instances.push_back(instance(value_of(0x80 + 16 * i), value_of(2)));
  const ImportedProfile profile = import_text("a.ncu-rep", report_of_instances({{kWait, instances}}));
  EXPECT_EQ(profile.trace.instruction_samples.size(), kMost);
  ASSERT_EQ(profile.trace.instruction_phases.size(), 1U);
  EXPECT_EQ(profile.trace.instruction_phases[0].dropped, 2 * kMore);
  EXPECT_EQ(profile.trace.instruction_phases[0].samples, 2 * (kMost + kMore));
  EXPECT_THAT(profile.notes, testing::Contains(HasSubstr("are left out")));
}

TEST(NcuSamples, HugeNumbersDoNotOverflow) {
  const std::string most = value_of(0xffffffffffffffff);
  const KernelSamples samples = samples_of(import_text(
      "a.ncu-rep", report_of_instances({{kWait, {instance(value_of(0x80), most), instance(value_of(0x90), most)}}})));
  ASSERT_EQ(samples.kernels.size(), 1U);
  EXPECT_GT(samples.kernels[0].samples, 0);
}

TEST(NcuSamples, ThatNcuHadNoRoomForAreNoted) {
  const ImportedProfile profile = import_text(
      "a.ncu-rep",
      report_of_instances({{kWait, {instance(value_of(0x80), value_of(1))}}, {"smsp__pcsamp_dropped_bytes", {}}}));
  EXPECT_THAT(profile.notes, testing::Contains(HasSubstr("--sampling-buffer-size")));
}

}  // namespace
}  // namespace roofline
