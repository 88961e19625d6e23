// Lines of the program by which a framework's allocator gives its memory back to the driver, as
// torch.cuda.empty_cache() does: what is allocated after them is their cost.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "profile/intervals.hpp"
#include "profile/recording.hpp"

namespace roofline {

class MemoryReturns {
 public:
  MemoryReturns() = default;
  /// `steps`: sorted and disjoint.
  MemoryReturns(const Recording& recording, const std::vector<Span>& steps);

  /// Place that frees the most of what this process allocates in the loop; 0: the process gives no memory back.
  spool::Id place(int process) const;
  /// Places that allocate or free memory on behalf of it.
  bool concerns(int process, spool::Id place) const { return places_.contains({process, place}); }

 private:
  std::map<int, spool::Id> returns_;  ///< by process
  std::set<std::pair<int, spool::Id>> places_;
};

}  // namespace roofline
