#include "profile/micro_batches.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace roofline {
namespace {

/// The greatest common divisor of how often each of these comes in a step; 1 where some do not come equally often in
/// all.
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

/// The launches that reduce gradients: not those of a forward pass, as of split layers, and none of a single value.
std::set<int> groups_of_reductions(const Job& job) {
  constexpr std::uint64_t kFewest = 64 << 10;  // bytes
  std::set<int> groups;
  for (const CollectiveKernel& kernel : job.timelines.front().collectives) {
    if (reduces(kernel.kind) && kernel.bytes >= kFewest) groups.insert(kernel.group);
  }
  return groups;
}

}  // namespace

std::int64_t reduced_micro_batches(const Job& job, const Recording& recording, const std::vector<Span>& steps) {
  constexpr double kMoreThanOnce = 1.5;
  if (job.timelines.empty() || steps.empty()) return 1;
  const std::set<int> reductions = groups_of_reductions(job);
  if (reductions.empty()) return 1;
  const int process = recording.groups[static_cast<std::size_t>(*reductions.begin())].process;
  std::map<std::pair<spool::Id, int>, std::int64_t> forward;  // by place and group
  std::int64_t passes = 0;                                    // forward passes behind which gradients are reduced
  bool passed = false;
  for (const Activity& activity : recording.activities) {
    if (activity.what != ActivityKind::kernel || activity.process != process) continue;
    if (span_at(steps, activity.start) >= steps.size()) continue;
    const spool::Place& place = recording.place(activity);
    const bool of_forward = place.module != 0 && place.backward == 0;
    if (of_forward) {
      ++forward[{place.id, activity.group}];
      passed = true;
    } else if (passed && reductions.contains(activity.group)) {
      ++passes;
      passed = false;
    }
  }
  const double in_a_step = static_cast<double>(passes) / static_cast<double>(steps.size());
  return in_a_step > kMoreThanOnce ? common_count(forward, steps.size()) : 1;
}

}  // namespace roofline
