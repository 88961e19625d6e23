// Demangled names of C++ and Rust symbols.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// "roofline::fma_kernel<float, 8>(float*, int)"; unchanged if it is neither a C++ nor a Rust symbol.
std::string demangled(std::string_view symbol);

}  // namespace roofline
