// GEMM on a GPU, from the plainest kernel to the vendor's library: the ladder. The kernels are in files beside this.
//   naive       a thread an element of c: every operand comes from memory again and again    gemm_simt.cu
//   shared      32 x 32 tiles through shared memory                                          gemm_simt.cu
//   tiled       128 x 128 tiles, 8 x 8 a thread in registers; CUDA cores only                gemm_simt.cu
//   skinny      few rows or columns: the large matrix streamed once                          gemm_skinny.cu
//   skinny_tma  likewise in 16 bits, the copy engine brings the matrices (Hopper)            gemm_skinny.cu
//   mma         tensor cores fed from registers (mma.sync), copies some stages ahead         gemm_mma.cu
//   wgmma       tensor cores fed from shared memory, TMA, warps with roles (Hopper)          gemm_wgmma.cu
//   cublas      NVIDIA's library                                                             gemm_library.cu
//   cublaslt    the same with its candidates tried                                           gemm_library.cu
// At 4096^3 on an H200, in TFLOP/s. fp32: 3.1, 8.2, 40.6 and 51.3 by cublas. bf16: mma 417, wgmma 795 and
// cublaslt 799, in turns of one run.
#include "device/cuda/cuda_device.hpp"
#include "kernels/gemm/gemm_implementations.hpp"
#include "op/registry.hpp"

namespace roofline {

GemmProblem gemm_problem(const Workload& workload, Device& device) {
  return {as_cuda(device).stream(), workload.shape["m"], workload.shape["n"], workload.shape["k"]};
}

namespace {

const ImplementationRegistrar kRegistrar("gemm",
                                         {gemm_naive(), gemm_shared(), gemm_tiled(), gemm_skinny(), gemm_skinny_tma(),
                                          gemm_mma(), gemm_wgmma(), gemm_cublas(), gemm_cublaslt()});

}  // namespace
}  // namespace roofline
