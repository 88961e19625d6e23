// The product of a sparse matrix in CSR format and a vector: each thread has its share of the rows.
#include <stdint.h>

void spmv(const int32_t* row, const int32_t* col, const float* v, const float* x, float* y, int64_t rows,
          int32_t thread, int32_t threads) {
  for (int64_t r = rows * thread / threads; r < rows * (thread + 1) / threads; ++r) {
    float sum = 0;
    for (int32_t k = row[r]; k < row[r + 1]; ++k) sum += v[k] * x[col[k]];
    y[r] = sum;
  }
}
