// Comparison of two calibrations: of one GPU at different times, or of two GPUs. Pure arithmetic.
#pragma once

#include <string>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// Change of a ceiling or a kernel. `same`: within the threshold, or the intervals do not distinguish them.
/// `untimed` and `undecided` (too few or too different repetitions to tell) apply to kernels only.
enum class Change : std::uint8_t { same, faster, slower, only_before, only_now, untimed, undecided };
std::string_view to_string(Change change);

struct CeilingChange {
  std::string name;
  CeilingKind kind = CeilingKind::bandwidth;
  std::optional<Pipe> pipe;  ///< set for compute ceilings
  Regime regime = Regime::burst;
  Role role = Role::roof;
  double before = 0;  ///< NaN where only_now
  double now = 0;     ///< NaN where only_before
  double ratio = 0;   ///< now / before: below 1 is slower, for every kind of ceiling
  Interval ratio_ci95;
  Change change = Change::same;
};

/// Calibrations of one machine a minute apart agree within 1 % (docs/method.md).
inline constexpr double kRunToRun = 0.01;

/// One entry per ceiling, in the order of `now`; those only in `before` come last. A ceiling changed if its ratio
/// differs from 1 by more than `threshold` and the two 95 % intervals do not overlap.
std::vector<CeilingChange> compare_machines(const Machine& before, const Machine& now, double threshold = kRunToRun);

}  // namespace roofline
