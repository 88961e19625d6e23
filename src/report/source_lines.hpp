// What the text of a line in C, C++ or Fortran says about the code that compilers make of it.
#pragma once

#include <string_view>

namespace roofline {

/// "#pragma omp for", "!$omp do".
bool is_openmp_directive(std::string_view source);

/// "#pragma omp parallel for schedule(dynamic)": threads ask for their next iterations.
bool is_dynamic_loop(std::string_view source);

/// "call adjust(t(c, :), n)": a Fortran call with a slice that is not contiguous.
bool is_call_with_slice(std::string_view source);

}  // namespace roofline
