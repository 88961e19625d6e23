// Jacobi iterations: a synchronous cudaMemcpy reads the residual back after every sweep.
#include <utility>
#include <vector>

#include "../workload.cuh"

constexpr int kSize = 3072, kSweeps = 50;

__global__ void sweep(const float* in, float* out, int* residual) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float change = 0;
  if (x >= 1 && y >= 1 && x < kSize - 1 && y < kSize - 1) {
    const int i = y * kSize + x;
    out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - kSize] + in[i + kSize]);
    change = fabsf(out[i] - in[i]);
  }
  const unsigned largest = __reduce_max_sync(~0u, __float_as_uint(change));
  if (threadIdx.x == 0 && static_cast<int>(largest) > *residual) atomicMax(residual, static_cast<int>(largest));
}

float read_residual(const int* residual) {
  float value = 0;
  check(cudaMemcpy(&value, residual, sizeof value, cudaMemcpyDeviceToHost));  // FAULT
  return value;
}

/// Sweeps until the residual is small, at most kSweeps times. The fixed program looks at it once.
float solve(float*& now, float*& next, int* residual) {
  const dim3 block(32, 8), grid(kSize / 32, kSize / 8);
  float largest = 1;
  for (int i = 1; i <= kSweeps && largest > 0; ++i) {
    check(cudaMemsetAsync(residual, 0, sizeof *residual));
    sweep<<<grid, block>>>(now, next, residual);
    check(cudaGetLastError());
    std::swap(now, next);
    if (!kFixed || i == kSweeps) largest = read_residual(residual);
  }
  return largest;
}

int main() {
  float *now = nullptr, *next = nullptr;
  int* residual = nullptr;
  const size_t bytes = sizeof(float) * kSize * kSize;
  check(cudaMalloc(&now, bytes));
  check(cudaMalloc(&next, bytes));
  check(cudaMalloc(&residual, sizeof *residual));
  std::vector<float> heat(kSize * kSize, 0);
  for (int i = 0; i < kSize; ++i) heat[i] = 1000;
  check(cudaMemcpy(now, heat.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(next, heat.data(), bytes, cudaMemcpyHostToDevice));
  run_steps([&](long) { solve(now, next, residual); });
}
