// Two calibrations side by side: the same GPU a month later, or another one in the rack. Pure arithmetic.
#pragma once

#include <string>
#include <vector>

#include "model/machine.hpp"

namespace roofline {

/// What a ceiling or a kernel became. `same`: within the threshold, or the intervals can't tell the two apart.
/// `untimed` is said of kernels only.
enum class Change : std::uint8_t { same, faster, slower, only_before, only_now, untimed };
std::string_view to_string(Change change);

struct CeilingChange {
  std::string name;
  CeilingKind kind = CeilingKind::bandwidth;
  Regime regime = Regime::burst;
  Role role = Role::roof;
  double before = 0;  ///< NaN where only_now
  double now = 0;     ///< NaN where only_before
  double ratio = 0;   ///< now / before: below 1 is slower, for every kind of ceiling
  Interval ratio_ci95;
  Change change = Change::same;
};

/// Calibrations of one machine a minute apart agree within 1 % (docs/method.md): less is no difference.
inline constexpr double kRunToRun = 0.01;

/// One entry a ceiling, in the order of `now`; those that are only in `before` come last. A ceiling changed when
/// its ratio differs from 1 by more than `threshold` and the two 95 % intervals don't overlap.
std::vector<CeilingChange> compare_machines(const Machine& before, const Machine& now, double threshold = kRunToRun);

}  // namespace roofline
