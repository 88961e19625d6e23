// Pairs of kernels that the rules were not made with: one with a fault at a known line, one without it. `planted_third
// NAME faulty|mended SECONDS` runs one of them in a loop; `planted_third --list` names them. Lines with the fault end
// with "// FAULT".
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

// ---- csr_product: y = A x, A sparse in CSR form

constexpr int kRows = 1 << 18;
constexpr int kPerRow = 64;

__global__ void csr_product_faulty(const int* __restrict__ start, const int* __restrict__ column,
                                   const float* __restrict__ value, const float* __restrict__ x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= kRows) return;
  const int end = start[row + 1];
  float sum = 0;
  for (int j = start[row]; j < end; ++j) {
    sum += value[j] * x[column[j]];  // FAULT
  }
  y[row] = sum;
}

__global__ void csr_product_mended(const int* __restrict__ start, const int* __restrict__ column,
                                   const float* __restrict__ value, const float* __restrict__ x, float* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= kRows) return;
  const int end = start[row + 1];
  float sum = 0;
  for (int j = start[row] + lane; j < end; j += 32) {
    sum += value[j] * x[column[j]];
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) y[row] = sum;
}

// ---- patches: im2col of 3x3 neighbourhoods

constexpr int kImages = 8;
constexpr int kImageSide = 1024;
constexpr int kPixels = kImages * kImageSide * kImageSide;

__global__ void patches_faulty(const float* __restrict__ image, float* __restrict__ out) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = pixel % kImageSide, y = pixel / kImageSide % kImageSide;
  const float* plane = image + pixel / (kImageSide * kImageSide) * (kImageSide * kImageSide);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const int from_x = min(max(x + k % 3 - 1, 0), kImageSide - 1);
    const int from_y = min(max(y + k / 3 - 1, 0), kImageSide - 1);
    const float seen = plane[from_y * kImageSide + from_x];
    out[pixel * 9 + k] = seen;  // FAULT
  }
}

__global__ void patches_mended(const float* __restrict__ image, float* __restrict__ out) {
  const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = pixel % kImageSide, y = pixel / kImageSide % kImageSide;
  const float* plane = image + pixel / (kImageSide * kImageSide) * (kImageSide * kImageSide);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    const int from_x = min(max(x + k % 3 - 1, 0), kImageSide - 1);
    const int from_y = min(max(y + k / 3 - 1, 0), kImageSide - 1);
    const float seen = plane[from_y * kImageSide + from_x];
    out[k * kPixels + pixel] = seen;
  }
}

// ---- cosine_tile: all inner products of the rows of two matrices, by tiles in shared memory

constexpr int kVectors = 1024;
constexpr int kLength = 512;

__global__ void cosine_tile_faulty(const float* __restrict__ left, const float* __restrict__ right, float* out) {
  __shared__ float ls[32][32];
  __shared__ float rs[32][32];  // FAULT
  const int tx = threadIdx.x, ty = threadIdx.y;
  float sum[4] = {0, 0, 0, 0};
  for (int k = 0; k < kLength; k += 32) {
    for (int r = ty; r < 32; r += 8) {
      ls[r][tx] = left[(blockIdx.y * 32 + r) * kLength + k + tx];
      rs[r][tx] = right[(blockIdx.x * 32 + r) * kLength + k + tx];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      const float b = rs[tx][j];  // FAULT
#pragma unroll
      for (int r = 0; r < 4; ++r) sum[r] += ls[ty + 8 * r][j] * b;
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) out[(blockIdx.y * 32 + ty + 8 * r) * kVectors + blockIdx.x * 32 + tx] = sum[r];
}

__global__ void cosine_tile_mended(const float* __restrict__ left, const float* __restrict__ right, float* out) {
  __shared__ float ls[32][32];
  __shared__ float rs[32][33];
  const int tx = threadIdx.x, ty = threadIdx.y;
  float sum[4] = {0, 0, 0, 0};
  for (int k = 0; k < kLength; k += 32) {
    for (int r = ty; r < 32; r += 8) {
      ls[r][tx] = left[(blockIdx.y * 32 + r) * kLength + k + tx];
      rs[r][tx] = right[(blockIdx.x * 32 + r) * kLength + k + tx];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      const float b = rs[tx][j];
#pragma unroll
      for (int r = 0; r < 4; ++r) sum[r] += ls[ty + 8 * r][j] * b;
    }
    __syncthreads();
  }
  for (int r = 0; r < 4; ++r) out[(blockIdx.y * 32 + ty + 8 * r) * kVectors + blockIdx.x * 32 + tx] = sum[r];
}

// ---- correlation: C = A^T B over samples, 8 x 8 sums per thread

constexpr int kChannels = 2048;
constexpr int kSamples = 512;

__global__ void __launch_bounds__(256, 5)  // FAULT
    correlation_faulty(const float* __restrict__ left, const float* __restrict__ right, float* __restrict__ out) {
  __shared__ float ls[8][128], rs[8][128];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row = blockIdx.y * 128, column = blockIdx.x * 128;
  const int sample = threadIdx.x / 32, offset = threadIdx.x % 32 * 4;
  float sum[8][8] = {};
  for (int k = 0; k < kSamples; k += 8) {
    *reinterpret_cast<float4*>(&ls[sample][offset]) =
        *reinterpret_cast<const float4*>(&left[(k + sample) * kChannels + row + offset]);
    *reinterpret_cast<float4*>(&rs[sample][offset]) =
        *reinterpret_cast<const float4*>(&right[(k + sample) * kChannels + column + offset]);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float a[8], b[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        a[i] = ls[j][i / 4 * 64 + ty * 4 + i % 4];  // FAULT
        b[i] = rs[j][i / 4 * 64 + tx * 4 + i % 4];  // FAULT
      }
#pragma unroll
      for (int i = 0; i < 64; ++i) sum[i / 8][i % 8] = fmaf(a[i / 8], b[i % 8], sum[i / 8][i % 8]);  // FAULT
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    const int y = i / 8 / 4 * 64 + ty * 4 + i / 8 % 4, x = i % 8 / 4 * 64 + tx * 4 + i % 4;
    out[(row + y) * kChannels + column + x] = sum[i / 8][i % 8];
  }
}

__global__ void __launch_bounds__(256, 2)
    correlation_mended(const float* __restrict__ left, const float* __restrict__ right, float* __restrict__ out) {
  __shared__ float ls[8][128], rs[8][128];
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int row = blockIdx.y * 128, column = blockIdx.x * 128;
  const int sample = threadIdx.x / 32, offset = threadIdx.x % 32 * 4;
  float sum[8][8] = {};
  for (int k = 0; k < kSamples; k += 8) {
    *reinterpret_cast<float4*>(&ls[sample][offset]) =
        *reinterpret_cast<const float4*>(&left[(k + sample) * kChannels + row + offset]);
    *reinterpret_cast<float4*>(&rs[sample][offset]) =
        *reinterpret_cast<const float4*>(&right[(k + sample) * kChannels + column + offset]);
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      float a[8], b[8];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        a[i] = ls[j][i / 4 * 64 + ty * 4 + i % 4];
        b[i] = rs[j][i / 4 * 64 + tx * 4 + i % 4];
      }
#pragma unroll
      for (int i = 0; i < 64; ++i) sum[i / 8][i % 8] = fmaf(a[i / 8], b[i % 8], sum[i / 8][i % 8]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 64; ++i) {
    const int y = i / 8 / 4 * 64 + ty * 4 + i / 8 % 4, x = i % 8 / 4 * 64 + tx * 4 + i % 4;
    out[(row + y) * kChannels + column + x] = sum[i / 8][i % 8];
  }
}

// ---- tariffs: what each customer pays, by one of four rules

constexpr int kCustomers = 1 << 22;
constexpr int kMonths = 128;

__global__ void tariffs_faulty(const int* __restrict__ rule, const float* __restrict__ use, float* bill) {
  const int customer = blockIdx.x * blockDim.x + threadIdx.x;
  const float used = use[customer];
  float x = used;
  switch (rule[customer]) {  // FAULT
    case 0:
      for (int m = 0; m < kMonths; ++m) x = fmaf(x, 0.997f, 0.01f * used);  // FAULT
      break;
    case 1:
      for (int m = 0; m < kMonths; ++m) x = x - (x * x - used) * 0.05f;  // FAULT
      break;
    case 2: {
      unsigned draw = __float_as_uint(used);
      for (int m = 0; m < kMonths; ++m) draw = (draw ^ (draw >> 13)) * 1664525u + 1013904223u;  // FAULT
      x = draw * 2.3283064e-10f;
      break;
    }
    default:
      for (int m = 0; m < kMonths; ++m) x = 3.7f * x * (1.0f - x);  // FAULT
  }
  bill[customer] = x;
}

__global__ void tariffs_mended(const int* __restrict__ rule, const float* __restrict__ use, float* bill) {
  // The customers' rules repeat with period 4, so each warp takes every fourth customer of its block's 128.
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int customer = (i & ~127) + (i & 31) * 4 + ((i >> 5) & 3);
  const float used = use[customer];
  float x = used;
  switch (rule[customer]) {
    case 0:
      for (int m = 0; m < kMonths; ++m) x = fmaf(x, 0.997f, 0.01f * used);
      break;
    case 1:
      for (int m = 0; m < kMonths; ++m) x = x - (x * x - used) * 0.05f;
      break;
    case 2: {
      unsigned draw = __float_as_uint(used);
      for (int m = 0; m < kMonths; ++m) draw = (draw ^ (draw >> 13)) * 1664525u + 1013904223u;
      x = draw * 2.3283064e-10f;
      break;
    }
    default:
      for (int m = 0; m < kMonths; ++m) x = 3.7f * x * (1.0f - x);
  }
  bill[customer] = x;
}

// ---- compensated: Kahan sums of a weighted signal, a weight per thread

constexpr int kSignal = 32768;
constexpr int kPart = 8192;

__global__ void compensated_faulty(const float* __restrict__ signal, const float* __restrict__ weight, float* out) {
  __shared__ float part[kPart];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float w = weight[i];
  float sum = 0, lost = 0;
  for (int base = 0; base < kSignal; base += kPart) {
    __syncthreads();
    for (int j = threadIdx.x; j < kPart; j += blockDim.x) part[j] = signal[base + j];
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < kPart; ++j) {
      const float term = fmaf(part[j], w, -lost);  // FAULT
      const float next = sum + term;               // FAULT
      lost = (next - sum) - term;                  // FAULT
      sum = next;
    }
  }
  out[i] = sum;
}

__global__ void compensated_mended(const float* __restrict__ signal, const float* __restrict__ weight, float* out) {
  __shared__ float part[kPart];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float w = weight[i];
  float sum[4] = {0, 0, 0, 0}, lost[4] = {0, 0, 0, 0};
  for (int base = 0; base < kSignal; base += kPart) {
    __syncthreads();
    for (int j = threadIdx.x; j < kPart; j += blockDim.x) part[j] = signal[base + j];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < kPart; j += 4) {
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const float term = fmaf(part[j + s], w, -lost[s]);
        const float next = sum[s] + term;
        lost[s] = (next - sum[s]) - term;
        sum[s] = next;
      }
    }
  }
  out[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// ---- centroid_sums: how many points, and how much of x, fall to each of eight centres

constexpr int kPoints = 1 << 24;
constexpr int kCentres = 8;

__global__ void centroid_sums_faulty(const int2* __restrict__ point, const int2* __restrict__ centre, unsigned* total) {
  int2 middle[kCentres];
#pragma unroll
  for (int c = 0; c < kCentres; ++c) middle[c] = centre[c];
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kPoints; i += stride) {
    const int2 p = point[i];
    if (p.x & 7) continue;  // an eighth of the points is in the foreground
    int nearest = 0, least = 1 << 30;
#pragma unroll
    for (int c = 0; c < kCentres; ++c) {
      const int distance = abs(p.x - middle[c].x) + abs(p.y - middle[c].y);
      if (distance < least) nearest = c, least = distance;
    }
    atomicAdd(&total[nearest * 2], 1u);       // FAULT
    atomicAdd(&total[nearest * 2 + 1], p.x);  // FAULT
  }
}

__global__ void centroid_sums_mended(const int2* __restrict__ point, const int2* __restrict__ centre, unsigned* total) {
  __shared__ unsigned part[8][kCentres * 2];  // one copy for each warp
  unsigned* mine = part[threadIdx.x / 32];
  if (threadIdx.x < 8 * kCentres * 2) part[threadIdx.x / (kCentres * 2)][threadIdx.x % (kCentres * 2)] = 0;
  __syncthreads();
  int2 middle[kCentres];
#pragma unroll
  for (int c = 0; c < kCentres; ++c) middle[c] = centre[c];
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kPoints; i += stride) {
    const int2 p = point[i];
    if (p.x & 7) continue;
    int nearest = 0, least = 1 << 30;
#pragma unroll
    for (int c = 0; c < kCentres; ++c) {
      const int distance = abs(p.x - middle[c].x) + abs(p.y - middle[c].y);
      if (distance < least) nearest = c, least = distance;
    }
    atomicAdd(&mine[nearest * 2], 1u);
    atomicAdd(&mine[nearest * 2 + 1], p.x);
  }
  __syncthreads();
  if (threadIdx.x < kCentres * 2) {
    unsigned sum = 0;
    for (int w = 0; w < 8; ++w) sum += part[w][threadIdx.x];
    atomicAdd(&total[threadIdx.x], sum);
  }
}

// ---- nearest15: the distance to the fifteenth nearest neighbour

constexpr int kQueries = 1 << 17;
constexpr int kNeighbours = 1024;
constexpr int kKept = 15;

__global__ void nearest15_faulty(const float2* __restrict__ query, const float2* __restrict__ other, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 q = query[i];
  float heap[kKept];  // FAULT
  for (int k = 0; k < kKept; ++k) heap[k] = 1e30f;
  for (int j = 0; j < kNeighbours; ++j) {
    const float dx = other[j].x - q.x, dy = other[j].y - q.y;
    const float distance = dx * dx + dy * dy;
    if (distance >= heap[0]) continue;  // FAULT
    int at = 0;
    for (int child = 1; child < kKept; child = 2 * at + 1) {
      if (heap[child + 1] > heap[child]) ++child;  // FAULT
      if (heap[child] <= distance) break;          // FAULT
      heap[at] = heap[child];                      // FAULT
      at = child;
    }
    heap[at] = distance;  // FAULT
  }
  out[i] = heap[0];
}

__global__ void nearest15_mended(const float2* __restrict__ query, const float2* __restrict__ other, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 q = query[i];
  float best[kKept];
#pragma unroll
  for (int k = 0; k < kKept; ++k) best[k] = 1e30f;
  for (int j = 0; j < kNeighbours; ++j) {
    const float dx = other[j].x - q.x, dy = other[j].y - q.y;
    float distance = dx * dx + dy * dy;
    if (distance >= best[kKept - 1]) continue;
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      const float nearer = fminf(best[k], distance);
      distance = fmaxf(best[k], distance);
      best[k] = nearer;
    }
  }
  out[i] = best[kKept - 1];
}

// ---- rabin_karp: the hash of each window of 64 letters

constexpr int kText = 1 << 21;
constexpr int kWindow = 64;

__global__ void rabin_karp_faulty(const unsigned char* __restrict__ text, unsigned long long modulus, unsigned* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long hash = 0;
  for (int k = 0; k < kWindow; ++k) {
    hash = (hash * 257 + text[i + k]) % modulus;  // FAULT
  }
  out[i] = static_cast<unsigned>(hash);
}

__global__ void rabin_karp_mended(const unsigned char* __restrict__ text, unsigned long long, unsigned* out) {
  constexpr unsigned long long kPrime = (1ull << 31) - 1;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned long long hash = 0;
  for (int k = 0; k < kWindow; ++k) {
    const unsigned long long wide = hash * 257 + text[i + k];
    hash = (wide & kPrime) + (wide >> 31);  // the remainder of a Mersenne prime, but for one subtraction
  }
  out[i] = static_cast<unsigned>(hash >= kPrime ? hash - kPrime : hash);
}

// ---- qmatvec: a matrix of 8-bit numbers times four vectors, a warp per row

constexpr int kOutputs = 16384;
constexpr int kInputs = 8192;

__global__ void qmatvec_faulty(const signed char* __restrict__ matrix, const signed char* __restrict__ x, int* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const signed char* from = matrix + static_cast<size_t>(row) * kInputs;
  int sum[4] = {0, 0, 0, 0};
  for (int k = lane; k < kInputs; k += 32) {
    const int weight = from[k];  // FAULT
#pragma unroll
    for (int v = 0; v < 4; ++v) sum[v] += weight * x[v * kInputs + k];  // FAULT
  }
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    for (int step = 16; step > 0; step /= 2) sum[v] += __shfl_xor_sync(~0u, sum[v], step);
    if (lane == 0) y[v * kOutputs + row] = sum[v];
  }
}

__global__ void qmatvec_mended(const signed char* __restrict__ matrix, const signed char* __restrict__ x, int* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  const int4* from = reinterpret_cast<const int4*>(matrix + static_cast<size_t>(row) * kInputs);
  int sum[4] = {0, 0, 0, 0};
#pragma unroll 4
  for (int k = lane; k < kInputs / 16; k += 32) {
    const int4 weight = from[k];
#pragma unroll
    for (int v = 0; v < 4; ++v) {
      const int4 input = reinterpret_cast<const int4*>(x + v * kInputs)[k];
      sum[v] = __dp4a(weight.x, input.x, sum[v]);
      sum[v] = __dp4a(weight.y, input.y, sum[v]);
      sum[v] = __dp4a(weight.z, input.z, sum[v]);
      sum[v] = __dp4a(weight.w, input.w, sum[v]);
    }
  }
#pragma unroll
  for (int v = 0; v < 4; ++v) {
    for (int step = 16; step > 0; step /= 2) sum[v] += __shfl_xor_sync(~0u, sum[v], step);
    if (lane == 0) y[v * kOutputs + row] = sum[v];
  }
}

// ---- gravity: the pull on each body, by tiles of bodies in shared memory

constexpr int kBodies = 132 * 256;
constexpr int kHeavy = kBodies / 2;  // bodies whose pull counts

__global__ void gravity_faulty(const float4* __restrict__ body, float4* pull) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 me = body[i];
  float ax = 0, ay = 0, az = 0;
  for (int base = 0; base < kHeavy; base += 128) {
    tile[threadIdx.x] = body[base + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 128; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3);    // FAULT
      const float strength = 0.5 * other.w * inverse * inverse * inverse;  // FAULT
      ax += dx * strength;
      ay += dy * strength;
      az += dz * strength;
    }
    __syncthreads();
  }
  pull[i] = make_float4(ax, ay, az, 0);
}

__global__ void gravity_mended(const float4* __restrict__ body, float4* pull) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 me = body[i];
  float ax = 0, ay = 0, az = 0;
  for (int base = 0; base < kHeavy; base += 128) {
    tile[threadIdx.x] = body[base + threadIdx.x];
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 128; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
      const float strength = 0.5f * other.w * inverse * inverse * inverse;
      ax += dx * strength;
      ay += dy * strength;
      az += dz * strength;
    }
    __syncthreads();
  }
  pull[i] = make_float4(ax, ay, az, 0);
}

// ---- running_total: the inclusive scan of each row of 1024

constexpr int kScanRows = 1 << 14;

__global__ void __launch_bounds__(1024) running_total_faulty(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float sums[1024];
  const int t = threadIdx.x;
  sums[t] = in[blockIdx.x * 1024 + t];
  __syncthreads();
  for (int reach = 1; reach < 1024; reach *= 2) {
    const float before = t >= reach ? sums[t - reach] : 0.0f;
    __syncthreads();  // FAULT
    sums[t] += before;
    __syncthreads();  // FAULT
  }
  out[blockIdx.x * 1024 + t] = sums[t];
}

__global__ void __launch_bounds__(1024) running_total_mended(const float* __restrict__ in, float* __restrict__ out) {
  __shared__ float sums[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  float value = in[blockIdx.x * 1024 + t];
#pragma unroll
  for (int reach = 1; reach < 32; reach *= 2) {
    const float before = __shfl_up_sync(~0u, value, reach);
    if (lane >= reach) value += before;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  float earlier = lane < warp ? sums[lane] : 0.0f;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) earlier += __shfl_xor_sync(~0u, earlier, step);
  out[blockIdx.x * 1024 + t] = value + earlier;
}

// ---- equalize: clipped histogram equalisation of each tile of 32 x 32 pixels

constexpr int kPhotoSide = 8192;
constexpr unsigned kClip = 40;

__global__ void equalize_faulty(const uchar4* __restrict__ photo, uchar4* __restrict__ out) {
  __shared__ unsigned bins[256], upto[256];
  const int t = threadIdx.x;
  const int at = (blockIdx.y * 32 + t / 8) * (kPhotoSide / 4) + blockIdx.x * 8 + t % 8;
  bins[t] = 0;
  __syncthreads();
  const uchar4 p = photo[at];
  atomicAdd(&bins[p.x], 1u);
  atomicAdd(&bins[p.y], 1u);
  atomicAdd(&bins[p.z], 1u);
  atomicAdd(&bins[p.w], 1u);
  __syncthreads();
  if (t == 0) {  // FAULT
    unsigned total = 0;
    for (int b = 0; b < 256; ++b) {
      total += min(bins[b], kClip);  // FAULT
      upto[b] = total;               // FAULT
    }
  }
  __syncthreads();  // FAULT
  const unsigned whole = upto[255];
  const float scale = 255.0f / whole;
  out[at] = make_uchar4(upto[p.x] * scale, upto[p.y] * scale, upto[p.z] * scale, upto[p.w] * scale);
}

__global__ void equalize_mended(const uchar4* __restrict__ photo, uchar4* __restrict__ out) {
  __shared__ unsigned bins[256], upto[256], sums[8];
  const int t = threadIdx.x, lane = t % 32;
  const int at = (blockIdx.y * 32 + t / 8) * (kPhotoSide / 4) + blockIdx.x * 8 + t % 8;
  bins[t] = 0;
  __syncthreads();
  const uchar4 p = photo[at];
  atomicAdd(&bins[p.x], 1u);
  atomicAdd(&bins[p.y], 1u);
  atomicAdd(&bins[p.z], 1u);
  atomicAdd(&bins[p.w], 1u);
  __syncthreads();
  unsigned total = min(bins[t], kClip);
#pragma unroll
  for (int reach = 1; reach < 32; reach *= 2) {
    const unsigned before = __shfl_up_sync(~0u, total, reach);
    if (lane >= reach) total += before;
  }
  if (lane == 31) sums[t / 32] = total;
  __syncthreads();
  for (int w = 0; w < t / 32; ++w) total += sums[w];
  upto[t] = total;
  __syncthreads();
  const unsigned whole = upto[255];
  const float scale = 255.0f / whole;
  out[at] = make_uchar4(upto[p.x] * scale, upto[p.y] * scale, upto[p.z] * scale, upto[p.w] * scale);
}

// ---- codebook: 8-bit codes to numbers

constexpr int kCodes = 1 << 25;
__constant__ float the_codebook[256];

__global__ void codebook_faulty(const uchar4* __restrict__ code, const float* __restrict__, float4* __restrict__ out) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCodes / 4; i += stride) {
    const uchar4 c = code[i];
    float4 value;
    value.x = the_codebook[c.x];  // FAULT
    value.y = the_codebook[c.y];  // FAULT
    value.z = the_codebook[c.z];  // FAULT
    value.w = the_codebook[c.w];  // FAULT
    out[i] = value;
  }
}

__global__ void codebook_mended(const uchar4* __restrict__ code, const float* __restrict__ book,
                                float4* __restrict__ out) {
  __shared__ float values[256];
  values[threadIdx.x] = book[threadIdx.x];
  __syncthreads();
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < kCodes / 4; i += stride) {
    const uchar4 c = code[i];
    float4 value;
    value.x = values[c.x];
    value.y = values[c.y];
    value.z = values[c.z];
    value.w = values[c.w];
    out[i] = value;
  }
}

// ---- the host's side

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "planted_third: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

unsigned draw() {
  static unsigned state = 12345;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}
float draw_float() { return (draw() >> 8) * (1.0f / (1 << 24)); }

template <typename T>
T* empty(size_t count) {
  void* to = nullptr;
  check(cudaMalloc(&to, count * sizeof(T)));
  check(cudaMemset(to, 0, count * sizeof(T)));
  return static_cast<T*>(to);
}

template <typename T, typename Make>
T* filled(size_t count, Make make) {
  std::vector<T> host(count);
  for (size_t i = 0; i < count; ++i) host[i] = make(i);
  T* to = empty<T>(count);
  check(cudaMemcpy(to, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  return to;
}

float* floats(size_t count) {
  return filled<float>(count, [](size_t) { return draw_float(); });
}
unsigned char* bytes(size_t count) {
  return filled<unsigned char>(count, [](size_t) { return static_cast<unsigned char>(draw() >> 11); });
}

/// Launches one of the twins.
using Launch = std::function<void(bool)>;

Launch csr_product() {
  int* start = filled<int>(kRows + 1, [](size_t i) { return static_cast<int>(i) * kPerRow; });
  int* column = filled<int>(static_cast<size_t>(kRows) * kPerRow,
                            [](size_t i) { return static_cast<int>((i / kPerRow + i % kPerRow) % kRows); });
  float *value = floats(static_cast<size_t>(kRows) * kPerRow), *x = floats(kRows), *y = empty<float>(kRows);
  return [=](bool faulty) {
    if (faulty)
      csr_product_faulty<<<kRows / 256, 256>>>(start, column, value, x, y);
    else
      csr_product_mended<<<kRows / 8, 256>>>(start, column, value, x, y);
  };
}

Launch patches() {
  float *image = floats(kPixels), *out = empty<float>(static_cast<size_t>(kPixels) * 9);
  return [=](bool faulty) { (faulty ? patches_faulty : patches_mended)<<<kPixels / 256, 256>>>(image, out); };
}

Launch cosine_tile() {
  float *left = floats(kVectors * kLength), *right = floats(kVectors * kLength);
  float* out = empty<float>(kVectors * kVectors);
  return [=](bool faulty) {
    (faulty ? cosine_tile_faulty : cosine_tile_mended)<<<dim3(kVectors / 32, kVectors / 32), dim3(32, 8)>>>(left, right,
                                                                                                            out);
  };
}

Launch correlation() {
  float *left = floats(kChannels * kSamples), *right = floats(kChannels * kSamples);
  float* out = empty<float>(kChannels * kChannels);
  return [=](bool faulty) {
    (faulty ? correlation_faulty : correlation_mended)<<<dim3(kChannels / 128, kChannels / 128), 256>>>(left, right,
                                                                                                        out);
  };
}

Launch tariffs() {
  int* rule = filled<int>(kCustomers, [](size_t i) { return static_cast<int>(i % 4); });
  float *use = floats(kCustomers), *bill = empty<float>(kCustomers);
  return [=](bool faulty) { (faulty ? tariffs_faulty : tariffs_mended)<<<kCustomers / 256, 256>>>(rule, use, bill); };
}

Launch compensated() {
  float *signal = floats(kSignal), *weight = floats(132 * 128), *out = empty<float>(132 * 128);
  return [=](bool faulty) { (faulty ? compensated_faulty : compensated_mended)<<<132, 128>>>(signal, weight, out); };
}

Launch centroid_sums() {
  const auto place = [](size_t) { return make_int2(draw() >> 16, draw() >> 16); };
  int2 *point = filled<int2>(kPoints, place), *centre = filled<int2>(kCentres, place);
  unsigned* total = empty<unsigned>(kCentres * 2);
  return [=](bool faulty) {
    (faulty ? centroid_sums_faulty : centroid_sums_mended)<<<132 * 8, 256>>>(point, centre, total);
  };
}

Launch nearest15() {
  const auto place = [](size_t) { return make_float2(draw_float(), draw_float()); };
  float2 *query = filled<float2>(kQueries, place), *other = filled<float2>(kNeighbours, place);
  float* out = empty<float>(kQueries);
  return
      [=](bool faulty) { (faulty ? nearest15_faulty : nearest15_mended)<<<kQueries / 128, 128>>>(query, other, out); };
}

Launch rabin_karp() {
  unsigned char* text = bytes(kText + kWindow);
  unsigned* out = empty<unsigned>(kText);
  return [=](bool faulty) {
    (faulty ? rabin_karp_faulty : rabin_karp_mended)<<<kText / 256, 256>>>(text, (1ull << 31) - 1, out);
  };
}

Launch qmatvec() {
  const auto number = [](size_t) { return static_cast<signed char>(draw() >> 9); };
  signed char* matrix = filled<signed char>(static_cast<size_t>(kOutputs) * kInputs, number);
  signed char* x = filled<signed char>(4 * kInputs, number);
  int* y = empty<int>(4 * kOutputs);
  return [=](bool faulty) { (faulty ? qmatvec_faulty : qmatvec_mended)<<<kOutputs / 8, 256>>>(matrix, x, y); };
}

Launch gravity() {
  float4* body = filled<float4>(
      kBodies, [](size_t) { return make_float4(draw_float(), draw_float(), draw_float(), draw_float()); });
  float4* pull = empty<float4>(kBodies);
  return [=](bool faulty) { (faulty ? gravity_faulty : gravity_mended)<<<kBodies / 128, 128>>>(body, pull); };
}

Launch running_total() {
  float *in = floats(kScanRows * 1024), *out = empty<float>(kScanRows * 1024);
  return [=](bool faulty) { (faulty ? running_total_faulty : running_total_mended)<<<kScanRows, 1024>>>(in, out); };
}

Launch equalize() {
  unsigned char* photo = bytes(static_cast<size_t>(kPhotoSide) * kPhotoSide);
  unsigned char* out = empty<unsigned char>(static_cast<size_t>(kPhotoSide) * kPhotoSide);
  return [=](bool faulty) {
    (faulty ? equalize_faulty : equalize_mended)<<<dim3(kPhotoSide / 32, kPhotoSide / 32), 256>>>(
        reinterpret_cast<uchar4*>(photo), reinterpret_cast<uchar4*>(out));
  };
}

Launch codebook() {
  std::vector<float> host(256);
  for (float& one : host) one = draw_float();
  check(cudaMemcpyToSymbol(the_codebook, host.data(), 256 * sizeof(float)));
  float* book = filled<float>(256, [&](size_t i) { return host[i]; });
  unsigned char* code = bytes(kCodes);
  float* out = empty<float>(kCodes);
  return [=](bool faulty) {
    (faulty ? codebook_faulty : codebook_mended)<<<132 * 8, 256>>>(reinterpret_cast<uchar4*>(code), book,
                                                                   reinterpret_cast<float4*>(out));
  };
}

struct Held {
  const char* name;
  Launch (*prepare)();
};

constexpr Held kHeld[] = {
    {"csr_product", csr_product},
    {"patches", patches},
    {"cosine_tile", cosine_tile},
    {"correlation", correlation},
    {"tariffs", tariffs},
    {"compensated", compensated},
    {"centroid_sums", centroid_sums},
    {"nearest15", nearest15},
    {"rabin_karp", rabin_karp},
    {"qmatvec", qmatvec},
    {"gravity", gravity},
    {"running_total", running_total},
    {"equalize", equalize},
    {"codebook", codebook},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Held& one : kHeld) std::puts(one.name);
    return 0;
  }
  if (argc != 4) {
    std::fprintf(stderr, "usage: planted_third NAME faulty|mended SECONDS, or planted_third --list\n");
    return 2;
  }
  for (const Held& one : kHeld) {
    if (std::strcmp(one.name, argv[1]) != 0) continue;
    const bool faulty = std::strcmp(argv[2], "faulty") == 0;
    const Launch launch = one.prepare();
    using Clock = std::chrono::steady_clock;
    launch(faulty);
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration<double>(std::atof(argv[3]));
    long launches = 0;
    while (Clock::now() < end) {
      for (int i = 0; i < 20; ++i) launch(faulty);
      check(cudaDeviceSynchronize());
      launches += 20;
    }
    check(cudaGetLastError());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("%s %s: %.3f us per launch\n", one.name, argv[2], seconds / launches * 1e6);
    return 0;
  }
  std::fprintf(stderr, "planted_third: no kernel is named %s\n", argv[1]);
  return 2;
}
