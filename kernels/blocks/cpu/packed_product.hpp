// A multi-threaded matrix product with the blocking of Goto and van de Geijn ("Anatomy of High-Performance Matrix
// Multiplication", 2008): a block of the right operand, packed once for all threads, stays in the last-level cache;
// each thread's blocks of the left one in its L2; a panel of the right one in its L1, or in its L2 as well.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/convert.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"
#include "kernels/blocks/cpu/factors.hpp"
#include "model/machine.hpp"

namespace roofline {

/// Extents of a product, left[m × k] · right[k × n], or of a part of it.
struct ProductExtents {
  std::int64_t m, n, k;
};

/// The register tile of a level, and its compute type.
struct TileExtents {
  std::int64_t rows, columns;
  std::int64_t element_bytes;
  Level panel_level = Level::l1;  ///< which cache holds a panel of the right operand
};

/// Blocking of a product. Rows and columns are multiples of the tile's.
struct ProductBlocks {
  std::int64_t rows;     /// of the left operand that a thread packs at a time (upper bound)
  std::int64_t depth;    /// of both operands
  std::int64_t columns;  /// of the right operand, for all threads
  std::int64_t strips;   /// of those columns: a chunk is a strip of some rows
};
/// A worker's even share of a cache level in bytes; `fallback` if the level is unknown.
double share_of_cache(std::span<const CacheInfo> caches, Level level, int workers, double fallback);

/// Splits `count` into the fewest equal parts of at most `most`, in multiples of `unit`.
std::int64_t even_part(std::int64_t count, std::int64_t most, std::int64_t unit);

ProductBlocks product_blocks(const ProductExtents& product, const TileExtents& tile, std::span<const CacheInfo> caches,
                             int workers);

/// Kernels of a product at one instruction-set level, for operands of type T: packing writes an operand in the form
/// of register_tile.hpp, panel by panel, as factors (the compute type of T, or pairs of it).
template <typename T, typename Factor>
struct ProductKernels {
  using Sum = Summed<Factor>;
  TileExtents tile;  ///< of factors
  /// Panels of tile.rows rows, `stride` apart; the last one is padded with arbitrary values.
  void (*pack_left)(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t depth, Factor* to);
  /// Panels of tile.columns columns, padded with arbitrary values, each with its initial sums. `stride` is the
  /// distance of elements along k; for 8-bit integers of columns.
  void (*pack_right)(const T* from, std::int64_t stride, std::int64_t columns, std::int64_t depth, Factor* to);
  /// c = left · right, or c += with `add`, for a part of a product with packed operands; its k counts factors.
  void (*multiply)(const Factor* left, const Factor* right, const ProductExtents& piece, Sum* c, std::int64_t ldc,
                   bool add);
  /// Rounds sums to elements; null if they are elements already.
  void (*narrow)(const Sum* from, T* to, std::int64_t count) = nullptr;
};

template <Isa isa, typename T, typename Factor>
ProductKernels<T, Factor> product_kernels();

/// A product of row-major operands of type T, ready to launch. Copies share their workspaces, so only one launch
/// may run at a time.
template <typename T, typename Factor = Computed<T>>
class PackedProduct {
 public:
  using Result = std::conditional_t<kInt8Factor<Factor>, Summed<Factor>, T>;

  PackedProduct(CpuDevice& cpu, const ProductExtents& product);

  /// c[m × n] = a[m × k] · b[k × n]; for 8-bit integers b is the transpose, [n × k]. Called by one thread.
  void run(const T* a, const T* b, Result* c) const;

 private:
  using Sum = Summed<Factor>;
  struct Step;
  void multiply(int worker, const Step& step, const T* a, Result* c) const;

  ThreadPool* pool_;
  ProductExtents product_;
  ProductKernels<T, Factor> kernels_;
  ProductBlocks blocks_;              /// its depth counts factors
  Workspace<Factor> right_;           /// one block
  Workspace<Factor> left_;            /// one per worker
  Workspace<Sum> sums_;               /// of 16-bit products, [m × columns of a block]
  std::shared_ptr<WorkQueue> queue_;  /// of (rows, strip) chunks, the strips of some rows consecutively
};

/// Extra traffic of a product of this size: 16-bit products are accumulated in fp32 and rounded at the end, and
/// caches may not hold the sums.
Traffic sums_traffic(DType dtype, double elements);

}  // namespace roofline
