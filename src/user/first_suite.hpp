// Generates a first suite from a kernel's signature, with comments at the entries that the user must fill in.
#pragma once

#include <filesystem>
#include <string>

namespace roofline {

/// The YAML of a suite for the kernels of a source file, its text given. The file is read, not compiled, and so only as
/// well as its signatures are plain. Throws UsageError if there is no function with a body (`__global__` in .cu).
std::string first_suite(const std::filesystem::path& source, const std::string& text);

}  // namespace roofline
