// What vendors call the units of a GPU that run its blocks.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

struct GpuUnitName {
  std::string_view one, many;
};

/// "SM" of NVIDIA, "compute unit" of AMD, "Xe core" of Intel; "SM" where the name of the GPU tells no vendor.
GpuUnitName gpu_unit_name(std::string_view device);

/// A text about SMs in the words of the GPU's vendor: "SM" and "SMs" as whole words are replaced.
std::string in_units_of(std::string_view device, std::string text);

}  // namespace roofline
