// A filter over eight tiles, each on a stream: the streams are created and destroyed for every picture.
#include "../workload.cuh"

constexpr int kTiles = 8, kTile = 1 << 23, kPasses = 4;

__global__ void smooth(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int d = -4; d <= 4; ++d) sum += in[min(max(i + d, 0), kTile - 1)];
  out[i] = sum / 9;
}

void create(cudaStream_t* streams) {
  for (int tile = 0; tile < kTiles; ++tile) check(cudaStreamCreate(&streams[tile]));  // FAULT
}

void destroy(cudaStream_t* streams) {
  for (int tile = 0; tile < kTiles; ++tile) check(cudaStreamDestroy(streams[tile]));  // FAULT
}

void filter(const cudaStream_t* streams, float* picture, float* other) {
  for (int pass = 0; pass < kPasses; ++pass) {
    for (int tile = 0; tile < kTiles; ++tile) {
      float* const in = (pass % 2 == 0 ? picture : other) + static_cast<size_t>(tile) * kTile;
      float* const out = (pass % 2 == 0 ? other : picture) + static_cast<size_t>(tile) * kTile;
      smooth<<<kTile / 256, 256, 0, streams[tile]>>>(in, out);
    }
  }
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

int main() {
  float *picture = nullptr, *other = nullptr;
  const size_t bytes = sizeof(float) * kTiles * kTile;
  check(cudaMalloc(&picture, bytes));
  check(cudaMalloc(&other, bytes));
  check(cudaMemset(picture, 0, bytes));
  cudaStream_t streams[kTiles] = {};
  if (kFixed) create(streams);
  run_steps([&](long) {
    if (!kFixed) create(streams);
    filter(streams, picture, other);
    if (!kFixed) destroy(streams);
  });
}
