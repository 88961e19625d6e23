// Data-sheet limits as roofs of a GPU that was not calibrated: from its attributes or its data sheet.
#pragma once

#include <string>

#include "import/imported.hpp"
#include "model/machine.hpp"

namespace roofline {

/// A machine with such roofs only, of origin "attributes" or "data sheet"; without roofs where neither is known.
Machine data_sheet_machine(const DeviceFacts& device);

/// Warning about missing roofs or data-sheet limits; empty for measured roofs.
std::string about_roofs(const Machine& machine);

}  // namespace roofline
