// More pairs of kernels, as in planted.cu: `planted_more NAME faulty|mended SECONDS`, `planted_more --list`. Lines that
// an answer may name end with "// FAULT".
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call)                                                                   \
  do {                                                                                \
    cudaError_t e_ = (call);                                                          \
    if (e_ != cudaSuccess) {                                                          \
      std::fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

// ---------------------------------------------------------------- 1. colsum
// Sum of each column of a row-major matrix; one block owns 32 columns.
__global__ void colsum_faulty(const float* __restrict__ a, float* __restrict__ out, int rows, int cols) {
  __shared__ float part[32];
  const int first = blockIdx.x * 32;
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  for (int c = 0; c < 32; ++c) {
    float s = 0.0f;
    for (int r = threadIdx.x; r < rows; r += 1024) s += a[(size_t)r * cols + first + c];  // FAULT
    for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
    if (lane == 0) part[warp] = s;
    __syncthreads();
    if (warp == 0) {
      float t = part[lane];
      for (int d = 16; d > 0; d >>= 1) t += __shfl_down_sync(0xffffffffu, t, d);
      if (lane == 0) out[first + c] = t;
    }
    __syncthreads();
  }
}

__global__ void colsum_mended(const float* __restrict__ a, float* __restrict__ out, int rows, int cols) {
  __shared__ float part[32][33];
  const int first = blockIdx.x * 32;
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  float s = 0.0f;
  for (int r = warp; r < rows; r += 32) s += a[(size_t)r * cols + first + lane];
  part[warp][lane] = s;
  __syncthreads();
  float t = part[lane][warp];
  for (int d = 16; d > 0; d >>= 1) t += __shfl_down_sync(0xffffffffu, t, d);
  if (lane == 0) out[first + warp] = t;
}

// ---------------------------------------------------------------- 2. flip
// Transpose of a half matrix, 64 x 64 tiles through shared memory.
__global__ void flip_faulty(const __half* __restrict__ in, __half* __restrict__ out, int n) {
  __shared__ __half tile[64][64];  // FAULT
  const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
  for (int j = threadIdx.y; j < 64; j += 8)
    for (int i = threadIdx.x; i < 64; i += 32) tile[i][j] = in[(size_t)(y0 + j) * n + x0 + i];  // FAULT
  __syncthreads();
  for (int j = threadIdx.y; j < 64; j += 8)
    for (int i = threadIdx.x; i < 64; i += 32) out[(size_t)(x0 + j) * n + y0 + i] = tile[j][i];
}

__global__ void flip_mended(const __half* __restrict__ in, __half* __restrict__ out, int n) {
  __shared__ __half tile[64][66];
  const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 64;
  for (int j = threadIdx.y; j < 64; j += 8)
    for (int i = threadIdx.x; i < 64; i += 32) tile[i][j] = in[(size_t)(y0 + j) * n + x0 + i];
  __syncthreads();
  for (int j = threadIdx.y; j < 64; j += 8)
    for (int i = threadIdx.x; i < 64; i += 32) out[(size_t)(x0 + j) * n + y0 + i] = tile[j][i];
}

// ---------------------------------------------------------------- 3. energy
// Kinetic energy of each particle, written into the particle's record.
struct Particle {
  float x, y, z, vx, vy, vz, mass, energy;
};

__global__ void energy_faulty(const float* __restrict__ speed, Particle* __restrict__ p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float s = speed[i];
    p[i].energy = 0.5f * s * s + 1.0f;  // FAULT
  }
}

__global__ void energy_mended(const float* __restrict__ speed, float* __restrict__ energy, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float s = speed[i];
    energy[i] = 0.5f * s * s + 1.0f;
  }
}

// ---------------------------------------------------------------- 4. bins
// Histogram of values in [0, 1) over 16 bins.
__global__ void bins_faulty(const float* __restrict__ v, unsigned* __restrict__ hist, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int b = min(15, (int)(v[i] * 16.0f));  // FAULT
    atomicAdd(&hist[b], 1u);                     // FAULT
  }
}

__global__ void bins_mended(const float* __restrict__ v, unsigned* __restrict__ hist, int n) {
  __shared__ unsigned mine[16 * 32];
  for (int k = threadIdx.x; k < 16 * 32; k += blockDim.x) mine[k] = 0;
  __syncthreads();
  const int lane = threadIdx.x & 31;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const int b = min(15, (int)(v[i] * 16.0f));
    atomicAdd(&mine[b * 32 + lane], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 16) {
    unsigned s = 0;
    for (int k = 0; k < 32; ++k) s += mine[threadIdx.x * 32 + ((k + threadIdx.x) & 31)];
    atomicAdd(&hist[threadIdx.x], s);
  }
}

// ---------------------------------------------------------------- 5. buckets
// Each thread sorts its samples into 32 buckets of its own, then weighs them.
__global__ void buckets_faulty(const uint8_t* __restrict__ code, const float* __restrict__ val, float* __restrict__ out,
                               int threads, int samples) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float bucket[32];  // FAULT
  for (int b = 0; b < 32; ++b) bucket[b] = 0.0f;
  for (int s = 0; s < samples; ++s) {
    const int c = code[(size_t)s * threads + t] & 31;
    bucket[c] += val[(size_t)s * threads + t];  // FAULT
  }
  float r = 0.0f;
  for (int b = 0; b < 32; ++b) r += bucket[b] * (float)(b + 1);
  out[t] = r;
}

__global__ void buckets_mended(const uint8_t* __restrict__ code, const float* __restrict__ val, float* __restrict__ out,
                               int threads, int samples) {
  __shared__ float bucket[32][128];
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int b = 0; b < 32; ++b) bucket[b][threadIdx.x] = 0.0f;
  for (int s = 0; s < samples; ++s) {
    const int c = code[(size_t)s * threads + t] & 31;
    bucket[c][threadIdx.x] += val[(size_t)s * threads + t];
  }
  float r = 0.0f;
  for (int b = 0; b < 32; ++b) r += bucket[b][threadIdx.x] * (float)(b + 1);
  out[t] = r;
}

// ---------------------------------------------------------------- 6. outer
// C = A^T B with an 8 x 8 register tile per thread; 16 x 16 threads.
__global__ void __launch_bounds__(256, 8)
    outer_faulty(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n, int depth) {
  const int i0 = blockIdx.y * 128 + (threadIdx.x >> 4) * 8;
  const int j0 = blockIdx.x * 128 + (threadIdx.x & 15) * 8;
  float acc[8][8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) acc[i][j] = 0.0f;
#pragma unroll 1
  for (int k = 0; k < depth; ++k) {
    const float4* pa = reinterpret_cast<const float4*>(a + (size_t)k * n + i0);
    const float4* pb = reinterpret_cast<const float4*>(b + (size_t)k * n + j0);
    const float4 a0 = pa[0], a1 = pa[1], b0 = pb[0], b1 = pb[1];          // FAULT
    const float x[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};  // FAULT
    const float y[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};  // FAULT
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) acc[i][j] += x[i] * y[j];  // FAULT
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) c[(size_t)(i0 + i) * n + j0 + j] = acc[i][j];
}

__global__ void __launch_bounds__(256)
    outer_mended(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n, int depth) {
  const int i0 = blockIdx.y * 128 + (threadIdx.x >> 4) * 8;
  const int j0 = blockIdx.x * 128 + (threadIdx.x & 15) * 8;
  float acc[8][8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) acc[i][j] = 0.0f;
#pragma unroll 2
  for (int k = 0; k < depth; ++k) {
    const float4* pa = reinterpret_cast<const float4*>(a + (size_t)k * n + i0);
    const float4* pb = reinterpret_cast<const float4*>(b + (size_t)k * n + j0);
    const float4 a0 = pa[0], a1 = pa[1], b0 = pb[0], b1 = pb[1];
    const float x[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
    const float y[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j < 8; ++j) acc[i][j] += x[i] * y[j];
  }
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) c[(size_t)(i0 + i) * n + j0 + j] = acc[i][j];
}

// ---------------------------------------------------------------- 7. vignette
// Per-channel gain and a row/column falloff over an [n][c][h][w] image.
__global__ void vignette_faulty(const float* __restrict__ in, float* __restrict__ out, const float* __restrict__ gain,
                                const float* __restrict__ fr, const float* __restrict__ fc, int total, int ch, int h,
                                int w) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += gridDim.x * blockDim.x) {
    const int col = i % w, row = (i / w) % h, c = (i / (w * h)) % ch;  // FAULT
    out[i] = in[i] * gain[c] * fr[row] * fc[col];
  }
}

__global__ void vignette_mended(const float* __restrict__ in, float* __restrict__ out, const float* __restrict__ gain,
                                const float* __restrict__ fr, const float* __restrict__ fc, int total, int ch, int h,
                                int w) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y, c = blockIdx.z;
  const float f = gain[c] * fr[row] * fc[col];
  for (int i = (c * h + row) * w + col; i < total; i += ch * h * w) out[i] = in[i] * f;
}

// ---------------------------------------------------------------- 8. relax
// 32 explicit steps of a cubic relaxation.
__global__ void relax_faulty(const float* __restrict__ a, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float target = a[i];
  float v = 0.25f;
  for (int s = 0; s < 32; ++s) {
    v = v - 0.05 * (v * v * v - target);  // FAULT
  }
  out[i] = v;
}

__global__ void relax_mended(const float* __restrict__ a, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float target = a[i];
  float v = 0.25f;
  for (int s = 0; s < 32; ++s) {
    v = v - 0.05f * (v * v * v - target);
  }
  out[i] = v;
}

// ---------------------------------------------------------------- 9. returns
// Discounted return of each of n sequences, rewards as [step][n].
__global__ void returns_faulty(const __half* __restrict__ reward, const float* __restrict__ gamma,
                               float* __restrict__ out, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float g = gamma[i];
  float s = 0.0f;
  for (int t = 0; t < steps; ++t) {
    s += powf(g, (float)t) * __half2float(reward[(size_t)t * n + i]);  // FAULT
  }
  out[i] = s;
}

__global__ void returns_mended(const __half* __restrict__ reward, const float* __restrict__ gamma,
                               float* __restrict__ out, int n, int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float g = gamma[i];
  float s = 0.0f, w = 1.0f;
  for (int t = 0; t < steps; ++t) {
    s += w * __half2float(reward[(size_t)t * n + i]);
    w *= g;
  }
  out[i] = s;
}

// ---------------------------------------------------------------- 10. series
// A long power series, coefficients in constant memory; many points per thread.
constexpr int kCoef = 384;
__constant__ float c_series[kCoef];

__global__ void series_faulty(const float* __restrict__ x, float* __restrict__ out, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int stride = gridDim.x * blockDim.x;
  for (int p = 0; p < per; ++p) {
    const float v = x[p * stride + t];
    float acc = 0.0f;
#pragma unroll 32
    for (int k = kCoef - 1; k >= 0; --k) {
      acc = acc * v + c_series[k];  // FAULT
    }
    out[p * stride + t] = acc;
  }
}

__global__ void series_mended(const float* __restrict__ x, float* __restrict__ out, int per) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int stride = gridDim.x * blockDim.x;
  for (int p = 0; p < per; p += 8) {
    float v[8], acc[8];
#pragma unroll
    for (int q = 0; q < 8; ++q) {
      v[q] = x[(p + q) * stride + t];
      acc[q] = 0.0f;
    }
#pragma unroll 8
    for (int k = kCoef - 1; k >= 0; --k) {
      const float c = c_series[k];
#pragma unroll
      for (int q = 0; q < 8; ++q) acc[q] = acc[q] * v[q] + c;
    }
#pragma unroll
    for (int q = 0; q < 8; ++q) out[(p + q) * stride + t] = acc[q];
  }
}

// ---------------------------------------------------------------- 11. rmsrow
// Rows of 1024 divided by their root mean square; a block walks over rows.
__global__ void __launch_bounds__(1024) rmsrow_faulty(const float* __restrict__ in, float* __restrict__ out, int rows) {
  __shared__ float tile[1024];
  __shared__ float inv;
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    const float v = in[(size_t)r * 1024 + threadIdx.x];
    tile[threadIdx.x] = v;
    __syncthreads();         // FAULT
    if (threadIdx.x == 0) {  // FAULT
      float s = 0.0f;
      for (int j = 0; j < 1024; ++j) s += tile[j] * tile[j];  // FAULT
      inv = rsqrtf(s * (1.0f / 1024.0f) + 1e-6f);
    }
    __syncthreads();  // FAULT
    out[(size_t)r * 1024 + threadIdx.x] = v * inv;
  }
}

__global__ void __launch_bounds__(1024) rmsrow_mended(const float* __restrict__ in, float* __restrict__ out, int rows) {
  __shared__ float part[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int r = blockIdx.x; r < rows; r += gridDim.x) {
    const float v = in[(size_t)r * 1024 + threadIdx.x];
    float s = v * v;
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) part[warp] = s;
    __syncthreads();
    float t = part[lane];
    for (int d = 16; d > 0; d >>= 1) t += __shfl_xor_sync(0xffffffffu, t, d);
    out[(size_t)r * 1024 + threadIdx.x] = v * rsqrtf(t * (1.0f / 1024.0f) + 1e-6f);
    __syncthreads();
  }
}

// ---------------------------------------------------------------- 12. segments
// Sum of each segment [off[b], off[b + 1]); the segments differ in length.
__global__ void segments_faulty(const float* __restrict__ v, const int* __restrict__ off, float* __restrict__ out) {
  __shared__ float part[8];
  float s = 0.0f;
  const int end = off[blockIdx.x + 1];
  for (int i = off[blockIdx.x] + threadIdx.x; i < end; i += 256) s += v[i];  // FAULT
  for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0.0f;
    for (int k = 0; k < 8; ++k) t += part[k];
    atomicAdd(&out[blockIdx.x], t);
  }
}

// As above, but long segments come as several pieces (piece -> segment, begin, end).
__global__ void segments_mended(const float* __restrict__ v, const int3* __restrict__ piece, float* __restrict__ out) {
  __shared__ float part[8];
  float s = 0.0f;
  const int3 p = piece[blockIdx.x];
  for (int i = p.y + threadIdx.x; i < p.z; i += 256) s += v[i];
  for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(0xffffffffu, s, d);
  if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    float t = 0.0f;
    for (int k = 0; k < 8; ++k) t += part[k];
    atomicAdd(&out[p.x], t);
  }
}

// ---------------------------------------------------------------- 13. twokinds
// Interleaved samples of two kinds (even, odd), each with its own iteration.
__device__ __forceinline__ float kind_root(float x) {
  const float h = 0.5f * (x + 0.5f);
  float v = 0.8f;
  for (int k = 0; k < 96; ++k) v = v * (1.5f - h * v * v);
  return v;
}

__device__ __forceinline__ float kind_decay(float x) {
  float v = x, u = 0.0f;
  for (int k = 0; k < 96; ++k) {
    u = u * 0.75f + v;
    v = v * 0.99f - u * 0.01f;
  }
  return u + v;
}

__global__ void twokinds_faulty(const float* __restrict__ in, float* __restrict__ out) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  const float x = in[i];
  float r;
  if (i & 1)            // FAULT
    r = kind_decay(x);  // FAULT
  else
    r = kind_root(x);  // FAULT
  out[i] = r;
}

__global__ void twokinds_mended(const float* __restrict__ in, float* __restrict__ out) {
  const int odd = threadIdx.x >> 7;
  const int i = blockIdx.x * 256 + (threadIdx.x & 127) * 2 + odd;
  const float x = in[i];
  float r;
  if (odd)
    r = kind_decay(x);
  else
    r = kind_root(x);
  out[i] = r;
}

// ---------------------------------------------------------------- 14. fir
// A 32-tap filter.
__global__ void fir_faulty(float* y, const float* x, const float* w, int n, int taps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = 0.0f;
  for (int k = 0; k < taps; ++k) {
    y[i] += w[k] * x[i + k];  // FAULT
  }
}

__global__ void fir_mended(float* __restrict__ y, const float* __restrict__ x, const float* __restrict__ w, int n,
                           int taps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float acc = 0.0f;
  for (int k = 0; k < taps; ++k) {
    acc += w[k] * x[i + k];
  }
  y[i] = acc;
}

// ---------------------------------------------------------------- set-up
__device__ __forceinline__ float hash01(size_t i, unsigned seed) {
  unsigned h = (unsigned)i * 2654435761u + seed * 40503u + 12345u;
  h ^= h >> 16;
  h *= 0x7feb352du;
  h ^= h >> 15;
  h *= 0x846ca68bu;
  h ^= h >> 16;
  return (float)(h >> 8) * (1.0f / 16777216.0f);
}

__global__ void setup_float(float* p, size_t n, float lo, float hi, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    p[i] = lo + (hi - lo) * hash01(i, seed);
}

__global__ void setup_half(__half* p, size_t n, float lo, float hi, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    p[i] = __float2half(lo + (hi - lo) * hash01(i, seed));
}

__global__ void setup_byte(uint8_t* p, size_t n, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    p[i] = (uint8_t)(hash01(i, seed) * 256.0f);
}

template <class T>
static T* room(size_t n) {
  void* p = nullptr;
  CHECK(cudaMalloc(&p, n * sizeof(T)));
  CHECK(cudaMemset(p, 0, n * sizeof(T)));
  return static_cast<T*>(p);
}

static float* floats(size_t n, float lo, float hi, unsigned seed) {
  float* p = room<float>(n);
  setup_float<<<1024, 256>>>(p, n, lo, hi, seed);
  return p;
}

static __half* halves(size_t n, float lo, float hi, unsigned seed) {
  __half* p = room<__half>(n);
  setup_half<<<1024, 256>>>(p, n, lo, hi, seed);
  return p;
}

static uint8_t* bytes(size_t n, unsigned seed) {
  uint8_t* p = room<uint8_t>(n);
  setup_byte<<<1024, 256>>>(p, n, seed);
  return p;
}

enum class Out { f32, f16, u32, particle };
static double g_seconds = 6.0;

// Launches once for a checksum, then in a loop for g_seconds. `clear` bytes of out are
// zeroed before each launch (for kernels that add into it).
template <class Launch>
static void drive(const std::string& what, Out kind, void* out, size_t count, size_t clear, Launch launch) {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const auto once = [&] {
    if (clear) CHECK(cudaMemsetAsync(out, 0, clear));
    launch();
  };
  once();
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const size_t some = count < (1u << 20) ? count : (size_t)(1u << 20);
  double sum = 0.0;
  if (kind == Out::f32) {
    std::vector<float> h(some);
    CHECK(cudaMemcpy(h.data(), out, some * sizeof(float), cudaMemcpyDeviceToHost));
    for (float v : h) sum += v;
  } else if (kind == Out::f16) {
    std::vector<__half> h(some);
    CHECK(cudaMemcpy(h.data(), out, some * sizeof(__half), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < some; ++i) sum += (double)__half2float(h[i]) * (double)(i % 97);
  } else if (kind == Out::u32) {
    std::vector<unsigned> h(some);
    CHECK(cudaMemcpy(h.data(), out, some * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < some; ++i) sum += (double)h[i] * (double)(i + 1);
  } else {
    std::vector<Particle> h(some);
    CHECK(cudaMemcpy(h.data(), out, some * sizeof(Particle), cudaMemcpyDeviceToHost));
    for (const Particle& p : h) sum += p.energy;
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto gone = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  long launches = 0;
  while (gone() < g_seconds) {
    for (int k = 0; k < 40; ++k) once();
    launches += 40;
    CHECK(cudaDeviceSynchronize());
  }
  std::printf("%s: %ld launches, %.1f us each, checksum %.6g\n", what.c_str(), launches,
              gone() / (double)launches * 1e6, sum);
}

static const char* kNames[] = {"colsum", "flip",    "energy", "bins",   "buckets",  "outer",    "vignette",
                               "relax",  "returns", "series", "rmsrow", "segments", "twokinds", "fir"};

int main(int argc, char** argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--list")) {
    for (const char* n : kNames) std::puts(n);
    return 0;
  }
  bool known = false;
  if (argc >= 3)
    for (const char* n : kNames) known = known || !std::strcmp(n, argv[1]);
  const bool bad = argc >= 3 && !std::strcmp(argv[2], "faulty");
  if (!known || (!bad && std::strcmp(argv[2], "mended"))) {
    std::fprintf(stderr, "usage: hold NAME faulty|mended [SECONDS] | hold --list\n");
    return 2;
  }
  const std::string name = argv[1], what = name + " " + argv[2];
  if (argc >= 4)
    g_seconds = std::atof(argv[3]);
  else if (const char* s = std::getenv("SECONDS_OF_WORK"))
    g_seconds = std::atof(s);

  if (name == "colsum") {
    const int rows = 8192, cols = 8192;
    float* a = floats((size_t)rows * cols, -1.0f, 1.0f, 1);
    float* out = room<float>(cols);
    drive(what, Out::f32, out, cols, 0, [&] {
      if (bad)
        colsum_faulty<<<cols / 32, 1024>>>(a, out, rows, cols);
      else
        colsum_mended<<<cols / 32, 1024>>>(a, out, rows, cols);
    });
  } else if (name == "flip") {
    const int n = 8192;
    __half* in = halves((size_t)n * n, -1.0f, 1.0f, 2);
    __half* out = room<__half>((size_t)n * n);
    const dim3 grid(n / 64, n / 64), block(32, 8);
    drive(what, Out::f16, out, (size_t)n * n, 0, [&] {
      if (bad)
        flip_faulty<<<grid, block>>>(in, out, n);
      else
        flip_mended<<<grid, block>>>(in, out, n);
    });
  } else if (name == "energy") {
    const int n = 1 << 25;
    float* speed = floats(n, 0.0f, 2.0f, 3);
    if (bad) {
      Particle* p = room<Particle>(n);
      drive(what, Out::particle, p, n, 0, [&] { energy_faulty<<<n / 256, 256>>>(speed, p, n); });
    } else {
      float* e = room<float>(n);
      drive(what, Out::f32, e, n, 0, [&] { energy_mended<<<n / 256, 256>>>(speed, e, n); });
    }
  } else if (name == "bins") {
    const int n = 1 << 22;
    float* v = floats(n, 0.0f, 1.0f, 4);
    unsigned* hist = room<unsigned>(16);
    drive(what, Out::u32, hist, 16, 16 * sizeof(unsigned), [&] {
      if (bad)
        bins_faulty<<<1056, 256>>>(v, hist, n);
      else
        bins_mended<<<1056, 256>>>(v, hist, n);
    });
  } else if (name == "buckets") {
    const int threads = 1 << 18, samples = 96;
    uint8_t* code = bytes((size_t)threads * samples, 5);
    float* val = floats((size_t)threads * samples, 0.0f, 1.0f, 6);
    float* out = room<float>(threads);
    drive(what, Out::f32, out, threads, 0, [&] {
      if (bad)
        buckets_faulty<<<threads / 128, 128>>>(code, val, out, threads, samples);
      else
        buckets_mended<<<threads / 128, 128>>>(code, val, out, threads, samples);
    });
  } else if (name == "outer") {
    const int n = 2048, depth = 512;
    float* a = floats((size_t)depth * n, -1.0f, 1.0f, 7);
    float* b = floats((size_t)depth * n, -1.0f, 1.0f, 8);
    float* c = room<float>((size_t)n * n);
    const dim3 grid(n / 128, n / 128);
    drive(what, Out::f32, c, (size_t)n * n, 0, [&] {
      if (bad)
        outer_faulty<<<grid, 256>>>(a, b, c, n, depth);
      else
        outer_mended<<<grid, 256>>>(a, b, c, n, depth);
    });
  } else if (name == "vignette") {
    const int w = 1024, h = 512, ch = 8, total = w * h * ch * 8;
    float* in = floats(total, 0.0f, 1.0f, 9);
    float* out = room<float>(total);
    float* gain = floats(ch, 0.5f, 1.5f, 10);
    float* fr = floats(h, 0.5f, 1.0f, 11);
    float* fc = floats(w, 0.5f, 1.0f, 12);
    drive(what, Out::f32, out, total, 0, [&] {
      if (bad)
        vignette_faulty<<<1056, 256>>>(in, out, gain, fr, fc, total, ch, h, w);
      else
        vignette_mended<<<dim3(w / 256, h, ch), 256>>>(in, out, gain, fr, fc, total, ch, h, w);
    });
  } else if (name == "relax") {
    const int n = 1 << 24;
    float* a = floats(n, 0.0f, 1.0f, 13);
    float* out = room<float>(n);
    drive(what, Out::f32, out, n, 0, [&] {
      if (bad)
        relax_faulty<<<n / 256, 256>>>(a, out, n);
      else
        relax_mended<<<n / 256, 256>>>(a, out, n);
    });
  } else if (name == "returns") {
    const int n = 1 << 20, steps = 64;
    __half* reward = halves((size_t)n * steps, 0.0f, 1.0f, 14);
    float* gamma = floats(n, 0.9f, 0.99f, 15);
    float* out = room<float>(n);
    drive(what, Out::f32, out, n, 0, [&] {
      if (bad)
        returns_faulty<<<n / 256, 256>>>(reward, gamma, out, n, steps);
      else
        returns_mended<<<n / 256, 256>>>(reward, gamma, out, n, steps);
    });
  } else if (name == "series") {
    const int blocks = 132, per = 192, n = blocks * 128 * per;
    std::vector<float> coef(kCoef);
    for (int k = 0; k < kCoef; ++k) coef[k] = 1.0f / (float)(k + 1);
    CHECK(cudaMemcpyToSymbol(c_series, coef.data(), sizeof(float) * kCoef));
    float* x = floats(n, -0.9f, 0.9f, 16);
    float* out = room<float>(n);
    drive(what, Out::f32, out, n, 0, [&] {
      if (bad)
        series_faulty<<<blocks, 128>>>(x, out, per);
      else
        series_mended<<<blocks, 128>>>(x, out, per);
    });
  } else if (name == "rmsrow") {
    const int rows = 1 << 15;
    float* in = floats((size_t)rows * 1024, -1.0f, 1.0f, 17);
    float* out = room<float>((size_t)rows * 1024);
    drive(what, Out::f32, out, (size_t)rows * 1024, 0, [&] {
      if (bad)
        rmsrow_faulty<<<264, 1024>>>(in, out, rows);
      else
        rmsrow_mended<<<264, 1024>>>(in, out, rows);
    });
  } else if (name == "segments") {
    const int segments = 4096, usual = 16384, giant = 1 << 21;
    std::vector<int> off(segments + 1);
    std::vector<int3> piece;
    for (int s = 0; s < segments; ++s) {
      const int len = s == segments - 7 ? giant : usual;
      off[s + 1] = off[s] + len;
      for (int b = off[s]; b < off[s + 1]; b += usual) piece.push_back(make_int3(s, b, b + usual));
    }
    float* v = floats(off[segments], 0.0f, 1.0f, 18);
    float* out = room<float>(segments);
    int* d_off = room<int>(segments + 1);
    int3* d_piece = room<int3>(piece.size());
    CHECK(cudaMemcpy(d_off, off.data(), off.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_piece, piece.data(), piece.size() * sizeof(int3), cudaMemcpyHostToDevice));
    drive(what, Out::f32, out, segments, segments * sizeof(float), [&] {
      if (bad)
        segments_faulty<<<segments, 256>>>(v, d_off, out);
      else
        segments_mended<<<(unsigned)piece.size(), 256>>>(v, d_piece, out);
    });
  } else if (name == "twokinds") {
    const int n = 1 << 24;
    float* in = floats(n, 0.0f, 1.0f, 19);
    float* out = room<float>(n);
    drive(what, Out::f32, out, n, 0, [&] {
      if (bad)
        twokinds_faulty<<<n / 256, 256>>>(in, out);
      else
        twokinds_mended<<<n / 256, 256>>>(in, out);
    });
  } else {
    const int n = 1 << 24, taps = 32;
    float* x = floats((size_t)n + taps, -1.0f, 1.0f, 20);
    float* w = floats(taps, -0.1f, 0.1f, 21);
    float* y = room<float>(n);
    drive(what, Out::f32, y, n, 0, [&] {
      if (bad)
        fir_faulty<<<n / 256, 256>>>(y, x, w, n, taps);
      else
        fir_mended<<<n / 256, 256>>>(y, x, w, n, taps);
    });
  }
  return 0;
}
