// A tiled GEMM in fp32: blocks of TILE x TILE of C, threads of PER x PER, tiles of A and B in shared memory.
__global__ void gemm(const float* a, const float* b, float* c, int m, int n, int k) {
  constexpr int kThreads = TILE / PER;
  __shared__ float tile_a[DEPTH][TILE + 1];
  __shared__ float tile_b[DEPTH][TILE];
  const int thread = threadIdx.y * kThreads + threadIdx.x;
  const int first_row = blockIdx.y * TILE;
  const int first_column = blockIdx.x * TILE;
  float sums[PER][PER] = {};
  for (int depth = 0; depth < k; depth += DEPTH) {
    for (int i = thread; i < TILE * DEPTH; i += kThreads * kThreads) {
      const int row = first_row + i / DEPTH;
      const int at = depth + i % DEPTH;
      tile_a[i % DEPTH][i / DEPTH] = row < m && at < k ? a[static_cast<size_t>(row) * k + at] : 0;
    }
    for (int i = thread; i < TILE * DEPTH; i += kThreads * kThreads) {
      const int at = depth + i / TILE;
      const int column = first_column + i % TILE;
      tile_b[i / TILE][i % TILE] = at < k && column < n ? b[static_cast<size_t>(at) * n + column] : 0;
    }
    __syncthreads();
    for (int p = 0; p < DEPTH; ++p) {
      float left[PER], right[PER];
      for (int i = 0; i < PER; ++i) left[i] = tile_a[p][threadIdx.y + i * kThreads];
      for (int j = 0; j < PER; ++j) right[j] = tile_b[p][threadIdx.x + j * kThreads];
      for (int i = 0; i < PER; ++i) {
        for (int j = 0; j < PER; ++j) sums[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < PER; ++i) {
    for (int j = 0; j < PER; ++j) {
      const int row = first_row + threadIdx.y + i * kThreads;
      const int column = first_column + threadIdx.x + j * kThreads;
      if (row < m && column < n) c[static_cast<size_t>(row) * n + column] = sums[i][j];
    }
  }
}
