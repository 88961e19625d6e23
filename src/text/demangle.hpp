// Names of C++ symbols as they are in the source.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// "roofline::fma_kernel<float, 8>(float*, int)"; the name as it is where it is none of C++.
std::string demangled(std::string_view symbol);

}  // namespace roofline
