// Comparing outputs with their reference, on the host. Knows no device: outputs have been downloaded.
#pragma once

#include <span>

#include "op/op.hpp"
#include "op/verification.hpp"

namespace roofline {

/// The byte that outputs are filled with before the verified launch: NaN in every floating type.
inline constexpr std::byte kPoison{0xFF};

/// Looks for unwritten and NaN elements in all of the outputs, and compares all of them (or a fresh sample,
/// see op/sampling.hpp) with the op's reference. `outputs` are in the order of Op::tensors; where other processes hold
/// some of them, they are those that are here, without a gap, and `before` elements of others come first.
Verification compare(const Op& op, const Workload& workload, std::span<const HostTensor> inputs,
                     std::span<const HostTensor> outputs, std::int64_t before = 0);

}  // namespace roofline
