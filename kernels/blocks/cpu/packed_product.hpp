// A matrix product by all threads, as Goto and van de Geijn cut it ("Anatomy of High-Performance Matrix
// Multiplication", 2008): a block of the right operand, packed once for all threads, stays in the last cache level;
// each thread's blocks of the left one in its L2; a panel of the right one in its L1, or in its L2 too.
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

/// Of a product, left[m × k] · right[k × n]; and of a piece of it.
struct ProductExtents {
  std::int64_t m, n, k;
};

/// The register tile of a level, and what it computes in.
struct TileExtents {
  std::int64_t rows, columns;
  std::int64_t element_bytes;
  Level panel_level = Level::l1;  ///< which cache holds a panel of the right operand
};

/// How a product is cut. Rows are a multiple of the tile's, and so are columns.
struct ProductBlocks {
  std::int64_t rows;     ///< of the left operand that a thread packs at a time, at most
  std::int64_t depth;    ///< of both operands
  std::int64_t columns;  ///< of the right operand, for all threads
  std::int64_t strips;   ///< of those columns: what threads take is a strip of some rows
};
/// What a worker has of a cache level, its caches being shared evenly; `fallback` where the level is not known. In
/// bytes.
double share_of_cache(std::span<const CacheInfo> caches, Level level, int workers, double fallback);

/// `count` in as few parts as `most` allows, all alike, and multiples of `unit`.
std::int64_t even_part(std::int64_t count, std::int64_t most, std::int64_t unit);

ProductBlocks product_blocks(const ProductExtents& product, const TileExtents& tile, std::span<const CacheInfo> caches,
                             int workers);

/// What products are made of, at one instruction-set level, for operands of type T: packing brings an operand into the
/// form of register_tile.hpp, panel after panel, as factors: what T is computed in, or pairs of it.
template <typename T, typename Factor>
struct ProductKernels {
  using Sum = Summed<Factor>;
  TileExtents tile;  ///< of factors
  /// Panels of tile.rows rows, each `stride` from the next; the last one is filled up with anything.
  void (*pack_left)(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t depth, Factor* to);
  /// Panels of tile.columns columns, anything behind the last one, each with its first sums. Each element of the depth
  /// is `stride` from the next; of 8-bit integers each column.
  void (*pack_right)(const T* from, std::int64_t stride, std::int64_t columns, std::int64_t depth, Factor* to);
  /// c = left · right, or c += with `add`, for a piece of a product whose operands are packed; its k counts factors.
  void (*multiply)(const Factor* left, const Factor* right, const ProductExtents& piece, Sum* c, std::int64_t ldc,
                   bool add);
  /// Rounds sums to elements; null where they are elements already.
  void (*narrow)(const Sum* from, T* to, std::int64_t count) = nullptr;
};

template <Isa isa, typename T, typename Factor>
ProductKernels<T, Factor> product_kernels();

/// A product of row-major operands of type T, ready to be launched. Copies share their workspaces: one launch at a
/// time.
template <typename T, typename Factor = Computed<T>>
class PackedProduct {
 public:
  using Result = std::conditional_t<kInt8Factor<Factor>, Summed<Factor>, T>;

  PackedProduct(CpuDevice& cpu, const ProductExtents& product);

  /// c[m × n] = a[m × k] · b[k × n]; of 8-bit integers b is the transpose, [n × k]. Called by one thread.
  void run(const T* a, const T* b, Result* c) const;

 private:
  using Sum = Summed<Factor>;
  struct Step;
  void multiply(int worker, const Step& step, const T* a, Result* c) const;

  ThreadPool* pool_;
  ProductExtents product_;
  ProductKernels<T, Factor> kernels_;
  ProductBlocks blocks_;              ///< its depth counts factors
  Workspace<Factor> right_;           ///< a block of it
  Workspace<Factor> left_;            ///< each worker's
  Workspace<Sum> sums_;               ///< of 16-bit products, [m × columns of a block]
  std::shared_ptr<WorkQueue> queue_;  ///< of rows and strips, those of some rows one after another
};

/// What a product of so many elements moves besides: those of 16 bits are summed up in fp32, where caches don't hold
/// the sums, and rounded when they are whole.
Traffic sums_traffic(DType dtype, double elements);

}  // namespace roofline
