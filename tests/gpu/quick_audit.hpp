// A probe measured quickly, and what its audit finds.
#pragma once

#include <iostream>
#include <string>
#include <string_view>
#include <variant>

#include "calibrate/measure_probe.hpp"
#include "measure/audit.hpp"
#include "probe_rate.hpp"

namespace roofline {

inline ProbeOutcome measure_quickly(CudaDevice& device, const Probe& probe) {
  return measure_probe(probe, device, Effort{.quick = true, .sustain_s = 0}, [] { return false; });
}

/// Throws Error with the reason where there is no measurement.
inline MeasuredProbe measured_quickly(CudaDevice& device, const Probe& probe) {
  ProbeOutcome outcome = measure_quickly(device, probe);
  if (const auto* reason = std::get_if<std::string>(&outcome)) throw Error(*reason);
  return std::get<MeasuredProbe>(outcome);
}

/// The first check whose name contains that; null where there is none.
inline const Check* check_of(const Ceiling& ceiling, std::string_view name) {
  for (const Check& check : ceiling.audit.checks) {
    if (check.name.find(name) != std::string::npos) return &check;
  }
  return nullptr;
}

/// The checks that failed, with their details; printed with the value too.
inline std::string failures(const Ceiling& ceiling) {
  std::string names;
  for (const Check& check : ceiling.audit.checks) {
    if (check.status == CheckStatus::fail) names += check.name + ": " + check.detail + "; ";
  }
  std::cout << "  " << ceiling.value << ": " << names << '\n';
  return names;
}

}  // namespace roofline
