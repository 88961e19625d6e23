// Relaxation in rounds: each captures a graph of its own and queues it 3,000 times before it waits, so that the queue
// is full while it is recorded.
#include "../workload.cuh"

constexpr int kElements = 1 << 20, kKernels = 20, kLaunches = 3000;

__global__ void relax(float* values, float target) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] += 0.25f * (target - values[i]);
}

cudaGraphExec_t capture(cudaStream_t stream, float* values, float target) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t launchable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kKernels; ++i) relax<<<kElements / 256, 256, 0, stream>>>(values, target);
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&launchable, graph, 0));
  check(cudaGraphDestroy(graph));
  return launchable;
}

int main() {
  float* values = nullptr;
  check(cudaMalloc(&values, sizeof(float) * kElements));
  check(cudaMemset(values, 0, sizeof(float) * kElements));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  run_steps([&](long step) {
    const cudaGraphExec_t graph = capture(stream, values, static_cast<float>(step));
    for (int launch = 0; launch < kLaunches; ++launch) check(cudaGraphLaunch(graph, stream));
    check(cudaStreamSynchronize(stream));
    check(cudaGraphExecDestroy(graph));
  });
}
