// The pipe of fp32 products, whose shapes don't tell whether they ran on tensor cores.
#pragma once

#include <vector>

#include "model/machine.hpp"
#include "profile/process_trace.hpp"

namespace roofline {

/// Moves modelled fp32 products to tensor.tf32 where the kernel's name says so, or where it is too fast for fp32 on its
/// GPU, whose roofs are the machine's or another's. What is too fast for both loses its work, with a reason.
void assign_product_pipes(std::vector<ProcessTrace>& traces, const Machine& machine,
                          const std::vector<Machine>& others = {});

}  // namespace roofline
