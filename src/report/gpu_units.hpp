// What vendors call the units of a GPU that run its blocks.
#pragma once

#include <cstdint>
#include <string_view>

namespace roofline {

enum class GpuVendor : std::uint8_t { nvidia, amd, intel };
/// NVIDIA if the name of the GPU does not identify the vendor.
GpuVendor gpu_vendor(std::string_view device);

struct GpuUnitName {
  std::string_view one, many;
};
/// "SM" of NVIDIA, "compute unit" of AMD, "Xe core" of Intel.
GpuUnitName gpu_unit_name(GpuVendor vendor);

}  // namespace roofline
