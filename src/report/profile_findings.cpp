// Findings of a profile.
#include "report/profile_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "model/nan.hpp"
#include "report/cpu_findings.hpp"
#include "report/machine_findings.hpp"
#include "report/rank_findings.hpp"
#include "report/roofs.hpp"
#include "report/step_findings.hpp"
#include "report/titles.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 7> kSavingNames = {"idle",    "copies", "kernel",       "fusion",
                                                          "traffic", "memory", "communication"};

double positive(double value) { return value > 0 && std::isfinite(value) ? value : 0; }

std::string suite_answer(const Report& report) {
  const std::vector<Budget> all = budgets(report);
  if (all.empty()) return "No kernel was timed.";
  const auto kernels = std::count_if(report.points.begin(), report.points.end(), [](const Point& point) {
    return point.status == PointStatus::ok && point.time.has_value();
  });
  const Budget& budget = all.front();
  const std::string takes = kernels == 1 ? fmt::format("The kernel takes {}", budget.text(budget.steps))
                                         : fmt::format("The {} kernels take {}, one launch of each", count(kernels),
                                                       budget.text(budget.steps));
  if (!budget.has_roof()) return takes + ". No roof is known for any of them.";
  return fmt::format("{}. At {} of this machine {} would take {}.", takes, kernels == 1 ? "the roof" : "the roofs",
                     kernels == 1 ? "it" : "they", budget.text(budget.steps_of(WallPart::at_roof)));
}

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

/// "Kernel time: 61 % memory-bound, 30 % compute-bound and 9 % without a known roof."
std::string by_bound(const Report& report) {
  double all = 0;
  std::map<BoundLabel, double> seconds;
  for (const Point& point : report.points) {
    all += positive(cost_of(point));
    seconds[point.bound.label] += positive(cost_of(point));
  }
  std::vector<std::string> parts;
  for (const BoundLabel label : kBoundLabels) {
    if (!(seconds[label] > 0)) continue;
    parts.push_back(fmt::format("{} {}", percent(seconds[label] / all), title_of(label)));
  }
  const bool is_uninformative = parts.empty() || (parts.size() == 1 && seconds[BoundLabel::unknown] > 0);
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

}  // namespace

std::string_view to_string(SavingKind kind) { return kSavingNames.at(static_cast<std::size_t>(kind)); }

std::optional<SavingKind> parse_saving_kind(std::string_view text) {
  const auto* found = std::find(kSavingNames.begin(), kSavingNames.end(), text);
  if (found == kSavingNames.end()) return std::nullopt;
  return static_cast<SavingKind>(found - kSavingNames.begin());
}

std::string_view work_source(const Point& point) {
  if (!point.profiled || (point.work.flops.empty() && point.work.bytes.empty())) return {};
  return to_string(point.profiled->work_source);
}

bool bytes_is_lower_bound(const Point& point) {
  return point.profiled && point.profiled->work_source == WorkSource::modelled;
}

std::string upper_bound_mark(const Point& point) { return bytes_is_lower_bound(point) ? "\u2264 " : ""; }

std::string lower_bound_mark(const Point& point) {
  const bool memory = point.bound.label == BoundLabel::memory && std::isfinite(point.fraction_of_roof());
  return memory && bytes_is_lower_bound(point) ? "\u2265 " : "";
}

bool shows_sources(const Report& report) {
  return std::any_of(report.points.begin(), report.points.end(), [](const Point& point) {
    return point.profiled && (!point.profiled->sources.empty() || point.profiled->time_source != TimeSource::traced ||
                              point.profiled->work_source > WorkSource::counted);
  });
}

std::string where_figures_are_from(const Report& report) {
  if (is_of_cpu(report)) return where_cpu_figures_are_from(report);
  std::array<std::int64_t, 4> times = {};
  std::array<std::int64_t, 5> work = {};
  for (const Point& point : report.points) {
    if (!point.profiled) continue;
    ++times.at(static_cast<std::size_t>(point.profiled->time_source));
    ++work.at(static_cast<std::size_t>(point.profiled->work_source));
  }
  const auto all = std::accumulate(times.begin(), times.end(), std::int64_t{0});
  static constexpr std::array<std::string_view, 4> kTimes = {
      "traced for every launch",
      "replayed by a profiler, one launch at a time; in the program a launch may be faster or slower",
      "means over launches", "sampled"};
  // "counted by the hardware (73 rows)"; without the number where it is all rows.
  const auto with_rows = [all](std::string_view what, std::int64_t rows) {
    return rows == all ? std::string(what) : fmt::format("{} ({})", what, counted_noun(rows, "row", "rows"));
  };
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < times.size(); ++i)
    if (times.at(i) > 0) parts.push_back(with_rows(kTimes.at(i), times.at(i)));
  std::string text = fmt::format("Times are {}.", fmt::join(parts, "; "));
  static constexpr std::array<std::string_view, 5> kWork = {"not known", "counted by the hardware",
                                                            "modelled from the shapes", "stated by the kernel author",
                                                            "counted under emulation"};
  parts.clear();
  for (const WorkSource source : {WorkSource::counted, WorkSource::modelled, WorkSource::stated, WorkSource::none}) {
    const auto i = static_cast<std::size_t>(source);
    if (work.at(i) > 0) parts.push_back(with_rows(kWork.at(i), work.at(i)));
  }
  if (!parts.empty()) text += fmt::format(" FLOPs and bytes per launch are {}.", fmt::join(parts, "; "));
  if (work.at(static_cast<std::size_t>(WorkSource::modelled)) > 0) {
    text +=
        " Modelled bytes count each input and output once and are a lower bound: intensities are upper bounds "
        "(\u2264, arrow to the left), shares of a memory roof lower bounds (\u2265).";
  }
  return text;
}

std::string why_no_work(const Point& point) {
  if (!point.profiled || !work_source(point).empty()) return {};
  if (!point.profiled->not_counted.empty()) return clean_line(point.profiled->not_counted);
  return point.profiled->in_graph ? "counted with its graph" : "not counted";
}

double fraction_of_roof(const CopySum& copy) {
  const bool known = copy.total_s > 0 && copy.roof_bytes_per_s > 0;
  return known ? moved_bytes(copy) / copy.total_s / copy.roof_bytes_per_s : kNaN;
}

double moved_bytes(const CopySum& copy) {
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

bool has_wall_time(const Report& report) {
  return report.points.empty() || std::any_of(report.points.begin(), report.points.end(), [](const Point& point) {
           return !point.profiled || point.profiled->time_source == TimeSource::traced;
         });
}

std::string answer(const Report& report) {
  if (!report.profile) return suite_answer(report);
  const Profile& profile = *report.profile;
  if (profile.ranks && profile.ranks->whole_run) {
    const std::string wall = profile.wall_s > 0 ? duration(profile.wall_s) + " of wall time. " : "";
    return wall + scaling_text(report);
  }
  if (is_of_host(report)) return host_answer(*profile.host);
  if (is_of_cpu(report)) return cpu_answer(report);
  if (profile.steps) return step_answer(report);
  const auto budget = whole_budget(report);
  if (!budget && !report.points.empty()) {
    return counted_noun(static_cast<std::int64_t>(report.points.size()), "kernel was", "kernels were") +
           " recorded without a time.";
  }
  if (!budget && !(profile.wall_s > 0) && !report.machine.ceilings.empty()) {
    return "Roofs of a machine; no program was recorded.";
  }
  if (!budget) return fmt::format("{} of wall time; no GPU was used.", duration(profile.wall_s));
  // Only imports have rows of a CPU without samples of the host.
  const bool cpu = report.machine.device.kind == DeviceKind::cpu && !report.machine.device.name.empty();
  const bool several = profile.devices.size() > 1;
  const std::string gpus = several ? "the GPUs" : cpu ? "this CPU" : "this GPU";
  const std::string roofs =
      has_unmeasured_roofs(report) ? "At data-sheet peak (not measured here)" : "At the measured roofs of " + gpus;
  const auto text_of = [&budget](WallPart part) {
    const auto share = std::find_if(budget->shares.begin(), budget->shares.end(),
                                    [part](const WallShare& of) { return of.part == part; });
    return share == budget->shares.end() ? budget->text(std::int64_t{0}) : budget->text(*share);
  };
  if (!has_wall_time(report)) {
    const std::string all = fmt::format("{} in all, without a timeline", duration(profile.kernel_s));
    if (!budget->has_roof()) return fmt::format("The kernels take {}.", all);
    return fmt::format("The kernels take {}. {} they would take {}.", all, roofs, text_of(WallPart::at_roof));
  }
  const std::string wall = several ? fmt::format("{} of wall time on {} GPUs, {} together", duration(profile.wall_s),
                                                 profile.devices.size(), budget->text(budget->steps))
                                   : fmt::format("{} of wall time", budget->text(budget->steps));
  if (budget->has_roof()) {
    return fmt::format("{}. {} the kernels would take {}.", wall, roofs, text_of(WallPart::at_roof));
  }
  if (report.points.empty()) return wall + "; no kernel was recorded.";
  return fmt::format("{}. {} ran kernels for {} of it ({}).", wall,
                     several ? "The GPUs"
                     : cpu   ? "The CPU"
                             : "The GPU",
                     text_of(WallPart::no_roof), percent(budget->seconds(WallPart::no_roof) / budget->wall_s));
}

std::string time_above_roofs(const Report& report) {
  const auto budget = whole_budget(report);
  if (!budget) return {};
  const WallPart stated = budget->has_roof() ? WallPart::at_roof : WallPart::no_roof;
  std::vector<WallShare> rest;
  for (const WallShare& share : budget->shares)
    if (share.part != stated) rest.push_back(share);
  if (rest.empty()) return {};
  std::stable_sort(rest.begin(), rest.end(),
                   [](const WallShare& a, const WallShare& b) { return a.seconds > b.seconds; });
  std::vector<std::string> parts;
  for (const WallShare& share : rest) parts.push_back(fmt::format("{} {}", budget->text(share), name_of(share.part)));
  const std::size_t gpus = budgets(report).size();
  return fmt::format("The other {}{}: {}.", budget->text(budget->steps - budget->steps_of(stated)),
                     gpus > 1 ? fmt::format(" of {} on {} GPUs together", budget->text(budget->steps), gpus) : "",
                     fmt::join(parts, "; "));
}

bool is_of_host(const Report& report) {
  return !is_of_cpu(report) && report.profile && report.profile->host && report.points.empty() &&
         report.profile->devices.empty();
}

std::string why_no_roofs(const Report& report) {
  const Profile& profile = *report.profile;
  if (profile.counters || report.points.empty() || is_of_cpu(report)) return {};
  const auto has_work = [](const Point& point) { return !work_source(point).empty(); };
  if (std::any_of(report.points.begin(), report.points.end(), has_work)) return {};
  const std::string why =
      profile.why_no_counters.empty() ? "counters were not requested" : clean_line(profile.why_no_counters);
  const std::string_view reason = std::string_view(why).substr(0, why.size() - (why.ends_with('.') ? 1 : 0));
  // A file of another tool has its own times.
  return fmt::format("No roofs, because FLOPs and bytes are not known: {}.{}", reason,
                     shows_sources(report) ? "" : " The times below need no counters.");
}

double cost_of(const Point& point) {
  if (point.profiled) return point.profiled->total_s;
  return point.time ? point.time->median : 0;
}

std::vector<std::size_t> by_total_time(const Report& report) {
  std::vector<std::size_t> order(report.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return positive(cost_of(report.points[a])) > positive(cost_of(report.points[b]));
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
  std::int64_t uncounted = 0, flopless = 0, elsewhere = 0, other = 0;
  const bool counted = !shows_sources(report);
  for (const Point& point : report.points) {
    if (has_mark(report, point)) continue;
    if (work_source(point).empty()) {
      ++uncounted;
    } else if (!(point.work.total_flops() > 0)) {
      ++flopless;
    } else if (ran_on_other_model(report, point)) {
      ++elsewhere;
    } else {
      ++other;
    }
  }
  const std::int64_t off = uncounted + flopless + elsewhere + other;
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
  facts.emplace_back("Counters",
                     profile.counters
                         ? share_fact("read", profile.kernel_s - profile.counted_s, profile.kernel_s)
                         : "none: " + (profile.why_no_counters.empty() ? std::string("not requested")
                                                                       : clean_line(profile.why_no_counters)));
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
