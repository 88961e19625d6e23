"""Conjugate gradients in CuPy: two scalars of every iteration are read back to the host."""
import cupy as cp

from workload import steps

SIZE = 2048
ITERATIONS = 20

apply_laplacian = cp.RawKernel(r"""
extern "C" __global__ void apply_laplacian(const float* x, float* y, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= n || row >= n) return;
  const int i = row * n + column;
  float sum = 4.1f * x[i];
  if (column > 0) sum -= x[i - 1];
  if (column < n - 1) sum -= x[i + 1];
  if (row > 0) sum -= x[i - n];
  if (row < n - 1) sum -= x[i + n];
  y[i] = sum;
}
""", "apply_laplacian")

update = cp.ElementwiseKernel("float32 alpha, float32 p, float32 q", "float32 x, float32 r",
                              "x += alpha * p; r -= alpha * q", "update")
next_direction = cp.ElementwiseKernel("float32 beta, float32 r", "float32 p", "p = r + beta * p", "next_direction")


def solve(right_side, q):
    x = cp.zeros_like(right_side)
    r = right_side.copy()
    p = r.copy()
    grid, block = (SIZE // 32, SIZE // 8), (32, 8)
    residual = float(cp.vdot(r, r).get())
    for _ in range(ITERATIONS):
        apply_laplacian(grid, block, (p, q, cp.int32(SIZE)))
        curvature = float(cp.vdot(p, q).get())  # FAULT
        update(cp.float32(residual / curvature), p, q, x, r)
        following = float(cp.vdot(r, r).get())  # FAULT
        next_direction(cp.float32(following / residual), r, p)
        residual = following
    return x


def main():
    right_side = cp.random.standard_normal((SIZE, SIZE), dtype=cp.float32)
    q = cp.empty_like(right_side)
    for _ in steps(cp.cuda.Device().synchronize):
        solve(right_side, q)


if __name__ == "__main__":
    main()
