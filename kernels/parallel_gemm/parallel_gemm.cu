// Parallel products on GPUs: each rank's product by cuBLASLt, and NCCL's collective before or after it. The data
// between the two steps has its own buffer.
#include <array>
#include <memory>
#include <vector>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handles.hpp"
#include "device/cuda/nccl.hpp"
#include "kernels/collectives/nccl_ranks.hpp"
#include "kernels/parallel_gemm/parallel_gemm.hpp"
#include "op/registry.hpp"

namespace roofline::parallel_gemm_cuda {
namespace {

constexpr std::string_view kProduct = "cublaslt";

Workload product_of_rank(const Workload& workload) {
  Workload product = workload;
  product.op = "gemm";
  product.implementation = kProduct;
  product.shape = parallel_product(workload).product_of_rank();
  return product;
}

std::optional<std::string> unsupported(const Workload& workload, const Device& device) {
  if (auto reason = ranks_unsupported(workload.shape["ranks"], device)) return reason;
  const auto gemm = find_implementation(*find_op("gemm"), DeviceKind::cuda, kProduct);
  return gemm->unsupported(product_of_rank(workload), device);
}

/// One rank of a launch.
struct ProductRank {
  int device = 0;
  Kernel gemm;
  std::unique_ptr<Buffer> between;  /// A gathered, or a partial result of C
};

struct ParallelLaunch {
  ParallelProduct product;
  DType dtype = DType::fp32;
  Communicators* communicators = nullptr;
  std::vector<ProductRank> ranks;

  void run(std::span<void* const> tensors) const {
    communicators->together([&] {
      if (product.by_rows) {
        multiply(tensors);
        exchange(tensors);
      } else {
        exchange(tensors);
        multiply(tensors);
      }
    });
  }

 private:
  void* a(std::span<void* const> tensors, std::size_t rank) const { return tensors[2 * rank]; }
  void* b(std::span<void* const> tensors, std::size_t rank) const { return tensors[2 * rank + 1]; }
  void* c(std::span<void* const> tensors, std::size_t rank) const { return tensors[2 * ranks.size() + rank]; }

  void multiply(std::span<void* const> tensors) const {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (!ranks[rank].gemm) continue;  // in another process
      const CurrentDevice guard(ranks[rank].device);
      void* const between = ranks[rank].between->data();
      const std::array<void*, 3> operands = {product.by_rows ? a(tensors, rank) : between, b(tensors, rank),
                                             product.by_rows ? between : c(tensors, rank)};
      ranks[rank].gemm(operands);
    }
  }

  void exchange(std::span<void* const> tensors) const {
    std::vector<const void*> send;
    std::vector<void*> receive;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      void* const between = ranks[rank].between ? ranks[rank].between->data() : nullptr;
      send.push_back(product.by_rows ? between : a(tensors, rank));
      receive.push_back(product.by_rows ? c(tensors, rank) : between);
    }
    communicators->enqueue({.collective = product.collective(),
                            .dtype = dtype,
                            .n = product.exchanged(),
                            .send = send,
                            .receive = receive});
  }
};

Kernel prepare(const Workload& workload, Device& device) {
  const auto launch = std::make_shared<ParallelLaunch>();
  launch->product = parallel_product(workload);
  launch->dtype = workload.dtype;
  const auto count = static_cast<int>(launch->product.ranks);
  const auto gemm = find_implementation(*find_op("gemm"), DeviceKind::cuda, kProduct);
  const Workload product = product_of_rank(workload);
  const auto bytes = static_cast<std::size_t>(launch->product.exchanged() * element_size(workload.dtype));
  for (int rank = 0; rank < count; ++rank) {
    ProductRank& made = launch->ranks.emplace_back();
    if (!device.holds(rank)) continue;
    CudaDevice& where = as_cuda(device.rank(rank));
    const CurrentDevice guard(where.properties().index);
    made = {
        .device = where.properties().index, .gemm = gemm->prepare(product, where), .between = where.allocate(bytes)};
  }
  launch->communicators = &as_cuda(device).communicators(count);
  return [launch](std::span<void* const> tensors) { launch->run(tensors); };
}

/// Written by one step and read by the other.
Traffic extra_traffic(const Workload& workload) {
  const ParallelProduct product = parallel_product(workload);
  const double bytes = static_cast<double>(product.exchanged()) * static_cast<double>(element_size(workload.dtype));
  return {.read = bytes, .write = bytes};
}

Implementation implementation() {
  return {.name = "cublaslt_nccl",
          .summary = "fastest cuBLASLt GEMM on each rank, then the NCCL collective, without overlap",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp64, DType::fp32, DType::tf32, DType::fp16, DType::bf16},
          .unsupported = unsupported,
          .extra_traffic = extra_traffic,
          .prepare = prepare};
}

const ImplementationRegistrar kRowParallel("row_parallel", {implementation()});
const ImplementationRegistrar kColumnParallel("column_parallel", {implementation()});

}  // namespace
}  // namespace roofline::parallel_gemm_cuda
