// Roofs of a GPU that nobody has measured: what its own attributes or its data sheet promise.
#pragma once

#include <string>

#include "import/imported.hpp"
#include "model/machine.hpp"

namespace roofline {

/// A machine with such roofs alone, each with the origin "attributes" or "data sheet"; without any where neither is
/// known.
Machine promised_machine(const DeviceFacts& device);

/// What a reader must know of roofs that nobody measured, or that are not there; empty where they were measured.
std::string about_roofs(const Machine& machine);

}  // namespace roofline
