// Data-sheet limits as roofs of a GPU that was not calibrated: from its attributes or its data sheet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "import/imported.hpp"
#include "model/machine.hpp"

namespace roofline {

/// "NVIDIA sm_86 GPU with 16 SMs"; empty where its architecture or size is not known.
std::string name_by_attributes(const DeviceFacts& device);

/// A machine with such roofs only, of origin "attributes" or "data sheet"; without roofs where neither is known.
Machine data_sheet_machine(const DeviceFacts& device);

/// Of a GPU that only its name describes: with the SMs, compute capability, clock and power of its data sheet too.
Machine machine_of_data_sheet(const std::string& name);

/// GPUs with a known data sheet, in lower case.
std::vector<std::string_view> data_sheet_names();

/// Warning about missing roofs or data-sheet limits; empty for measured roofs.
std::string about_roofs(const Machine& machine);

}  // namespace roofline
