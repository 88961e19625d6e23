// Potential savings promise no second twice.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "profile/claims.hpp"

namespace roofline {
namespace {

SavingClaim claim_on(SavingKind kind, double seconds, std::vector<std::pair<int, double>> rows = {}) {
  SavingClaim made;
  made.saving.kind = kind;
  made.saving.seconds = seconds;
  made.rows = std::move(rows);
  return made;
}

double sum_of_kind(const std::vector<Saving>& savings, SavingKind kind) {
  double seconds = 0;
  for (const Saving& saving : savings) seconds += saving.kind == kind ? saving.seconds : 0;
  return seconds;
}

TEST(Claims, TheLargerHasPrecedenceAndTheOtherHasTheRest) {
  const std::vector<Saving> savings =
      disjoint_savings({claim_on(SavingKind::idle, 3), claim_on(SavingKind::idle, 5), claim_on(SavingKind::idle, 4)},
                       {.idle_s = 10}, 0.1);
  ASSERT_EQ(savings.size(), 3U);
  EXPECT_DOUBLE_EQ(savings[0].seconds, 5);
  EXPECT_DOUBLE_EQ(savings[1].seconds, 4);
  EXPECT_DOUBLE_EQ(savings[2].seconds, 1);
}

TEST(Claims, WaitsThatAreAGoodPartOfSlowLaunchesComeFirst) {
  const auto first = [](double wait_s, SavingCause wait) {
    std::vector<SavingClaim> claims = {claim_on(SavingKind::idle, 6), claim_on(SavingKind::idle, wait_s)};
    claims[0].saving.cause = SavingCause::tiny_kernels;
    claims[1].saving.cause = wait;
    return disjoint_savings(std::move(claims), {.idle_s = 10}, 0.1).front().cause;
  };
  EXPECT_EQ(first(3, SavingCause::item_sync), SavingCause::item_sync);
  EXPECT_EQ(first(1, SavingCause::item_sync), SavingCause::tiny_kernels) << "little would be gained";
  EXPECT_EQ(first(3, SavingCause::host_python), SavingCause::tiny_kernels) << "a graph can be captured beside it";
}

/// Functions of the host are parts of their own; slow launches are one part of all lines.
TEST(Claims, WhatTheHostComputesComesFirstWhereAllOfItIsMore) {
  const auto first = [](double second_s) {
    std::vector<SavingClaim> claims = {claim_on(SavingKind::idle, 3), claim_on(SavingKind::idle, 2.5),
                                       claim_on(SavingKind::idle, second_s)};
    claims[0].saving.cause = SavingCause::tiny_kernels;
    claims[1].saving.cause = SavingCause::host_python;
    claims[2].saving.cause = SavingCause::data_loading;
    return disjoint_savings(std::move(claims), {.idle_s = 10}, 0.1).at(0).cause;
  };
  EXPECT_EQ(first(2), SavingCause::host_python);
  EXPECT_EQ(first(0.2), SavingCause::tiny_kernels);
}

/// Ranks wait for each other because their hosts are slow: why comes first, unless it is little.
TEST(Claims, WhatDelaysTheHostsComesBeforeRanksThatWaitForThem) {
  const auto first = [](SavingCause cause, double seconds) {
    std::vector<SavingClaim> claims = {claim_on(SavingKind::communication, 6), claim_on(SavingKind::idle, seconds)};
    claims[0].saving.cause = SavingCause::uneven_hosts;
    claims[1].saving.cause = cause;
    return disjoint_savings(std::move(claims), {.idle_s = 10, .communication_s = 10}, 0.1).at(0).cause;
  };
  EXPECT_EQ(first(SavingCause::tiny_kernels, 2), SavingCause::tiny_kernels);
  EXPECT_EQ(first(SavingCause::tiny_kernels, 1), SavingCause::uneven_hosts);
  EXPECT_EQ(first(SavingCause::between_kernels, 2), SavingCause::uneven_hosts);
}

TEST(Claims, WhatRanksDoAtTheLineThatTheyWaitAtComesFirst) {
  for (const bool same_line : {true, false}) {
    std::vector<SavingClaim> claims = {claim_on(SavingKind::communication, 6), claim_on(SavingKind::idle, 3),
                                       claim_on(SavingKind::idle, 2)};
    claims[0].saving.cause = SavingCause::uneven_hosts;
    claims[0].saving.line = "train.py:72 average";
    claims[1].saving.cause = claims[2].saving.cause = SavingCause::tiny_kernels;
    claims[1].saving.line = "train.py:30 forward";
    claims[2].saving.line = same_line ? "train.py:72 average" : "train.py:80 step";
    const std::vector<Saving> savings = disjoint_savings(std::move(claims), {.idle_s = 10, .communication_s = 10}, 0.1);
    EXPECT_EQ(savings.at(0).line, same_line ? "train.py:72 average" : "train.py:30 forward");
    EXPECT_EQ(savings.at(1).cause, SavingCause::uneven_hosts);
  }
}

TEST(Claims, ThereIsNothingToSaveWhereNoTimeIs) {
  EXPECT_TRUE(
      disjoint_savings({claim_on(SavingKind::idle, 3), claim_on(SavingKind::kernel, 1, {{0, 1.0}})}, {}, 0).empty());
}

TEST(Claims, AKernelsTimeIsClaimedOnce) {
  const SavingLimits limits = {.kernels_s = 10, .rows = {4, 6}};
  const std::vector<Saving> savings =
      disjoint_savings({claim_on(SavingKind::kernel, 3, {{0, 3.0}}), claim_on(SavingKind::traffic, 3.5, {{0, 3.5}}),
                        claim_on(SavingKind::fusion, 2, {{0, 1.0}, {1, 1.0}})},
                       limits, 0.01);
  ASSERT_EQ(savings.size(), 3U);
  EXPECT_EQ(savings[0].kind, SavingKind::traffic);
  EXPECT_DOUBLE_EQ(savings[0].seconds, 3.5);
  EXPECT_EQ(savings[1].kind, SavingKind::fusion) << "its share of the first kernel's rest, and all of the second's";
  EXPECT_DOUBLE_EQ(savings[1].seconds + savings[2].seconds, 1.5);
}

TEST(Claims, WithoutARowTheyAreLimitedByAllKernels) {
  const std::vector<Saving> savings =
      disjoint_savings({claim_on(SavingKind::fusion, 7), claim_on(SavingKind::kernel, 5, {{0, 5.0}})},
                       {.kernels_s = 8, .rows = {8}}, 0.01);
  EXPECT_DOUBLE_EQ(sum_of_kind(savings, SavingKind::fusion), 7);
  EXPECT_DOUBLE_EQ(sum_of_kind(savings, SavingKind::kernel), 1);
}

TEST(Claims, AnyClaimsKeepWithinTheirParts) {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> up_to(0, 10);
    SavingLimits limits = {.idle_s = up_to(random), .copies_s = up_to(random), .kernels_s = up_to(random)};
    for (auto row = random() % 6; row > 0; --row) limits.rows.push_back(up_to(random));
    std::vector<SavingClaim> claims;
    for (auto i = random() % 20; i > 0; --i) {
      SavingClaim made = claim_on(static_cast<SavingKind>(random() % 5), up_to(random) - 1);
      for (auto row = random() % 4; row > 0; --row) {
        made.rows.emplace_back(static_cast<int>(random() % 8) - 1, up_to(random) - 1);
      }
      claims.push_back(std::move(made));
    }
    const std::vector<Saving> savings = disjoint_savings(claims, limits, 0.01);
    const double of_kernels = sum_of_kind(savings, SavingKind::kernel) + sum_of_kind(savings, SavingKind::fusion) +
                              sum_of_kind(savings, SavingKind::traffic);
    EXPECT_LE(sum_of_kind(savings, SavingKind::idle), limits.idle_s + 1e-9) << seed;
    EXPECT_LE(sum_of_kind(savings, SavingKind::copies), limits.copies_s + 1e-9) << seed;
    EXPECT_LE(of_kernels, limits.kernels_s + 1e-9) << seed;
    for (std::size_t i = 1; i < savings.size(); ++i) EXPECT_LE(savings[i].seconds, savings[i - 1].seconds) << seed;
    for (const Saving& saving : savings) EXPECT_GE(saving.seconds, 0.01) << seed;
  }
}

}  // namespace
}  // namespace roofline
