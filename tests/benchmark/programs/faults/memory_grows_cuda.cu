// A simulation keeps a snapshot of its field in every step and never frees it.
#include <vector>

#include "../workload.cuh"

constexpr int kCells = 1 << 22;
constexpr size_t kBytes = sizeof(float) * kCells;

__global__ void diffuse(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kCells) return;
  const float left = in[i == 0 ? kCells - 1 : i - 1], right = in[i == kCells - 1 ? 0 : i + 1];
  out[i] = in[i] + 0.1f * (left + right - 2 * in[i]);
}

void advance(float*& in, float*& out) {
  for (int i = 0; i < 400; ++i) {
    diffuse<<<(kCells + 255) / 256, 256>>>(in, out);
    float* const next = out;
    out = in;
    in = next;
  }
  check(cudaGetLastError());
}

float* snapshot(const float* field) {
  static float* kept = nullptr;
  float* copy = kept;
  if (!kFixed || kept == nullptr) check(cudaMalloc(&copy, kBytes));  // FAULT
  if (kFixed) kept = copy;
  check(cudaMemcpyAsync(copy, field, kBytes, cudaMemcpyDeviceToDevice));
  return copy;
}

int main() {
  float *in = nullptr, *out = nullptr;
  check(cudaMalloc(&in, kBytes));
  check(cudaMalloc(&out, kBytes));
  check(cudaMemset(in, 0, kBytes));
  std::vector<float*> snapshots;
  run_steps([&](long) {
    advance(in, out);
    snapshots.push_back(snapshot(in));
  });
}
