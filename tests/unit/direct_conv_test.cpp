// How the direct convolution is cut, on caches that nobody has here. Its results are in kernels_test.cpp.
#include <gtest/gtest.h>

#include "kernels/conv2d/direct_conv.hpp"
#include "tests/support/values.hpp"

namespace roofline {
namespace {

ConvSize conv(std::int64_t batch, std::int64_t side, std::int64_t channels, std::int64_t filters, std::int64_t kernel) {
  return conv_size({{"batch", batch},
                    {"height", side},
                    {"width", side},
                    {"channels", channels},
                    {"filters", filters},
                    {"kernel", kernel},
                    {"padding", kernel / 2}});
}

TEST(ConvBlocks, FitTheCachesAndTheConvolution) {
  constexpr TileExtents kTiles[] = {{14, 32, 4, Level::l2}, {14, 16, 8, Level::l2}, {6, 16, 4}, {6, 8, 8}};
  for (const double l2 : {256 * kKiB, 512 * kKiB, 1 * kMiB, 2 * kMiB}) {
    for (const int workers : {1, 2, 3, 16, 128}) {
      for (const ConvSize& size : {conv(1, 56, 256, 256, 3), conv(32, 7, 512, 512, 3), conv(1, 1, 1, 1, 1),
                                   conv(1, 224, 3, 64, 7), conv(2, 40, 5001, 40, 3), conv(1, 2000, 64, 8, 1)}) {
        for (const TileExtents& tile : kTiles) {
          for (const std::int64_t products : {1, 2}) {
            SCOPED_TRACE(testing::Message() << l2 << " bytes, " << workers << " workers, " << size.width << "² x "
                                            << size.channels << ", tiles of " << tile.rows << 'x' << tile.columns);
            const std::vector<CacheInfo> caches = {{Level::l1, 48 * kKiB, workers}, {Level::l2, l2, workers}};
            const ConvBlocks blocks = conv_blocks(size, tile, products, caches, workers);
            EXPECT_GE(blocks.channels * products, size.channels);
            EXPECT_LT(blocks.channels * products, size.channels + products);
            EXPECT_GE(blocks.panels * tile.columns, size.filters);
            EXPECT_LT((blocks.panels - 1) * tile.columns, size.filters);
            EXPECT_GE(blocks.rows, 1);
            EXPECT_LE(blocks.rows, size.rows);
            EXPECT_GE(blocks.columns, 1);
            EXPECT_LE(blocks.columns, size.columns);
            EXPECT_GE(blocks.part_rows, 1);
            EXPECT_LE(blocks.part_rows, size.kernel);
            const std::int64_t line = size.kernel * blocks.channels;
            EXPECT_GE(blocks.part_steps, 1);
            EXPECT_LE(blocks.part_steps, line);
            EXPECT_TRUE(blocks.part_rows == 1 || blocks.part_steps == line) << "only whole rows make several";
            // What has room whole is in L2: the filters of a part, and the image unless a tile's width is too much.
            const std::int64_t steps = blocks.part_rows * blocks.part_steps;
            const auto part = static_cast<double>(steps * tile.columns * tile.element_bytes);
            EXPECT_TRUE(steps <= 64 || part <= l2 / 3 + 4 * kKiB) << part;
            const std::int64_t border = size.kernel - 1;
            const auto image = static_cast<double>((blocks.rows + border) * (blocks.columns + border) *
                                                   blocks.channels * tile.element_bytes);
            EXPECT_TRUE((blocks.rows == 1 && blocks.columns <= tile.rows) || image <= 3 * l2 / 8) << image;
          }
        }
      }
    }
  }
}

/// A residual network's layer on 1 MiB of L2, by hand: a third of it holds three rows of windows, 768 factors each for
/// 32 filters, and three eighths hold six rows of 58 pixels of 1 KiB, which four rows of the output need.
TEST(ConvBlocks, OfAResidualNetwork) {
  const std::vector<CacheInfo> caches = {{Level::l2, 1 * kMiB, 2}};
  const ConvBlocks blocks = conv_blocks(conv(1, 56, 256, 256, 3), {14, 32, 4, Level::l2}, 1, caches, 2);
  EXPECT_EQ(blocks.part_rows, 3);
  EXPECT_EQ(blocks.part_steps, 768);
  EXPECT_EQ(blocks.columns, 56);
  EXPECT_EQ(blocks.rows, 4);
}

/// What workers take is a panel of 32 filters of some rows: of 56 rows, 16 workers have twelve pieces each if these are
/// two by two; of seven rows there are no more than a row and a panel each.
TEST(ConvBlocks, HaveFewerRowsForMoreWorkers) {
  const std::vector<CacheInfo> caches = {{Level::l2, 1 * kMiB, 16}};
  const auto rows = [&](std::int64_t batch, std::int64_t side, int workers) {
    return conv_blocks(conv(batch, side, 256, 256, 3), {14, 32, 4, Level::l2}, 1, caches, workers).rows;
  };
  EXPECT_EQ(rows(1, 56, 2), 4);
  EXPECT_EQ(rows(1, 56, 16), 2);
  EXPECT_EQ(rows(1, 7, 16), 1);
  EXPECT_EQ(rows(32, 7, 16), 7);
}

}  // namespace
}  // namespace roofline
