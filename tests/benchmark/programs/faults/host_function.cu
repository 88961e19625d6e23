// Frames are normalised by a factor that a function on the host computes inside of the stream.
#include <cmath>

#include "../workload.cuh"

constexpr int kPixels = 1 << 24, kTerms = 300'000;

__global__ void scale(float* frame, const float* factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  frame[i] = frame[i] * *factor + 0.5f;
}

void compute_factor(void* where) {  // FAULT
  double sum = 0;
  for (int i = 1; i <= kTerms; ++i) sum += std::sin(i * 1e-3) / i;
  *static_cast<float*>(where) = static_cast<float>(sum);
}

int main() {
  float *frame = nullptr, *factor = nullptr, *on_host = nullptr;
  check(cudaMalloc(&frame, sizeof(float) * kPixels));
  check(cudaMalloc(&factor, sizeof(float)));
  check(cudaMallocHost(&on_host, sizeof(float)));
  check(cudaMemset(frame, 0, sizeof(float) * kPixels));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  compute_factor(on_host);
  run_steps([&](long step) {
    if (!kFixed) check(cudaLaunchHostFunc(stream, compute_factor, on_host));  // FAULT
    check(cudaMemcpyAsync(factor, on_host, sizeof(float), cudaMemcpyHostToDevice, stream));
    scale<<<kPixels / 256, 256, 0, stream>>>(frame, factor);
    if (step % 16 == 0) check(cudaStreamSynchronize(stream));
  });
  check(cudaGetLastError());
}
