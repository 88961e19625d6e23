// The chips of the GPUs in use, and the groups of counters that each has.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inject/counter_groups.hpp"
#include "inject/counting_plan.hpp"
#include "inject/cupti_library.hpp"
#include "inject/session.hpp"

namespace roofline::inject {

/// All GPUs of one name.
struct CounterChip {
  CounterGroups groups;
  GroupRange range = {};
};

class CounterChips {
 public:
  /// Reads the metrics file of the session's folder.
  explicit CounterChips(Session& session);

  bool wants_nothing() const { return quantities_.empty(); }
  /// True before the first chip was found.
  bool none() const { return chips_.empty(); }
  /// The chip of the current context, which is idle. Throws Error if nothing can be counted on it.
  CounterChip& of(CUcontext context, const DriverEvents& driver);
  /// After of().
  const CuptiProfiler& profiler() const { return *profiler_; }

 private:
  void add(const std::string& name, std::vector<std::uint8_t> availability, std::unique_ptr<CounterChip>& chip);

  Session& session_;
  std::optional<CuptiProfiler> profiler_;
  std::vector<Quantity> quantities_;
  std::map<std::string, std::unique_ptr<CounterChip>> chips_;
  std::uint32_t groups_ = 0;
};

}  // namespace roofline::inject
