// Collectives by NCCL: one process, a communicator for each GPU, all ranks in one group.
#include <fmt/core.h>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/nccl.hpp"
#include "kernels/collectives/collective.hpp"
#include "kernels/collectives/nccl_ranks.hpp"
#include "model/collective.hpp"
#include "op/registry.hpp"

namespace roofline {

std::optional<std::string> ranks_unsupported(std::int64_t ranks, const Device& device) {
  if (device.ranks() < ranks) {
    return fmt::format("{} ranks need {} GPUs: there {}", ranks, ranks,
                       device.ranks() == 1 ? "is one" : fmt::format("are {}", device.ranks()));
  }
  return nccl_missing();
}

namespace collectives_cuda {
namespace {

std::optional<std::string> unsupported(const Workload& workload, const Device& device) {
  if (auto reason = ranks_unsupported(ranks_of(workload), device)) return reason;
  return nccl_lacks(workload.op, workload.dtype);
}

Kernel prepare(const Workload& workload, Device& device) {
  Communicators& communicators = as_cuda(device).communicators(static_cast<int>(ranks_of(workload)));
  return [&communicators, workload](std::span<void* const> tensors) {
    const RankBuffers buffers = rank_buffers(workload, tensors);
    communicators.enqueue({.collective = workload.op,
                           .dtype = workload.dtype,
                           .n = workload.shape["n"],
                           .send = buffers.send,
                           .receive = buffers.receive});
  };
}

struct NcclImplementations {
  NcclImplementations() {
    for (const std::string_view name : kCollectives) {
      const ImplementationRegistrar registrar(
          name, {{.name = "nccl",
                  .summary = "NCCL, default algorithm and protocol",
                  .device = DeviceKind::cuda,
                  .dtypes = {DType::fp64, DType::fp32, DType::fp16, DType::bf16, DType::fp8, DType::int8, DType::int32},
                  .unsupported = unsupported,
                  .prepare = prepare}});
    }
  }
};
const NcclImplementations kImplementations;

}  // namespace
}  // namespace collectives_cuda
}  // namespace roofline
