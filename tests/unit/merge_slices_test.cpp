// Short bars of a timeline, joined: known lanes before and after.
#include "profile/merge_slices.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace roofline {
namespace {

/// Bars of one length at equal distances.
Lane even_lane(int bars, double distance_s, double length_s) {
  Lane lane;
  for (int i = 0; i < bars; ++i) lane.slices.push_back({.start_s = i * distance_s, .end_s = i * distance_s + length_s});
  return lane;
}

double time_in(const Lane& lane) {
  double sum = 0;
  for (const Slice& slice : lane.slices) sum += slice.merged > 0 ? slice.busy_s : slice.end_s - slice.start_s;
  return sum;
}

std::int64_t bars_in(const Lane& lane) {
  std::int64_t sum = 0;
  for (const Slice& slice : lane.slices) sum += slice.merged > 0 ? slice.merged : 1;
  return sum;
}

TEST(MergeSlices, AFewStayAsTheyAre) {
  std::vector<Lane> lanes = {even_lane(100, 0.01, 0.005)};
  merge_slices(lanes, 1, 100);
  ASSERT_EQ(lanes[0].slices.size(), 100U);
  for (const Slice& slice : lanes[0].slices) EXPECT_EQ(slice.merged, 0);
}

TEST(MergeSlices, OfTooManyTheShortOnesBecomeOneAndNothingIsLost) {
  std::vector<Lane> lanes = {even_lane(10000, 1e-4, 2.5e-5), even_lane(10, 0.1, 0.05)};
  merge_slices(lanes, 1, 500);
  EXPECT_LE(lanes[0].slices.size() + lanes[1].slices.size(), 500U);
  EXPECT_GT(lanes[0].slices.size(), 200U) << "no coarser than necessary";
  EXPECT_EQ(bars_in(lanes[0]), 10000);
  EXPECT_NEAR(time_in(lanes[0]), 0.25, 1e-9);
  EXPECT_EQ(lanes[1].slices.size(), 10U) << "long bars are never merged";
  double end = 0;
  for (const Slice& slice : lanes[0].slices) {
    EXPECT_GE(slice.start_s, end);
    EXPECT_NEAR(slice.busy_s / (slice.end_s - slice.start_s), 0.25, 0.05);
    end = slice.end_s;
  }
}

TEST(MergeSlices, AMergedBarIsNamedAfterThoseWithTheMostTime) {
  Lane lane = even_lane(4000, 2.5e-4, 5e-5);
  for (std::size_t i = 0; i < lane.slices.size(); ++i) {
    lane.slices[i].point = static_cast<int>(i % 4);
    if (i % 4 == 2) lane.slices[i].end_s += 1e-4;
    lane.slices[i].line = "train.py:" + std::to_string(i % 4);
  }
  std::vector<Lane> lanes = {lane};
  merge_slices(lanes, 1, 300);
  for (const Slice& slice : lanes[0].slices) {
    if (slice.merged < 4) continue;
    EXPECT_EQ(slice.point, 2);
    EXPECT_EQ(slice.line, "train.py:2");
  }
}

TEST(MergeSlices, ALongBarStaysBetweenShortOnes) {
  Lane lane = even_lane(100, 1e-5, 5e-6);
  lane.slices.push_back({.start_s = 1e-3, .end_s = 0.9, .text = "long"});
  for (int i = 0; i < 100; ++i) lane.slices.push_back({.start_s = 0.9 + i * 1e-5, .end_s = 0.9 + i * 1e-5 + 5e-6});
  std::vector<Lane> lanes = {lane};
  merge_slices(lanes, 1, 3);
  ASSERT_EQ(lanes[0].slices.size(), 3U);
  EXPECT_EQ(lanes[0].slices[1].text, "long");
  EXPECT_EQ(lanes[0].slices[1].merged, 0);
  EXPECT_EQ(lanes[0].slices[0].merged, 100);
  EXPECT_EQ(lanes[0].slices[2].merged, 100);
}

TEST(MergeSlices, EmptyLanesAndNoLengthAreNoProblem) {
  std::vector<Lane> none, empty(3), still = {even_lane(10, 0, 0)};
  merge_slices(none, 1, 0);
  merge_slices(empty, 1, 0);
  merge_slices(still, 0, 1);
  EXPECT_EQ(still[0].slices.size(), 10U);
}

}  // namespace
}  // namespace roofline
