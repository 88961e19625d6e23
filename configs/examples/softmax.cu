// Softmax of rows, a block a row: the maximum, the sum, and the quotients, each in a pass over the row.
#include <math_constants.h>

template <typename Join>
__device__ float join_block(float value, Join join, float* shared) {
  for (int lanes = 16; lanes > 0; lanes /= 2) value = join(value, __shfl_xor_sync(~0u, value, lanes));
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int warp = 1; warp < blockDim.x / 32; ++warp) value = join(value, shared[warp]);
  __syncthreads();
  return value;
}

__global__ void softmax(const float* x, float* y, int columns) {
  __shared__ float shared[32];
  const float* from = x + static_cast<size_t>(blockIdx.x) * columns;
  float* to = y + static_cast<size_t>(blockIdx.x) * columns;
  float largest = -CUDART_INF_F;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, from[i]);
  largest = join_block(
      largest, [](float a, float b) { return fmaxf(a, b); }, shared);
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += __expf(from[i] - largest);
  sum = join_block(
      sum, [](float a, float b) { return a + b; }, shared);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) to[i] = __expf(from[i] - largest) / sum;
}
