// Stretches: every unit of every task is somebody's, once, and pieces are numbered as those who join them expect.
#include "kernels/blocks/stretches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace roofline {
namespace {

void expect_exact_cover(const Stretches& stretches) {
  SCOPED_TRACE(testing::Message() << stretches.tasks << " tasks of " << stretches.units << " on " << stretches.blocks);
  std::vector<std::vector<int>> owners(static_cast<std::size_t>(stretches.tasks));  // of each unit, as piece numbers
  int least = stretches.tasks * stretches.units, most = 0;
  std::vector<int> claimed(owners.size());
  for (int block = 0; block < stretches.blocks; ++block) {
    int length = 0;
    stretches.for_each_piece(block, [&](const Piece& piece) {
      auto& units = owners.at(static_cast<std::size_t>(piece.task));
      EXPECT_EQ(piece.first, static_cast<int>(units.size())) << "a gap, or a unit twice";
      EXPECT_GE(piece.count, 1);
      EXPECT_LE(piece.pieces, stretches.most_pieces());
      units.insert(units.end(), static_cast<std::size_t>(piece.count), piece.index);
      claimed.at(static_cast<std::size_t>(piece.task)) = piece.pieces;
      length += piece.count;
    });
    least = std::min(least, length);
    most = std::max(most, length);
  }
  EXPECT_GE(least, 1);
  EXPECT_LE(most - least, 1) << "a block has more to do than another";
  for (std::size_t task = 0; task < owners.size(); ++task) {
    ASSERT_EQ(static_cast<int>(owners[task].size()), stretches.units);
    EXPECT_EQ(owners[task].front(), 0);
    EXPECT_TRUE(std::is_sorted(owners[task].begin(), owners[task].end()));
    EXPECT_EQ(owners[task].back() + 1, claimed[task]) << "the last piece is not the number that all were told";
  }
}

TEST(Stretches, CoverEveryUnitOnce) {
  for (const std::int64_t tasks : {1, 2, 7, 64, 257}) {
    for (const std::int64_t units : {1, 2, 5, 128, 1000}) {
      for (const std::int64_t blocks : {1, 2, 3, 131, 396}) {
        expect_exact_cover(Stretches::cut(tasks, units, blocks));
      }
    }
  }
}

TEST(Stretches, AreThePiecesThatOneWouldCutByHand) {
  const Stretches two_in_three = Stretches::cut(2, 3, 3);
  std::vector<Piece> middle;
  two_in_three.for_each_piece(1, [&](const Piece& piece) { middle.push_back(piece); });
  ASSERT_EQ(middle.size(), 2u);  // the end of the first task and the beginning of the second
  EXPECT_EQ(middle[0].first, 2);
  EXPECT_EQ(middle[0].index, 1);
  EXPECT_EQ(middle[0].pieces, 2);
  EXPECT_EQ(middle[1].task, 1);
  EXPECT_EQ(middle[1].first, 0);
  EXPECT_EQ(middle[1].index, 0);
  EXPECT_EQ(middle[1].pieces, 2);
}

}  // namespace
}  // namespace roofline
