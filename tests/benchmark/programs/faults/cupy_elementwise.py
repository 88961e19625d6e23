"""Diffusion of a large field, and 40 time steps of a small reaction in CuPy array expressions: 16 kernels each."""
import cupy as cp

from workload import FIXED, steps

FIELD, CELLS, SWEEPS, REACTION_STEPS = 16384, 65536, 6, 40

diffuse = cp.RawKernel(r"""
extern "C" __global__ void diffuse(const float* in, float* out, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
  const int i = row * n + column;
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] - 4 * in[i]);
}
""", "diffuse")


def react(a, b):
    rate = a * b * b - 0.06 * b
    warm = cp.exp(-1.0 / (1.0 + b))
    return a + 0.01 * (0.035 * (1.0 - a) - warm * rate), b + 0.01 * warm * rate


react_fused = cp.fuse(react)


def react_all(a, b):
    step = react_fused if FIXED else react
    for _ in range(REACTION_STEPS):
        a, b = step(a, b)  # FAULT
    return a, b


def main():
    field = cp.random.random((FIELD, FIELD), dtype=cp.float32)
    following = field.copy()
    a, b = cp.random.random((2, CELLS), dtype=cp.float32)
    grid, block = (FIELD // 32, FIELD // 8), (32, 8)
    for _ in steps(cp.cuda.Device().synchronize):
        for _ in range(SWEEPS):
            diffuse(grid, block, (field, following, cp.int32(FIELD)))
            field, following = following, field
        a, b = react_all(a, b)


if __name__ == "__main__":
    main()
