// Demangled names of C++ symbols.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// "roofline::fma_kernel<float, 8>(float*, int)"; unchanged if it is not a C++ symbol.
std::string demangled(std::string_view symbol);

}  // namespace roofline
