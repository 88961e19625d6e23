// The order of a measurement in rounds: every member is visited once per round, so that contention of a few seconds
// costs each of them one round and none of them all. Independent of devices and clocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace roofline {

/// Times on one clock, in seconds.
struct RoundTimes {
  /// Rounds continue until this time even if all probes have converged, so that a transient of a few seconds does not
  /// determine the result.
  double least_s = 0;
  double end_s = 0;                ///< upper bound
  bool whole_first_round = false;  ///< the first round is completed even if it exceeds end_s
};

class Rounds {
 public:
  Rounds(std::size_t members, RoundTimes times);

  /// The member to visit at `now_s`: in the members' order in the first round, in a random order in later ones,
  /// so that periodic disturbances do not always hit the same member. Nothing once the time is over, or when a
  /// round has ended, `least_s` is past and `converged` returns true.
  std::optional<std::size_t> next(double now_s, const std::function<bool()>& converged);

  /// Changes the end.
  void end_at(double end_s) { times_.end_s = end_s; }

  std::int64_t completed() const { return completed_; }  ///< rounds
  std::size_t place() const { return place_; }           ///< how many have been visited in this round

 private:
  RoundTimes times_;
  std::vector<std::size_t> order_;
  std::size_t place_ = 0;
  std::int64_t completed_ = 0;
  std::mt19937_64 random_{1};
};

}  // namespace roofline
