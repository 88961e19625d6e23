#include "profile/micro_batches.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace roofline {
namespace {

/// The greatest common divisor of how often each of these comes in a step; 1 where some do not come equally often in all.
template <typename Counts>
std::int64_t common_count(const Counts& counts, std::size_t steps) {
  constexpr double kNearly = 0.1;  // a launch may be partly in the first or the last step
  std::int64_t common = 0;
  for (const auto& [what, count] : counts) {
    const double in_a_step = static_cast<double>(count) / static_cast<double>(steps);
    const std::int64_t whole = std::llround(in_a_step);
    if (whole == 0) continue;  // not of all steps, as an evaluation
    if (std::abs(in_a_step - static_cast<double>(whole)) > kNearly) return 1;
    common = std::gcd(common, whole);
  }
  return std::max<std::int64_t>(1, common);
}

bool reduces(spool::CollectiveKind kind) {
  return kind == spool::CollectiveKind::all_reduce || kind == spool::CollectiveKind::reduce_scatter;
}

}  // namespace

std::int64_t reduced_micro_batches(const Job& job, const Recording& recording, const std::vector<Span>& steps) {
  if (job.timelines.empty() || steps.empty()) return 1;
  std::map<std::uint64_t, std::int64_t> reductions;  // by bytes
  int process = -1;
  for (const CollectiveKernel& kernel : job.timelines.front().collectives) {
    if (!reduces(kernel.kind) || kernel.bytes == 0 || span_at(steps, kernel.span.start) >= steps.size()) continue;
    ++reductions[kernel.bytes];
    process = recording.groups[static_cast<std::size_t>(kernel.group)].process;
  }
  if (process < 0) return 1;
  std::map<std::pair<spool::Id, int>, std::int64_t> forward;  // by place and group
  for (const Activity& activity : recording.activities) {
    if (activity.what != ActivityKind::kernel || activity.process != process) continue;
    if (span_at(steps, activity.start) >= steps.size()) continue;
    const spool::Place& place = recording.place(activity);
    if (place.module != 0 && place.backward == 0) ++forward[{place.id, activity.group}];
  }
  if (forward.empty()) return 1;
  const std::int64_t batches = common_count(forward, steps.size());
  // Small values, as a loss for the log, may be reduced once.
  std::erase_if(reductions, [](const auto& of) {
    constexpr std::uint64_t kSmall = 64 << 10;
    return of.first < kSmall;
  });
  if (reductions.empty()) return 1;
  return std::gcd(batches, common_count(reductions, steps.size()));
}

}  // namespace roofline
