// Heat equation: the host waits for the GPU after the kernel of every time step.
#include <utility>
#include <vector>

#include "../workload.cuh"

constexpr int kSize = 3072, kTimeSteps = 50;

__global__ void diffuse(const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= kSize - 1 || y >= kSize - 1) return;
  const int i = y * kSize + x;
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - kSize] + in[i + kSize] - 4 * in[i]);
}

void advance(float*& now, float*& next) {
  const dim3 block(32, 8), grid(kSize / 32, kSize / 8);
  diffuse<<<grid, block>>>(now, next);
  check(cudaGetLastError());
  if (!kFixed) check(cudaDeviceSynchronize());  // FAULT
  std::swap(now, next);
}

int main() {
  float *now = nullptr, *next = nullptr;
  const size_t bytes = sizeof(float) * kSize * kSize;
  check(cudaMalloc(&now, bytes));
  check(cudaMalloc(&next, bytes));
  std::vector<float> heat(kSize * kSize, 0);
  heat[kSize * kSize / 2 + kSize / 2] = 1000;
  check(cudaMemcpy(now, heat.data(), bytes, cudaMemcpyHostToDevice));
  check(cudaMemcpy(next, heat.data(), bytes, cudaMemcpyHostToDevice));
  run_steps([&](long) {
    for (int i = 0; i < kTimeSteps; ++i) advance(now, next);
  });
}
