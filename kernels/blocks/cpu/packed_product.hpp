// A matrix product by all threads, as Goto and van de Geijn cut it ("Anatomy of High-Performance Matrix
// Multiplication", 2008): a block of the right operand, packed once for all threads, stays in the last cache level;
// each thread's blocks of the left one in its L2; a panel of the right one in its L1, or in its L2 too. GEMM and
// convolution differ in what is packed.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/cpu/isa.hpp"
#include "kernels/blocks/cpu/convert.hpp"
#include "kernels/blocks/cpu/cpu_launch.hpp"
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
  int across;            ///< groups of threads that share the columns; those of one group share the rows
};
ProductBlocks product_blocks(const ProductExtents& product, const TileExtents& tile, std::span<const CacheInfo> caches,
                             int workers);

/// What products are made of, at one instruction-set level, for operands of type T: packing brings an operand into the
/// form of register_tile.hpp, panel after panel, and widens 16 bits.
template <typename T>
struct ProductKernels {
  using Value = Computed<T>;
  TileExtents tile;
  /// Panels of tile.rows rows, each `stride` from the next; the last one is filled up with anything.
  void (*pack_left)(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t depth, Value* to);
  /// Panels of tile.columns columns, zeros behind the last one. Each step of the depth is `stride` from the next; or,
  /// of a transposed operand, each column.
  void (*pack_right)(const T* from, std::int64_t stride, std::int64_t columns, std::int64_t depth, Value* to);
  void (*pack_right_transposed)(const T* from, std::int64_t stride, std::int64_t columns, std::int64_t depth,
                                Value* to);
  /// c = left · right, or c += with `add`, for a piece of a product whose operands are packed.
  void (*multiply)(const Value* left, const Value* right, const ProductExtents& piece, Value* c, std::int64_t ldc,
                   bool add);
  /// Rounds sums to elements; null where they are elements already.
  void (*narrow)(const Value* from, T* to, std::int64_t count) = nullptr;
};

template <Isa isa, typename T>
ProductKernels<T> product_kernels();

/// Panels of rows that workers have begun with, on a cache line of its own.
struct alignas(64) ClaimedPanels {
  std::atomic<std::int64_t> count{0};
};

/// A product of operands of type T, ready to be launched. Copies share their workspaces: one launch at a time.
template <typename T>
class PackedProduct {
 public:
  using Value = Computed<T>;
  /// Packs rows [first, first + count) of the left operand from `depth` on, `steps` deep.
  using PackLeft =
      std::function<void(std::int64_t first, std::int64_t count, std::int64_t depth, std::int64_t steps, Value* to)>;
  /// The same for columns of the right operand.
  using PackRight = PackLeft;

  PackedProduct(CpuDevice& cpu, const ProductExtents& product);

  const ProductKernels<T>& kernels() const { return kernels_; }

  /// c[m × n] = left · right, row by row. Called by one thread; both packers by all of the pool's.
  void run(const PackLeft& left, const PackRight& right, T* c) const;

 private:
  struct Step;
  void multiply(int worker, const Step& step, const PackLeft& left, T* c) const;
  std::pair<std::int64_t, std::int64_t> claim_rows(int group) const;

  ThreadPool* pool_;
  ProductExtents product_;
  ProductKernels<T> kernels_;
  ProductBlocks blocks_;
  Workspace<Value> right_;                               ///< a block of it
  Workspace<Value> left_;                                ///< each worker's
  Workspace<Value> sums_;                                ///< of 16-bit products, [m × columns of a block]
  std::shared_ptr<std::vector<ClaimedPanels>> claimed_;  ///< of each group of workers
};

/// What a product of so many elements moves besides: those of 16 bits are summed up in fp32, where caches don't hold
/// the sums, and rounded when they are whole.
Traffic sums_traffic(DType dtype, double elements);

}  // namespace roofline
