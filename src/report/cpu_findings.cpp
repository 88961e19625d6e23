#include "report/cpu_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/nan.hpp"
#include "report/profile_findings.hpp"
#include "sample/own_files.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostNames = 3;
constexpr std::array<std::string_view, 3> kWidths = {"256", "128", "scalar"};

const EmulatedRun& emulated(const Report& report) { return *report.profile->emulated; }

std::string rows_text(const Report& report) {
  const auto loops = std::ranges::count_if(report.points, [](const Point& point) {
    return point.profiled && point.profiled->loop && point.profiled->loop->loop;
  });
  const auto functions = static_cast<std::int64_t>(report.points.size()) - loops;
  const double cpu_s = emulated(report).cpu_s;
  std::string text =
      fmt::format("{} and {} outside loops, {} of thread time in user code.", counted_noun(loops, "loop", "loops"),
                  counted_noun(functions, "function", "functions"), duration(cpu_s));
  if (emulated(report).folded_s > 0) {
    text += fmt::format(" {} of it is in code with less than 0.5 % each.", percent(emulated(report).folded_s / cpu_s));
  }
  return text;
}

/// Rows with a time and without counts, as far as the emulated run was whole.
std::string uncounted_text(const Report& report) {
  std::vector<std::string> names;
  double seconds = 0;
  for (const Point& point : report.points) {
    if (!point.profiled || !point.profiled->loop || point.profiled->complete) continue;
    if (is_openmp_runtime(point.profiled->module)) continue;
    names.push_back(clean_line(point.workload.label));
    seconds += point.profiled->loop->thread_s;
  }
  if (names.empty() || !emulated(report).complete) return {};
  return fmt::format("{} of the thread time has no counts, because the emulated run did not execute this code: {}.",
                     percent(seconds / emulated(report).cpu_s), listed(names, kMostNames));
}

std::string timeless_text(const Report& report) {
  std::vector<std::string> names;
  double flops = 0, bytes = 0;
  for (const TimelessCode& code : emulated(report).timeless) {
    names.push_back(clean_line(code.name));
    flops += code.flops_share;
    bytes += code.bytes_share;
  }
  if (names.empty() || !emulated(report).complete) return {};
  return fmt::format("{} of the counted {} are in code without a native time: {}.", percent(flops > 0 ? flops : bytes),
                     flops > 0 ? "FLOPs" : "bytes", listed(names, kMostNames));
}

}  // namespace

/// The emulated run ended early, and has counts of some rows.
static bool counted_in_part(const Report& report) {
  return !emulated(report).complete &&
         std::ranges::any_of(report.points, [](const Point& point) { return point.counters.has_value(); });
}

bool is_of_cpu(const Report& report) { return report.profile && report.profile->emulated.has_value(); }

std::string cpu_answer(const Report& report) {
  const Profile& profile = *report.profile;
  const EmulatedRun& run = emulated(report);
  if (!(run.cpu_s > 0)) {
    return fmt::format("{} of wall time; no instruction was sampled{}.", duration(profile.wall_s),
                       run.why_no_times.empty() ? "" : ": " + clean_line(run.why_no_times));
  }
  std::string text =
      fmt::format("{} of wall time, {} of thread time in user code.", duration(profile.wall_s), duration(run.cpu_s));
  if (profile.roofed_s > 0 && profile.at_roof_s > 0) {
    text += fmt::format(" Loops with a known roof take {}; at their roofs they would take {}.",
                        duration(profile.roofed_s), duration(profile.at_roof_s));
  } else if (!report.points.empty()) {
    const Point& first = report.points[by_total_time(report).front()];
    text += fmt::format(" {} of it is in {}.", percent(first.profiled->loop ? first.profiled->loop->share : kNaN),
                        shorten(clean_line(first.workload.label), 80));
  }
  return text;
}

std::string where_cpu_figures_are_from(const Report& report) {
  if (!emulated(report).complete) {
    return fmt::format("Times are samples of the native run. FLOPs and bytes of all of it are not known: {}.{}",
                       clean_line(emulated(report).ended),
                       counted_in_part(report) ? " Strides, divisions and shares are those of the counted part." : "");
  }
  if (emulated(report).counted_s > 0) {
    return fmt::format(
        "Times are samples of the native run. Counts are those of its first {} of user time, scaled to each loop's "
        "time; L2, L3 and memory are modelled. The chart shows FLOPs per byte at L1, under the roofs of all levels.",
        duration(emulated(report).counted_s));
  }
  return "Times are samples of the native run. FLOPs and bytes at L1 are counted in an emulated run; L2, L3 and "
         "memory are modelled there, without prefetching. The chart shows FLOPs per byte at L1, under the roofs of "
         "all levels.";
}

Findings cpu_facts(const Report& report) {
  Findings found = {{FindingKind::row_counts, rows_text(report)}};
  if (!emulated(report).complete) {
    found.push_back(
        {FindingKind::counts_incomplete, fmt::format("No FLOPs and bytes: {}.", clean_line(emulated(report).ended))});
  }
  if (std::string text = uncounted_text(report); !text.empty()) {
    found.push_back({FindingKind::code_without_counts, std::move(text)});
  }
  if (std::string text = timeless_text(report); !text.empty()) {
    found.push_back({FindingKind::counts_without_time, std::move(text)});
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> cpu_completeness(const Report& report) {
  const EmulatedRun& run = emulated(report);
  std::string samples = run.why_no_times.empty() ? fmt::format("{:.0f} per second and thread", run.rate_hz)
                                                 : "none: " + clean_line(run.why_no_times);
  std::string counts = run.complete ? fmt::format("of code with {} of the thread time",
                                                  percent(run.cpu_s > 0 ? run.joined_s / run.cpu_s : 0))
                                    : "incomplete: " + clean_line(run.ended);
  if (run.counted_s > 0) counts += fmt::format("; the first {} were counted", duration(run.counted_s));
  if (!run.isa.empty()) counts += fmt::format("; vector extension {}", clean_line(run.isa));
  if (run.seconds > 0) counts += fmt::format("; emulated in {}", duration(run.seconds));
  return {{"Samples of instructions", std::move(samples)}, {"Counts", std::move(counts)}};
}

double vector_share(const Point& point, std::string_view width) {
  if (!point.counters) return kNaN;
  double all = 0, of_width = 0;
  for (const auto& [id, value] : point.counters->values) {
    if (!id.starts_with("flops.")) continue;
    all += value;
    if (std::string_view(id).substr(id.rfind('.') + 1) == width) of_width += value;
  }
  return share_or_nan(of_width, all);
}

std::string vector_text(const Point& point) {
  std::vector<std::pair<double, std::string_view>> shares;
  for (const std::string_view width : kWidths) {
    if (const double share = vector_share(point, width); share > 0) shares.emplace_back(share, width);
  }
  std::ranges::stable_sort(shares, std::ranges::greater(), &std::pair<double, std::string_view>::first);
  constexpr double kVisible = 0.005;
  std::string text;
  for (const auto& [share, width] : shares) {
    if (share < kVisible) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", width == "scalar" ? "scalar" : std::string(width) + "-bit",
                        percent(share));
  }
  return text;
}

}  // namespace roofline
