#include "profile/claims.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/saving_order.hpp"

namespace roofline {
namespace {

/// Specific causes first, then fusions, which any cause of their kernels precedes.
int rank_of(const SavingClaim& claim) {
  if (claim.graph) return 3;
  return claim.general ? 2 : claim.saving.cause == SavingCause::fusion ? 1 : 0;
}

double usable(double seconds) { return std::isfinite(seconds) && seconds > 0 ? seconds : 0; }

/// Remaining time that claims can be made on.
class SavingPools {
 public:
  explicit SavingPools(SavingLimits limits) : left_(std::move(limits)) {}

  /// Maximum of a claim, without taking it.
  double available(const SavingClaim& claim) const {
    double wanted = usable(claim.saving.seconds);
    if (!claim.rows.empty()) wanted = std::min(wanted, left_of_rows(claim.rows));
    return std::min(wanted, usable(left_.*pool_of(claim.saving.kind)));
  }
  /// The same of the kernels that it saves besides.
  double available_kernels(const SavingClaim& claim) const {
    return std::min(left_of_rows(claim.kernels), usable(left_.kernels_s));
  }

  /// Takes that much, from each of its rows in proportion to what the claim has of it.
  void take(const SavingClaim& claim, double seconds, double of_kernels) {
    take_rows(claim.rows, seconds);
    take_rows(claim.kernels, of_kernels);
    double& rest = left_.*pool_of(claim.saving.kind);
    rest = std::max(0.0, rest - seconds);
    left_.kernels_s = std::max(0.0, left_.kernels_s - of_kernels);
  }

 private:
  using Rows = std::vector<std::pair<int, double>>;

  void take_rows(const Rows& rows, double seconds) {
    const double of_rows = left_of_rows(rows);
    for (const auto& [row, time] : rows) {
      const double share = of_rows > 0 ? std::min(usable(time), left_of(row)) / of_rows : 0;
      if (share > 0) left_.rows[static_cast<std::size_t>(row)] -= share * seconds;
    }
  }

  static double SavingLimits::*pool_of(SavingKind kind) {
    if (kind == SavingKind::idle) return &SavingLimits::idle_s;
    if (kind == SavingKind::communication) return &SavingLimits::communication_s;
    return kind == SavingKind::copies ? &SavingLimits::copies_s : &SavingLimits::kernels_s;
  }

  double left_of(int row) const {
    const auto index = static_cast<std::size_t>(row);
    return row >= 0 && index < left_.rows.size() ? usable(left_.rows[index]) : 0;
  }

  /// Remaining time in these rows.
  double left_of_rows(const Rows& rows) const {
    double sum = 0;
    for (const auto& [row, time] : rows) sum += std::min(usable(time), left_of(row));
    return sum;
  }

  SavingLimits left_;
};

}  // namespace

std::vector<Saving> disjoint_savings(std::vector<SavingClaim> claims, SavingLimits limits, double least_s) {
  const auto larger = [](const Saving& a, const Saving& b) {
    return of_start_up(a) != of_start_up(b) ? of_start_up(b) : a.seconds > b.seconds;
  };
  std::stable_sort(claims.begin(), claims.end(), [&](const SavingClaim& a, const SavingClaim& b) {
    if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
    return usable(a.saving.seconds) > usable(b.saving.seconds);
  });
  SavingPools pools(std::move(limits));
  std::vector<Saving> savings;
  for (const SavingClaim& claim : claims) {
    const double seconds = pools.available(claim), of_kernels = pools.available_kernels(claim);
    if (!(seconds > 0) || seconds + of_kernels < least_s) continue;
    pools.take(claim, seconds, of_kernels);
    savings.push_back(claim.saving);
    savings.back().seconds = seconds + of_kernels;
  }
  std::stable_sort(savings.begin(), savings.end(), larger);
  put_causes_first(savings, [](const Saving& saving) { return std::optional(saving.cause); });
  return savings;
}

}  // namespace roofline
