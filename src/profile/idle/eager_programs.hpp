// Operations of JAX that the program calls outside of jit: each is a compiled program of one kernel.
#pragma once

#include <set>
#include <utility>

#include "profile/causes/step_activities.hpp"

namespace roofline {

class EagerPrograms {
 public:
  EagerPrograms() = default;
  /// Finds processes that execute tens of such programs in each step.
  explicit EagerPrograms(const StepActivities& activities);

  bool in_process(int process) const { return processes_.contains(process); }
  /// True if such a program launched it, in one of these processes.
  bool launched(const Recording& recording, const Activity& activity) const;

 private:
  std::set<int> processes_;
  std::set<std::pair<int, spool::Id>> programs_;  ///< process and range
};

}  // namespace roofline
