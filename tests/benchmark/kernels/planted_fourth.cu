// A fourth set of pairs of kernels that the rules were not made with. `planted_fourth NAME faulty|mended SECONDS` runs
// one of them in a loop; `planted_fourth --list` names them. Lines with the fault end with "// FAULT: NAME".
#include <cuda_runtime.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#define CK(x)                                                                    \
  do {                                                                           \
    cudaError_t e_ = (x);                                                        \
    if (e_ != cudaSuccess) {                                                     \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
      exit(1);                                                                   \
    }                                                                            \
  } while (0)

typedef std::function<void()> Launch;
typedef unsigned int u32;

__host__ __device__ inline u32 mix32(u32 x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

__global__ void fill_u32(u32* p, size_t n, u32 seed, u32 mask) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    p[i] = mix32((u32)i + seed) & mask;
}
__global__ void fill_f32(float* p, size_t n, u32 seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
    p[i] = (float)(mix32((u32)i + seed) >> 8) * (1.0f / 16777216.0f) - 0.5f;
}
template <class T>
T* dalloc(size_t n) {
  void* p;
  CK(cudaMalloc(&p, n * sizeof(T)));
  CK(cudaMemset(p, 0, n * sizeof(T)));
  return (T*)p;
}
static u32* new_u32(size_t n, u32 seed, u32 mask = 0xffffffffU) {
  u32* p = dalloc<u32>(n);
  fill_u32<<<2112, 256>>>(p, n, seed, mask);
  CK(cudaDeviceSynchronize());
  return p;
}
static float* new_f32(size_t n, u32 seed) {
  float* p = dalloc<float>(n);
  fill_f32<<<2112, 256>>>(p, n, seed);
  CK(cudaDeviceSynchronize());
  return p;
}

// ---------------------------------------------------------------- tone_map
// 8-bit image through a 256-entry transfer curve, 16 pixels per load.
__constant__ u32 c_curve[256];

template <bool V>
__global__ void tone_map(const uint4* __restrict__ src, uint4* __restrict__ dst, const u32* __restrict__ curve,
                         size_t n16) {
  __shared__ u32 s_curve[256];
  s_curve[threadIdx.x] = curve[threadIdx.x];
  __syncthreads();
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n16; i += (size_t)gridDim.x * blockDim.x) {
    uint4 q = src[i];
    u32 w[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      u32 r = 0;
#pragma unroll
      for (int b = 0; b < 4; b++) {
        u32 px = (w[k] >> (8 * b)) & 255u;
        u32 v;
        if (V)
          v = c_curve[px];  // FAULT: tone_map
        else
          v = s_curve[px];
        r |= v << (8 * b);
      }
      w[k] = r;
    }
    dst[i] = make_uint4(w[0], w[1], w[2], w[3]);
  }
}
template <bool V>
Launch make_tone_map() {
  size_t n = (size_t)1 << 29;
  u32* a = new_u32(n / 4, 1);
  u32* b = dalloc<u32>(n / 4);
  u32* c = dalloc<u32>(256);
  std::vector<u32> h(256);
  for (int i = 0; i < 256; i++) h[i] = (u32)(i * i) >> 8;
  CK(cudaMemcpyToSymbol(c_curve, h.data(), 1024));
  CK(cudaMemcpy(c, h.data(), 1024, cudaMemcpyHostToDevice));
  return [=] { tone_map<V><<<132 * 8, 256>>>((uint4*)a, (uint4*)b, c, n / 16); };
}

// ---------------------------------------------------------------- spmv_csr
// y = A x, one warp per row; rows sorted by descending length.
const u32 SP_ROWS = 1u << 20, SP_LONG = SP_ROWS / 64;
__host__ __device__ inline u32 sp_ptr(u32 r) { return r < SP_LONG ? r * 2048u : SP_LONG * 2048u + (r - SP_LONG) * 32u; }
__global__ void fill_rowptr(u32* p) {
  u32 r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r <= SP_ROWS) p[r] = sp_ptr(r);
}
template <bool V>
__global__ void spmv_csr(const u32* __restrict__ ptr, const u32* __restrict__ col, const float* __restrict__ val,
                         const float* __restrict__ x, float* __restrict__ y, u32 rows) {
  const u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5, wpb = blockDim.x >> 5;
  u32 first, last, step;
  if (V) {
    u32 per = (rows + gridDim.x - 1) / gridDim.x;  // FAULT: spmv_csr
    first = blockIdx.x * per + warp;               // FAULT: spmv_csr
    last = min(rows, (blockIdx.x + 1) * per);      // FAULT: spmv_csr
    step = wpb;                                    // FAULT: spmv_csr
  } else {
    first = blockIdx.x * wpb + warp;
    last = rows;
    step = gridDim.x * wpb;
  }
  for (u32 r = first; r < last; r += step) {
    u32 e = ptr[r + 1];
    float s = 0.f;
    for (u32 j = ptr[r] + lane; j < e; j += 32) s += val[j] * x[col[j]];  // FAULT: spmv_csr
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
    if (lane == 0) y[r] = s;
  }
}
template <bool V>
Launch make_spmv_csr() {
  size_t nnz = sp_ptr(SP_ROWS);
  u32* ptr = dalloc<u32>(SP_ROWS + 1);
  fill_rowptr<<<SP_ROWS / 256 + 1, 256>>>(ptr);
  u32* col = new_u32(nnz, 3, 65535);
  float* val = new_f32(nnz, 4);
  float* x = new_f32(65536, 5);
  float* y = dalloc<float>(SP_ROWS);
  return [=] { spmv_csr<V><<<132 * 8, 256>>>(ptr, col, val, x, y, SP_ROWS); };
}

// ---------------------------------------------------------------- radial_profile
// weighted histogram of packed samples (6-bit ring, 4-bit weight).
template <bool V>
struct Acc {
  typedef int type;
};
template <>
struct Acc<true> {
  typedef float type;
};
template <bool V>
__global__ void radial_profile(const uint4* __restrict__ smp, float* __restrict__ prof, size_t n4) {
  typedef typename Acc<V>::type acc_t;
  __shared__ acc_t ring[64];
  if (threadIdx.x < 64) ring[threadIdx.x] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n4; i += (size_t)gridDim.x * blockDim.x) {
    uint4 q = smp[i];
    u32 w[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
    for (int k = 0; k < 4; k++) atomicAdd(&ring[(w[k] >> 8) & 63], (acc_t)(int)(w[k] & 15));  // FAULT: radial_profile
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&prof[threadIdx.x], (float)ring[threadIdx.x]);
}
template <bool V>
Launch make_radial_profile() {
  size_t n = (size_t)1 << 27;
  u32* a = new_u32(n, 7);
  float* p = dalloc<float>(64);
  return [=] { radial_profile<V><<<132 * 8, 256>>>((uint4*)a, p, n / 4); };
}

// ---------------------------------------------------------------- nbody_far
// far-field expansion: every body against a shared list of coefficient quads.
template <bool V>
__global__ void nbody_far(const float4* __restrict__ body, const float4* __restrict__ coef, float* __restrict__ phi,
                          int nc, int reps) {
  __shared__ float4 sc[1024];
  for (int i = threadIdx.x; i < nc; i += blockDim.x) sc[i] = coef[i];
  __syncthreads();
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float4 p = body[t];
  float total = 0.f;
  for (int r = 0; r < reps; r++) {
    float s0 = 0.f, s1 = 0.f, s2 = 0.f, s3 = 0.f;
#pragma unroll 8
    for (int j = 0; j < 1024; j++) {
      float4 c = sc[j];
      if (V) {
        s0 = fmaf(c.x, p.x, s0);  // FAULT: nbody_far
        s0 = fmaf(c.y, p.y, s0);  // FAULT: nbody_far
        s0 = fmaf(c.z, p.z, s0);  // FAULT: nbody_far
        s0 = fmaf(c.w, p.w, s0);  // FAULT: nbody_far
      } else {
        s0 = fmaf(c.x, p.x, s0);
        s1 = fmaf(c.y, p.y, s1);
        s2 = fmaf(c.z, p.z, s2);
        s3 = fmaf(c.w, p.w, s3);
      }
    }
    total += (s0 + s1) + (s2 + s3);
    p.x += 1e-3f * total;
    p.y -= 1e-3f * total;
  }
  phi[t] = total;
}
template <bool V>
Launch make_nbody_far() {
  float* b = new_f32(132 * 128 * 4, 9);
  float* c = new_f32(4096, 10);
  float* o = dalloc<float>(132 * 128);
  return [=] { nbody_far<V><<<132, 128>>>((float4*)b, (float4*)c, o, 1024, 64); };
}

// ---------------------------------------------------------------- heat3d
// 7-point diffusion step, xy tile in shared memory.
const int HX = 512;
__global__ void heat3d(const float* __restrict__ u, float* __restrict__ v, float k) {
  extern __shared__ float tile[];
  const int W = 34;
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
  size_t i = ((size_t)z * HX + y) * HX + x;
  float* c = tile + (threadIdx.y + 1) * W + threadIdx.x + 1;
  float me = u[i];
  float up = z + 1 < HX ? u[i + HX * HX] : 0.f;
  float dn = z > 0 ? u[i - HX * HX] : 0.f;
  *c = me;
  if (threadIdx.x == 0) c[-1] = x > 0 ? u[i - 1] : 0.f;
  if (threadIdx.x == 31) c[1] = x + 1 < HX ? u[i + 1] : 0.f;
  if (threadIdx.y == 0) c[-W] = y > 0 ? u[i - HX] : 0.f;
  if (threadIdx.y == 7) c[W] = y + 1 < HX ? u[i + HX] : 0.f;
  __syncthreads();
  v[i] = me + k * (c[-1] + c[1] + c[-W] + c[W] + up + dn - 6.f * me);
}
template <bool V>
Launch make_heat3d() {
  size_t n = (size_t)HX * HX * HX;
  float* a = new_f32(n, 11);
  float* b = dalloc<float>(n);
  size_t bytes = V ? 34 * 10 * 64 * sizeof(float) : 34 * 10 * sizeof(float);  // FAULT: heat3d
  CK(cudaFuncSetAttribute(heat3d, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
  return [=] { heat3d<<<dim3(HX / 32, HX / 8, HX), dim3(32, 8), bytes>>>(a, b, 0.1f); };  // FAULT: heat3d
}

// ---------------------------------------------------------------- sort16
// every thread sorts 16 keys with an odd-even transposition network.
template <bool V>
__global__ void sort16(const u32* __restrict__ in, u32* __restrict__ out, size_t groups) {
  size_t t = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (t >= groups) return;
  u32 key[16];
#pragma unroll
  for (int k = 0; k < 16; k++) key[k] = in[k * groups + t];
#pragma unroll(V ? 1 : 16)  // FAULT: sort16
  for (int round = 0; round < 16; round++) {
#pragma unroll
    for (int p = 0; p < 8; p++) {
      int j = 2 * p + (round & 1);
      if (j < 15) {
        u32 lo = min(key[j], key[j + 1]), hi = max(key[j], key[j + 1]);  // FAULT: sort16
        key[j] = lo;                                                     // FAULT: sort16
        key[j + 1] = hi;                                                 // FAULT: sort16
      }
    }
  }
#pragma unroll
  for (int k = 0; k < 16; k++) out[k * groups + t] = key[k];
}
template <bool V>
Launch make_sort16() {
  size_t n = (size_t)1 << 27;
  u32* a = new_u32(n, 13);
  u32* b = dalloc<u32>(n);
  return [=] { sort16<V><<<(unsigned)(n / 16 / 256), 256>>>(a, b, n / 16); };
}

// ---------------------------------------------------------------- hash_probe
// open addressing, linear probing; keys are 64-byte-aligned object ids.
const u32 HT_MASK = (1u << 26) - 1;
template <bool V>
__device__ __forceinline__ u32 slot_of(u32 key) {
  if (V) return key & HT_MASK;  // FAULT: hash_probe
  return mix32(key) & HT_MASK;
}
template <bool V>
__global__ void hash_build(u32* tk, u32* tv, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 key = (i + 1) * 64u, h = slot_of<V>(key);
  while (true) {
    u32 o = atomicCAS(&tk[h], 0u, key);
    if (o == 0u || o == key) break;
    h = (h + 1) & HT_MASK;
  }
  tv[h] = i;
}
template <bool V>
__global__ void hash_probe(const u32* __restrict__ tk, const u32* __restrict__ tv, const u32* __restrict__ query,
                           u32* __restrict__ out, u32 nq) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= nq) return;
  u32 key = (query[i] + 1) * 64u;
  u32 h = slot_of<V>(key);
  u32 k;
  while ((k = tk[h]) != key && k != 0u)  // FAULT: hash_probe
    h = (h + 1) & HT_MASK;               // FAULT: hash_probe
  out[i] = k == key ? tv[h] : ~0u;
}
template <bool V>
Launch make_hash_probe() {
  u32 n = 1u << 25, nq = 1u << 23;
  u32* tk = dalloc<u32>(HT_MASK + 1ull);
  u32* tv = dalloc<u32>(HT_MASK + 1ull);
  hash_build<V><<<n / 256, 256>>>(tk, tv, n);
  u32* q = new_u32(nq, 17, n - 1);
  u32* o = dalloc<u32>(nq);
  return [=] { hash_probe<V><<<nq / 256, 256>>>(tk, tv, q, o, nq); };
}

// ---------------------------------------------------------------- case_fold
// ASCII lower-casing of a large text buffer.
struct alignas(16) Chunk16 {
  unsigned char c[16];
};
struct Chunk1 {
  unsigned char c[1];
};
template <class C>
__global__ void case_fold(const C* __restrict__ in, C* __restrict__ out, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  C t = in[i];  // FAULT: case_fold
#pragma unroll
  for (int k = 0; k < (int)sizeof(C); k++) t.c[k] += (unsigned)(t.c[k] - 'A') < 26u ? 32 : 0;
  out[i] = t;  // FAULT: case_fold
}
template <bool V>
Launch make_case_fold() {
  typedef typename std::conditional<V, Chunk1, Chunk16>::type C;
  size_t n = (size_t)1 << 29, m = n / sizeof(C);
  u32* a = new_u32(n / 4, 19, 0x7f7f7f7f);
  u32* b = dalloc<u32>(n / 4);
  return [=] { case_fold<C><<<(unsigned)(m / 256), 256>>>((C*)a, (C*)b, m); };
}

// ---------------------------------------------------------------- dequant_w8
// int8 weights, one scale per (row, column group).
template <bool V>
__global__ void dequant_w8(const signed char* __restrict__ w, const float* __restrict__ scale, float* __restrict__ out,
                           long long n, long long cols, long long gsz, int lcols, int lgsz) {
  long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += stride) {
    long long row, g, ng;
    if (V) {
      row = i / cols;        // FAULT: dequant_w8
      g = (i % cols) / gsz;  // FAULT: dequant_w8
      ng = cols / gsz;       // FAULT: dequant_w8
    } else {
      row = i >> lcols;
      g = (i & (cols - 1)) >> lgsz;
      ng = cols >> lgsz;
    }
    out[i] = (float)w[i] * scale[row * ng + g];
  }
}
template <bool V>
Launch make_dequant_w8() {
  long long n = 1ll << 28, cols = 8192, gsz = 128;
  u32* w = new_u32(n / 4, 21);
  float* s = new_f32(n / gsz, 22);
  float* o = dalloc<float>(n);
  return [=] { dequant_w8<V><<<132 * 32, 256>>>((signed char*)w, s, o, n, cols, gsz, 13, 7); };
}

// ---------------------------------------------------------------- center_rows
// one block of 512 threads per row of 2048.
template <bool V>
__device__ __forceinline__ float row_sum(float v, float* part) {
  __shared__ float res;
  int t = threadIdx.x;
  if (V) {
    part[t] = v;
    __syncthreads();
    if (t == 0) {
      float s = 0.f;
      for (int i = 0; i < 512; i++) s += part[i];  // FAULT: center_rows
      res = s;
    }
  } else {
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    if ((t & 31) == 0) part[t >> 5] = v;
    __syncthreads();
    if (t < 32) {
      float s = t < 16 ? part[t] : 0.f;
      for (int o = 8; o; o >>= 1) s += __shfl_xor_sync(~0u, s, o);
      if (t == 0) res = s;
    }
  }
  __syncthreads();
  float r = res;
  __syncthreads();
  return r;
}
template <bool V>
__global__ void __launch_bounds__(512) center_rows(const float4* __restrict__ x, float4* __restrict__ y) {
  __shared__ float part[512];
  size_t i = blockIdx.x * (size_t)512 + threadIdx.x;
  float4 a = x[i];
  float m = row_sum<V>(a.x + a.y + a.z + a.w, part) * (1.f / 2048.f);
  a.x -= m;
  a.y -= m;
  a.z -= m;
  a.w -= m;
  float q = row_sum<V>(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w, part) * (1.f / 2048.f);
  float r = rsqrtf(q + 1e-5f);
  y[i] = make_float4(a.x * r, a.y * r, a.z * r, a.w * r);
}
template <bool V>
Launch make_center_rows() {
  size_t rows = 65536, n = rows * 2048;
  float* a = new_f32(n, 23);
  float* b = dalloc<float>(n);
  return [=] { center_rows<V><<<(unsigned)rows, 512>>>((float4*)a, (float4*)b); };
}

// ---------------------------------------------------------------- mc_paths
// Monte Carlo walk with reflection, xorshift generator.
template <bool V>
__global__ void mc_paths(float* __restrict__ out, float drift, float vol, float wall, int rounds) {
  u32 t = blockIdx.x * blockDim.x + threadIdx.x;
  u32 s = mix32(t + 1) | 1u;
  for (u32 b = (t >> 5 & 15) * 1024; b; b--) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
  }
  float x = 0.f, peak = 0.f;
  auto leg = [&] {
#pragma unroll(V ? 1024 : 4)          // FAULT: mc_paths
    for (int k = 0; k < 1024; k++) {  // FAULT: mc_paths
      s ^= s << 13;                   // FAULT: mc_paths
      s ^= s >> 17;                   // FAULT: mc_paths
      s ^= s << 5;                    // FAULT: mc_paths
      float z = __uint_as_float((s >> 9) | 0x3f800000u) - 1.5f;
      x = fmaf(vol, z, x + drift);
      x = x > wall ? 2.f * wall - x : x;
      peak = fmaxf(peak, x);
    }
  };
  for (int r = 0; r < rounds; r++) {
    if (V) {
      leg();  // FAULT: mc_paths
      leg();  // FAULT: mc_paths
      leg();  // FAULT: mc_paths
      leg();  // FAULT: mc_paths
    } else {
      for (int q = 0; q < 4; q++) leg();
    }
  }
  out[t] = x + peak;
}
template <bool V>
Launch make_mc_paths() {
  float* o = dalloc<float>(132 * 2 * 256);
  return [=] { mc_paths<V><<<132 * 2, 256>>>(o, 1e-3f, 0.1f, 2.f, 8); };
}

// ---------------------------------------------------------------- frontier_push
// reserve adjacency space for each vertex of the next frontier.
template <bool V>
__global__ void __launch_bounds__(1024)
    frontier_push(const u32* __restrict__ deg, u32* __restrict__ offs, u32* cursor, u32 n) {
  u32 v = blockIdx.x * blockDim.x + threadIdx.x;
  u32 lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  u32 d = deg[v], inc = d, start;
  for (int o = 1; o < 32; o <<= 1) {
    u32 q = __shfl_up_sync(~0u, inc, o);
    if (lane >= o) inc += q;
  }
  if (V) {
    if (lane == 31) start = atomicAdd(cursor, inc);  // FAULT: frontier_push
    start = __shfl_sync(~0u, start, 31);
  } else {
    __shared__ u32 ws[32];
    if (lane == 31) ws[w] = inc;
    __syncthreads();
    if (w == 0) {
      u32 a = ws[lane], c = a, g = 0;
      for (int o = 1; o < 32; o <<= 1) {
        u32 q = __shfl_up_sync(~0u, c, o);
        if (lane >= o) c += q;
      }
      if (lane == 31) g = atomicAdd(cursor, c);
      ws[lane] = __shfl_sync(~0u, g, 31) + c - a;
    }
    __syncthreads();
    start = ws[w];
  }
  offs[v] = start + inc - d;
}
template <bool V>
Launch make_frontier_push() {
  u32 n = 1u << 26;
  u32* d = new_u32(n, 29, 31);
  u32* o = dalloc<u32>(n);
  u32* c = dalloc<u32>(1);
  return [=] { frontier_push<V><<<n / 1024, 1024>>>(d, o, c, n); };
}

// ---------------------------------------------------------------- quant_rows
// fp32 activations to int8, persistent blocks, 8 quads per turn.
__device__ __forceinline__ char4 q4(float4 a, float s) {
  return make_char4(__float2int_rn(a.x * s), __float2int_rn(a.y * s), __float2int_rn(a.z * s), __float2int_rn(a.w * s));
}
__global__ void __launch_bounds__(256) quant_rows_a(const float4* in, const float* scale, char4* out, size_t n4) {
  size_t T = (size_t)gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i + 7 * T < n4; i += 8 * T) {
#pragma unroll
    for (int k = 0; k < 8; k++) out[i + k * T] = q4(in[i + k * T], scale[0]);  // FAULT: quant_rows
  }
}
__global__ void __launch_bounds__(256) quant_rows_b(const float4* in, const float* scale, char4* out, size_t n4) {
  size_t T = (size_t)gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i + 7 * T < n4; i += 8 * T) {
    float4 a[8];
    float s = scale[0];
#pragma unroll
    for (int k = 0; k < 8; k++) a[k] = in[i + k * T];
#pragma unroll
    for (int k = 0; k < 8; k++) out[i + k * T] = q4(a[k], s);
  }
}
template <bool V>
Launch make_quant_rows() {
  size_t n4 = (size_t)132 * 256 * 8 * 240;
  float* a = new_f32(n4 * 4, 31);
  char4* b = dalloc<char4>(n4);
  float s = 200.f;
  float* sc = dalloc<float>(1);
  CK(cudaMemcpy(sc, &s, 4, cudaMemcpyHostToDevice));
  return [=] {
    if (V)
      quant_rows_a<<<132, 256>>>((float4*)a, sc, b, n4);
    else
      quant_rows_b<<<132, 256>>>((float4*)a, sc, b, n4);
  };
}

// ---------------------------------------------------------------- ray_strips
// orthographic rays against a sphere list held in shared memory.
const int RS_SPH = 7168, RS_STRIPS = 1064;
__global__ void __launch_bounds__(512)
    ray_strips(const float4* __restrict__ sph, float* __restrict__ depth, int per_block) {
  extern __shared__ float4 scene[];
  for (int i = threadIdx.x; i < RS_SPH; i += 512) scene[i] = sph[i];
  __syncthreads();
  for (int k = 0; k < per_block; k++) {
    int strip = blockIdx.x * per_block + k;
    float px = threadIdx.x * (1.f / 512.f) - 0.5f, py = strip * (1.f / RS_STRIPS) - 0.5f, best = 1e30f;
#pragma unroll 4
    for (int j = 0; j < RS_SPH; j++) {
      float4 c = scene[j];
      float dx = px - c.x, dy = py - c.y;
      float h = c.w * c.w * 0.01f - dx * dx - dy * dy;
      float z = c.z - h * rsqrtf(fabsf(h) + 1e-9f);
      best = h > 0.f ? fminf(best, z) : best;
    }
    depth[strip * 512 + threadIdx.x] = best;
  }
}
template <bool V>
Launch make_ray_strips() {
  float* s = new_f32(RS_SPH * 4, 37);
  float* d = dalloc<float>(RS_STRIPS * 512);
  int bytes = RS_SPH * 16;
  CK(cudaFuncSetAttribute(ray_strips, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const int per = V ? 8 : 1;                                                        // FAULT: ray_strips
  return [=] { ray_strips<<<RS_STRIPS / per, 512, bytes>>>((float4*)s, d, per); };  // FAULT: ray_strips
}

// ---------------------------------------------------------------- driver
// clang-format off
#define ENTRY(n) {#n, {make_##n<true>, make_##n<false>}}
// clang-format on
int main(int argc, char** argv) {
  std::map<std::string, std::pair<Launch (*)(), Launch (*)()>> tab = {
      ENTRY(tone_map), ENTRY(spmv_csr),      ENTRY(radial_profile), ENTRY(nbody_far),  ENTRY(heat3d),
      ENTRY(sort16),   ENTRY(hash_probe),    ENTRY(case_fold),      ENTRY(dequant_w8), ENTRY(center_rows),
      ENTRY(mc_paths), ENTRY(frontier_push), ENTRY(quant_rows),     ENTRY(ray_strips)};
  if (argc > 1 && !strcmp(argv[1], "--list")) {
    for (auto& e : tab) puts(e.first.c_str());
    return 0;
  }
  if (argc < 4 || !tab.count(argv[1])) {
    fprintf(stderr, "usage: %s NAME faulty|mended SECONDS, or --list\n", argv[0]);
    return 2;
  }
  bool first = !strcmp(argv[2], "faulty");
  Launch go = first ? tab[argv[1]].first() : tab[argv[1]].second();
  CK(cudaDeviceSynchronize());
  go();
  CK(cudaGetLastError());
  CK(cudaDeviceSynchronize());
  double secs = atof(argv[3]), el = 0;
  long cnt = 0;
  auto t0 = std::chrono::steady_clock::now();
  do {
    for (int i = 0; i < 20; i++) go();
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    cnt += 20;
    el = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
  } while (el < secs);
  printf("%s %s %.2f\n", argv[1], argv[2], el * 1e6 / cnt);
  return 0;
}
