// Kernels that go wrong on purpose, each in the way of a published peak that was wrong (wrong_compute_probe_test.cpp).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace roofline::wrong {

/// A "tensor peak": every warp reads fragments of A and B from memory and multiplies them kReuse times, so 170.7
/// FLOP/byte in bf16. `steps` of kStepBytes each for every warp.
constexpr int kReuse = 32;
constexpr int kStepBytes = 768;
constexpr double kStepFlop = 4096.0 * kReuse;
constexpr int kTensorThreads = 256;
void launch_tensor_from_memory(const void* operands, float* out, int blocks, int steps, cudaStream_t stream);

/// One chain of fused multiply-adds in one warp an SM: every instruction waits for the one before.
void launch_short_chain(float* out, int blocks, std::int64_t steps, cudaStream_t stream);

/// A thousand chains' worth of multiply-adds, none of which is stored: the compiler removes them all.
constexpr int kDeadChains = 8;
void launch_dead_code(float* out, int blocks, int threads, std::int64_t steps, cudaStream_t stream);
const void* dead_code_kernel();

/// Asks for more threads a block than any GPU has.
void launch_too_many_threads(float* out, cudaStream_t stream);

}  // namespace roofline::wrong
