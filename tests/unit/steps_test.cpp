// From spools of programs with known steps to steps, their times and what could be saved in them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "host_samples_builder.hpp"
#include "profile/process_trace.hpp"
#include "profile/profile.hpp"
#include "profile/recording.hpp"
#include "profile/row_times.hpp"
#include "profile/rows.hpp"
#include "profile/savings.hpp"
#include "profile/slow_steps.hpp"
#include "profile/step_sums.hpp"
#include "profile/steps.hpp"
#include "profile/sums.hpp"
#include "profile/wall_time.hpp"
#include "spool_builder.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using testing::Each;
using testing::HasSubstr;

constexpr std::uint64_t kMicrosecond = 1000;
constexpr std::uint64_t kMillisecond = 1000 * kMicrosecond;

/// 4 TB/s of memory and 50 GB/s to the host.
Machine gpu_of_steps() {
  const auto bandwidth = [](const std::string& name, Level level, Pattern pattern, double value) {
    Ceiling ceiling;
    ceiling.name = name;
    ceiling.kind = CeilingKind::bandwidth;
    ceiling.level = level;
    ceiling.pattern = pattern;
    ceiling.value = value;
    ceiling.ci95 = {value, value};
    return ceiling;
  };
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.ceilings = {bandwidth("hbm.copy", Level::hbm, Pattern::copy, 4e12),
                      bandwidth("hbm.read", Level::hbm, Pattern::read, 4e12),
                      bandwidth("pcie.h2d", Level::pcie, Pattern::h2d, 50e9)};
  return machine;
}

/// A program that launches kernels one after another: each begins on the GPU 2 us after its call.
class FakeProgram {
 public:
  explicit FakeProgram(std::uint32_t pid = 100, std::uint8_t gpu = 7) : spool_(pid, gpu) {}

  spool::Id kind(const std::string& name, std::uint32_t flags = 0) {
    const auto [found, is_new] = kinds_.try_emplace(name, 0);
    if (is_new) found->second = spool_.kind(name, 0, flags);
    return found->second;
  }

  FakeProgram& run(const std::string& name, std::uint64_t us, std::uint32_t flags = 0) {
    return run(kind(name), us, flags);
  }
  FakeProgram& run(spool::Id kind, std::uint64_t us, std::uint32_t flags = 0) {
    const std::uint64_t start = at_ + 2 * kMicrosecond;
    spool_.launch(kind, at_, at_ + kMicrosecond, start, start + us * kMicrosecond, flags);
    at_ = start + us * kMicrosecond;
    return *this;
  }
  FakeProgram& graph(std::uint64_t us) {
    const std::uint32_t launched =
        spool_.launch_graph(kind("graph of 2 kernels", spool::kGraph), at_, at_ + kMicrosecond);
    const spool::Id first = kind("a", spool::kInGraph), second = kind("b", spool::kInGraph);
    spool_.kernel(first, launched, at_ + 2 * kMicrosecond, at_ + (2 + us) * kMicrosecond, 1);
    spool_.kernel(second, launched, at_ + (2 + us) * kMicrosecond, at_ + (2 + 2 * us) * kMicrosecond, 1);
    at_ += (2 + 2 * us) * kMicrosecond;
    return *this;
  }
  /// A launch of that graph, of one kernel.
  FakeProgram& graph(spool::Id kind, std::uint64_t us) {
    const std::uint32_t launched = spool_.launch_graph(kind, at_, at_ + kMicrosecond);
    spool_.kernel(this->kind("fusion", spool::kInGraph), launched, at_ + 2 * kMicrosecond,
                  at_ + (2 + us) * kMicrosecond, 1);
    return wait(2 + us);
  }
  FakeProgram& copy(std::uint64_t us) {
    spool_.copy(1 << 20, spool::Memory::pageable, spool::Memory::device, at_, at_ + 2 * kMicrosecond,
                at_ + (2 + us) * kMicrosecond);
    at_ += (2 + us) * kMicrosecond;
    return *this;
  }
  FakeProgram& call(const char* name, spool::CallKind kind, std::uint64_t us) {
    spool_.call(name, kind, at_, at_ + us * kMicrosecond);
    return wait(us);
  }
  FakeProgram& wait(std::uint64_t us) {
    at_ += us * kMicrosecond;
    return *this;
  }
  FakeProgram& repeat(int times, const std::function<void(int)>& step) {
    for (int i = 0; i < times; ++i) step(i);
    return *this;
  }
  /// The kernels of a network, and an update of its parameters.
  FakeProgram& forward_and_backward() { return run("conv", 100).run("norm", 20).run("conv_backward", 200); }
  FakeProgram& update() { return run("_ZN2at6native25multi_tensor_apply_kernelI", 30); }

  SpoolBuilder& spool() { return spool_; }
  std::uint64_t now() const { return at_; }

 private:
  SpoolBuilder spool_;
  std::map<std::string, spool::Id> kinds_;
  std::uint64_t at_ = kMillisecond;
};

class StepsTest : public testing::Test {
 protected:
  StepsTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~StepsTest() override { fs::remove_all(folder_); }

  void add(FakeProgram& program) {
    program.spool().end(program.now());
    traces_.push_back(read_spool(program.spool().write(folder_ / (std::to_string(traces_.size()) + ".spool"))));
  }
  FoundSteps steps_of(FakeProgram& program, const std::string& range = {}) {
    add(program);
    recording_ = std::make_unique<Recording>(traces_);
    return find_steps(*recording_, range);
  }
  std::optional<Steps> sums_of(const FoundSteps& found, const HostSamples& samples = {}) {
    points_.clear();
    for (const LaunchGroup& group : recording_->groups) {
      points_.push_back(row_of(group, *recording_, gpu_of_steps(), ""));
    }
    rows_ = row_times(*recording_, found.steady());
    return sum_steps(*recording_, found, rows_, points_, samples);
  }
  /// After sums_of().
  std::vector<Saving> savings_of_steps(const FoundSteps& found, const Steps& steps, const IdleParts& idle) {
    Profile profile;
    profile.wall_s = seconds(recording_->end - recording_->start);
    profile.devices = wall_times(*recording_);
    profile.steps = steps;
    return savings_of(*recording_, found, points_, rows_, gpu_of_steps(), profile, idle);
  }

  std::vector<ProcessTrace> traces_;
  std::unique_ptr<Recording> recording_;
  std::vector<Point> points_;
  RowTimes rows_;
  fs::path folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

std::vector<double> step_lengths(const FoundSteps& found) {
  std::vector<double> lengths;
  for (const Step& step : found.all) lengths.push_back(seconds(step.span.length()));
  return lengths;
}

double all_parts_of(const WallTime& wall) {
  return wall.before_s + wall.kernels_s + wall.copies_s + wall.counting_s + wall.recording_s + wall.idle_launching_s +
         wall.idle_waiting_s + wall.idle_elsewhere_s + wall.after_s;
}

TEST_F(StepsTest, OfAPlainLoop) {
  FakeProgram program;
  program.run("init", 50).run("init2", 70).wait(5000);
  program.repeat(40, [&](int) { program.copy(30).forward_and_backward().wait(60); });
  program.run("report", 10).wait(2000);
  const FoundSteps found = steps_of(program);
  EXPECT_EQ(found.why_none, "");
  EXPECT_EQ(found.source, StepSource::repetition);
  EXPECT_GE(found.all.size(), 38U);
  // Four launches of 2 us each, 350 us of work, and 60 us of the host alone.
  EXPECT_THAT(step_lengths(found), Each(testing::DoubleNear(418e-6, 1e-12)));
  const Steps steps = sums_of(found).value();
  EXPECT_NEAR(steps.median_s, 418e-6, 1e-12);
  for (const Interval& interval : {steps.ci95, steps.mean_ci95}) {
    EXPECT_NEAR(interval.low, 418e-6, 1e-12);
    EXPECT_NEAR(interval.high, 418e-6, 1e-12);
  }
  EXPECT_DOUBLE_EQ(steps.launches, 4);
  EXPECT_NEAR(steps.total_s, static_cast<double>(steps.count) * 418e-6, 1e-9);
  ASSERT_EQ(steps.devices.size(), 1U);
  EXPECT_NEAR(all_parts_of(steps.devices[0]), steps.total_s, 1e-12);
  EXPECT_NEAR(steps.devices[0].kernels_s, static_cast<double>(steps.count) * 320e-6, 1e-9);
  EXPECT_NEAR(steps.devices[0].copies_s, static_cast<double>(steps.count) * 30e-6, 1e-9);
  EXPECT_NEAR(steps.start_up_s, 6.1e-3, 0.7e-3);
  EXPECT_GE(steps.tear_down_s, 2e-3);
  double start_up = 0;
  for (const StartUpShare& share : steps.start_up) start_up += share.seconds;
  EXPECT_NEAR(start_up, steps.start_up_s, 1e-12);
}

TEST_F(StepsTest, GradientAccumulationIsOneStep) {
  FakeProgram program;
  program.repeat(20, [&](int) {
    for (int micro = 0; micro < 4; ++micro) program.forward_and_backward();
    program.update();
  });
  const FoundSteps found = steps_of(program);
  EXPECT_EQ(found.source, StepSource::optimizer);
  EXPECT_GE(found.all.size(), 18U);
  EXPECT_THAT(step_lengths(found), Each(testing::DoubleNear(4 * 326e-6 + 32e-6, 1e-12)));
}

TEST_F(StepsTest, AnEvaluationIsNoStep) {
  FakeProgram program;
  program.repeat(4, [&](int) {
    program.repeat(20, [&](int) { program.forward_and_backward().update(); });
    program.repeat(15, [&](int) { program.run("conv", 100).run("accuracy", 5); });
  });
  const FoundSteps found = steps_of(program);
  EXPECT_GE(found.all.size(), 70U);
  EXPECT_LE(found.all.size(), 80U);
  EXPECT_THAT(step_lengths(found), Each(testing::DoubleNear(358e-6, 1e-12)));
}

/// With a line of its own, without one, once, and short.
TEST_F(StepsTest, AnEvaluationIsWorkBetweenSteps) {
  struct Case {
    bool own_line = true;
    int epochs = 4, batches = 60;
    bool found = false;
  };
  for (const Case& one : {Case{.found = true}, Case{.own_line = false}, Case{.epochs = 1}, Case{.batches = 6}}) {
    traces_.clear();
    FakeProgram program;
    const spool::Id line = program.spool().line("/home/user/project/train.py", 47, "validate");
    const spool::Id accuracy =
        program.spool().kind("accuracy", program.spool().place({.line = one.own_line ? line : 0}));
    const auto epoch = [&](int) { program.repeat(20, [&](int) { program.forward_and_backward().update(); }); };
    for (int i = 0; i < one.epochs; ++i) {
      epoch(i);
      program.repeat(one.batches, [&](int) { program.run("conv", 100).run(accuracy, 5); });
    }
    program.repeat(one.epochs == 1 ? 3 : 1, epoch);
    const Steps steps = sums_of(steps_of(program)).value();
    ASSERT_EQ(steps.between.has_value(), one.found) << one.epochs << ' ' << one.batches << ' ' << one.own_line;
    if (!one.found) continue;
    EXPECT_EQ(steps.between->times, 4);
    EXPECT_THAT(steps.between->line, HasSubstr("train.py:47"));
    EXPECT_NEAR(steps.between->seconds, 4 * 60 * 109e-6, 0.02 * 4 * 60 * 109e-6);
    EXPECT_NEAR(steps.between->share, 4 * 60 * 109. / (4 * 60 * 109. + 100 * 358.), 0.02);
  }
}

/// Saved by torch.save while nothing was recorded, as in most of a run: often enough, once, too short to matter, not
/// saved, and in a row without steps in between.
TEST_F(StepsTest, CheckpointsOfTheWholeRunAreWorkBetweenSteps) {
  struct Case {
    int times = 4, samples = 5;
    bool saves = true;
    int wait_us = 2000;
    bool found = false;
  };
  for (const Case& one :
       {Case{.found = true}, Case{.times = 2}, Case{.samples = 1}, Case{.saves = false}, Case{.wait_us = 40000}}) {
    traces_.clear();
    FakeProgram program;
    program.repeat(30, [&](int) { program.forward_and_backward().update().wait(one.wait_us); });
    const std::uint64_t begin = program.now();
    program.wait(800'000);
    const FoundSteps found = steps_of(program);
    HostSamplesBuilder samples;
    const int main = samples.thread(100, 100);
    const HostFrame caller = HostSamplesBuilder::own("train.py", 48, "save");
    const HostFrame frame = HostSamplesBuilder::library("torch/serialization.py", one.saves ? "save" : "load");
    const int saving = samples.stack({frame, caller}), other = samples.stack({caller});
    for (std::uint64_t i = 0; i < 40; ++i) {
      const bool saves =
          i % 11 < static_cast<std::uint64_t>(one.samples) && i < 11 * static_cast<std::uint64_t>(one.times);
      samples.sample(main, begin + (i + 1) * 20 * kMillisecond, ThreadState::running, saves ? saving : other);
    }
    const Steps steps = sums_of(found, samples.take()).value();
    ASSERT_EQ(steps.between.has_value(), one.found) << one.times << ' ' << one.samples << ' ' << one.saves;
    if (!one.found) continue;
    EXPECT_EQ(steps.between->times, 3) << "up to the last one";
    EXPECT_THAT(steps.between->line, HasSubstr("train.py:48"));
    EXPECT_NE(steps.between->action, "");
    EXPECT_NEAR(steps.between->seconds, 3 * 90e-3, 0.02) << "five samples, 20 ms apart, of 10 ms each";
    EXPECT_NEAR(steps.between->share, 90. / 220, 0.02);
  }
}

/// The steps are those of rank 1, which waits in a barrier while rank 0 saves the state of both.
TEST_F(StepsTest, CheckpointsOfAnotherRankAreWorkBetweenSteps) {
  constexpr std::int64_t kOther = 101;
  for (const bool of_job : {true, false}) {
    traces_.clear();
    SpoolBuilder other(kOther);
    if (of_job) other.add(spool::Type::rank, spool::Rank{0, 0, 2, other.text("torchrun"), other.text("node"), 0});
    traces_.push_back(read_spool(other.write(folder_ / "other.spool")));
    FakeProgram program;
    program.repeat(30, [&](int) { program.forward_and_backward().update().wait(2000); });
    const std::uint64_t begin = program.now();
    program.wait(800'000);
    const FoundSteps found = steps_of(program);
    HostSamplesBuilder samples;
    const int waits = samples.thread(100, 100), saves = samples.thread(kOther, kOther);
    const HostFrame caller = HostSamplesBuilder::own("train.py", 48, "save");
    const int saving = samples.stack({HostSamplesBuilder::library("torch/serialization.py", "save"), caller});
    const int waiting = samples.stack({caller});
    for (std::uint64_t i = 0; i < 40; ++i) {
      const std::uint64_t time = begin + (i + 1) * 20 * kMillisecond;
      samples.sample(waits, time, ThreadState::gpu, waiting);
      samples.sample(saves, time, ThreadState::running, i % 11 < 5 ? saving : waiting);
    }
    const Steps steps = sums_of(found, samples.take()).value();
    ASSERT_EQ(steps.between.has_value(), of_job);
    if (of_job) {
      EXPECT_EQ(steps.between->work, BetweenWork::saving);
    }
  }
}

/// A function that is compiled for each shape: only the steps of the last one are many. Twice is a start-up, and
/// workers that are stopped compile nothing; nor does a program whose functions are compiled one after the other.
TEST_F(StepsTest, CompilationForEachShapeMayComeBeforeTheSteps) {
  struct Case {
    int rounds = 6;
    const char *function = "AsyncCompile.wait", *tracer = "torch/_dynamo/convert_frame.py";
    int launches = 100;
    bool found = true;
  };
  for (const Case& one : {Case{}, Case{.rounds = 3, .found = false}, Case{.launches = 4, .found = false},
                          Case{.tracer = "jax/_src/compiler.py", .found = false},
                          Case{.function = "shutdown_compile_workers", .found = false}}) {
    traces_.clear();
    FakeProgram program;
    HostSamplesBuilder samples(200);
    const int thread = samples.thread(100, 100);
    const HostFrame caller = HostSamplesBuilder::own("score.py", 85, "score");
    const int compiles = samples.stack({HostSamplesBuilder::library("torch/_inductor/async_compile.py", one.function),
                                        HostSamplesBuilder::library(one.tracer, "compile"), caller});
    const int scores = samples.stack({caller});
    program.run("init", 50);
    std::uint64_t at = program.now();
    for (int round = 0; round < one.rounds; ++round) {
      for (const auto& [stack, times] : {std::pair(compiles, 20), std::pair(scores, 40)}) {
        for (int i = 0; i < times; ++i) samples.sample(thread, at += 5 * kMillisecond, ThreadState::running, stack);
      }
      program.wait((at - program.now()) / kMicrosecond - 100'000);
      for (int i = 0; i < one.launches; ++i) program.run("shape" + std::to_string(round * 1000 + i), 50);
      program.wait((at - program.now()) / kMicrosecond);
    }
    program.repeat(80, [&](int) { program.forward_and_backward().update().wait(5000); });
    const Steps steps = sums_of(steps_of(program), samples.take()).value();
    ASSERT_EQ(steps.between.has_value(), one.found) << one.rounds << one.function;
    if (!one.found) continue;
    EXPECT_EQ(steps.between->work, BetweenWork::compiling);
    EXPECT_THAT(steps.between->line, HasSubstr("score.py:85"));
    EXPECT_NEAR(steps.between->share, 1. / 3, 0.02);
  }
}

/// The host pauses before each round of steps: for work of three kinds, and for what must not be mistaken for it. Only
/// the first steps are recorded, in which a thread may compile beside them.
TEST_F(StepsTest, WorkOfTheHostBeforeEachRoundIsWorkBetweenSteps) {
  using enum BetweenWork;
  const auto library = &HostSamplesBuilder::library;
  const HostFrame compiler = library("jax/_src/compiler.py", "backend_compile");
  const HostFrame workers = library("torch/utils/data/dataloader.py", "_MultiProcessingDataLoaderIter.__init__");
  const HostFrame queue = library("multiprocessing/queues.py", "get"), decoder = library("json/decoder.py", "decode");
  struct Case {
    std::string name;
    HostFrame begin = {}, rest = {};  ///< of the first half of each pause, and of the second
    BetweenWork work = launched;
    bool found = false;
    int rounds = 5;
    std::uint64_t pause_ms = 100, steps_ms = 200;
    bool launches = true, changes = false, beside = false, ends = false;
  };
  for (const Case& one :
       {Case{.name = "compiles", .begin = compiler, .rest = compiler, .work = compiling, .found = true},
        Case{.name = "workers", .begin = workers, .rest = queue, .work = starting_workers, .found = true},
        Case{.name = "only waits", .begin = queue, .rest = queue},
        Case{.name = "something else", .begin = decoder, .rest = decoder},
        Case{.name = "once, and at the end", .begin = compiler, .rest = compiler, .rounds = 2},
        Case{.name = "short", .begin = compiler, .rest = compiler, .pause_ms = 20},
        Case{.name = "few steps", .begin = compiler, .rest = compiler, .steps_ms = 20},
        Case{.name = "thread without launches", .begin = compiler, .rest = compiler, .launches = false},
        Case{.name = "other functions", .begin = compiler, .rest = compiler, .changes = true},
        Case{.name = "late start-up", .begin = compiler, .rest = compiler, .ends = true},
        Case{.name = "beside steps", .begin = compiler, .rest = compiler, .beside = true}}) {
    SCOPED_TRACE(one.name);
    traces_.clear();
    FakeProgram program;
    HostSamplesBuilder samples(200);
    const int thread = samples.thread(100, one.launches ? 100 : 101);
    std::uint64_t at = program.now();
    const auto sample_for = [&](std::uint64_t ms, const HostFrame& inner, const std::string& function) {
      const HostFrame caller = HostSamplesBuilder::own("anneal.py", 30, function);
      const int stack = inner.function.empty() ? samples.stack({caller}) : samples.stack({inner, caller});
      for (const std::uint64_t end = at + ms * kMillisecond; at < end;)
        samples.sample(thread, at += 5 * kMillisecond, ThreadState::running, stack);
    };
    program.repeat(80, [&](int) { program.forward_and_backward().update().wait(5000); });
    if (one.beside) {
      sample_for(100, {}, "fit");
      sample_for(200, compiler, "fit");
    }
    at = program.now();
    for (int round = 0; round < one.rounds; ++round) {
      const std::string function = one.changes ? "fit" + std::to_string(round) : "fit";
      sample_for(one.pause_ms / 2, one.begin, function);
      sample_for(one.pause_ms / 2, one.rest, function);
      sample_for(one.steps_ms, {}, function);
    }
    program.wait((at - program.now()) / kMicrosecond);
    if (one.ends) program.repeat(500, [&](int) { program.forward_and_backward().update().wait(5000); });
    const Steps steps = sums_of(steps_of(program), samples.take()).value();
    ASSERT_EQ(steps.between.has_value(), one.found);
    if (!one.found) continue;
    EXPECT_EQ(steps.between->work, one.work);
    EXPECT_EQ(steps.between->times, one.rounds - 1) << "up to the last one";
    EXPECT_THAT(steps.between->line, HasSubstr("anneal.py:30"));
    EXPECT_NE(steps.between->action, "");
    EXPECT_NEAR(steps.between->seconds, (one.rounds - 1) * 0.1, 1e-6);
    EXPECT_NEAR(steps.between->share, 100. / 300, 1e-6);
  }
}

/// Of the loop's function one line runs the steps, another one an evaluation on the host; only the first steps are
/// recorded.
TEST_F(StepsTest, OtherCodeOfTheHostBetweenRoundsIsWorkBetweenSteps) {
  struct Case {
    std::string name;
    int line = 55;  ///< of the loop's function, in each pause
    bool for_gpu = false, beside = false, found = false;
  };
  for (const Case& one :
       {Case{.name = "evaluates", .found = true}, Case{.name = "the steps' line", .line = 30},
        Case{.name = "launches", .for_gpu = true, .found = true}, Case{.name = "beside steps", .beside = true}}) {
    SCOPED_TRACE(one.name);
    traces_.clear();
    FakeProgram program;
    HostSamplesBuilder samples(200);
    const int thread = samples.thread(100, 100);
    std::uint64_t at = program.now();
    const HostFrame evaluate = HostSamplesBuilder::own("metrics.py", 12, "distance");
    const auto sample_until = [&](std::uint64_t end, bool pause) {
      const HostFrame caller = HostSamplesBuilder::own("train.py", pause ? one.line : 30, "fit");
      const int stack = samples.stack(pause ? std::vector{evaluate, caller} : std::vector{caller});
      while (at < end)
        samples.sample(thread, at += 5 * kMillisecond, pause && one.for_gpu ? ThreadState::gpu : ThreadState::running,
                       stack);
    };
    program.repeat(80, [&](int) { program.forward_and_backward().update().wait(5000); });
    if (one.beside) sample_until(at + 200 * kMillisecond, true);
    sample_until(program.now(), false);
    for (int round = 0; round < 5; ++round) {
      sample_until(at + 100 * kMillisecond, true);
      sample_until(at + 200 * kMillisecond, false);
    }
    program.wait((at - program.now()) / kMicrosecond);
    const Steps steps = sums_of(steps_of(program), samples.take()).value();
    ASSERT_EQ(steps.between.has_value(), one.found);
    if (!one.found) continue;
    EXPECT_EQ(steps.between->work, one.for_gpu ? BetweenWork::launched : BetweenWork::computing);
    EXPECT_EQ(steps.between->action.empty(), one.for_gpu);
    EXPECT_THAT(steps.between->line, HasSubstr("metrics.py:12"));
    EXPECT_EQ(steps.between->times, 4) << "up to the last one";
    EXPECT_NEAR(steps.between->seconds, 4 * 0.1, 0.01);
  }
}

TEST_F(StepsTest, AGraphIsOneLaunch) {
  FakeProgram program;
  program.repeat(30, [&](int) { program.graph(100).wait(10); });
  const FoundSteps found = steps_of(program);
  EXPECT_THAT(step_lengths(found), Each(testing::DoubleNear(212e-6, 1e-12)));
  const Steps steps = sums_of(found).value();
  EXPECT_EQ(steps.count, 29);
  EXPECT_DOUBLE_EQ(steps.launches, 1);
  double launches = 0, kernels = 0;
  for (const auto& [where, row] : rows_) {
    const LaunchGroup& group = recording_->groups[static_cast<std::size_t>(where.first)];
    if (group.graph()) launches += row.launches;
    if (!group.graph()) kernels += row.kernel_s;
  }
  EXPECT_NEAR(launches, 29, 1e-9) << "launches of the graph, by the time of its kernels";
  EXPECT_NEAR(kernels, steps.devices[0].kernels_s, 1e-12);
}

TEST_F(StepsTest, TheGpuMayBeFarBehindTheHost) {
  // The host launches all steps in 0.1 ms; the GPU needs 50 ms for them.
  FakeProgram program;
  const spool::Id a = program.kind("a"), b = program.kind("b");
  for (std::uint64_t i = 0; i < 50; ++i) {
    program.spool().launch(a, kMillisecond + 2 * i * kMicrosecond, kMillisecond + (2 * i + 1) * kMicrosecond,
                           (2 + i) * kMillisecond, (2 + i) * kMillisecond + 400 * kMicrosecond);
    program.spool().launch(b, kMillisecond + (2 * i + 1) * kMicrosecond, kMillisecond + (2 * i + 2) * kMicrosecond,
                           (2 + i) * kMillisecond + 400 * kMicrosecond, (3 + i) * kMillisecond);
  }
  program.wait(52'000);
  EXPECT_THAT(step_lengths(steps_of(program)), Each(testing::DoubleNear(1e-3, 1e-12)));
}

/// A program in JAX: each step is one graph from a line, and a copy by a thread of the runtime.
class CompiledProgram {
 public:
  explicit CompiledProgram(bool has_lines = true) : has_lines_(has_lines) {}
  FakeProgram& program() { return program_; }

  void step(int kernels = 17) {
    program_.spool().on_thread(9);
    program_.copy(5);
    program_.spool().on_thread(1);
    const auto [graph, is_new] = graphs_.try_emplace(kernels, 0);
    if (is_new) {
      graph->second =
          program_.spool().kind("graph of " + std::to_string(kernels) + " kernels", own_line(), spool::kGraph);
    }
    program_.graph(graph->second, 40);
  }
  /// The runtime's threads tune kernels, which no line of the program launches.
  void compile(int candidates) {
    program_.spool().on_thread(5);
    for (int i = 0; i < candidates; ++i) {
      program_.run("candidate_" + std::to_string(compiled_) + "_" + std::to_string(i % 40), 3).run("check", 20);
    }
    program_.spool().on_thread(1);
    program_.call("cuModuleLoadData", spool::CallKind::load, 1000).wait(20'000);
    ++compiled_;
  }

 private:
  spool::Id own_line() {
    if (line_ == 0 && has_lines_)
      line_ = program_.spool().place({.line = program_.spool().line("/home/u/train.py", 24, "step")});
    return line_;
  }

  FakeProgram program_;
  bool has_lines_;
  std::map<int, spool::Id> graphs_;
  spool::Id line_ = 0;
  int compiled_ = 0;
};

TEST_F(StepsTest, AfterACompilerThatTunesKernels) {
  CompiledProgram of;
  for (int i = 0; i < 20; ++i) of.compile(400);
  of.program().repeat(300, [&](int) { of.step(); });
  const FoundSteps found = steps_of(of.program());
  EXPECT_GE(found.all.size(), 298U);
  EXPECT_THAT(step_lengths(found), Each(testing::Lt(1e-3)));
  EXPECT_DOUBLE_EQ(found.all.front().launches, 2);  // with the copy, which has no line
}

TEST_F(StepsTest, BetweenACompilerAndCodeThatIsLoadedLate) {
  CompiledProgram of(false);
  for (int i = 0; i < 20; ++i) of.compile(400);
  of.program().repeat(300, [&](int) { of.step(); });
  of.compile(0);  // as an evaluation at the end
  of.step();
  const FoundSteps found = steps_of(of.program());
  EXPECT_GE(found.all.size(), 298U);
  EXPECT_LE(found.all.size(), 301U);
  EXPECT_THAT(step_lengths(found), Each(testing::Lt(1e-3)));
}

/// Before the tuner, the compiler launches nothing for longer than all steps take.
TEST_F(StepsTest, AfterACompilerThatTakesLongerThanTheSteps) {
  CompiledProgram of(false);
  of.program().run("fill", 10).wait(5'000'000);
  for (int i = 0; i < 20; ++i) of.compile(400);
  of.program().repeat(300, [&](int) { of.step(); });
  const FoundSteps found = steps_of(of.program());
  EXPECT_GE(found.all.size(), 298U);
  EXPECT_THAT(step_lengths(found), Each(testing::Lt(1e-3)));
}

TEST_F(StepsTest, WithACompilerInTheSteps) {
  CompiledProgram of;
  of.program().repeat(64, [&](int step) {
    if (step % 16 == 0) of.compile(400);
    of.step(17 + step / 16);  // the graph of each shape has another number of kernels
  });
  const FoundSteps found = steps_of(of.program());
  EXPECT_GE(found.all.size(), 60U);
  EXPECT_EQ(std::count_if(found.all.begin(), found.all.end(), [](const Step& step) { return step.launches > 100; }), 3);
}

/// A tuner's own loops may repeat for longer than a short run's steps: the GPU's time is in the steps.
TEST_F(StepsTest, ATunersLoopsAreNoStepsWhereTheGpuWorksElsewhere) {
  FakeProgram program;
  program.repeat(190, [&](int) {
    program.run("fill", 10).call("cuModuleLoadData", spool::CallKind::load, 10'000).run("candidate", 100).wait(30'000);
  });
  program.repeat(60, [&](int) { program.run("train", 20'000).run("small", 5).copy(50); });
  const FoundSteps found = steps_of(program);
  EXPECT_GE(found.all.size(), 55U);
  EXPECT_THAT(step_lengths(found), Each(testing::Lt(25e-3)));
}

/// XLA's tuner launches from the line of the step, for most of the GPU's time, and the first evaluation compiles too.
TEST_F(StepsTest, CandidatesOfXlasTunerAreNoSteps) {
  FakeProgram program;
  const spool::Id place =
      program.spool().place({.line = program.spool().line("/home/user/project/train.py", 55, "main")});
  const spool::Id candidate = program.spool().kind("gemm_fusion_dot", place),
                  step = program.spool().kind("train", place);
  const auto tune = [&](int times) {
    program.repeat(times, [&](int) {
      program.run(candidate, 400).call("cuModuleLoadData", spool::CallKind::load, 500);
      program.run("stream_executor::cuda::RedzoneAllocatorKernelImpl", 20).run(candidate, 400);
    });
  };
  tune(200);
  program.repeat(25, [&](int) { program.run(step, 3000); });
  tune(40);
  program.repeat(40, [&](int) { program.run(step, 3000); });
  const FoundSteps found = steps_of(program);
  EXPECT_GE(found.all.size(), 35U);
  EXPECT_THAT(step_lengths(found), Each(testing::DoubleNear(3e-3, 0.1e-3)));
}

TEST_F(StepsTest, AFewLaunchesBesideACompilerAreNoSteps) {
  CompiledProgram of;
  for (int i = 0; i < 20; ++i) of.compile(400);
  of.program().repeat(6, [&](int) { of.step(); });
  const FoundSteps found = steps_of(of.program());
  EXPECT_TRUE(found.all.empty());
  EXPECT_NE(found.why_none, "");
}

TEST_F(StepsTest, WhereNothingRepeatsThereAreNone) {
  FakeProgram program;
  for (char letter = 'a'; letter <= 'z'; ++letter) program.run(std::string(3, letter), 10);
  const FoundSteps found = steps_of(program);
  EXPECT_TRUE(found.all.empty());
  EXPECT_NE(found.why_none, "");
  EXPECT_TRUE(found.steady().empty());
  EXPECT_FALSE(sums_of(found));
}

/// A benchmark of kernels.
TEST_F(StepsTest, KernelsOneAfterTheOtherAreNone) {
  FakeProgram program;
  for (const char* name : {"first", "second", "third"}) {
    program.repeat(200, [&](int) { program.run(name, 500); });
  }
  EXPECT_TRUE(steps_of(program).all.empty());
}

/// A benchmark of kernels in rounds. With as many launches in each, a round is a step; otherwise there is none.
TEST_F(StepsTest, OfRoundsOfKernelsAreRoundsOrNone) {
  for (const bool regular : {true, false}) {
    FakeProgram program;
    program.repeat(24, [&](int round) {
      const int more = regular ? 0 : 7 * (round % 5);
      for (int i = 0; i < 5 + more; ++i) program.run("first", 300);
      for (int i = 0; i < 4 + 5 * (more % 3); ++i) program.run("second", 300);
      for (int i = 0; i < 60 - more; ++i) program.run("third", 20);
    });
    const FoundSteps found = steps_of(program);
    if (regular) {
      EXPECT_GE(found.all.size(), 20U);
      EXPECT_EQ(found.all.front().launches, 69);
    } else {
      EXPECT_TRUE(found.all.empty()) << found.all.size() << " of " << found.all.front().launches;
    }
  }
}

/// One kernel fills arrays, longer than the steps take, which launch another one many times in a row.
TEST_F(StepsTest, AfterALongInitialisation) {
  FakeProgram program;
  program.repeat(5000, [&](int) { program.run("fill", 20); });
  program.repeat(40, [&](int) {
    for (int i = 0; i < 20; ++i) program.run("sweep", 20);
    program.run("check", 100);
  });
  EXPECT_GE(steps_of(program).all.size(), 30U);
}

TEST_F(StepsTest, WithoutAKernelThereAreNone) {
  FakeProgram program;
  const FoundSteps found = steps_of(program);
  EXPECT_NE(found.why_none, "");
}

TEST_F(StepsTest, ASlowStepIsListedWithWhatWasDifferent) {
  FakeProgram program;
  program.repeat(40, [&](int step) {
    if (step == 20) program.call("cuModuleLoadData", spool::CallKind::load, 2000);
    program.copy(30).forward_and_backward();
  });
  const FoundSteps found = steps_of(program);
  EXPECT_EQ(slow_steps(found).size(), 1U);
  const Steps steps = sums_of(found).value();
  ASSERT_EQ(steps.slow.size(), 1U);
  EXPECT_NEAR(steps.slow[0].seconds, 358e-6 + 2e-3, 1e-5);
  EXPECT_THAT(steps.slow[0].different, HasSubstr("cuModuleLoadData"));
  EXPECT_LT(steps.high_s, 1e-3);
}

TEST_F(StepsTest, ASingleEventIsNoPartOfTheFigures) {
  FakeProgram program;
  program.repeat(60, [&](int step) {
    if (step == 30 || step == 31) program.wait(200'000);
    program.copy(30).forward_and_backward();
  });
  const FoundSteps found = steps_of(program);
  const Steps steps = sums_of(found).value();
  EXPECT_NEAR(steps.total_s / static_cast<double>(steps.count), 358e-6, 1e-9);
  EXPECT_EQ(steps.count + 2, static_cast<std::int64_t>(found.all.size()));
  ASSERT_EQ(steps.slow.size(), 2U);
  EXPECT_TRUE(steps.slow[0].apart && steps.slow[1].apart);
  for (const WallTime& wall : steps.devices) EXPECT_NEAR(wall.wall_s, steps.total_s, 1e-9);
}

TEST_F(StepsTest, WhatComesAgainIsAPartOfTheFigures) {
  FakeProgram program;
  program.repeat(60, [&](int step) {
    if (step == 20 || step == 40) program.wait(200'000);
    program.copy(30).forward_and_backward();
  });
  const Steps steps = sums_of(steps_of(program)).value();
  EXPECT_GT(steps.total_s, 0.4);
  ASSERT_EQ(steps.slow.size(), 2U);
  EXPECT_FALSE(steps.slow[0].apart || steps.slow[1].apart);
}

TEST_F(StepsTest, StepsThatScatterAreNotSlow) {
  FakeProgram program;
  std::mt19937 random(5);
  program.repeat(60, [&](int) { program.forward_and_backward().wait(random() % 100); });
  const FoundSteps found = steps_of(program);
  EXPECT_TRUE(slow_steps(found).empty());
  EXPECT_TRUE(sums_of(found)->slow.empty());
}

TEST_F(StepsTest, SlowFirstStepsBelongToTheStartUp) {
  FakeProgram program;
  program.repeat(40, [&](int step) {
    if (step < 2) program.wait(3000);
    program.copy(30).forward_and_backward();
  });
  const FoundSteps found = steps_of(program);
  EXPECT_GE(found.all.size(), 36U);
  EXPECT_THAT(step_lengths(found), Each(testing::DoubleNear(358e-6, 1e-12)));
}

TEST_F(StepsTest, CompilationBeforeTheFirstStepIsAPartOfTheStartUp) {
  FakeProgram program;
  program.run("first", 10).wait(300'000);
  program.repeat(40, [&](int) { program.copy(30).forward_and_backward(); });
  const FoundSteps found = steps_of(program);
  HostSamplesBuilder samples;
  const int main = samples.thread(100, 100), idle = samples.thread(100, 101);
  const int compiling = samples.stack({HostSamplesBuilder::library("jax/_src/compiler.py", "backend_compile")});
  const int other = samples.stack({HostSamplesBuilder::own("train.py", 3, "main")});
  for (int i = 1; i <= 25; ++i) {
    const std::uint64_t time = static_cast<std::uint64_t>(i) * 10 * kMillisecond;
    samples.sample(main, time, ThreadState::lock, i <= 20 ? compiling : other);
    samples.sample(idle, time, ThreadState::lock, compiling);  // waits for work of a compiler
  }
  std::vector<Point> points;
  for (const LaunchGroup& group : recording_->groups) points.push_back(row_of(group, *recording_, gpu_of_steps(), ""));
  const auto compiled_in = [&](const HostSamples& of) {
    const Steps steps = sum_steps(*recording_, found, row_times(*recording_, found.steady()), points, of).value();
    double time = 0;
    for (const StartUpShare& share : steps.start_up) time += share.part == StartUpPart::compiling ? share.seconds : 0;
    return time;
  };
  EXPECT_NEAR(compiled_in(samples.take()), 0.2, 2e-3);
  EXPECT_EQ(compiled_in({}), 0);
}

TEST_F(StepsTest, CountedStepsAreLeftOut) {
  FakeProgram program;
  program.repeat(40, [&](int step) {
    const bool counted = step >= 10 && step < 20;
    program.run("conv", counted ? 10'000 : 100, counted ? std::uint32_t{spool::kCounted} : 0U).run("norm", 20);
  });
  const FoundSteps found = steps_of(program);
  const Steps steps = sums_of(found).value();
  EXPECT_EQ(found.all.size() - found.steady().size(), 10U);
  EXPECT_NEAR(steps.total_s, static_cast<double>(steps.count) * 124e-6, 1e-9);
  EXPECT_EQ(steps.devices[0].counting_s, 0);
}

/// Where nothing repeats, all of the time is the program's: a compiler works while instructions wait to be sampled.
TEST_F(StepsTest, WithoutStepsAPhaseOfSampledInstructionsIsNoOverhead) {
  FakeProgram program;
  const std::uint64_t start = program.now();
  for (char letter = 'a'; letter <= 'z'; ++letter) program.run(std::string(3, letter), 10).wait(1000);
  program.spool().add(spool::Type::instruction_phase,
                      spool::InstructionPhase{start, program.now(), 1000, 0, 0, 0, 4096});
  add(program);
  Recording recording(traces_);
  EXPECT_TRUE(find_undisturbed_steps(recording).all.empty());
  EXPECT_TRUE(counting_spans(recording, 0).empty());
}

TEST_F(StepsTest, WhereInstructionsWereSampledAllTheTimeTheseAreTaken) {
  for (const bool all : {true, false}) {
    FakeProgram program;
    const std::uint64_t start = program.now();
    program.repeat(40, [&](int) { program.run("conv", 100).run("norm", 20); });
    const std::uint64_t end = all ? program.now() : start + (program.now() - start) / 2;
    program.spool().add(spool::Type::instruction_phase, spool::InstructionPhase{start, end, 1000, 0, 0, 0, 4096});
    traces_.clear();
    add(program);
    Recording recording(traces_);
    const FoundSteps found = find_undisturbed_steps(recording);
    EXPECT_EQ(recording.sampling_disturbs, !all);
    EXPECT_NEAR(static_cast<double>(found.steady().size()), all ? 39 : 20, 2);
  }
}

/// The first of them compiles its kernels, while instructions are sampled.
TEST_F(StepsTest, AFirstStepThatCompilesWhileInstructionsAreSampledIsOfTheStartUp) {
  FakeProgram program;
  const std::uint64_t start = program.now();
  program.repeat(60, [&](int step) {
    program.copy(30).forward_and_backward().wait(step == 1 ? 900'000 : 0).update();
    if (step == 19) {
      program.spool().add(spool::Type::instruction_phase,
                          spool::InstructionPhase{start, program.now(), 1000, 0, 0, 0, 4096});
    }
  });
  const FoundSteps found = steps_of(program);
  ASSERT_FALSE(found.all.empty());
  EXPECT_GT(found.all.front().span.start, 900 * kMillisecond);
  EXPECT_NEAR(static_cast<double>(found.all.size() - found.steady().size()), 19, 2) << "the others count as disturbed";
}

TEST_F(StepsTest, WhereAllAreCountedThereAreNone) {
  FakeProgram program;
  program.repeat(40, [&](int) { program.run("conv", 100, spool::kCounted).run("norm", 20); });
  const FoundSteps found = steps_of(program);
  EXPECT_NE(found.why_none, "");
  EXPECT_FALSE(sums_of(found));
}

TEST_F(StepsTest, OfTwoProcessesThoseOfTheBusierOne) {
  FakeProgram small(100, 1), large(200, 2);
  small.repeat(200, [&](int) { small.run("tick", 1).wait(80); });
  large.repeat(40, [&](int) { large.forward_and_backward().wait(60); });
  add(small);
  const FoundSteps found = steps_of(large);
  EXPECT_EQ(found.process, 1);
  EXPECT_THAT(step_lengths(found), Each(testing::DoubleNear(386e-6, 1e-12)));
  const Steps steps = sums_of(found).value();
  ASSERT_EQ(steps.devices.size(), 2U);
  for (const WallTime& wall : steps.devices) {
    EXPECT_NEAR(wall.wall_s, steps.total_s, 1e-12);
    EXPECT_NEAR(all_parts_of(wall), steps.total_s, 1e-9);
  }
}

TEST_F(StepsTest, RowsHaveTheirCostInAStep) {
  FakeProgram program;
  program.run("init", 50).wait(5000);
  program.repeat(40, [&](int) { program.forward_and_backward().run("norm", 20).wait(60); });
  program.spool().end(program.now());
  ProgramFacts facts;
  facts.counters_wanted = false;
  const Report report = report_of({read_spool(program.spool().write(folder_ / "costs.spool"))}, facts, gpu_of_steps());
  ASSERT_TRUE(report.profile->steps);
  for (const Point& point : report.points) {
    const std::optional<StepCost>& cost = point.profiled->step;
    const std::string& name = point.workload.op;
    if (name == "init") {
      EXPECT_FALSE(cost);
    } else {
      ASSERT_TRUE(cost) << name;
      EXPECT_NEAR(cost->launches, name == "norm" ? 2 : 1, 1e-9) << name;
      EXPECT_NEAR(cost->seconds, name == "conv" ? 100e-6 : name == "norm" ? 40e-6 : 200e-6, 1e-12) << name;
    }
  }
}

class RangeSteps : public StepsTest {
 protected:
  /// Steps of two launches that differ from one another, in ranges of their own names.
  static void add_ranges(FakeProgram& program, const std::string& name) {
    for (int i = 0; i < 12; ++i) {
      const spool::Id range = program.spool().range(name + " " + std::to_string(i));
      const std::uint64_t begin = program.now();
      program.run("first", 50).run(i % 2 == 0 ? "even" : "odd", 50).run("last", 20);
      program.spool().add(spool::Type::range_time, spool::RangeTime{begin, program.now(), range, 1});
      program.wait(40);
    }
  }
};

TEST_F(RangeSteps, ThatAreCalledAStepAreSteps) {
  FakeProgram program;
  add_ranges(program, "train_step");
  const FoundSteps found = steps_of(program);
  EXPECT_EQ(found.source, StepSource::range);
  EXPECT_THAT(step_lengths(found), Each(testing::DoubleNear(166e-6, 1e-12))) << "from step to step";
}

TEST_F(RangeSteps, OfAnotherNameAreStepsWhereTheUserSaysSo) {
  FakeProgram program, same;
  add_ranges(program, "request");
  EXPECT_EQ(steps_of(program, "request 3").source, StepSource::range);
  EXPECT_EQ(find_steps(*recording_, "request *").all.size(), 11U);
  EXPECT_NE(find_steps(*recording_).source, StepSource::range);
  EXPECT_THAT(find_steps(*recording_, "epoch").why_none, HasSubstr("epoch"));
}

IdlePart idle_part(SavingCause cause, double seconds, const std::string& line = {}) {
  IdlePart part;
  part.cause = cause;
  part.seconds = seconds;
  part.line = line;
  return part;
}

/// The idle time of all devices within the spans.
double idle_time_of(const std::vector<WallTime>& walls) {
  double idle = 0;
  for (const WallTime& wall : walls) idle += wall.idle_launching_s + wall.idle_waiting_s + wall.idle_elsewhere_s;
  return idle;
}

double saved_in(const std::vector<Saving>& savings, std::initializer_list<SavingKind> kinds) {
  double sum = 0;
  for (const Saving& saving : savings) {
    if (std::find(kinds.begin(), kinds.end(), saving.kind) != kinds.end()) sum += saving.seconds;
  }
  return sum;
}

TEST_F(StepsTest, ALongGapInOneStepIsAOneOff) {
  FakeProgram program;
  program.repeat(40, [&](int step) {
    if (step == 20) program.call("cuModuleLoadData", spool::CallKind::load, 3000);
    program.copy(30).forward_and_backward().wait(100);
  });
  const FoundSteps found = steps_of(program);
  const Steps steps = sums_of(found).value();
  // All idle time of a step is the host's but 3 ms of the slow one.
  const std::vector<Saving> savings = savings_of_steps(found, steps, [&](const std::vector<Span>& spans) {
    const double idle = idle_time_of(wall_times(*recording_, spans));
    const bool has_slow = total_length(spans) / spans.size() > kMillisecond;
    const double loading = has_slow ? 3e-3 : 0;
    return std::vector<IdlePart>{idle_part(SavingCause::host_python, idle - loading, "train.py:7 main"),
                                 idle_part(SavingCause::module_load, loading)};
  });
  const auto of = [&](SavingCause cause) {
    return *std::find_if(savings.begin(), savings.end(), [cause](const Saving& s) { return s.cause == cause; });
  };
  EXPECT_TRUE(of(SavingCause::module_load).one_off);
  EXPECT_NEAR(of(SavingCause::module_load).seconds, 3e-3, 1e-9);
  EXPECT_FALSE(of(SavingCause::host_python).one_off);
  EXPECT_EQ(of(SavingCause::host_python).line, "train.py:7 main");
  EXPECT_NEAR(of(SavingCause::host_python).seconds, static_cast<double>(steps.count) * 108e-6, 1e-8);
  EXPECT_FALSE(of(SavingCause::pageable_copy).one_off);
}

TEST_F(StepsTest, WorkOfSomeStepsIsACauseOfSlowSteps) {
  struct Case {
    SavingCause of_slow;
    double usual_s;
    SavingCause expected;
  };
  for (const Case& one : {Case{SavingCause::wait_disk, 0, SavingCause::slow_steps},
                          Case{SavingCause::few_workers, 0, SavingCause::few_workers},
                          Case{SavingCause::few_workers, 0.2e-3, SavingCause::few_workers},
                          Case{SavingCause::wait_disk, 0.9e-3, SavingCause::wait_disk}}) {
    traces_.clear();
    FakeProgram program;
    program.repeat(60, [&](int step) { program.copy(30).forward_and_backward().wait(step % 12 == 6 ? 5000 : 1000); });
    const FoundSteps found = steps_of(program);
    const Steps steps = sums_of(found).value();
    const IdleParts idle = [&](const std::vector<Span>& spans) {
      std::vector<IdlePart> parts;
      for (const Span& span : spans) {
        const bool slow = span.length() > 4 * kMillisecond;
        if (slow || one.usual_s > 0)
          parts.push_back(idle_part(one.of_slow, slow ? 4e-3 : one.usual_s, "train.py:31 save"));
      }
      return parts;
    };
    const std::vector<Saving> savings = savings_of_steps(found, steps, idle);
    const auto is_at_line = [](const Saving& saving) { return saving.line == "train.py:31 save"; };
    const auto at_line = std::find_if(savings.begin(), savings.end(), is_at_line);
    ASSERT_NE(at_line, savings.end());
    EXPECT_EQ(std::count_if(savings.begin(), savings.end(), is_at_line), 1) << "of slow steps and the others together";
    EXPECT_EQ(at_line->cause, one.expected);
    if (one.expected == SavingCause::slow_steps) {
      EXPECT_FALSE(at_line->one_off);
      EXPECT_NEAR(at_line->seconds, 5 * 4e-3, 1e-6);
    }
  }
}

TEST_F(StepsTest, WhatRecordingAddsIsNoIdleTimeOfTheProgram) {
  Steps steps;
  steps.count = 100;
  steps.median_s = 10e-3;
  steps.untouched_s = 8e-3;
  WallTime wall;
  wall.wall_s = 1;
  wall.kernels_s = 0.5;
  wall.idle_launching_s = 0.3;
  wall.idle_elsewhere_s = 0.2;
  steps.devices = {wall};
  take_out_recording(steps);
  EXPECT_NEAR(steps.devices[0].recording_s, 0.2, 1e-12);
  EXPECT_NEAR(steps.devices[0].idle_launching_s, 0.18, 1e-12);
  EXPECT_NEAR(steps.devices[0].idle_elsewhere_s, 0.12, 1e-12);
  EXPECT_NEAR(all_parts_of(steps.devices[0]), 1, 1e-12);
  Steps faster = steps;
  faster.untouched_s = 12e-3;  // longer than the recorded ones
  faster.devices[0].recording_s = 0;
  take_out_recording(faster);
  EXPECT_EQ(faster.devices[0].recording_s, 0);
}

/// A host that queues ten steps at once copies their inputs on another stream, long before their kernels run.
TEST_F(StepsTest, InputsThatAreFetchedAheadBeginNoStep) {
  constexpr std::uint64_t kUs = kMicrosecond;
  FakeProgram program;
  SpoolBuilder& spool = program.spool();
  std::uint64_t gpu = 0;
  for (std::uint64_t batch = 0; batch < 12; ++batch) {
    std::uint64_t host = batch * 48'000 * kUs;
    gpu = std::max(gpu, host);
    for (int step = 0; step < 10; ++step) {
      host += 80 * kUs;  // reads the input
      spool.copy(1 << 20, spool::Memory::pinned, spool::Memory::device, host, host + 5 * kUs, host + 45 * kUs, 0, 13);
      for (const char* kernel : {"conv", "norm", "conv_backward"}) {
        host += 5 * kUs;
        spool.launch(program.kind(kernel), host, host + kUs, gpu, gpu + 1600 * kUs);
        gpu += 1601 * kUs;
      }
    }
  }
  program.wait(12 * 49'000);
  const Steps steps = sums_of(steps_of(program)).value();
  EXPECT_GT(steps.count, 100);
  EXPECT_NEAR(steps.median_s, 3 * 1601e-6, 1e-6);
  EXPECT_LT(steps.high_s, 1.2 * steps.median_s);
}

/// A host that queues 60 graphs in 12 ms and then waits for them sets 59 of 60 marks closer than steps are.
TEST_F(StepsTest, MarksOfAHostThatRunsAheadAreNoSteps) {
  Steps steps;
  steps.count = 100;
  steps.median_s = 15.8e-3;
  steps.devices.emplace_back().kernels_s = 1.57;
  std::vector<double> marks;
  for (int burst = 0; burst < 5; ++burst) {
    marks.insert(marks.end(), 59, 0.2e-3);
    marks.push_back(60 * 15.8e-3 - 59 * 0.2e-3);
  }
  Steps in_bursts = steps;
  time_untouched(in_bursts, marks);
  ASSERT_TRUE(in_bursts.untouched_s);
  EXPECT_NEAR(*in_bursts.untouched_s, 15.8e-3, 1e-6);
  Steps without_waits = steps;
  time_untouched(without_waits, std::vector<double>(200, 0.2e-3));
  EXPECT_FALSE(without_waits.untouched_s) << "the marks at which the host waits were not seen";
  Steps one_by_one = steps;
  marks.assign(200, 15.75e-3);
  marks.push_back(1);
  time_untouched(one_by_one, marks);
  EXPECT_EQ(one_by_one.untouched_s, 15.75e-3);
}

TEST_F(StepsTest, CodeThatIsCompiledLateIsASingleEventAndInSeveralStepsIsNot) {
  for (const int compilations : {2, 3}) {
    traces_.clear();
    FakeProgram program;
    program.repeat(120, [&](int step) {
      program.copy(30).forward_and_backward();
      if (step >= 30 && step < 30 + 20 * compilations && step % 20 == 10) program.wait(500'000);
      if (step % 15 == 7) program.wait(1500);  // also slow, and nothing beside a compilation
    });
    const FoundSteps found = steps_of(program);
    const Steps steps = sums_of(found).value();
    const IdleParts idle = [](const std::vector<Span>& spans) {
      std::vector<IdlePart> parts;
      for (const Span& span : spans) {
        const double length = seconds(span.length());
        if (length > 0.1) parts.push_back(idle_part(SavingCause::recompilation, length, "train.py:24 step"));
      }
      return parts;
    };
    const std::vector<Saving> savings = savings_of_steps(found, steps, idle);
    const auto compiled = std::find_if(savings.begin(), savings.end(),
                                       [](const Saving& saving) { return saving.cause == SavingCause::recompilation; });
    ASSERT_NE(compiled, savings.end());
    EXPECT_EQ(compiled->one_off, compilations == 2);
    EXPECT_NEAR(compiled->seconds, 0.5 * compilations, 0.01);
  }
}

/// Sectors that are fetched several times come from L2 each time, or from L1.
TEST_F(StepsTest, SectorsThatL1HasAlreadyAreNoTrafficOfL2) {
  for (const double from_l2 : {2.4e6, 0.62e6}) {
    traces_.clear();
    FakeProgram program;
    program.repeat(120, [&](int) { program.run("a", 40).run("b", 10).copy(5); });
    program.spool().counts(program.kind("a"), {{"dram.read_bytes", 6e5},
                                               {"dram.write_bytes", 1e5},
                                               {"l2.bytes", from_l2},
                                               {"global.load_sectors", 75'000},
                                               {"global.load_bytes", 600'000},
                                               {"global.store_sectors", 0},
                                               {"global.store_bytes", 0}});
    const FoundSteps found = steps_of(program);
    const std::optional<Steps> steps = sums_of(found);
    ASSERT_TRUE(steps);
    const std::vector<Saving> savings =
        savings_of_steps(found, *steps, [](const std::vector<Span>&) { return std::vector<IdlePart>(); });
    const bool traffic = std::any_of(savings.begin(), savings.end(),
                                     [](const Saving& saving) { return saving.kind == SavingKind::traffic; });
    EXPECT_EQ(traffic, from_l2 > 2e6);
  }
}

// A program of random launches, copies, waits and calls, which may have steps or not: what the parts of the bar have is
// all that there is to save.
TEST_F(StepsTest, SavingsKeepWithinTheirPartsOnAnyTimeline) {
  constexpr int kCases = 1500;
  int with_steps = 0;
  for (int seed = 0; seed < kCases; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto up_to = [&random](unsigned most) { return std::uint64_t{random() % most}; };
    FakeProgram program;
    const std::uint64_t kinds = 1 + up_to(5), launches = 1 + up_to(6);
    const int length = static_cast<int>(1 + up_to(25));
    const bool overlapping = up_to(2) == 0;
    program.repeat(length, [&](int) {
      for (std::uint64_t i = 0; i < launches; ++i) {
        program.run(std::string(1, static_cast<char>('a' + i % kinds)), 1 + up_to(40),
                    up_to(40) == 0 ? std::uint32_t{spool::kCounted} : 0U);
        if (overlapping) {
          const std::uint64_t at = program.now();
          program.spool().launch(program.kind("other"), at, at + kMicrosecond, at - up_to(20) * kMicrosecond,
                                 at + up_to(30) * kMicrosecond, 0, 8);
        }
      }
      if (up_to(3) == 0) program.copy(up_to(30));
      if (up_to(3) == 0) program.call("cuStreamSynchronize", spool::CallKind::synchronise, up_to(50));
      if (up_to(2) == 0) program.wait(up_to(200));
      if (up_to(30) == 0) program.wait(20'000);
    });
    for (const char* name : {"a", "b", "other"}) {
      program.spool().counts(program.kind(name), {{"dram.read_bytes", 1e3 * static_cast<double>(up_to(100'000))},
                                                  {"dram.write_bytes", 1e3 * static_cast<double>(up_to(100'000))},
                                                  {"global.load_sectors", static_cast<double>(up_to(1'000'000))},
                                                  {"global.load_bytes", 1 + static_cast<double>(up_to(10'000'000))}});
    }
    traces_.clear();
    const FoundSteps found = steps_of(program);
    const std::optional<Steps> steps = sums_of(found);
    Profile profile;
    profile.wall_s = seconds(recording_->end - recording_->start);
    profile.devices = wall_times(*recording_);
    profile.steps = steps;
    add_roofs(profile.devices, row_times(*recording_), points_);
    with_steps += steps ? 1 : 0;
    const std::vector<WallTime>& walls = steps ? steps->devices : profile.devices;
    double copies = 0, kernels = 0;
    for (const WallTime& wall : walls) {
      EXPECT_NEAR(all_parts_of(wall), steps ? steps->total_s : profile.wall_s, 1e-9) << seed;
      copies += wall.copies_s;
      kernels += wall.kernels_s;
    }
    if (steps) {
      EXPECT_LE(steps->start_up_s + steps->total_s + steps->tear_down_s, profile.wall_s + 1e-9) << seed;
    }
    const std::vector<Saving> savings =
        savings_of(*recording_, found, points_, rows_, gpu_of_steps(), profile, [&](const std::vector<Span>& spans) {
          const double idle = spans.empty() ? 0 : idle_time_of(wall_times(*recording_, spans));
          const double some = idle * static_cast<double>(up_to(100)) / 100;
          return std::vector<IdlePart>{idle_part(SavingCause::launch_rate, some),
                                       idle_part(SavingCause::unknown_idle, idle - some)};
        });
    EXPECT_LE(saved_in(savings, {SavingKind::idle}), idle_time_of(walls) + 1e-9) << seed;
    EXPECT_LE(saved_in(savings, {SavingKind::copies}), copies + 1e-9) << seed;
    EXPECT_LE(saved_in(savings, {SavingKind::kernel, SavingKind::fusion, SavingKind::traffic}), kernels + 1e-9) << seed;
    for (std::size_t i = 1; i < savings.size(); ++i) EXPECT_LE(savings[i].seconds, savings[i - 1].seconds) << seed;
  }
  EXPECT_GT(with_steps, kCases / 4);
  EXPECT_LT(with_steps, kCases);
}

}  // namespace
}  // namespace roofline
