// NVML, the driver's monitoring library, loaded at run time: no header of it is needed to build and no
// library to run. Reads only; it never changes a setting of the device.
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

/// All NVLink links of a GPU that are up, taken together.
struct NvLinks {
  unsigned links = 0;
  double bytes_per_s = 0;  ///< of one link in one direction; 0 where the driver doesn't tell
};

struct MemoryUse {
  double used_bytes = 0;
  double total_bytes = 0;
};

enum class Direction : std::uint8_t { transmitted, received };

/// Now, on the clock of NVML's samples: seconds since 1970.
double nvml_clock_s();

/// One GPU as NVML sees it. Every reading is absent where the driver doesn't give it.
class Nvml {
 public:
  /// The GPU at that PCI address ("0000:3b:00.0"), or null without NVML or where it doesn't know the address.
  static std::unique_ptr<Nvml> open(const std::string& pci_bus_id);
  /// The same; throws Error with the reason instead of being null.
  static std::unique_ptr<Nvml> require(const std::string& pci_bus_id);
  /// All GPUs that the driver knows, in its order. Throws Error with the reason where there is none.
  static std::vector<GpuIdentity> list();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::optional<std::string> driver_version() const;
  std::optional<double> sm_clock_hz() const;
  std::optional<double> memory_clock_hz() const;
  std::optional<double> temperature_c() const;
  /// The limit that is enforced now, in watts.
  std::optional<double> power_limit_w() const;
  /// Energy since the driver was loaded, in joules. An H200 counts on every 100 ms and takes 3 ms to tell.
  std::optional<double> energy_j() const;
  /// The power samples that the driver has kept and that are newer than `since_s` (seconds since 1970), in order.
  /// On an H200 one every 20 ms, over the last 2.4 s. Empty where the driver keeps none.
  std::vector<PowerSample> power_samples(double since_s) const;
  /// What holds the clock down now: "power cap", "thermal", …; empty when nothing does.
  std::optional<std::vector<std::string>> clock_event_reasons() const;
  std::optional<bool> mig_enabled() const;
  /// The share of the time since `since_s` (seconds since 1970) for which other processes had the SMs. The driver takes
  /// a sample of each process about once a second: nothing where none of this process is there yet, nor where the
  /// driver knows this process by another number than it knows itself (some containers).
  std::optional<double> share_of_others(double since_s) const;
  /// For how long heat has held the clock down so far, in seconds.
  std::optional<double> thermal_slowdown_s() const;
  /// As it is trained now: a GPU may save power at a lower generation while it idles.
  std::optional<PcieLink> pcie_link() const;
  /// The best that this GPU in this slot can train to.
  std::optional<PcieLink> best_pcie_link() const;
  /// Nothing where the driver knows no NVLink; no links where none is up.
  std::optional<NvLinks> nvlinks() const;
  /// Whether the two GPUs reach each other's memory over NVLink.
  std::optional<bool> nvlink_to(const Nvml& other) const;
  /// How many of this GPU's links that are up lead to the other one, by a switch or directly.
  std::optional<int> nvlinks_to(const Nvml& other) const;
  /// What the PCIe paths of the two GPUs have in common; nothing where the driver doesn't report it.
  std::optional<PciePath> shared_path(const Nvml& other) const;

  std::optional<double> max_sm_clock_hz() const;
  std::optional<double> power_w() const;
  std::optional<double> memory_temperature_c() const;
  /// For how long the power limit has held the clock down so far, in seconds.
  std::optional<double> power_slowdown_s() const;
  /// The share of the driver's last sampling period in which some kernel ran.
  std::optional<double> busy_fraction() const;
  std::optional<double> encoder_fraction() const;
  std::optional<double> decoder_fraction() const;
  std::optional<double> fan_fraction() const;
  /// Without what the driver keeps for itself.
  std::optional<MemoryUse> memory() const;
  /// Seen from the GPU. Nothing where the driver does not count them, or counts in 32 bits, which are used up 12 times
  /// a second.
  std::optional<WrappingCounter> pcie_bytes(Direction direction) const;
  /// The driver's own rate, of the 20 ms that the call takes.
  std::optional<double> pcie_bytes_per_second(Direction direction) const;
  /// Payload over all links that are up.
  std::optional<WrappingCounter> nvlink_bytes(Direction direction) const;
  /// Since the driver was loaded.
  std::optional<double> ecc_errors(bool corrected) const;
  /// Who has a context, with memory and, where the driver has seen it since `since_s` (seconds since 1970), its share
  /// of the SMs. Names are left to whoever can see the processes.
  std::optional<std::vector<GpuProcess>> processes(double since_s) const;

  /// Why the last question that was not answered was not: "not supported", "no permission", "the GPU is lost".
  std::string refusal() const;

 private:
  struct State;
  explicit Nvml(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roofline
