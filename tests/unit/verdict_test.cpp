// Verdicts: every row has one, the checked-in runs' are known, and figures that are none do no harm.
#include "report/diagnosis/verdict.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <regex>
#include <set>

#include "host/files.hpp"
#include "measure/audit.hpp"
#include "model/nan.hpp"
#include "render/render.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/findings.hpp"
#include "report/json/json.hpp"
#include "report/profile_findings.hpp"
#include "report/roof_share.hpp"
#include "report/work_source.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/sample_report.hpp"
#include "tests/support/values.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

Report recorded(const std::string& run) {
  const std::string path = std::string(ROOFLINE_SOURCE_DIR) + "/reports/reference/" + run + "/report.json";
  return parse_report(read_file(path), path);
}

const Verdict& verdict_on(const std::vector<Verdict>& all, const Report& report, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Verdict& verdict) {
    return point_name(report.points[verdict.row]).find(name) != std::string::npos;
  });
  if (found == all.end()) throw std::runtime_error("no verdict on " + std::string(name));
  return *found;
}

/// The ids of all rules that speak of a row.
std::vector<std::string> rules_of(const Verdict& verdict) {
  std::vector<std::string> rules = {verdict.rule};
  for (const Observation& one : verdict.also) rules.push_back(one.rule);
  return rules;
}

std::vector<std::string> texts_of(const Verdict& verdict) {
  std::vector<std::string> texts = {verdict.finding, verdict.action};
  for (const Observation& one : verdict.also) texts.push_back(one.text);
  for (const auto& [name, value] : verdict.evidence) texts.push_back(name + " " + value);
  return texts;
}

class RecordedRuns : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Verdicts, RecordedRuns, testing::Values("h200-ops", "h200-train"));

TEST_P(RecordedRuns, EachRowUnderItsRoofHasAVerdictWithAGain) {
  const Report report = recorded(GetParam());
  const std::vector<Verdict> all = verdicts(report);
  EXPECT_EQ(all.size(), report.points.size());
  int under = 0;
  for (const Verdict& verdict : all) {
    const Point& point = report.points[verdict.row];
    const std::string name = point_name(point);
    EXPECT_NE(verdict.finding, "") << name;
    EXPECT_NE(verdict.action, "") << name;
    EXPECT_NE(verdict.rule, "") << name;
    EXPECT_LE(verdict.evidence.size(), 3U) << name;
    if (!(point.fraction_of_roof() < 0.9)) continue;
    ++under;
    EXPECT_NE(verdict.kind, VerdictKind::at_roof) << name;
    EXPECT_GE(verdict.evidence.size(), 2U) << name << ": " << verdict.rule;
    EXPECT_NEAR(verdict.gain_s * (point.profiled ? static_cast<double>(point.profiled->launches) : 1),
                verdict.total_gain_s, 1e-9 * verdict.total_gain_s)
        << name;
    EXPECT_GT(verdict.gain_s, 0) << name;
    EXPECT_LT(verdict.total_gain_s, cost_of(point)) << name;
  }
  EXPECT_GT(under, 10);
}

TEST_P(RecordedRuns, TheMostThatCouldBeWonComesFirst) {
  const Report report = recorded(GetParam());
  const std::vector<Verdict> all = verdicts(report);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const double before = all[i - 1].total_gain_s, after = all[i].total_gain_s;
    EXPECT_TRUE(std::isnan(after) || before >= after) << i;
  }
  const std::vector<VerdictGroup> groups = where_to_spend_time(all, report);
  for (std::size_t i = 1; i < groups.size(); ++i) {
    const double before = groups[i - 1].total_gain_s, after = groups[i].total_gain_s;
    EXPECT_TRUE(std::isnan(after) || before >= after) << groups[i].text;
  }
}

TEST_P(RecordedRuns, EvidenceIsToldInWordsForPeople) {
  static const std::regex kId(R"(\b[a-z0-9_]+\.[a-z_]+\b|\{|\}|nan|inf)");
  const Report report = recorded(GetParam());
  for (const Verdict& verdict : verdicts(report)) {
    for (const auto& [name, value] : verdict.evidence) {
      EXPECT_FALSE(std::regex_search(name, kId)) << name;
      EXPECT_NE(value, "") << name;
    }
    EXPECT_THAT(verdict.finding, Not(HasSubstr("{")));
  }
}

/// Each row is in one group, beside the one that only says what the clock cost.
TEST_P(RecordedRuns, GroupsHoldEachRowOnce) {
  const Report report = recorded(GetParam());
  const std::vector<Verdict> all = verdicts(report);
  std::multiset<std::size_t> rows;
  double gain = 0, of_groups = 0;
  for (const Verdict& verdict : all) gain += std::isnan(verdict.total_gain_s) ? 0 : verdict.total_gain_s;
  for (const VerdictGroup& group : where_to_spend_time(all, report)) {
    EXPECT_NE(group.text, "");
    EXPECT_NE(group.action, "");
    if (group.by_clock) continue;
    rows.insert(group.rows.begin(), group.rows.end());
    of_groups += std::isnan(group.total_gain_s) ? 0 : group.total_gain_s;
  }
  EXPECT_EQ(rows.size(), all.size());
  EXPECT_EQ(std::set<std::size_t>(rows.begin(), rows.end()).size(), all.size());
  EXPECT_NEAR(of_groups, gain, 1e-9 * gain);
}

TEST(Verdicts, OfTheRecordedSuite) {
  const Report report = recorded("h200-ops");
  const std::vector<Verdict> all = verdicts(report);
  const auto rule_of = [&](const char* name) { return verdict_on(all, report, name).rule; };
  EXPECT_EQ(rule_of("attention fp32"), "level-beside");
  EXPECT_EQ(rule_of("gemm fp32 4096x4096x4096 tiled"), "level-beside");
  EXPECT_EQ(rule_of("gemm fp32 4096x4096x4096 cublaslt"), "level-beside");
  EXPECT_EQ(rule_of("conv2d fp32"), "few-warps");
  EXPECT_EQ(rule_of("attention bf16"), "second-pipe");
  EXPECT_EQ(rule_of("conv2d bf16"), "tensor-gaps");
  EXPECT_EQ(rule_of("relu fp32"), "good-enough");
  const Verdict& tiled = verdict_on(all, report, "gemm fp32 4096x4096x4096 tiled");
  EXPECT_NEAR(tiled.gain_s, 1.285e-3, 1e-6);
  EXPECT_THAT(tiled.evidence, Contains(testing::Pair("FP32 pipe busy", "62.1 %")));
  EXPECT_THAT(tiled.evidence, Contains(testing::Pair("shared memory busy", "53.4 %")));
  // Nobody edits a library's kernel.
  EXPECT_THAT(verdict_on(all, report, "gemm fp32 4096x4096x4096 cublaslt").action, HasSubstr("Library kernel"));
  EXPECT_THAT(tiled.action, Not(HasSubstr("Library kernel")));
}

/// 1.8 to 4 times the compulsory bytes, and DRAM is idle for three quarters of the time and more.
TEST(Verdicts, BytesThatNobodyWaitsForAreNoFinding) {
  const Report report = recorded("h200-ops");
  for (const Verdict& verdict : verdicts(report)) {
    EXPECT_THAT(rules_of(verdict), Not(Contains("extra-dram-traffic"))) << point_name(report.points[verdict.row]);
  }
  Quantities excess = {{"dram.over_model", 3.1}, {"l2.hit_rate", 0.5}, {"memory.utilization", 0.23}};
  EXPECT_TRUE(diagnose(excess, DeviceKind::cuda).empty());
  excess["memory.utilization"] = 0.7;
  EXPECT_EQ(diagnose(excess, DeviceKind::cuda).front().rule, "extra-dram-traffic");
}

TEST(Verdicts, FoldWhatManyHaveInCommon) {
  const Report report = recorded("h200-ops");
  const std::vector<VerdictGroup> groups = where_to_spend_time(verdicts(report), report);
  const auto clock = std::find_if(groups.begin(), groups.end(), [](const auto& group) { return group.by_clock; });
  ASSERT_NE(clock, groups.end());
  EXPECT_EQ(clock->rule, "throttled");
  EXPECT_EQ(clock->rows.size(), 13U);
  EXPECT_THAT(clock->text, mentions("13 kernels", "1.33\u20131.69 GHz", "power limit"));
  const auto told = [&](const char* rule, const testing::Matcher<std::string>& text) {
    return Contains(AllOf(Field(&VerdictGroup::rule, rule), Field(&VerdictGroup::text, text)));
  };
  EXPECT_THAT(groups, told("level-beside", mentions("attention fp32 4x16x2048x128 (fused) and gemm fp32 "
                                                    "4096x4096x4096 tiled: ")));
  EXPECT_THAT(groups, Contains(Field(&VerdictGroup::text, HasSubstr("86.0\u201391.0 %"))));
  EXPECT_THAT(groups, told("good-enough", mentions("17 kernels", "90.5\u201399.6 %")));
  EXPECT_TRUE(groups.back().kind == VerdictKind::at_roof || std::isnan(groups.back().total_gain_s));
}

TEST(Verdicts, OfAProgramCountAllLaunches) {
  const Report report = recorded("h200-train");
  const std::vector<Verdict> all = verdicts(report);
  const Verdict& first = all.front();
  EXPECT_NEAR(first.total_gain_s, 0.5130, 1e-4);
  EXPECT_NEAR(first.gain_s, 102.4e-6, 1e-7);
  EXPECT_EQ(all.back().kind, VerdictKind::no_roof);
  EXPECT_TRUE(std::isnan(all.back().gain_s));
  EXPECT_THAT(all.back().finding, HasSubstr(why_no_work(report.points[all.back().row])));
}

// --- badly measured ---

TEST(Verdicts, ARowWithoutAnIntervalIsToBeTimedAgain) {
  const Report report = recorded("h200-ops");
  const std::vector<Verdict> all = verdicts(report);
  const Verdict& verdict = verdict_on(all, report, "gemm fp64");
  EXPECT_EQ(verdict.kind, VerdictKind::measure);
  EXPECT_EQ(verdict.rule, "no-interval");
  EXPECT_GT(report.points[verdict.row].fraction_of_roof(), 0.9);  // or it would prove nothing
  EXPECT_THAT(rules_of(verdict), Not(Contains("good-enough")));
  EXPECT_THAT(findings(report), Contains(finding(FindingKind::badly_measured, "gemm fp64")));
}

/// One row that is at its roof, measured as is said.
Verdict verdict_at_roof(const std::function<void(Point&)>& change) {
  Report report = example::sample_report();
  report.points.resize(1);
  for (Ceiling& ceiling : report.machine.ceilings) ceiling.audit = example::passed("fine");
  Point& point = report.points[0];
  point.bound = bound_of(point.work, report.machine, point.time->clock_hz);
  change(point);
  return verdicts(report).front();
}

TEST(Verdicts, AMissingRoofIsNamedWithTheCommandThatMeasuresIt) {
  Report report = example::sample_report();
  const auto row =
      std::ranges::find_if(report.points, [](const Point& point) { return point.work.flops.contains(Pipe::fp32); });
  ASSERT_NE(row, report.points.end());
  report.points = {*row};
  report.machine.device.kind = DeviceKind::cpu;
  Point& point = report.points[0];
  point.work.flops = {{Pipe::fp32, 1e6}};
  point.work.bytes = {{Level::dram, {.read = 1e9, .write = 0}}};
  Ceiling memory = report.machine.ceilings.front();
  memory.name = "dram.read";
  memory.kind = CeilingKind::bandwidth;
  memory.level = Level::dram;
  memory.pattern = Pattern::read;
  memory.pipe.reset();
  report.machine.ceilings = {memory};
  point.bound = bound_of(point.work, report.machine);
  const Verdict verdict = verdicts(report).front();
  EXPECT_EQ(verdict.kind, VerdictKind::no_roof);
  EXPECT_TRUE(std::isnan(verdict.total_gain_s));
  EXPECT_THAT(verdict.finding, HasSubstr("fp32"));
  EXPECT_THAT(verdict.action, mentions("fp32", "roofline calibrate --device cpu"));
}

TEST(Verdicts, NobodyIsToldToStopByAFigureThatNobodyKnows) {
  EXPECT_EQ(verdict_at_roof([](Point&) {}).kind, VerdictKind::at_roof);
  EXPECT_EQ(verdict_at_roof([](Point& point) { point.time->drifting = true; }).rule, "drifting");
  const auto samples = [](std::int64_t count, double spread) {
    return verdict_at_roof([&](Point& point) {
      Summary& time = *point.time;
      time.ci95 = {};
      time.samples = count;
      time.q05 = time.median;
      time.q95 = time.median * (1 + spread);
      EXPECT_EQ(badly_measured(point), count < 6 || spread > 0.1);
    });
  };
  EXPECT_EQ(samples(10, 0.101).rule, "no-interval");
  EXPECT_EQ(samples(5, 0.01).rule, "no-interval");
  EXPECT_EQ(samples(6, 0.099).kind, VerdictKind::at_roof) << "wherever between them it is";
  EXPECT_EQ(verdict_at_roof([](Point& point) { point.bound.suspect = true; }).rule, "suspect-roof");
  // Pairs use no figure of the roof: that it was higher in an earlier calibration does not concern them.
  const auto paired = [](std::string_view failed) {
    Report report = example::sample_report();
    Point& point = report.points[0];
    point.paired =
        PairedFraction{.ceiling = point.bound.limiting_ceiling, .fraction = 0.98, .ci95 = {0.97, 0.99}, .pairs = 40};
    point.bound.suspect = true;
    for (Ceiling& ceiling : report.machine.ceilings) {
      if (ceiling.name == point.bound.limiting_ceiling) {
        ceiling.audit.checks = {{std::string(failed), CheckStatus::fail, ""}};
      }
    }
    return quantities_of(point, report.machine, nullptr).at("roof.suspect");
  };
  EXPECT_EQ(paired(kHistoryCheck), 0);
  EXPECT_EQ(paired(kResultCheck), 1);
  const auto above = [](bool suspect) {
    return verdict_at_roof([&](Point& point) {
      point.workload.cache = CacheMode::hot;
      point.time = example::timed(point.bound.attainable_time_s / 1.1);
      point.bound.suspect = suspect;
    });
  };
  EXPECT_EQ(above(true).rule, "above-suspect-roof");
  EXPECT_EQ(above(false).rule, "above-roof");
  const auto wide = [](double width) {
    return verdict_at_roof([&](Point& point) {
      point.time->ci95 = {point.time->median, point.time->median * (1 + width)};
    });
  };
  EXPECT_EQ(wide(0.101).rule, "wide-interval");
  EXPECT_EQ(wide(0.099).kind, VerdictKind::at_roof);
  for (const char* rule : {"drifting", "no-interval", "wide-interval", "suspect-roof", "disturbed"})
    EXPECT_EQ(find_rule(rule, DeviceKind::cuda)->kind, RuleKind::measure) << rule;
}

/// A row above its roof, because its suite counts four times the FLOPs, says nothing about the roof.
TEST(Verdicts, OfWrongStatedWorkIsNoFraction) {
  for (const double stated : {4e6, 1e6}) {
    const Verdict verdict = verdict_at_roof([&](Point& point) {
      point.time = example::timed(point.bound.attainable_time_s / 1.4);
      point.workload.cache = CacheMode::hot;
      point.verification.emplace().executed =
          ExecutedFlops{.stated = stated, .executed = 1e6, .least = 1e6, .most = 1e6};
    });
    EXPECT_EQ(verdict.rule, stated > 1e6 ? "stated-work" : "above-roof");
    EXPECT_EQ(std::isnan(verdict.total_gain_s), stated > 1e6) << "nobody knows what is to be gained";
  }
}

/// Below a suspect roof there still is something to do; that the roof is suspect is said beside it.
TEST(Verdicts, BelowASuspectRoofTheCauseIsTold) {
  const Verdict verdict = verdict_at_roof([](Point& point) {
    point.time = example::timed(2 * point.bound.attainable_time_s);
    point.bound.suspect = true;
  });
  EXPECT_NE(verdict.kind, VerdictKind::measure);
  EXPECT_NE(verdict.kind, VerdictKind::at_roof);
  EXPECT_THAT(rules_of(verdict), Contains("suspect-roof-below"));
}

/// A gap within the scatter of the time is no known saving; a larger one is.
TEST(Verdicts, OfADriftingTimeSaveOnlyWhatIsBeyondItsScatter) {
  for (const double gap : {0.2, 3.0}) {
    const Verdict verdict = verdict_at_roof([&](Point& point) {
      const double median = (1 + gap) * point.bound.attainable_time_s;
      point.time = example::timed(median);
      point.time->drifting = true;
      point.time->q05 = 0.8 * median;
      point.time->q95 = 1.2 * median;
    });
    EXPECT_EQ(std::isnan(verdict.total_gain_s), gap < 1);
  }
}

TEST(BadlyMeasured, SaysWhatTheVerdictSays) {
  const Report report = recorded("h200-ops");
  for (const Point& point : report.points)
    EXPECT_EQ(badly_measured(point), point.workload.op == "gemm" && point.workload.dtype == DType::fp64);
  // A program's launches are all there are, and no sample.
  for (const Point& point : recorded("h200-train").points) EXPECT_FALSE(badly_measured(point));
}

// --- shares of the roof ---

Point with_share(Interval roof, Interval time) {
  Point point;
  point.time = example::timed(2e-3);
  point.time->ci95 = time;
  point.bound.label = BoundLabel::compute;
  point.bound.attainable_time_s = 1e-3;
  point.bound.limiting_ceiling = "fp32";
  point.bound.resources = {{.ceiling = "fp32",
                            .kind = CeilingKind::compute,
                            .amount = 1e9,
                            .time_s = 1e-3,
                            .ci95 = roof,
                            .regime = Regime::burst,
                            .at_clock_hz = {}}};
  return point;
}

TEST(RoofShare, JoinsTheIntervalsOfRoofAndTime) {
  const RoofShare share = share_of_roof(with_share({0.9e-3, 1.2e-3}, {1.5e-3, 3e-3}));
  EXPECT_DOUBLE_EQ(share.fraction, 0.5);
  EXPECT_DOUBLE_EQ(share.ci95.low, 0.3);
  EXPECT_DOUBLE_EQ(share.ci95.high, 0.8);
  EXPECT_EQ(share_text(share), "50.0 % (30\u201380 %)");
  EXPECT_TRUE(std::isnan(share_of_roof(with_share({0.9e-3, 1.2e-3}, {})).ci95.low));
  EXPECT_EQ(share_text(share_of_roof(with_share({}, {1.5e-3, 3e-3}))), "50.0 %");
  EXPECT_EQ(share_text(share_of_roof(with_share({1e-3, 1.002e-3}, {1.998e-3, 2.002e-3}))), "50.0 % (50.0\u201350.2 %)");
}

TEST(PaceOfRoof, IsThatOfWhatTheRowWaitsFor) {
  Point point;
  point.bound.label = BoundLabel::compute;
  point.bound.attainable_time_s = 8;
  const auto resource = [](const std::string& ceiling, CeilingKind kind, double time_s) {
    ResourceTime of;
    of.ceiling = ceiling;
    of.kind = kind;
    of.time_s = time_s;
    return of;
  };
  point.bound.resources = {resource("fp32", CeilingKind::compute, 8), resource("dram.copy", CeilingKind::bandwidth, 2),
                           resource("fp16", CeilingKind::compute, kNaN),
                           resource("launch.pool", CeilingKind::overhead, 1)};
  EXPECT_EQ(reference_rate_of_roof(point), std::nullopt);
  EXPECT_FALSE(is_under_contention(point));
  point.reference_rates = {.copy = 0.4, .arithmetic = 1};
  EXPECT_DOUBLE_EQ(reference_rate_of_roof(point).value(), 1) << "memory had time enough at that pace";
  EXPECT_FALSE(is_under_contention(point));
  point.reference_rates->copy = 0.125;
  EXPECT_DOUBLE_EQ(reference_rate_of_roof(point).value(), 0.5) << "now it waits for memory";
  EXPECT_TRUE(is_under_contention(point));
  point.reference_rates = {.copy = 1, .arithmetic = 0.5};
  EXPECT_DOUBLE_EQ(reference_rate_of_roof(point).value(), 0.5);
  point.bound = Bound{};
  EXPECT_EQ(reference_rate_of_roof(point), std::nullopt);
  point.reference_rates.reset();
  point.contention = Contention{.wall_s = 1};
  EXPECT_TRUE(is_under_contention(point));
}

TEST(PaceOfRoof, CachesHaveTheSpeedOfTheCores) {
  Point point;
  point.bound.label = BoundLabel::memory;
  point.bound.attainable_time_s = 8;
  ResourceTime l2;
  l2.ceiling = "l2.read";
  l2.kind = CeilingKind::bandwidth;
  l2.time_s = 8;
  point.bound.resources = {l2};
  point.reference_rates = {.copy = 0.4, .arithmetic = 0.9};
  EXPECT_DOUBLE_EQ(reference_rate_of_roof(point).value(), 0.9);
}

/// Time at 60 % of the calibrated speed, and the probe beside it just as slow.
Point paired_on_a_slow_machine() {
  Point point;
  point.bound.label = BoundLabel::memory;
  point.bound.limiting_ceiling = "dram.copy";
  point.bound.attainable_time_s = 6;
  point.bound.resources = {
      {.ceiling = "dram.copy", .kind = CeilingKind::bandwidth, .amount = 1, .time_s = 6, .ci95 = {5.9, 6.1}}};
  point.time = example::timed(11, 0.2);
  point.time->drifting = true;
  point.reference_rates = ReferenceRates{.copy = 0.55, .arithmetic = 0.55};
  point.paired = PairedFraction{.ceiling = "dram.copy", .fraction = 0.8, .ci95 = {0.79, 0.81}, .pairs = 40};
  return point;
}

TEST(RoofShare, APairedFractionNeedsNoQuietMachine) {
  Point point = paired_on_a_slow_machine();
  EXPECT_DOUBLE_EQ(share_of_roof(point).fraction, 0.8);
  EXPECT_DOUBLE_EQ(share_of_roof(point).ci95.low, 0.79);
  EXPECT_DOUBLE_EQ(time_at_roof_speed(point), 6 / 0.8);
  EXPECT_FALSE(badly_measured(point));
  EXPECT_FALSE(is_under_contention(point));
  EXPECT_TRUE(is_slowed(point)) << "its absolute time is still the machine's";
  point.contention = Contention{.wall_s = 1};
  EXPECT_TRUE(is_under_contention(point)) << "measured load of others";
  point.contention.reset();
  point.paired->ci95 = {0.7, 0.9};
  EXPECT_TRUE(badly_measured(point));
  point.paired.reset();
  EXPECT_TRUE(badly_measured(point) && is_under_contention(point));
}

TEST(RoofShare, SaysWhatItIsOf) {
  Report report;
  report.machine.device.kind = DeviceKind::cpu;
  report.points = {paired_on_a_slow_machine()};  // 6 s attainable, 11 s measured: 54.5 % of the calibrated roof
  Point& point = report.points[0];
  point.bound.resources[0].amount = 60e9;
  EXPECT_EQ(share_basis(point, report), ShareBasis::probe);
  EXPECT_EQ(probe_rates_text(point), "") << "of an earlier version";
  point.paired->fraction = 0.95;
  point.paired->ci95 = {0.94, 0.96};
  point.paired->probe_value = 5.74e9;
  EXPECT_THAT(probe_rates_text(point), mentions("5.74 GB/s", "10 GB/s"));
  EXPECT_THAT(verdicts(report).at(0).finding, mentions("95.0 %", "5.74 GB/s", "10 GB/s"));
  for (const double seconds : {6.2, 6.6}) {
    point.time = example::timed(seconds, 0.2);
    EXPECT_EQ(share_basis(point, report), ShareBasis::roof) << "the probe was about as fast as its roof";
  }
  EXPECT_THAT(verdicts(report).at(0).finding, Not(HasSubstr("GB/s")));
  report.points.push_back(point);
  report.points[1].paired.reset();
  EXPECT_EQ(share_basis(report.points[1], report), ShareBasis::unpaired);
  report.points.resize(4, report.points[1]);
  EXPECT_EQ(share_basis(report.points[1], report), ShareBasis::roof) << "as most others";
  report.points.resize(2);
  report.points[0].paired.reset();
  EXPECT_EQ(share_basis(report.points[1], report), ShareBasis::roof) << "as all others";
}

/// One row of 52 GB/s is at its roof of 83 GB/s, the other at 63 % of it: each output says why.
TEST(RoofShare, IsExplainedWhereRowsDiffer) {
  Report report = example::sample_report();
  ASSERT_GE(report.points.size(), 2U);
  report.points.resize(2);
  for (Point& point : report.points) {
    point.time = example::timed(point.bound.attainable_time_s / 0.627, 0.001);
    point.contention.reset();
    point.paired.reset();
  }
  const std::string plain = render_terminal(report, {.columns = 200});
  const std::string plain_chart = render_svg(report);
  const ResourceTime& limit = report.points[0].bound.resources.front();
  const double probe = 0.623 * limit.amount / limit.time_s;
  report.points[0].paired = PairedFraction{report.points[0].bound.limiting_ceiling, 1.007, {0.99, 1.05}, 41, probe};
  const std::string text = render_terminal(report, {.unicode = true, .columns = 200});
  const std::string rates = probe_rates_text(report.points[0]);
  EXPECT_THAT(text, mentions("*100.7 %", "\u202062.7 %", "*: ", "\u2020:", rates));
  EXPECT_THAT(plain, Not(HasSubstr("*: ")));
  EXPECT_THAT(render_markdown(report), mentions(rates, "not paired"));
  EXPECT_THAT(render_html(report), mentions(rates, "not paired"));
  EXPECT_GT(render_svg(report).size(), plain_chart.size());
  EXPECT_THAT(render_csv(report), HasSubstr("paired_probe_value"));
}

TEST(Verdict, OfAPairedRowIsOfItsKernelAtAnySpeedOfTheMachine) {
  Report report;
  report.machine.device.kind = DeviceKind::cpu;
  report.points = {paired_on_a_slow_machine()};
  EXPECT_NE(verdicts(report).at(0).kind, VerdictKind::measure);
  EXPECT_NEAR(verdicts(report).at(0).gain_s, 0.2 * 11, 1e-9);
  report.points[0].paired->fraction = 0.95;
  report.points[0].paired->ci95 = {0.94, 0.96};
  EXPECT_EQ(verdicts(report).at(0).kind, VerdictKind::at_roof);
  report.points[0].paired->fraction = 1.2;
  report.points[0].paired->ci95 = {1.19, 1.21};
  EXPECT_EQ(verdicts(report).at(0).rule, "above-paired-roof");
  report.points[0].paired.reset();
  EXPECT_EQ(verdicts(report).at(0).kind, VerdictKind::measure) << "without pairs nothing is known";
}

TEST(RoofShare, OfTheRecordedProducts) {
  const Report report = recorded("h200-ops");
  for (const Point& point : report.points) {
    const RoofShare share = share_of_roof(point);
    EXPECT_DOUBLE_EQ(share.fraction, point.fraction_of_roof());
    const auto burst = share_of_burst_roof(point, report.machine);
    const bool moved = point.bound.resources.front().at_clock_hz || point.bound.regime != Regime::burst;
    EXPECT_EQ(burst.has_value(), moved) << point_name(point);
    // Power held all of these below the clock of the burst roof.
    if (burst) {
      EXPECT_LT(burst->fraction, share.fraction) << point_name(point);
    }
    if (std::isfinite(share.ci95.low)) {
      EXPECT_LE(share.ci95.low, share.fraction);
      EXPECT_GE(share.ci95.high, share.fraction);
    }
  }
}

TEST(RoofShare, HostileFiguresGiveNone) {
  for (const double bad : {0.0, -1.0, kNaN, kInfinity}) {
    Point point = with_share({0.9e-3, 1.2e-3}, {1.5e-3, 3e-3});
    point.time->median = bad;
    EXPECT_FALSE(share_of_roof(point).fraction > 0) << bad;
    point = with_share({bad, bad}, {bad, bad});
    EXPECT_FALSE(std::isfinite(share_of_roof(point).ci95.high)) << bad;
    point.bound.attainable_time_s = bad;
    if (!(bad > 0)) {
      EXPECT_EQ(share_text(share_of_roof(point)), kAbsent);
    }
  }
  Point point = with_share({}, {});
  point.bound.resources.clear();
  EXPECT_EQ(share_text(share_of_roof(point)), kAbsent);
  EXPECT_EQ(share_of_burst_roof(point, Machine{}), std::nullopt);
  EXPECT_EQ(share_text(share_of_roof(Point{})), kAbsent);
  EXPECT_FALSE(badly_measured(Point{}));
}

TEST(Verdicts, HostileFiguresDoNoHarm) {
  for (const double bad : {0.0, -1.0, kNaN, kInfinity, 1e-300, 1e300}) {
    Report report = example::counted_sample_report();
    for (Point& point : report.points) {
      if (!point.time) continue;
      point.time->median = bad;
      point.time->clock_hz = bad;
      if (point.counters)
        for (auto& [id, value] : point.counters->values) value = bad;
    }
    const std::vector<Verdict> all = verdicts(report);
    EXPECT_FALSE(all.empty());
    for (const Verdict& verdict : all) {
      for (const std::string& text : texts_of(verdict)) {
        EXPECT_THAT(text, AllOf(Not(HasSubstr("{")), Not(HasSubstr("nan")))) << bad;
      }
      EXPECT_FALSE(verdict.gain_s < 0) << bad;
    }
    EXPECT_FALSE(where_to_spend_time(all, report).empty());
    EXPECT_FALSE(findings(report).empty());
  }
  EXPECT_TRUE(verdicts(Report{}).empty());
  EXPECT_TRUE(where_to_spend_time({}, Report{}).empty());
}

// --- without counters, and on a CPU ---

/// The first row of the sample's CPU that has that op.
struct OnCpu {
  Report report = example::cpu_sample_report();
  Point& point;

  explicit OnCpu(const std::string& op) : point(only(report, op)) {}
  static Point& only(Report& report, const std::string& op) {
    std::erase_if(report.points, [&](const Point& point) { return point.workload.op != op; });
    return report.points.front();
  }
  void at(double fraction) { point.time = example::timed(point.bound.attainable_time_s / fraction); }
  Verdict verdict() const { return verdicts(report).front(); }
};

TEST(CpuVerdicts, ArithmeticOneElementAtATime) {
  OnCpu gemm("gemm");
  gemm.at(1.15 / 8);
  EXPECT_EQ(gemm.verdict().rule, "no-vectors");
  gemm.at(1.25 / 8);
  EXPECT_NE(gemm.verdict().rule, "no-vectors");
}

TEST(CpuVerdicts, ScalarCodeIsHalfAsFarBelowVectorsThatAreSplit) {
  OnCpu gemm("gemm");
  gemm.report.machine.ceilings.push_back(example::compute(Pipe::fp32, 0));
  Ceiling& one_core = gemm.report.machine.ceilings.back();
  one_core.name = "fp32.one_core";
  one_core.clocks.core_hz = 3e9;
  gemm.at(2.2 / 8);
  one_core.value = 3e9 * 2 * 2 * 8;  // two FMAs of all 8 elements per cycle
  EXPECT_NE(gemm.verdict().rule, "no-vectors");
  one_core.value = 3e9 * 2 * 2 * 4;
  EXPECT_EQ(gemm.verdict().rule, "no-vectors");
}

TEST(CpuVerdicts, NoFasterThanOneCore) {
  OnCpu gemm("gemm");
  gemm.report.machine.device.units = 4;
  gemm.report.machine.ceilings.push_back(example::compute(Pipe::fp32, 207e9 / 4));
  gemm.report.machine.ceilings.back().name = "fp32.one_core";
  gemm.at(0.25);
  EXPECT_EQ(gemm.verdict().rule, "one-core");
  gemm.at(0.27);
  EXPECT_NE(gemm.verdict().rule, "one-core");
  gemm.at(0.25);
  gemm.report.machine.device.units = 2;
  EXPECT_NE(gemm.verdict().rule, "one-core");
}

/// A row on one of eight threads, below the roofs of one core.
OnCpu on_one_thread(double fraction) {
  OnCpu relu("relu");
  relu.report.machine.device.units = 8;
  Ceiling one = example::bandwidth(Level::dram, Pattern::copy, 21.3e9 / 4);
  one.name += kOneCore;
  one.role = Role::reference;
  relu.report.machine.ceilings.push_back(one);
  relu.point.work.threads = 1;
  relu.point.work.launches = 0;
  relu.point.bound = bound_of(relu.point.work, relu.report.machine);
  relu.at(fraction);
  return relu;
}

TEST(CpuVerdicts, ThreadsWithoutWorkComeFirst) {
  const OnCpu slow = on_one_thread(0.5);
  EXPECT_EQ(slow.point.bound.limiting_ceiling, "dram.copy.one_core");
  EXPECT_EQ(slow.verdict().rule, "some-threads");
  EXPECT_NEAR(fraction_on_all_threads(slow.point, slow.report.machine), 0.5 / 4, 1e-9);
  const Verdict fast = on_one_thread(0.95).verdict();
  EXPECT_EQ(fast.rule, "some-threads");
  EXPECT_EQ(fast.kind, VerdictKind::slow) << "at one core's roof, and seven cores are idle";
  // The saving is what the roofs of one and of all threads allow, whatever the row lacks of its own.
  EXPECT_NEAR(fast.gain_s, (1 - 1.0 / 4) * on_one_thread(0.95).point.time->median, 1e-9);
  EXPECT_NEAR(slow.verdict().gain_s, (1 - 1.0 / 4) * slow.point.time->median, 1e-9);
  OnCpu all("relu");
  all.at(0.5);
  EXPECT_THAT(rules_of(all.verdict()), Not(Contains("some-threads")));
  OnCpu alone = on_one_thread(0.5);
  alone.report.machine.device.units = 1;
  EXPECT_THAT(rules_of(alone.verdict()), Not(Contains("some-threads"))) << "there is no other thread";
}

/// Where one core reaches the roof of all, other threads would save nothing.
TEST(CpuVerdicts, ThreadsThatWouldSaveNothingAreNotAdvised) {
  const auto with_one_core_at = [](double share, double fraction) {
    OnCpu row = on_one_thread(fraction);
    for (Ceiling& ceiling : row.report.machine.ceilings) {
      if (ceiling.name == "dram.copy.one_core") ceiling.value = share * 21.3e9;
    }
    row.point.bound = bound_of(row.point.work, row.report.machine);
    row.at(fraction);
    return row;
  };
  const OnCpu at_wall = with_one_core_at(0.98, 0.95);
  EXPECT_THAT(rules_of(at_wall.verdict()), Not(Contains("some-threads")));
  EXPECT_EQ(at_wall.verdict().kind, VerdictKind::at_roof);
  EXPECT_EQ(at_wall.verdict().gain_s, 0);
  const OnCpu below = with_one_core_at(0.98, 0.5);
  EXPECT_THAT(rules_of(below.verdict()), Not(Contains("some-threads")));
  EXPECT_NEAR(below.verdict().gain_s, 0.5 * below.point.time->median, 1e-9) << "of its own roof";
  EXPECT_EQ(with_one_core_at(0.9, 0.5).verdict().rule, "some-threads");
}

/// Seven idle threads of eight cost at most 7/8 of the time; a row that lacks more of its own roof has a larger cause.
TEST(CpuVerdicts, WhatCostsMoreThanIdleThreadsComesFirst) {
  const auto with_dependent_sum = [](double fraction) {
    OnCpu row = on_one_thread(fraction);
    for (const auto& [kind, ratio] :
         {std::pair(ExperimentKind::in_cache, 0.99), std::pair(ExperimentKind::reassociated, 0.2),
          std::pair(ExperimentKind::unvectorized, 1.0)}) {
      row.point.experiments.push_back({.kind = kind, .variant = "", .ratio = ratio, .ci95 = {}});
    }
    return row.verdict();
  };
  const Verdict far = with_dependent_sum(0.05);
  EXPECT_EQ(far.rule, "dependent-sum");
  EXPECT_THAT(rules_of(far), Contains("some-threads"));
  const Verdict near = with_dependent_sum(0.5);
  EXPECT_EQ(near.rule, "some-threads") << "all threads save 3/4, and it lacks half";
  EXPECT_EQ(on_one_thread(0.05).verdict().rule, "some-threads") << "no other cause is known";
}

/// Other programs slowed the row and its change alike: a change that makes it eight times as fast shows the cause.
TEST(CpuVerdicts, OtherLoadHidesNoCauseThatAChangeShows) {
  for (const double high : {0.13, 0.9}) {
    OnCpu relu("relu");
    relu.at(0.1);
    relu.point.contention = Contention{.wall_s = 10, .cpus = 2, .cores = 2, .others_s = 2};
    for (const auto& [kind, ratio] :
         {std::pair(ExperimentKind::in_cache, 0.99), std::pair(ExperimentKind::reassociated, 0.125),
          std::pair(ExperimentKind::unvectorized, 1.0)}) {
      relu.point.experiments.push_back({.kind = kind, .variant = "", .ratio = ratio, .ci95 = {}});
    }
    relu.point.experiments[1].ci95 = {0.12, high};
    EXPECT_EQ(relu.verdict().rule, high < 0.5 ? "dependent-sum" : "disturbed");
  }
}

/// Calibrations before caches had roofs of loops that write where they read.
TEST(CpuVerdicts, InPlaceInACacheIsAboveTheRoofOfSeparateBuffers) {
  for (const bool in_place : {true, false}) {
    OnCpu relu("relu");
    relu.point.work.cache = Level::l2;
    relu.point.work.bytes.at(Level::dram).in_place = in_place;
    Ceiling l2 = example::bandwidth(Level::l2, Pattern::copy, 100e9);
    relu.report.machine.ceilings.push_back(l2);
    relu.point.bound = bound_of(relu.point.work, relu.report.machine);
    relu.at(1.2);
    EXPECT_EQ(relu.verdict().rule == "above-separate-buffers", in_place) << relu.verdict().rule;
    relu.report.machine.ceilings.push_back(example::bandwidth(Level::l2, Pattern::update, 100e9));
    relu.point.bound = bound_of(relu.point.work, relu.report.machine);
    relu.at(1.2);
    EXPECT_NE(relu.verdict().rule, "above-separate-buffers");
  }
}

/// Without roofs of one thread, the saving is what perfect scaling gives.
TEST(CpuVerdicts, ThreadsSaveAtMostTheirNumber) {
  OnCpu row = on_one_thread(0.5);
  std::erase_if(row.report.machine.ceilings, [](const Ceiling& one) { return one.name.ends_with(kOneCore); });
  row.point.bound = bound_of(row.point.work, row.report.machine);
  row.at(0.01);
  const Verdict verdict = row.verdict();
  EXPECT_EQ(verdict.rule, "some-threads");
  EXPECT_NEAR(verdict.gain_s, 7.0 / 8 * row.point.time->median, 1e-9);
  EXPECT_NEAR(saving_on_own_threads(row.point, row.report.machine), 1 - 0.08, 1e-9);
  EXPECT_THAT(verdict.finding, Not(HasSubstr("of their roof"))) << "that roof was not measured";
  row.at(0.9);
  EXPECT_EQ(saving_on_own_threads(row.point, row.report.machine), 0);
}

/// Starting the threads takes longer than a row of some nanoseconds.
TEST(CpuVerdicts, ARowThatIsShorterThanTheStartOfThreadsStaysOnOne) {
  OnCpu row = on_one_thread(0.5);
  Ceiling pool = example::bandwidth(Level::dram, Pattern::copy, 2e5);
  pool.name = "launch.pool";
  pool.kind = CeilingKind::overhead;
  pool.level.reset();
  pool.pattern.reset();
  std::erase_if(row.report.machine.ceilings, [](const Ceiling& one) { return one.kind == CeilingKind::overhead; });
  row.report.machine.ceilings.push_back(pool);
  row.point.work.bytes[Level::dram] = {.read = 50, .write = 50};
  row.point.work.flops.clear();
  row.point.bound = bound_of(row.point.work, row.report.machine);
  row.at(0.5);
  EXPECT_THAT(rules_of(row.verdict()), Not(Contains("some-threads")));
  EXPECT_LT(row.verdict().gain_s, row.point.time->median);
}

/// The count is in question only above a roof that is confirmed.
TEST(CpuVerdicts, AboveARoofTheRoofIsInDoubtFirst) {
  OnCpu above = on_one_thread(1.5);
  EXPECT_EQ(above.verdict().rule, "above-roof");
  above.point.bound.provisional = true;
  EXPECT_EQ(above.verdict().rule, "above-provisional-roof");
  above.point.bound.suspect = true;
  EXPECT_EQ(above.verdict().rule, "above-suspect-roof");
}

TEST(CpuVerdicts, OfARowThatACacheServesDoNotSpeakOfMainMemory) {
  OnCpu relu("relu");
  relu.point.workload.cache = CacheMode::hot;
  relu.point.work.flops = {{Pipe::fp32, 2.5e4}};
  relu.point.work.bytes[Level::dram] = {.read = 1e5, .write = 1e5};
  relu.point.work.cache = Level::l2;
  relu.point.work.launches = 0;
  relu.point.bound = bound_of(relu.point.work, relu.report.machine);
  relu.at(0.5);
  EXPECT_EQ(relu.verdict().rule, "uncounted-cache");
  relu.report.machine.device.huge_page_share = 0;
  EXPECT_EQ(relu.verdict().rule, "uncounted-cache") << "pages matter to main memory";
  // The experiment in L2 is the same run.
  relu.point.experiments = {
      {.kind = ExperimentKind::in_cache, .variant = "n=1", .ratio = 1, .ci95 = {0.99, 1.01}, .count = 0}};
  EXPECT_EQ(relu.verdict().rule, "uncounted-cache");
  relu.point.experiments[0].kind = ExperimentKind::in_l1;
  EXPECT_EQ(relu.verdict().rule, "core-bound");
  relu.point.experiments[0].ratio = 0.75;
  EXPECT_EQ(relu.verdict().rule, "no-overlap");
  relu.point.experiments[0].ratio = 0.5;
  EXPECT_EQ(relu.verdict().rule, "cache-limited");
  relu.point.experiments[0].kind = ExperimentKind::in_cache;
  relu.point.experiments[0].ratio = 1;
  relu.point.work.cache = Level::l3;
  relu.point.bound = bound_of(relu.point.work, relu.report.machine);
  relu.at(0.5);
  EXPECT_EQ(relu.verdict().rule, "core-bound") << "from L2 it is no faster than from L3";
  relu.point.work.cache.reset();
  relu.point.bound = bound_of(relu.point.work, relu.report.machine);
  relu.at(0.5);
  EXPECT_EQ(relu.verdict().rule, "core-bound");
}

TEST(CpuVerdicts, AHotRowLargerThanTheCachesIsNoWrongCount) {
  OnCpu relu("relu");
  relu.point.workload.cache = CacheMode::hot;
  relu.point.work.bytes[Level::dram] = {.read = 40e6, .write = 40e6};
  relu.point.work.launches = 0;
  relu.point.bound = bound_of(relu.point.work, relu.report.machine);
  relu.at(1.5);
  EXPECT_EQ(relu.verdict().rule, "partly-cached");
  relu.at(0.95);
  EXPECT_EQ(relu.verdict().kind, VerdictKind::at_roof);
}

TEST(CpuVerdicts, OrdinaryStores) {
  OnCpu relu("relu");
  Ceiling regular = example::bandwidth(Level::dram, Pattern::copy, 14.2e9);
  regular.name = "dram.copy.regular";
  regular.role = Role::reference;
  relu.report.machine.ceilings.push_back(regular);
  relu.at(14.2 / 21.3);
  relu.point.work.write_only = relu.point.work.bytes.at(Level::dram).write;
  EXPECT_EQ(relu.verdict().rule, "ordinary-stores");
  // Buffers that are read, too, or whose writes are not known, and outputs that the cache holds, gain nothing.
  for (const std::optional<double> write_only :
       {std::optional<double>(0), std::optional<double>(),
        std::optional<double>(0.9 * relu.report.machine.largest_cache_bytes())}) {
    relu.point.work.write_only = write_only;
    EXPECT_NE(relu.verdict().rule, "ordinary-stores");
  }
  relu.point.work.write_only = relu.point.work.bytes.at(Level::dram).write;
  // A kernel that stores past the caches is as slow for another reason.
  relu.point.non_temporal_stores = true;
  EXPECT_NE(relu.verdict().rule, "ordinary-stores");
  relu.point.non_temporal_stores = false;
  // In place there is nothing to store past.
  relu.point.work.bytes.at(Level::dram).in_place = true;
  EXPECT_NE(relu.verdict().rule, "ordinary-stores");
  relu.point.work.bytes.at(Level::dram).in_place = false;
  EXPECT_EQ(relu.verdict().rule, "ordinary-stores");
  relu.at(0.8);
  EXPECT_NE(relu.verdict().rule, "ordinary-stores");
}

TEST(CpuVerdicts, PagesAndNodes) {
  OnCpu reduction("reduction");
  reduction.at(0.7);
  EXPECT_EQ(reduction.verdict().rule, "uncounted-memory");
  reduction.report.machine.device.huge_page_share = 0;
  EXPECT_EQ(reduction.verdict().rule, "small-pages");
  reduction.report.machine.device.huge_page_share = 1;
  reduction.report.machine.device.attributes = {{AttributeKey::numa_nodes, "2"}};
  EXPECT_EQ(reduction.verdict().rule, "uncounted-memory");
  for (const auto& [name, value] : {std::pair("numa.local", 20e9), std::pair("numa.remote", 11e9)}) {
    reduction.report.machine.ceilings.push_back(example::bandwidth(Level::dram, Pattern::read, value));
    reduction.report.machine.ceilings.back().name = name;
    reduction.report.machine.ceilings.back().role = Role::reference;
  }
  EXPECT_EQ(reduction.verdict().rule, "numa");
  EXPECT_THAT(reduction.verdict().finding, HasSubstr("55.0 %"));
}

TEST(CpuVerdicts, BlocksForCachesOrTheInnerLoop) {
  OnCpu gemm("gemm");
  gemm.at(0.6);
  EXPECT_EQ(gemm.verdict().rule, "instruction-mix");  // three matrices of 4 MiB, and 32 MiB of cache
  gemm.report.machine.device.caches = {{Level::l2, 512.0 * 1024, 2}};
  EXPECT_EQ(gemm.verdict().rule, "cache-blocks");
}

TEST(CpuVerdicts, FewerThreadsThanCoresAreNoted) {
  OnCpu relu("relu");
  relu.report.machine.device.attributes = {{AttributeKey::physical_cores, "2"}};
  EXPECT_THAT(rules_of(relu.verdict()), Not(Contains("few-threads")));
  relu.report.machine.device.attributes = {{AttributeKey::physical_cores, "8"}};
  relu.at(0.5);
  EXPECT_THAT(rules_of(relu.verdict()), Contains("few-threads"));
}

TEST(CpuVerdicts, SpeakOfNothingThatOnlyAGpuHas) {
  static const std::regex kGpu(
      R"(warp|\bSMs?\b|block of threads|blocks of|registers (a|per) thread|shared memory|tensor)");
  Report report = example::cpu_sample_report();
  for (const double fraction : {0.05, 0.13, 0.3, 0.5, 0.7, 0.85, 0.95}) {
    for (Point& point : report.points) point.time = example::timed(point.bound.attainable_time_s / fraction);
    for (const Verdict& verdict : verdicts(report)) {
      for (const std::string& text : texts_of(verdict)) EXPECT_FALSE(std::regex_search(text, kGpu)) << text;
      EXPECT_EQ(verdict.kind == VerdictKind::at_roof, fraction > 0.9);
      EXPECT_EQ(verdict.total_gain_s > 0, fraction < 0.9);
    }
  }
}

TEST(Verdicts, WithoutCountersTheModelSaysWhatItCan) {
  Report report = recorded("h200-ops");
  for (Point& point : report.points) point.counters.reset();
  for (const Verdict& verdict : verdicts(report)) {
    const Point& point = report.points[verdict.row];
    if (!(point.fraction_of_roof() < 0.9)) continue;
    EXPECT_GT(verdict.gain_s, 0);
    EXPECT_FALSE(verdict.evidence.empty()) << point_name(point);
    const bool explained = verdict.rule == "second-pipe";  // by the model: so many exponentials
    EXPECT_EQ(verdict.kind, explained ? VerdictKind::slow : VerdictKind::unknown) << verdict.rule;
    if (!explained) {
      EXPECT_THAT(verdict.action, HasSubstr("--counters"));
    }
  }
}

}  // namespace
}  // namespace roofline
