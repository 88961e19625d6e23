// Nine kernels as users write them, each with the wrong twin that -DWRONG=1 selects. nine_kernels.yaml runs them,
// tests/cli/nine_kernels_gpu_test.py says what verification and report must say of both.

using Index = long long;

__device__ Index first_element() { return blockIdx.x * static_cast<Index>(blockDim.x) + threadIdx.x; }
__device__ Index elements_in_grid() { return gridDim.x * static_cast<Index>(blockDim.x); }

__global__ void zero_counts(unsigned* counts) { counts[threadIdx.x] = 0; }
__global__ void zero_sum(float* sum) { *sum = 0; }

/// Integer atomics in main memory: the reference of the next one.
__global__ void histogram_global(const unsigned char* x, unsigned* counts, Index n) {
  for (Index i = first_element(); i < n; i += elements_in_grid()) {
#if WRONG
    counts[x[i]] = counts[x[i]] + 1;  // lost updates
#else
    atomicAdd(&counts[x[i]], 1u);
#endif
  }
}

/// The same in shared memory, merged at the end.
__global__ void histogram(const unsigned char* x, unsigned* counts, Index n) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const Index words = n / 4;
  const unsigned* packed = reinterpret_cast<const unsigned*>(x);
  for (Index i = first_element(); i < words; i += elements_in_grid()) {
    const unsigned four = packed[i];
    for (int byte = 0; byte < 4; ++byte) {
      const unsigned bin = four >> (8 * byte) & 0xFF;
#if WRONG
      mine[bin] = mine[bin] + 1;  // lost updates
#else
      atomicAdd(&mine[bin], 1u);
#endif
    }
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

__global__ void dot(const float* x, const float* y, float* sum, Index n) {
  float v = 0;
  for (Index i = first_element(); i < n; i += elements_in_grid()) v += x[i] * y[i];
  const int widest = WRONG ? 8 : 16;  // half of each warp is lost
  for (int lane = widest; lane > 0; lane /= 2) v += __shfl_down_sync(~0u, v, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
}

__global__ void saxpy(const float* x, float* y, float a, Index n) {
  const Index i = first_element();
  const Index from = WRONG && i + 1 < n ? i + 1 : i;  // off by one
  if (i < n) y[i] += a * x[from];
}

/// A warp per row.
__global__ void spmv(const int* row, const int* col, const float* v, const float* x, float* y, Index rows) {
  const Index r = first_element() / 32;
  if (r >= rows) return;
  float sum = 0;
  const int end = row[r + 1] - WRONG;  // the last non-zero of each row is lost
  for (int k = row[r] + threadIdx.x % 32; k < end; k += 32) sum += v[k] * x[col[k]];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(~0u, sum, lane);
  if (threadIdx.x % 32 == 0) y[r] = sum;
}

/// The border of y keeps what was there.
__global__ void stencil(const float* x, float* y, int n) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c >= n || r >= n) return;
  const Index at = static_cast<Index>(r) * n + c;
  if (c > 0 && c < n - 1 && r > 0 && r < n - 1) {
    y[at] = 0.25f * (x[at - 1] + x[at + 1] + x[at - n] + x[at + n]);
  } else if (WRONG) {
    y[at] = 0;  // wrong border
  }
}

/// A working set in L2, sixteen bytes per thread.
__global__ void hot_rows(const float4* x, float4* y, Index vectors) {
  const Index i = first_element();
  if (i >= vectors || (WRONG && threadIdx.x % 64 >= 32)) return;  // half of each tile
  const float4 v = x[i];
  y[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}

/// b is the transpose of a, through a tile of 32 x 32 in shared memory; blocks of 32 x 8.
__global__ void transposed_copy(const float* a, float* b, int rows, int columns) {
  __shared__ float tile[32][33];
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (row + i < rows && column < columns)
      tile[threadIdx.y + i][threadIdx.x] = a[static_cast<Index>(row + i) * columns + column];
  }
  __syncthreads();
  const int to_column = blockIdx.y * 32 + threadIdx.x, to_row = blockIdx.x * 32 + threadIdx.y;
  const int height = WRONG ? 16 : 32;  // half of each tile
  for (int i = 0; i < height; i += 8) {
    if (to_row + i < columns && to_column < rows)
      b[static_cast<Index>(to_row + i) * rows + to_column] = tile[threadIdx.x][threadIdx.y + i];
  }
}

struct alignas(64) TensorMap {
  char bytes[128];
};

/// Tiles of 32 x 32 by the copy engine, doubled.
__global__ void tensor_tiles(const __grid_constant__ TensorMap map, float* y, int columns) {
  __shared__ alignas(128) float tile[32][32];
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const int column = blockIdx.x * 32, row = blockIdx.y * 32;
  if (threadIdx.x == 0) {
    const int from = WRONG && blockIdx.x + 1 < gridDim.x ? column + 32 : column;  // the tile beside it
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(4096) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
            to),
        "l"(&map), "r"(from), "r"(row), "r"(at)
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{ .reg .pred done; wait: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra wait; }" ::"r"(at)
      : "memory");
  for (int i = threadIdx.x; i < 1024; i += blockDim.x)
    y[(row + i / 32) * static_cast<Index>(columns) + column + i % 32] = 2 * tile[i / 32][i % 32];
}

/// Every sixteenth element: 4 of the 32 bytes of each sector.
__global__ void strided_copy(const float* x, float* y, Index n) {
  const Index i = first_element();
  if (i < n) y[i] = x[16 * i + WRONG];  // off by one
}
