// Duration of a launch, and common parts of the probes of arithmetic pipes (chain.cuh).
#include "kernels/calibration/cuda/chain.cuh"

#include <cmath>

#include "device/cuda/throughput.hpp"
#include "kernels/calibration/probes.hpp"

namespace roofline {

int chain_rounds(const CudaDevice& device, Pipe pipe, const ChainShape& shape, double operations_per_step,
                 double scale) {
  const CudaProperties& gpu = device.properties();
  const double per_cycle = flops_per_cycle(gpu.major, gpu.minor, pipe).value_or(128);
  const double cycles = 1e-3 * (gpu.max_core_hz > 0 ? gpu.max_core_hz : 1.5e9);
  const double per_round = operations_per_step * shape.chains * shape.threads * shape.blocks * kChainUnroll;
  return static_cast<int>(std::max(1.0, std::round(cycles * per_cycle / per_round)) * scale);
}

Probe chain_probe(Pipe pipe, double least_of_limit) {
  Probe probe = compute_probe(DeviceKind::cuda, pipe);
  probe.sustained = true;
  probe.least_of_limit = least_of_limit;
  probe.limit = [pipe](const Device& device, std::optional<double> core_hz) {
    return cycle_limit(device, pipe, core_hz);
  };
  return probe;
}

}  // namespace roofline
