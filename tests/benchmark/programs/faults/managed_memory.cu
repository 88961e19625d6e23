// Heat with sources that the host writes for every step, in managed memory: its pages move to the host and back.
#include <algorithm>
#include <utility>
#include <vector>

#include "../workload.cuh"

constexpr int kSize = 4096, kSweeps = 60, kSources = 1 << 21, kPhases = 1024;

__global__ void add_sources(float* field, const float* sources) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  field[i * 8] += sources[i];
}

__global__ void diffuse(const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= kSize - 1 || y >= kSize - 1) return;
  const int i = y * kSize + x;
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - kSize] + in[i + kSize] - 4 * in[i]);
}

struct Sources {
  float *host = nullptr, *device = nullptr;
  cudaEvent_t used = nullptr;
};

Sources allocate() {
  Sources sources;
  const size_t bytes = sizeof(float) * kSources;
  if (kFixed) {
    check(cudaMallocHost(&sources.host, bytes));
    check(cudaMalloc(&sources.device, bytes));
  } else {
    check(cudaMallocManaged(&sources.host, bytes));  // FAULT
    sources.device = sources.host;
  }
  check(cudaEventCreateWithFlags(&sources.used, cudaEventDisableTiming));
  return sources;
}

void fill(Sources& sources, const std::vector<float>& pattern, long step) {
  check(cudaEventSynchronize(sources.used));
  std::copy_n(pattern.begin() + step % kPhases, kSources, sources.host);  // FAULT
  if (!kFixed) return;
  check(cudaMemcpyAsync(sources.device, sources.host, sizeof(float) * kSources, cudaMemcpyHostToDevice));
}

void use(const Sources& sources, float* field) {
  add_sources<<<kSources / 256, 256>>>(field, sources.device);  // FAULT
  check(cudaGetLastError());
  check(cudaEventRecord(sources.used));
}

int main() {
  float *now = nullptr, *next = nullptr;
  const size_t bytes = sizeof(float) * kSize * kSize;
  check(cudaMalloc(&now, bytes));
  check(cudaMalloc(&next, bytes));
  check(cudaMemset(now, 0, bytes));
  check(cudaMemset(next, 0, bytes));
  Sources sources[2] = {allocate(), allocate()};
  std::vector<float> pattern(kSources + kPhases);
  for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = 1e-6f * static_cast<float>(i * i % 997);
  const dim3 block(32, 8), grid(kSize / 32, kSize / 8);
  run_steps([&](long step) {
    fill(sources[step % 2], pattern, step);
    use(sources[step % 2], now);
    for (int i = 0; i < kSweeps; ++i) {
      diffuse<<<grid, block>>>(now, next);
      std::swap(now, next);
    }
    check(cudaGetLastError());
  });
}
