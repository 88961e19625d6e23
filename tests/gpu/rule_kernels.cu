// The kernels of rule_kernels.hpp. Assembler instructions keep the compiler from mending what is meant to be faulty.
#include "device/cuda/check.hpp"
#include "rule_kernels.hpp"

namespace roofline::faulty {
namespace {

constexpr int kWarp = 32;
constexpr unsigned kChainLength = 1U << 22;

__device__ unsigned thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned thread_count() { return gridDim.x * blockDim.x; }

__device__ void fma(float& x) { asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(0.5F)); }
__device__ void fma(double& x) { asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(0.5)); }

/// From L2 each time, however often the same address is read.
__device__ float4 load_past_l1(const float4* at) {
  float4 v;
  asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(at));
  return v;
}

__global__ void stream(const float4* in, float4* out, std::size_t vectors) {
  for (std::size_t i = thread_number(); i < vectors; i += thread_count()) {
    const float4 v = in[i];
    out[i] = {2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w};
  }
}

__global__ void strided_store(const float* in, float* out, int stride) {
  out[static_cast<std::size_t>(thread_number()) * static_cast<std::size_t>(stride)] = in[thread_number()];
}

template <int kRow>
__global__ void transpose(const float* in, float* out, int n) {
  __shared__ float tile[kWarp][kRow];
  const int x = static_cast<int>(blockIdx.x) * kWarp;
  const int y = static_cast<int>(blockIdx.y) * kWarp;
  const auto at = [n](int row, int column) { return static_cast<std::size_t>(row) * n + column; };
  for (int i = static_cast<int>(threadIdx.y); i < kWarp; i += static_cast<int>(blockDim.y)) {
    tile[i][threadIdx.x] = in[at(y + i, x + static_cast<int>(threadIdx.x))];
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.y); i < kWarp; i += static_cast<int>(blockDim.y)) {
    out[at(x + i, y + static_cast<int>(threadIdx.x))] = tile[threadIdx.x][i];
  }
}

__device__ unsigned load_again(const unsigned* at) {
  unsigned value = 0;
  asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(at));
  return value;
}

template <int kKept>
__global__ void __launch_bounds__(256) chase(const unsigned* next, float* out, int steps, int others) {
  unsigned kept[kKept];
#pragma unroll
  for (int i = 0; i < kKept; ++i) kept[i] = load_again(next + i * kWarp);
  unsigned at = thread_number() / kWarp % kChainLength;
  const int mine = threadIdx.x < kWarp ? steps : others;
  for (int i = 0; i < mine; ++i) at = load_again(next + at);
  unsigned sum = at;
#pragma unroll
  for (int i = 0; i < kKept; ++i) sum ^= kept[i];
  out[thread_number()] = static_cast<float>(sum);
}

template <class T, int kChains>
__global__ void chains(T* out, int steps) {
  T x[kChains];
#pragma unroll
  for (int c = 0; c < kChains; ++c) x[c] = static_cast<T>(threadIdx.x + c);
#pragma unroll 8
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int c = 0; c < kChains; ++c) fma(x[c]);
  }
  T sum = 0;
#pragma unroll
  for (int c = 0; c < kChains; ++c) sum += x[c];
  out[thread_number()] = sum;
}

template <int kCopies>
__global__ void code(float* out, int steps) {
  float x[4] = {0, 1, 2, 3};
#pragma unroll 1
  for (int i = 0; i < steps; ++i) {
#pragma unroll
    for (int copy = 0; copy < kCopies * 16; ++copy) {
#pragma unroll
      for (float& each : x) fma(each);
    }
  }
  out[thread_number()] = x[0] + x[1] + x[2] + x[3];
}

template <bool kBlockWide>
__global__ void barriers(float* out, int steps) {
  auto x = static_cast<float>(threadIdx.x);
  for (int i = 0; i < steps; ++i) {
    if (threadIdx.x < kWarp) {
#pragma unroll
      for (int j = 0; j < 32; ++j) fma(x);
    }
    if (kBlockWide) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
  out[thread_number()] = x;
}

template <int kUses>
__global__ void shared_uses(float* out, int steps) {
  __shared__ float words[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = static_cast<float>(i);
  __syncthreads();
  float sum[4] = {};
  for (int i = 0; i < steps; ++i) {
    const volatile float* at = &words[(threadIdx.x + static_cast<unsigned>(i)) % 1024];
    const float value = *at;
#pragma unroll
    for (int j = 0; j < kUses; ++j) {
      asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sum[j % 4]) : "f"(value));
    }
  }
  out[thread_number()] = sum[0] + sum[1] + sum[2] + sum[3];
}

__global__ void fill_narrow(unsigned char* out) {
  volatile unsigned char* mine = out + static_cast<std::size_t>(thread_number()) * 256;
  for (int i = 0; i < 256; ++i) mine[i] = static_cast<unsigned char>(i);
}

__global__ void fill_wide(uint4* out) {
  for (int i = 0; i < 16; ++i) {
    out[static_cast<std::size_t>(i) * thread_count() + thread_number()] = {threadIdx.x, 1, 2, 3};
  }
}

template <int kUses>
__device__ void use(float4 v, float& sum) {
  for (const float value : {v.x, v.y, v.z, v.w}) {
#pragma unroll
    for (int j = 0; j < kUses; ++j) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sum) : "f"(value));
  }
}

constexpr std::size_t kChunk = 1024;  // vectors of 16 bytes

template <int kUses>
__global__ void passes_over_all(const float4* in, float* out, std::size_t vectors, int passes) {
  float sum = 0;
  for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 4
    for (std::size_t i = thread_number(); i < vectors; i += thread_count()) use<kUses>(load_past_l1(in + i), sum);
  }
  out[thread_number()] = sum;
}

template <int kUses>
__global__ void passes_over_chunks(const float4* in, float* out, std::size_t vectors, int passes) {
  float sum = 0;
  for (std::size_t chunk = blockIdx.x * kChunk; chunk < vectors; chunk += gridDim.x * kChunk) {
    for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 4
      for (std::size_t i = threadIdx.x; i < kChunk; i += blockDim.x) use<kUses>(load_past_l1(in + chunk + i), sum);
    }
  }
  out[thread_number()] = sum;
}

template <int kUses>
void launch_passes_with(const float* in, float* out, std::size_t floats, const Passes& passes, const Grid& grid) {
  const auto kernel = passes.blocked ? passes_over_chunks<kUses> : passes_over_all<kUses>;
  kernel<<<grid.blocks, grid.threads, 0, grid.stream>>>(reinterpret_cast<const float4*>(in), out, floats / 4,
                                                        passes.count);
}

__global__ void product_on_cuda_cores(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    sum = fmaf(__bfloat162float(a[static_cast<std::size_t>(row) * n + k]),
               __bfloat162float(b[static_cast<std::size_t>(column) * n + k]), sum);
  }
  c[static_cast<std::size_t>(row) * n + column] = sum;
}

__global__ void product_on_tensor_cores(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int row = static_cast<int>(blockIdx.y) * 16 + lane / 4;
  const int warp = static_cast<int>(blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp);
  const int column = warp * 8 + lane / 4;
  const auto pair = [n](const __nv_bfloat16* matrix, int line, int k) {
    return *reinterpret_cast<const unsigned*>(matrix + static_cast<std::size_t>(line) * n + k);
  };
  float sum[4] = {};
  for (int k = lane % 4 * 2; k < n; k += 16) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, "
        "%2, "
        "%3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(pair(a, row, k)), "r"(pair(a, row + 8, k)), "r"(pair(a, row, k + 8)), "r"(pair(a, row + 8, k + 8)),
          "r"(pair(b, column, k)), "r"(pair(b, column, k + 8)));
  }
  for (int i = 0; i < 4; ++i) {
    const int down = row + i / 2 * 8;
    const int across = warp * 8 + lane % 4 * 2 + i % 2;
    c[static_cast<std::size_t>(down) * n + across] = sum[i];
  }
}

template <class T, int kChains>
void launch_chains_of(void* out, int steps, const Grid& grid) {
  chains<T, kChains><<<grid.blocks, grid.threads, 0, grid.stream>>>(static_cast<T*>(out), steps);
}

}  // namespace

void launch_stream(const float* in, float* out, std::size_t floats, const Grid& grid) {
  stream<<<grid.blocks, grid.threads, 0, grid.stream>>>(reinterpret_cast<const float4*>(in),
                                                        reinterpret_cast<float4*>(out), floats / 4);
  check_launch("a stream");
}

void launch_strided_store(const float* in, float* out, int stride, const Grid& grid) {
  strided_store<<<grid.blocks, grid.threads, 0, grid.stream>>>(in, out, stride);
  check_launch("strided stores");
}

void launch_transpose(const float* in, float* out, int n, bool padded, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(n / kWarp), static_cast<unsigned>(n / kWarp));
  const dim3 threads(kWarp, 8);
  if (padded) {
    transpose<kWarp + 1><<<blocks, threads, 0, stream>>>(in, out, n);
  } else {
    transpose<kWarp><<<blocks, threads, 0, stream>>>(in, out, n);
  }
  check_launch("a transpose");
}

void launch_chase(const unsigned* next, float* out, int steps, int others, bool many_registers, const Grid& grid) {
  const auto kernel = many_registers ? chase<200> : chase<1>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, grid.shared_bytes),
        "asking for shared memory");
  kernel<<<grid.blocks, grid.threads, static_cast<std::size_t>(grid.shared_bytes), grid.stream>>>(next, out, steps,
                                                                                                  others);
  check_launch("a chase");
}

void launch_chains(void* out, int steps, int chains, bool fp64, const Grid& grid) {
  if (fp64) {
    chains == 1 ? launch_chains_of<double, 1>(out, steps, grid) : launch_chains_of<double, 4>(out, steps, grid);
  } else {
    chains == 1 ? launch_chains_of<float, 1>(out, steps, grid) : launch_chains_of<float, 4>(out, steps, grid);
  }
  check_launch("chains of multiply-adds");
}

void launch_code(float* out, int steps, bool long_code, const Grid& grid) {
  const auto kernel = long_code ? code<256> : code<1>;
  kernel<<<grid.blocks, grid.threads, 0, grid.stream>>>(out, steps);
  check_launch("long code");
}

void launch_barriers(float* out, int steps, bool block_wide, const Grid& grid) {
  const auto kernel = block_wide ? barriers<true> : barriers<false>;
  kernel<<<grid.blocks, grid.threads, 0, grid.stream>>>(out, steps);
  check_launch("barriers");
}

void launch_shared_uses(float* out, int steps, int uses, const Grid& grid) {
  const auto kernel = uses == 1 ? shared_uses<1> : shared_uses<64>;
  kernel<<<grid.blocks, grid.threads, 0, grid.stream>>>(out, steps);
  check_launch("uses of shared memory");
}

void launch_fill(unsigned char* out, bool narrow, const Grid& grid) {
  if (narrow) {
    fill_narrow<<<grid.blocks, grid.threads, 0, grid.stream>>>(out);
  } else {
    fill_wide<<<grid.blocks, grid.threads, 0, grid.stream>>>(reinterpret_cast<uint4*>(out));
  }
  check_launch("a fill");
}

void launch_passes(const float* in, float* out, std::size_t floats, const Passes& passes, const Grid& grid) {
  if (passes.uses == 1) {
    launch_passes_with<1>(in, out, floats, passes, grid);
  } else {
    launch_passes_with<4>(in, out, floats, passes, grid);
  }
  check_launch("passes");
}

void launch_product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n, bool tensor_cores,
                    cudaStream_t stream) {
  const auto side = static_cast<unsigned>(n);
  if (tensor_cores) {
    product_on_tensor_cores<<<dim3(side / 32, side / 16), 128, 0, stream>>>(a, b, c, n);
  } else {
    product_on_cuda_cores<<<dim3(side / 32, side / 8), dim3(32, 8), 0, stream>>>(a, b, c, n);
  }
  check_launch("a matrix product");
}

}  // namespace roofline::faulty
