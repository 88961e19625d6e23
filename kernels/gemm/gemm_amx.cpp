// GEMM on AMX: one block of C per thread (gemm_amx.amx.cpp).
#include "kernels/gemm/gemm_amx.hpp"

#include <algorithm>

#include "device/cpu/amx.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "kernels/gemm/gemm.hpp"
#include "op/registry.hpp"

namespace roofline {

std::int64_t tiled_workspace(std::int64_t rows, std::int64_t columns) {
  const std::int64_t strips = ceil_div(std::min(rows, kTiledRows), kTileBlock);
  const std::int64_t panels = ceil_div(std::min(columns, kTiledColumns), kTileBlock);
  const std::int64_t coming = kBlockTiles;  // prefetched past the last block
  return (1 + panels) * kTiledSteps * kStepTiles + (strips * panels + 1) * kBlockTiles + coming;
}

#if defined(__x86_64__)
namespace {

template <typename T>
Kernel prepare_gemm_as(const Workload& w, CpuDevice& cpu) {
  const GemmExtents e = gemm_extents(w);
  const BlockGrid grid = block_grid(e.m, e.n, cpu.pool().size());
  const std::int64_t rows = e.m / grid.down + kTileBlock;
  const std::int64_t columns = e.n / grid.across + kTileBlock;
  const Workspace<Tile> workspaces(cpu, tiled_workspace(rows, columns), cpu.pool().size());
  return [=, &pool = cpu.pool()](std::span<void* const> tensors) {
    pool.run([&](int worker) {
      const auto [top, bottom] = static_partition(e.m, kTileBlock, worker / grid.across, grid.down);
      const auto [left, right] = static_partition(e.n, kTileBlock, worker % grid.across, grid.across);
      if (top == bottom || left == right) return;
      const bool transposed = w.dtype == DType::int8;
      if constexpr (kAmxIsBuilt)
        amx_product<Isa::avx512>(
            TiledProduct<T>{.a = elements<const T>(tensors, 0) + top * e.k,
                            .lda = e.k,
                            .b = elements<const T>(tensors, 1) + left * (transposed ? e.k : 1),
                            .ldb = transposed ? e.k : e.n,
                            .c = elements<typename TiledProduct<T>::Result>(tensors, 2) + top * e.n + left,
                            .ldc = e.n,
                            .rows = bottom - top,
                            .columns = right - left,
                            .depth = e.k},
            workspaces[worker]);
    });
  };
}

Kernel prepare_gemm_amx(const Workload& w, Device& device) {
  if (w.dtype == DType::int8) return prepare_gemm_as<std::int8_t>(w, as_cpu(device));
  if (w.dtype == DType::fp16) return prepare_gemm_as<Fp16>(w, as_cpu(device));
  return prepare_gemm_as<Bf16>(w, as_cpu(device));
}

const ImplementationRegistrar kRegistrar(
    "gemm",
    {{.name = "amx",
      .summary = "all threads, one block of C each, 2 x 2 AMX tiles, packed operands",
      .dtypes = {DType::fp16, DType::bf16, DType::int8},
      .unsupported = [](const Workload& w, const Device& device) { return amx_missing(w.dtype, as_cpu(device).isa()); },
      .prepare = prepare_gemm_amx}});

}  // namespace
#endif

}  // namespace roofline
