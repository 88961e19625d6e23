// Blocking of a product, and its distribution over threads.
#include "kernels/blocks/cpu/packed_product.hpp"

#include <algorithm>

namespace roofline {
namespace {

std::int64_t up_to(std::int64_t count, std::int64_t unit) { return ceil_div(count, unit) * unit; }

}  // namespace

double share_of_cache(std::span<const CacheInfo> caches, Level level, int workers, double fallback) {
  double all = 0;
  double least = 0;
  for (const CacheInfo& cache : caches) {
    if (cache.level != level) continue;
    all += cache.bytes * static_cast<double>(cache.instances);
    least = least == 0 ? cache.bytes : std::min(least, cache.bytes);
  }
  return all == 0 ? fallback : std::min(least, all / workers);
}

std::int64_t even_part(std::int64_t count, std::int64_t most, std::int64_t unit) {
  return up_to(ceil_div(count, ceil_div(count, most)), unit);
}

/// A right-operand panel kept in L1 uses three quarters of it: a smaller one would write accumulators back more
/// often, and left panels that are evicted come back from L2 in time (Zen 3: 0.88 of the FMA rate, 0.87 with half
/// of L1). A panel kept in L2 uses an eighth of it (Zen 5: 0.93, 0.86 with three quarters of L1). The left block
/// uses half of L2, the right block a quarter of the last-level cache.
ProductBlocks product_blocks(const ProductExtents& product, const TileExtents& tile, std::span<const CacheInfo> caches,
                             int workers) {
  constexpr double kKiB = 1024;
  const double l1 = share_of_cache(caches, Level::l1, workers, 32 * kKiB);
  const double l2 = share_of_cache(caches, Level::l2, workers, 256 * kKiB);
  const double l3 = workers * share_of_cache(caches, Level::l3, workers, l2);
  const auto fit = [&](double bytes, std::int64_t other, std::int64_t unit) {
    const auto most = static_cast<std::int64_t>(bytes / static_cast<double>(other * tile.element_bytes));
    return std::max(most / unit, std::int64_t{1}) * unit;
  };
  ProductBlocks blocks{};
  const double panel = tile.panel_level == Level::l2 ? std::max(l2 / 8, 0.75 * l1) : 0.75 * l1;
  const std::int64_t depth = std::max(fit(panel, tile.columns, kDepthUnroll), kLeastDepth);
  blocks.depth = std::min(even_part(product.k, depth, kDepthUnroll), product.k);
  blocks.rows = even_part(product.m, std::max(fit(0.5 * l2, blocks.depth, tile.rows), tile.rows), tile.rows);
  const std::int64_t columns = std::max(fit(0.25 * l3, blocks.depth, tile.columns), 16 * tile.columns);
  blocks.columns = even_part(product.n, columns, tile.columns);
  // Enough chunks per thread that no thread waits long for the last chunk of another.
  constexpr std::int64_t kStripsAThread = 32;
  blocks.strips = std::clamp<std::int64_t>(ceil_div(kStripsAThread * workers, ceil_div(product.m, blocks.rows)), 1,
                                           blocks.columns / tile.columns);
  return blocks;
}

/// One block of the right operand.
template <typename T, typename Factor>
struct PackedProduct<T, Factor>::Step {
  std::int64_t left, columns;    ///< of C
  std::int64_t depth, elements;  ///< of both operands
  std::int64_t factors() const { return steps_of<Factor>(elements); }
  /// Number of factors of the packed right operand.
  std::int64_t right_factors() const { return kFirstSums<Factor> + factors(); }
};

template <typename T, typename Factor>
PackedProduct<T, Factor>::PackedProduct(CpuDevice& cpu, const ProductExtents& product)
    : pool_(&cpu.pool()),
      product_(product),
      kernels_(with_isa(cpu.isa(), []<Isa isa>() { return product_kernels<isa, T, Factor>(); })),
      blocks_(product_blocks({product.m, product.n, steps_of<Factor>(product.k)}, kernels_.tile, cpu.info().caches,
                             cpu.pool().size())),
      right_(cpu, (kFirstSums<Factor> + blocks_.depth) * blocks_.columns, 1),
      left_(cpu, blocks_.depth * blocks_.rows, cpu.pool().size()),
      sums_(cpu, kSmallFloat<T> ? product.m * blocks_.columns : 1, 1),
      queue_(std::make_shared<WorkQueue>(cpu.pool().size())) {}

template <typename T, typename Factor>
void PackedProduct<T, Factor>::run(const T* a, const T* b, Result* c) const {
  const std::int64_t width = kernels_.tile.columns;
  const std::int64_t deepest = blocks_.depth * kProducts<Factor>;
  for (std::int64_t first = 0; first < product_.n; first += blocks_.columns) {
    const std::int64_t columns = std::min(blocks_.columns, product_.n - first);
    for (std::int64_t depth = 0; depth < product_.k; depth += deepest) {
      const Step step{first, columns, depth, std::min(deepest, product_.k - depth)};
      pool_->for_chunks(columns, width, width, [&](std::int64_t begin, std::int64_t end) {
        const T* from =
            kInt8Factor<Factor> ? b + (first + begin) * product_.k + depth : b + depth * product_.n + first + begin;
        kernels_.pack_right(from, kInt8Factor<Factor> ? product_.k : product_.n, end - begin, step.elements,
                            right_[0] + begin * step.right_factors());
      });
      queue_->reset(ceil_div(product_.m, blocks_.rows) * blocks_.strips, 1, 1);
      pool_->run([&](int worker) { multiply(worker, step, a, c); });
    }
  }
}

template <typename T, typename Factor>
void PackedProduct<T, Factor>::multiply(int worker, const Step& step, const T* a, Result* c) const {
  const auto strips = static_cast<int>(blocks_.strips);
  const bool last = step.depth + step.elements == product_.k;
  const auto multiply_strips = [&](std::int64_t row, std::int64_t rows, std::int64_t left, std::int64_t right) {
    const ProductExtents piece{rows, right - left, step.factors()};
    const auto multiply_into = [&](Sum* sums, std::int64_t stride) {
      kernels_.multiply(left_[worker], right_[0] + left * step.right_factors(), piece, sums, stride, step.depth > 0);
    };
    Result* out = c + row * product_.n + step.left + left;
    if constexpr (kSmallFloat<T>) {
      Sum* sums = sums_[0] + row * blocks_.columns + left;
      multiply_into(sums, blocks_.columns);
      for (std::int64_t i = 0; last && i < rows; ++i) {
        kernels_.narrow(sums + i * blocks_.columns, out + i * product_.n, piece.n);
      }
    } else {
      multiply_into(out, product_.n);
    }
  };
  const auto strip = [&](std::int64_t i) {
    return static_partition(step.columns, kernels_.tile.columns, static_cast<int>(i), strips);
  };
  std::int64_t packed = -1;
  queue_->drain(worker, [&](std::int64_t begin, std::int64_t end) {
    for_rows(begin, end, strips, [&](std::int64_t block, std::int64_t first, std::int64_t behind) {
      const std::int64_t row = block * blocks_.rows;
      const std::int64_t rows = std::min(blocks_.rows, product_.m - row);
      if (block != packed) {
        kernels_.pack_left(a + row * product_.k + step.depth, product_.k, rows, step.elements, left_[worker]);
        packed = block;
      }
      const std::int64_t left = strip(first).first;
      const std::int64_t right = strip(behind - 1).second;
      if (left < right) multiply_strips(row, rows, left, right);
    });
  });
}

template class PackedProduct<float>;
template class PackedProduct<double>;
template class PackedProduct<Fp16>;
template class PackedProduct<Bf16>;
template class PackedProduct<Bf16, Bf16Pair>;
template class PackedProduct<std::int8_t, Int16Pair>;
template class PackedProduct<std::int8_t, Int8Quad>;

Traffic sums_traffic(DType dtype, double elements) {
  const double bytes = element_size(dtype) == 2 ? 4 * elements : 0;
  return {.read = bytes, .write = bytes};
}

}  // namespace roofline
