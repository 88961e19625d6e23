#include "report/gpu_units.hpp"

#include "report/titles.hpp"

namespace roofline {

GpuVendor gpu_vendor(std::string_view device) {
  if (is_gpu_of_amd(device)) return GpuVendor::amd;
  return is_gpu_of_intel(device) ? GpuVendor::intel : GpuVendor::nvidia;
}

GpuUnitName gpu_unit_name(GpuVendor vendor) {
  switch (vendor) {
    case GpuVendor::amd:
      return {"compute unit", "compute units"};
    case GpuVendor::intel:
      return {"Xe core", "Xe cores"};
    case GpuVendor::nvidia:
      break;
  }
  return {"SM", "SMs"};
}

}  // namespace roofline
