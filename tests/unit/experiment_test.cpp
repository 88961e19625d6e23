// Diagnosis by experiment: each rule with the result that shows its fault and with that of a sound kernel, the way of
// results through report.json, and the shapes that experiments run at.
#include "model/experiment.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include <string>
#include <vector>

#include "analyze/experiments.hpp"
#include "analyze/scaled_workload.hpp"
#include "config/suite.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/diagnosis/quantities.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/json/json.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

/// A timed CPU row at 40 % of its roof, without counters.
Report row_below_roof(BoundLabel label) {
  Report report = example::cpu_sample_report();
  for (Point& point : report.points) {
    if (!point.time || point.bound.label != label) continue;
    const double median = point.bound.attainable_time_s / 0.4;
    point.time = example::timed(median);
    point.counters.reset();
    point.contention.reset();
    point.reference_rates.reset();
    point.experiments.clear();
    report.points = {point};
    return report;
  }
  return {};
}

Experiment result(ExperimentKind kind, double ratio, std::int64_t count = 0) {
  return {.kind = kind, .variant = "n=1", .ratio = ratio, .ci95 = {ratio * 0.98, ratio * 1.02}, .count = count};
}

std::vector<std::string> rules_after(BoundLabel label, const std::vector<Experiment>& experiments) {
  Report report = row_below_roof(label);
  if (report.points.empty()) return {"no such row"};
  report.points[0].experiments = experiments;
  const Quantities quantities = quantities_of(report.points[0], report.machine, nullptr);
  std::vector<std::string> found;
  for (const Advice& advice : diagnose(quantities, DeviceKind::cpu))
    if (advice.kind != RuleKind::note) found.push_back(advice.rule);
  return found;
}

using Kind = ExperimentKind;
const Experiment kCore = result(Kind::in_cache, 0.95), kMemory = result(Kind::in_cache, 0.2);

TEST(Experiments, NameTheFaultThatTheirChangeCures) {
  struct Case {
    std::string rule;
    Experiment base, faulty, sound;
  };
  const std::vector<Case> cases = {
      {"subnormals", kCore, result(Kind::flushed_subnormals, 0.1), result(Kind::flushed_subnormals, 1)},
      {"late-thread", kCore, result(Kind::slowest_thread, 1.6), result(Kind::slowest_thread, 1.02)},
      {"false-sharing", kCore, result(Kind::all_threads, 30), result(Kind::all_threads, 1.05)},
      {"many-streams", kCore, result(Kind::staggered, 0.5, 16), result(Kind::staggered, 1, 16)},
      {"aliasing", kCore, result(Kind::staggered, 0.3, 2), result(Kind::staggered, 0.98, 2)},
      {"split-lines", kCore, result(Kind::realigned, 0.7), result(Kind::realigned, 0.99)},
      {"store-forwarding", kCore, result(Kind::unforwarded, 0.06), result(Kind::unforwarded, 0.98)},
      {"divisions", kCore, result(Kind::multiplied, 0.3), result(Kind::multiplied, 1)},
      {"scalar-code", kCore, result(Kind::unvectorized, 1), result(Kind::unvectorized, 7.9)},
      {"conversions", kCore, result(Kind::other_type, 0.6), result(Kind::other_type, 1)},
      {"access-order", kMemory, result(Kind::ascending_indices, 0.3), result(Kind::ascending_indices, 1)},
      {"grows-with-size", kMemory, result(Kind::double_size, 1.5), result(Kind::double_size, 1)},
  };
  for (const Case& one : cases) {
    const auto faulty = rules_after(BoundLabel::memory, {one.base, one.faulty});
    ASSERT_FALSE(faulty.empty()) << one.rule;
    EXPECT_EQ(faulty.front(), one.rule);
    EXPECT_THAT(rules_after(BoundLabel::memory, {one.base, one.sound}), testing::Not(testing::Contains(one.rule)));
    EXPECT_THAT(rules_after(BoundLabel::memory, {}), testing::Not(testing::Contains(one.rule)));
  }
}

TEST(Experiments, ADependentSumIsNotVectorised) {
  const Experiment faster = result(Kind::reassociated, 0.13);
  const auto scalar = rules_after(BoundLabel::memory, {kCore, faster, result(Kind::unvectorized, 1)});
  ASSERT_FALSE(scalar.empty());
  EXPECT_EQ(scalar.front(), "dependent-sum");
  const auto none = testing::Not(testing::Contains("dependent-sum"));
  EXPECT_THAT(rules_after(BoundLabel::memory, {kCore, result(Kind::reassociated, 1), result(Kind::unvectorized, 1)}),
              none);
  EXPECT_THAT(rules_after(BoundLabel::memory, {kCore, faster, result(Kind::unvectorized, 15)}), none)
      << "constants of vectorised code were folded";
}

TEST(Experiments, PartialLinesAreTracedAndPageWalksTimed) {
  const Experiment visits = result(Kind::line_visits, 16), near = result(Kind::page_jumps, 0.01),
                   far = result(Kind::page_jumps, 0.9), slower = result(Kind::small_pages, 2);
  const auto first = [](const std::vector<Experiment>& experiments) {
    const auto rules = rules_after(BoundLabel::memory, experiments);
    return rules.empty() ? "" : rules.front();
  };
  EXPECT_EQ(first({kMemory, visits, near}), "partial-lines");
  EXPECT_EQ(first({kMemory, visits, near, slower}), "partial-lines") << "within pages";
  EXPECT_EQ(first({kMemory, visits, far, slower}), "page-walks");
  EXPECT_NE(first({kMemory, visits, far, result(Kind::small_pages, 1.05)}), "page-walks");
  EXPECT_NE(first({kMemory, slower}), "page-walks") << "without a trace: a stream may be slower, too";
  EXPECT_EQ(first({kMemory, visits, far}), "partial-lines");
  const auto none = testing::Not(testing::Contains("partial-lines"));
  EXPECT_THAT(rules_after(BoundLabel::memory, {kMemory, result(Kind::line_visits, 1), near}), none);
  EXPECT_THAT(rules_after(BoundLabel::memory, {kCore, visits, near}), none) << "instructions limit it";
}

TEST(Experiments, TellCoreFromMemory) {
  EXPECT_EQ(rules_after(BoundLabel::memory, {kCore}).front(), "core-bound");
  EXPECT_EQ(rules_after(BoundLabel::memory, {result(Kind::in_cache, 0.75)}).front(), "no-overlap");
  EXPECT_EQ(rules_after(BoundLabel::memory, {kMemory}).front(), "memory-limited");
  EXPECT_EQ(rules_after(BoundLabel::compute, {kCore}).front(), "core-bound");
  EXPECT_EQ(rules_after(BoundLabel::compute, {kMemory}).front(), "cache-or-threads");
}

/// Without a measured roof of integer operations, nothing says that memory limits a row that computes with integers.
TEST(Experiments, IntegerWorkWithoutARoofIsNoMatterOfMemory) {
  const auto rules_of_row = [](const Experiment* experiment, std::optional<double> operations, bool declared) {
    Report report = row_below_roof(BoundLabel::memory);
    Point& point = report.points.at(0);
    point.work.flops.clear();
    if (declared) point.work.flops[Pipe::int32] = 1e6;
    std::erase_if(report.machine.ceilings, [](const Ceiling& ceiling) { return ceiling.pipe == Pipe::int32; });
    point.bound = bound_of(point.work, report.machine);
    point.time = example::timed(point.bound.attainable_time_s / 0.5);
    point.verification.emplace();
    point.verification->work.emplace();
    point.verification->work->integer_operations = operations;
    point.verification->work->read_most = point.verification->work->write_most = 1e18;
    if (experiment != nullptr) point.experiments = {*experiment};
    std::vector<std::string> found;
    for (const Advice& advice : diagnose(quantities_of(point, report.machine, nullptr), DeviceKind::cpu))
      if (advice.kind != RuleKind::note) found.push_back(advice.rule);
    return found;
  };
  for (const bool declared : {false, true}) {
    const std::optional<double> operations = declared ? std::nullopt : std::optional(1e6);
    EXPECT_EQ(rules_of_row(&kCore, operations, declared).front(), "integer-operations");
    EXPECT_EQ(rules_of_row(nullptr, operations, declared).front(), "integer-uncounted");
    // Evidence that memory limits it remains.
    EXPECT_EQ(rules_of_row(&kMemory, operations, declared).front(), "memory-limited");
  }
  EXPECT_EQ(rules_of_row(&kCore, std::nullopt, false).front(), "core-bound") << "a copy computes nothing";
}

TEST(Experiments, AScatteredAccessReachesNeitherTheRoofNorTheCore) {
  Report report = row_below_roof(BoundLabel::memory);
  Point& point = report.points.at(0);
  point.time = example::timed(point.bound.attainable_time_s / 0.1);
  point.experiments = {kMemory};
  const auto advice = diagnose(quantities_of(point, report.machine, nullptr), DeviceKind::cpu);
  ASSERT_FALSE(advice.empty());
  EXPECT_TRUE(
      std::any_of(advice.begin(), advice.end(), [](const Advice& one) { return one.rule == "access-pattern"; }));
}

TEST(Experiments, ProveNothingWhereTheyAreUncertain) {
  Experiment wide = result(Kind::reassociated, 0.5);
  wide.ci95 = {0.3, 1.1};
  EXPECT_EQ(rules_after(BoundLabel::memory, {kCore, wide}).front(), "core-bound");
  Experiment unknown = kCore;
  unknown.ci95 = {0.4, 1.4};
  EXPECT_THAT(rules_after(BoundLabel::memory, {unknown}), testing::Not(testing::Contains("core-bound")));
}

TEST(Experiments, RunInOtherBuffersWhereTheyAreCompiledAnew) {
  for (const Kind kind : {Kind::reassociated, Kind::multiplied, Kind::unforwarded}) {
    const auto alone = rules_after(BoundLabel::memory, {kCore, result(Kind::unvectorized, 0.6), result(kind, 0.6)});
    const auto placed = rules_after(BoundLabel::memory, {kCore, result(Kind::unvectorized, 0.6),
                                                         result(Kind::staggered, 0.62, 2), result(kind, 0.6)});
    const auto both = rules_after(BoundLabel::memory, {kCore, result(Kind::unvectorized, 0.6),
                                                       result(Kind::staggered, 0.62, 2), result(kind, 0.2)});
    ASSERT_FALSE(alone.empty());
    EXPECT_THAT(placed, testing::Not(testing::Contains(alone.front())));
    EXPECT_THAT(placed, testing::Contains("aliasing"));
    EXPECT_THAT(both, testing::Contains(alone.front()));
  }
}

TEST(Experiments, ProveAnEffectThatBothEndsShow) {
  Experiment sorted = result(Kind::ascending_indices, 0.21);
  sorted.ci95 = {0.125, 0.224};
  EXPECT_THAT(rules_after(BoundLabel::memory, {kMemory, sorted}), testing::Contains("access-order"));
  sorted.ci95 = {0.125, 0.7};
  EXPECT_THAT(rules_after(BoundLabel::memory, {kMemory, sorted}), testing::Not(testing::Contains("access-order")));
}

TEST(Experiments, AreReadAsTheyWereWritten) {
  Report report = row_below_roof(BoundLabel::memory);
  report.points.at(0).experiments = {kCore, result(Kind::staggered, 0.5, 17), result(Kind::multiplied, 1.5)};
  report.points[0].experiments[2].ci95 = {};
  report.points[0].experiments[2].remark = "a.c:4: control flow in loop.";
  const Report read = parse_report(render_json(report), "r.json");
  ASSERT_EQ(read.points.size(), 1U);
  const std::vector<Experiment>& experiments = read.points[0].experiments;
  ASSERT_EQ(experiments.size(), 3U);
  EXPECT_EQ(experiments[0].kind, Kind::in_cache);
  EXPECT_EQ(experiments[0].variant, "n=1");
  EXPECT_EQ(experiments[0].ratio, kCore.ratio);
  EXPECT_EQ(experiments[0].ci95.low, kCore.ci95.low);
  EXPECT_EQ(experiments[1].count, 17);
  EXPECT_FALSE(experiments[2].ci95.known());
  EXPECT_EQ(experiments[2].remark, "a.c:4: control flow in loop.");
  EXPECT_EQ(render_json(read), render_json(report));
}

TEST(Experiments, OfScalarCodeQuoteTheCompiler) {
  Report report = row_below_roof(BoundLabel::memory);
  report.points.at(0).experiments = {kCore, result(Kind::unvectorized, 1)};
  report.points[0].experiments[1].remark = "a.c:4: control flow in loop.";
  const Verdict scalar = verdicts(report).at(0);
  EXPECT_EQ(scalar.rule, "scalar-code");
  EXPECT_THAT(scalar.finding, testing::HasSubstr("a.c:4"));
  report.points[0].experiments.push_back(result(Kind::flushed_subnormals, 0.1));
  const Verdict other = verdicts(report).at(0);
  EXPECT_EQ(other.rule, "subnormals");
  EXPECT_THAT(other.finding, testing::Not(testing::HasSubstr("a.c:4"))) << "vectors would not help";
}

TEST(Experiments, KindsAreSpelledOnce) {
  for (int i = 0; i <= static_cast<int>(Kind::ascending_indices); ++i) {
    const auto kind = static_cast<Kind>(i);
    EXPECT_EQ(parse_experiment_kind(to_string(kind)), kind);
  }
  EXPECT_FALSE(parse_experiment_kind("nonsense"));
}

SuiteEntry entry(const std::string& workload) {
  return parse_suite("name: t\nworkloads:\n  - " + workload + "\n", "s.yaml", DeviceKind::cpu).entries.at(0);
}

TEST(Experiments, ShrinkAStreamByItsLeadingExtent) {
  const auto relu = shrunk(entry("{ op: relu, shape: { n: 2^27 } }"), 256 * 1024, false);
  ASSERT_TRUE(relu);
  EXPECT_EQ(relu->shape["n"], 32768);
  EXPECT_EQ(relu->cache, CacheMode::hot);
  const auto rows = shrunk(entry("{ op: softmax, shape: { rows: 16384, cols: 4096 } }"), 256 * 1024, false);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->shape["cols"], 4096) << "another length of rows would be another kernel";
  EXPECT_EQ(rows->shape["rows"], 8);
}

TEST(Experiments, ShrinkAProductInAllItsExtents) {
  const auto product = shrunk(entry("{ op: gemm, shape: { m: 4096, n: 4096, k: 4096 } }"), 256 * 1024, true);
  ASSERT_TRUE(product);
  EXPECT_EQ(product->shape["m"], 128);
  EXPECT_EQ(product->shape["n"], 128);
  EXPECT_EQ(product->shape["k"], 128);
  EXPECT_FALSE(shrunk(entry("{ op: gemm }"), 0, true));
}

TEST(Experiments, ShrinkEvenlyLeavesNoExtentOfBordersOnly) {
  const auto rows = shrunk_evenly(entry("{ op: softmax, shape: { rows: 16384, cols: 4096 } }"), 256 * 1024);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->shape["rows"] * rows->shape["cols"], 32768);
  EXPECT_GE(std::min(rows->shape["rows"], rows->shape["cols"]), 128);
  const auto narrow = shrunk_evenly(entry("{ op: softmax, shape: { rows: 16384, cols: 16 } }"), 64 * 1024);
  ASSERT_TRUE(narrow);
  EXPECT_EQ(narrow->shape["cols"], 16) << "what is short stays so";
  EXPECT_FALSE(shrunk_evenly(entry("{ op: softmax }"), 0));
}

TEST(Experiments, DoubleTheLeadingExtent) {
  const auto twice = doubled(entry("{ op: softmax, shape: { rows: 100, cols: 64 } }"));
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->shape["rows"], 200);
}

TEST(Experiments, AreForUnexplainedRowsOfACpuWithoutCounters) {
  Report report = row_below_roof(BoundLabel::memory);
  Suite suite;
  suite.entries = {entry("{ op: relu }")};
  EXPECT_EQ(rows_for_experiments(suite, report), std::vector<std::size_t>{0});
  Report at_roof = report;
  at_roof.points[0].time = example::timed(report.points[0].bound.attainable_time_s);
  EXPECT_TRUE(rows_for_experiments(suite, at_roof).empty());
  Report counted = report;
  counted.points[0].counters.emplace();
  EXPECT_TRUE(rows_for_experiments(suite, counted).empty());
  report.machine.device.kind = DeviceKind::cuda;
  EXPECT_TRUE(rows_for_experiments(suite, report).empty());
}

}  // namespace
}  // namespace roofline
