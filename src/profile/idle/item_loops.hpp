// Functions of the program that launch kernels one by one in a loop, as over the tensors of a list.
#pragma once

#include <set>
#include <tuple>

#include "profile/causes/step_activities.hpp"

namespace roofline {

class ItemLoops {
 public:
  ItemLoops() = default;
  /// A function has such a loop if one of its lines launches tens of kernels in a step, for no or for a single module
  /// and outside of backward passes. Layers of a model are other modules on the same line.
  explicit ItemLoops(const StepActivities& activities);

  /// True if the function that launched it has one.
  bool contains(const Recording& recording, const Activity& launched) const;

 private:
  using Function = std::tuple<int, spool::Id, spool::Id>;  ///< process, file, name
  std::set<Function> functions_;
};

}  // namespace roofline
