// Memory of a profiled program, from its records to the report: curves, the peak, growth, fragmentation, failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "profile/host_memory.hpp"
#include "profile/memory_savings.hpp"
#include "profile/profile.hpp"
#include "render/render.hpp"
#include "report/hotspots.hpp"
#include "report/json/json.hpp"
#include "simulated_program.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kMsec = SimulatedProgram::kMs, kMebi = 1 << 20, kGibi = 1 << 30;

/// PyTorch's caching allocator beside a simulated program, which it never waits for.
class TorchMemory {
 public:
  explicit TorchMemory(SimulatedProgram& program, spool::MemoryPool pool = spool::MemoryPool::torch)
      : program_(program), pool_(pool) {}

  std::uint64_t allocate(std::uint64_t bytes, spool::Id place, bool recorded = true) {
    allocated_ += bytes;
    most_ = std::max(most_, allocated_);
    reserved_ = std::max(reserved_, allocated_);
    const std::uint64_t address = next_ += kGibi;
    if (recorded) add(spool::MemoryEvent::allocated, address, bytes, place);
    return address;
  }
  void free(std::uint64_t address, std::uint64_t bytes) {
    allocated_ -= bytes;
    least_ = std::min(least_, allocated_);
    add(spool::MemoryEvent::freed, address, bytes, 0);
  }
  void fail(std::uint64_t bytes, spool::Id place) { add(spool::MemoryEvent::failed, 0, bytes, place); }
  void reserve(std::uint64_t bytes) { reserved_ += bytes; }

  void sample() {
    spool::MemoryUse use = {};
    use.start = last_;
    use.end = last_ = program_.now();
    use.allocated = allocated_;
    use.reserved = use.most_reserved = reserved_;
    use.least_allocated = std::min(least_, allocated_);
    use.most_allocated = std::max(most_, allocated_);
    use.pool = pool_;
    program_.spool().add(spool::Type::memory_use, use);
    least_ = most_ = allocated_;
  }

 private:
  void add(spool::MemoryEvent event, std::uint64_t address, std::uint64_t bytes, spool::Id place) {
    spool::Allocation record = {};
    record.time = program_.now();
    record.address = address;
    record.bytes = bytes;
    record.allocated = allocated_;
    record.reserved = reserved_;
    record.place = place;
    record.pool = pool_;
    record.event = event;
    program_.spool().add(spool::Type::allocation, record);
  }

  SimulatedProgram& program_;
  spool::MemoryPool pool_;
  std::uint64_t next_ = 0, allocated_ = 0, reserved_ = 0, least_ = UINT64_MAX, most_ = 0, last_ = 0;
};

/// A program, usually of 100 steps of 50 ms: two kernels, an activation of 1 GiB for each step, and what `more` does.
class Training {
 public:
  Training() : torch_(program_) {
    spool::Device device = {};
    device.uuid[0] = 7;
    device.memory_bytes = 80 * kGibi;
    program_.spool().add(spool::Type::device, device);
  }

  template <typename More>
  Report run(More more, std::optional<int> exit_status = 0) {
    const spool::Id forward = program_.place("model.py", 10, "forward"),
                    update = program_.place("train.py", 20, "step");
    const spool::Id gemm = program_.spool().kind("gemm", forward), adam = program_.spool().kind("adam_kernel", update);
    torch_.allocate(2 * kGibi, update, false);
    for (int step = 0; step < steps; ++step) {
      program_.step();
      const std::uint64_t activation = torch_.allocate(kGibi, forward);
      program_.launch(gemm, step_ms * kMsec * 2 / 5);
      more(step);
      program_.launch(adam, step_ms * kMsec * 2 / 5);
      program_.wait("cuStreamSynchronize", update);
      torch_.free(activation, kGibi);
      program_.host(step_ms * kMsec / 5, ThreadState::running, -1);
      if (step % steps_per_sample == 0) torch_.sample();
    }
    program_.spool().end(program_.now());
    const std::filesystem::path file =
        std::filesystem::path(testing::TempDir()) /
        (std::string("memory-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".spool");
    const std::vector<ProcessTrace> traces = {read_spool(program_.spool().write(file))};
    std::filesystem::remove(file);
    ProgramFacts facts;
    if (run_is_known)
      facts.run = ProgramRun{.exit_status = exit_status, .signal = {}, .start = 0, .end = program_.now()};
    return report_of(traces, facts, {});
  }

  bool run_is_known = true;  ///< else there is a recording only
  int steps = 100, steps_per_sample = 1;
  std::uint64_t step_ms = 50;

  SimulatedProgram& program() { return program_; }
  TorchMemory& torch() { return torch_; }

 private:
  SimulatedProgram program_;
  TorchMemory torch_;
};

std::vector<const Saving*> memory_findings(const Report& report) {
  std::vector<const Saving*> found;
  for (const Saving& saving : report.profile->savings) {
    if (saving.kind == SavingKind::memory) found.push_back(&saving);
  }
  return found;
}

TEST(Memory, AHealthyProgramHasACurveAPeakAndNoFinding) {
  Training training;
  const Report report = training.run([](int) {});
  ASSERT_EQ(report.profile->memory.devices.size(), 1U);
  const GpuMemory& memory = report.profile->memory.devices[0];
  EXPECT_EQ(memory.source, MemorySource::torch);
  EXPECT_EQ(memory.device, 0);
  EXPECT_EQ(memory.peak_allocated, 3.0 * kGibi);
  EXPECT_EQ(memory.capacity, 80.0 * kGibi);
  EXPECT_FALSE(memory.growth);
  EXPECT_FALSE(memory.curve.empty());
  ASSERT_EQ(memory.at_peak.size(), 1U);
  EXPECT_EQ(memory.at_peak[0].line, "model.py:10 forward");
  EXPECT_EQ(memory.at_peak[0].bytes, 1.0 * kGibi);
  EXPECT_EQ(memory.explained - memory.at_peak[0].bytes, 2.0 * kGibi) << "allocated before recording";
  ASSERT_FALSE(memory.per_step.empty());
  EXPECT_NEAR(memory.per_step[0].bytes, kGibi, 0.05 * kGibi);
  EXPECT_TRUE(memory_findings(report).empty());
}

TEST(Memory, GrowthNamesTheLineWhoseBlocksStay) {
  Training training;
  const spool::Id keeps = training.program().place("loss.py", 12, "loss");
  const spool::Id passing = training.program().place("model.py", 30, "scores");
  const Report report = training.run([&](int) {
    training.torch().allocate(64 * kMebi, keeps);
    const std::uint64_t scores = training.torch().allocate(512 * kMebi, passing);
    training.torch().free(scores, 512 * kMebi);
  });
  const GpuMemory& memory = report.profile->memory.devices.at(0);
  ASSERT_TRUE(memory.growth);
  ASSERT_TRUE(memory.growth->bytes_per_step);
  EXPECT_NEAR(*memory.growth->bytes_per_step, 64.0 * kMebi, 4.0 * kMebi);
  ASSERT_FALSE(memory.growth->kept.empty());
  EXPECT_EQ(memory.growth->kept[0].line, "loss.py:12 loss");
  EXPECT_NEAR(memory.growth->kept[0].bytes, 64.0 * kMebi, 4.0 * kMebi);
  ASSERT_TRUE(memory.growth->steps_until_full);
  EXPECT_NEAR(*memory.growth->steps_until_full, (80.0 * kGibi - memory.allocated) / (64.0 * kMebi), 100);
  const auto found = memory_findings(report);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], &report.profile->savings[0]) << "the program ends by it";
  EXPECT_EQ(found[0]->cause, SavingCause::memory_growth);
  EXPECT_EQ(found[0]->line, "loss.py:12 loss");
  EXPECT_EQ(found[0]->seconds, 0);
  EXPECT_TRUE(hotspots_of(report, {}).at(0).memory);
}

TEST(Memory, GrowthIsSeenAlthoughCountingMakesTheFirstStepsSlow) {
  Training training;
  const spool::Id keeps = training.program().place("loss.py", 12, "loss");
  const spool::Id what = training.program().spool().text(spool::kCountingOverhead);
  const Report report = training.run([&](int step) {
    training.torch().allocate(64 * kMebi, keeps);
    if (step >= 20) return;
    const std::uint64_t begin = training.program().now();
    training.program().host(500 * kMsec, ThreadState::running, -1);
    training.program().spool().add(spool::Type::overhead, spool::Overhead{begin, begin + 500 * kMsec, what, 0});
  });
  ASSERT_TRUE(report.profile->memory.devices.at(0).growth);
  EXPECT_NEAR(report.profile->memory.devices[0].growth->bytes_per_s, 64.0 * kMebi / 0.05, 15.0 * kMebi / 0.05);
}

TEST(Memory, GrowthIsSeenBetweenFewSamples) {
  for (const int steps_per_sample : {1, 20}) {
    Training training;
    training.steps_per_sample = steps_per_sample;
    const spool::Id keeps = training.program().place("loss.py", 12, "loss");
    const Report report = training.run([&](int) { training.torch().allocate(64 * kMebi, keeps); });
    ASSERT_TRUE(report.profile->memory.devices.at(0).growth) << steps_per_sample;
    EXPECT_NEAR(*report.profile->memory.devices[0].growth->bytes_per_step, 64.0 * kMebi, 8.0 * kMebi);
  }
}

TEST(ProgramClock, LeavesOutWaitsForCounters) {
  const ProgramClock clock(100, {{1'000'000'000, 3'000'000'000}, {4'000'000'000, 5'000'000'000}});
  EXPECT_EQ(clock.own_s(50), 0);
  EXPECT_NEAR(clock.own_s(500'000'100), 0.5, 1e-9);
  EXPECT_NEAR(clock.own_s(2'000'000'100), 1, 1e-6);
  EXPECT_NEAR(clock.own_s(3'500'000'100), 1.5, 1e-9);
  EXPECT_NEAR(clock.own_s(6'000'000'100), 3, 1e-9);
  EXPECT_NEAR(clock.wall_s(6'000'000'100), 6, 1e-9);
}

TEST(Memory, ACacheThatIsFilledIsNoGrowth) {
  Training training;
  const spool::Id caches = training.program().place("cache.py", 5, "get");
  const Report report = training.run([&](int step) {
    if (step < 40) training.torch().allocate(64 * kMebi, caches);
  });
  EXPECT_FALSE(report.profile->memory.devices.at(0).growth);
  EXPECT_TRUE(memory_findings(report).empty());
}

TEST(Memory, ACacheThatIsStillFilledInAFewStepsIsNoGrowth) {
  Training training;
  training.step_ms = 7;
  const spool::Id caches = training.program().place("cache.py", 5, "get");
  const Report report = training.run([&](int) { training.torch().allocate(64 * kMebi, caches); });
  EXPECT_FALSE(report.profile->memory.devices.at(0).growth) << "0.7 s";
}

TEST(Memory, GrowthInManyShortStepsIsSeen) {
  Training training;
  training.step_ms = 4;
  training.steps = 300;
  training.steps_per_sample = 10;
  const spool::Id keeps = training.program().place("loss.py", 12, "loss");
  const Report report = training.run([&](int) { training.torch().allocate(4 * kMebi, keeps); });
  ASSERT_TRUE(report.profile->memory.devices.at(0).growth);
  EXPECT_NEAR(*report.profile->memory.devices[0].growth->bytes_per_step, 4.0 * kMebi, 0.4 * kMebi);
}

TEST(Memory, SumsThatAreFreedEveryNowAndThenAreNoGrowth) {
  Training training;
  const spool::Id sums = training.program().place("train.py", 40, "accumulate");
  std::vector<std::uint64_t> kept;
  const Report report = training.run([&](int step) {
    kept.push_back(training.torch().allocate(64 * kMebi, sums));
    if (step % 25 != 24) return;
    for (const std::uint64_t address : kept) training.torch().free(address, 64 * kMebi);
    kept.clear();
  });
  EXPECT_FALSE(report.profile->memory.devices.at(0).growth);
  EXPECT_TRUE(memory_findings(report).empty());
}

TEST(Memory, MuchReservedForLittleIsFragmented) {
  Training training;
  const Report report = training.run([&](int step) {
    if (step < 20) training.torch().reserve(2 * kGibi);
  });
  const auto found = memory_findings(report);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->cause, SavingCause::fragmentation);
  EXPECT_EQ(found[0], &report.profile->savings[0]) << "half of the GPU";
}

MemoryProfile profile_of(GpuMemory memory) {
  memory.capacity = 100e9;
  MemoryProfile profile;
  profile.devices = {std::move(memory)};
  return profile;
}

TEST(MemorySavings, FragmentationComesFirstFromAFifthOfTheGpuOn) {
  const auto found = [](double allocated, double reserved) {
    GpuMemory memory;
    memory.source = MemorySource::torch;
    memory.peak_allocated = allocated;
    memory.peak_reserved = reserved;
    return memory_savings(profile_of(memory), Framework::torch, false);
  };
  EXPECT_EQ(found(1e9, 22e9).first.size(), 1U);
  EXPECT_EQ(found(1e9, 22e9).last.size(), 0U);
  EXPECT_EQ(found(1e9, 18e9).first.size(), 0U);
  EXPECT_EQ(found(1e9, 18e9).last.size(), 1U);
  EXPECT_EQ(found(81e9, 99e9).first.size(), 0U);
  // Less than a tenth of the GPU counts where it is several times what is allocated.
  EXPECT_EQ(found(2e9, 11e9).last.size(), 1U);
  EXPECT_EQ(found(8e9, 17e9).last.size(), 0U);
}

TEST(MemorySavings, GrowthComesFirstIfItIsMuchAndFillsTheGpuSoon) {
  const auto comes_first = [](double capacity, double bytes, double seconds_until_full) {
    GpuMemory memory;
    memory.growth = MemoryGrowth{.bytes = bytes, .seconds = 10, .bytes_per_s = bytes / 10};
    memory.growth->seconds_until_full = seconds_until_full;
    MemoryProfile profile = profile_of(memory);
    profile.devices[0].capacity = capacity;
    const MemorySavings found = memory_savings(profile, Framework::torch, false);
    EXPECT_EQ(found.first.size() + found.last.size(), 1U);
    return !found.first.empty();
  };
  constexpr double kHour = 3600;
  EXPECT_TRUE(comes_first(200e9, 1.1e9, kHour));
  EXPECT_FALSE(comes_first(200e9, 0.9e9, kHour)) << "less than 0.5 %";
  EXPECT_FALSE(comes_first(100e9, 1.1e9, 100 * kHour)) << "not soon";
  EXPECT_TRUE(comes_first(16e9, 0.52e9, kHour));
  EXPECT_FALSE(comes_first(16e9, 0.3e9, kHour)) << "less than 512 MB";
}

TEST(Memory, LittleOfTheGpuThatIsReservedWithoutUseIsNoFinding) {
  Training training;
  const Report report = training.run([&](int step) {
    if (step < 3) training.torch().reserve(2 * kGibi);
  });
  EXPECT_GT(report.profile->memory.devices.at(0).peak_reserved, 2 * report.profile->memory.devices[0].peak_allocated);
  EXPECT_TRUE(memory_findings(report).empty());
}

TEST(Memory, ReservedMemoryOfAnEarlierPeakIsNotFragmented) {
  Training training;
  const spool::Id peak = training.program().place("train.py", 3, "warm_up");
  const Report report = training.run([&](int step) {
    if (step != 0) return;
    const std::uint64_t block = training.torch().allocate(30 * kGibi, peak);
    training.torch().sample();
    training.torch().free(block, 30 * kGibi);
  });
  EXPECT_TRUE(memory_findings(report).empty());
}

TEST(Memory, AFailureIsExplainedIfTheProgramFails) {
  for (const int exit_status : {0, 1}) {
    Training training;
    const spool::Id asks = training.program().place("model.py", 77, "attention");
    const Report report = training.run(
        [&](int step) {
          if (step == 90) training.torch().fail(100 * kGibi, asks);
        },
        exit_status);
    const GpuMemory& memory = report.profile->memory.devices.at(0);
    ASSERT_TRUE(memory.out_of_memory);
    EXPECT_EQ(memory.out_of_memory->requested, 100.0 * kGibi);
    EXPECT_EQ(memory.failures, 1);
    const auto found = memory_findings(report);
    ASSERT_EQ(found.size(), exit_status == 0 ? 0U : 1U);
    if (exit_status == 0) continue;
    EXPECT_EQ(found[0]->cause, SavingCause::out_of_memory);
    EXPECT_EQ(found[0]->line, "model.py:77 attention");
  }
}

TEST(Memory, OfARecordingAloneAFailureAtItsEndIsExplained) {
  for (const int step_of_failure : {10, 99}) {
    Training training;
    training.run_is_known = false;
    const Report report = training.run([&](int step) {
      if (step == step_of_failure) training.torch().fail(100 * kGibi, 0);
    });
    EXPECT_EQ(memory_findings(report).size(), step_of_failure == 99 ? 1U : 0U) << step_of_failure;
  }
}

TEST(Memory, WithoutACachingAllocatorCudaIsTheSource) {
  Training training;
  TorchMemory cuda(training.program(), spool::MemoryPool::device);
  const Report report = training.run([&](int) {
    cuda.allocate(32 * kMebi, 0);
    cuda.sample();
  });
  EXPECT_EQ(report.profile->memory.devices.at(0).source, MemorySource::torch);
  EXPECT_FALSE(report.profile->memory.devices[0].growth) << "of CUDA only what PyTorch reserves";
}

TEST(Memory, AReportIsReadBack) {
  Training training;
  const spool::Id keeps = training.program().place("loss.py", 12, "loss");
  const Report report = training.run([&](int) { training.torch().allocate(64 * kMebi, keeps); }, 1);
  const auto written = report_to_json(report);
  const Report read = parse_report(written.dump(), "report.json");
  EXPECT_EQ(report_to_json(read), written);
  ASSERT_EQ(read.profile->memory.devices.size(), 1U);
  EXPECT_EQ(read.profile->memory.devices[0].growth->kept[0].line, "loss.py:12 loss");
}

/// One process with a thread at one line.
HostSamples host_of(double bytes_per_s, double seconds,
                    const std::vector<HostFrame>& frames = {HostSamplesBuilder::own("load.py", 8, "keep")}) {
  HostSamplesBuilder builder;
  const int thread = builder.thread(100, 100);
  const int stack = builder.stack(frames);
  std::uint64_t most = 0;
  HostSamples memory;
  for (std::uint64_t tick = 1; static_cast<double>(tick) * 0.1 < seconds; ++tick) {
    const std::uint64_t time = tick * 100 * kMsec;
    builder.sample(thread, time, ThreadState::running, stack);
    const auto resident = static_cast<std::uint64_t>(1e9 + bytes_per_s * static_cast<double>(tick) * 0.1);
    memory.memory.push_back({time, 100, resident, 100'000'000});
    if (resident > most) memory.rises.push_back({time, thread, stack, resident - most});
    most = std::max(most, resident);
  }
  HostSamples samples = builder.take();
  samples.memory = memory.memory;
  samples.rises = memory.rises;
  samples.memory_bytes = 64 * kGibi;
  return samples;
}

const SteadySpan kSteady = {.span = Span{1000 * kMsec, 20000 * kMsec}, .step_s = 0.2};

TEST(HostMemory, GrowthHasTheLineAtWhichItRises) {
  const auto all = host_memory(host_of(50e6, 20), ProgramClock(0), kSteady);
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all[0].growth);
  EXPECT_NEAR(*all[0].growth->bytes_per_step, 10e6, 1e6);
  EXPECT_EQ(all[0].growth->kept.at(0).line, "load.py:8 keep");
  EXPECT_NEAR(all[0].growth->kept[0].bytes, 10e6, 1e6);
  MemoryProfile profile;
  profile.host = all;
  const MemorySavings found = memory_savings(profile, Framework::torch, false);
  ASSERT_EQ(found.first.size(), 1U);
  EXPECT_EQ(found.first[0].cause, SavingCause::host_memory_growth);
}

TEST(HostMemory, CodeOfKernelsIsNoGrowth) {
  const HostFrame driver = HostSamplesBuilder::native("/usr/lib/libcuda.so.1", "cuLibraryLoadData");
  const HostFrame compiler = HostSamplesBuilder::native("/usr/lib/libnvrtc.so.13", "nvrtcCompileProgram");
  const HostFrame own = HostSamplesBuilder::own("load.py", 8, "keep");
  const auto grows = [](const std::vector<HostFrame>& frames) {
    return host_memory(host_of(50e6, 20, frames), ProgramClock(0), kSteady).at(0).growth.has_value();
  };
  EXPECT_FALSE(grows({driver}));
  EXPECT_FALSE(grows({compiler, own}));
  EXPECT_TRUE(grows({driver, own})) << "such as pinned memory";
  EXPECT_TRUE(grows({HostSamplesBuilder::native("/usr/lib/libc.so.6", "malloc")}));
}

TEST(HostMemory, WhatAProcessGivesBackAtItsEndHidesNoGrowth) {
  HostSamples samples = host_of(50e6, 20);
  const HostMemorySample last = samples.memory.back();
  samples.memory.push_back({last.time + 100 * kMsec, 100, last.resident / 2, 0});
  samples.memory.push_back({last.time + 200 * kMsec, 100, last.resident / 10, 0});
  const auto all = host_memory(samples, ProgramClock(0), {});
  ASSERT_TRUE(all.at(0).growth);
  EXPECT_FALSE(all[0].growth->bytes_per_step);
  EXPECT_NEAR(all[0].growth->bytes_per_s, 50e6, 5e6);
  EXPECT_EQ(all[0].growth->kept.at(0).line, "load.py:8 keep");
}

/// 50 MB a second are those of 160,000 kernels, which the trace may keep, but not those of 16,000.
TEST(HostMemory, WhatTheTraceMayKeepIsNoGrowth) {
  for (const bool traced_much : {true, false}) {
    SteadySpan steady = kSteady;
    steady.traced[100] = 19 * (traced_much ? 160'000 : 16'000);
    steady.traced[101] = 19 * 160'000;  // another process's
    EXPECT_EQ(host_memory(host_of(50e6, 20), ProgramClock(0), steady).at(0).growth.has_value(), !traced_much);
  }
}

TEST(HostMemory, SteadyMemoryHasACurveOnly) {
  const auto all = host_memory(host_of(0, 20), ProgramClock(0), kSteady);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_FALSE(all[0].growth);
  EXPECT_EQ(all[0].peak, 1e9);
  EXPECT_FALSE(all[0].curve.empty());
}

}  // namespace
}  // namespace roofline
