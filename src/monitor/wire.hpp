// A GPU's reading as text, on its way from the process that reads it.
#pragma once

#include <string>

#include "device/gpu_sensors.hpp"

namespace roofline {

std::string reading_to_text(const GpuReading& reading);
/// Throws Error where it is no reading.
GpuReading reading_from_text(const std::string& text);

}  // namespace roofline
