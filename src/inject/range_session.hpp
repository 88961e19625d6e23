// A session of CUPTI's range profiler: one group of counters in one context, switched on until it is destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "inject/counter_groups.hpp"

namespace roofline::inject {

/// How a launch is counted.
enum class Ranges : std::uint8_t {
  ours,   ///< around what we say; nothing waits for a launch but we
  CUPTIs  ///< around each kernel, for which CUPTI waits: the only one in which instrumented counts are seen
};

class RangeSession {
 public:
  /// Every call may throw Refused.
  RangeSession(const Profiler& profiler, const CounterGroups& groups, const CounterGroup& group, CUcontext context,
               Ranges ranges);
  ~RangeSession();
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;

  /// Switches the counters on, unless they are. May take a quarter of a second.
  void start();
  void begin();
  void end();
  Ranges ranges() const { return ranges_; }
  /// No other may begin before a collect().
  bool full() const { return pending_ == room_; }
  /// The values of the ranges since the last collect(), NaN where nothing was seen. Waits for the GPU.
  std::vector<std::vector<double>> collect();

 private:
  void configure();

  const Profiler& profiler_;
  const CounterGroups& groups_;
  const CounterGroup& group_;
  Ranges ranges_;
  std::size_t room_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<std::uint8_t> data_;
  std::size_t pending_ = 0;
  bool started_ = false;
};

}  // namespace roofline::inject
