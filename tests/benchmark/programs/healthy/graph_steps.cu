// Heat equation: 50 time steps in a CUDA graph, which is launched again and again.
#include <utility>
#include <vector>

#include "../workload.cuh"

constexpr int kSize = 1024, kTimeSteps = 50;

__global__ void diffuse(const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= kSize - 1 || y >= kSize - 1) return;
  const int i = y * kSize + x;
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - kSize] + in[i + kSize] - 4 * in[i]);
}

cudaGraphExec_t capture(cudaStream_t stream, float* now, float* next) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  const dim3 block(32, 8), grid(kSize / 32, kSize / 8);
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kTimeSteps; ++i) {
    diffuse<<<grid, block, 0, stream>>>(now, next);
    std::swap(now, next);
  }
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&launchable, graph, 0));
  check(cudaGraphDestroy(graph));
  return launchable;
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
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  const cudaGraphExec_t graph = capture(stream, now, next);
  cudaEvent_t ends[4] = {};
  for (cudaEvent_t& end : ends) check(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
  run_steps([&](long step) {
    check(cudaEventSynchronize(ends[step % 4]));  // at most four launches ahead of the GPU
    check(cudaGraphLaunch(graph, stream));
    check(cudaEventRecord(ends[step % 4], stream));
  });
  check(cudaGraphExecDestroy(graph));
}
