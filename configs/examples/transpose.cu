// A matrix transpose, once straight and once through a tile in shared memory, as NVIDIA's tutorial has them.
__global__ void transpose_naive(const float* a, float* b, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns)
    b[static_cast<size_t>(column) * rows + row] = a[static_cast<size_t>(row) * columns + column];
}

// Rows of TILE threads read and write whole lines; the column more keeps them in different banks.
__global__ void transpose_tiled(const float* a, float* b, int rows, int columns) {
  __shared__ float tile[TILE][TILE + 1];
  int column = blockIdx.x * TILE + threadIdx.x;
  int row = blockIdx.y * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += ROWS) {
    if (row + i < rows && column < columns)
      tile[threadIdx.y + i][threadIdx.x] = a[static_cast<size_t>(row + i) * columns + column];
  }
  __syncthreads();
  column = blockIdx.y * TILE + threadIdx.x;
  row = blockIdx.x * TILE + threadIdx.y;
  for (int i = 0; i < TILE; i += ROWS) {
    if (row + i < columns && column < rows)
      b[static_cast<size_t>(row + i) * rows + column] = tile[threadIdx.x][threadIdx.y + i];
  }
}
