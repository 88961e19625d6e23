// Thresholds and texts.
#include "model/contention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/listed.hpp"

namespace roofline {
namespace {

constexpr double kShareLost = 0.05;     // of the CPU time
constexpr double kWorstCpu = 0.10;      // of one CPU's time: threads that meet at a barrier wait for the slowest
constexpr double kWaited = 0.05;        // of a thread's time
constexpr double kThrottled = 0.01;     // of the CPU time
constexpr double kLeastSeconds = 0.03;  // three ticks
constexpr double kLeastPerCpu = 0.005;  // half a tick: what rounding adds to a sum over many CPUs
constexpr double kReportable = 0.05;    // CPUs, or of the CPU time

double cpu_time(const Contention& seen) {
  return seen.wall_s * static_cast<double>(std::max<std::int64_t>(1, seen.cpus));
}

/// The names of the first few, and the number of the others.
template <class Named>
std::string names_of(std::span<const Named> all) {
  constexpr std::size_t kMostNames = 5;
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  return listed(names, kMostNames);
}

/// "1 row was measured while", "3 rows were measured while".
std::string measured_while(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{} measured while", count, what, count == 1 ? " was" : "s were");
}

/// The largest share of each kind over all, scaled to one second.
Contention worst_of(std::span<const NamedContention> all) {
  Contention worst{.wall_s = 1};
  for (const auto& [name, seen] : all) {
    if (!(seen.wall_s > 0)) continue;
    worst.cpus = std::max(worst.cpus, seen.cpus);
    worst.cores = std::max(worst.cores, seen.cores);
    worst.others_s = std::max(worst.others_s, seen.others_s / seen.wall_s);
    worst.stolen_s = std::max(worst.stolen_s, seen.stolen_s / seen.wall_s);
    worst.waited_s = std::max(worst.waited_s, seen.waited_s / seen.wall_s);
    worst.throttled_s = std::max(worst.throttled_s, seen.throttled_s / seen.wall_s);
  }
  return worst;
}

}  // namespace

void Contention::sum_cpus() {
  others_s = stolen_s = worst_cpu_s = 0;
  for (const auto& [cpu, lost] : of_cpu) {
    const double others = std::max(0.0, lost.others_s);
    others_s += others;
    stolen_s += lost.stolen_s;
    worst_cpu_s = std::max(worst_cpu_s, lost.stolen_s + others);
  }
}

Contention& Contention::operator+=(const Contention& more) {
  const bool known = (wall_s == 0 || !of_cpu.empty()) && (more.wall_s == 0 || !more.of_cpu.empty());
  wall_s += more.wall_s;
  cpus = std::max(cpus, more.cpus);
  cores = std::max(cores, more.cores);
  others_s += more.others_s;
  stolen_s += more.stolen_s;
  worst_cpu_s += more.worst_cpu_s;
  waited_s += more.waited_s;
  throttled_s += more.throttled_s;
  preemptions += more.preemptions;
  if (known) {
    for (const auto& [cpu, lost] : more.of_cpu) {
      of_cpu[cpu].others_s += lost.others_s;
      of_cpu[cpu].stolen_s += lost.stolen_s;
    }
    sum_cpus();
  } else {
    of_cpu.clear();
  }
  return *this;
}

bool is_significant(const Contention& seen) {
  if (!(seen.wall_s > 0)) return false;
  const auto beyond = [](double seconds, double limit) { return seconds >= std::max(limit, kLeastSeconds); };
  const double rounding = kLeastPerCpu * static_cast<double>(seen.cpus);
  return beyond(seen.others_s + seen.stolen_s, std::max(kShareLost * cpu_time(seen), rounding)) ||
         beyond(seen.worst_cpu_s, kWorstCpu * seen.wall_s) || beyond(seen.waited_s, kWaited * seen.wall_s) ||
         beyond(seen.throttled_s, kThrottled * cpu_time(seen));
}

double share_lost(const Contention& seen) {
  if (!(seen.wall_s > 0)) return 0;
  // The system counts ticks, which may add up to more than the time.
  return std::min(1.0, std::max({(seen.others_s + seen.stolen_s) / cpu_time(seen), seen.worst_cpu_s / seen.wall_s,
                                 seen.waited_s / seen.wall_s, seen.throttled_s / cpu_time(seen)}));
}

std::string describe(const Contention& seen, std::string_view most) {
  if (!(seen.wall_s > 0)) return {};
  std::vector<std::string> parts;
  const double others = seen.others_s / seen.wall_s;
  const double stolen = seen.stolen_s / cpu_time(seen);
  const double throttled = seen.throttled_s / cpu_time(seen);
  const double waited = seen.waited_s / seen.wall_s;
  if (seen.cpus == 0) {
    if (others >= kReportable)
      parts.push_back(fmt::format("other programs used {}{:.0f} % of the GPU", most, 100 * others));
    if (throttled >= kThrottled)
      parts.push_back(fmt::format("thermal throttling for {}{:.0f} % of the time", most, 100 * throttled));
    return listed(parts);
  }
  if (others >= kReportable) {
    const bool smt = seen.cpus != seen.cores;
    parts.push_back(fmt::format("other programs used {}{:.1f} of {} {}", most, others, seen.cpus,
                                smt              ? "logical CPUs"
                                : seen.cpus == 1 ? "core"
                                                 : "cores"));
  }
  if (stolen >= kReportable / 2) parts.push_back(fmt::format("{}{:.0f} % steal time (hypervisor)", most, 100 * stolen));
  if (throttled >= kThrottled) {
    parts.push_back(fmt::format("throttled by the cgroup CPU quota for {}{:.0f} % of the time", most, 100 * throttled));
  }
  if (parts.empty())
    parts.push_back(fmt::format("a thread waited for a CPU {}{:.0f} % of the time", most, 100 * waited));
  return listed(parts);
}

std::string summarise(std::span<const NamedContention> all, std::string_view what) {
  if (all.empty()) return {};
  return fmt::format("{} {}: {}", measured_while(all.size(), what),
                     describe(worst_of(all), all.size() == 1 ? "" : "up to "), names_of(all));
}

std::string summarise(std::span<const NamedReferenceRate> all) {
  if (all.empty()) return {};
  const double least =
      std::min_element(all.begin(), all.end(), [](const NamedReferenceRate& a, const NamedReferenceRate& b) {
        return a.rate < b.rate;
      })->rate;
  return fmt::format(
      "{} the reference probes reached {}{:.2f} of their roofs; cause unknown (possibly another tenant of the host): "
      "{}",
      measured_while(all.size(), "row"), all.size() == 1 ? "" : "as little as ", least, names_of(all));
}

}  // namespace roofline
