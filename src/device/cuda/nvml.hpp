// NVML, the driver's monitoring library, loaded at run time: no header of it is needed to build and no
// library to run. Reads only; it never changes a setting of the device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace roofline {

/// One GPU as NVML sees it. Every reading is absent where the driver doesn't give it.
class Nvml {
 public:
  /// The GPU at that PCI address ("0000:3b:00.0"), or null without NVML or where it doesn't know the address.
  static std::unique_ptr<Nvml> open(const std::string& pci_bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::optional<std::string> driver_version() const;
  std::optional<double> sm_clock_hz() const;
  std::optional<double> memory_clock_hz() const;
  std::optional<double> temperature_c() const;
  /// The limit that is enforced now, in watts.
  std::optional<double> power_limit_w() const;
  /// Energy since the driver was loaded, in joules; only differences over half a second or more mean much.
  std::optional<double> energy_j() const;
  /// What holds the clock down now: "power cap", "thermal", …; empty when nothing does.
  std::optional<std::vector<std::string>> clock_event_reasons() const;
  std::optional<bool> mig_enabled() const;

 private:
  struct State;
  explicit Nvml(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roofline
