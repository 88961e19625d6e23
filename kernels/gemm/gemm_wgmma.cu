// GEMM on Hopper: the persistent wgmma kernel (wgmma_mainloop.cuh) in fp16, bf16 and fp8.
#include <limits>
#include <memory>

#include "kernels/gemm/gemm_implementations.hpp"
#include "kernels/gemm/wgmma_gemm.cuh"

namespace roofline {
namespace {

template <typename T>
struct Choice;
template <>
struct Choice<__half> {
  template <int kColumns>
  using Config = WgmmaConfig<__half, __half, kColumns, 2, true>;
};
template <>
struct Choice<__nv_bfloat16> {
  template <int kColumns>
  using Config = WgmmaConfig<__nv_bfloat16, __nv_bfloat16, kColumns, 2, true>;
};
template <>
struct Choice<__nv_fp8_e4m3> {
  template <int kColumns>
  using Config = WgmmaConfig<__nv_fp8_e4m3, __nv_bfloat16, kColumns, 2, false>;
};

template <typename Config>
Kernel launcher(const std::shared_ptr<WgmmaGemm<Config>>& gemm) {
  return [gemm](std::span<void* const> tensors) { gemm->run(tensors[0], tensors[1], tensors[2]); };
}

/// Tiles of 256 columns are fastest if there are enough tiles for all SMs; halves fill them better otherwise.
template <typename T>
Kernel prepare_as(const Workload& workload, Device& device) {
  const GemmProblem problem = gemm_problem(workload, device);
  const DType result = workload.dtype == DType::fp8 ? DType::bf16 : workload.dtype;
  const auto make = [&]<int kColumns>() {
    using Gemm = WgmmaGemm<typename Choice<T>::template Config<kColumns>>;
    return std::make_shared<Gemm>(problem, workload.dtype, result);
  };
  const auto wide = make.template operator()<256>();
  const auto narrow = make.template operator()<128>();
  return wide->rounds() <= narrow->rounds() ? launcher(wide) : launcher(narrow);
}

Kernel prepare_gemm_wgmma(const Workload& workload, Device& device) {
  if (workload.dtype == DType::fp8) return prepare_as<__nv_fp8_e4m3>(workload, device);
  if (workload.dtype == DType::fp16) return prepare_as<__half>(workload, device);
  return prepare_as<__nv_bfloat16>(workload, device);
}

std::optional<std::string> unsupported_gemm_wgmma(const Workload& workload, const Device& device) {
  using Config = Choice<__nv_bfloat16>::Config<256>;
  if (const auto reason = WgmmaLaunch<Config, GemmOperands<Config>>::missing(device)) return reason;
  for (const char* extent : {"m", "n", "k"}) {
    if (workload.shape[extent] > std::numeric_limits<int>::max() / 2) {
      return std::string("the kernel has 32-bit indices, and ") + extent + " is larger";
    }
  }
  // Rows must be 16-byte aligned, also those of c (always 16 bits).
  const std::int64_t multiple = 16 / element_size(workload.dtype);
  if (workload.shape["k"] % multiple != 0 || workload.shape["n"] % 8 != 0) {
    return "needs k in multiples of " + std::to_string(multiple) + ", and n in multiples of 8 (TMA needs 16-byte rows)";
  }
  return std::nullopt;
}

}  // namespace

Implementation gemm_wgmma() {
  return {.name = "wgmma",
          .summary = "persistent wgmma kernel; TMA multicast to block pairs, four stages ahead",
          .device = DeviceKind::cuda,
          .dtypes = {DType::fp16, DType::bf16, DType::fp8},
          .unsupported = unsupported_gemm_wgmma,
          .prepare = prepare_gemm_wgmma};
}

}  // namespace roofline
