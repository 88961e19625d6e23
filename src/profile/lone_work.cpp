#include "profile/lone_work.hpp"

#include <map>
#include <set>

#include "model/find.hpp"
#include "profile/collective_sums.hpp"

namespace roofline {
namespace {

/// Launches by line.
using Lines = std::map<std::string, double>;

Lines lines_of(const Recording& recording, const RankWork& work) {
  Lines lines;
  for (const auto& [group, of] : work) lines[line_of_group(recording, group)] += of.launches;
  lines.erase("");
  return lines;
}

Lines lone_lines(const Recording& recording, const std::vector<RankWork>& work, std::size_t rank) {
  Lines lone = lines_of(recording, work[rank]);
  for (std::size_t i = 0; i < work.size(); ++i) {
    if (i == rank) continue;
    for (const auto& [line, launches] : lines_of(recording, work[i])) lone.erase(line);
  }
  return lone;
}

/// What one step launches.
struct StepLaunches {
  double more = 0;  ///< of the rank, beyond the other one
  double lone = 0;  ///< from lone lines
};

}  // namespace

std::string line_of_lone_work(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                              const std::vector<RankWork>& work, int rank, int other) {
  constexpr double kMost = 0.8;          // of what the rank launches more
  constexpr double kOften = 0.5;         // of the steps: then their number alone tells nothing
  constexpr double kLeastOfMore = 0.05;  // then lone launches are at least this share of what it launches more
  constexpr double kLeastMore = 0.05;    // of the other's launches
  const auto here = static_cast<std::size_t>(rank), there = static_cast<std::size_t>(other);
  const Lines lone = lone_lines(recording, work, here);
  if (lone.empty() || steps.empty()) return {};
  std::set<int> lone_groups;
  for (const auto& [group, of] : work[here]) {
    if (lone.contains(line_of_group(recording, group))) lone_groups.insert(group);
  }
  const std::vector<bool> collectives = collective_groups(recording);
  std::vector<StepLaunches> launches(steps.size());
  double of_other = 0;
  for (const Activity& activity : recording.activities) {
    if (activity.what != ActivityKind::kernel || is_of_collectives(activity, collectives)) continue;
    const auto of = [&](std::size_t index) {
      return job.ranks[index].process == activity.process && job.ranks[index].device == activity.device;
    };
    const std::size_t in = span_at(steps, activity.start);
    if (in == steps.size()) continue;
    StepLaunches& step = launches[in];
    if (of(here)) {
      ++step.more;
      step.lone += lone_groups.contains(activity.group) ? 1 : 0;
    } else if (of(there)) {
      --step.more;
      ++of_other;
    }
  }
  // A step begins somewhere in the loop, maybe between the lone launches and the rest of their work.
  const auto lone_near = [&launches](std::size_t step) {
    double near = launches[step].lone;
    if (step > 0) near += launches[step - 1].lone;
    if (step + 1 < launches.size()) near += launches[step + 1].lone;
    return near > 0;
  };
  double more = 0, more_near = 0, all_lone = 0, steps_near = 0;
  for (std::size_t step = 0; step < launches.size(); ++step) {
    more += launches[step].more;
    all_lone += launches[step].lone;
    if (!lone_near(step)) continue;
    more_near += launches[step].more;
    ++steps_near;
  }
  if (more < kLeastMore * of_other || more_near < kMost * more) return {};
  const bool often = steps_near > kOften * static_cast<double>(steps.size());
  if (often && all_lone < kLeastOfMore * more) return {};
  return key_of_largest(lone);
}

}  // namespace roofline
