// Kernels with one fault each, and the same kernels mended: what the rules of the diagnosis are tried on.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace roofline::faulty {

/// Grid and block of a launch, and the stream that it goes to.
struct Grid {
  int blocks = 1;
  int threads = 256;
  cudaStream_t stream = nullptr;
  int shared_bytes = 0;  ///< dynamic, of a block; unused by the kernel
};

/// out[i] = 2 in[i], 16 bytes at a time, over all of `floats`, whatever the grid.
void launch_stream(const float* in, float* out, std::size_t floats, const Grid& grid);

/// One float a thread; neighbours write `stride` floats apart.
void launch_strided_store(const float* in, float* out, int stride, const Grid& grid);

/// The transpose of a matrix of n x n floats through tiles in shared memory, whose rows are 32 words, or 33.
void launch_transpose(const float* in, float* out, int n, bool padded, cudaStream_t stream);

/// Each warp follows its own chain of loads through `next`, of 2^22 entries; all but the first warp of a block follow
/// it for `others` steps. With `many_registers`, 200 registers a thread are kept meanwhile.
void launch_chase(const unsigned* next, float* out, int steps, int others, bool many_registers, const Grid& grid);

/// `steps` multiply-adds of fp32 or fp64 in each of `chains` (1 or 4) chains of a thread.
void launch_chains(void* out, int steps, int chains, bool fp64, const Grid& grid);

/// 64 multiply-adds a step, in four chains. `long_code`: written out 256 times, 256 KiB of instructions.
void launch_code(float* out, int steps, bool long_code, const Grid& grid);

/// One warp computes, and in every step the block waits for it, or only the warp does.
void launch_barriers(float* out, int steps, bool block_wide, const Grid& grid);

/// Each value of shared memory that is read is used in `uses` (1 or 64) multiply-adds.
void launch_shared_uses(float* out, int steps, int uses, const Grid& grid);

/// Each thread writes 256 bytes: one byte at a time into a stretch of its own, or 16 at a time beside its neighbours.
void launch_fill(unsigned char* out, bool narrow, const Grid& grid);

/// Reads `floats` of `in` several times with `uses` (1 or 4) multiply-adds a value: one pass over all after another, or
/// all passes over each 16 KiB, which stay in L2.
struct Passes {
  int count = 1;
  int uses = 1;
  bool blocked = false;
};
void launch_passes(const float* in, float* out, std::size_t floats, const Passes& passes, const Grid& grid);

/// c = a b^T of n x n bf16 into fp32: a thread a value on the CUDA cores, or a warp a tile of 16 x 8 by mma.sync.
void launch_product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, bool tensor_cores,
                    cudaStream_t stream);

}  // namespace roofline::faulty
