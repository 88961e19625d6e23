// Convolution on AMX: all threads pack filters, then each fetches blocks of pixels from a shared counter
// (conv2d_amx.amx.cpp).
#include "kernels/conv2d/conv2d_amx.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

#include "device/cpu/amx.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "kernels/blocks/cpu/guided_chunks.hpp"
#include "op/registry.hpp"

namespace roofline {

ConvTiles::ConvTiles(const ConvSize& size)
    : pixel_blocks(ceil_div(size.pixels, kTileBlock)),
      filter_blocks(ceil_div(size.filters, kTileBlock)),
      steps(ceil_div(size.depth, kTileDepth<Bf16>)),
      filters(filter_blocks * steps * kStepTiles),
      workspace(kConvSteps * kStepTiles +
                (1 + std::min(pixel_blocks, kConvPixelBlocks) * std::min(filter_blocks, kConvFilterBlocks)) *
                    kBlockTiles) {}

#if defined(__x86_64__)
namespace {

template <typename T>
Kernel prepare_conv_as(const Workload& w, CpuDevice& cpu) {
  const ConvSize size = conv_size(w.shape);
  const ConvTiles count(size);
  const Workspace<Tile> packed(cpu, count.filters, 1);
  const Workspace<Tile> workspaces(cpu, count.workspace, cpu.pool().size());
  return [=, &pool = cpu.pool(),
          next_block = std::make_shared<std::atomic<std::int64_t>>(0)](std::span<void* const> tensors) {
    pool.for_range(count.filter_blocks * count.steps, 1, [&](std::int64_t begin, std::int64_t end) {
      if constexpr (kAmxIsBuilt)
        amx_pack_filters<Isa::avx512>(elements<const T>(tensors, 1), size, begin, end - begin, packed[0]);
    });
    next_block->store(0, std::memory_order_relaxed);
    pool.run([&](int worker) {
      for (;;) {
        const auto [first, last] = next_guided_chunk(*next_block, count.pixel_blocks, pool.size(), kConvPixelBlocks);
        if (first == last) return;
        if constexpr (kAmxIsBuilt)
          amx_convolution<Isa::avx512>(elements<const T>(tensors, 0), packed[0], elements<T>(tensors, 2), size, first,
                                       last - first, workspaces[worker]);
      }
    });
  };
}

Kernel prepare_conv_amx(const Workload& w, Device& device) {
  if (w.dtype == DType::fp16) return prepare_conv_as<Fp16>(w, as_cpu(device));
  return prepare_conv_as<Bf16>(w, as_cpu(device));
}

const ImplementationRegistrar kRegistrar(
    "conv2d",
    {{.name = "amx",
      .summary = "all threads; im2col into AMX tiles, one block of pixels at a time, packed filters",
      .dtypes = {DType::fp16, DType::bf16},
      .unsupported = [](const Workload& w, const Device& device) { return amx_missing(w.dtype, as_cpu(device).isa()); },
      .prepare = prepare_conv_amx}});

}  // namespace
#endif

}  // namespace roofline
