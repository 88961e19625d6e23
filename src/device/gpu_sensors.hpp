// A GPU's sensors while other programs run on it. Read-only: no context is created, no
// memory taken, no setting changed. Implemented by device/cuda.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roofline {

/// A counter that starts again at zero behind its last value.
struct WrappingCounter {
  double value = 0;
  double modulus = 0;  ///< values that it has; 0: it never comes to its end
};

struct GpuProcess {
  std::int64_t pid = 0;
  std::string name;                    ///< empty where its process is not to be seen from here
  std::optional<double> memory_bytes;  ///< on this GPU
  std::optional<double> sm_fraction;   ///< of the time since the reading before, in which it had the SMs
};

/// Means of the hardware's own counters since the previous reading.
struct GpuActivity {
  double seconds = 0;  ///< that they cover
  std::int64_t samples = 0;
  bool gap = false;  ///< samples were lost in between
  /// Values from seconds, clocks and the hardware's maxima: fractions, Hz and bytes. Quantities that a chip lacks are
  /// absent.
  std::map<std::string, double, std::less<>> values;
  std::string source;  ///< "CUPTI 13.0 on GH100": what a check of its bytes holds for
};

/// Everything at one moment. What is absent has its reason in `absent`, by the name of its field.
struct GpuReading {
  double time_s = 0;  ///< on a clock that never goes back
  std::optional<double> core_hz, memory_hz, max_core_hz;
  std::optional<double> power_w, power_limit_w, energy_j;
  std::optional<double> temperature_c, memory_temperature_c;
  std::optional<double> power_capped_s, thermal_capped_s;  ///< for how long that has held the clock down so far
  std::optional<std::vector<std::string>> limiters;        ///< what holds it down now; empty: nothing
  std::optional<double> busy_fraction;                     ///< some kernel ran, over the driver's own last second
  std::optional<double> encoder_fraction, decoder_fraction, fan_fraction;
  std::optional<double> memory_used_bytes, memory_total_bytes;
  std::optional<WrappingCounter> pcie_rx_bytes, pcie_tx_bytes;               ///< where the driver counts them…
  std::optional<double> pcie_rx_bytes_per_second, pcie_tx_bytes_per_second;  ///< …else its own rate, over 20 ms
  std::optional<double> pcie_generation, pcie_lanes;
  std::optional<WrappingCounter> nvlink_rx_bytes, nvlink_tx_bytes;
  std::optional<double> nvlink_links;
  std::optional<double> ecc_corrected, ecc_uncorrected;  ///< errors since the driver was loaded
  std::optional<std::vector<GpuProcess>> processes;
  std::optional<GpuActivity> activity;
  std::map<std::string, std::string, std::less<>> absent;
};

class GpuSensors {
 public:
  virtual ~GpuSensors() = default;
  /// Collects the hardware's samples before its buffer is full: to be called about ten times per second.
  virtual void collect() = 0;
  virtual GpuReading read() = 0;
};

/// How a GPU is found by its driver's libraries.
struct GpuAddress {
  std::string pci;                ///< "0000:3b:00.0"
  std::optional<int> cuda_index;  ///< std::nullopt if CUDA does not list it
};

/// A GPU that can be watched, with the facts that are known without opening it.
struct GpuIdentity {
  GpuAddress address;
  std::string name;
  std::string uuid;
};

/// The GPUs that NVML lists, in its order. Throws Error with the reason if there is none.
std::vector<GpuIdentity> monitored_gpus();

/// How long the hardware's own samples are that a GPU's activity is made of.
inline constexpr double kActivitySampleSeconds = 0.01;

/// Never throws for missing sensors: each reading has the reason. `sample_s`: interval in seconds of the hardware's
/// counters, which one program at a time can have; std::nullopt: without them.
std::unique_ptr<GpuSensors> open_gpu_sensors(const GpuAddress& address, std::optional<double> sample_s);

}  // namespace roofline
