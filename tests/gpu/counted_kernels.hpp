// Kernels whose counts are known to the last instruction, for the tests of the hardware counters. Each launch is
// blocks x 256 threads.
#pragma once

#include <cuda_runtime_api.h>

namespace roofline::counted {

constexpr int kThreads = 256;

/// `steps` multiply-adds of each thread, in one type: scalar halves one at a time, packed ones by two.
enum class Arithmetic : int { fp64, fp32, half_scalar, half_packed, bf16_packed };
void launch_fma(Arithmetic arithmetic, void* out, int blocks, int steps, cudaStream_t stream);

/// One add and one multiply of fp32 a step, never fused.
void launch_add_mul(float* out, int blocks, int steps, cudaStream_t stream);

/// Each thread copies one float; neighbours are `stride` floats apart.
void launch_strided_copy(const float* in, float* out, int blocks, int stride, cudaStream_t stream);

/// Each warp reads shared memory `steps` times, its threads `stride` words apart: stride 1 has no conflicts, 32 has
/// 31 more wavefronts a read.
void launch_shared_reads(float* out, int blocks, int steps, int stride, cudaStream_t stream);

/// An array that is indexed at run time lives in local memory.
void launch_local_array(float* out, int blocks, int steps, cudaStream_t stream);

}  // namespace roofline::counted
