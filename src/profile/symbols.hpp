// Short names of kernels and functions.
#pragma once

#include <string>
#include <string_view>

namespace roofline {

/// The part of a demangled name that people call it by: no return type, namespaces, parameters or numbers, of the
/// template arguments the names ("vectorized_elementwise_kernel<CUDAFunctor_add>").
std::string short_name(std::string_view demangled);

/// A demangled function without its return type and parameters, with its namespaces and class: "Solver::step".
std::string without_parameters(std::string_view demangled);

}  // namespace roofline
