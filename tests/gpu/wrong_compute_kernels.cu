// The kernels of wrong_compute_kernels.hpp. As with honest ones, each launch is checked.
#include "wrong_compute_kernels.hpp"

#include "device/cuda/check.hpp"

namespace roofline::wrong {
namespace {

/// What a warp reads in one step: 512 bytes of A and 256 of B, the fragments of one m16n8k16.
__global__ void tensor_from_memory(const unsigned char* operands, float* out, int steps) {
  const std::uint64_t warp = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const unsigned lane = threadIdx.x % 32;
  float c[4] = {};
  for (int step = 0; step < steps; ++step) {
    const unsigned char* const at = operands + (warp * static_cast<unsigned>(steps) + step) * kStepBytes;
    const uint4 a = reinterpret_cast<const uint4*>(at)[lane];
    const uint2 b = reinterpret_cast<const uint2*>(at + 512)[lane];
#pragma unroll 8
    for (int i = 0; i < kReuse; ++i) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
    }
  }
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}

__global__ void short_chain(float* out, std::int64_t steps, float factor) {
  float x = static_cast<float>(threadIdx.x);
#pragma unroll 16
  for (std::int64_t i = 0; i < steps; ++i) x = fmaf(x, factor, 0.4375f);
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = x;
}

__global__ void dead_code(float* out, std::int64_t steps, float factor) {
  float x[kDeadChains];
  for (int c = 0; c < kDeadChains; ++c) x[c] = static_cast<float>(threadIdx.x + c);
#pragma unroll 16
  for (std::int64_t i = 0; i < steps; ++i) {
    for (int c = 0; c < kDeadChains; ++c) x[c] = fmaf(x[c], factor, 0.4375f);
  }
  out[std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x] = factor;
}

}  // namespace

void launch_tensor_from_memory(const void* operands, float* out, int blocks, int steps, cudaStream_t stream) {
  tensor_from_memory<<<static_cast<unsigned>(blocks), kTensorThreads, 0, stream>>>(
      static_cast<const unsigned char*>(operands), out, steps);
  check_launch("tensor kernel that reads memory");
}

void launch_short_chain(float* out, int blocks, std::int64_t steps, cudaStream_t stream) {
  short_chain<<<static_cast<unsigned>(blocks), 32, 0, stream>>>(out, steps, -0.999f);
  check_launch("short chain");
}

void launch_dead_code(float* out, int blocks, int threads, std::int64_t steps, cudaStream_t stream) {
  dead_code<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0, stream>>>(out, steps, -0.999f);
  check_launch("dead code");
}

const void* dead_code_kernel() { return reinterpret_cast<const void*>(&dead_code); }

void launch_too_many_threads(float* out, cudaStream_t stream) {
  short_chain<<<1, 4096, 0, stream>>>(out, 1, 0.5f);
  check_launch("kernel of 4096 threads a block");
}

}  // namespace roofline::wrong
