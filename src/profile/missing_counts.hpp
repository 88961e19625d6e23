// Whether a program ended before its counters were read, so that another run of it has to count.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profile/process_trace.hpp"
#include "profile/program.hpp"

namespace roofline {

/// The share of the kernels' time, 0 to 1, that belongs to kernels of which every group of counters was read, in any of
/// the traces. Kernels are the same if name, grid and block are: the runs of a program number them differently.
/// Left out are those of graphs, which are counted as a whole, and those that can't run alone. std::nullopt if there
/// are no others, or if counters can't be read here.
std::optional<double> counted_share(const std::vector<ProcessTrace>& traces);

/// True if a run ended in order and within 15 s: short enough to be made again without being asked for.
bool is_short(const ProgramRun& run);

/// The runs of one program, of which all but the first only count. It decides whether there is to be another one.
class RunsForCounts {
 public:
  static constexpr int kMost = 4;

  /// After a run, with the traces of all of them so far. True if much of the kernels' time lacks counters, and the last
  /// run that only counted was not in vain. `repeatable`: the program may run again.
  bool another(bool repeatable, const std::vector<ProcessTrace>& traces);
  int made() const { return made_; }

 private:
  int made_ = 0;
  double share_ = 0;
};

}  // namespace roofline
