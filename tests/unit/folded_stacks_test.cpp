// Stacks of a profile, each once, and the bars of flame graphs made from them.
#include "report/folded_stacks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "render/flame_graph.hpp"

namespace roofline {
namespace {

using testing::ElementsAre;

std::string joined(const FoldedStack& stack) {
  std::string text;
  for (const StackFrame& frame : stack.frames) text += (text.empty() ? "" : ";") + frame.name;
  return text;
}

FoldedStack stack_of(const std::string& names, double seconds) {
  FoldedStack stack;
  for (const char name : names) stack.frames.push_back({std::string(1, name), FrameKind::own});
  stack.seconds = seconds;
  return stack;
}

Point kernel_row(const std::string& op, const std::string& module, const std::string& line, double total_s) {
  Point point;
  point.workload.op = op;
  point.profiled.emplace();
  point.profiled->module = module;
  point.profiled->line = line;
  point.profiled->total_s = total_s;
  return point;
}

TEST(FoldedStacks, OfTheHostHaveProcessThreadAndFrames) {
  HostProfile host;
  host.frames = {{"main", "/home/u/train.py", 5, true, true}, {"memcpy", "/usr/lib/libc.so.6", 0, false, false}};
  host.threads.push_back({.thread = {10, 11, 1, "pin", "python3 train.py", false}, .times = {}});
  host.stacks = {{0, {0, 1}, ThreadState::running, 2},
                 {0, {0}, ThreadState::lock, 1},
                 {0, {0, 1}, ThreadState::running, 0.5},
                 {0, {}, ThreadState::gil, 4}};
  const std::vector<FoldedStack> stacks = host_stacks(host);
  ASSERT_EQ(stacks.size(), 3U) << "equal stacks are one";
  EXPECT_EQ(joined(stacks[0]), "python3 10;pin 11");
  EXPECT_EQ(stacks[0].state, ThreadState::gil);
  EXPECT_EQ(joined(stacks[1]), "python3 10;pin 11;main (train.py:5)");
  EXPECT_EQ(joined(stacks[2]), "python3 10;pin 11;main (train.py:5);memcpy (libc.so.6)");
  EXPECT_DOUBLE_EQ(stacks[2].seconds, 2.5);
  EXPECT_EQ(stacks[2].frames[2].kind, FrameKind::own);
  EXPECT_EQ(stacks[2].frames[3].kind, FrameKind::native);
}

TEST(FoldedStacks, OfGpusHaveModuleLineAndKernel) {
  Report report;
  report.points = {kernel_row("sgemm", "layer1.*.conv", "model.py:10 forward", 3),
                   kernel_row("relu", "layer1.*.conv", "model.py:11 forward", 1), kernel_row("fill", "", "", 0.5)};
  Profile& profile = report.profile.emplace();
  profile.copies.push_back({.path = {.direction = CopyDirection::memset}, .total_s = 0.25, .line = "train.py:3 main"});
  std::vector<std::string> texts;
  double sum = 0;
  for (const FoldedStack& stack : gpu_stacks(report)) {
    texts.push_back(joined(stack));
    sum += stack.seconds;
  }
  EXPECT_THAT(texts,
              ElementsAre("GPU 0;fill", "GPU 0;layer1;*;conv;model.py:10 forward;sgemm",
                          "GPU 0;layer1;*;conv;model.py:11 forward;relu", "copies and memsets;memset;train.py:3 main"));
  EXPECT_DOUBLE_EQ(sum, 4.75);
}

TEST(FoldedStacks, TheTimeOfAGraphIsThatOfItsKernels) {
  Report report;
  report.points = {kernel_row("graph of 2 kernels", "", "", 5), kernel_row("a", "", "", 2), kernel_row("b", "", "", 3)};
  report.points[0].profiled->graph = true;
  EXPECT_EQ(gpu_stacks(report).size(), 3U) << "where its kernels are not known its own time counts";
  report.points[1].profiled->in_graph = report.points[2].profiled->in_graph = true;
  double sum = 0;
  for (const FoldedStack& stack : gpu_stacks(report)) sum += stack.seconds;
  EXPECT_DOUBLE_EQ(sum, 5);
}

TEST(FlameGraph, BarsLieBelowTheirCallersAndBesideEachOther) {
  const FlameGraph graph =
      flame_graph({stack_of("abc", 1), stack_of("abd", 3), stack_of("ae", 2), stack_of("f", 4)}, 100);
  EXPECT_DOUBLE_EQ(graph.seconds, 10);
  EXPECT_EQ(graph.depth, 3);
  EXPECT_EQ(graph.merged, 0);
  std::vector<std::string> texts;
  for (const FlameBar& bar : graph.bars) {
    texts.push_back(bar.frame.name + std::to_string(bar.depth) + "@" + std::to_string(std::lround(bar.start_s)) + "+" +
                    std::to_string(std::lround(bar.seconds)));
  }
  EXPECT_THAT(texts, ElementsAre("a0@0+6", "f0@6+4", "b1@0+4", "e1@4+2", "d2@0+3", "c2@3+1"));
}

TEST(FlameGraph, TheShortestFramesOfACallerAreOneBar) {
  std::vector<FoldedStack> stacks;
  for (char name = 'a'; name <= 'z'; ++name)
    stacks.push_back(stack_of(std::string("R") + name + "x", 1 + (name - 'a')));
  const FlameGraph graph = flame_graph(stacks, 21);
  EXPECT_EQ(graph.merged, 32);
  double first_row = 0, second_row = 0;
  std::int64_t merged = 0;
  for (const FlameBar& bar : graph.bars) {
    if (bar.depth == 0) first_row += bar.seconds;
    if (bar.depth == 1) second_row += bar.seconds;
    merged += bar.merged;
  }
  EXPECT_DOUBLE_EQ(first_row, graph.seconds);
  EXPECT_DOUBLE_EQ(second_row, graph.seconds) << "what is merged keeps its room";
  EXPECT_EQ(merged, graph.merged);
  EXPECT_LE(graph.bars.size(), 2U * 21);
}

TEST(FlameGraph, DeepStacksAreCut) {
  const FlameGraph graph = flame_graph({stack_of(std::string(5000, 'r'), 1)}, 10000, 50);
  EXPECT_EQ(graph.depth, 51);
  EXPECT_EQ(graph.merged, 4950);
  EXPECT_DOUBLE_EQ(graph.bars.back().seconds, 1);
}

TEST(FlameGraph, NothingHasNoBars) {
  const FlameGraph graph = flame_graph({}, 10);
  EXPECT_TRUE(graph.bars.empty());
  EXPECT_EQ(graph.depth, 0);
  EXPECT_EQ(graph.seconds, 0);
}

}  // namespace
}  // namespace roofline
