// Suites: what they expand to, and every mistake with its place and its remedy. Uses the real ops.
#include "config/suite.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "model/error.hpp"
#include "model/machine.hpp"
#include "op/case.hpp"
#include "op/layout.hpp"
#include "op/registry.hpp"
#include "tests/support/mentions.hpp"

namespace roofline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Suite cpu_suite(const std::string& workloads) {
  return parse_suite("name: t\nworkloads:\n" + workloads, "s.yaml", DeviceKind::cpu);
}

/// What parsing `text` says, or an empty text.
std::string suite_complaint(const std::string& text, DeviceKind device = DeviceKind::cpu) {
  try {
    parse_suite(text, "s.yaml", device);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// The same for a file whose line 3 is the first line of `workloads`.
std::string workload_complaint(const std::string& workloads) {
  return suite_complaint("name: t\nworkloads:\n" + workloads);
}

std::vector<std::string> labels(const Suite& suite) {
  std::vector<std::string> result;
  for (const SuiteEntry& entry : suite.entries) result.push_back(entry.workload.label);
  return result;
}

/// The implementation that "the best" stands for: the last of the ladder that supports the type.
std::string best(const std::string& op, DType dtype) {
  std::string name;
  for (const Implementation& i : implementations_of(*find_op(op), DeviceKind::cpu)) {
    if (std::find(i.dtypes.begin(), i.dtypes.end(), dtype) != i.dtypes.end()) name = i.name;
  }
  return name;
}

TEST(Suite, OptionsAreNamedWhereTheyAreSet) {
  const Suite suite = parse_suite(
      "name: t\nworkloads:\n  - op: attention\n    dtype: fp32\n"
      "    shape: { batch: 1, heads: 4, seq: 64, head_dim: 8, causal: [0, 1], kv_heads: [0, 2] }\n",
      "s.yaml", DeviceKind::cpu);
  EXPECT_THAT(labels(suite),
              ElementsAre("attention fp32 1x4x64x8", "attention fp32 1x4x64x8 kv_heads=2",
                          "attention fp32 1x4x64x8 causal", "attention fp32 1x4x64x8 causal kv_heads=2"));
  EXPECT_FALSE(suite.entries.front().workload.shape.contains("causal"));
  EXPECT_EQ(suite.entries.back().workload.shape["kv_heads"], 2);
  EXPECT_THAT(workload_complaint("  - op: attention\n    shape: { heads: 4, kv_heads: 3 }\n"),
              mentions("heads", "kv_heads", "multiple"));
}

TEST(Suite, ReadsAWholeEntry) {
  const Suite suite = parse_suite(
      "name: mine\ndescription: d\ndefaults: { cache: hot, seed: 5 }\nworkloads:\n"
      "  - op: gemm\n    dtype: fp32\n    shape: { m: 64, k: 2^5 }\n    label: small\n",
      "s.yaml", DeviceKind::cpu);
  EXPECT_EQ(suite.name, "mine");
  EXPECT_EQ(suite.description, "d");
  EXPECT_EQ(suite.path, "s.yaml");
  EXPECT_THAT(suite.text, StartsWith("name: mine"));
  ASSERT_EQ(suite.entries.size(), 1U);
  const SuiteEntry& entry = suite.entries[0];
  EXPECT_EQ(entry.line, 5);
  EXPECT_EQ(entry.skip_reason, "");
  EXPECT_EQ(entry.workload.op, "gemm");
  EXPECT_EQ(entry.workload.label, "small");
  EXPECT_EQ(entry.workload.implementation, best("gemm", DType::fp32));
  EXPECT_EQ(entry.workload.cache, CacheMode::hot);
  EXPECT_EQ(entry.workload.seed, 5U);
  EXPECT_EQ(entry.workload.shape["m"], 64);
  EXPECT_EQ(entry.workload.shape["k"], 32);
  const auto parameters = find_op("gemm")->parameters();
  EXPECT_EQ(entry.workload.shape["n"], parameters[1].default_value);
  EXPECT_EQ(entry.workload.shape.extents().front().first, parameters[0].name);
}

/// Whether a device runs the best implementation is not known here: those below are kept, but where the suite has named
/// one.
TEST(Suite, KeepsTheLadderBelowItsOwnChoice) {
  std::vector<std::string> ladder;
  for (const Implementation& i : implementations_of(*find_op("gemm"), DeviceKind::cpu)) {
    if (std::find(i.dtypes.begin(), i.dtypes.end(), DType::bf16) != i.dtypes.end())
      ladder.insert(ladder.begin(), i.name);
  }
  const Suite suite =
      parse_suite("name: t\nworkloads:\n  - { op: gemm, dtype: bf16 }\n  - { op: gemm, dtype: bf16, impl: naive }\n",
                  "s.yaml", DeviceKind::cpu);
  std::vector<std::string> kept{suite.entries[0].implementation->name};
  for (const Implementation& implementation : suite.entries[0].below) kept.push_back(implementation.name);
  EXPECT_EQ(kept, ladder);
  EXPECT_TRUE(suite.entries[1].below.empty());
}

TEST(Suite, SweepsExpandInADocumentedOrder) {
  const Suite suite = cpu_suite(
      "  - op: relu\n    dtype: [fp64, fp32]\n    cache: [hot, cold]\n    impl: naive\n"
      "    shape: { n: [1Ki, 3000] }\n");
  EXPECT_THAT(labels(suite),
              ElementsAre("relu fp64 1024 hot", "relu fp64 1024 cold", "relu fp32 1024 hot", "relu fp32 1024 cold",
                          "relu fp64 3000 hot", "relu fp64 3000 cold", "relu fp32 3000 hot", "relu fp32 3000 cold"));
}

TEST(Suite, ALaterExtentRunsFaster) {
  EXPECT_THAT(labels(cpu_suite("  - op: softmax\n    shape: { cols: [8, 16], rows: [2, 4] }\n")),
              ElementsAre("softmax fp32 2x8", "softmax fp32 2x16", "softmax fp32 4x8", "softmax fp32 4x16"));
}

TEST(Suite, AListOfShapesIsNoProduct) {
  EXPECT_THAT(labels(cpu_suite("  - op: softmax\n    shape: [{ rows: 2, cols: 8 }, { rows: 2^20, cols: 16 }]\n")),
              ElementsAre("softmax fp32 2x8", "softmax fp32 2^20x16"));
}

TEST(Suite, OverridesApplyToTheirDeviceOnly) {
  const std::string text =
      "name: t\nworkloads:\n  - op: softmax\n    shape: { rows: 8, cols: 16 }\n    dtype: [fp32, fp64]\n"
      "    cpu: { shape: { rows: 2 }, dtype: fp32 }\n    cuda: { cache: hot }\n";
  EXPECT_THAT(labels(parse_suite(text, "s.yaml", DeviceKind::cpu)), ElementsAre("softmax fp32 2x16"));
  const Suite cuda = parse_suite(text, "s.yaml", DeviceKind::cuda);
  ASSERT_EQ(cuda.entries.size(), 2U);
  EXPECT_EQ(cuda.entries[0].workload.shape["rows"], 8);
  EXPECT_EQ(cuda.entries[0].workload.cache, CacheMode::hot);
  EXPECT_EQ(cuda.entries[1].workload.dtype, DType::fp64);
}

TEST(Suite, OnlyKeepsAnEntryForItsDevice) {
  const std::string text =
      "name: t\nworkloads:\n  - op: relu\n    only: cuda\n  - op: softmax\n    only: [cpu, cuda]\n";
  const Suite suite = parse_suite(text, "s.yaml", DeviceKind::cpu);
  ASSERT_EQ(suite.entries.size(), 1U);
  EXPECT_EQ(suite.entries[0].workload.op, "softmax");
  EXPECT_EQ(parse_suite(text, "s.yaml", DeviceKind::cuda).entries.size(), 2U);
  EXPECT_THAT(workload_complaint("  - op: relu\n    only: cuda\n"), mentions("s.yaml:3:3: ", "cpu"));
}

TEST(Suite, NeedsKeepsAnEntryForMachinesWithThatPipe) {
  const auto with = [](Machine machine, Pipe pipe) {
    Ceiling& ceiling = machine.ceilings.emplace_back();
    ceiling.kind = CeilingKind::compute;
    ceiling.pipe = pipe;
    ceiling.value = 1e12;
    return machine;
  };
  const Machine plain = with({}, Pipe::fp32), amx = with(plain, Pipe::tensor_bf16);
  const Suite all = cpu_suite("  - op: gemm\n  - op: gemm\n    needs: tensor.bf16\n    dtype: bf16\n");
  Suite on_amx = all, on_plain = all;
  remove_without_pipe(on_amx, amx);
  EXPECT_EQ(on_amx.entries.size(), 2U);
  remove_without_pipe(on_plain, plain);
  ASSERT_EQ(on_plain.entries.size(), 1U);
  EXPECT_EQ(on_plain.entries[0].workload.dtype, DType::fp32);
  Suite only = cpu_suite("  - op: gemm\n    needs: tensor.bf16\n");
  EXPECT_THROW(remove_without_pipe(only, plain), UsageError);
  EXPECT_THAT(workload_complaint("  - op: relu\n    needs: amx\n"), mentions("s.yaml:4:12: ", "'amx'"));
}

TEST(Suite, WhatTheDeviceCannotRunIsSkippedWithItsReason) {
  const Suite suite = cpu_suite("  - op: relu\n    dtype: [fp32, fp8]\n");
  ASSERT_EQ(suite.entries.size(), 2U);
  EXPECT_EQ(suite.entries[0].skip_reason, "");
  EXPECT_THAT(suite.entries[1].skip_reason, mentions("relu", "fp8", "cpu"));
  EXPECT_THAT(suite.entries[1].skip_reason, HasSubstr("fp32"));
  const Suite named = cpu_suite("  - op: relu\n    dtype: fp8\n    impl: naive\n");
  EXPECT_THAT(named.entries.at(0).skip_reason, mentions("relu/naive", "fp8", "cpu"));
  EXPECT_EQ(named.entries.at(0).workload.implementation, "naive");
}

TEST(Suite, AnImplementationOfTheOtherDeviceIsSkipped) {
  const Suite suite = cpu_suite("  - op: gemm\n    impl: cublas\n");
  EXPECT_THAT(suite.entries.at(0).skip_reason, mentions("gemm/cublas", "cpu"));
}

TEST(Suite, AllMeansEveryImplementationOfTheType) {
  std::size_t expected = 0;
  for (const Implementation& i : implementations_of(*find_op("relu"), DeviceKind::cpu)) {
    expected += static_cast<std::size_t>(std::count(i.dtypes.begin(), i.dtypes.end(), DType::fp32));
  }
  const Suite suite = cpu_suite("  - op: relu\n    impl: all\n");
  EXPECT_EQ(suite.entries.size(), expected);
  EXPECT_GE(expected, 2U);
  EXPECT_EQ(labels(suite)[0], "relu fp32 " + std::string("2^26 ") + suite.entries[0].workload.implementation);
}

TEST(Suite, LabelsAreMadeUnique) {
  EXPECT_THAT(labels(cpu_suite("  - op: relu\n    label: a\n    dtype: [fp32, fp64]\n  - op: relu\n    label: b\n")),
              ElementsAre("a fp32", "a fp64", "b"));
  EXPECT_THAT(labels(cpu_suite("  - op: relu\n    shape: { n: 7 }\n  - op: relu\n    shape: { n: 7 }\n    seed: 2\n"
                               "  - op: softmax\n    label: relu fp32 7 seed 2\n")),
              ElementsAre("relu fp32 7 seed 1", "relu fp32 7 seed 2", "relu fp32 7 seed 2 #2"));
  EXPECT_THAT(labels(cpu_suite("  - op: relu\n    label: x\n  - op: relu\n    label: x\n")), ElementsAre("x", "x #2"));
}

TEST(Suite, UnknownNamesComeWithTheNearest) {
  EXPECT_THAT(workload_complaint("  - op: gem\n"), mentions("s.yaml:3:9: ", "'gem'", "'gemm'", "roofline ops"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    dtype: [fp32, fb16]\n"),
              mentions("s.yaml:4:19: ", "'fb16'", "'fp16'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    dtpye: fp32\n"), mentions("s.yaml:4:5: ", "'dtpye'", "'dtype'"));
  EXPECT_THAT(workload_complaint("  - op: softmax\n    shape: { row: 4 }\n"),
              mentions("s.yaml:4:14: ", "'row'", "'rows'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    impl: niave\n"), mentions("s.yaml:4:11: ", "'niave'", "'naive'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    cache: warm\n"),
              mentions("s.yaml:4:12: ", "'warm'", "cold", "hot"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    only: gpu\n"), mentions("s.yaml:4:11: ", "'gpu'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    cpu: { op: gemm }\n"), mentions("s.yaml:4:12: ", "'op'"));
  EXPECT_THAT(suite_complaint("name: t\ndefaults: { shape: { n: 4 } }\nworkloads: [{ op: relu }]\n"),
              mentions("s.yaml:2:13: ", "'shape'"));
  EXPECT_THAT(suite_complaint("name: t\nworkload: [{ op: relu }]\n"),
              mentions("s.yaml:2:1: ", "'workload'", "'workloads'"));
}

TEST(Suite, WrongTypesAndRangesNameTheirPlace) {
  EXPECT_THAT(workload_complaint("  - op: relu\n    shape: { n: 0 }\n"),
              mentions("s.yaml:4:17: n", "at least 1", " 0"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    shape: { n: 2^50 }\n"),
              mentions("s.yaml:4:17: ", "1099511627776", "2^50"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    shape: { n: many }\n"),
              mentions("s.yaml:4:17: ", "4096", "2^28", "32Mi", "'many'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    shape: { n: 268_435_456 }\n"),
              mentions("s.yaml:4:17: ", "268435456", "'_'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    shape: { n: \"4096\" }\n"), mentions("s.yaml:4:17: ", "quotes"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    shape: 4096\n"), mentions("s.yaml:4:12: ", "'4096'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    dtype:\n"), mentions("s.yaml:4:5: ", "'dtype'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    dtype: []\n"), mentions("s.yaml:4:12: "));
  EXPECT_THAT(workload_complaint("  - op: relu\n    dtype: [fp32, fp32]\n"), mentions("s.yaml:4:19: ", "'fp32'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    impl: [all, naive]\n"), mentions("s.yaml:4:11: ", "'all'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    seed: -1\n"), mentions("s.yaml:4:11: seed", "at least 0", "-1"));
  EXPECT_THAT(workload_complaint("  - dtype: fp32\n"), mentions("s.yaml:3:5: ", "'op'", "roofline ops", "'kernel'"));
  EXPECT_THAT(workload_complaint("  - relu\n"), mentions("s.yaml:3:5: ", "'relu'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    only: cuda\n    cpu: { seed: 2 }\n"),
              mentions("s.yaml:5:5: ", "'only'"));
}

TEST(Suite, ImpossibleShapesAreRefused) {
  EXPECT_THAT(workload_complaint("  - op: gemm\n    shape: { m: 2^40, n: 2^40, k: 2^40 }\n"), mentions("2^53"));
  EXPECT_THAT(workload_complaint("  - op: softmax\n    shape: { rows: [2, 2^30], cols: 2^30 }\n"),
              mentions("s.yaml:4:12: ", "2^30x2^30"));
  std::string many = "1";
  for (int i = 2; i <= 200; ++i) many += ", " + std::to_string(i);
  EXPECT_THAT(workload_complaint("  - op: softmax\n    shape: { rows: [" + many + "], cols: [" + many + "] }\n"),
              mentions("s.yaml:3:5: ", "10000"));
}

TEST(Suite, MistakesForTheOtherDeviceAreFoundToo) {
  EXPECT_THAT(workload_complaint("  - op: relu\n    cuda: { shape: { n: 0 } }\n"),
              mentions("s.yaml:4:25: n", "at least 1"));
  EXPECT_THAT(workload_complaint("  - op: gemm\n    cuda: { shape: { m: 2^40, n: 2^40 } }\n"),
              StartsWith("s.yaml:4:20: shape 2^40x2^40x"));
}

TEST(Suite, TheFileAsAWhole) {
  EXPECT_THAT(suite_complaint(""), mentions("s.yaml:1:1: "));
  EXPECT_THAT(suite_complaint("# nothing\n"), StartsWith("s.yaml:1:1: "));
  EXPECT_THAT(suite_complaint("- op: relu\n"), mentions("s.yaml:1:1: "));
  EXPECT_THAT(suite_complaint("workloads: [{ op: relu }]\n"), mentions("s.yaml:1:1: ", "'name'"));
  EXPECT_THAT(suite_complaint("name: t\n"), mentions("s.yaml:1:1: ", "'workloads'"));
  EXPECT_THAT(suite_complaint("name: t\nworkloads: []\n"), mentions("s.yaml:2:12: "));
  EXPECT_THAT(suite_complaint("name: t\nworkloads: { op: relu }\n"), mentions("s.yaml:2:12: ", "- op:"));
  EXPECT_THAT(suite_complaint("name: ../up\nworkloads: [{ op: relu }]\n"), mentions("s.yaml:1:7: ", "'../up'"));
  EXPECT_THAT(suite_complaint("name: t\nworkloads: [{ op: relu }]\n---\nname: u\n"), mentions("s.yaml:3:1: "));
  // yaml-cpp makes documents without end of these.
  EXPECT_THAT(suite_complaint(", name: t\n"), mentions("s.yaml:1:1: "));
  EXPECT_THAT(suite_complaint("name: t\nworkloads:\n\t- op: relu\n"), mentions("s.yaml:3:1: ", "tab"));
  EXPECT_THAT(suite_complaint("name: t\nworkloads: [{ op: relu }\n  # a\ttab\n"), Not(mentions("tab")));
  EXPECT_THAT(suite_complaint("name: t\na:\xc2\xa0\x62: {\n"), mentions("s.yaml:2:3: ", "U+00A0"));
  EXPECT_THAT(suite_complaint("name: t\n, b\n"), StartsWith("s.yaml:"));
  EXPECT_THAT(suite_complaint("name: t\nworkloads: [\n  { op: relu }\n"),
              testing::MatchesRegex("s.yaml:[0-9]+:[0-9]+: .*"));
  EXPECT_THAT(suite_complaint("name: t\nname: u\nworkloads: [{ op: relu }]\n"), mentions("s.yaml:2:1: ", "'name'"));
  EXPECT_THAT(workload_complaint("  - op: relu\n    shape: { n: 4, n: 8 }\n"), mentions("s.yaml:4:20: ", "'n'"));
}

TEST(Suite, AnchorsAndMergeKeysWork) {
  const Suite suite = cpu_suite(
      "  - &base\n    op: softmax\n    shape: &small { rows: 2, cols: 8 }\n"
      "  - <<: *base\n    dtype: fp64\n  - op: softmax\n    shape: { <<: *small, rows: 4 }\n");
  EXPECT_THAT(labels(suite), ElementsAre("softmax fp32 2x8", "softmax fp64 2x8", "softmax fp32 4x8"));
  EXPECT_THAT(workload_complaint("  - &loop\n    op: relu\n    <<: *loop\n"), StartsWith("s.yaml:"));
}

TEST(Suite, KeepOnlyMatchesLabelOrOp) {
  const Suite all = cpu_suite("  - op: relu\n    dtype: [fp32, fp64]\n  - op: softmax\n");
  const auto kept = [&](const std::string& glob) {
    Suite suite = all;
    keep_only(suite, glob);
    return suite.entries.size();
  };
  EXPECT_EQ(kept("relu"), 2U);
  EXPECT_EQ(kept("*fp64*"), 1U);
  EXPECT_EQ(kept("r?lu*"), 2U);
  EXPECT_EQ(kept("*"), 3U);
  EXPECT_EQ(kept("*a*x*"), 1U);
  EXPECT_THROW(kept("rel"), UsageError);
  EXPECT_THROW(kept(""), UsageError);
  try {
    kept("sofmax");
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), mentions("s.yaml: ", "'sofmax'"));
    EXPECT_THAT(error.hint(), HasSubstr(all.entries[0].workload.label));
  }
}

TEST(Suite, WhatDoesNotFitInMemoryIsRefusedWithItsLine) {
  const Suite suite = cpu_suite(
      "  - op: relu\n    shape: { n: 1Ki }\n  - op: relu\n    shape: { n: 2^30 }\n"
      "  - op: relu\n    dtype: fp8\n    shape: { n: 2^39 }\n");
  const double needed = case_bytes(*find_op("relu"), suite.entries[1].workload, {.bytes = 1e6});
  EXPECT_GE(needed, 8.0 * (1 << 30));
  EXPECT_NO_THROW(require_memory(suite, {.bytes = 1e6}, needed));  // the skipped one needs nothing
  try {
    require_memory(suite, {.bytes = 1e6}, needed - 1);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), mentions("s.yaml:5: ", "'relu fp32 2^30'", " 8"));
    EXPECT_FALSE(error.hint().empty());
  }
}

TEST(Suite, KernelsThatNoWorkloadNeedsAreKnown) {
  const auto kernel = [](const std::string& name, const std::string& expect) {
    return "  " + name + ":\n    source: dot.c\n    entry: dot_plain\n    arguments:\n" +
           "      - { input: x, dtype: fp32, size: n }\n      - { output: y, dtype: fp32, size: n }\n" + expect;
  };
  const auto suite = [&](const std::string& kernels) {
    return parse_suite("name: t\nkernels:\n" + kernels + "workloads: [{ kernel: run, shape: { n: 4 } }]\n",
                       ROOFLINE_SOURCE_DIR "/configs/examples/t.yaml", DeviceKind::cpu);
  };
  const std::string run = kernel("run", "    same_as: right\n"), right = kernel("right", "    expect: { y: x }\n");
  EXPECT_TRUE(suite(run + right).unused_kernels.empty());
  EXPECT_THAT(suite(run + right + kernel("spare", "    expect: { y: x*n }\n")).unused_kernels, ElementsAre("spare"));
  EXPECT_THROW(suite(run + right + kernel("spare", "    expect: { y: \"z[n]\" }\n")), UsageError);
  EXPECT_THROW(suite(run + right + kernel("spare", "    expect: { z: x }\n")), UsageError);
}

TEST(Suite, AMissingFileIsAUsageError) {
  try {
    load_suite("no/such/suite.yaml", DeviceKind::cpu);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.what(), "no/such/suite.yaml: " + std::string(std::strerror(ENOENT)));
  }
}

}  // namespace
}  // namespace roofline
