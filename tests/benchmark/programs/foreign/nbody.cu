// All-pairs N-body simulation with tiles in shared memory, after GPU Gems 3, chapter 31.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                \
  do {                                                                             \
    cudaError_t err = (call);                                                      \
    if (err != cudaSuccess) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); \
      exit(1);                                                                     \
    }                                                                              \
  } while (0)

#define BLOCK_SIZE 256
#define SOFTENING 1e-9f

__global__ void bodyForce(const float4* p, float4* v, float dt, int n) {
  __shared__ float4 tile[BLOCK_SIZE];
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  float4 me = p[i];
  float Fx = 0.0f, Fy = 0.0f, Fz = 0.0f;
  for (int base = 0; base < n; base += BLOCK_SIZE) {
    tile[threadIdx.x] = p[base + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < BLOCK_SIZE; j++) {
      float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
      float distSqr = dx * dx + dy * dy + dz * dz + SOFTENING;
      float invDist = rsqrtf(distSqr);
      float invDist3 = tile[j].w * invDist * invDist * invDist;
      Fx += dx * invDist3;
      Fy += dy * invDist3;
      Fz += dz * invDist3;
    }
    __syncthreads();
  }
  v[i].x += dt * Fx;
  v[i].y += dt * Fy;
  v[i].z += dt * Fz;
}

__global__ void integrate(float4* p, const float4* v, float dt) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  p[i].x += v[i].x * dt;
  p[i].y += v[i].y * dt;
  p[i].z += v[i].z * dt;
}

int main(int argc, char** argv) {
  int nBodies = 65536;
  int nIters = argc > 1 ? atoi(argv[1]) : 400;
  const float dt = 0.01f;

  std::vector<float4> p(nBodies), v(nBodies);
  for (int i = 0; i < nBodies; i++) {
    p[i] = make_float4(rand() / (float)RAND_MAX, rand() / (float)RAND_MAX, rand() / (float)RAND_MAX, 1.0f);
    v[i] = make_float4(0, 0, 0, 0);
  }
  float4 *d_p, *d_v;
  CHECK(cudaMalloc(&d_p, nBodies * sizeof(float4)));
  CHECK(cudaMalloc(&d_v, nBodies * sizeof(float4)));
  CHECK(cudaMemcpy(d_p, p.data(), nBodies * sizeof(float4), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_v, v.data(), nBodies * sizeof(float4), cudaMemcpyHostToDevice));

  int nBlocks = nBodies / BLOCK_SIZE;
  for (int iter = 0; iter < nIters; iter++) {
    bodyForce<<<nBlocks, BLOCK_SIZE>>>(d_p, d_v, dt, nBodies);
    integrate<<<nBlocks, BLOCK_SIZE>>>(d_p, d_v, dt);
    CHECK(cudaGetLastError());
    if (iter % 100 == 99) {
      CHECK(cudaMemcpy(p.data(), d_p, nBodies * sizeof(float4), cudaMemcpyDeviceToHost));
      printf("iteration %d: body 0 at %.3f %.3f %.3f\n", iter + 1, p[0].x, p[0].y, p[0].z);
    }
  }
  CHECK(cudaFree(d_p));
  CHECK(cudaFree(d_v));
  return 0;
}
