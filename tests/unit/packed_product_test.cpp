// How the packed product cuts its work, on caches that nobody has here, and its results where the cuts are odd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "device/cpu/cpu_device.hpp"
#include "kernels/blocks/cpu/packed_product.hpp"
#include "op/op.hpp"
#include "op/registry.hpp"
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
        EXPECT_EQ(machine.workers % blocks.across, 0);
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
  EXPECT_EQ(blocks.across, 1);
}

TEST(ProductBlocks, ShareColumnsWhereThereAreFewRows) {
  const auto across = [](std::int64_t m) {
    return product_blocks({m, 8192, 512}, {12, 32, 4}, machines()[3].caches, 128).across;
  };
  EXPECT_EQ(across(1), 128);
  EXPECT_EQ(across(12 * 8), 128);
  EXPECT_EQ(across(12 * 8 * 2), 64);
  EXPECT_EQ(across(12 * 8 * 128), 1);
}

/// Products of small whole numbers are exact in every order: C is compared whole, at extents around every cut.
TEST(PackedProduct, IsExactAroundItsCuts) {
  for (const Isa isa : usable_isas()) {
    CpuDevice device({}, isa);
    const Op& gemm = *find_op("gemm");
    const auto rungs = implementations_of(gemm, DeviceKind::cpu);
    const auto packed =
        std::find_if(rungs.begin(), rungs.end(), [](const auto& rung) { return rung.name == "packed"; });
    ASSERT_NE(packed, rungs.end());
    for (const auto& [m, n, k] :
         {ProductExtents{1, 1, 1}, {13, 65, 3}, {97, 31, 1031}, {191, 129, 769}, {6, 640, 64}}) {
      const auto a = [](std::int64_t i) { return static_cast<double>(i % 7 - 3); };
      const auto b = [](std::int64_t i) { return static_cast<double>(i % 5 - 2); };
      std::vector<double> left(static_cast<std::size_t>(m * k)), right(static_cast<std::size_t>(k * n));
      for (std::size_t i = 0; i < left.size(); ++i) left[i] = a(static_cast<std::int64_t>(i));
      for (std::size_t i = 0; i < right.size(); ++i) right[i] = b(static_cast<std::int64_t>(i));
      std::vector<double> c(static_cast<std::size_t>(m * n), NAN);
      void* const tensors[] = {left.data(), right.data(), c.data()};
      const Workload w{.op = "gemm",
                       .implementation = "packed",
                       .dtype = DType::fp64,
                       .shape = {{"m", m}, {"n", n}, {"k", k}},
                       .label = ""};
      packed->prepare(w, device)(tensors);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t p = 0; p < k; ++p) sum += a(i * k + p) * b(p * n + j);
          ASSERT_EQ(c[static_cast<std::size_t>(i * n + j)], sum) << to_string(isa) << ' ' << i << ' ' << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace roofline
