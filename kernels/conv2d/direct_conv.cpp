// Blocking of the direct convolution, and its distribution over workers.
#include "kernels/conv2d/direct_conv.hpp"

#include <algorithm>
#include <memory>

#include "kernels/blocks/cpu/cpu_launch.hpp"

namespace roofline {

/// A third of L2 for the filters of a part, three eighths for the image; the rest is for accumulators and the
/// output.
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
  // As many whole rows as fit, or as much of one.
  blocks.columns =
      std::clamp<std::int64_t>(pixels / size.kernel - border, std::min(size.columns, tile.rows), size.columns);
  blocks.rows = std::clamp<std::int64_t>(pixels / (blocks.columns + border) - border, 1, size.rows);
  // Fewer rows if a worker would get only a few panels.
  constexpr std::int64_t kPanelsAWorker = 12;
  const std::int64_t wanted =
      ceil_div(kPanelsAWorker * workers, blocks.panels * ceil_div(size.columns, blocks.columns));
  blocks.rows = std::clamp<std::int64_t>(size.batch * size.rows / wanted, 1, blocks.rows);
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
        queue_(std::make_shared<WorkQueue>(pool_->size())) {}

  void run(const T* input, const T* filters, T* output) const {
    pool_->for_chunks(blocks_.panels, 1, 1, [&](std::int64_t begin, std::int64_t end) {
      kernels_.pack(filters, size_, blocks_, begin, end, filters_[0]);
    });
    queue_->reset(size_.batch * down() * along() * blocks_.panels, 1, 1);
    pool_->run([&](int worker) { work(worker, input, output); });
  }

 private:
  /// Parts of an image, and of a row of it.
  std::int64_t down() const { return ceil_div(size_.rows, blocks_.rows); }
  std::int64_t along() const { return ceil_div(size_.columns, blocks_.columns); }

  /// Processes panels of the filters for all parts of the output.
  void work(int worker, const T* input, T* output) const {
    std::int64_t placed = -1;
    queue_->drain(worker, [&](std::int64_t begin, std::int64_t end) {
      for_rows(begin, end, blocks_.panels, [&](std::int64_t index, std::int64_t first, std::int64_t behind) {
        const std::int64_t top = index / along() % down() * blocks_.rows;
        const std::int64_t left = index % along() * blocks_.columns;
        const ConvPiece piece{.image = index / along() / down(),
                              .top = top,
                              .left = left,
                              .rows = std::min(blocks_.rows, size_.rows - top),
                              .columns = std::min(blocks_.columns, size_.columns - left),
                              .first_panel = first,
                              .last_panel = behind};
        if (index != placed) kernels_.place(input, size_, blocks_, piece, images_[worker]);
        placed = index;
        kernels_.convolve(images_[worker], filters_[0], output, size_, blocks_, piece, sums_[worker]);
      });
    });
  }

  ThreadPool* pool_;
  ConvSize size_;
  ConvKernels<T, Factor> kernels_;
  ConvBlocks blocks_;
  Workspace<Factor> filters_;         ///< packed
  Workspace<Factor> images_;          ///< each worker's
  Workspace<Summed<Factor>> sums_;    ///< the same
  std::shared_ptr<WorkQueue> queue_;  ///< of panels
};

template <typename T, typename Factor>
Kernel kernel_of(const Workload& w, Device& device) {
  return [conv = DirectConv<T, Factor>(as_cpu(device), conv_size(w.shape))](std::span<void* const> tensors) {
    conv.run(elements<const T>(tensors, 0), elements<const T>(tensors, 1), elements<T>(tensors, 2));
  };
}

}  // namespace

std::vector<Implementation> direct_conv_implementations() {
  return {{.name = "direct",
           .summary = "all threads; padded images copied into L2, direct convolution without im2col",
           .dtypes = cpu_dtypes(),
           .prepare =
               [](const Workload& w, Device& device) {
                 return with_element_type(w.dtype, [&]<typename T>() { return kernel_of<T, Computed<T>>(w, device); });
               }},
          {.name = "dots",
           .summary = "as direct, with bf16 dot products over pairs of channels",
           .dtypes = {DType::bf16},
           .unsupported = dots_missing,
           .prepare = kernel_of<Bf16, Bf16Pair>}};
}

}  // namespace roofline
