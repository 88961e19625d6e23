// The kernels of waits.sm_*.cubin, which tests/unit/gpu_lines_test.cpp reads:
//   for arch in 80 90; do nvcc -arch=sm_$arch -lineinfo -cubin waits.cu -o waits.sm_$arch.cubin; done
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

extern "C" __global__ void load_then_use(const float* in, float* out) {
  const float value = in[threadIdx.x];
  out[threadIdx.x] = value * 3.0f;
}

extern "C" __global__ void chase(const int* next, int* out, int n) {
  int at = threadIdx.x;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    at = next[at];
  }
  out[threadIdx.x] = at;
}

__device__ inline float square_at(const float* in, int i) {
  const float value = in[i];
  return value * value;
}

__device__ __noinline__ float far_away(const float* in, int i) { return in[i + 100]; }

extern "C" __global__ void inlined(const float* in, __half2* out) {
  const float sum = square_at(in, threadIdx.x) + far_away(in, threadIdx.x);
  out[threadIdx.x] = __h2div(__float2half2_rn(sum), out[0]);
}

extern "C" __global__ void asynchronous(const float4* in, float4* out) {
  __shared__ float4 tile[128];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float4));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[127 - threadIdx.x];
}
