// A suite's C or C++ kernel compiled differently, for experiments.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/suite.hpp"

namespace roofline {

/// True if the kernel is compiled from C or C++, so that it can be compiled differently.
bool is_recompilable(const SuiteEntry& entry);

/// The row's implementation compiled with more options.
std::optional<Implementation> with_options(const SuiteEntry& entry, const std::vector<std::string>& options);

/// Divide instructions assembled as multiplications. Compilers with an assembler of their own ignore it.
std::optional<Implementation> without_divisions(const SuiteEntry& entry);

/// The kernel with loads of recently written narrower stores redirected to other memory; its preparation fails if there
/// are no such loads.
std::optional<Implementation> without_failed_forwards(const SuiteEntry& entry);

}  // namespace roofline
