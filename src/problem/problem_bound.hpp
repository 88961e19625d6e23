// Problems under a machine's roofs: the least time of each part and of the whole.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/bound.hpp"
#include "model/machine.hpp"
#include "problem/inference.hpp"

namespace roofline {

/// A measured time against a bound.
struct Score {
  double share = 0;      ///< least time over measured time
  bool possible = true;  ///< false below the least time, which hides a mistake: of the time, the work or the roof
};
Score score_of(double least_s, double measured_s);

struct PartBound {
  ProblemPart part;
  Bound bound;                            ///< per launch
  double time_s = 0;                      ///< over all launches; NaN without a roof
  std::optional<double> measured_s = {};  ///< over all launches, if a report has it

  /// std::nullopt if it was not measured.
  std::optional<Score> score() const;
};

struct PhaseBound {
  std::string name;
  double tokens = 0;
  std::vector<PartBound> parts;
  std::optional<Work> fused_work;  ///< all work as one kernel; std::nullopt if each row is a problem of its own
  std::optional<Bound> fused;      ///< of `fused_work`
  std::optional<double> messages_s;
  /// Lower bound on the time of any implementation: all work as one kernel, overlapped with messages. NaN without
  /// roofs.
  double least_s = 0;
  /// Each part as a kernel of its own, at its roof, one after the other, without messages that have no roof. NaN if
  /// another part has none.
  double by_op_s = 0;
};

/// Names of the parts whose measured times are below their bounds.
std::vector<std::string> impossible_parts(const PhaseBound& phase);

struct ProblemBound {
  std::string name;
  std::vector<PhaseBound> phases;
  std::optional<ProblemMemory> memory;
  double cache_per_sequence = 0;
  std::vector<std::string> notes;
};

/// The machine with its sustained compute roofs in place of the burst ones, where it has them: a program that runs for
/// more than a moment has no other clock.
Machine at_sustained_clocks(Machine machine);

/// Bounds on that machine. Work for a matrix unit that it lacks is that of the next wider type.
ProblemBound bound_problem(const BoundProblem& problem, const Machine& machine);

}  // namespace roofline
