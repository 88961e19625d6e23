// Each cell: the figure, and qualifiers beside or below it.
#include "render/kernel_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "render/html/escape.hpp"
#include "render/html/marks.hpp"
#include "render/html/sections.hpp"
#include "report/findings.hpp"
#include "report/network.hpp"
#include "report/profile_findings.hpp"
#include "report/roof_share.hpp"
#include "report/roofs.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string below(const std::string& html, std::string_view style = "") {
  return html.empty() ? "" : fmt::format("<small{}>{}</small>", html_class(style), html);
}

/// The name leads to the point on the chart, where it has one.
std::string name_cell(const KernelRow& row, std::string name, bool on_chart, std::string_view attributes,
                      const std::string& further) {
  if (on_chart) name = fmt::format("<a href=\"#point-{}\">{}</a>", row.index, name);
  return fmt::format("{}<span{}>{}{}</span>", row.marks->of(row.point), attributes, name, further);
}

std::string extents(const std::array<std::int64_t, 3>& e) {
  std::string text = count(e[0]);
  if (e[1] > 1 || e[2] > 1) text += "\u00d7" + count(e[1]);
  if (e[2] > 1) text += "\u00d7" + count(e[2]);
  return text;
}

std::string layout(const ProfiledKind& kind) {
  if (kind.graph) return "CUDA graph";
  if (kind.grid[0] <= 0) return {};
  std::string text = fmt::format("{} blocks of {}", extents(kind.grid), extents(kind.block));
  if (kind.in_graph) text += ", in a CUDA graph";
  return text;
}

/// "time limit".
std::string stop_words(StopReason reason) {
  std::string words = escape_html(to_string(reason));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string interval(const RoofShare& share) {
  const std::string text = interval_text(share);
  return text.empty() ? "" : text + " %";
}

std::string share_cell(const KernelRow& row, const std::string& share, const std::string& further) {
  const double fraction = row.point.fraction_of_roof();
  if (!std::isfinite(fraction)) return kAbsent;
  return fmt::format("<svg class=\"bar{}\"><rect width=\"{:.1f}%\"/></svg>{}{}", row.point.above_roof() ? " above" : "",
                     std::clamp(100 * fraction, 0.0, 100.0), share, further);
}

std::string above_roof(const KernelRow& row) {
  if (!row.point.above_roof()) return "";
  const std::string why = row.launch().why_above_roof;
  return below("\u25b2 above its roof" + (why.empty() ? "" : ": " + escape_html(why)), "warn");
}

/// The configurations of which the row's was chosen, folded.
std::string tried_cell(const Point& point) {
  const std::string tried = tried_text(point);
  if (tried.empty()) return "";
  return fmt::format("<details><summary>{} configurations</summary><small>{}</small></details>", point.tried.size(),
                     escape_html(tried));
}

std::string suite_name(const KernelRow& row) {
  const Workload& workload = row.point.workload;
  // Labels of suites with several implementations for one shape already name the implementation.
  const bool said = workload.label.ends_with(" " + workload.implementation);
  std::string further = said ? "" : html_name(workload.implementation, 40);
  if (workload.cache == CacheMode::hot) further += further.empty() ? "hot cache" : ", hot cache";
  return name_cell(row, html_isolated(workload.label.empty() ? workload.op : workload.label),
                   row.point.performance() > 0, "", below(further)) +
         tried_cell(row.point);
}

std::string program_name(const KernelRow& row) {
  const Workload& workload = row.point.workload;
  const std::string& mixed = row.launch().mixed;
  return name_cell(row, html_isolated(workload.label.empty() ? workload.op : workload.label, 72),
                   has_mark(row.report, row.point),
                   fmt::format(" title=\"{}\"", escape_html(shorten(clean_line(row.launch().full_name), 1000))),
                   below(layout(row.launch())) + below(mixed.empty() ? "" : "mixed: " + escape_html(mixed), "warn"));
}

/// What the share is of, where it is not what the other rows' is of.
std::string basis_words(const KernelRow& row) {
  const ShareBasis basis = share_basis(row.point, row.report);
  if (basis == ShareBasis::unpaired) return " of the calibrated roof, not paired";
  return basis == ShareBasis::probe ? " of its probe" + beside_probe(row.point) : "";
}

constexpr std::string_view kBasisTitle =
    "A paired share is of the roof's probe, timed in alternation with the row; the others are of the calibrated roof, "
    "which the chart shows.";

std::string suite_roof(const KernelRow& row) {
  const RoofShare share = share_of_roof(row.point);
  const std::string doubt =
      not_cold(row.point, machine_of(row.report, row.point)) ? below("\u25b2 partly cached", "warn") : above_roof(row);
  std::string basis = basis_words(row);
  if (!basis.empty()) {
    basis = fmt::format("<small title=\"{}\">{}</small>", kBasisTitle, escape_html(trimmed(basis)));
  }
  return share_cell(row, percent(share.fraction), (doubt.empty() ? below(interval(share)) : doubt) + basis);
}

std::string program_roof(const KernelRow& row) {
  // Times of loops are samples, with an interval.
  const std::string doubt = above_roof(row);
  const bool shows_interval = row.launch().loop && doubt.empty();
  return share_cell(row, lower_bound_mark(row.point) + percent(row.point.fraction_of_roof()),
                    shows_interval ? below(interval(share_of_roof(row.point))) : doubt);
}

std::string suite_intensity(const KernelRow& row) {
  const Bound& bound = row.point.bound;
  return intensity(bound.arithmetic_intensity) +
         below(std::isfinite(bound.ridge) ? "ridge " + number(bound.ridge, 3) : "");
}

std::string program_intensity(const KernelRow& row) {
  const Point& point = row.point;
  if (work_source(point).empty()) return kAbsent;
  const double flops = point.performance();
  std::string source;
  if (shows_sources(row.report)) {
    source = fmt::format("<small title=\"{}\">{}</small>", escape_html(clean_line(row.launch().sources)),
                         work_source(point));
  }
  return (flops > 0 ? upper_bound_mark(point) + intensity(point.bound.arithmetic_intensity) : "no FLOPs") +
         below(flops > 0 ? performance_text(point) : rate(point.bandwidth(row.memory()), CeilingKind::bandwidth)) +
         source;
}

std::string suite_bound(const KernelRow& row) {
  const Bound& bound = row.point.bound;
  return html_bound(bound) + below(bound.limiting_ceiling.empty()
                                       ? ""
                                       : html_name(limit_label(bound), 24) + (bound.suspect ? ", suspect" : ""));
}

std::string program_bound(const KernelRow& row) {
  const Bound& bound = row.point.bound;
  if (bound.label == BoundLabel::unknown) return "not known" + below(escape_html(shorten(why_no_work(row.point), 120)));
  return std::string(to_string(bound.label)) +
         below(html_name(limit_label(bound), 28) + (bound.suspect ? ", suspect" : ""));
}

}  // namespace

std::string suite_row_name(const KernelRow& row) {
  const Workload& workload = row.point.workload;
  return clean_line(fmt::format("{} {}{}", to_string(workload.dtype), workload.implementation,
                                workload.cache == CacheMode::hot ? " hot" : ""));
}

/// "2.71 ms  ±0.2%": one cell, for 80 columns have no room for a gap more.
std::string time_with_interval(const KernelRow& row) {
  const Summary& time = *row.point.time;
  std::string interval = plus_minus(time.median, time.ci95);
  std::erase(interval, ' ');
  const int padding = std::max(0, 6 - display_width(interval));
  return fmt::format("{} {}{}", duration(time.median), std::string(static_cast<std::size_t>(padding), ' '), interval);
}

/// A kernel under a memory roof is judged by its bandwidth, any other by its FLOPs.
std::string achieved_rate(const KernelRow& row) {
  const double flops = row.point.performance();
  const auto network = network_rates(row.point);
  if (flops <= 0 && network) return rate(network->bus, CeilingKind::bandwidth) + " bus";
  const bool by_bytes = flops <= 0 || row.point.bound.label == BoundLabel::memory;
  return by_bytes ? rate(row.point.bandwidth(row.memory()), CeilingKind::bandwidth) : performance_text(row.point);
}

std::string performance_or_bandwidth(const KernelRow& row) {
  if (!row.point.time) return kAbsent;
  return row.point.performance() > 0 ? performance_text(row.point)
                                     : rate(row.point.bandwidth(row.memory()), CeilingKind::bandwidth);
}

/// Main-memory bandwidth, and the network bandwidth of collectives.
std::string bandwidth_and_network(const KernelRow& row) {
  if (!row.point.time) return kAbsent;
  const std::string network = network_text(row.point);
  return rate(row.point.bandwidth(row.memory()), CeilingKind::bandwidth) + (network.empty() ? "" : "; " + network);
}

std::string roof_markdown(const KernelRow& row) {
  const std::string share = row.report.profile ? lower_bound_mark(row.point) + percent(row.point.fraction_of_roof())
                                               : share_text(share_of_roof(row.point));
  return share + basis_words(row) + (row.point.above_roof() ? " **above**" : "") +
         (badly_measured(row.point) ? " (imprecise)" : "");
}

std::string burst_roof_text(const KernelRow& row) {
  const auto burst = share_of_burst_roof(row.point, machine_of(row.report, row.point));
  return burst ? share_text(*burst) : "same";
}

std::string roof_terminal(const KernelRow& row) {
  const std::string share = percent(row.point.fraction_of_roof());
  if (row.report.profile) return lower_bound_mark(row.point) + share;
  const ShareBasis basis = share_basis(row.point, row.report);
  const std::string mark = basis == ShareBasis::probe ? "*" : basis == ShareBasis::unpaired ? "\u2020" : "";
  return mark + (row.point.above_roof() ? "\u25b2" : badly_measured(row.point) ? "?" : "") + share;
}

std::string burst_roof_terminal(const KernelRow& row) {
  const auto burst = share_of_burst_roof(row.point, machine_of(row.report, row.point));
  return burst ? percent(burst->fraction) : "";
}

std::string intensity_text(const KernelRow& row) {
  const double value = row.point.bound.arithmetic_intensity;
  if (!row.report.profile) return intensity(value);
  return row.point.work.total_flops() > 0 ? upper_bound_mark(row.point) + intensity(value) : kAbsent;
}

std::string html_kernel_name(const KernelRow& row) { return row.report.profile ? program_name(row) : suite_name(row); }
std::string html_roof(const KernelRow& row) { return row.report.profile ? program_roof(row) : suite_roof(row); }
std::string html_bound(const KernelRow& row) { return row.report.profile ? program_bound(row) : suite_bound(row); }
std::string html_intensity(const KernelRow& row) {
  return row.report.profile ? program_intensity(row) : suite_intensity(row);
}

std::string html_time(const KernelRow& row) {
  const Summary& time = *row.point.time;
  std::string further = plus_minus(time.median, time.ci95);
  if (time.drifting) {
    further += " \u00b7 drifting";
  } else if (time.stop != StopReason::converged) {
    further += " \u00b7 " + stop_words(time.stop);
  }
  return duration(time.median) + below(further, badly_measured(row.point) ? "warn" : "");
}

std::string html_median(const KernelRow& row) {
  if (!row.point.time) return kAbsent;
  const Summary& time = *row.point.time;
  const bool spread = time.q05 > 0 && time.q95 > 0 && time.samples > 1;
  const TimeSource source = row.launch().time_source;
  return duration(time.median) + below(spread ? duration(time.q05) + " \u2013 " + duration(time.q95) : "") +
         below(source == TimeSource::traced ? "" : std::string(to_string(source)));
}

std::string html_burst_roof(const KernelRow& row) {
  const RoofShare share =
      share_of_burst_roof(row.point, machine_of(row.report, row.point)).value_or(share_of_roof(row.point));
  return std::isfinite(share.fraction) ? percent(share.fraction) + below(interval(share)) : kAbsent;
}

std::string html_performance(const KernelRow& row) {
  return row.point.performance() > 0 ? performance_text(row.point) : "no FLOPs";
}

std::string html_bandwidth(const KernelRow& row) {
  const double bandwidth = row.point.bandwidth(row.memory());
  return (bandwidth > 0 ? rate(bandwidth, CeilingKind::bandwidth) : "no bytes") + below(network_text(row.point));
}

/// "largest error 2.1e-07 of 5.9e-07"; of each output where there are several.
std::string errors_text(const Verification& verification) {
  const auto of = [](double error, double permitted) {
    return permitted == 0 ? fmt::format("{}, exact", number(error, 2))
                          : fmt::format("{} of {}", number(error, 2), number(permitted, 2));
  };
  if (verification.worst.empty()) {
    return fmt::format("largest relative error {} of {}", number(verification.error, 2),
                       number(verification.tolerance, 2));
  }
  std::string text = "largest error and what it may be:";
  for (const OutputError& output : verification.worst) {
    text += fmt::format("{} {} ({}) {}", &output == verification.worst.data() ? "" : ";", output.output,
                        to_string(output.dtype), of(output.error, output.permitted));
  }
  return text;
}

std::string html_verification(const KernelRow& row) {
  if (!row.point.verification) return kAbsent;
  const Verification& verification = *row.point.verification;
  const std::string_view state = status_of(verification);
  if (!verification.compared()) return html_verdict(state, state);
  return fmt::format("<span title=\"{}\">{}</span>", escape_html(errors_text(verification)),
                     html_verdict(state, state));
}

std::string html_where_from(const KernelRow& row) {
  const ProfiledKind& kind = row.launch();
  const bool both = !kind.module.empty() && !kind.line.empty();
  const std::string place = both ? html_name(kind.module, 40) + " \u203a " + html_name(kind.line, 40)
                                 : html_name(kind.module.empty() ? kind.line : kind.module, 60);
  std::string further = kind.backward ? html_name(kind.operation.empty() ? "backward" : kind.operation, 40) : "";
  if (!kind.range.empty()) further += (further.empty() ? "" : " \u00b7 ") + html_name(kind.range, 48);
  return (place.empty() && further.empty() ? kAbsent : place) + below(further);
}

std::string html_verdict(const KernelRow& row) {
  if (row.verdict == nullptr) return row.report.profile ? kAbsent : "";
  return html_verdict_cell(*row.verdict, row.listed);
}

std::string html_bound(const Bound& bound) {
  const std::string_view name = to_string(bound.label);
  return fmt::format("<span class=\"b b-{}\">{}</span>", name, name);
}

}  // namespace roofline
