// Pairs of kernels: one with a fault at a known line, one without it. `planted NAME faulty|mended SECONDS` runs one of
// them in a loop; `planted --list` names them. The line with the fault ends with "// FAULT".
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kSide = 4096;            // of matrices
constexpr int kCount = kSide * kSide;  // elements of vectors
constexpr int kThreads = 256;
constexpr int kBlocks = kCount / kThreads;

struct Data {
  float *a, *b, *c;      // kCount elements each
  int* index;            // a permutation of kCount
  int* chain;            // a cycle over 2^20 elements, 32 bytes apart or more
  unsigned* bins;        // 2^20
  unsigned char* bytes;  // kCount
  double* d;             // kCount / 2
};

// ---- memory

__global__ void load_by_column_faulty(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[y * kSide + x] = 2 * in[x * kSide + y];  // FAULT
}
__global__ void load_by_column_mended(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  out[y * kSide + x] = 2 * in[y * kSide + x];
}

__global__ void store_by_column_faulty(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const float value = 2 * in[y * kSide + x];
  out[x * kSide + y] = value;  // FAULT
}
__global__ void store_by_column_mended(const float* in, float* out) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const float value = 2 * in[y * kSide + x];
  out[y * kSide + x] = value;
}

/// One field of eight of each struct.
__global__ void structs_faulty(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = 2 * in[i * 8];  // FAULT
}
__global__ void structs_mended(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = 2 * in[i];
}

__global__ void gather_faulty(const float* in, const int* index, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int at = index[i];
  out[i] = 2 * in[at];  // FAULT
}
__global__ void gather_mended(const float* in, const int* index, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const int at = index[i];
  out[i] = 2 * in[i] + (at < 0);
}

__global__ void chase_faulty(const int* chain, float* out) {
  int at = (blockIdx.x * blockDim.x + threadIdx.x) * 97;
  for (int i = 0; i < 64; ++i) {
    at = chain[at & ((1 << 23) - 1)];  // FAULT
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
__global__ void chase_mended(const int* chain, float* out) {
  const int begin = blockIdx.x * blockDim.x + threadIdx.x;
  int sum = 0;
#pragma unroll 16
  for (int i = 0; i < 64; ++i) {
    sum += chain[(begin + i * 132 * 128) & ((1 << 23) - 1)];
  }
  out[begin] = sum;
}

__global__ void bytes_faulty(const unsigned char* in, unsigned char* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  out[i] = in[i] ^ 0x55;  // FAULT
}
__global__ void bytes_mended(const unsigned char* in, unsigned char* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= kCount / 16) return;
  uint4 v = reinterpret_cast<const uint4*>(in)[i];
  v.x ^= 0x55555555, v.y ^= 0x55555555, v.z ^= 0x55555555, v.w ^= 0x55555555;
  reinterpret_cast<uint4*>(out)[i] = v;
}

__global__ void few_in_flight_faulty(const float* in, float* out) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step < kCount / (132 * 128); ++step) {
    sum = __fmaf_rn(sum, 0.5f, in[i + step * 132 * 128]);  // FAULT
  }
  out[i] = sum;
}
__global__ void few_in_flight_mended(const float* in, float* out) {
  const int i = blockIdx.x * 1024 + threadIdx.x;
  float sum = 0;
#pragma unroll 16
  for (int step = 0; step < kCount / (264 * 1024); ++step) {
    sum += in[i + step * 264 * 1024];
  }
  out[i] = sum;
}

// ---- local memory

__global__ void local_array_faulty(const float* in, float* out, int turn) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float table[32];
#pragma unroll
  for (int j = 0; j < 32; ++j) table[j] = in[i] * j;
  float sum = 0;
  for (int j = 0; j < 64; ++j) {
    sum += table[(j * turn + threadIdx.x) & 31];  // FAULT
  }
  out[i] = sum;
}
__global__ void local_array_mended(const float* in, float* out, int turn) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const float value = in[i];
  float sum = 0;
  for (int j = 0; j < 64; ++j) {
    sum += value * ((j * turn + threadIdx.x) & 31);
  }
  out[i] = sum;
}

template <int kMost>
__device__ float many_values(const float* in, int i) {
  float v[96];
#pragma unroll
  for (int j = 0; j < 96; ++j) v[j] = in[(i + j * 4099) & (kCount - 1)];
  for (int round = 0; round < 4; ++round) {
#pragma unroll
    for (int j = 0; j < 96; ++j) v[j] = __fmaf_rn(v[(j * 7 + 5) % 96], v[j], 0.5f);  // FAULT spills
  }
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 96; ++j) sum += v[j];
  return sum;
}
__global__ void __launch_bounds__(1024, 2) spills_faulty(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = many_values<32>(in, i);
}
__global__ void __launch_bounds__(256, 1) spills_mended(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = many_values<255>(in, i);
}

// ---- shared memory

__global__ void bank_conflicts_faulty(const float* in, float* out) {
  __shared__ float tile[32 * 32];
  const int lane = threadIdx.x, row = threadIdx.y;
  const int i = blockIdx.x * 1024 + row * 32 + lane;
  tile[row * 32 + lane] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll 4
  for (int j = 0; j < 32; ++j) {
    sum += tile[lane * 32 + ((row + j) & 31)];  // FAULT
  }
  out[i] = sum;
}
__global__ void bank_conflicts_mended(const float* in, float* out) {
  __shared__ float tile[32 * 33];
  const int lane = threadIdx.x, row = threadIdx.y;
  const int i = blockIdx.x * 1024 + row * 32 + lane;
  tile[row * 33 + lane] = in[i];
  __syncthreads();
  float sum = 0;
#pragma unroll 4
  for (int j = 0; j < 32; ++j) {
    sum += tile[lane * 33 + ((row + j) & 31)];
  }
  out[i] = sum;
}

__global__ void store_conflicts_faulty(const float* in, float* out) {
  __shared__ float tile[32 * 32];
  const int lane = threadIdx.x, row = threadIdx.y;
  const int i = blockIdx.x * 1024 + row * 32 + lane;
  float value = in[i];
#pragma unroll 4
  for (int j = 0; j < 32; ++j) {
    tile[lane * 32 + ((row + j) & 31)] = value + j;  // FAULT
  }
  __syncthreads();
  out[i] = tile[row * 32 + lane];
}
__global__ void store_conflicts_mended(const float* in, float* out) {
  __shared__ float tile[32 * 33];
  const int lane = threadIdx.x, row = threadIdx.y;
  const int i = blockIdx.x * 1024 + row * 32 + lane;
  float value = in[i];
#pragma unroll 4
  for (int j = 0; j < 32; ++j) {
    tile[lane * 33 + ((row + j) & 31)] = value + j;
  }
  __syncthreads();
  out[i] = tile[row * 33 + lane];
}

// ---- waiting for others

__global__ void late_warp_faulty(const float* in, float* out) {
  __shared__ float shared[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  for (int turn = 0; turn < 8; ++turn) {
    if (threadIdx.x < 32) {
      for (int j = 0; j < 200; ++j) value = __fmaf_rn(value, 0.999f, 0.001f);  // FAULT late
    }
    shared[threadIdx.x] = value;
    __syncthreads();  // FAULT
    value += shared[(threadIdx.x + 32) % kThreads];
    __syncthreads();
  }
  out[i] = value;
}
__global__ void late_warp_mended(const float* in, float* out) {
  __shared__ float shared[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  for (int turn = 0; turn < 8; ++turn) {
    for (int j = 0; j < 25; ++j) value = __fmaf_rn(value, 0.999f, 0.001f);
    shared[threadIdx.x] = value;
    __syncthreads();
    value += shared[(threadIdx.x + 32) % kThreads];
    __syncthreads();
  }
  out[i] = value;
}

__global__ void one_address_faulty(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  atomicAdd(&out[threadIdx.x & 3], in[i]);  // FAULT
}
__global__ void one_address_mended(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float sum = in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0U, sum, offset);
  __shared__ float sums[kThreads / 32];
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < kThreads / 32; ++w) sum += sums[w];
    out[blockIdx.x] = sum;
  }
}

__global__ void shared_bins_faulty(const float* in, float* out) {
  __shared__ float sums[256];
  sums[threadIdx.x] = 0;
  __syncthreads();
  for (int j = 0; j < 16; ++j) {
    const int i = (blockIdx.x * 16 + j) * kThreads + threadIdx.x;
    atomicAdd(&sums[threadIdx.x & 1], in[i & (kCount - 1)]);  // FAULT
  }
  __syncthreads();
  out[blockIdx.x * 256 + threadIdx.x] = sums[threadIdx.x];
}
__global__ void shared_bins_mended(const float* in, float* out) {
  float sum = 0;
  for (int j = 0; j < 16; ++j) {
    const int i = (blockIdx.x * 16 + j) * kThreads + threadIdx.x;
    sum += in[i & (kCount - 1)];
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

__global__ void fences_faulty(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  for (int j = 0; j < 8; ++j) {
    out[(i + j * kThreads) & (kCount - 1)] = value + j;
    __threadfence();  // FAULT
  }
}
__global__ void fences_mended(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  for (int j = 0; j < 8; ++j) {
    out[(i + j * kThreads) & (kCount - 1)] = value + j;
  }
}

// ---- arithmetic

__global__ void long_chain_faulty(const float* in, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  float value = in[i];
  for (int j = 0; j < 20000; ++j) {
    value = __fmaf_rn(value, 0.999f, 0.001f);  // FAULT
  }
  out[i] = value;
}
__global__ void long_chain_mended(const float* in, float* out) {
  const int i = blockIdx.x * 512 + threadIdx.x;
  float a = in[i], b = a + 1, c = a + 2, d = a + 3;
  for (int j = 0; j < 5000; ++j) {
    a = __fmaf_rn(a, 0.999f, 0.001f);
    b = __fmaf_rn(b, 0.999f, 0.001f);
    c = __fmaf_rn(c, 0.999f, 0.001f);
    d = __fmaf_rn(d, 0.999f, 0.001f);
  }
  out[i] = a + b + c + d;
}

__global__ void doubles_faulty(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  for (int j = 0; j < 64; ++j) {
    value = value * 0.999 + 0.001;  // FAULT
  }
  out[i] = value;
}
__global__ void doubles_mended(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  for (int j = 0; j < 64; ++j) {
    value = value * 0.999f + 0.001f;
  }
  out[i] = value;
}

__global__ void division_faulty(const int* in, float* out, int columns) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  int sum = 0;
  for (int j = 1; j < 32; ++j) {
    sum += (in[i] + j * i) / columns;  // FAULT
  }
  out[i] = sum;
}
__global__ void division_mended(const int* in, float* out, int columns) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  int sum = 0;
  for (int j = 1; j < 32; ++j) {
    sum += (in[i] + j * i) >> (columns & 15);
  }
  out[i] = sum;
}

__global__ void division64_faulty(const int* in, float* out, long long columns) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  long long sum = 0;
  for (int j = 1; j < 16; ++j) {
    sum += ((static_cast<long long>(in[i]) << 20) + j * 123457LL * i) % columns;  // FAULT
  }
  out[i] = sum;
}
__global__ void division64_mended(const int* in, float* out, long long columns) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  long long sum = 0;
  for (int j = 1; j < 16; ++j) {
    sum += ((static_cast<long long>(in[i]) << 20) + j * 123457LL * i) & (columns - 1);
  }
  out[i] = sum;
}

__global__ void special_faulty(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float x = in[i], sum = 0;
#pragma unroll 8
  for (int j = 0; j < 64; ++j) {
    sum += __expf(x + j);  // FAULT
  }
  out[i] = sum;
}
__global__ void special_mended(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float x = __expf(in[i]), sum = 0;
#pragma unroll 8
  for (int j = 0; j < 64; ++j) {
    sum = __fmaf_rn(sum, 2.7182818f, x);
  }
  out[i] = sum;
}

__global__ void divergence_faulty(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  const int lane = threadIdx.x & 7;
  const int turns = lane == 0 ? 256 : 8;
  for (int j = 0; j < turns; ++j) {
    value = value * value + 0.1f * j;  // FAULT
  }
  out[i] = value;
}
__global__ void divergence_mended(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  const int turns = i % (8 * 1024) < 1024 ? 256 : 8;
  for (int j = 0; j < turns; ++j) {
    value = value * value + 0.1f * j;
  }
  out[i] = value;
}

__constant__ float table[4096];
__global__ void constants_faulty(const int* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float sum = 0;
  for (int j = 0; j < 16; ++j) {
    sum += table[(in[i] + j * 67 + threadIdx.x * 33) & 4095];  // FAULT
  }
  out[i] = sum;
}
__global__ void constants_mended(const int* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float sum = in[i];
  for (int j = 0; j < 16; ++j) {
    sum += table[j * 67];
  }
  out[i] = sum;
}

// ---- the grid

__global__ void few_blocks_faulty(const float* in, float* out) {
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < kCount; i += gridDim.x * kThreads) {
    out[i] = 2 * in[i];  // FAULT
  }
}
__global__ void few_blocks_mended(const float* in, float* out) {
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < kCount; i += gridDim.x * kThreads) {
    out[i] = 2 * in[i];
  }
}

__global__ void one_block_long_faulty(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  const int turns = blockIdx.x == 0 ? 200000 : 1000;
  for (int j = 0; j < turns; ++j) {
    value = __fmaf_rn(value, 0.999f, 0.001f);  // FAULT
  }
  out[i] = value;
}
__global__ void one_block_long_mended(const float* in, float* out) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  float value = in[i];
  for (int j = 0; j < 1000; ++j) {
    value = __fmaf_rn(value, 0.999f, 0.001f);
  }
  out[i] = value;
}

__global__ void low_occupancy_faulty(const float* in, float* out) {
  extern __shared__ float room[];  // FAULT occupancy: 200 KB of each block keep others out
  const int i = blockIdx.x * 128 + threadIdx.x;
  room[threadIdx.x] = in[i];
  float sum = 0;
  for (int j = 0; j < 8; ++j) {
    sum += in[(i + j * 1048583) & (kCount - 1)] * room[threadIdx.x ^ 1];  // FAULT
  }
  out[i] = sum;
}

/// Load, wait, compute, wait: nothing is on its way while the block computes.
__global__ void no_overlap_faulty(const float* in, float* out) {
  __shared__ float stage[1024];
  float sum = 0;
  for (int step = 0; step < 64; ++step) {
    stage[threadIdx.x] = in[((blockIdx.x * 64 + step) * 1024 + threadIdx.x) & (kCount - 1)];  // FAULT
    __syncthreads();
    for (int j = 0; j < 16; ++j) sum = __fmaf_rn(stage[(threadIdx.x + j * 32) & 1023], 0.5f, sum);
    __syncthreads();
  }
  out[blockIdx.x * 1024 + threadIdx.x] = sum;
}
__global__ void no_overlap_mended(const float* in, float* out) {
  __shared__ float stage[2][1024];
  float sum = 0;
  float next = in[(blockIdx.x * 64 * 1024 + threadIdx.x) & (kCount - 1)];
  for (int step = 0; step < 64; ++step) {
    float* const now = stage[step & 1];
    now[threadIdx.x] = next;
    __syncthreads();
    next = in[((blockIdx.x * 64 + step + 1) * 1024 + threadIdx.x) & (kCount - 1)];
    for (int j = 0; j < 16; ++j) sum = __fmaf_rn(now[(threadIdx.x + j * 32) & 1023], 0.5f, sum);
  }
  out[blockIdx.x * 1024 + threadIdx.x] = sum;
}

// ---- running them

struct Planted {
  const char* name;
  void (*run)(const Data& data, bool faulty);
};

#define EITHER(kernel) (faulty ? kernel##_faulty : kernel##_mended)

const dim3 kTiles(kSide / 32, kSide / 8), kTile(32, 8), kSquare(32, 32);

const Planted kPlanted[] = {
    {"load_by_column", [](const Data& d, bool faulty) { EITHER(load_by_column)<<<kTiles, kTile>>>(d.a, d.b); }},
    {"store_by_column", [](const Data& d, bool faulty) { EITHER(store_by_column)<<<kTiles, kTile>>>(d.a, d.b); }},
    {"structs", [](const Data& d, bool faulty) { EITHER(structs)<<<kBlocks / 8, kThreads>>>(d.a, d.b); }},
    {"gather", [](const Data& d, bool faulty) { EITHER(gather)<<<kBlocks, kThreads>>>(d.a, d.index, d.b); }},
    {"chase", [](const Data& d, bool faulty) { EITHER(chase)<<<132, 128>>>(d.chain, d.b); }},
    {"bytes", [](const Data& d, bool faulty) { EITHER(bytes)<<<kBlocks, kThreads>>>(d.bytes, d.bytes); }},
    {"few_in_flight",
     [](const Data& d, bool faulty) {
       if (faulty) few_in_flight_faulty<<<132, 128>>>(d.a, d.b);
       if (!faulty) few_in_flight_mended<<<264, 1024>>>(d.a, d.b);
     }},
    {"local_array", [](const Data& d, bool faulty) { EITHER(local_array)<<<kBlocks / 8, kThreads>>>(d.a, d.b, 5); }},
    {"spills",
     [](const Data& d, bool faulty) {
       if (faulty) spills_faulty<<<2048, 1024>>>(d.a, d.b);
       if (!faulty) spills_mended<<<8192, 256>>>(d.a, d.b);
     }},
    {"bank_conflicts",
     [](const Data& d, bool faulty) { EITHER(bank_conflicts)<<<kCount / 1024, kSquare>>>(d.a, d.b); }},
    {"store_conflicts",
     [](const Data& d, bool faulty) { EITHER(store_conflicts)<<<kCount / 1024, kSquare>>>(d.a, d.b); }},
    {"late_warp", [](const Data& d, bool faulty) { EITHER(late_warp)<<<kBlocks, kThreads>>>(d.a, d.b); }},
    {"one_address", [](const Data& d, bool faulty) { EITHER(one_address)<<<kBlocks / 8, kThreads>>>(d.a, d.b); }},
    {"shared_bins", [](const Data& d, bool faulty) { EITHER(shared_bins)<<<kBlocks / 16, kThreads>>>(d.a, d.b); }},
    {"fences", [](const Data& d, bool faulty) { EITHER(fences)<<<kBlocks / 8, kThreads>>>(d.a, d.b); }},
    {"long_chain",
     [](const Data& d, bool faulty) {
       if (faulty) long_chain_faulty<<<132, 64>>>(d.a, d.b);
       if (!faulty) long_chain_mended<<<264, 512>>>(d.a, d.b);
     }},
    {"doubles", [](const Data& d, bool faulty) { EITHER(doubles)<<<kBlocks, kThreads>>>(d.a, d.b); }},
    {"division", [](const Data& d, bool faulty) { EITHER(division)<<<kBlocks / 4, kThreads>>>(d.index, d.b, 37); }},
    {"division64",
     [](const Data& d, bool faulty) { EITHER(division64)<<<kBlocks / 8, kThreads>>>(d.index, d.b, 4099); }},
    {"special", [](const Data& d, bool faulty) { EITHER(special)<<<kBlocks, kThreads>>>(d.a, d.b); }},
    {"divergence", [](const Data& d, bool faulty) { EITHER(divergence)<<<kBlocks, kThreads>>>(d.a, d.b); }},
    {"constants", [](const Data& d, bool faulty) { EITHER(constants)<<<kBlocks / 8, kThreads>>>(d.index, d.b); }},
    {"few_blocks", [](const Data& d, bool faulty) { EITHER(few_blocks)<<<faulty ? 8 : 2048, kThreads>>>(d.a, d.b); }},
    {"one_block_long", [](const Data& d, bool faulty) { EITHER(one_block_long)<<<1056, kThreads>>>(d.a, d.b); }},
    {"low_occupancy",
     [](const Data& d, bool faulty) {
       const int bytes = faulty ? 200 * 1024 : 512;
       cudaFuncSetAttribute(low_occupancy_faulty, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
       low_occupancy_faulty<<<kCount / 128 / 8, 128, bytes>>>(d.a, d.b);
     }},
    {"no_overlap", [](const Data& d, bool faulty) { EITHER(no_overlap)<<<264, 1024>>>(d.a, d.b); }},
};

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "planted: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

template <typename T>
T* made(std::size_t count) {
  T* memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)));
  check(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}

Data prepare() {
  Data data = {made<float>(kCount), made<float>(kCount),     made<float>(kCount),         made<int>(kCount),
               made<int>(1 << 23),  made<unsigned>(1 << 20), made<unsigned char>(kCount), made<double>(kCount / 2)};
  std::vector<int> index(kCount), chain(1 << 23);
  for (int i = 0; i < kCount; ++i) index[i] = static_cast<int>((i * 2654435761ULL) % kCount);
  for (int i = 0; i < (1 << 23); ++i) chain[i] = static_cast<int>((i * 1664525ULL + 1013904223ULL) & ((1 << 23) - 1));
  check(cudaMemcpy(data.index, index.data(), index.size() * 4, cudaMemcpyHostToDevice));
  check(cudaMemcpy(data.chain, chain.data(), chain.size() * 4, cudaMemcpyHostToDevice));
  return data;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    for (const Planted& one : kPlanted) std::puts(one.name);
    return 0;
  }
  if (argc != 4) {
    std::fprintf(stderr, "usage: planted NAME faulty|mended SECONDS, or planted --list\n");
    return 2;
  }
  for (const Planted& one : kPlanted) {
    if (std::strcmp(one.name, argv[1]) != 0) continue;
    const bool faulty = std::strcmp(argv[2], "faulty") == 0;
    const Data data = prepare();
    using Clock = std::chrono::steady_clock;
    one.run(data, faulty);
    check(cudaDeviceSynchronize());
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration<double>(std::atof(argv[3]));
    long launches = 0;
    while (Clock::now() < end) {
      for (int i = 0; i < 20; ++i) one.run(data, faulty);
      check(cudaDeviceSynchronize());
      launches += 20;
    }
    check(cudaGetLastError());
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("%s %s: %.3f us per launch\n", one.name, argv[2], seconds / launches * 1e6);
    return 0;
  }
  std::fprintf(stderr, "planted: no kernel is named %s\n", argv[1]);
  return 2;
}
