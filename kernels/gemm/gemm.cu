// GEMM on a GPU: the list of implementations, whose kernels are in the files named here.
//   naive       one thread per element of c: every operand is loaded from memory repeatedly    gemm_simt.cu
//   shared      32 x 32 tiles in shared memory                                                 gemm_simt.cu
//   tiled       128 x 128 tiles, 8 x 8 per thread in registers; CUDA cores only                gemm_simt.cu
//   skinny      few rows or columns: the large matrix is streamed once                         gemm_skinny.cu
//   skinny_tma  the same in 16 bits, matrices loaded by TMA (Hopper)                           gemm_skinny.cu
//   mma         mma.sync, operands in registers, copies several stages ahead                   gemm_mma.cu
//   wgmma       wgmma, operands in shared memory, TMA, warp specialisation (Hopper)            gemm_wgmma.cu
//   cublas      cuBLAS                                                                         gemm_library.cu
//   cublaslt    cuBLASLt, the fastest of its candidates                                        gemm_library.cu
// At 4096^3 on an H200, in TFLOP/s. fp32: naive 3.1, shared 8.2, tiled 40.6, cublas 51.3. bf16: mma 417, wgmma 795,
// cublaslt 799, in alternation.
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
