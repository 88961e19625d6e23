// Source text that is compiled with a CPU's kernel, to call its entries.
#pragma once

#include <string>

#include "user/kernel_spec.hpp"

namespace roofline {

/// The entry with every define's name in it replaced by its value.
std::string with_defines(const std::string& entry, const Configuration& configuration);

/// C or C++ source: roofline_call_0(function, arguments) and so on call the steps' entries and return the error
/// message. Throws UsageError for arguments that a CPU function cannot take.
std::string call_source(const KernelSpec& spec, const Configuration& configuration);

}  // namespace roofline
