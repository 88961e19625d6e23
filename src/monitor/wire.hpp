// A GPU's reading as text, on its way from the process that reads it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "device/gpu_sensors.hpp"

namespace roofline {

std::string reading_to_text(const GpuReading& reading);
/// Throws Error where it is no reading.
GpuReading reading_from_text(const std::string& text);

/// Its members that are known.
nlohmann::ordered_json process_to_json(const GpuProcess& process);

}  // namespace roofline
