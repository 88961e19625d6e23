// What decides of each row, in the order of trust: whether it was measured, whether there is a roof, and then the
// rules.
#include "report/diagnosis/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "model/spelling.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "report/roof_share.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 5> kKinds = {"slow", "unknown", "at_roof", "measure", "roofless"};
constexpr double kAtRoof = 0.9;
constexpr std::size_t kMostEvidence = 3;

using Evidence = std::vector<std::pair<std::string, std::string>>;

/// What of a row is known, for the sentences below.
struct Row {
  const Point& point;
  const Machine& machine;
  Quantities quantities;

  void show(Evidence& evidence, std::string_view name) const {
    const auto found = quantities.find(name);
    const QuantitySpec* spec = find_quantity(name);
    if (found == quantities.end() || spec == nullptr || spec->unit == QuantityUnit::flag) return;
    if (evidence.size() < kMostEvidence) evidence.emplace_back(spec->label, quantity_text(name, found->second));
  }
};

std::string why_not_measured(const Point& point) {
  const Summary& time = *point.time;
  if (time.drifting) return "Its time was still drifting when sampling ended.";
  if (!std::isfinite(time.ci95.low) || !std::isfinite(time.ci95.high)) {
    return fmt::format("Its median has no interval: {} samples follow each other so closely that they are worth {}.",
                       count(time.samples), number(time.effective_samples, 2));
  }
  return fmt::format("Its median is known to {} only.", plus_minus(time.median, time.ci95));
}

void set_measure(Verdict& verdict, const Row& row) {
  const Summary& time = *row.point.time;
  verdict.kind = VerdictKind::measure;
  if (row.point.bound.suspect && !badly_measured(row.point)) {
    verdict.rule = "suspect-roof";
    verdict.held_by = fmt::format("It is held against {}, which failed its audit.", limit_label(row.point.bound));
    verdict.action = "Calibrate again before anything is concluded from this row.";
    row.show(verdict.evidence, "roof.fraction");
    return;
  }
  verdict.rule = "badly-measured";
  verdict.held_by = why_not_measured(row.point);
  verdict.action = "Time it again, alone and for longer.";
  verdict.evidence = {{"quantiles 5 to 95 %", fmt::format("{} to {}", duration(time.q05), duration(time.q95))},
                      {"autocorrelation", number(time.autocorrelation, 3)}};
}

void set_unknown(Verdict& verdict, const Row& row) {
  verdict.kind = VerdictKind::unknown;
  const double missing = 1 - row.point.fraction_of_roof();
  for (const char* name : {"compute.utilization", "levels.utilization", "occupancy"}) row.show(verdict.evidence, name);
  std::string busy;
  for (const auto& [name, value] : verdict.evidence)
    busy += fmt::format("{}{} {}", busy.empty() ? "" : ", ", name, value);
  if (row.point.counters) {
    verdict.rule = "unexplained";
    verdict.held_by = fmt::format("No counter explains the missing {}: {}.", percent(missing), busy);
    verdict.action = "Count stalls too (--counters full), or compare it with a library's kernel of the same shape.";
  } else {
    verdict.rule = "not-counted";
    verdict.held_by = fmt::format("{} are missing to {}, and nothing was counted that says why.", percent(missing),
                                  limit_label(row.point.bound));
    verdict.action = "Count (--counters): the model alone can't tell.";
  }
}

bool decides(const Advice& advice) { return advice.rule != "throttled" && advice.rule != "from-cache"; }

bool of_machine(const std::string& rule) {
  return rule == "disturbed" || rule == "slow-machine" || rule == "at-the-pace";
}

void set_rules(Verdict& verdict, const Row& row) {
  std::vector<Advice> advice = diagnose(row.quantities, row.machine.device.kind);
  const auto first = std::find_if(advice.begin(), advice.end(), decides);
  if (first == advice.end() || first->rule == "good-enough") {
    const bool throttled = !advice.empty() && advice.front().rule == "throttled";
    if (!(row.point.fraction_of_roof() >= kAtRoof)) {
      set_unknown(verdict, row);
    } else {
      verdict.kind = VerdictKind::at_roof;
      verdict.rule = throttled ? "throttled" : "good-enough";
      verdict.held_by = throttled ? advice.front().finding
                                  : fmt::format("It reaches {} of its roof.", percent(row.point.fraction_of_roof()));
      verdict.action =
          "Stop here: only less work makes it faster (fusion with a neighbour, a smaller type, fewer bytes).";
      row.show(verdict.evidence, "roof.fraction");
    }
    for (const Advice& one : advice) {
      if (one.rule != verdict.rule && one.rule != "good-enough") verdict.also.push_back(one.finding);
    }
    return;
  }
  verdict.kind = of_machine(first->rule) ? VerdictKind::measure : VerdictKind::slow;
  verdict.rule = first->rule;
  verdict.held_by = first->finding;
  verdict.action = first->next;
  verdict.source = first->source;
  const auto rule = std::find_if(rules().begin(), rules().end(), [&](const Rule& one) {
    return one.id == first->rule && one.is_for(row.machine.device.kind);
  });
  for (const Condition& condition : rule->conditions) row.show(verdict.evidence, condition.quantity);
  for (auto other = advice.begin(); other != advice.end(); ++other) {
    if (other != first) verdict.also.push_back(other->finding);
  }
}

/// Seconds of all launches above what the bound rule allows.
double total_gain(const Point& point) {
  if (!std::isfinite(point.fraction_of_roof())) return kNaN;
  const double launches = point.profiled ? static_cast<double>(point.profiled->launches) : 1;
  return std::max(0.0, cost_of(point) - launches * point.bound.attainable_time_s);
}

Verdict verdict_of(const Report& report, std::size_t index) {
  const Point& point = report.points[index];
  const Row row{point, report.machine,
                quantities_of(point, report.machine, point.counters ? &*point.counters : nullptr)};
  Verdict verdict;
  verdict.row = index;
  verdict.total_gain_s = total_gain(point);
  if (badly_measured(point) || point.bound.suspect) {
    set_measure(verdict, row);
  } else if (!std::isfinite(point.fraction_of_roof())) {
    verdict.kind = VerdictKind::roofless;
    verdict.rule = "roofless";
    verdict.held_by = "No roof of this machine limits it.";
    verdict.action = "Count it (--counters), so that there is work to hold it against.";
  } else {
    set_rules(verdict, row);
  }
  if (verdict.kind == VerdictKind::at_roof) verdict.total_gain_s = 0;
  const bool many = point.profiled && point.profiled->launches > 0;
  verdict.gain_s = verdict.total_gain_s / (many ? static_cast<double>(point.profiled->launches) : 1);
  return verdict;
}

/// Ascending in the rank of what is compared last: nothing known, then nothing to win.
bool wins_more(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
  return a > b;
}

}  // namespace

std::string_view to_string(VerdictKind kind) { return spell(kKinds, kind); }

std::vector<Verdict> verdicts(const Report& report) {
  std::vector<Verdict> all;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    if (report.points[i].status == PointStatus::ok && report.points[i].time) all.push_back(verdict_of(report, i));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Verdict& a, const Verdict& b) { return wins_more(a.total_gain_s, b.total_gain_s); });
  return all;
}

std::vector<VerdictGroup> where_to_spend_time(const std::vector<Verdict>& verdicts, const Report& report) {
  std::vector<VerdictGroup> groups;
  std::map<std::pair<VerdictKind, std::string>, std::size_t> known;
  std::vector<const Verdict*> first;
  for (const Verdict& verdict : verdicts) {
    const auto [at, added] = known.try_emplace({verdict.kind, verdict.rule}, groups.size());
    if (added) {
      groups.push_back({verdict.kind, verdict.held_by, verdict.action, 0, {}});
      first.push_back(&verdict);
    }
    VerdictGroup& group = groups[at->second];
    group.rows.push_back(verdict.row);
    group.total_gain_s += verdict.total_gain_s;
  }
  for (VerdictGroup& group : groups) {
    const std::string name = point_name(report.points[group.rows.front()]);
    group.text = group.rows.size() == 1
                     ? fmt::format("{}: {}", name, group.text)
                     : fmt::format("{} kernels, {} among them: {}", group.rows.size(), name, group.text);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const VerdictGroup& a, const VerdictGroup& b) {
    return wins_more(a.total_gain_s, b.total_gain_s);
  });
  return groups;
}

}  // namespace roofline
