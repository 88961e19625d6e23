// What people read, in full: one file per renderer in tests/golden. Wording is free to change there; a change that
// nobody intended is seen.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "cli/commands.hpp"
#include "cli/manual.hpp"
#include "fleet/fleet.hpp"
#include "measure/audit.hpp"
#include "render/fleet/fleet_render.hpp"
#include "render/node/node_render.hpp"
#include "render/render.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/findings.hpp"
#include "report/json/json.hpp"
#include "report/machine_findings.hpp"
#include "report/node_findings.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/work_source.hpp"
#include "tests/support/cpu_program.hpp"
#include "tests/support/fake_node.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/profile_report.hpp"

namespace roofline {
namespace {

constexpr TerminalStyle kWide{.color = false, .unicode = true, .columns = 120};

/// Text and tooltips of a page, a line an element, without scripts, styles and pictures.
std::string visible_text(std::string html) {
  for (const char* element : {"script", "style", "svg"}) {
    const std::string begin = std::string("<") + element, end = std::string("</") + element + ">";
    for (std::size_t at = html.find(begin); at != std::string::npos; at = html.find(begin, at)) {
      const std::size_t last = html.find(end, at);
      html.erase(at, last == std::string::npos ? std::string::npos : last - at + end.size());
    }
  }
  html = std::regex_replace(html, std::regex("<[^>]*\\btitle=\"([^\"]*)\"[^>]*>"), "\n[$1]\n");
  html = std::regex_replace(html, std::regex("<[^>]*>"), "\n");
  std::string text;
  for (const std::string& line : lines_of_text(html)) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos) text += line.substr(begin) + "\n";
  }
  return text;
}

/// Title, description and texts of a picture.
std::string texts_of_svg(const std::string& svg) {
  return visible_text(std::regex_replace(svg, std::regex("<(/?)svg"), "<$1picture"));
}

std::string listed(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) text += "- " + finding.text + "\n";
  return text;
}

/// A value that reads well, between what a rule asks for.
double sample_value(const Rule& rule, std::string_view quantity) {
  double low = -1, high = -1;
  for (const Condition& condition : rule.conditions) {
    if (condition.quantity != quantity) continue;
    if (condition.relation == Relation::is) return condition.threshold;
    (condition.relation == Relation::above ? low : high) = condition.threshold;
  }
  if (low >= 0 && high >= 0) return (low + high) / 2;
  if (low >= 0) return 1.25 * low;
  if (high >= 0) return 0.75 * high;
  const QuantityUnit unit = find_quantity(quantity)->unit;
  return unit == QuantityUnit::fraction ? 0.42 : unit == QuantityUnit::gpu_unit ? 0 : 12;
}

Quantities sample_quantities(const Rule& rule) {
  Quantities quantities;
  for (const Condition& condition : rule.conditions) {
    quantities[std::string(condition.quantity)] = sample_value(rule, condition.quantity);
  }
  static const std::regex kPlaceholder(R"(\{([^}:]*)[^}]*\})");
  for (const std::string_view part : {rule.finding, rule.next, rule.for_library}) {
    const std::string text(part);
    for (auto it = std::sregex_iterator(text.begin(), text.end(), kPlaceholder); it != std::sregex_iterator(); ++it) {
      const std::string name = (*it)[1].str();
      const bool names = name == "pipe" || name == "level" || name == "second";
      if (name == "experiment.cache") quantities[name] = static_cast<double>(Level::l2);
      quantities.try_emplace(name, names ? 1 : sample_value(rule, name));
    }
  }
  return quantities;
}

TEST(Golden, Diagnosis) {
  std::string text;
  for (const Rule& rule : rules()) {
    const std::vector<Quantities> row = {sample_quantities(rule)};
    const auto filled = [&](std::string_view part) {
      return filled_by_all(part, row).value_or("?" + std::string(part));
    };
    text += fmt::format("## {} ({})\n{}\n-> {}\n", rule.id, rule.device ? to_string(*rule.device) : "any device",
                        filled(rule.finding), filled(rule.next));
    if (!rule.for_library.empty()) text += "library -> " + filled(rule.for_library) + "\n";
    text += fmt::format("({})\n\n", rule.source);
  }
  expect_golden("diagnosis.txt", text);
}

/// A suite's run with everything that there is to warn of.
Report flawed_report() {
  Report report = example::sample_report();
  report.cancelled = true;
  report.complete = false;
  report.rows_planned = 40;
  report.points[0].verification.reset();
  report.points[1].time = example::timed(report.points[1].bound.attainable_time_s / 1.03);
  report.points[2].time = example::timed(report.points[2].bound.attainable_time_s / 1.3);
  report.points[3].time = example::timed(report.points[3].bound.attainable_time_s / 1.05);
  report.points[3].workload.cache = CacheMode::hot;
  report.points[3].reference_rates = ReferenceRates{.copy = 1.15, .arithmetic = 1};
  example::scatter(*report.points[4].time);
  return report;
}

Report flawed_profile() {
  Report report = example::profile_report();
  Profile& profile = *report.profile;
  report.cancelled = true;
  profile.signal = 9;
  profile.processes[0].dropped = 7;
  profile.processes[1].torn = true;
  profile.traced_s = 2 * *profile.untraced_s + profile.counting_s;
  return report;
}

Machine flawed_machine() {
  Machine machine = example::cpu_sample_report().machine;
  machine.ceilings[0].audit.checks.push_back({std::string(kPlateauCheck), CheckStatus::fail, "1 of 9 rounds"});
  machine.ceilings[1].past_best = PastBest{machine.ceilings[1].value / 0.53, "2026-01-14T19:46:50Z"};
  machine.ceilings[1].audit.checks.push_back({std::string(kHistoryCheck), CheckStatus::fail, "0.530"});
  machine.ceilings[4].audit.checks.push_back({std::string(kResultCheck), CheckStatus::fail, "sum is 7"});
  machine.ceilings[2].median_rate = 0.8 * machine.ceilings[2].value;
  machine.ceilings[2].rounds = 5;
  machine.ceilings[3].rounds = 1;
  machine.ceilings[3].audit.checks.push_back({std::string(kPlateauCheck), CheckStatus::provisional, "1 of 1 rounds"});
  machine.ceilings[8].past_best = PastBest{machine.ceilings[8].value / 0.95, "2026-01-14T19:46:50Z", 2.08e9};
  return machine;
}

Node flawed_node() {
  Node node = fake_node(8);
  for (const char* name : {"link.read", "link.write"}) {
    for (Link& link : node.links) {
      const bool slow = (link.from == 2 && link.to == 5) || link.from == 7 || link.to == 7;
      for (Ceiling& ceiling : link.ceilings) {
        if (!slow || ceiling.name != name) continue;
        ceiling.value *= 0.5;
        ceiling.ci95 = {ceiling.value * 0.99, ceiling.value * 1.01};
      }
      if (link.from + link.to == 1) link.kind = LinkKind::none, link.ceilings.clear();
    }
  }
  node.machines[3].ceilings[1].value *= 0.9;
  node.machines[3].ceilings[1].ci95 = {4.1e12, 4.3e12};
  SharedCeiling& shared = node.together.back();
  shared.together.value *= 0.88;
  shared.together.ci95 = {shared.together.value * 0.99, shared.together.value * 1.01};
  shared.together.core_hz = 1.74e9;
  shared.together.limiter = "power cap";
  for (int i = 0; i < 8; ++i) {
    node.together.push_back(fake_shared(i, "pcie.h2d", CeilingKind::bandwidth, 54e9, i < 4 ? 0.5 : 0.52));
  }
  node.unmeasured = {{"cuda:8", "its compute mode is 'prohibited'"}};
  return node;
}

TEST(Golden, Findings) {
  std::string text;
  const auto add = [&](const char* title, const std::string& part) { text += fmt::format("## {}\n{}\n", title, part); };
  add("suite", listed(findings(example::sample_report())));
  add("suite with alarms", listed(findings(flawed_report())));
  add("suite on a CPU", listed(findings(example::cpu_sample_report())));
  add("nothing run", listed(findings(Report{})));
  add("profile", listed(findings(example::profile_report())));
  add("profile with alarms", listed(findings(flawed_profile())));
  add("machine", listed(machine_findings(flawed_machine())));
  add("node", listed(node_findings(flawed_node())));
  for (const Report& report :
       {example::profile_report(), example::uncounted_profile_report(), example::small_profile_report()}) {
    add("answer", answer(report) + "\n" + time_above_roofs(report) + "\n" + why_no_roofs(report) + "\n" +
                      where_figures_are_from(report) + "\n" + off_chart(report));
  }
  expect_golden("findings.txt", text);
}

TEST(Golden, TerminalOfASuite) {
  expect_golden("terminal-suite.txt", render_terminal(example::sample_report(), kWide) + "\n" +
                                          render_terminal(example::cpu_sample_report(), kWide) + "\n" +
                                          render_terminal_plot(example::sample_report(), kWide));
}

TEST(Golden, TerminalOfAProfile) {
  expect_golden("terminal-profile.txt", render_terminal(example::profile_report(), kWide) + "\n" +
                                            render_terminal(example::uncounted_profile_report(), kWide));
}

TEST(Golden, TerminalOfAMachine) {
  expect_golden("terminal-machine.txt", render_machine_terminal(example::h200(), kWide, true) + "\n" +
                                            render_machine_terminal(flawed_machine(), kWide, true));
}

TEST(Golden, MarkdownOfASuite) { expect_golden("suite.md", render_markdown(example::counted_sample_report())); }

TEST(Golden, MarkdownOfAProfile) { expect_golden("profile.md", render_markdown(example::profile_report())); }

TEST(Golden, PageOfASuite) {
  expect_golden("page-suite.txt", visible_text(render_html(example::counted_sample_report())));
}

TEST(Golden, PageOfAProfile) {
  expect_golden("page-profile.txt", visible_text(render_html(example::profile_report())));
}

TEST(Golden, TerminalOfSteps) {
  expect_golden("terminal-steps.txt", render_terminal(example::stepped_profile_report(), kWide));
}

TEST(Golden, TerminalOfACpuProgram) {
  expect_golden("terminal-cpu.txt", render_terminal(example::planted_cpu_report(), kWide));
}

TEST(Golden, PageOfACpuProgram) {
  expect_golden("page-cpu.txt", visible_text(render_html(example::planted_cpu_report())));
}

TEST(Golden, TerminalOfGrowingMemory) {
  expect_golden("terminal-memory.txt", render_terminal(example::growing_profile_report(), kWide));
}

TEST(Golden, PageOfGrowingMemory) {
  expect_golden("page-memory.txt", visible_text(render_html(example::growing_profile_report())));
}

TEST(Golden, MarkdownOfSteps) { expect_golden("steps.md", render_markdown(example::stepped_profile_report())); }

TEST(Golden, PageOfSteps) {
  expect_golden("page-steps.txt", visible_text(render_html(example::stepped_profile_report())));
}

/// Without machine and rows, and with two bars of each lane.
TEST(Golden, DocumentOfSteps) {
  Report report = example::stepped_profile_report();
  for (GpuMemory& memory : report.profile->memory.devices) memory.curve.resize(2);
  for (HostMemory& memory : report.profile->memory.host) memory.curve.resize(2);
  for (Lane& lane : report.profile->timeline->lanes) lane.slices.resize(std::min<std::size_t>(lane.slices.size(), 2));
  expect_golden("steps.json", report_to_json(report)["profile"].dump(2) + "\n");
}

TEST(Golden, Charts) {
  expect_golden("charts.txt", texts_of_svg(render_svg(example::sample_report())) + "\n" +
                                  texts_of_svg(render_svg(example::uncounted_profile_report())));
}

TEST(Golden, Comparison) {
  std::vector<Report> runs = {example::sample_report(), example::sample_report()};
  runs[1].points[9].time = example::timed(runs[0].points[9].time->median * 1.05);
  runs[1].points[20].time = example::timed(runs[0].points[20].time->median * 0.9);
  runs[1].points[1] = example::without_time(runs[1].points[1], PointStatus::failed, "wrong");
  runs[1].points.erase(runs[1].points.begin() + 3);
  runs[1].machine.device.driver = "590.1";
  const Comparison suites = comparison_of(runs[0], runs[1]);
  std::vector<Report> programs = {example::profile_report(), example::profile_report()};
  programs[1].profile->wall_s -= 0.8;
  programs[1].points.erase(programs[1].points.begin() + example::row_of(programs[1], "softmax_warp_backward_log"));
  const Comparison profiles = comparison_of(programs[0], programs[1]);
  std::vector<Report> steps = {example::stepped_profile_report(), example::stepped_profile_report()};
  example::hasten_steps(steps[1]);
  std::string text;
  for (const Comparison& comparison : {suites, profiles, comparison_of(steps[0], steps[1])}) {
    text += render_comparison_terminal(comparison, kWide) + "\n" + outcome_line(comparison) + "\n\n";
    text += render_comparison_markdown(comparison) + "\n";
  }
  text += visible_text(render_html(runs)).substr(0, 4000) + "\n";
  expect_golden("comparison.txt", text);
}

/// Twelve GPUs, of which one each has a slow link, another limit and a roof that drifted.
std::vector<MachineSummary> flawed_fleet() {
  std::vector<MachineSummary> summaries;
  for (int week = 0; week < 3; ++week) {
    for (int node = 0; node < 12; ++node) {
      MachineSummary& summary = summaries.emplace_back();
      summary.file = fmt::format("{}-node{:02}.json", week, node);
      summary.host = fmt::format("node{:02}", node);
      summary.host_recorded = true;
      summary.kind = DeviceKind::cuda;
      summary.name = "NVIDIA H200";
      summary.uuid = fmt::format("GPU-{:08x}", 0xabc0 + node);
      summary.units = 132;
      summary.memory_bytes = 150e9;
      summary.measured_at = fmt::format("2026-01-{:02}T09:32:10Z", 1 + 7 * week);
      summary.facts = {{"driver", node == 4 ? "570.2" : "580.1"},
                       {"power limit", node == 2 ? "400 W" : "700 W"},
                       {"PCIe link", node == 1 ? "generation 5, 8 lanes" : "generation 5, 16 lanes"}};
      const double own = 1 + 0.002 * std::sin(7.0 * node);
      const auto add = [&](std::string_view label, CeilingKind kind, double value) -> CeilingSummary& {
        return summary.ceilings.emplace_back(CeilingSummary{
            .label = label, .kind = kind, .audit = CheckStatus::pass, .value = value * own, .core_hz = 1.98e9F});
      };
      add("hbm.read", CeilingKind::bandwidth, node == 3 && week > 0 ? 4.2e12 : 4.67e12);
      add("pcie.h2d", CeilingKind::bandwidth, node == 1 ? 27e9 : 54e9).audit =
          node == 6 ? CheckStatus::fail : CheckStatus::pass;
      CeilingSummary& tensor = add("tensor.bf16 (sustained)", CeilingKind::compute, node == 2 ? 480e12 : 650e12);
      if (node == 2) tensor.core_hz = 1.0e9F;
      tensor.limiter = node == 2 ? "power cap" : "";
    }
  }
  return summaries;
}

TEST(Golden, Fleet) {
  const Fleet fleet = fleet_of(flawed_fleet());
  expect_golden("fleet.txt", render_fleet_terminal(fleet, kWide, 20) + "\n" + visible_text(render_fleet_html(fleet)));
}

TEST(Golden, Node) {
  const Node node = flawed_node();
  expect_golden("node.txt", render_node_terminal(node, kWide) + "\n" + visible_text(render_node_html(node)));
}

TEST(Golden, Help) {
  const CommandTree tree = command_tree();
  std::string text = help_page(tree, "");
  for (const std::string& name : help_names(tree)) text += "\n\n" + help_page(tree, name);
  expect_golden("help.txt", text);
}

TEST(GoldenFiles, ADifferenceIsShownWithItsPlace) {
  EXPECT_EQ(excerpt_of_difference("a\nb\nc\nd\n", "a\nb\nX\nY\nd\n"), "@@ line 3\n  a\n  b\n- c\n+ X\n+ Y\n");
  EXPECT_EQ(excerpt_of_difference("", "a\n"), "@@ line 1\n+ a\n");
}

}  // namespace
}  // namespace roofline
