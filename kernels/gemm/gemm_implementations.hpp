// The CUDA implementations of GEMM, as listed in gemm.cu; each is defined in its own file.
#pragma once

#include <cuda_runtime_api.h>

#include "op/op.hpp"

namespace roofline {

/// c[m, n] = a[m, k] · b[k, n], row-major, on a stream.
struct GemmProblem {
  cudaStream_t stream;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// Throws Error if the device is not a GPU.
GemmProblem gemm_problem(const Workload& workload, Device& device);

Implementation gemm_naive();
Implementation gemm_shared();
Implementation gemm_tiled();
Implementation gemm_skinny();
Implementation gemm_skinny_tma();
Implementation gemm_mma();
Implementation gemm_wgmma();
Implementation gemm_cublas();
Implementation gemm_cublaslt();

}  // namespace roofline
