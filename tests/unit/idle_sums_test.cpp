// Sums of idle time: which parts become one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profile/idle/idle_sums.hpp"

namespace roofline {
namespace {

IdleShare share(SavingCause cause, const std::string& line, double seconds, CauseDetail detail = CauseDetail::none) {
  return {.device = 0, .cause = cause, .detail = detail, .group = line, .line = line, .seconds = seconds};
}

TEST(IdleSums, WhatIsAtTheLineOfACheckpointIsAPartOfIt) {
  IdleSums sums;
  sums.add(share(SavingCause::host_native, "train.py:36 Trainer.save", 0.2, CauseDetail::saved_state));
  sums.add(share(SavingCause::item_sync, "train.py:36 save", 0.1));
  sums.add(share(SavingCause::tiny_kernels, "train.py:36 save", 0.04));
  sums.add(share(SavingCause::item_sync, "train.py:42 step", 0.3));
  IdleShare elsewhere = share(SavingCause::launch_rate, "train.py:36 save", 0.05);
  sums.add(elsewhere);
  elsewhere.line = "train.py:42 step";
  sums.add(elsewhere);  // half of this part only
  sums.gather_at_lines_of(CauseDetail::saved_state);
  const std::vector<IdlePart> parts = sums.parts();
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].detail, CauseDetail::saved_state);
  EXPECT_NEAR(parts[0].seconds, 0.34, 1e-12);
  EXPECT_EQ(parts[1].cause, SavingCause::item_sync);
  EXPECT_NEAR(parts[1].seconds, 0.3, 1e-12);
  EXPECT_NEAR(parts[2].seconds, 0.1, 1e-12);
}

TEST(IdleSums, WithoutACheckpointPartsStayApart) {
  IdleSums sums;
  sums.add(share(SavingCause::host_native, "train.py:36 save", 0.2));
  sums.add(share(SavingCause::item_sync, "train.py:36 save", 0.1));
  sums.gather_at_lines_of(CauseDetail::saved_state);
  EXPECT_EQ(sums.parts().size(), 2U);
}

/// A function that works before copies to the GPU and before launches; another one that does different things there.
TEST(IdleSums, TheSameCodeOfTheHostIsOnePart) {
  for (const bool same_line : {true, false}) {
    IdleSums sums;
    IdleShare of = share(SavingCause::data_loading, "tree.py:56 Tree.find", 0.12);
    of.group = "tree.py:Tree.find";
    sums.add(of);
    of.cause = SavingCause::host_python;
    of.seconds = 0.1;
    if (!same_line) of.line = "tree.py:90 Tree.find";
    sums.add(of);
    sums.add(share(SavingCause::host_python, "tree.py:12 Tree.set", 0.05));
    sums.join_host_code();
    const std::vector<IdlePart> parts = sums.parts();
    ASSERT_EQ(parts.size(), same_line ? 2U : 3U);
    EXPECT_EQ(parts[0].cause, SavingCause::data_loading);
    EXPECT_NEAR(parts[0].seconds, same_line ? 0.22 : 0.12, 1e-12);
  }
}

}  // namespace
}  // namespace roofline
