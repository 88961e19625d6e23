// NVML, the driver's monitoring library, loaded at run time: neither the build nor the program depends on it.
// Read-only: no setting of the device is changed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/energy_meter.hpp"
#include "device/gpu_sensors.hpp"
#include "model/node.hpp"

namespace roofline {

/// A PCIe link: its generation and its number of lanes.
struct PcieLink {
  unsigned generation = 0;
  unsigned lanes = 0;
};

/// Sum over all active NVLink links of a GPU.
struct NvLinks {
  unsigned links = 0;
  double bytes_per_s = 0;  ///< of one link in one direction; 0 if the driver does not report it
};

struct MemoryUse {
  double used_bytes = 0;
  double total_bytes = 0;
};

enum class Direction : std::uint8_t { transmitted, received };

/// Current time on the clock of NVML's samples: seconds since 1970.
double nvml_clock_s();

/// One GPU. Every reading is absent if the driver does not report it.
class Nvml {
 public:
  /// The GPU at that PCI address ("0000:3b:00.0"), or null without NVML or if NVML does not list it.
  static std::unique_ptr<Nvml> open(const std::string& pci_bus_id);
  /// The same, but throws Error with the reason instead of returning null.
  static std::unique_ptr<Nvml> require(const std::string& pci_bus_id);
  /// All GPUs in the driver's order. Throws Error with the reason if there is none.
  static std::vector<GpuIdentity> list();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::optional<std::string> driver_version() const;
  std::optional<double> sm_clock_hz() const;
  std::optional<double> memory_clock_hz() const;
  std::optional<double> temperature_c() const;
  /// The enforced power limit in watts.
  std::optional<double> power_limit_w() const;
  /// Energy since the driver was loaded, in joules. An H200 updates it every 100 ms; the query takes 3 ms.
  std::optional<double> energy_j() const;
  /// The driver's buffered power samples newer than `since_s` (seconds since 1970), in order. An H200 has one every
  /// 20 ms over the last 2.4 s. Empty if the driver buffers none.
  std::vector<PowerSample> power_samples(double since_s) const;
  /// The current clock-limit reason: "power cap", "thermal", …; empty if the clock is not limited.
  std::optional<std::vector<std::string>> clock_event_reasons() const;
  std::optional<bool> mig_enabled() const;
  /// Share of the time since `since_s` (seconds since 1970) in which other processes used the SMs. The driver samples
  /// each process about once a second. Empty until it has a sample of this process, and if the driver's process id
  /// differs from this process's own (some containers).
  std::optional<double> share_of_others(double since_s) const;
  /// Accumulated thermal slowdown, in seconds.
  std::optional<double> thermal_slowdown_s() const;
  /// Current link speed: an idle GPU may use a lower generation to save power.
  std::optional<PcieLink> pcie_link() const;
  /// Maximum link speed of this GPU in this slot.
  std::optional<PcieLink> best_pcie_link() const;
  /// Empty if the driver does not report NVLink; zero links if none is active.
  std::optional<NvLinks> nvlinks() const;
  /// True if peer access between the two GPUs uses NVLink; std::nullopt if unknown.
  std::optional<bool> nvlink_to(const Nvml& other) const;
  /// Number of this GPU's active links to the other one, through a switch or directly.
  std::optional<int> nvlinks_to(const Nvml& other) const;
  /// The lowest common ancestor of the two GPUs in the PCIe topology; empty if the driver does not report it.
  std::optional<PciePath> shared_path(const Nvml& other) const;

  std::optional<double> max_sm_clock_hz() const;
  std::optional<double> power_w() const;
  std::optional<double> memory_temperature_c() const;
  /// Accumulated slowdown by the power limit, in seconds.
  std::optional<double> power_slowdown_s() const;
  /// Share of the driver's last sampling period in which a kernel ran.
  std::optional<double> busy_fraction() const;
  std::optional<double> encoder_fraction() const;
  std::optional<double> decoder_fraction() const;
  std::optional<double> fan_fraction() const;
  /// Excluding memory reserved by the driver.
  std::optional<MemoryUse> memory() const;
  /// As seen from the GPU. Empty if the driver has no such counters, or only 32-bit ones, which overflow 12 times a
  /// second.
  std::optional<WrappingCounter> pcie_bytes(Direction direction) const;
  /// The driver's rate over the 20 ms that the call takes.
  std::optional<double> pcie_bytes_per_second(Direction direction) const;
  /// Payload bytes, all active links.
  std::optional<WrappingCounter> nvlink_bytes(Direction direction) const;
  /// Since the driver was loaded.
  std::optional<double> ecc_errors(bool corrected) const;
  /// Processes with a context: memory, and SM utilisation if the driver has a sample since `since_s` (seconds since
  /// 1970). Names are filled in by the caller.
  std::optional<std::vector<GpuProcess>> processes(double since_s) const;

  /// Reason of the last failed query: "not supported", "no permission", "the GPU is lost".
  std::string refusal() const;

 private:
  struct State;
  explicit Nvml(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roofline
