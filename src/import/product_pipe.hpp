// The pipe of fp32 products; their shapes do not show whether they ran on tensor cores.
#pragma once

#include <vector>

#include "model/machine.hpp"
#include "profile/process_trace.hpp"

namespace roofline {

/// Moves modelled fp32 products to tensor.tf32 if the kernel's name says so, or if it is too fast for fp32 on its GPU,
/// by the machine's roofs or another's. A product that is too fast for both loses its work, with a reason.
void assign_product_pipes(std::vector<ProcessTrace>& traces, const Machine& machine,
                          const std::vector<Machine>& others = {});

}  // namespace roofline
