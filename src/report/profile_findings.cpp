// Findings of a profile.
#include "report/profile_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "model/nan.hpp"
#include "report/cpu_findings.hpp"
#include "report/machine_findings.hpp"
#include "report/roofs.hpp"
#include "report/titles.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 7> kSavingNames = {"idle",    "copies", "kernel",       "fusion",
                                                          "traffic", "memory", "communication"};

std::string status_sentence(const Profile& profile) {
  if (profile.signal) return fmt::format("The program was terminated by signal {}.", *profile.signal);
  if (profile.exit_status.value_or(0) != 0) {
    return fmt::format("The program exited with status {}.", *profile.exit_status);
  }
  return {};
}

struct Launches {
  std::int64_t seen = 0, recorded = 0, dropped = 0, without_time = 0, torn = 0;
};
Launches launches_of(const Profile& profile) {
  Launches all;
  for (const ProfiledProcess& process : profile.processes) {
    all.seen += process.launches;
    all.recorded += process.kernels;
    all.dropped += process.dropped;
    all.without_time += process.without_time;
    all.torn += process.torn ? 1 : 0;
  }
  return all;
}

std::string how_many(const Report& report) {
  std::int64_t launches = 0;
  for (const Point& point : report.points) launches += point.profiled ? point.profiled->launches : 0;
  if (report.points.empty()) return "No kernel was recorded.";
  return fmt::format(
      "{} in {}, {} in total.",
      counted_noun(static_cast<std::int64_t>(report.points.size()), "launch signature", "launch signatures"),
      counted_noun(launches, "launch", "launches"), duration(report.profile->kernel_s));
}

/// "Kernel time: 61 % memory-bound, 30 % compute-bound and 9 % without a known roof." Empty where the loops of a CPU
/// program are far from these roofs: something else limits them.
std::string by_bound(const Report& report) {
  constexpr double kNear = 0.5;
  double all = 0, near = 0;
  std::map<BoundLabel, double> seconds;
  for (const Point& point : report.points) {
    if (point.fraction_of_roof() >= kNear) near += positive_or_zero(cost_of(point));
    all += positive_or_zero(cost_of(point));
    seconds[point.bound.label] += positive_or_zero(cost_of(point));
  }
  std::vector<std::string> parts;
  for (const BoundLabel label : kBoundLabels) {
    if (!(seconds[label] > 0)) continue;
    parts.push_back(fmt::format("{} {}", percent(seconds[label] / all), title_of(label)));
  }
  const bool is_uninformative = parts.empty() || (parts.size() == 1 && seconds[BoundLabel::unknown] > 0) ||
                                (is_of_cpu(report) && near < kNear * all);
  return is_uninformative ? "" : fmt::format("Kernel time: {}.", listed(parts));
}

std::string above_roofs(const Report& report) {
  std::int64_t above = 0;
  // Imported rows say why themselves.
  for (const Point& point : report.points) {
    above += point.above_roof() && point.profiled && point.profiled->sources.empty() ? 1 : 0;
  }
  if (above == 0) return {};
  return fmt::format("{} above the roof: the roof or the counts are wrong.",
                     counted_noun(above, "kernel is", "kernels are"));
}

std::string launches_fact(const Launches& launches) {
  std::string text = count(launches.seen) + " launched, ";
  text += launches.recorded == launches.seen ? "all recorded" : count(launches.recorded) + " recorded";
  text += launches.dropped == 0 ? ", none dropped" : fmt::format(", {} dropped", count(launches.dropped));
  if (launches.without_time > 0) text += fmt::format(", {} without a time", count(launches.without_time));
  return text;
}

std::string inflation_fact(const Profile& profile) {
  const auto longer = inflation(profile);
  if (!longer) return "not measured (--baseline runs the program without the profiler)";
  return fmt::format("{}{} ({} with the profiler, {} without)", *longer < 0 ? "" : "+", percent(*longer),
                     duration(*profile.traced_s), duration(*profile.untraced_s));
}

/// "12,300 samples, 99 a second for each thread, at 0.3 % of a CPU".
std::string host_fact(const HostProfile& host) {
  if (!host.why_none.empty()) return "none: " + clean_line(host.why_none);
  std::string text =
      fmt::format("{}, {:.0f} per second and thread, at {} of a CPU", counted_noun(host.samples, "sample", "samples"),
                  host.rate_hz, percent(host.wall_s > 0 ? host.cost_s / host.wall_s : 0));
  if (!host.why_no_native.empty()) text += "; no native stacks of running threads: " + clean_line(host.why_no_native);
  return text;
}

std::string host_counts(const HostProfile& host) {
  return fmt::format("{} in {} sampled.", counted_noun(host.thread_count, "thread", "threads"),
                     counted_noun(host.process_count, "process", "processes"));
}

/// "known for 98 % of the kernel time".
std::string share_fact(std::string_view done, double without, double all) {
  if (!(all > 0)) return std::string(kAbsent);
  if (!(without < all)) return fmt::format("{} for no kernel", done);
  return fmt::format("{} for {} of the kernel time", done, percent(std::max(0.0, 1 - without / all)));
}

/// Of readers that make work of counters, which are in no row themselves; empty without such work.
std::string counted_work_fact(const Report& report) {
  const auto rows = std::count_if(report.points.begin(), report.points.end(),
                                  [](const Point& point) { return work_source(point) == "counted"; });
  return rows == 0 ? "" : fmt::format("in the file for {} of {} launch signatures", rows, report.points.size());
}

/// "read for no kernel; in part for 80 % of the kernel time".
std::string counters_fact(const Report& report) {
  const Profile& profile = *report.profile;
  if (!profile.counters) {
    if (std::string counted = counted_work_fact(report); !counted.empty()) return counted;
    return "none: " +
           (profile.why_no_counters.empty() ? std::string("not requested") : clean_line(profile.why_no_counters));
  }
  std::string text = share_fact("read", profile.kernel_s - profile.counted_s, profile.kernel_s);
  // Kernels that a program launches and leaves are through before all of their counters have been read.
  constexpr double kMost = 0.9;
  const bool leaves = !profile.steps && profile.counted_s < kMost * profile.kernel_s;
  const bool own = std::ranges::none_of(
      report.points, [](const Point& point) { return point.profiled && !point.profiled->sources.empty(); });
  if (leaves && own) text += "; a larger --runs reads more";
  double in_part = 0;
  for (const Point& point : report.points) in_part += is_counted_in_part(point) ? cost_of(point) : 0;
  return in_part > 0 ? text + "; " + share_fact("in part", profile.kernel_s - in_part, profile.kernel_s) : text;
}

}  // namespace

std::string_view to_string(SavingKind kind) { return kSavingNames.at(static_cast<std::size_t>(kind)); }

std::optional<SavingKind> parse_saving_kind(std::string_view text) {
  const auto* found = std::find(kSavingNames.begin(), kSavingNames.end(), text);
  if (found == kSavingNames.end()) return std::nullopt;
  return static_cast<SavingKind>(found - kSavingNames.begin());
}

double fraction_of_roof(const CopySum& copy) {
  const bool known = copy.total_s > 0 && copy.roof_bytes_per_s > 0;
  return known ? moved_bytes(copy) / copy.total_s / copy.roof_bytes_per_s : kNaN;
}

double moved_bytes(const CopySum& copy) {
  if (!(copy.bytes > 0)) return kNaN;
  return copy.path.direction == CopyDirection::device_to_device ? 2 * copy.bytes : copy.bytes;
}

std::string rate_text(const CopySum& copy) {
  const std::string text = rate(copy.total_s > 0 ? moved_bytes(copy) / copy.total_s : kNaN, CeilingKind::bandwidth);
  return copy.path.direction == CopyDirection::device_to_device ? text + " read + write" : text;
}

std::string program_name(const Profile& profile) {
  // For an interpreter, the script is the program.
  const bool script = profile.program.size() > 1 && last_path_part(profile.program.front()).starts_with("python") &&
                      !profile.program[1].starts_with("-");
  std::string name;
  for (std::size_t i = script ? 1 : 0; i < profile.program.size(); ++i) {
    name += name.empty() ? std::string(last_path_part(profile.program[i])) : " " + profile.program[i];
  }
  return name.empty() ? "a program" : clean_line(name);
}

bool is_of_host(const Report& report) {
  return !is_of_cpu(report) && report.profile && report.profile->host && report.points.empty() &&
         report.profile->devices.empty();
}

double cost_of(const Point& point) {
  if (point.profiled) return point.profiled->total_s;
  return point.time ? point.time->median : 0;
}

std::vector<std::size_t> by_total_time(const Report& report) {
  std::vector<std::size_t> order(report.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return positive_or_zero(cost_of(report.points[a])) > positive_or_zero(cost_of(report.points[b]));
  });
  return order;
}

double share_of_time(const Report& report, const Point& point) {
  return report.profile && report.profile->kernel_s > 0 ? cost_of(point) / report.profile->kernel_s : kNaN;
}

std::string where_from(const ProfiledKind& kind) {
  std::string text;
  const auto append = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : " \u203a ") + clean_line(part);
  };
  append(kind.module);
  append(kind.line);
  if (text.empty()) append(kind.range);
  if (kind.loop && !kind.loop->called_from.empty()) append("called from " + kind.loop->called_from);
  if (kind.backward) append(kind.operation.empty() ? "backward" : kind.operation);
  return text;
}

std::string off_chart(const Report& report) {
  std::int64_t uncounted = 0, flopless = 0, in_part = 0, elsewhere = 0, other = 0;
  const bool counted = !shows_sources(report);
  for (const Point& point : report.points) {
    if (has_mark(report, point)) continue;
    if (work_source(point).empty()) {
      ++uncounted;
    } else if (lacks_flops(point)) {
      ++in_part;
    } else if (!(point.work.total_flops() > 0)) {
      ++flopless;
    } else if (ran_on_other_model(report, point)) {
      ++elsewhere;
    } else {
      ++other;
    }
  }
  const std::int64_t off = uncounted + flopless + in_part + elsewhere + other;
  if (off == 0) return {};
  if (uncounted == static_cast<std::int64_t>(report.points.size()))
    return counted ? "No kernel is on the chart: none was counted."
                   : "No kernel is on the chart: FLOPs and bytes are not known for any.";
  std::vector<std::string> reasons;
  if (flopless > 0) reasons.push_back(count(flopless) + (flopless == 1 ? " executes" : " execute") + " no FLOPs");
  if (uncounted > 0) {
    reasons.push_back(count(uncounted) + (!counted         ? " without known FLOPs and bytes"
                                          : uncounted == 1 ? " was not counted"
                                                           : " were not counted"));
  }
  if (in_part > 0) reasons.push_back(count(in_part) + (in_part == 1 ? " has" : " have") + " bytes without known FLOPs");
  if (elsewhere > 0) reasons.push_back(count(elsewhere) + " ran on a GPU of another model, which has other roofs");
  if (other > 0) reasons.push_back(count(other) + (other == 1 ? " has" : " have") + " an intensity outside the axes");
  return fmt::format("{} of {} {} not on the chart: {}.", count(off),
                     counted_noun(static_cast<std::int64_t>(report.points.size()), "kernel", "kernels"),
                     off == 1 ? "is" : "are", listed(reasons));
}

std::vector<std::pair<std::string, std::string>> completeness(const Report& report) {
  const Profile& profile = *report.profile;
  const std::string ended = profile.signal        ? fmt::format("signal {}", *profile.signal)
                            : profile.exit_status ? fmt::format("status {}", *profile.exit_status)
                                                  : "not known";
  if (is_of_host(report)) return {{"Host samples", host_fact(*profile.host)}, {"Exit", ended}};
  if (is_of_cpu(report)) {
    std::vector<std::pair<std::string, std::string>> both = cpu_completeness(report);
    if (profile.host) both.emplace_back("Host samples", host_fact(*profile.host));
    both.emplace_back("Exit", ended);
    return both;
  }
  std::vector<std::pair<std::string, std::string>> facts;
  if (profile.host) facts.emplace_back("Host samples", host_fact(*profile.host));
  // A file of another tool without kernels: roofs alone, or copies. Of own recordings the working directory is known.
  const bool import_without_kernels = report.points.empty() && profile.folder.empty();
  if (import_without_kernels) return facts;
  facts.emplace_back("Launches", launches_fact(launches_of(profile)));
  facts.emplace_back("Counters", counters_fact(report));
  const bool own = !shows_sources(report);  // other tools write neither
  if (own) {
    facts.emplace_back("Profiler overhead", inflation_fact(profile));
    facts.emplace_back("Time spent counting",
                       profile.counting_s > 0
                           ? fmt::format("{} of {}", duration(profile.counting_s), duration(profile.wall_s))
                           : "nothing");
  }
  facts.emplace_back("Source lines", share_fact("known", profile.without_line_s, profile.kernel_s));
  facts.emplace_back("Modules", share_fact("known", profile.without_module_s, profile.kernel_s));
  if (own) facts.emplace_back("Exit", ended);
  return facts;
}

Findings profile_alarms(const Report& report) {
  const Profile& profile = *report.profile;
  Findings found;
  if (report.cancelled) {
    found.push_back({FindingKind::cancelled, "The recording was ended early; activity until then is kept."});
  }
  if (std::string ended = status_sentence(profile); !ended.empty()) {
    found.push_back({FindingKind::program_failed, std::move(ended)});
  }
  const Launches launches = launches_of(profile);
  if (launches.dropped > 0) {
    found.push_back(
        {FindingKind::records_dropped, fmt::format("{} dropped by the driver; sums leave them out.",
                                                   counted_noun(launches.dropped, "record was", "records were"))});
  }
  if (launches.torn > 0) {
    found.push_back(
        {FindingKind::process_torn, fmt::format("{} an incomplete recording: records after the last write are lost.",
                                                counted_noun(launches.torn, "process has", "processes have"))});
  }
  if (const auto longer = inflation(profile); longer && *longer > kMostInflation) {
    found.push_back(
        {FindingKind::recording_overhead,
         fmt::format(
             "The program took {} longer with the profiler than without: part of the idle time is profiler overhead.",
             percent(*longer))});
  }
  return found;
}

Findings profile_facts(const Report& report) {
  if (is_of_host(report)) return {{FindingKind::row_counts, host_counts(*report.profile->host)}};
  Findings found = is_of_cpu(report) ? cpu_facts(report) : Findings{{FindingKind::row_counts, how_many(report)}};
  if (std::string text = by_bound(report); !text.empty()) {
    found.push_back({FindingKind::bound_counts, std::move(text)});
  }
  if (std::string text = above_roofs(report); !text.empty()) {
    found.push_back({FindingKind::above_roof, std::move(text)});
  }
  for (Finding& finding : machine_findings(report)) found.push_back(std::move(finding));
  return found;
}

Findings profile_findings(const Report& report) {
  Findings found = profile_alarms(report);
  for (Finding& finding : profile_facts(report)) found.push_back(std::move(finding));
  return found;
}

}  // namespace roofline
