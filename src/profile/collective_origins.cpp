#include "profile/collective_origins.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "profile/causes/kernel_names.hpp"

namespace roofline {
namespace {

/// Launches of one group of collectives.
struct GroupLaunches {
  double all = 0, after_update = 0;
};

class OriginsOfRecording {
 public:
  explicit OriginsOfRecording(const Recording& recording) : recording_(recording) {}

  std::map<int, CollectiveOrigin> find() {
    constexpr double kNearlyAll = 0.9;
    std::map<int, CollectiveOrigin> origins;
    const bool modules =
        std::ranges::any_of(recording_.groups, [](const auto& group) { return !group.module.empty(); });
    for (auto& launches : launches_by_process()) count(launches);
    for (const auto& [group, launches] : groups_) {
      const bool after = modules && launches.after_update >= kNearlyAll * launches.all;
      origins[group] = in_backward(group) ? CollectiveOrigin::backward
                       : in_module(group) ? CollectiveOrigin::forward
                       : after            ? CollectiveOrigin::after_update
                                          : CollectiveOrigin::other;
    }
    return origins;
  }

 private:
  using Launches = std::vector<std::pair<std::uint64_t, int>>;  ///< host time and group

  const LaunchGroup& group_of(int group) const { return recording_.groups[static_cast<std::size_t>(group)]; }
  bool in_module(int group) const { return !group_of(group).module.empty(); }
  bool in_backward(int group) const {
    const LaunchGroup& of = group_of(group);
    return recording_.traces[static_cast<std::size_t>(of.process)].place(of.kind.place).backward != 0;
  }

  std::vector<Launches> launches_by_process() const {
    std::vector<Launches> processes(recording_.traces.size());
    for (const Activity& activity : recording_.activities) {
      if (activity.launch == nullptr || activity.group < 0) continue;
      processes[static_cast<std::size_t>(activity.process)].emplace_back(activity.launch->start, activity.group);
    }
    return processes;
  }

  /// A foreach operation outside of modules is an update, or one of what follows it.
  void count(Launches& launches) {
    std::sort(launches.begin(), launches.end());
    bool updated = false;
    for (const auto& [time, group] : launches) {
      if (is_collective(group_of(group).symbol)) {
        GroupLaunches& of = groups_[group];
        ++of.all;
        of.after_update += updated ? 1 : 0;
      } else if (in_backward(group) || in_module(group)) {
        updated = false;
      } else if (is_of_tensor_lists(group_of(group).symbol)) {
        updated = true;
      }
    }
  }

  const Recording& recording_;
  std::map<int, GroupLaunches> groups_;
};

}  // namespace

std::map<int, CollectiveOrigin> collective_origins(const Recording& recording) {
  return OriginsOfRecording(recording).find();
}

}  // namespace roofline
