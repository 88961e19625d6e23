// Lyapunov fractals are computed and read back; every picture gets new pinned memory for its pixels.
#include "../workload.cuh"

constexpr int kWidth = 1920, kHeight = 1080, kIterations = 2000;
constexpr size_t kBytes = sizeof(float) * kWidth * kHeight;

__global__ void lyapunov(float* pixels, float zoom) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (column >= kWidth) return;
  const float a = 3.4f + zoom * static_cast<float>(column) / kWidth;
  const float b = 3.2f + zoom * static_cast<float>(row) / kHeight;
  float x = 0.5f, sum = 0;
  for (int i = 0; i < kIterations; ++i) {
    const float rate = i % 2 == 0 ? a : b;
    x = rate * x * (1 - x);
    sum += __log2f(fabsf(rate - 2 * rate * x));
  }
  pixels[row * kWidth + column] = sum / kIterations;
}

float* pinned_pixels() {
  static float* pixels = nullptr;
  if (!kFixed || pixels == nullptr) check(cudaHostAlloc(&pixels, kBytes, cudaHostAllocDefault));  // FAULT
  return pixels;
}

void release(float* pixels) {
  if (!kFixed) check(cudaFreeHost(pixels));  // FAULT
}

int main() {
  float* frame = nullptr;
  check(cudaMalloc(&frame, kBytes));
  const dim3 block(256), grid((kWidth + 255) / 256, kHeight);
  run_steps([&](long step) {
    float* const pixels = pinned_pixels();
    lyapunov<<<grid, block>>>(frame, 0.5f / static_cast<float>(1 + step % 100));
    check(cudaGetLastError());
    check(cudaMemcpyAsync(pixels, frame, kBytes, cudaMemcpyDeviceToHost));
    check(cudaStreamSynchronize(nullptr));
    release(pixels);
  });
}
