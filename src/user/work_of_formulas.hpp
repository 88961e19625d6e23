// The work that a suite's formulas imply, for comparison with what the suite states.
#pragma once

#include <span>

#include "model/work_bounds.hpp"
#include "op/workload.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {

/// Evaluates the formulas at all output elements, or at some of a large output. Inputs that have an index in a formula
/// count only where all elements are evaluated: another index may lead to the same element.
WorkBounds work_of_formulas(const KernelSpec& spec, const Workload& workload, std::span<const HostTensor> inputs);

}  // namespace roofline
