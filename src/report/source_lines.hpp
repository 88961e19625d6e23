// Properties of compiled code that the text of a source line (C, C++, Fortran) shows.
#pragma once

#include <string_view>

namespace roofline {

/// True for what a name in a program consists of: letters, digits and '_'.
bool is_of_name(char letter);

/// "#pragma omp for", "!$omp do".
bool is_openmp_directive(std::string_view source);

/// "#pragma omp parallel for schedule(dynamic)": threads request iterations.
bool is_dynamic_loop(std::string_view source);

/// "while (!ready.load()) {}", "while (!ready) _mm_pause();", or a pause alone: reads a variable until another thread
/// changes it. No loop that changes something itself or calls a function for it.
bool is_busy_wait(std::string_view source);

/// "call adjust(t(c, :), n)": a Fortran call with a slice that is not contiguous.
bool is_call_with_slice(std::string_view source);

}  // namespace roofline
