// Sequences of launches with a known step, and some without one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "profile/repetition.hpp"

namespace roofline {
namespace {

/// Launches 10 us apart, written as letters; a capital is an update of parameters, a digit another size of 'z'.
std::vector<SequenceElement> launches_named(const std::string& letters, std::uint64_t apart_ns = 10'000) {
  std::vector<SequenceElement> elements;
  for (const char letter : letters) {
    const bool size = letter >= '0' && letter <= '9';
    const auto kind = static_cast<std::uint32_t>(size ? 'z' : letter);
    elements.push_back({.kind = kind,
                        .exact = static_cast<std::uint32_t>(letter),
                        .update = letter >= 'A' && letter <= 'Z',
                        .time = elements.size() * apart_ns,
                        .pause = 1000});
  }
  return elements;
}

std::string times_over(const std::string& part, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += part;
  return all;
}

std::size_t steady_segments(const Segments& segments) {
  return static_cast<std::size_t>(std::count(segments.steady.begin(), segments.steady.end(), true));
}

/// The number of elements of most steady segments; 0 where nothing repeats.
std::size_t usual_length(const std::optional<Segments>& found) {
  std::map<std::size_t, int> lengths;
  for (std::size_t i = 0; found && i < found->steady.size(); ++i) {
    if (found->steady[i]) ++lengths[found->begins[i + 1] - found->begins[i]];
  }
  const auto most =
      std::max_element(lengths.begin(), lengths.end(), [](auto& a, auto& b) { return a.second < b.second; });
  return most == lengths.end() ? 0 : most->first;
}

TEST(Repetition, OfAPlainLoop) {
  const auto found = find_repetition(launches_named("xyxw" + times_over("abcbd", 20) + "vu"));
  EXPECT_EQ(usual_length(found), 5U);
  EXPECT_GE(steady_segments(*found), 19U);
  EXPECT_FALSE(found->by_update);
}

TEST(Repetition, OfOneKernel) {
  const auto found = find_repetition(launches_named(times_over("a", 50)));
  EXPECT_EQ(usual_length(found), 1U);
  EXPECT_EQ(steady_segments(*found), 49U);
}

TEST(Repetition, ThereIsNoneWhereNothingRepeats) {
  std::string all;
  for (char letter = ' '; letter < '~'; ++letter) all += letter;
  EXPECT_FALSE(find_repetition(launches_named(all)));
  EXPECT_FALSE(find_repetition(launches_named("")));
  EXPECT_FALSE(find_repetition(launches_named("aaa")));
  // Three of a kind in a long program are not its steps.
  EXPECT_FALSE(find_repetition(launches_named(all + "ab" + "ab" + "ab")));
}

TEST(Repetition, AStepOfTrainingHasOneUpdate) {
  const auto found = find_repetition(launches_named(times_over(times_over("fghb", 4) + "Q", 20)));
  EXPECT_EQ(usual_length(found), 17U);
  EXPECT_TRUE(found->by_update);
}

TEST(Repetition, MicroBatchesAreEnclosedByWhatFollowsThemRegularly) {
  // The update is not known by name: it is new work after every fourth batch.
  EXPECT_EQ(
      usual_length(find_repetition(launches_named(times_over(times_over("fghijklmnb", 4) + "qrst", 20), 1'000'000))),
      44U);
}

TEST(Repetition, LayersAreEnclosedByTheirForwardPass) {
  EXPECT_EQ(usual_length(find_repetition(launches_named(times_over("e" + times_over("abcdc", 24) + "nhs", 30)))), 124U);
}

/// No kernel occurs once per step, but a row of each does. The last one alone is most launches.
TEST(Repetition, KernelsOfWhichEachIsLaunchedManyTimesAreOneStep) {
  const std::string round = "aaaaabbbb" + times_over("c", 7) + times_over("d", 40);
  const auto found = find_repetition(launches_named("wxyz" + times_over(round, 30) + "vu"));
  EXPECT_EQ(usual_length(found), round.size());
  EXPECT_GE(steady_segments(*found), 28U);
}

/// Launches in a row, in a step that another kernel begins.
TEST(Repetition, RowsInAStepBeginNone) {
  EXPECT_EQ(usual_length(find_repetition(launches_named(times_over("e" + times_over("aab", 10) + "ns", 30)))), 33U);
  EXPECT_EQ(usual_length(find_repetition(launches_named(times_over(times_over("a", 6000), 1)))), 1U);
}

TEST(Repetition, LoggingEveryTenStepsMakesNoLongerStep) {
  const std::string step = "abcdefghijklmnopqrstuvwxyz";
  EXPECT_EQ(usual_length(find_repetition(launches_named(times_over(times_over(step, 10) + "!", 12), 1'000'000))), 26U);
}

TEST(Repetition, AnEvaluationIsNotASteadyStep) {
  const std::string epoch = times_over("fghbcQ", 20) + times_over("vwx", 12);
  const auto found = find_repetition(launches_named(times_over(epoch, 4)));
  EXPECT_EQ(usual_length(found), 6U);
  EXPECT_GE(steady_segments(*found), 4 * 20U - 8U);
  EXPECT_LE(steady_segments(*found), 4 * 20U);
}

TEST(Repetition, ACheckpointIsAPartOfAStepAndAnEvaluationIsNot) {
  const std::string epoch = times_over("fghbcQ", 20) + times_over("v", 24);
  std::vector<SequenceElement> elements = launches_named(times_over(epoch, 4));
  EXPECT_LE(steady_segments(*find_repetition(elements)), 4 * 19U);
  for (SequenceElement& element : elements) element.copy = element.kind == 'v';
  EXPECT_GE(steady_segments(*find_repetition(elements)), 4 * 20U - 2U);
}

TEST(Repetition, LengthsMayVaryALittle) {
  std::mt19937 random(7);
  std::string all = "startup";
  for (int i = 0; i < 60; ++i) {
    all += "abcdefghij";
    all += std::string(random() % 2, 'k');
    all += "lmno";
  }
  const auto found = find_repetition(launches_named(all));
  ASSERT_TRUE(found);
  EXPECT_GE(steady_segments(*found), 58U);
}

TEST(Repetition, SizesMayVary) {
  std::mt19937 random(11);
  std::string all;
  for (int i = 0; i < 60; ++i) {
    all += "ab";
    for (int k = 0; k < 4; ++k) all += static_cast<char>('0' + random() % 10);
    all += "c";
  }
  EXPECT_EQ(usual_length(find_repetition(launches_named(all))), 7U);
}

/// A compiler tries short graphs of all sizes, then each step is one graph.
TEST(Repetition, WhatACompilerTriesBeforeIsNoStep) {
  std::vector<SequenceElement> elements = launches_named(std::string(300, '1') + std::string(200, '7'));
  std::uint64_t time = 0;
  for (SequenceElement& element : elements) {
    element.time = time;
    time += element.exact == '7' ? 10'000'000 : 5'000;
  }
  const auto found = find_repetition(elements);
  ASSERT_TRUE(found);
  EXPECT_GE(steady_segments(*found), 198U);
  EXPECT_LE(steady_segments(*found), 200U);
  // Sizes that take as long are steps, whichever comes first.
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i].time = i * 10'000'000;
  EXPECT_GE(steady_segments(*find_repetition(elements)), 498U);
}

TEST(Repetition, TwoNetworksThatTakeTurnsAreOneStep) {
  EXPECT_EQ(usual_length(find_repetition(launches_named(times_over("abcdefMhijklM", 30)))), 13U);
}

TEST(Repetition, StepsBeginAfterTheLongestPauseOfTheHost) {
  std::vector<SequenceElement> elements = launches_named(times_over("abcd", 25));
  for (SequenceElement& element : elements) {
    if (element.kind == 'c') element.pause = 50'000;
  }
  const auto found = find_repetition(elements);
  ASSERT_TRUE(found);
  for (const std::size_t begin : found->begins) EXPECT_EQ(elements[begin].kind, std::uint32_t{'c'});
}

TEST(Repetition, WhatRunsAsideBeginsNoStep) {
  std::vector<SequenceElement> elements = launches_named(times_over("Xabcd", 25));
  for (SequenceElement& element : elements) {
    element.aside = element.kind == 'X';
    if (element.aside) element.pause = 50'000;
  }
  const auto found = find_repetition(elements);
  ASSERT_TRUE(found);
  for (const std::size_t begin : found->begins) EXPECT_NE(elements[begin].kind, std::uint32_t{'X'});
  EXPECT_EQ(usual_length(found), 5U);
}

TEST(Repetition, AMillionLaunchesAreNoMore) {
  const std::vector<SequenceElement> elements =
      launches_named(times_over("abcdefghijklmnopqrstuvwxyz0123456789", 28'000));
  EXPECT_EQ(usual_length(find_repetition(elements)), 36U);
}

}  // namespace
}  // namespace roofline
