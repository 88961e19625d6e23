// How the packed product cuts its work, on caches that nobody has here, and its results where the cuts are odd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "kernels/blocks/cpu/packed_product.hpp"
#include "tests/support/values.hpp"

namespace roofline {
namespace {

constexpr TileExtents kTiles[] = {{6, 16, 4}, {6, 8, 8}, {12, 32, 4}, {12, 16, 8}, {6, 4, 8}, {12, 32, 4, Level::l2}};

struct Caches {
  const char* name;
  std::vector<CacheInfo> caches;
  int workers;
};

const std::vector<Caches>& machines() {
  static const std::vector<Caches> all = {
      {"Zen3", {{Level::l1, 32 * kKiB, 2}, {Level::l2, 512 * kKiB, 2}, {Level::l3, 32768 * kKiB, 1}}, 2},
      {"TwoThreadsACore", {{Level::l1, 32 * kKiB, 4}, {Level::l2, 256 * kKiB, 4}, {Level::l3, 8192 * kKiB, 1}}, 8},
      {"SharedL2WithoutL3", {{Level::l1, 64 * kKiB, 4}, {Level::l2, 1024 * kKiB, 1}}, 4},
      {"ManyCores",
       {{Level::l1, 48 * kKiB, 128}, {Level::l2, 2048 * kKiB, 128}, {Level::l3, 300 * 1024 * kKiB, 2}},
       128},
      {"TwoKindsOfCores", {{Level::l1, 48 * kKiB, 6}, {Level::l1, 32 * kKiB, 8}, {Level::l2, 1280 * kKiB, 6}}, 14},
      {"NothingKnown", {}, 3}};
  return all;
}

TEST(ProductBlocks, FitTheCachesAndTheProduct) {
  for (const Caches& machine : machines()) {
    for (const TileExtents& tile : kTiles) {
      for (const ProductExtents& e :
           {ProductExtents{1, 1, 1}, {4096, 4096, 4096}, {7, 100000, 3}, {100000, 5, 70001}}) {
        SCOPED_TRACE(testing::Message() << machine.name << ' ' << tile.rows << 'x' << tile.columns << ' ' << e.m << 'x'
                                        << e.n << 'x' << e.k);
        const ProductBlocks blocks = product_blocks(e, tile, machine.caches, machine.workers);
        EXPECT_GE(blocks.depth, 1);
        EXPECT_LE(blocks.depth, e.k);
        EXPECT_GE(blocks.rows, tile.rows);
        EXPECT_EQ(blocks.rows % tile.rows, 0);
        EXPECT_GE(blocks.columns, tile.columns);
        EXPECT_EQ(blocks.columns % tile.columns, 0);
        EXPECT_GE(blocks.strips, 1);
        EXPECT_LE(blocks.strips * tile.columns, blocks.columns);
        // Never a block that holds much more than there is.
        EXPECT_LT(blocks.columns, e.n + tile.columns);
        EXPECT_LT(blocks.rows, e.m + tile.rows);
        for (const CacheInfo& cache : machine.caches) {
          const double bytes = cache.bytes;
          if (cache.level == tile.panel_level && blocks.depth > 64) {
            EXPECT_LE(static_cast<double>(blocks.depth * tile.columns * tile.element_bytes), bytes);
          }
          if (cache.level == Level::l2 && blocks.rows > tile.rows) {
            EXPECT_LE(static_cast<double>(blocks.depth * blocks.rows * tile.element_bytes), bytes);
          }
        }
      }
    }
  }
}

/// Known by hand: Zen 3's 32 KiB hold 384 steps of 16 columns beside a quarter of other things; 4096 in eleven parts.
TEST(ProductBlocks, AreEvenParts) {
  const ProductBlocks blocks = product_blocks({4096, 4096, 4096}, {6, 16, 4}, machines()[0].caches, 2);
  EXPECT_EQ(blocks.depth, 376);
  EXPECT_EQ(blocks.rows, 174);  // 256 KiB / (376 * 4)
  EXPECT_EQ(blocks.strips, 3);  // 64 for two threads, of 24 times these rows
}

/// Each thread has some strips, however few rows there are, and none that is narrower than a tile.
TEST(ProductBlocks, HaveStripsForAllThreads) {
  for (const std::int64_t m : {1, 96, 1024, 100000}) {
    const ProductBlocks blocks = product_blocks({m, 8192, 512}, {12, 32, 4}, machines()[3].caches, 128);
    const std::int64_t pieces = (m + blocks.rows - 1) / blocks.rows * blocks.strips;
    EXPECT_TRUE(pieces >= 32 * 128 || blocks.strips == blocks.columns / 32) << m << ": " << pieces;
    EXPECT_GE(pieces, 256) << "two for each thread, at least";
  }
}

/// Elements of type T that are whole numbers.
template <typename T>
T whole(std::int64_t value) {
  if constexpr (kSmallFloat<T>) {
    return narrowed<T>(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
double value_of(T element) {
  if constexpr (kSmallFloat<T>) {
    return widened(element);
  } else {
    return static_cast<double>(element);
  }
}

/// Products of small whole numbers are exact in every order: C is compared whole, at extents around every cut. Sums
/// that bf16 and fp16 don't hold are rounded once.
template <typename T, typename Factor>
void expect_exact(CpuDevice& device, std::int64_t largest) {
  using Product = PackedProduct<T, Factor>;
  for (const auto& [m, n, k] : {ProductExtents{1, 1, 1}, {13, 65, 3}, {97, 31, 1031}, {191, 129, 769}, {6, 640, 64}}) {
    const std::int64_t span = 2 * largest + 1;
    const auto a = [=](std::int64_t i) { return i * 5 % span - largest; };
    const auto b = [=](std::int64_t i) { return i * 3 % span - largest; };
    std::vector<T> left(static_cast<std::size_t>(m * k)), right(static_cast<std::size_t>(k * n));
    for (std::int64_t i = 0; i < m * k; ++i) left[static_cast<std::size_t>(i)] = whole<T>(a(i));
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::int64_t j = 0; j < n; ++j) {
        right[static_cast<std::size_t>(kInt8Factor<Factor> ? j * k + p : p * n + j)] = whole<T>(b(p * n + j));
      }
    }
    std::vector<typename Product::Result> c(static_cast<std::size_t>(m * n), whole<typename Product::Result>(77));
    Product(device, {m, n, k}).run(left.data(), right.data(), c.data());
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        std::int64_t sum = 0;
        for (std::int64_t p = 0; p < k; ++p) sum += a(i * k + p) * b(p * n + j);
        ASSERT_EQ(value_of(c[static_cast<std::size_t>(i * n + j)]), value_of(whole<typename Product::Result>(sum)))
            << m << 'x' << n << 'x' << k << " at " << i << ", " << j;
      }
    }
  }
}

TEST(PackedProduct, IsExactAroundItsCuts) {
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(std::string(to_string(isa)));
    CpuDevice device({}, isa);
    expect_exact<float, float>(device, 3);
    expect_exact<double, double>(device, 3);
    expect_exact<Fp16, float>(device, 3);
    expect_exact<Bf16, float>(device, 3);
    expect_exact<std::int8_t, Int16Pair>(device, 127);
  }
}

/// Beside each level there is another product of pairs of bf16, which says the same without AVX512_BF16.
TEST(PackedProduct, IsExactOnDotProducts) {
  bool bytes = false;
  for (const Isa isa : usable_isas()) {
    SCOPED_TRACE(std::string(to_string(isa)));
    CpuDevice device({}, isa);
    if (isa != Isa::avx512 || !missing(DotUnit::avx512_bf16, isa)) expect_exact<Bf16, Bf16Pair>(device, 3);
    for (const DotUnit unit : {DotUnit::avx512_vnni, DotUnit::avx_vnni, DotUnit::neon_dot}) {
      const bool of_level = unit == DotUnit::neon_dot || isa == (unit == DotUnit::avx_vnni ? Isa::avx2 : Isa::avx512);
      if (!of_level || missing(unit, isa)) continue;
      bytes = true;
      expect_exact<std::int8_t, Int8Quad>(device, 127);
    }
  }
  if (!bytes) GTEST_SKIP() << "this CPU has no dot products of bytes";
}

}  // namespace
}  // namespace roofline
