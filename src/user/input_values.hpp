// Values of a kernel's inputs before the first launch. Every element follows from the seed and its index only.
#pragma once

#include <cstdint>
#include <vector>

#include "op/op.hpp"
#include "user/kernel_spec.hpp"

namespace roofline {

/// Fills tensor `t` of the kernel, or its start if is_repeatable(). Throws Error for a file or a formula whose values
/// the type cannot represent.
void fill_input(const KernelSpec& spec, const Workload& workload, std::size_t t, std::uint64_t seed,
                HostTensor& tensor);

/// Throws UsageError, at their place, for values that a type cannot represent or a size cannot have. Formulas of
/// elements and files are checked by fill_input().
void check_input_values(const KernelSpec& spec, const Workload& workload, const std::vector<TensorSpec>& tensors);

/// True if repeating the start of the values is equivalent to all of them: false for indices and other ordered values.
bool is_repeatable(const InputFill& fill);

/// The buffer that is tensor `t`: workspaces are no tensors.
const BufferSpec& tensor_buffer(const KernelSpec& spec, std::size_t t);

}  // namespace roofline
