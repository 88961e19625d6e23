// A blur of images: every call allocates its intermediate image and frees it again.
#include <vector>

#include "../workload.cuh"

constexpr int kWidth = 3840, kHeight = 2160, kRadius = 8;
constexpr size_t kBytes = sizeof(float) * kWidth * kHeight;

__global__ void blur_rows(const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= kWidth) return;
  float sum = 0;
  for (int d = -kRadius; d <= kRadius; ++d) sum += in[y * kWidth + min(max(x + d, 0), kWidth - 1)];
  out[y * kWidth + x] = sum / (2 * kRadius + 1);
}

__global__ void blur_columns(const float* in, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= kWidth) return;
  float sum = 0;
  for (int d = -kRadius; d <= kRadius; ++d) sum += in[min(max(y + d, 0), kHeight - 1) * kWidth + x];
  out[y * kWidth + x] = sum / (2 * kRadius + 1);
}

void blur(const float* in, float* out) {
  const dim3 block(256), grid((kWidth + 255) / 256, kHeight);
  static float* rows = nullptr;
  if (!kFixed || rows == nullptr) check(cudaMalloc(&rows, kBytes));  // FAULT
  blur_rows<<<grid, block>>>(in, rows);
  blur_columns<<<grid, block>>>(rows, out);
  check(cudaGetLastError());
  if (!kFixed) check(cudaFree(rows));  // FAULT
}

int main() {
  float *in = nullptr, *out = nullptr;
  check(cudaMalloc(&in, kBytes));
  check(cudaMalloc(&out, kBytes));
  const std::vector<float> image(kWidth * kHeight, 0.5f);
  check(cudaMemcpy(in, image.data(), kBytes, cudaMemcpyHostToDevice));
  run_steps([&](long) {
    blur(in, out);
    blur(out, in);
  });
}
