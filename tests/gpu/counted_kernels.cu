// The kernels of counted_kernels.hpp. Loops are unrolled by the compiler only where the count stays exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "counted_kernels.hpp"
#include "device/cuda/check.hpp"

namespace roofline::counted {
namespace {

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The assembler's own instructions: the compiler neither fuses, splits nor removes them.
__global__ void fma_fp64(double* out, int steps) {
  double x = threadIdx.x;
  for (int i = 0; i < steps; ++i) asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(0.5));
  out[thread_number()] = x;
}

__global__ void fma_fp32(float* out, int steps) {
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < steps; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(0.5F));
  out[thread_number()] = x;
}

__global__ void fma_half_scalar(__half* out, int steps) {
  unsigned short x = 0x3C00;
  for (int i = 0; i < steps; ++i)
    asm volatile("fma.rn.f16 %0, %0, %1, %1;" : "+h"(x) : "h"(static_cast<unsigned short>(0x3800)));
  out[thread_number()] = __ushort_as_half(x);
}

__global__ void fma_half_packed(__half2* out, int steps) {
  unsigned x = 0x3C003C00;
  for (int i = 0; i < steps; ++i) asm volatile("fma.rn.f16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(0x38003800));
  out[thread_number()] = *reinterpret_cast<__half2*>(&x);
}

__global__ void fma_bf16_packed(__nv_bfloat162* out, int steps) {
  unsigned x = 0x3F803F80;
  for (int i = 0; i < steps; ++i) asm volatile("fma.rn.bf16x2 %0, %0, %1, %1;" : "+r"(x) : "r"(0x3F003F00));
  out[thread_number()] = *reinterpret_cast<__nv_bfloat162*>(&x);
}

__global__ void add_mul(float* out, int steps) {
  float x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < steps; ++i) {
    asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(0.5F));
    asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(0.5F));
  }
  out[thread_number()] = x;
}

__global__ void strided_copy(const float* in, float* out, int stride) {
  out[thread_number()] = in[static_cast<std::size_t>(thread_number()) * static_cast<std::size_t>(stride)];
}

__global__ void shared_reads(float* out, int steps, int stride) {
  __shared__ float words[32 * 32];
  for (unsigned i = threadIdx.x; i < 32 * 32; i += blockDim.x) words[i] = static_cast<float>(i);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  float sum = 0;
  for (int i = 0; i < steps; ++i) {
    const volatile float* at = &words[(lane * static_cast<unsigned>(stride) + static_cast<unsigned>(i)) % (32 * 32)];
    sum += *at;
  }
  out[thread_number()] = sum;
}

__global__ void local_array(float* out, int steps) {
  constexpr int kLength = 64;
  volatile float values[kLength];
  for (int i = 0; i < kLength; ++i) values[i] = static_cast<float>(i);
  float sum = 0;
  for (int i = 0; i < steps; ++i) sum += values[(threadIdx.x + static_cast<unsigned>(i)) % kLength];
  out[thread_number()] = sum;
}

}  // namespace

void launch_fma(Arithmetic arithmetic, void* out, int blocks, int steps, cudaStream_t stream) {
  switch (arithmetic) {
    case Arithmetic::fp64:
      fma_fp64<<<blocks, kThreads, 0, stream>>>(static_cast<double*>(out), steps);
      break;
    case Arithmetic::fp32:
      fma_fp32<<<blocks, kThreads, 0, stream>>>(static_cast<float*>(out), steps);
      break;
    case Arithmetic::half_scalar:
      fma_half_scalar<<<blocks, kThreads, 0, stream>>>(static_cast<__half*>(out), steps);
      break;
    case Arithmetic::half_packed:
      fma_half_packed<<<blocks, kThreads, 0, stream>>>(static_cast<__half2*>(out), steps);
      break;
    case Arithmetic::bf16_packed:
      fma_bf16_packed<<<blocks, kThreads, 0, stream>>>(static_cast<__nv_bfloat162*>(out), steps);
      break;
  }
  check_launch("counted multiply-adds");
}

void launch_add_mul(float* out, int blocks, int steps, cudaStream_t stream) {
  add_mul<<<blocks, kThreads, 0, stream>>>(out, steps);
  check_launch("counted additions");
}

void launch_strided_copy(const float* in, float* out, int blocks, int stride, cudaStream_t stream) {
  strided_copy<<<blocks, kThreads, 0, stream>>>(in, out, stride);
  check_launch("a strided copy");
}

void launch_shared_reads(float* out, int blocks, int steps, int stride, cudaStream_t stream) {
  shared_reads<<<blocks, kThreads, 0, stream>>>(out, steps, stride);
  check_launch("shared reads");
}

void launch_local_array(float* out, int blocks, int steps, cudaStream_t stream) {
  local_array<<<blocks, kThreads, 0, stream>>>(out, steps);
  check_launch("a local array");
}

}  // namespace roofline::counted
