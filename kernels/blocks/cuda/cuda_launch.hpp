// Common to the registrations of CUDA kernels. No CUDA header here.
#pragma once

#include <climits>
#include <optional>
#include <string>
#include <utility>

#include "op/op.hpp"

namespace roofline {

/// An implementation for fp32, fp16 and bf16, prepared by `prepare(workload, device, implementation)`.
template <typename Variant>
Implementation cuda_implementation(std::string name, std::string summary,
                                   Kernel (*prepare)(const Workload&, Device&, Variant), Variant implementation) {
  return {
      .name = std::move(name),
      .summary = std::move(summary),
      .device = DeviceKind::cuda,
      .dtypes = {DType::fp32, DType::fp16, DType::bf16},
      .prepare = [=](const Workload& workload, Device& device) { return prepare(workload, device, implementation); }};
}

/// Refuses shapes whose extent `name` exceeds `per_block` times the maximum grid size.
inline Implementation with_extent_limit(Implementation implementation, std::string name, std::int64_t per_block = 1) {
  implementation.unsupported = [=](const Workload& workload, const Device&) -> std::optional<std::string> {
    if (workload.shape[name] / per_block < INT_MAX) return std::nullopt;
    return name + " exceeds the maximum grid size";
  };
  return implementation;
}

}  // namespace roofline
