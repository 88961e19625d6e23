// The CPU's rung for 8-bit integers: blocks of C for each thread, by the vector kernels of gemm_int8.simd.cpp.
#include "kernels/gemm/gemm_int8.hpp"

#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "kernels/gemm/gemm.hpp"

namespace roofline {
namespace {

/// Whether the device's level has instructions for dot products of bytes. A level that was lowered leaves its own ones.
bool has_dots(const CpuDevice& cpu) {
#if defined(__aarch64__)
  (void)cpu;
  return has(DotUnit::neon_dot);
#else
  if (cpu.isa() == Isa::avx512) return has(DotUnit::avx512_vnni);
  return cpu.isa() == Isa::avx2 && has(DotUnit::avx_vnni);
#endif
}

}  // namespace

Kernel prepare_packed_int8(const Workload& w, Device& device) {
  auto& cpu = as_cpu(device);
  const GemmExtents e = gemm_extents(w);
  const BlockGrid grid = block_grid(e.m, e.n, cpu.pool().size());
  const auto product = with_isa(cpu.isa(), [&]<Isa isa>() { return int8_product<isa>(has_dots(cpu)); });
  const Workspace<std::uint32_t> workspaces(cpu, product.workspace, cpu.pool().size());
  return [=, &pool = cpu.pool()](std::span<void* const> tensors) {
    pool.run([&](int worker) {
      constexpr std::int64_t kGrain = 192;  // a multiple of every tile's rows and columns
      const auto [top, bottom] = share_of(e.m, kGrain, worker / grid.across, grid.down);
      const auto [left, right] = share_of(e.n, kGrain, worker % grid.across, grid.across);
      if (top == bottom || left == right) return;
      product.run(elements<const std::int8_t>(tensors, 0) + top * e.k,
                  elements<const std::int8_t>(tensors, 1) + left * e.k,
                  elements<std::int32_t>(tensors, 2) + top * e.n + left, e.n, bottom - top, right - left, e.k,
                  workspaces[worker]);
    });
  };
}

}  // namespace roofline
