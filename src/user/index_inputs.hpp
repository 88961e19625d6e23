// The inputs of a suite's kernel that say which elements of other buffers it accesses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "user/kernel_spec.hpp"

namespace roofline {

/// Integer inputs by which a formula selects elements of tensors, permutations, and column indices of sparse matrices.
/// Not those whose values ascend already.
std::vector<std::string> index_inputs(const KernelSpec& spec);

/// The kernel with these inputs in ascending order: it accesses the same elements, one after the other. Null if it has
/// none.
std::shared_ptr<const KernelSpec> with_ascending_indices(const KernelSpec& spec);

}  // namespace roofline
