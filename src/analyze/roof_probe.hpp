// The calibration's probe of one ceiling, made again on an open device to run beside rows.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "device/device.hpp"
#include "model/ceiling.hpp"
#include "op/probe.hpp"

namespace roofline {

class RoofProbe {
 public:
  /// The roof's probe in the roof's variant, run once and verified. Null if there is none, or if it fails. Throws Error
  /// if memory does not suffice.
  static std::unique_ptr<RoofProbe> make(const Ceiling& roof, Device& device);
  /// Calls `use` with each other variant of the roof's probe, one after another; without those that fail.
  static void for_other_variants(const Ceiling& roof, Device& device, const std::function<void(RoofProbe&)>& use);
  RoofProbe(const Ceiling& roof, ProbeCase probe_case, Device& device);
  RoofProbe(const RoofProbe&) = delete;
  RoofProbe& operator=(const RoofProbe&) = delete;

  const Ceiling& roof() const { return roof_; }
  const std::string& variant() const { return case_.variant; }
  double amount() const { return case_.amount; }  ///< of one launch, in the unit of the ceiling
  double working_set_bytes() const { return case_.working_set_bytes; }
  Reading time(std::int64_t launches) { return timer_->time(launches); }

 private:
  Ceiling roof_;
  ProbeCase case_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace roofline
