// How the direct convolution is cut, and how workers share it.
#include "kernels/conv2d/direct_conv.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/blocks/cpu/claim.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"

namespace roofline {

/// A third of L2 for the filters of a part, three eighths for the image, and what they leave for sums and the output.
ConvBlocks conv_blocks(const ConvSize& size, const TileExtents& tile, std::int64_t products,
                       std::span<const CacheInfo> caches, int workers) {
  const double l2 = share_of_cache(caches, Level::l2, workers, 256 * 1024);
  const auto fit = [&](double share, std::int64_t other) {
    return std::max<std::int64_t>(
        static_cast<std::int64_t>(share * l2 / static_cast<double>(other * tile.element_bytes)), 1);
  };
  ConvBlocks blocks{};
  blocks.channels = ceil_div(size.channels, products);
  blocks.panels = ceil_div(size.filters, tile.columns);
  const std::int64_t line = size.kernel * blocks.channels;
  const std::int64_t steps = fit(1.0 / 3, tile.columns);
  blocks.part_rows = std::clamp<std::int64_t>(steps / line, 1, size.kernel);
  blocks.part_steps = std::min(line, even_part(line, std::max(steps, kLeastDepth), kDepthUnroll));
  const std::int64_t border = size.kernel - 1;
  const std::int64_t pixels = fit(3.0 / 8, blocks.channels);
  // As many rows as have room whole, or as much of one.
  blocks.columns =
      std::clamp<std::int64_t>(pixels / size.kernel - border, std::min(size.columns, tile.rows), size.columns);
  blocks.rows = std::clamp<std::int64_t>(pixels / (blocks.columns + border) - border, 1, size.rows);
  // Workers share the filters where there are too few rows for each to have some.
  constexpr std::int64_t kRows = 4;
  for (blocks.across = 1; blocks.across < workers; ++blocks.across) {
    const bool enough = size.batch * size.rows >= kRows * (workers / blocks.across);
    if (workers % blocks.across == 0 && (enough || blocks.across >= blocks.panels)) break;
  }
  return blocks;
}

namespace {

template <typename T, typename Factor>
class DirectConv {
 public:
  DirectConv(CpuDevice& cpu, const ConvSize& size)
      : pool_(&cpu.pool()),
        size_(size),
        kernels_(with_isa(cpu.isa(), []<Isa isa>() { return conv_kernels<isa, T, Factor>(); })),
        blocks_(conv_blocks(size, kernels_.tile, kProducts<Factor>, cpu.info().caches, pool_->size())),
        filters_(cpu, blocks_.panels * kernels_.tile.columns * size.kernel * size.kernel * blocks_.channels, 1),
        images_(cpu, (blocks_.rows + size.kernel - 1) * (blocks_.columns + size.kernel - 1) * blocks_.channels,
                pool_->size()),
        sums_(cpu, blocks_.rows * blocks_.columns * kernels_.tile.columns, pool_->size()),
        claimed_(std::make_shared<std::vector<Claimed>>(static_cast<std::size_t>(blocks_.across))) {}

  void run(const T* input, const T* filters, T* output) const {
    pool_->for_range(blocks_.panels, 1, [&](std::int64_t begin, std::int64_t end) {
      kernels_.pack(filters, size_, blocks_, begin, end, filters_[0]);
    });
    for (Claimed& claimed : *claimed_) claimed.count.store(0, std::memory_order_relaxed);
    pool_->run([&](int worker) { work(worker, input, output); });
  }

 private:
  /// Takes rows of the output, of all images in turn, as it is ready for them.
  void work(int worker, const T* input, T* output) const {
    const int group = worker % blocks_.across;
    const auto panels = share_of(blocks_.panels, 1, group, blocks_.across);
    if (panels.first == panels.second) return;
    const std::int64_t all = size_.batch * size_.rows;
    auto& next = (*claimed_)[static_cast<std::size_t>(group)].count;
    for (;;) {
      const auto [begin, end] = claim(next, all, pool_->size() / blocks_.across, blocks_.rows);
      if (begin == end) return;
      for (std::int64_t row = begin; row < end;) {
        const std::int64_t top = row % size_.rows;
        const std::int64_t rows = std::min(end - row, size_.rows - top);
        for (std::int64_t left = 0; left < size_.columns; left += blocks_.columns) {
          const ConvPiece piece{
              row / size_.rows, top,          left, rows, std::min(blocks_.columns, size_.columns - left),
              panels.first,     panels.second};
          kernels_.convolve(input, filters_[0], output, size_, blocks_, piece, images_[worker], sums_[worker]);
        }
        row += rows;
      }
    }
  }

  ThreadPool* pool_;
  ConvSize size_;
  ConvKernels<T, Factor> kernels_;
  ConvBlocks blocks_;
  Workspace<Factor> filters_;                      ///< packed
  Workspace<Factor> images_;                       ///< each worker's
  Workspace<Summed<Factor>> sums_;                 ///< the same
  std::shared_ptr<std::vector<Claimed>> claimed_;  ///< rows, by each group
};

template <typename T, typename Factor>
Kernel kernel_of(const Workload& w, Device& device) {
  return [conv = DirectConv<T, Factor>(as_cpu(device), conv_size(w.shape))](std::span<void* const> tensors) {
    conv.run(elements<const T>(tensors, 0), elements<const T>(tensors, 1), elements<T>(tensors, 2));
  };
}

}  // namespace

std::vector<Implementation> direct_conv_rungs() {
  return {{.name = "direct",
           .summary = "all threads; images copied into L2 with their padding, windows multiplied where they lie",
           .dtypes = cpu_dtypes(),
           .prepare =
               [](const Workload& w, Device& device) {
                 return with_element_type(w.dtype, [&]<typename T>() { return kernel_of<T, Computed<T>>(w, device); });
               }},
          {.name = "dots",
           .summary = "the same on dot products of bf16, pairs of neighbouring channels",
           .dtypes = {DType::bf16},
           .unsupported = [](const Workload&,
                             const Device& device) { return missing(DotUnit::avx512_bf16, as_cpu(device).isa()); },
           .prepare = kernel_of<Bf16, Bf16Pair>}};
}

}  // namespace roofline
