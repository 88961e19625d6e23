"""256 simulations of heat in one CuPy array: the energy of each is read back on its own after every ten time steps."""
import cupy as cp

from workload import FIXED, steps

SIMULATIONS, SIZE, TIME_STEPS = 256, 512, 10

diffuse = cp.RawKernel(r"""
extern "C" __global__ void diffuse(const float* in, float* out, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < 1 || row < 1 || column >= n - 1 || row >= n - 1) return;
  const int i = (blockIdx.z * n + row) * n + column;
  out[i] = in[i] + 0.2f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] - 4 * in[i]);
}
""", "diffuse")

energy = cp.ReductionKernel("float32 x", "float32 y", "x * x", "a + b", "y = a", "0", "energy")


def simulate(heat, following):
    grid, block = (SIZE // 32, SIZE // 8, SIMULATIONS), (32, 8, 1)
    for _ in range(TIME_STEPS):
        diffuse(grid, block, (heat, following, cp.int32(SIZE)))
        heat, following = following, heat
    return energy(heat.reshape(SIMULATIONS, -1), axis=1)


def read_energies(energies):
    if FIXED:
        return energies.get().tolist()
    return [float(energies[number].get()) for number in range(SIMULATIONS)]  # FAULT


def main():
    heat = cp.random.standard_normal((SIMULATIONS, SIZE, SIZE), dtype=cp.float32)
    following = heat.copy()
    for _ in steps(cp.cuda.Device().synchronize):
        read_energies(simulate(heat, following))


if __name__ == "__main__":
    main()
