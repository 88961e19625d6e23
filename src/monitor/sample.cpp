// The table of what is monitored.
#include "monitor/sample.hpp"

namespace roofline {
namespace {

constexpr Quantity kQuantities[] = {
    {"core_clock_hertz", Measure::hertz, "Core clock; of a GPU the mean where its counters are sampled."},
    {"core_clock_max_hertz", Measure::hertz, "The highest core clock that the device may take."},
    {"memory_clock_hertz", Measure::hertz, "Memory clock."},
    {"power_watts", Measure::watts, "Power drawn."},
    {"power_limit_watts", Measure::watts, "Power limit that is enforced."},
    {"energy_joules", Measure::joules, "Energy since some moment in the past.", true},
    {"power_capped_fraction", Measure::fraction, "Share of the time in which the power limit held the clock down."},
    {"thermal_capped_fraction", Measure::fraction, "Share of the time in which heat held the clock down."},
    {"temperature_celsius", Measure::celsius, "Temperature of the device, of a CPU its hottest package."},
    {"memory_temperature_celsius", Measure::celsius, "Temperature of the device's memory."},
    {"fan_fraction", Measure::fraction, "Fan speed over its highest."},
    {"busy_fraction", Measure::fraction,
     "Of a GPU: share of the time in which some kernel ran; of a CPU: of its cores."},
    {"kernel_active_fraction", Measure::fraction, "Share of the cycles in which the GPU's front end was active."},
    {"sm_active_fraction", Measure::fraction, "Share of the cycles in which an SM had work, mean over all SMs."},
    {"tensor_active_fraction", Measure::fraction, "Share of the cycles in which the tensor pipes were active."},
    {"dram_active_fraction", Measure::fraction, "Main memory's bytes over what its clock and width allow."},
    {"dram_read_fraction", Measure::fraction, "The same, of reads."},
    {"dram_write_fraction", Measure::fraction, "The same, of writes."},
    {"dram_read_bytes_per_second", Measure::bytes_per_s, "Bytes read from main memory."},
    {"dram_write_bytes_per_second", Measure::bytes_per_s, "Bytes written to main memory."},
    {"memory_used_bytes", Measure::bytes, "Memory in use."},
    {"memory_total_bytes", Measure::bytes, "Memory of the device."},
    {"pcie_rx_bytes_per_second", Measure::bytes_per_s, "Bytes that came over PCIe, seen from the GPU."},
    {"pcie_tx_bytes_per_second", Measure::bytes_per_s, "Bytes that went over PCIe, seen from the GPU."},
    {"pcie_generation", Measure::count, "PCIe generation that the link is trained to now."},
    {"pcie_lanes", Measure::count, "PCIe lanes that the link is trained to now."},
    {"nvlink_rx_bytes_per_second", Measure::bytes_per_s, "Payload that came over all NVLinks."},
    {"nvlink_tx_bytes_per_second", Measure::bytes_per_s, "Payload that went over all NVLinks."},
    {"nvlink_links", Measure::count, "NVLinks that are up."},
    {"encoder_fraction", Measure::fraction, "Share of the time in which the video encoder worked."},
    {"decoder_fraction", Measure::fraction, "Share of the time in which the video decoder worked."},
    {"ecc_corrected_errors", Measure::count, "Memory errors that were corrected since the driver was loaded.", true},
    {"ecc_uncorrected_errors", Measure::count, "Memory errors that were not corrected since the driver was loaded.",
     true},
    {"stolen_fraction", Measure::fraction, "Share of the CPUs' time that the hypervisor gave to others."},
    {"throttled_fraction", Measure::fraction, "CPUs' time that this control group's quota took, over the time."},
    {"cpu_pressure_fraction", Measure::fraction, "Share of the time in which some task waited for a CPU."},
    {"memory_pressure_fraction", Measure::fraction, "Share of the time in which some task waited for memory."},
    {"io_pressure_fraction", Measure::fraction, "Share of the time in which some task waited for input or output."},
    {"load_tasks", Measure::count, "Tasks that run or want to, over the last minute."},
};

}  // namespace

std::span<const Quantity> quantities() { return kQuantities; }

std::optional<double> DeviceSample::find(std::string_view quantity) const {
  const auto found = values.find(quantity);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace roofline
