// The injected library inside of programs that use a fake driver, by what it leaves in the spool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <fstream>
#include <set>

#include "injected.hpp"

namespace roofline::inject {
namespace {

using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Pair;

std::set<spool::Id> kinds_of(const Spool& spool, const std::string& name) {
  std::set<spool::Id> kinds;
  for (const spool::Launch& launch : spool.launches_of(name)) kinds.insert(launch.kind);
  return kinds;
}

TEST_F(Injected, AProcessIsIntroducedAndEndsInOrder) {
  const Spool spool = spool_of("ends");
  ASSERT_TRUE(spool.process);
  EXPECT_EQ(spool.process->driver_version, 13000U);
  EXPECT_NE(spool.process->cupti_version, 0U);
  EXPECT_EQ(spool.process->parent_pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_THAT(spool.command, HasSubstr("ends"));
  EXPECT_TRUE(spool.has_note(spool::NoteCode::recording));
  ASSERT_EQ(spool.devices.size(), 1U);
  EXPECT_EQ(spool.texts.at(spool.devices[0].name), "Fake GPU");
  EXPECT_EQ(spool.devices[0].threads_per_sm, 2048U);
  ASSERT_EQ(spool.launches.size(), 1U);
  ASSERT_EQ(spool.kernels.size(), 1U);
  EXPECT_EQ(spool.kernels[0].correlation, spool.launches[0].correlation);
  EXPECT_EQ(spool.kernels[0].kind, 0U);
  EXPECT_GE(spool.kernels[0].start, spool.launches[0].start);
  EXPECT_LE(spool.launches[0].start, spool.launches[0].end);
  EXPECT_GE(spool.launches[0].start, spool.process->start);
  ASSERT_FALSE(spool.tallies.empty());
  EXPECT_EQ(spool.tallies.back().last, 1U);
  EXPECT_EQ(spool.tallies.back().launches, 1U);
  EXPECT_EQ(spool.tallies.back().kernels, 1U);
}

TEST_F(Injected, KindsAreFunctionGeometryAndScalars) {
  const Spool spool = spool_of("kinds");
  const auto scales = spool.launches_of("scale");
  ASSERT_EQ(scales.size(), 5U);
  // Pointers make no difference, nor the way in which parameters are given; numbers do.
  for (int index = 1; index < 4; ++index) EXPECT_EQ(scales[index].kind, scales[0].kind) << index;
  EXPECT_NE(scales[4].kind, scales[0].kind);
  EXPECT_NE(spool.kinds.at(scales[0].kind).scalars, 0U);

  // A kernel without a context has parameters, too; thirty seeds are eight kinds and one for the rest.
  std::map<spool::Id, int> seeds;
  for (const spool::Launch& launch : spool.launches_of("scale_kernel")) {
    if (spool.kinds.at(launch.kind).grid[0] == 5) ++seeds[launch.kind];
  }
  EXPECT_EQ(seeds.size(), 9U);
  for (const auto& [id, launches] : seeds) {
    const spool::Kind& kind = spool.kinds.at(id);
    const bool merged = (kind.flags & spool::kMerged) != 0;
    EXPECT_EQ(launches, merged ? 22 : 1);
    EXPECT_EQ(kind.scalars == 0, merged);
  }

  EXPECT_EQ(kinds_of(spool, "mapped").size(), 1U) << "the address in a tensor map is no scalar";
  ASSERT_EQ(spool.launches_of("ncclDevKernel_AllReduce").size(), 1U);
  EXPECT_EQ(spool.kinds.at(spool.launches_of("ncclDevKernel_AllReduce")[0].kind).flags, spool::kUncountable);
  const auto plain = spool.launches_of("plain");
  ASSERT_EQ(plain.size(), 1U) << "the other one was refused by the driver";
  const spool::Kind& extended = spool.kinds.at(plain[0].kind);
  EXPECT_THAT(extended.grid, ElementsAre(4, 3, 2));
  EXPECT_THAT(extended.block, ElementsAre(128, 1, 1));
  EXPECT_THAT(extended.cluster, ElementsAre(2, 1, 1));
  EXPECT_EQ(extended.dynamic_shared, 1024U);
  EXPECT_EQ(extended.flags, spool::kCooperative);
}

TEST_F(Injected, HandlesOfAnUnloadedModuleAreForgotten) {
  const Spool spool = spool_of("reloads_a_module");
  EXPECT_EQ(spool.launches_of("scale").size(), 1U);
  EXPECT_EQ(spool.launches_of("another").size(), 1U);
}

TEST_F(Injected, CallsCopiesAndFillsAreBookedToTheirPlace) {
  const Spool spool = spool_of("calls");
  std::vector<std::string> names;
  for (const spool::Call& call : spool.calls) names.push_back(spool.texts.at(call.name));
  EXPECT_THAT(names, ElementsAre("cuMemcpyHtoDAsync", "cuMemsetD8Async", "cuStreamSynchronize"));
  ASSERT_EQ(spool.copies.size(), 1U);
  EXPECT_EQ(spool.copies[0].bytes, 16U);
  EXPECT_EQ(spool.copies[0].from, spool::Memory::pageable);
  EXPECT_EQ(spool.copies[0].to, spool::Memory::device);
  EXPECT_EQ(spool.copies[0].asynchronous, 1U);
  EXPECT_EQ(spool.range_path(spool.places.at(spool.copies[0].place).range), "copies");
  ASSERT_EQ(spool.fills.size(), 1U);
  EXPECT_EQ(spool.fills[0].bytes, 32U);
  EXPECT_EQ(spool.places.at(spool.fills[0].place).range, 0U);
  EXPECT_EQ(spool.tallies.back().without_time, 1U);
  EXPECT_EQ(spool.tallies.back().dropped, 3U);
}

TEST_F(Injected, ConversionsOfUnchangedMemoryAreMarked) {
  const Spool spool = spool_of("unchanged_inputs");
  std::vector<bool> same;
  for (const spool::Launch& launch : spool.launches_of("bfloat16_copy_kernel_cuda")) {
    same.push_back((launch.flags & spool::kSameInput) != 0);
  }
  EXPECT_THAT(same, ElementsAre(false, true, true, false, false, false, true, true, false));
  for (const spool::Launch& launch : spool.launches_of("multiply")) EXPECT_EQ(launch.flags & spool::kSameInput, 0U);
}

TEST_F(Injected, CopiesFromTheHostHaveADigestOfTheirContents) {
  const Spool spool = spool_of("copy_sources");
  EXPECT_EQ(spool.copies.size(), 8U);
  ASSERT_EQ(spool.copy_sources.size(), 6U) << "of the small ones nothing is recorded";
  const auto& source = spool.copy_sources;
  EXPECT_EQ(source[0].bytes, 4096U);
  EXPECT_EQ(source[0].correlation, spool.copies[2].correlation);
  EXPECT_EQ(source[0].digest, source[1].digest);
  EXPECT_EQ(source[2].digest, source[3].digest);
  EXPECT_NE(source[0].digest, source[4].digest) << "one byte has changed";
  EXPECT_EQ(source[0].address, source[4].address);
  EXPECT_NE(source[2].digest, 0U);
  EXPECT_EQ(source[5].digest, 0U) << "zeros alone say nothing about what lies between them";
}

/// Its records may come at the end, when they have the flag of the last replay.
TEST_F(Injected, ConversionsInAGraphOfUnchangedMemoryAreMarked) {
  const Spool spool = spool_of("unchanged_in_graph");
  std::map<std::uint32_t, int> marked;
  for (const spool::Kernel& kernel : spool.kernels) {
    if (kernel.graph != 0)
      marked[spool.kinds.at(kernel.kind).grid[0]] += (kernel.flags & spool::kSameInput) != 0 ? 1 : 0;
  }
  EXPECT_THAT(marked, ElementsAre(Pair(2, Ge(1)), Pair(3, 0)));
}

TEST_F(Injected, KernelsOfAGraphHaveThePlaceOfTheirCapture) {
  const Spool spool = spool_of("graph");
  int captured = 0, graphs = 0;
  for (const spool::Launch& launch : spool.launches) {
    if ((launch.flags & spool::kCaptured) != 0) {
      ++captured;
      EXPECT_EQ(spool.kinds.at(launch.kind).flags, spool::kInGraph);
      EXPECT_EQ(spool.range_path(spool.place(launch).range), "capture");
    } else if ((spool.kinds.at(launch.kind).flags & spool::kGraph) != 0) {
      ++graphs;
      EXPECT_EQ(spool.name(launch), "graph of 3 kernels");
    }
  }
  EXPECT_EQ(captured, 2);
  EXPECT_EQ(graphs, 5);
  EXPECT_EQ(spool.launches_of("timeless").size(), 1U);
  EXPECT_EQ(spool.launches_of("timeless")[0].flags, 0U) << "its stream was not captured";
  // Of the last replay, after an update, kernels are another kind's; their place is still that of the capture.
  std::map<std::string, int> replayed;
  for (const spool::Kernel& kernel : spool.kernels) {
    if (kernel.graph == 0) continue;
    const spool::Kind& kind = spool.kinds.at(kernel.kind);
    EXPECT_NE(kind.flags & spool::kInGraph, 0U);
    ++replayed[spool.texts.at(kind.name) + " " + std::to_string(kind.grid[0]) + " " +
               spool.range_path(spool.places.at(kind.place).range)];
  }
  const std::map<std::string, int> expected = {
      {"plain 3 capture", 8}, {"mapped 9 ", 4}, {"plain 21 capture", 2}, {"mapped 21 ", 1}};
  EXPECT_EQ(replayed, expected);
  ASSERT_EQ(spool.copies.size(), 5U);
  for (const spool::Copy& copy : spool.copies) {
    EXPECT_EQ(spool.range_path(spool.places.at(copy.place).range), "capture");
  }
  EXPECT_EQ(spool.tallies.back().launches, 6U) << "captured ones left out";
}

TEST_F(Injected, RangesAreATreeAcrossDomains) {
  const Spool spool = spool_of("ranges");
  std::map<std::uint32_t, std::string> by_grid;
  std::map<std::string, int> steps;
  for (const spool::Launch& launch : spool.launches) {
    const std::uint32_t grid = spool.kinds.at(launch.kind).grid[0];
    by_grid[grid] = spool.range_path(spool.place(launch).range);
    if (grid == 4) ++steps[by_grid[grid]];
  }
  EXPECT_EQ(by_grid[1], "outer/größer");
  EXPECT_EQ(by_grid[2], "outer/größer/registered");
  EXPECT_EQ(by_grid[3], "outer/größer/registered");
  EXPECT_THAT(by_grid[5], HasSubstr("deep/deep/deep"));
  EXPECT_EQ(by_grid[6], "");
  EXPECT_EQ(steps.size(), 65U);
  EXPECT_EQ(steps["step 7"], 1);
  EXPECT_EQ(steps["step *"], 36);
  std::set<std::string> ended;
  for (const spool::RangeTime& time : spool.range_times) {
    EXPECT_LE(time.start, time.end);
    ended.insert(spool.range_path(time.range));
  }
  EXPECT_EQ(ended.count("outer/größer/registered"), 1U);
  EXPECT_EQ(ended.count("from a thread to another"), 1U);
  for (const auto& [id, range] : spool.ranges) {
    EXPECT_EQ(spool.texts.at(range.domain), spool.texts.at(range.name) == "registered" ? "library" : "");
  }
}

TEST_F(Injected, ThreadsDoNotLoseLaunches) {
  const Spool spool = spool_of("threads");
  std::map<std::uint32_t, int> launches;
  for (const spool::Launch& launch : spool.launches) {
    const std::uint32_t grid = spool.kinds.at(launch.kind).grid[0];
    ++launches[grid];
    EXPECT_EQ(spool.threads.at(launch.thread), "worker " + std::to_string(grid - 1));
    EXPECT_EQ(spool.range_path(spool.place(launch).range), grid % 2 == 1 ? "even" : "odd");
  }
  EXPECT_EQ(launches, (std::map<std::uint32_t, int>{{1, 2000}, {2, 2000}, {3, 2000}, {4, 2000}}));
  EXPECT_EQ(spool.kernels.size(), 8000U);
  EXPECT_EQ(spool.kinds.size(), 4U);
  EXPECT_EQ(spool.range_times.size(), 8000U);
}

TEST_F(Injected, AForkedChildLeavesTheParentAlone) {
  const Spool spool = spool_of("forks");
  ASSERT_EQ(spool.launches.size(), 2U);
  EXPECT_EQ(spool.tallies.back().last, 1U);
  for (const auto& [id, range] : spool.ranges) EXPECT_NE(spool.texts.at(range.name), "child");
}

TEST_F(Injected, AChildThatBringsUpCudaHasItsOwnSpool) {
  const Spool spool = spool_of("forks_first");
  ASSERT_EQ(spool.launches.size(), 1U);
  EXPECT_EQ(spool.range_path(spool.place(spool.launches[0]).range), "in the child");
}

TEST_F(Injected, ProgramsThatAreStartedHaveTheirOwnSpool) {
  const Outcome result = scenario("starts_another");
  EXPECT_EQ(result.status, 0);
  ASSERT_EQ(result.spools.size(), 2U);
  for (const Spool& spool : result.spools) EXPECT_EQ(spool.launches.size(), 1U);
}

TEST_F(Injected, ASuddenEndLosesLittle) {
  const Outcome ended = scenario("exits_suddenly");
  EXPECT_EQ(WEXITSTATUS(ended.status), 3);
  ASSERT_EQ(ended.spools.size(), 1U);
  EXPECT_EQ(ended.spools[0].launches.size(), 50U);
  EXPECT_EQ(ended.spools[0].kernels.size(), 50U);
  ASSERT_FALSE(ended.spools[0].tallies.empty());
  EXPECT_EQ(ended.spools[0].tallies.back().last, 0U);
}

TEST_F(Injected, AKilledProgramLeavesAReadableSpool) {
  const Outcome killed = scenario("dies");
  EXPECT_EQ(WTERMSIG(killed.status), SIGKILL);
  ASSERT_EQ(killed.spools.size(), 1U);
  EXPECT_GE(killed.spools[0].launches.size(), 50U);
  EXPECT_GE(killed.spools[0].kernels.size(), 50U);
}

/// CUPTI 13.0 crashes programs of XLA whose records are flushed again and again (BufferSize).
TEST_F(Injected, RecordsComeByTheBuffer) {
  const Outcome outcome = run({ROOFLINE_INJECT_PROGRAM, "launches_on"}, {{"FAKE_CUPTI", "crashes when flushed often"}});
  EXPECT_EQ(outcome.status, 0);
  ASSERT_EQ(outcome.spools.size(), 1U);
  EXPECT_EQ(outcome.spools[0].kernels.size(), 1000U);
}

TEST_F(Injected, AContextsEndWritesWhatWasSeen) {
  const Spool spool = spool_of("destroys_its_context");
  EXPECT_EQ(spool.launches.size(), 1U);
  EXPECT_EQ(spool.kernels.size(), 1U);
}

TEST_F(Injected, AWindowBeginsAfterTheWarmupAndEnds) {
  const Spool spool = spool_of("goes_on", {{"ROOFLINE_WARMUP_S", "0.4"}, {"ROOFLINE_WINDOW_S", "0.5"}});
  ASSERT_FALSE(spool.launches.empty());
  EXPECT_GT(spool.kinds.at(spool.launches.front().kind).grid[0], 1U);
  EXPECT_LT(spool.kinds.at(spool.launches.back().kind).grid[0], 200U);
  EXPECT_LE(spool.launches.back().start - spool.launches.front().start, 500'000'000U);
  std::set<std::uint32_t> launched, ran;
  for (const spool::Launch& launch : spool.launches) launched.insert(launch.correlation);
  for (const spool::Kernel& kernel : spool.kernels) ran.insert(kernel.correlation);
  EXPECT_EQ(launched, ran);
  EXPECT_TRUE(spool.has_note(spool::NoteCode::window_began));
  EXPECT_TRUE(spool.has_note(spool::NoteCode::window_ended));
  EXPECT_EQ(spool.tallies.back().launches, spool.launches.size());
}

TEST_F(Injected, TheParentMayEndTheRecording) {
  const Spool spool = spool_of("is_stopped");
  EXPECT_EQ(spool.launches.size(), 1U);
  EXPECT_EQ(spool.kernels.size(), 1U);
  EXPECT_TRUE(spool.has_note(spool::NoteCode::window_ended));
}

TEST_F(Injected, AFullSpoolSaysSo) {
  const Spool spool = spool_of("writes_much", {{"ROOFLINE_SPOOL_LIMIT", "100000"}});
  EXPECT_TRUE(spool.has_note(spool::NoteCode::spool_full));
  EXPECT_LT(spool.bytes, 110000U);
  EXPECT_FALSE(spool.torn);
  EXPECT_GT(spool.tallies.back().launches, spool.launches.size());
}

TEST_F(Injected, AnotherToolIsNotDisturbed) {
  const Spool spool = spool_of("ends", {{"FAKE_CUPTI", "subscribed"}});
  ASSERT_TRUE(spool.has_note(spool::NoteCode::not_traced));
  EXPECT_THAT(spool.notes.back().second, HasSubstr("another profiler"));
  EXPECT_TRUE(spool.launches.empty());
}

TEST_F(Injected, WithoutCuptiTheProgramRunsOn) {
  const Spool spool = spool_of("ends", {{"ROOFLINE_CUPTI", "/nowhere/libcupti.so"}, {"FAKE_DRIVER_VERSION", "99000"}});
  ASSERT_TRUE(spool.has_note(spool::NoteCode::not_traced));
  EXPECT_THAT(spool.notes.back().second, HasSubstr("not found"));
  EXPECT_EQ(spool.process->cupti_version, 0U);
  EXPECT_TRUE(spool.launches.empty());
}

TEST_F(Injected, ARefusedTraceIsExplained) {
  const Spool spool = spool_of("ends", {{"FAKE_CUPTI", "no kernels"}});
  ASSERT_TRUE(spool.has_note(spool::NoteCode::not_traced));
  EXPECT_THAT(spool.notes.back().second, HasSubstr("as the test wants it"));
}

TEST_F(Injected, WithoutAFolderNothingHappens) {
  const Outcome result = scenario("ranges", {{"ROOFLINE_SPOOL", ""}});
  EXPECT_EQ(WEXITSTATUS(result.status), 9) << "NVTX answers as without a tool";
  EXPECT_TRUE(result.spools.empty());
  EXPECT_EQ(scenario("ends", {{"ROOFLINE_SPOOL", folder_ / "missing"}}).status, 0);
}

TEST_F(Injected, AProgramThatNeverLaunchesIsRecorded) {
  const Spool spool = spool_of("never_launches");
  EXPECT_TRUE(spool.has_note(spool::NoteCode::recording));
  EXPECT_EQ(spool.tallies.back().launches, 0U);
}

#ifdef ROOFLINE_PYTHON
std::uint32_t marked_line(const std::string& mark, const std::string& name = "program.py") {
  std::ifstream script(ROOFLINE_SOURCE_DIR "/tests/inject/python/" + name);
  std::uint32_t number = 0;
  for (std::string line; std::getline(script, line);) {
    ++number;
    if (line.ends_with("# " + mark)) return number;
  }
  return 0;
}

bool has_modules(const Spool& spool) {
  for (const auto& [note, text] : spool.notes) {
    if (note.code == spool::NoteCode::python && text.ends_with("modules")) return true;
  }
  return false;
}

TEST_F(Injected, PythonsLinesAndModules) {
  const Outcome result = script("program.py");
  ASSERT_EQ(result.status, 0);
  ASSERT_EQ(result.spools.size(), 1U);
  const Spool& spool = result.spools[0];
  const bool modules = has_modules(spool);
  std::map<std::string, int> expected, found;
  const auto add = [](std::map<std::string, int>& counts, std::uint32_t line, const std::string& module, int count) {
    counts[std::to_string(line) + " " + module] += count;
  };
  for (const char* module : {"block.first", "block.second", "Leaf"}) {
    add(expected, marked_line("line of the leaf"), modules ? module : "", 5);
  }
  add(expected, marked_line("line of the block"), modules ? "block" : "", 5);
  add(expected, marked_line("line of the script"), "", 1);
  add(expected, marked_line("line after the failure"), "", 1);
  for (const spool::Launch& launch : spool.launches) {
    add(found, spool.line(launch), spool.module(launch), 1);
    EXPECT_THAT(spool.texts.at(spool.lines.at(spool.place(launch).line).file), HasSubstr("program.py"));
  }
  EXPECT_EQ(found, expected);
}

TEST_F(Injected, BackwardIsBookedToItsForward) {
  const Outcome result = script("backward.py");
  ASSERT_EQ(result.status, 0);
  ASSERT_EQ(result.spools.size(), 1U);
  const Spool& spool = result.spools[0];
  if (!has_modules(spool)) GTEST_SKIP() << "this version of Python gives lines alone";
  const std::string forward = std::to_string(marked_line("line of the forward", "backward.py"));
  const std::string backward = std::to_string(marked_line("line of the backward", "backward.py"));
  const std::string hook = std::to_string(marked_line("line of the hook", "backward.py"));
  std::vector<std::string> found;
  for (const spool::Launch& launch : spool.launches) {
    const spool::Place& place = spool.place(launch);
    EXPECT_EQ(place.backward != 0, place.operation != 0);
    found.push_back(spool.module(launch) + " " + std::to_string(spool.line(launch)) + " " +
                    spool.texts.at(place.operation));
  }
  // A leaf's gradient belongs to what was evaluated before it; a Python function's backward and a hook have their own
  // line.
  const std::vector<std::string> step = {"first " + forward + " ",
                                         "second " + forward + " ",
                                         "second " + forward + " AddmmBackward0",
                                         " " + hook + " AddmmBackward0",
                                         "second " + forward + " AccumulateGrad",
                                         "first " + backward + " ScaleBackward",
                                         "first " + forward + " AddmmBackward0"};
  std::vector<std::string> steps = {" 0 "};  // of the thread without frames
  steps.insert(steps.end(), step.begin(), step.end());
  steps.insert(steps.end(), step.begin(), step.end());
  EXPECT_EQ(found, steps);
}

TEST_F(Injected, ACommunicationHookHasItsOwnLine) {
  const Outcome result = script("hook.py");
  ASSERT_EQ(result.status, 0);
  ASSERT_EQ(result.spools.size(), 1U);
  const Spool& spool = result.spools[0];
  if (!has_modules(spool)) GTEST_SKIP() << "this version of Python gives lines alone";
  ASSERT_EQ(spool.launches.size(), 2U);
  EXPECT_EQ(spool.module(spool.launches[0]), "Layer");
  EXPECT_EQ(spool.module(spool.launches[1]), "");
  const std::string hooks = "torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py";
  EXPECT_EQ(spool.line(spool.launches[1]), marked_line("line of the hook", hooks));
}

TEST_F(Injected, PythonIsLeftAloneWhereItIsNotWanted) {
  const Outcome result = script("program.py", {{"ROOFLINE_PYTHON", "off"}});
  ASSERT_EQ(result.status, 0);
  ASSERT_EQ(result.spools.size(), 1U);
  EXPECT_FALSE(result.spools[0].launches.empty());
  EXPECT_TRUE(result.spools[0].lines.empty());
}
#endif

}  // namespace
}  // namespace roofline::inject
