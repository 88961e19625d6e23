// Two sensors, a stream for each; a counter of both is kept by a kernel in the default stream, which waits for all
// others.
#include "../workload.cuh"

constexpr int kSensors = 2, kBlocks = 48, kThreads = 256, kIterations = 40'000;

__global__ void track(float* state) {
  float value = state[blockIdx.x * blockDim.x + threadIdx.x];
  for (int i = 0; i < kIterations; ++i) value = value * 0.999f + 0.001f;
  state[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void count(int* frames) { ++*frames; }

int main() {
  float* states[kSensors] = {};
  int* frames = nullptr;
  cudaStream_t streams[kSensors] = {};
  check(cudaMalloc(&frames, sizeof(int) * kSensors));
  check(cudaMemset(frames, 0, sizeof(int) * kSensors));
  for (int sensor = 0; sensor < kSensors; ++sensor) {
    check(cudaMalloc(&states[sensor], sizeof(float) * kBlocks * kThreads));
    check(cudaMemset(states[sensor], 0, sizeof(float) * kBlocks * kThreads));
    check(cudaStreamCreate(&streams[sensor]));
  }
  run_steps([&](long step) {
    for (int sensor = 0; sensor < kSensors; ++sensor) {
      track<<<kBlocks, kThreads, 0, streams[sensor]>>>(states[sensor]);
      count<<<1, 1, 0, kFixed ? streams[sensor] : nullptr>>>(frames + sensor);  // FAULT
    }
    if (step % 16 == 0) check(cudaDeviceSynchronize());
  });
  check(cudaGetLastError());
}
