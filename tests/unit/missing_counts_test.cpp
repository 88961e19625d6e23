#include "profile/missing_counts.hpp"

#include <gtest/gtest.h>

#include "host/private_folder.hpp"
#include "spool_builder.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

class MissingCounts : public testing::Test {
 protected:
  /// A kernel of 30 ms and one of 10 ms.
  void launch_both() {
    builder_.launch(stencil_, 0, 1, kMs, 31 * kMs);
    builder_.launch(norm_, 2, 3, 31 * kMs, 41 * kMs);
  }
  ProcessTrace trace(bool counts_only = false) {
    builder_.end(50 * kMs);
    ProcessTrace read = read_spool(builder_.write(folder_.path() / "0.spool"));
    read.counts_only = counts_only;
    return read;
  }

  PrivateFolder folder_;
  SpoolBuilder builder_;
  spool::Id stencil_ = builder_.kind("stencil"), norm_ = builder_.kind("norm");
};

TEST_F(MissingCounts, AreOfKernelsThatLackAGroup) {
  launch_both();
  EXPECT_EQ(counted_share({trace()}), 0);
  builder_.counts(stencil_, {{"dram.read_bytes", 1}}, 0);
  EXPECT_EQ(counted_share({trace()}), 0.75);
  builder_.counts(norm_, {{"dram.read_bytes", 1}}, 0);
  EXPECT_EQ(counted_share({trace()}), 1);
  builder_.counts(norm_, {{"l1.bytes", 1}}, 1);
  EXPECT_EQ(counted_share({trace()}), 0.25);
}

TEST_F(MissingCounts, AnotherRunCompletesThem) {
  launch_both();
  SpoolBuilder again(101);
  const spool::Id other = again.kind("warm_up"), norm = again.kind("norm"), wide = again.kind("stencil", 0, 0, 264);
  for (const spool::Id kind : {other, norm, wide}) again.counts(kind, {{"dram.read_bytes", 1}});
  ProcessTrace counts = read_spool(again.write(folder_.path() / "1.spool"));
  counts.counts_only = true;
  EXPECT_EQ(counted_share({trace(), counts}), 0.25) << "the wide stencil is another kernel";
}

TEST_F(MissingCounts, AreUnknownWhereNothingCanBeCounted) {
  EXPECT_EQ(counted_share({trace()}), std::nullopt);
  launch_both();
  builder_.note(spool::NoteCode::not_counted, 0, "no permission");
  EXPECT_EQ(counted_share({trace()}), std::nullopt);
}

TEST_F(MissingCounts, OfCollectivesAreNotAskedFor) {
  builder_.launch(builder_.kind("ncclDevKernel", 0, spool::kUncountable), 0, 1, kMs, 90 * kMs);
  builder_.launch(norm_, 2, 3, 90 * kMs, 100 * kMs);
  builder_.counts(norm_, {{"dram.read_bytes", 1}});
  EXPECT_EQ(counted_share({trace()}), 1);
}

TEST_F(MissingCounts, OfGraphsAreNotAskedFor) {
  const std::uint32_t correlation = builder_.launch_graph(builder_.kind("graph", 0, spool::kGraph), 0, 1);
  builder_.kernel(stencil_, correlation, kMs, 2 * kMs, 1);
  EXPECT_EQ(counted_share({trace()}), std::nullopt);
}

TEST(ShortRun, IsOneThatEndedInOrder) {
  ProgramRun run = {.exit_status = 0, .signal = {}, .start = 0, .end = 2'000 * kMs};
  EXPECT_TRUE(is_short(run));
  run.end = 60'000 * kMs;
  EXPECT_FALSE(is_short(run));
  run.end = 2'000 * kMs;
  run.exit_status = 1;
  EXPECT_FALSE(is_short(run));
  run.exit_status = 0;
  run.interrupted = true;
  EXPECT_FALSE(is_short(run));
}

TEST_F(MissingCounts, LeadToRunsUntilOneIsInVain) {
  launch_both();
  const ProcessTrace first = trace();
  SpoolBuilder again(101);
  again.counts(again.kind("norm"), {{"dram.read_bytes", 1}});
  const ProcessTrace counts = read_spool(again.write(folder_.path() / "1.spool"));

  RunsForCounts runs;
  EXPECT_TRUE(runs.another(true, {first}));
  EXPECT_TRUE(runs.another(true, {first, counts}));
  EXPECT_FALSE(runs.another(true, {first, counts, counts}));
  EXPECT_EQ(runs.made(), 3);
  EXPECT_FALSE(RunsForCounts().another(false, {first}));
}

TEST_F(MissingCounts, EndTheRunsWhenMostAreThere) {
  builder_.launch(stencil_, 0, 1, kMs, 90 * kMs);
  builder_.launch(norm_, 2, 3, 90 * kMs, 100 * kMs);
  builder_.counts(stencil_, {{"dram.read_bytes", 1}});
  EXPECT_FALSE(RunsForCounts().another(true, {trace()}));
}

}  // namespace
}  // namespace roofline
