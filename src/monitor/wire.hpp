// A GPU's reading as text, on its way from the process that reads it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "device/gpu_sensors.hpp"

namespace roofline {

std::string reading_to_text(const GpuReading& reading);
/// Throws Error if the text is not a reading.
GpuReading reading_from_text(const std::string& text);

/// Known members only.
nlohmann::ordered_json process_to_json(const GpuProcess& process);

}  // namespace roofline
