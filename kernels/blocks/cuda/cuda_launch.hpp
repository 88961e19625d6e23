// What the registrations of CUDA kernels have in common. No CUDA header here.
#pragma once

#include <climits>
#include <optional>
#include <string>
#include <utility>

#include "op/op.hpp"

namespace roofline {

/// A rung for fp32, fp16 and bf16, prepared by `prepare(workload, device, rung)`.
template <typename Rung>
Implementation cuda_rung(std::string name, std::string summary, Kernel (*prepare)(const Workload&, Device&, Rung),
                         Rung rung) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp32, DType::fp16, DType::bf16},
          .prepare = [=](const Workload& workload, Device& device) { return prepare(workload, device, rung); }};
}

/// Refuses shapes whose extent `name` has more than `per_block` for each block of the largest grid.
inline Implementation with_extent_limit(Implementation implementation, std::string name, std::int64_t per_block = 1) {
  implementation.unsupported = [=](const Workload& workload, const Device&) -> std::optional<std::string> {
    if (workload.shape[name] / per_block < INT_MAX) return std::nullopt;
    return name + " needs more blocks than a grid has";
  };
  return implementation;
}

}  // namespace roofline
