// The order of a measurement in rounds: members are visited again and again, so that contention of a few seconds costs
// each of them one visit and none of them all. Independent of devices and clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace roofline {

/// Times on one clock, in seconds.
struct RoundTimes {
  double roofs_end_s = 0;           ///< until this time only roofs are measured, unless they settle earlier
  double end_s = 0;                 ///< upper bound
  bool whole_first_visits = false;  ///< every member is visited once even if that exceeds end_s
};

/// Rounds of the roofs, then one visit to each reference, then rounds of all that have not converged.
class Rounds {
 public:
  /// The first `roofs` of the members are roofs, the others references.
  Rounds(std::size_t roofs, std::size_t members, RoundTimes times);

  /// The member to visit at `now_s`: in the members' order at first, in random order in later rounds, so that periodic
  /// disturbances do not always hit the same member. Members for which `converged` is true are skipped. std::nullopt
  /// once the time is over or all have converged.
  std::optional<std::size_t> next(double now_s, const std::function<bool(std::size_t)>& converged);

  /// Changes the end of the measurement.
  void end_at(double end_s) { times_.end_s = end_s; }

  bool in_first_visits() const { return completed_ == 0 || phase_ == Phase::references; }
  /// True if the rounds of the roofs are over and every reference has been visited.
  bool visited_all() const { return phase_ == Phase::all; }
  std::int64_t completed() const { return completed_; }  ///< number of completed rounds

 private:
  enum class Phase : std::uint8_t { roofs, references, all };

  std::optional<std::size_t> pick(const std::function<bool(std::size_t)>& converged);
  void begin_round();
  void begin(Phase phase);

  RoundTimes times_;
  std::size_t roofs_, members_;
  Phase phase_ = Phase::roofs;
  std::vector<std::size_t> order_;  ///< order of this round
  std::size_t place_ = 0;           ///< position in order_
  std::int64_t completed_ = 0;
  std::mt19937_64 random_{1};
};

}  // namespace roofline
