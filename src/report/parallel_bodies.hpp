// Unequal work of the threads of an OpenMP region, by their CPU time in the region's own code. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "report/host_causes.hpp"

namespace roofline {

/// The body of an OpenMP region, as GCC and Clang name it.
bool is_parallel_body(std::string_view function);

/// The region in which the busiest thread works much longer than the mean while the others wait for it in the OpenMP
/// library. CPU time does not depend on other programs, so this also holds where threads wait for a CPU.
std::optional<HostCause> unequal_parallel_work(const HostProfile& host);

}  // namespace roofline
