// The order of a measurement in rounds: every member is visited once a round, so that contention that lasts seconds
// costs each of them a round and none of them all. It knows no device and no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace roofline {

/// Moments on one clock, in seconds.
struct RoundTimes {
  double least_s =
      0;  ///< rounds go on until then, whatever has settled: a phase of seconds must not pass for the machine
  double end_s = 0;                ///< and never beyond it
  bool whole_first_round = false;  ///< but for the first round, which is finished
};

class Rounds {
 public:
  Rounds(std::size_t members, RoundTimes times);

  /// Whom to visit at `now_s`: in the members' order in the first round, in an order of its own in each that follows,
  /// so that nobody is always met by what comes round at the same pace. Nothing once the time is over, or when a round
  /// has ended, `least_s` is past and `converged` says that another one would change nothing.
  std::optional<std::size_t> next(double now_s, const std::function<bool()>& converged);

  /// Another end than was said at first.
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
