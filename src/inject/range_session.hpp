// Groups of counters in one context, one after the other: each counts launches until its room is used up.
#pragma once

#include <cstddef>
#include <vector>

#include "cupti/range_session.hpp"
#include "inject/counter_groups.hpp"

namespace roofline::inject {

class RangeSession {
 public:
  /// Every call may throw Error.
  RangeSession(const CuptiProfiler& profiler, const CounterGroups& groups, const CounterGroup& group,
               CUcontext context);

  /// Counts that group from now on, without the quarter of a second that a new session takes. Nothing may be left to
  /// collect. False: it needs a session of its own.
  bool change(const CounterGroup& group);
  /// Starts the counters unless they are running. May take a quarter of a second.
  void start();
  void begin();
  void end();
  CountedRange range() const { return range_; }
  /// No other may begin before a collect().
  bool full() const { return pending_ == room_; }
  /// Values of the ranges since the last collect(); NaN if not counted. Waits for the GPU.
  std::vector<std::vector<double>> collect();

 private:
  const CounterGroups& groups_;
  const CounterGroup* group_;
  CountedRange range_;
  std::size_t room_;
  std::size_t pending_ = 0;
  CuptiRangeSession session_;
};

}  // namespace roofline::inject
