// Messages from the measuring process to the parent: both ends.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/measure_probe.hpp"
#include "device/isolate.hpp"

namespace roofline {

/// The sending end.
class MessageWriter {
 public:
  explicit MessageWriter(const Send& send) : send_(send) {}

  /// Announces the current probe, its index in the round, and the round (both from 0).
  void current(const std::string& probe, std::int64_t place, std::int64_t round = 0) const;
  void device(const DeviceInfo& info) const;
  void idle_watts(double watts) const;
  void unusable(const std::string& reason, const std::string& hint) const;
  /// Replaces earlier results of that probe.
  void outcome(const std::string& probe, const ProbeOutcome& outcome) const;
  /// The time budget ended before the ceiling of that name was measured.
  void no_time(const std::string& name) const;
  void sustained(const std::string& probe, const Ceiling& ceiling) const;

 private:
  const Send& send_;
};

/// The receiving end: everything received so far.
struct MessageReader {
  Machine machine;  ///< device, idle power and what could not be measured
  std::map<std::string, MeasuredProbe> measured;
  std::map<std::string, Sweep> sweeps;
  std::string unusable, hint;
  std::string current;  ///< the probe
  std::int64_t place = 0;
  std::int64_t round = 0;

  void read(std::string_view message);
};

}  // namespace roofline
