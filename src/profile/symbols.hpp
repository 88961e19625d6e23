// Short names of kernels and functions.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// Short form of a demangled name: without return type, namespaces, parameters and numbers; template arguments by name
/// only ("vectorized_elementwise_kernel<CUDAFunctor_add>").
std::string short_name(std::string_view demangled);

/// A demangled function without return type and parameters, with namespaces and class: "Solver::step".
std::string without_parameters(std::string_view demangled);

}  // namespace roofline
