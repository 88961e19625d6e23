// The table of what is monitored.
#include "monitor/sample.hpp"

namespace roofline {
namespace {

constexpr Quantity kQuantities[] = {
    {"core_clock_hertz", Measure::hertz, "Core clock; of a GPU the mean where its counters are sampled."},
    {"core_clock_max_hertz", Measure::hertz, "Maximum core clock."},
    {"memory_clock_hertz", Measure::hertz, "Memory clock."},
    {"power_watts", Measure::watts, "Power drawn."},
    {"power_limit_watts", Measure::watts, "Enforced power limit."},
    {"energy_joules", Measure::joules, "Energy consumed; a counter with an arbitrary start.", true},
    {"power_capped_fraction", Measure::fraction, "Share of the time in which the power limit reduced the clock."},
    {"thermal_capped_fraction", Measure::fraction, "Share of the time in which temperature reduced the clock."},
    {"temperature_celsius", Measure::celsius, "Temperature of the device; of a CPU, its hottest package."},
    {"memory_temperature_celsius", Measure::celsius, "Temperature of the device's memory."},
    {"fan_fraction", Measure::fraction, "Fan speed as a fraction of its maximum."},
    {"busy_fraction", Measure::fraction,
     "GPU: share of the time in which any kernel ran. CPU: utilisation of all cores."},
    {"kernel_active_fraction", Measure::fraction, "Share of the cycles in which the GPU's front end was active."},
    {"sm_active_fraction", Measure::fraction, "Share of the cycles in which an SM had work, mean over all SMs."},
    {"tensor_active_fraction", Measure::fraction, "Share of the cycles in which the tensor pipes were active."},
    {"dram_active_fraction", Measure::fraction, "Main-memory traffic as a fraction of its theoretical peak."},
    {"dram_read_fraction", Measure::fraction, "Main-memory reads as a fraction of its theoretical peak."},
    {"dram_write_fraction", Measure::fraction, "Main-memory writes as a fraction of its theoretical peak."},
    {"dram_read_bytes_per_second", Measure::bytes_per_s, "Bytes read from main memory."},
    {"dram_write_bytes_per_second", Measure::bytes_per_s, "Bytes written to main memory."},
    {"memory_used_bytes", Measure::bytes, "Memory in use."},
    {"memory_total_bytes", Measure::bytes, "Memory of the device."},
    {"pcie_rx_bytes_per_second", Measure::bytes_per_s, "Bytes received by the GPU over PCIe."},
    {"pcie_tx_bytes_per_second", Measure::bytes_per_s, "Bytes sent by the GPU over PCIe."},
    {"pcie_generation", Measure::count, "Current PCIe generation of the link."},
    {"pcie_lanes", Measure::count, "Current number of PCIe lanes."},
    {"nvlink_rx_bytes_per_second", Measure::bytes_per_s, "Payload received over all NVLinks."},
    {"nvlink_tx_bytes_per_second", Measure::bytes_per_s, "Payload sent over all NVLinks."},
    {"nvlink_links", Measure::count, "Active NVLinks."},
    {"encoder_fraction", Measure::fraction, "Share of the time in which the video encoder worked."},
    {"decoder_fraction", Measure::fraction, "Share of the time in which the video decoder worked."},
    {"ecc_corrected_errors", Measure::count, "Memory errors that were corrected since the driver was loaded.", true},
    {"ecc_uncorrected_errors", Measure::count, "Memory errors that were not corrected since the driver was loaded.",
     true},
    {"stolen_fraction", Measure::fraction, "Share of CPU time that the hypervisor gave to other guests."},
    {"throttled_fraction", Measure::fraction, "CPUs throttled by the quota of the control group."},
    {"cpu_pressure_fraction", Measure::fraction, "Share of the time in which some task waited for a CPU."},
    {"memory_pressure_fraction", Measure::fraction, "Share of the time in which some task waited for memory."},
    {"io_pressure_fraction", Measure::fraction, "Share of the time in which some task waited for input or output."},
    {"load_tasks", Measure::count, "Running and runnable tasks, mean over the last minute."},
};

}  // namespace

std::span<const Quantity> quantities() { return kQuantities; }

std::optional<double> DeviceSample::find(std::string_view quantity) const {
  const auto found = values.find(quantity);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace roofline
