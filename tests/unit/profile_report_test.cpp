// What is said of a profiled program, in every output: figures that add up, the largest first, and no sentence that
// only makes sense for a suite.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "render/chart/chart.hpp"
#include "render/render.hpp"
#include "report/comparison/comparison.hpp"
#include "report/diagnosis/cause_lines.hpp"
#include "report/findings.hpp"
#include "report/hotspots.hpp"
#include "report/largest_line.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/step_findings.hpp"
#include "report/work_source.hpp"
#include "tests/support/mentions.hpp"
#include "tests/support/profile_report.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A profile of one GPU, as a program spends its seconds, with a row at half of its roof.
Report report_of(const WallTime& wall, double kernel_s, double roofed_s, double at_roof_s) {
  Report report;
  Profile& profile = report.profile.emplace();
  profile.wall_s = wall.wall_s;
  profile.kernel_s = kernel_s;
  profile.roofed_s = roofed_s;
  profile.at_roof_s = at_roof_s;
  profile.counters = true;
  profile.devices = {wall};
  return report;
}

std::vector<double> seconds_of(const Budget& budget) {
  std::vector<double> seconds;
  for (const WallShare& share : budget.shares) seconds.push_back(share.seconds);
  return seconds;
}

TEST(ProfileBudget, DividesTheWallTimeWithoutRemainder) {
  const WallTime wall{.device = 0,
                      .device_name = "G",
                      .wall_s = 10,
                      .before_s = 1,
                      .kernels_s = 4,
                      .copies_s = 2,
                      .idle_launching_s = 1,
                      .idle_waiting_s = 0.5,
                      .idle_elsewhere_s = 1,
                      .after_s = 0.5};
  // Eight seconds of kernels in four: each has half of its time.
  const Budget budget = budgets(report_of(wall, 8, 6, 2)).at(0);
  EXPECT_DOUBLE_EQ(budget.wall_s, 10);
  EXPECT_DOUBLE_EQ(budget.seconds(WallPart::at_roof), 1);
  EXPECT_DOUBLE_EQ(budget.seconds(WallPart::beyond), 2);
  EXPECT_DOUBLE_EQ(budget.seconds(WallPart::no_roof), 1);
  EXPECT_DOUBLE_EQ(budget.seconds(WallPart::copies), 2);
  EXPECT_EQ(budget.seconds(WallPart::unknown), 0);
  const std::vector<double> seconds = seconds_of(budget);
  EXPECT_DOUBLE_EQ(std::accumulate(seconds.begin(), seconds.end(), 0.0), 10);
}

TEST(ProfileBudget, WhatAFileLeavesIsSaid) {
  const Budget budget =
      budgets(report_of({.device = 0, .device_name = "", .wall_s = 5, .kernels_s = 2}, 2, 2, 1)).at(0);
  EXPECT_DOUBLE_EQ(budget.seconds(WallPart::unknown), 3);
}

TEST(ProfileBudget, ShownFiguresAddUpToTheShownWhole) {
  for (const double scale : {1.0, 1e-3, 37.7, 3e-6, 4000.0}) {
    WallTime wall{.device = 0,
                  .device_name = "G",
                  .wall_s = 0,
                  .before_s = 0.3333,
                  .kernels_s = 1.0049,
                  .copies_s = 0.0149,
                  .idle_launching_s = 0.4449,
                  .idle_waiting_s = 0.2249,
                  .idle_elsewhere_s = 0.1249,
                  .after_s = 0.0049};
    for (double* part : {&wall.before_s, &wall.kernels_s, &wall.copies_s, &wall.idle_launching_s, &wall.idle_waiting_s,
                         &wall.idle_elsewhere_s, &wall.after_s}) {
      *part *= scale;
      wall.wall_s += *part;
    }
    const Budget budget = budgets(report_of(wall, wall.kernels_s, wall.kernels_s, 0.3 * wall.kernels_s)).at(0);
    std::int64_t steps = 0;
    for (const WallShare& share : budget.shares) steps += share.steps;
    EXPECT_EQ(steps, budget.steps) << scale;
    // Rounded, and never by more than a step.
    for (const WallShare& share : budget.shares) {
      EXPECT_NEAR(static_cast<double>(share.steps) * budget.step_s, share.seconds, budget.step_s) << scale;
    }
  }
}

TEST(ProfileBudget, UnitsFollowTheWhole) {
  const auto text = [](double wall_s) {
    const Budget budget =
        budgets(report_of({.device = 0, .device_name = "", .wall_s = wall_s, .after_s = wall_s}, 0, 0, 0)).at(0);
    return budget.text(budget.steps);
  };
  EXPECT_EQ(text(6.9), "6.90 s");
  EXPECT_EQ(text(0.0041), "4.10 ms");
  EXPECT_EQ(text(72.44), "72.4 s");
  EXPECT_EQ(text(0.9999), "1.00 s");
  EXPECT_EQ(text(1800), "30.0 min");
  EXPECT_EQ(text(36000), "10.0 h");
}

TEST(ProfileAnswer, SaysHowLongItTookAndHowLongItHadTo) {
  const WallTime wall{.device = 0, .device_name = "G", .wall_s = 8.1, .before_s = 1.1, .kernels_s = 6, .copies_s = 1};
  const Report report = report_of(wall, 6, 6, 2.3);
  EXPECT_THAT(answer(report), mentions("8.10 s", "2.30 s"));
  const auto part = [](const char* time, WallPart of) { return time + (" " + std::string(name_of(of))); };
  EXPECT_THAT(time_above_roofs(report),
              mentions("5.80 s", part("3.70 s", WallPart::beyond) + "; " + part("1.10 s", WallPart::before) + "; " +
                                     part("1.00 s", WallPart::copies)));
}

TEST(ProfileAnswer, WithoutCountersSaysWhyAndWhatWouldAllowThem) {
  const Report report = example::uncounted_profile_report();
  EXPECT_THAT(answer(report), mentions("4.09 s", "59.2 %"));
  EXPECT_THAT(answer(report), Not(HasSubstr("roof")));
  EXPECT_THAT(why_no_roofs(report), HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_THAT(why_no_roofs(report), HasSubstr("CAP_SYS_ADMIN"));
  EXPECT_EQ(why_no_roofs(example::profile_report()), "");
}

TEST(ProfileAnswer, OfAProgramThatUsedNoGpu) {
  Report report;
  report.profile.emplace().wall_s = 2;
  EXPECT_THAT(answer(report), mentions("2 s", "no GPU"));
  EXPECT_EQ(time_above_roofs(report), "");
  for (const std::string& text : {render_html(report), render_markdown(report), render_terminal(report, {})}) {
    EXPECT_THAT(text, HasSubstr(answer(report)));
  }
}

TEST(ProfileAnswer, SeveralGpusAreToldTogetherAndOneByOne) {
  Report report = example::profile_report();
  report.profile->devices.push_back(report.profile->devices[0]);
  report.profile->devices[1].device = 1;
  const Budget whole = whole_budget(report).value();
  EXPECT_DOUBLE_EQ(whole.wall_s, budgets(report)[0].wall_s + budgets(report)[1].wall_s);
  EXPECT_THAT(answer(report), mentions("2 GPUs", "13.8 s"));
}

TEST(ProfileSteps, TheAnswerIsAStep) {
  Report report = example::stepped_profile_report();
  const Steps& steps = *report.profile->steps;
  EXPECT_THAT(answer(report), mentions("13.4 ms", "350 steps", "13.1 ms", "14.2 ms", duration(steps.at_roof_s)));
  EXPECT_THAT(why_no_steps(report), "");
  report.profile->steps->untouched_s = 12.9e-3;
  EXPECT_THAT(answer(report), HasSubstr("12.9 ms"));
  report.profile->steps.reset();
  report.profile->why_no_steps = "most launches do not repeat";
  EXPECT_THAT(why_no_steps(report), HasSubstr("most launches do not repeat"));
  EXPECT_THAT(answer(report), Not(HasSubstr("13.4 ms")));
}

TEST(ProfileSteps, TheBarIsOfAStepAndThatOfTheRunRemains) {
  const Report report = example::stepped_profile_report();
  const Steps& steps = *report.profile->steps;
  const Budget step = budgets(report).at(0);
  EXPECT_NEAR(step.wall_s, steps.total_s / static_cast<double>(steps.count), 1e-12);
  for (const WallPart part : {WallPart::before, WallPart::after, WallPart::counting}) EXPECT_EQ(step.seconds(part), 0);
  EXPECT_NEAR(run_budgets(report).at(0).wall_s, report.profile->wall_s, 1e-9);
  std::int64_t shown = 0;
  for (const WallShare& share : step.shares) shown += share.steps;
  EXPECT_EQ(shown, step.steps);
}

TEST(ProfileSteps, WhatToDoFirstIsTheLargestRecurringSavingWithACause) {
  Report report = example::stepped_profile_report();
  for (Saving& saving : report.profile->savings) {
    if (saving.cause == SavingCause::item_sync) saving.seconds = 3;
    if (saving.one_off) saving.seconds = 4;
  }
  const auto first = [&report] { return first_action(report, hotspots_of(report, verdicts(report))); };
  EXPECT_THAT(first(), mentions("train.py:41 main", duration(3. / 350), "Read it every N steps."));
  for (Saving& saving : report.profile->savings) {
    if (saving.cause == SavingCause::item_sync) saving.cause = SavingCause::unknown_idle;
  }
  EXPECT_THAT(first(), Not(HasSubstr("train.py:41 main")));
  report.profile->steps.reset();
  EXPECT_NE(first(), "") << "of the whole run";
  EXPECT_THAT(first(), Not(HasSubstr("a step")));
}

/// A kernel that is below its roof for no known reason is listed, and not what to begin with.
TEST(ProfileSteps, WhatToDoFirstHasACauseAndAnAction) {
  const Report report = example::stepped_profile_report();
  std::vector<Hotspot> hotspots = hotspots_of(report, verdicts(report));
  std::erase_if(hotspots, [](const Hotspot& hotspot) { return !(hotspot.seconds > 0) || hotspot.one_off; });
  ASSERT_GT(hotspots.size(), 1U);
  hotspots.front().action = "the larger one";
  hotspots[1].action = "the smaller one";
  EXPECT_THAT(first_action(report, hotspots), HasSubstr("the larger one"));
  hotspots.front().actionable = false;
  EXPECT_THAT(first_action(report, hotspots), HasSubstr("the smaller one"));
  for (Hotspot& hotspot : hotspots) hotspot.actionable = false;
  EXPECT_NE(first_action(report, hotspots), "");
  EXPECT_THAT(first_action(report, hotspots), Not(HasSubstr("the ")));
}

/// Unused memory is said first, but not before what takes a third of a step.
TEST(ProfileSteps, FragmentedMemoryGivesWayToALargeSaving) {
  const Report report = example::stepped_profile_report();
  const double step_s = whole_budget(report)->wall_s;
  Hotspot memory, time;
  memory.memory = true;
  memory.action = "the remedy";
  time.action = "the change";
  for (const SavingCause cause : {SavingCause::fragmentation, SavingCause::memory_growth}) {
    for (const double share : {0.2, 0.5}) {
      memory.cause = cause;
      time.seconds = share * step_s;
      const bool time_first = cause == SavingCause::fragmentation && share > 0.3;
      EXPECT_THAT(first_action(report, {memory, time}), HasSubstr(time_first ? "the change" : "the remedy"));
    }
  }
}

/// What a function loses for several reasons is said with the largest of them.
TEST(ProfileSteps, WhatAFunctionLosesInAll) {
  const Report report = example::stepped_profile_report();
  const double step_s = whole_budget(report)->wall_s;
  const auto loses = [&](const char* line, double share) {
    Hotspot hotspot;
    hotspot.cause = SavingCause::copies;
    hotspot.line = line;
    hotspot.seconds = share * step_s;
    hotspot.action = "the change";
    return hotspot;
  };
  const auto first = [&](const char* other, double share) {
    return first_action(report, {loses("data.py:31 lookup", 0.4), loses(other, share)});
  };
  EXPECT_THAT(first("data.py:30 Table.lookup", 0.3), mentions(percent(0.4), percent(0.7), "lookup"));
  EXPECT_THAT(first("data.py:30 Table.lookup", 0.05), Not(HasSubstr(percent(0.45))));
  EXPECT_THAT(first("data.py:50 Table.close", 0.3), Not(HasSubstr(percent(0.7))));
  EXPECT_THAT(first("other.py:30 lookup", 0.3), Not(HasSubstr(percent(0.7))));
}

/// Two ranks wait 0.4 of a step for the third, together 0.8: without its delay the step is that much shorter, and if
/// all divide its work, by the third of what they wait.
TEST(ProfileSteps, ALateRankDelaysAStepByWhatOneRankWaits) {
  Report report = example::stepped_profile_report();
  Steps& steps = *report.profile->steps;
  steps.devices.resize(3, steps.devices.front());
  const double step_s = whole_budget(report)->wall_s / 3;
  for (const auto& [cause, share] :
       {std::pair(SavingCause::late_rank, 0.4), std::pair(SavingCause::unequal_work, 0.8 / 3)}) {
    Hotspot hotspot;
    hotspot.cause = cause;
    hotspot.seconds = 0.8 * step_s;
    hotspot.action = "the change";
    EXPECT_THAT(first_action(report, {hotspot}), HasSubstr(percent(share))) << to_string(cause);
  }
}

/// Fusion, kernels that nobody wrote, and copies that no line of the program made.
TEST(ProfileSteps, WhatIsNoFaultOfALineStandsOutLater) {
  const Report report = example::stepped_profile_report();
  const double step_s = whole_budget(report)->wall_s;
  const auto stands_out = [&](Hotspot hotspot, double share) {
    hotspot.seconds = share * step_s;
    hotspot.action = "the change";
    return first_action(report, {hotspot}).starts_with("First");
  };
  Hotspot fusion, generated, copies, own_copies;
  fusion.cause = SavingCause::fusion;
  generated.of_library = true;
  copies.cause = own_copies.cause = SavingCause::copies;
  own_copies.line = "train.py:12 step";
  for (const Hotspot& hotspot : {fusion, generated, copies}) {
    EXPECT_FALSE(stands_out(hotspot, 0.15));
    EXPECT_TRUE(stands_out(hotspot, 0.25));
  }
  EXPECT_TRUE(stands_out(own_copies, 0.15));
}

TEST(ProfileSteps, GeneratedKernelsAreThoseOfCompilers) {
  for (const char* const kernel :
       {"loop_multiply_fusion", "input_reduce_fusion_3", "gemm_fusion_dot_11", "wrapped_add", "triton_poi_fused_add_0"})
    EXPECT_TRUE(is_generated_kernel(kernel)) << kernel;
  for (const char* const kernel : {"loop_over_rows", "fusion_reactor_step", "my_triton_kernel", "gemm_kernel"})
    EXPECT_FALSE(is_generated_kernel(kernel)) << kernel;
}

/// A program of few steps may lose most of its time in one of them; what compiles once does not come back.
TEST(ProfileSteps, ASingleEventIsFirstIfItIsMostOfAll) {
  const Report report = example::stepped_profile_report();
  const double step_s = whole_budget(report)->wall_s;
  Hotspot event, time;
  event.one_off = true;
  event.action = "the event";
  time.seconds = 0.2 * step_s;
  time.action = "the change";
  for (const SavingCause cause : {SavingCause::gil, SavingCause::recompilation}) {
    for (const double share : {0.3, 0.7}) {
      event.cause = cause;
      event.seconds = share * step_s;
      const bool first = cause == SavingCause::gil && share > 0.5;
      EXPECT_THAT(first_action(report, {event, time}), HasSubstr(first ? "the event" : "the change"));
    }
  }
}

/// Without a cause, the line with most kernel time is named.
TEST(ProfileSteps, WhereMostOfAStepIsSpent) {
  Report report = example::stepped_profile_report();
  const double step_s = whole_budget(report)->wall_s;
  for (Point& point : report.points) {
    if (point.profiled) point.profiled->step.reset();
  }
  EXPECT_EQ(largest_line(report), "");
  ASSERT_GE(report.points.size(), 2U);
  const auto spend = [&](std::size_t row, const char* line, double share, bool backward) {
    report.points[row].profiled->line = line;
    report.points[row].profiled->backward = backward;
    report.points[row].profiled->step = StepCost{1, share * step_s};
  };
  spend(0, "score.py:48 score", 0.4, false);
  spend(1, "score.py:52 head", 0.3, false);
  EXPECT_THAT(largest_line(report), mentions("score.py:48 score", percent(4. / 7)));
  spend(1, "score.py:48 score", 0.3, true);
  EXPECT_THAT(largest_line(report), mentions("score.py:48 score", percent(1), "backward"));
  report.points[0].profiled->graph = report.points[1].profiled->in_graph = true;
  EXPECT_THAT(largest_line(report), mentions("score.py:48 score", "(in backward)"))
      << "a graph is what its kernels are";
  report.points[0].profiled->graph = report.points[1].profiled->in_graph = false;
  spend(0, "score.py:48 score", 0.1, false);
  spend(1, "score.py:52 head", 0.1, false);
  EXPECT_EQ(largest_line(report), "") << "no line has a good part";
}

TEST(ProfileSteps, HotspotsOfAStepAreNoMoreThanTheSavings) {
  const Report report = example::stepped_profile_report();
  double hotspots_s = 0, savings_s = 0;
  for (const Hotspot& hotspot : hotspots_of(report, verdicts(report))) {
    if (hotspot.seconds > 0 && !hotspot.beside) hotspots_s += hotspot.seconds;
  }
  for (const Saving& saving : report.profile->savings) savings_s += saving.seconds;
  EXPECT_LE(hotspots_s * 350, savings_s * (1 + 1e-12));
}

TEST(ProfileSteps, EveryOutputHasTheStepItsPartsAndItsSlowSteps) {
  const Report report = example::stepped_profile_report();
  for (const std::string& text : {render_html(report), render_markdown(report), render_terminal(report, {})}) {
    EXPECT_THAT(text, mentions("13.4 ms", "Start-up", "After the last step", "cuModuleLoadData 210 ms longer", "once"));
  }
  EXPECT_THAT(render_html(report), HasSubstr("<section id=\"steps\""));
  EXPECT_THAT(render_html(example::profile_report()), Not(HasSubstr("<section id=\"steps\"")));
}

TEST(ProfileNames, AScriptIsItsInterpretersProgram) {
  const auto name = [](std::vector<std::string> program) {
    Profile profile;
    profile.program = std::move(program);
    return program_name(profile);
  };
  EXPECT_EQ(name({"/usr/bin/python3", "/home/u/train.py", "--n", "3"}), "train.py --n 3");
  EXPECT_EQ(name({"python", "-m", "pkg"}), "python -m pkg");
  EXPECT_EQ(name({"./a.out"}), "a.out");
  EXPECT_EQ(name({}), "a program");
}

/// A page without all elements of that name.
std::string without(std::string html, const std::string& name) {
  for (std::size_t at = html.find("<" + name); at != std::string::npos; at = html.find("<" + name)) {
    html.erase(at, html.find("</" + name + ">", at) - at + 1);
  }
  return html;
}

TEST(ProfileFindings, SpeakOfAProgramAndNotOfASuite) {
  for (const Report& report :
       {example::profile_report(), example::uncounted_profile_report(), example::small_profile_report()}) {
    const std::string page = without(without(render_html(report), "style"), "script");
    for (const std::string& text : {page, render_markdown(report), render_terminal(report, {})}) {
      for (const char* word : {"suite", "erified", "ompulsory", "workload", "partly cached", "work model"}) {
        EXPECT_THAT(text, Not(HasSubstr(word)));
      }
    }
  }
}

TEST(ProfileFindings, WhatIsWrongComesFirst) {
  Report report = example::profile_report();
  Profile& profile = *report.profile;
  profile.signal = 9;
  profile.exit_status.reset();
  profile.processes[0].dropped = 7;
  profile.processes[1].torn = true;
  profile.traced_s = 2 * *profile.untraced_s + profile.counting_s;
  const Findings found = findings(report);
  ASSERT_GT(found.size(), 4U);
  EXPECT_THAT(found[0], finding(FindingKind::program_failed, "signal 9"));
  EXPECT_THAT(found[1], finding(FindingKind::records_dropped, "7 records"));
  EXPECT_THAT(found[2], finding(FindingKind::process_torn, "1 process "));
  EXPECT_THAT(found[3], finding(FindingKind::recording_overhead, "100.0 %"));
}

TEST(ProfileFindings, HotCachesAreNoErrorOfAProgram) {
  Report report = example::profile_report();
  Point& point = report.points[0];
  point.time = example::timed(point.bound.attainable_time_s / 4);
  EXPECT_FALSE(not_cold(point, report.machine));
  point.profiled.reset();
  EXPECT_TRUE(not_cold(point, report.machine));
}

void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    const std::size_t found = text.find(part, at);
    EXPECT_NE(found, std::string::npos) << part;
    if (found != std::string::npos) at = found;
  }
}

TEST(ProfilePage, OpensWithTheAnswerThenWhatToDo) {
  const std::string html = render_html(example::profile_report());
  expect_in_order(html, {"6.90 s", "4.63 s", "<svg class=\"budget-bar", "<section id=\"spend\"", "<section id=\"time\"",
                         "<section id=\"flames\"", "<section id=\"chart\"", "<section id=\"lines\"",
                         "<section id=\"modules\"", "<section id=\"ranges\"", "<section id=\"kernels\"",
                         "<section id=\"verdicts\"", "<section id=\"copies\"", "<section id=\"calls\"",
                         "<section id=\"machine\"", "<section id=\"recording\"", "<section id=\"method\""});
}

TEST(ProfilePage, WhatTimeIsLostToStandsInTheOrderOfWhatItCouldWin) {
  Report report = example::profile_report();
  std::reverse(report.profile->savings.begin(), report.profile->savings.end());
  const std::vector<Hotspot> all = hotspots_of(report, verdicts(report));
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const Hotspot& a, const Hotspot& b) {
    return std::isfinite(a.seconds) && (!std::isfinite(b.seconds) || a.seconds > b.seconds);
  }));
  // Of a kernel's own time its verdict tells, and no win of the file again.
  for (const Hotspot& hotspot : all) EXPECT_NE(hotspot.what, "kernel");
  const auto saving_of = [&](SavingKind kind) {
    return *std::find_if(report.profile->savings.begin(), report.profile->savings.end(),
                         [kind](const Saving& saving) { return saving.kind == kind; });
  };
  const std::string html = render_html(report);
  const std::string spend = html.substr(html.find("<section id=\"spend\""));
  const std::vector<std::string> order = {saving_of(SavingKind::idle).what, saving_of(SavingKind::fusion).what};
  expect_in_order(spend, order);
  expect_in_order(render_terminal(report, {}), order);
  EXPECT_THAT(spend,
              HasSubstr("<a href=\"#row-" + std::to_string(example::row_of(report, "softmax_warp_backward_log"))));
}

TEST(ProfilePage, EveryKernelHasARowAndTheirSharesAddUp) {
  const Report report = example::profile_report();
  double share = 0;
  const std::string html = render_html(report);
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    EXPECT_THAT(html, HasSubstr("<tr id=\"row-" + std::to_string(i) + "\""));
    share += share_of_time(report, report.points[i]);
  }
  EXPECT_NEAR(share, 1, 1e-9);
  std::vector<double> totals;
  for (const std::size_t i : by_total_time(report)) totals.push_back(cost_of(report.points[i]));
  EXPECT_TRUE(std::is_sorted(totals.rbegin(), totals.rend()));
}

TEST(ProfilePage, LinesAndWhatHasNoneAreAllOfTheKernels) {
  const Profile profile = *example::profile_report().profile;
  double seconds = profile.without_line_s;
  for (const LineSum& line : profile.lines) seconds += line.total_s;
  EXPECT_NEAR(seconds, profile.kernel_s, 1e-9 * profile.kernel_s);
  EXPECT_THAT(render_html(example::profile_report()), HasSubstr("unknown line"));
}

TEST(ProfilePage, LeavesOutWhatAProgramDoesNotHave) {
  const std::string html = render_html(example::small_profile_report());
  for (const char* id : {"lines", "modules", "ranges", "copies", "calls", "time", "wins"}) {
    EXPECT_THAT(html, Not(HasSubstr("<section id=\"" + std::string(id) + "\""))) << id;
  }
  EXPECT_THAT(html, HasSubstr("<dd>known for no kernel</dd>"));
}

TEST(ProfilePage, ALongTimelineIsCutAndSaysSo) {
  Report report = example::profile_report();
  Timeline& timeline = *report.profile->timeline;
  timeline.lanes[0].slices.assign(5000, timeline.lanes[0].slices[0]);
  timeline.lanes.assign(46, timeline.lanes[0]);
  const std::string html = render_html(report);
  EXPECT_THAT(html, HasSubstr("bars not shown"));
  EXPECT_THAT(html, HasSubstr("6 lanes not shown"));
  EXPECT_THAT(render_html(example::profile_report()), Not(HasSubstr("lanes not shown")));
}

/// The names of the lanes of a page's timeline, from the top.
std::vector<std::string> lanes_on_page(const std::string& html) {
  std::vector<std::string> names;
  const std::string mark = "data-name=\"", page = html.substr(0, html.find("id=\"flames\""));
  for (std::size_t at = page.find(mark); at != std::string::npos; at = page.find(mark, at + 1)) {
    names.push_back(page.substr(at + mark.size(), page.find('"', at + mark.size()) - at - mark.size()));
  }
  return names;
}

TEST(ProfilePage, HostThreadsAreAboveTheGpusInATypicalStep) {
  const Report report = example::stepped_profile_report();
  const std::string html = render_html(report);
  EXPECT_THAT(lanes_on_page(html), testing::ElementsAre("thread 4711: CUDA calls", "thread 4711: samples",
                                                        "GPU 0, stream 7", "GPU 0, stream 13", "GPU 0: idle"));
  EXPECT_THAT(html,
              mentions("id=\"time\"", "Step 16", "40 short bars are merged into 1", "2 threads not seen on a CPU"));
  EXPECT_LT(html.find("id=\"time\""), html.find("id=\"flames\""));
  EXPECT_LT(html.find("id=\"spend\""), html.find("id=\"time\""));
  EXPECT_LT(html.find("id=\"flames\""), html.find("id=\"chart\""));
}

TEST(ProfilePage, AMergedBarIsAsPaleAsItIsEmpty) {
  Report report = example::stepped_profile_report();
  const std::string pale = "fill-opacity=\"0.30\"";
  EXPECT_THAT(render_html(report), HasSubstr(pale)) << "half of it is covered";
  for (Slice& slice : report.profile->timeline->lanes[2].slices) slice.merged = 0;
  EXPECT_THAT(render_html(report), Not(HasSubstr(pale)));
}

TEST(ProfilePage, FlameGraphsAreOfWhatWasRecorded) {
  const std::string both = render_html(example::stepped_profile_report());
  for (const char* id : {"flame-gpu", "flame-cpu", "flame-wait"}) {
    EXPECT_THAT(both, HasSubstr("id=\"" + std::string(id) + "\"")) << id;
  }
  const std::string gpu = render_html(example::profile_report());
  EXPECT_THAT(gpu, HasSubstr("id=\"flame-gpu\""));
  EXPECT_THAT(gpu, Not(HasSubstr("id=\"flame-cpu\"")));
}

TEST(ProfilePage, ItsSizeIsBounded) {
  Report report = example::stepped_profile_report();
  const std::size_t before = render_html(report).size();
  HostProfile& host = *report.profile->host;
  for (int i = 0; i < 20000; ++i) {
    host.frames.push_back(
        {.function = "f" + std::to_string(i), .file = "a.py", .line = 1, .python = true, .own = true});
    host.stacks.push_back({.thread = 0, .frames = {0, static_cast<int>(host.frames.size()) - 1}, .seconds = 1e-3});
  }
  // The page has the report, too, but compressed.
  EXPECT_LT(render_html(report).size(), before + 1'000'000);
}

TEST(ProfilePage, HostileNamesStayText) {
  const std::string html = render_html(example::hostile_profile_report());
  EXPECT_THAT(html, Not(HasSubstr("<script>window")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("\" onmouseover")));
}

TEST(ProfileChart, MarksAreAsLargeAsTheirTime) {
  const Report report = example::profile_report();
  const Chart chart = lay_out_chart(report, {});
  const auto radius = [&](const char* op) {
    const auto row = static_cast<std::size_t>(example::row_of(report, op));
    for (const PlottedPoint& p : chart.points)
      if (p.index == row) return p.radius;
    return 0.0;
  };
  const auto total = [&](const char* op) {
    return report.points[static_cast<std::size_t>(example::row_of(report, op))].profiled->total_s;
  };
  const double area = std::pow(radius("softmax_warp_backward_log") / radius("softmax_warp_forward_log"), 2);
  EXPECT_NEAR(area, total("softmax_warp_backward_log") / total("softmax_warp_forward_log"), 0.01);
  EXPECT_GT(radius("nll_loss_forward_reduce_cuda_kernel_2d"), 2);
  EXPECT_EQ(chart.scene.title, "train.py --steps 400 — NVIDIA H200");
  // The name of a cluster's costliest point is that of all of them.
  const std::string svg = render_svg(report);
  std::size_t names = 0;
  for (std::size_t at = 0; (at = svg.find("data-label-of=", at)) != std::string::npos; ++at) ++names;
  EXPECT_LE(names, kNamedOfProgram);
  EXPECT_GT(chart.named, 5U);
  EXPECT_EQ(chart.numbered, 0U);
  EXPECT_THAT(chart.scene.description, HasSubstr(off_chart(report)));
  EXPECT_THAT(off_chart(report), mentions("1 of 37", "1 was not counted"));
}

TEST(ProfileChart, ColoursStandForBoundsInEveryProfile) {
  Report report = example::profile_report();
  const auto names = families_of(report);
  std::reverse(report.points.begin(), report.points.end());
  EXPECT_EQ(families_of(report), names);
  EXPECT_EQ(names.front(), "memory-bound");
}

TEST(ProfileChart, AnEmptyOneSaysWhy) {
  const std::string svg = render_svg(example::uncounted_profile_report());
  EXPECT_THAT(svg, HasSubstr("No marks"));
  EXPECT_THAT(svg, HasSubstr("none was counted"));
}

TEST(ProfileTerminal, FitsItsColumns) {
  for (const Report& report : {example::profile_report(), example::uncounted_profile_report(),
                               example::small_profile_report(), example::hostile_profile_report()}) {
    for (const int columns : {72, 80, 120}) {
      for (const bool unicode : {false, true}) {
        const std::string text = render_terminal(report, {.color = false, .unicode = unicode, .columns = columns});
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
          EXPECT_LE(display_width(line), columns) << line;
          EXPECT_FALSE(line.ends_with(' ')) << "'" << line << "'";
          EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
          if (unicode) continue;
          EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 128; }))
              << line;
        }
      }
    }
  }
}

TEST(ProfileTerminal, TheAnswerComesFirst) {
  const std::string text = render_terminal(example::profile_report(), {});
  expect_in_order(text, {"6.90 s", std::string(name_of(WallPart::at_roof)) + " 2.27 s", "softmax_warp", "17 more",
                         "train.py:36 step", "32,800"});
}

TEST(ProfileMarkdown, TablesHoldTogether) {
  for (const Report& report : {example::profile_report(), example::hostile_profile_report()}) {
    std::istringstream lines(render_markdown(report));
    int width = 0;
    for (std::string line; std::getline(lines, line);) {
      int bars = 0;
      for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\') {
          ++i;
        } else if (line[i] == '|') {
          ++bars;
        }
      }
      if (!line.starts_with("|")) {
        width = 0;
        continue;
      }
      if (width == 0) width = bars;
      EXPECT_EQ(bars, width) << line;
    }
  }
}

TEST(ProfileCsv, RowsAreKindsOfLaunches) {
  std::istringstream lines(render_csv(example::profile_report()));
  std::string header, first;
  std::getline(lines, header);
  std::getline(lines, first);
  EXPECT_THAT(header, HasSubstr(",diagnosis,launches,total_s,device_index,module,line,range,operation,backward,"));
  EXPECT_THAT(first, HasSubstr(",embed,model.py:52 forward,step/forward,"));
  EXPECT_THAT(render_csv(example::sample_report()), Not(HasSubstr("total_s")));
}

/// The same program with the loss's backward kernel gone and attention slower.
std::vector<Report> before_and_after() {
  std::vector<Report> runs(2, example::profile_report());
  Point& slower = runs[1].points[static_cast<std::size_t>(example::row_of(runs[1], "flash_fwd_kernel"))];
  slower.time = example::timed(1.25 * slower.time->median);
  slower.profiled->total_s *= 1.25;
  slower.workload.dtype = DType::fp16;  // another pipe was counted most
  runs[1].points.erase(runs[1].points.begin() + example::row_of(runs[1], "softmax_warp_backward_log"));
  runs[1].profile->savings.clear();
  runs[1].profile->timeline.reset();
  runs[1].profile->kernel_s -= 0.8;
  runs[1].profile->wall_s -= 0.8;
  return runs;
}

TEST(ProfileComparison, RowsAreMatchedByTheirLabels) {
  const std::vector<Report> runs = before_and_after();
  const Comparison comparison = comparison_of(Runs(runs));
  EXPECT_TRUE(comparison.of_programs());
  std::size_t slower = 0, gone = 0;
  for (const PointChange& change : comparison.changes) {
    if (change.change == Change::slower) {
      ++slower;
      EXPECT_NEAR(change.time_ratio, 1.25, 1e-9);
      EXPECT_NEAR(comparison.total_change(change), 0.2 * comparison.after(change)->profiled->total_s, 1e-9);
    }
    if (change.change == Change::only_before) {
      ++gone;
      EXPECT_NEAR(comparison.total_change(change), -comparison.before(change)->profiled->total_s, 1e-12);
    }
  }
  EXPECT_EQ(slower, 1U);
  EXPECT_EQ(gone, 1U);
}

TEST(ProfileComparison, AReplayedLaunchIsNoRegressionOfATracedOne) {
  std::vector<Report> runs = before_and_after();
  EXPECT_FALSE(regression_line(comparison_of(Runs(runs))).empty());
  for (Point& point : runs[1].points) point.profiled->time_source = TimeSource::averaged;
  EXPECT_FALSE(regression_line(comparison_of(Runs(runs))).empty()) << "a mean is of launches in their program";
  for (Point& point : runs[1].points) point.profiled->time_source = TimeSource::replayed;
  EXPECT_TRUE(regression_line(comparison_of(Runs(runs))).empty());
  EXPECT_THAT(comparison_notes(runs[0], runs[1]), ::testing::Contains(mentions("traced before, replayed now")));
  for (Point& point : runs[0].points) point.profiled->time_source = TimeSource::replayed;
  EXPECT_FALSE(regression_line(comparison_of(Runs(runs))).empty());
}

TEST(ProfileComparison, TellsWhatTheProgramsTook) {
  const std::vector<Report> runs = before_and_after();
  const Comparison comparison = comparison_of(Runs(runs));
  const std::vector<std::string> said = comparison_findings(comparison);
  EXPECT_EQ(comparison.program.value().unit, CostUnit::run);
  EXPECT_THAT(said[2], mentions("6.9 s before, 6.1 s now", "0.884"));
  EXPECT_THAT(said[3], mentions("4.15 s before, 3.35 s now"));
  EXPECT_THAT(said[4], HasSubstr("softmax_warp_backward_log"));
  EXPECT_THAT(said[5], HasSubstr("36 kernels"));
  for (const std::string& text :
       {render_comparison_terminal(comparison, {}), render_comparison_markdown(comparison), render_html(runs)}) {
    EXPECT_THAT(text, HasSubstr("−803 ms"));
    EXPECT_THAT(text, Not(HasSubstr("suite ")));
  }
  const auto json = nlohmann::json::parse(render_comparison_json(comparison));
  EXPECT_EQ(json["base"]["program"][1], "train.py");
  EXPECT_EQ(json["rows"][0]["now"]["launches"], 400);
  EXPECT_THAT(render_comparison_csv(comparison), HasSubstr("launches_before,total_before_s,launches_now,total_now_s"));
}

TEST(ProfileComparison, AProgramAndASuiteAreSaidToBeTwoThings) {
  EXPECT_THAT(comparison_notes(example::sample_report(), example::profile_report()),
              ::testing::Contains(mentions("program", "suite")));
  for (const std::vector<Report>& runs : {std::vector<Report>{example::sample_report(), example::profile_report()},
                                          std::vector<Report>{example::profile_report(), example::sample_report()}}) {
    EXPECT_FALSE(render_html(runs).empty());
    EXPECT_FALSE(render_svg(runs).empty());
    EXPECT_FALSE(render_markdown(runs).empty());
  }
}

/// Advice on Python's imports and frameworks' caches is for programs of Python.
TEST(StartUp, AdviceIsForTheProgramsLanguage) {
  for (const StartUpPart part : {StartUpPart::before_cuda, StartUpPart::compiling, StartUpPart::host}) {
    for (const bool python : {true, false}) {
      Report report = report_of({.device = 0, .device_name = "G", .wall_s = 10}, 8, 6, 2);
      report.profile->program = python ? std::vector<std::string>{"/usr/bin/python3.12", "train.py"}
                                       : std::vector<std::string>{"./solver", "-n", "100"};
      Steps& steps = report.profile->steps.emplace();
      steps.count = 10;
      steps.start_up_s = 2;
      steps.start_up = {{part, 2}};
      std::string text;
      for (const auto& [name, what] : run_parts(report)) text += what + '\n';
      const bool of_python =
          text.find("python -X") != std::string::npos || text.find("_CACHE_DIR") != std::string::npos;
      EXPECT_EQ(of_python, python && part != StartUpPart::host) << text;
    }
  }
}

/// The time at the roofs is stated of all kernels, of the share that has roofs, or not at all.
TEST(ProfileAnswer, TimeAtTheRoofsIsThatOfKernelsWithRoofs) {
  for (const double roofed_s : {4.0, 3.0, 0.4}) {
    Report report = report_of({.device = 0, .device_name = "G", .wall_s = 10, .kernels_s = 4, .after_s = 6}, 4,
                              roofed_s, roofed_s / 2);
    report.points.emplace_back();
    const Budget budget = budgets(report).at(0);
    EXPECT_NEAR(budget.roofed_share(), roofed_s / 4, 1e-9);
    EXPECT_EQ(budget.mostly_roofed(), roofed_s > 2);
    const std::string text = answer(report);
    const auto names = [&text](const std::string& value) { return text.find(value) != std::string::npos; };
    EXPECT_EQ(names(" take " + budget.text(budget.steps_of(WallPart::at_roof))), roofed_s > 2) << text;
    EXPECT_EQ(names(percent(roofed_s / 4) + " of "), roofed_s < 4) << text;
  }
}

}  // namespace
}  // namespace roofline
