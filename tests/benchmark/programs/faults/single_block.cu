// Normalisation of a signal: one block adds up all its squares, and the other SMs have nothing to do.
#include "../workload.cuh"

constexpr int kSamples = 1 << 24, kThreads = 1024, kSweeps = 20;

__global__ void energy_of(const float* signal, float* energy) {
  __shared__ float sums[kThreads];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kSamples; i += gridDim.x * blockDim.x) {
    sum += signal[i] * signal[i];
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(energy, sums[0]);
}

__global__ void smooth(const float* in, float* out, const float* energy) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float scale = rsqrtf(*energy / kSamples + 1e-6f);
  float sum = 0;
  for (int d = -4; d <= 4; ++d) sum += in[min(max(i + d, 0), kSamples - 1)];
  out[i] = scale * sum / 9 + 1e-3f * static_cast<float>(i % 7);
}

void add_energy(const float* signal, float* energy) {
  check(cudaMemsetAsync(energy, 0, sizeof *energy));
  energy_of<<<kFixed ? 264 : 1, kThreads>>>(signal, energy);  // FAULT
}

int main() {
  float *signal = nullptr, *other = nullptr, *energy = nullptr;
  check(cudaMalloc(&signal, sizeof(float) * kSamples));
  check(cudaMalloc(&other, sizeof(float) * kSamples));
  check(cudaMalloc(&energy, sizeof *energy));
  check(cudaMemset(signal, 0, sizeof(float) * kSamples));
  run_steps([&](long) {
    add_energy(signal, energy);
    for (int i = 0; i < kSweeps; i += 2) {
      smooth<<<kSamples / 256, 256>>>(signal, other, energy);
      smooth<<<kSamples / 256, 256>>>(other, signal, energy);
    }
    check(cudaGetLastError());
  });
}
