// Functions of the program that launch kernels one by one in a loop, as over the tensors of a list or the time steps of
// a sequence.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

#include "profile/cause_detail.hpp"
#include "profile/causes/step_activities.hpp"

namespace roofline {

class ItemLoops {
 public:
  using Function = std::tuple<int, spool::Id, spool::Id>;  ///< process, file, name

  ItemLoops() = default;
  /// A function has such a loop if one of its lines launches tens of kernels in a step, for no or for a single module
  /// and outside of backward passes. Layers of a model are other modules on the same line.
  explicit ItemLoops(const StepActivities& activities);

  /// The kind of loop in the function that launched it: item_loop, grouped_loop, collective_loop, recurrent_cells or
  /// none. Of backward passes only what autograd launches for the loop's own lines.
  CauseDetail of(const Recording& recording, const Activity& launched) const;

 private:
  std::map<Function, CauseDetail> functions_;
  std::set<std::tuple<int, spool::Id, std::uint32_t>> lines_;  ///< of the loops: process, file, number
};

}  // namespace roofline
