// Every iteration of every tile belongs to one work unit, and work units are numbered as the fixup expects.
#include "kernels/blocks/tile_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace roofline {
namespace {

void expect_exact_cover(const TileSchedule& schedule) {
  SCOPED_TRACE(testing::Message() << schedule.tiles << " tiles of " << schedule.iterations << " on "
                                  << schedule.blocks);
  std::vector<std::vector<int>> owners(
      static_cast<std::size_t>(schedule.tiles));  // of each iteration, as split numbers
  int least = schedule.tiles * schedule.iterations, most = 0;
  std::vector<int> claimed(owners.size());
  for (int block = 0; block < schedule.blocks; ++block) {
    int length = 0;
    schedule.for_each_work_unit(block, [&](const WorkUnit& work_unit) {
      auto& iterations = owners.at(static_cast<std::size_t>(work_unit.tile));
      EXPECT_EQ(work_unit.first, static_cast<int>(iterations.size())) << "a gap, or an iteration twice";
      EXPECT_GE(work_unit.count, 1);
      EXPECT_LE(work_unit.splits, schedule.max_splits());
      iterations.insert(iterations.end(), static_cast<std::size_t>(work_unit.count), work_unit.split);
      claimed.at(static_cast<std::size_t>(work_unit.tile)) = work_unit.splits;
      length += work_unit.count;
    });
    least = std::min(least, length);
    most = std::max(most, length);
  }
  EXPECT_GE(least, 1);
  EXPECT_LE(most - least, 1) << "blocks differ by more than one iteration";
  for (std::size_t tile = 0; tile < owners.size(); ++tile) {
    ASSERT_EQ(static_cast<int>(owners[tile].size()), schedule.iterations);
    EXPECT_EQ(owners[tile].front(), 0);
    EXPECT_TRUE(std::is_sorted(owners[tile].begin(), owners[tile].end()));
    EXPECT_EQ(owners[tile].back() + 1, claimed[tile]) << "the last split does not match the announced number";
  }
}

TEST(TileSchedule, CoversEveryIterationOnce) {
  for (const std::int64_t tiles : {1, 2, 7, 64, 257}) {
    for (const std::int64_t iterations : {1, 2, 5, 128, 1000}) {
      for (const std::int64_t blocks : {1, 2, 3, 131, 396}) {
        expect_exact_cover(TileSchedule::make(tiles, iterations, blocks));
      }
    }
  }
}

TEST(TileSchedule, SplitsTwoTilesOverThreeBlocks) {
  const TileSchedule two_in_three = TileSchedule::make(2, 3, 3);
  std::vector<WorkUnit> middle;
  two_in_three.for_each_work_unit(1, [&](const WorkUnit& work_unit) { middle.push_back(work_unit); });
  ASSERT_EQ(middle.size(), 2u);  // the end of tile 0 and the start of tile 1
  EXPECT_EQ(middle[0].first, 2);
  EXPECT_EQ(middle[0].split, 1);
  EXPECT_EQ(middle[0].splits, 2);
  EXPECT_EQ(middle[1].tile, 1);
  EXPECT_EQ(middle[1].first, 0);
  EXPECT_EQ(middle[1].split, 0);
  EXPECT_EQ(middle[1].splits, 2);
}

}  // namespace
}  // namespace roofline
