// Comparison of outputs with their reference, on the host. Independent of devices: outputs have been downloaded.
#pragma once

#include <span>

#include "op/op.hpp"
#include "op/verification.hpp"

namespace roofline {

/// The byte that outputs are filled with before the verified launch: NaN in every floating type.
inline constexpr std::byte kPoison{0xFF};

/// Looks for unwritten and NaN elements in all outputs, and compares all of them (or a fresh sample, see
/// op/sampling.hpp) with the op's reference. `outputs` are in the order of Op::tensors; if other processes hold
/// some of them, they are the local ones, without a gap, after `before` elements of others.
Verification compare(const Op& op, const Workload& workload, std::span<const HostTensor> inputs,
                     std::span<const HostTensor> outputs, std::int64_t before = 0);

}  // namespace roofline
