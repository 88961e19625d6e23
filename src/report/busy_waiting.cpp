#include "report/busy_waiting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/host_cause_text.hpp"
#include "report/source_lines.hpp"
#include "text/format.hpp"

namespace roofline {

std::optional<HostCause> busy_waiting(const HostProfile& host) {
  constexpr double kLeast = 0.2;
  const double cpu_s = host.times.on_cpu();
  double seconds = 0;
  const HostLineSum* largest = nullptr;
  for (const HostLineSum& line : host.lines) {
    if (!line.place.own || line.place.python || !is_busy_wait(line.source)) continue;
    seconds += line.times.on_cpu();
    if (largest == nullptr || line.times.on_cpu() > largest->times.on_cpu()) largest = &line;
  }
  if (largest == nullptr || host.thread_count < 2 || seconds < kLeast * cpu_s) return std::nullopt;
  const double share = seconds / cpu_s;
  return host_cause(
      "busy-waiting", std::min(seconds, share * host.wall_s),
      fmt::format("{} of the CPU time is busy waiting: threads read a variable until another one changes it",
                  percent(share)),
      "mostly at", short_place(largest->place),
      "Block until the event: std::atomic::wait and notify_one, a condition variable or a semaphore. Larger pieces of "
      "work need fewer waits.");
}

}  // namespace roofline
