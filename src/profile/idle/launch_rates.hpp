// The rate at which the host launches: of which kernels, by what, and what the programs do that launch too slowly.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "profile/causes/step_activities.hpp"
#include "profile/idle/eager_programs.hpp"
#include "profile/idle/host_calls.hpp"
#include "profile/idle/item_loops.hpp"

namespace roofline {

class LaunchRates {
 public:
  /// `calls`: of each process.
  LaunchRates(const Recording& recording, const StepActivities& activities, const std::vector<HostCalls>& calls);

  /// True for the first launch of a kernel by a process, which may load its code: it says nothing about the rate.
  bool is_first(const Activity& activity) const { return first_.contains(&activity); }
  /// True if the launch of a graph started it, whatever it contains.
  bool by_graph(const Activity& activity) const;
  /// Why the host did not launch it in time: by an optimizer that is not fused, after kernels that are shorter than
  /// their launches, or for no such reason.
  SavingCause cause_of(const Activity& launched, int device) const;
  /// The loop in which it was launched.
  CauseDetail loop_of(const Activity& launched, int device) const;
  /// The median times of kernels and of their launches, as a fact; none: not known.
  std::optional<std::string> fact(int device) const;
  const EagerPrograms& eager() const { return eager_; }

 private:
  void find_first();
  void find_rates(const std::vector<HostCalls>& calls);
  void find_loops();

  const Recording& recording_;
  const StepActivities& activities_;
  EagerPrograms eager_;
  ItemLoops item_loops_;
  std::set<const Activity*> optimizer_, first_;
  std::map<int, double> kernel_s_, launch_s_;  ///< by device
  std::set<int> loops_;                        ///< devices
};

}  // namespace roofline
