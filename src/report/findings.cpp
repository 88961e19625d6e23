// The findings of a report as sentences; they follow the verdicts.
#include "report/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "op/extents_text.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/machine_findings.hpp"
#include "report/profile_findings.hpp"
#include "report/roof_share.hpp"
#include "report/roofs.hpp"
#include "report/titles.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr int kNameColumns = 60;

std::vector<const Point*> timed_points(const Report& report) {
  std::vector<const Point*> points;
  for (const Point& point : report.points) {
    if (point.status == PointStatus::ok && point.time) points.push_back(&point);
  }
  return points;
}

std::int64_t with_status(const Report& report, PointStatus status) {
  return std::count_if(report.points.begin(), report.points.end(),
                       [status](const Point& point) { return point.status == status; });
}

/// Timed, but its outputs were not compared.
bool is_unverified(const Point& p) {
  return p.status == PointStatus::ok && p.time &&
         !(p.verification && p.verification->passed && p.verification->compared());
}

std::string how_many_ran(const Report& report, std::size_t timed) {
  const std::size_t all = report.points.size();
  if (all == 0) return "No workload was run.";
  const auto unverified = static_cast<std::size_t>(
      std::count_if(report.points.begin(), report.points.end(), [](const Point& p) { return is_unverified(p); }));
  const std::size_t verified = timed - unverified;
  std::string text = verified == all ? fmt::format("{} {} verified and timed", all, all == 1 ? "kernel" : "kernels")
                                     : fmt::format("{} of {} kernels verified and timed", verified, all);
  std::vector<std::string> rest;
  if (unverified > 0) rest.push_back(fmt::format("{} timed but unverified", unverified));
  if (const auto n = with_status(report, PointStatus::skipped); n > 0) rest.push_back(fmt::format("{} skipped", n));
  if (const auto n = with_status(report, PointStatus::failed); n > 0) rest.push_back(fmt::format("{} failed", n));
  if (!rest.empty()) text += "; " + listed(rest) + " (reasons below)";
  return text + ".";
}

/// "7 of 9 kernels are memory-bound and 2 compute-bound."
std::string labels(const std::vector<const Point*>& points) {
  std::vector<std::string> parts;
  for (const BoundLabel label : kBoundLabels) {
    const auto n = std::count_if(points.begin(), points.end(),
                                 [label](const Point* point) { return point->bound.label == label; });
    if (n == 0) continue;
    const char* kernels = points.size() == 1 ? "kernel" : "kernels";
    parts.push_back(parts.empty() ? fmt::format("{} of {} {} {} {}", n, points.size(), kernels, n == 1 ? "is" : "are",
                                                title_of(label))
                                  : fmt::format("{} {}", n, title_of(label)));
  }
  return listed(parts) + ".";
}

std::string how_much(const Verdict& verdict, const Report& report) {
  return fmt::format("{} of {}", duration(verdict.total_gain_s), duration(cost_of(report.points[verdict.row])));
}

bool has_gain(const Verdict& verdict) {
  return verdict.total_gain_s > 0 && (verdict.kind == VerdictKind::slow || verdict.kind == VerdictKind::unknown);
}

/// The largest potential saving with cause and action, the next three, what many rows share, and rows at their roof.
Findings where_the_time_is(const std::vector<Verdict>& verdicts, const Report& report) {
  std::vector<const Verdict*> slow;
  for (const Verdict& verdict : verdicts)
    if (has_gain(verdict)) slow.push_back(&verdict);
  Findings found;
  const auto name = [&](const Verdict* verdict) { return point_name(report.points[verdict->row]); };
  if (!slow.empty()) {
    found.push_back({FindingKind::largest_saving,
                     fmt::format("Largest potential saving: {}, {}. {} {}", name(slow.front()),
                                 how_much(*slow.front(), report), slow.front()->finding, slow.front()->action)});
  }
  constexpr std::size_t kNext = 3;
  std::vector<std::string> next;
  for (std::size_t i = 1; i < std::min(slow.size(), kNext + 1); ++i)
    next.push_back(fmt::format("{} ({})", name(slow[i]), how_much(*slow[i], report)));
  if (!next.empty()) found.push_back({FindingKind::next_savings, fmt::format("Next: {}.", listed(next))});
  if (const auto clock = limited_by_clock(verdicts, report)) found.push_back({FindingKind::clock_limited, clock->text});
  const auto at_roof = std::count_if(verdicts.begin(), verdicts.end(),
                                     [](const Verdict& verdict) { return verdict.kind == VerdictKind::at_roof; });
  if (at_roof > 0) {
    found.push_back(
        {FindingKind::rows_at_roof,
         fmt::format("{} of {} kernels {} at {} roof: only less work makes {} faster.", at_roof, verdicts.size(),
                     at_roof == 1 ? "is" : "are", at_roof == 1 ? "its" : "their", at_roof == 1 ? "it" : "them")});
  }
  return found;
}

bool is_matrix_product(const Point& point) {
  constexpr std::array<std::string_view, 3> kProducts = {"gemm", "conv2d", "attention"};
  return std::ranges::find(kProducts, point.workload.op) != kProducts.end();
}

/// Units for floating-point products at training and inference precision: 16-bit types, or fp32 inputs that are
/// rounded.
bool is_product_unit(const Ceiling& ceiling) {
  const auto pipes = {Pipe::tensor_bf16, Pipe::tensor_fp16, Pipe::tensor_tf32};
  return ceiling.kind == CeilingKind::compute && ceiling.role == Role::roof && ceiling.regime == Regime::burst &&
         ceiling.pipe && std::ranges::find(pipes, *ceiling.pipe) != pipes.end();
}

/// The machine's fastest unit for matrix products, where it is far faster than what limits the products here and none
/// of them uses any such unit.
void add_unused_unit(Findings& found, const Report& report) {
  constexpr double kFarFaster = 1.5;
  const Ceiling* fastest = nullptr;
  for (const Ceiling& ceiling : report.machine.ceilings) {
    if (is_product_unit(ceiling) && (fastest == nullptr || ceiling.value > fastest->value)) fastest = &ceiling;
  }
  const Ceiling* used = nullptr;
  for (const Point* point : timed_points(report)) {
    const Ceiling* limit = machine_of(report, *point).find(point->bound.limiting_ceiling, point->bound.regime);
    if (!is_matrix_product(*point) || limit == nullptr || !limit->pipe) continue;
    if (is_tensor(*limit->pipe)) return;
    if (used == nullptr || limit->value > used->value) used = limit;
  }
  if (fastest == nullptr || used == nullptr || fastest->value < kFarFaster * used->value) return;
  const std::string type(to_string(*fastest->pipe));
  found.push_back({FindingKind::unused_unit, fmt::format("Unused: {} reaches {}, {} times the {} roof of the matrix "
                                                         "products here. Run them in {} where its precision suffices.",
                                                         clean_line(fastest->name), rate(fastest->value, fastest->kind),
                                                         number(fastest->value / used->value, 2),
                                                         clean_line(used->name), type.substr(type.find('.') + 1))});
}

constexpr std::size_t kMostRowNames = 8;

/// "Failed: a, b and c."; empty if no row is concerned.
template <class Meant>
void add_rows(Findings& found, const Report& report, FindingKind kind, std::string_view what, Meant meant) {
  std::vector<std::string> names;
  for (const Point& point : report.points) {
    if (meant(point)) names.push_back(point_name(point));
  }
  if (names.empty()) return;
  found.push_back({kind, fmt::format("{}: {}.", what, listed(names, kMostRowNames))});
}

/// "20 MFLOP stated, its formula has 2 MFLOP"
std::string describe(const WorkMismatch& mismatch) {
  struct Words {
    std::string_view unit, none, stated, source;
  };
  // In the order of WorkQuantity.
  constexpr std::array<Words, 3> kWords = {{{"B", "no bytes", "read", "inputs give"},
                                            {"B", "no bytes", "written", "outputs give"},
                                            {"FLOP", "no FLOPs", "stated", "formula has"}}};
  const Words& words = kWords[static_cast<std::size_t>(mismatch.quantity)];
  const std::string stated = mismatch.stated == 0 ? std::string(words.none) : si(mismatch.stated, words.unit);
  return fmt::format("{} {}, its {} {}", stated, words.stated, words.source, si(mismatch.allowed, words.unit));
}

/// "2 MFLOP stated for n=64, its code executes 20 MFLOP"
std::string describe(const ExecutedFlops& flops) {
  const std::string stated = flops.stated == 0 ? std::string("no FLOPs") : si(flops.stated, "FLOP");
  return fmt::format("{} stated for {}, its code executes {}", stated, clean_line(extents_text(flops.shape)),
                     si(flops.executed, "FLOP"));
}

/// The stated amounts of a row that its buffers, its formula or its code contradict.
std::vector<std::string> wrong_amounts(const Point& point) {
  std::vector<std::string> parts;
  if (!point.verification) return parts;
  bool flops_known = false;
  if (point.verification->work) {
    for (const WorkMismatch& wrong : mismatches(point.work, *point.verification->work)) {
      parts.push_back(describe(wrong));
      flops_known = flops_known || wrong.quantity == WorkQuantity::flops;
    }
  }
  const std::optional<ExecutedFlops>& executed = point.verification->executed;
  if (executed && !flops_known && contradicts(*executed)) parts.push_back(describe(*executed));
  return parts;
}

/// Rows whose stated work is contradicted, with both numbers.
void add_work_mismatches(Findings& found, const Report& report) {
  std::vector<std::string> rows;
  for (const Point& point : report.points) {
    const std::vector<std::string> parts = wrong_amounts(point);
    if (!parts.empty()) rows.push_back(fmt::format("{} ({})", point_name(point), fmt::join(parts, "; ")));
  }
  if (rows.empty()) return;
  found.push_back({FindingKind::work_mismatch, fmt::format("The stated work is wrong: {}. Correct `work` in the suite.",
                                                           listed(rows, kMostRowNames))});
}

/// Timed rows that have no place on the chart, whose axes are FLOP/byte and FLOP/s.
void add_not_on_chart(Findings& found, const Report& report) {
  const auto off_chart = [&report](const Point& p) {
    return p.status == PointStatus::ok && p.time && !is_plottable(p) && edge_bandwidth(report, p) == 0;
  };
  add_rows(found, report, FindingKind::not_on_chart, "Not on the chart, because their work has no FLOPs",
           [&](const Point& p) { return off_chart(p) && !(p.work.total_flops() > 0); });
  add_rows(found, report, FindingKind::not_on_chart, "Not on the chart, because their work has no bytes",
           [&](const Point& p) { return off_chart(p) && std::isinf(p.bound.arithmetic_intensity); });
}

void append(Findings& found, const Findings& more) { found.insert(found.end(), more.begin(), more.end()); }

Findings counts_of(const Report& report) {
  const std::vector<const Point*> points = timed_points(report);
  Findings found = {{FindingKind::row_counts, how_many_ran(report, points.size())}};
  if (!points.empty()) found.push_back({FindingKind::bound_counts, labels(points)});
  return found;
}

Findings other_facts(const Report& report) {
  Findings found;
  add_not_on_chart(found, report);
  add_unused_unit(found, report);
  append(found, machine_findings(report));
  return found;
}

}  // namespace

std::string point_name(const Point& point) {
  const std::string label = clean_line(point.workload.label.empty() ? point.workload.op : point.workload.label);
  const std::string implementation = clean_line(point.workload.implementation);
  // Labels of suites with several implementations per shape end with the implementation.
  if (implementation.empty() || label.ends_with(" " + implementation)) return shorten(label, kNameColumns);
  return fmt::format("{} ({})", shorten(label, kNameColumns), shorten(implementation, kNameColumns / 2));
}

std::string operation_unit(std::span<const Point> points) {
  bool flops = false, operations = false;
  for (const Point& point : points) {
    const std::optional<Pipe> pipe = dominant_pipe(point.work);
    if (!pipe || !(point.performance() > 0)) continue;
    const bool integers = unit_of(*pipe) == unit_of(Pipe::int32);
    (integers ? operations : flops) = true;
  }
  if (!operations) return "FLOP/s";
  return flops ? "FLOP/s, OP/s" : "OP/s";
}

std::string tried_text(const Point& point) {
  if (point.tried.size() < 2) return {};
  std::string text;
  for (const TriedConfiguration& one : point.tried) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", clean_line(one.configuration), duration(one.time_s));
    if (one.time_s > point.tried[0].time_s)
      text += fmt::format(" (+{})", percent(one.time_s / point.tried[0].time_s - 1));
  }
  return text;
}

std::string performance_text(const Point& point) {
  const std::optional<Pipe> pipe = dominant_pipe(point.work);
  return pipe && point.performance() > 0 ? si(point.performance(), unit_of(*pipe)) : std::string();
}

std::vector<std::string> headline(const Report& report) {
  const Roofs roofs = roofs_of(report);
  std::vector<std::string> parts;
  for (const Roof* roof : {roofs.main_memory(), roofs.main_compute()}) {
    if (roof == nullptr) continue;
    const Ceiling& ceiling = *roof->ceiling;
    parts.push_back(fmt::format("{} {}", clean_line(ceiling.name), ceiling_value(ceiling)));
  }
  if (!not_measured(report.machine).empty()) parts.emplace_back("roofs not measured");
  if (std::string ridge = ridge_label(roofs); !ridge.empty()) parts.push_back(std::move(ridge));
  return parts;
}

std::string limit_label(const Bound& bound) { return ceiling_label(clean_line(bound.limiting_ceiling), bound.regime); }

std::string sweep_sentence(const Sweep& sweep) {
  std::string text;
  if (sweep.axis == SweepAxis::threads) {
    for (const SweepPoint& point : sweep.points) {
      text += fmt::format("{}{} with {}", text.empty() ? "" : ", ", rate(point.value, CeilingKind::bandwidth),
                          number(point.x));
    }
    text += " threads";
    return sweep.saturates_at ? fmt::format("{}; saturates at {}", text, number(*sweep.saturates_at)) : text;
  }
  if (sweep.axis == SweepAxis::message) {
    for (const LatencyLine& line : sweep.lines) {
      text += fmt::format("{}{} ranks: latency {} ({}), then {} ({})", text.empty() ? "" : "; ", line.ranks,
                          duration(line.latency_s), plus_minus(line.latency_s, line.latency_ci95),
                          rate(line.rate, CeilingKind::bandwidth), plus_minus(line.rate, line.rate_ci95));
    }
    return text.empty() ? "no linear fit" : text;
  }
  for (std::size_t i = 0; i < sweep.plateaus.size(); ++i) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", rate(sweep.plateaus[i].value, CeilingKind::bandwidth));
    if (i < sweep.boundaries.size()) text += fmt::format(" up to {}", binary_bytes(sweep.boundaries[i]));
  }
  if (sweep.plateaus.empty()) return "no plateau found";
  return text + (sweep.boundaries.empty() ? " throughout" : " beyond");
}

std::string unfinished(const Report& report) {
  if (report.complete) return {};
  const auto rows = static_cast<std::int64_t>(report.points.size());
  if (rows >= report.rows_planned) {
    return "The run is incomplete: all rows are present, but counting or re-timing did not finish.";
  }
  return fmt::format("The run is incomplete: {} of {} rows are present.", rows, report.rows_planned);
}

Findings alarms(const Report& report) {
  if (report.profile) return profile_alarms(report);
  Findings found;
  if (std::string text = unfinished(report); !text.empty()) found.push_back({FindingKind::incomplete, std::move(text)});
  if (report.cancelled) {
    found.push_back({FindingKind::cancelled, "The run was cancelled; rows measured until then are kept."});
  }
  const auto timed = [](const Point& p) { return p.status == PointStatus::ok && p.time; };
  const auto in_caches = [&](const Point& p) {
    return not_cold(p, report.machine) || partly_cached(p, report.machine);
  };
  const auto above = [&](const Point& p) { return timed(p) && p.above_roof() && !in_caches(p); };
  // The reference probe beside the row may have been equally fast. A paired fraction is independent of the machine's
  // speed.
  const auto faster_now = [](const Point& p) {
    return p.paired_with_roof() == nullptr && reference_rate_of_roof(p).value_or(0) >= p.fraction_of_roof();
  };
  add_rows(found, report, FindingKind::rows_failed, "Failed",
           [](const Point& p) { return p.status == PointStatus::failed; });
  add_rows(found, report, FindingKind::rows_unverified, "Timed but not verified",
           [](const Point& p) { return is_unverified(p); });
  add_work_mismatches(found, report);
  add_rows(found, report, FindingKind::partly_cached,
           "Working set partly cached, so these cold rows are faster than "
           "main memory allows",
           [&](const Point& p) { return timed(p) && not_cold(p, report.machine); });
  add_rows(found, report, FindingKind::partly_cached,
           "Working set partly cached, so these hot rows exceed main memory's roof",
           [&](const Point& p) { return timed(p) && partly_cached(p, report.machine); });
  add_rows(found, report, FindingKind::faster_now,
           "Above the roof: the machine is faster than when it was calibrated. Calibrate again",
           [&](const Point& p) { return above(p) && faster_now(p); });
  add_rows(found, report, FindingKind::above_suspect, "Above a roof that is suspect or provisional. Calibrate again",
           [&](const Point& p) { return above(p) && !faster_now(p) && p.above_unconfirmed_roof(); });
  add_rows(found, report, FindingKind::above_roof, "Above the roof: the ceiling or the work model is wrong",
           [&](const Point& p) { return above(p) && !faster_now(p) && !p.above_unconfirmed_roof(); });
  add_rows(found, report, FindingKind::badly_measured, "Not measured well enough to draw conclusions",
           [&](const Point& p) { return timed(p) && badly_measured(p); });
  return found;
}

Findings run_facts(const Report& report) {
  if (report.profile) return profile_facts(report);
  Findings found = counts_of(report);
  append(found, other_facts(report));
  return found;
}

Findings findings(const Report& report) {
  if (report.profile) return profile_findings(report);
  Findings found = alarms(report);
  append(found, counts_of(report));
  append(found, where_the_time_is(verdicts(report), report));
  append(found, other_facts(report));
  return found;
}

}  // namespace roofline
