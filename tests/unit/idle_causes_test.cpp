// Idle time with a known cause, and the parts that it is divided into.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <random>

#include "profile/idle_causes.hpp"
#include "simulated_program.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMicro = SimulatedProgram::kUs, kMilli = SimulatedProgram::kMs;
using Builder = HostSamplesBuilder;

struct IdleResult {
  std::vector<IdlePart> parts;
  double idle = 0;

  double share(SavingCause cause) const {
    double sum = 0;
    for (const IdlePart& part : parts) sum += part.cause == cause ? part.seconds : 0;
    return sum / idle;
  }
  double all() const {
    double sum = 0;
    for (const IdlePart& part : parts) sum += part.seconds;
    return sum / idle;
  }
  const IdlePart& first() const { return parts.at(0); }
};

class IdleCauses : public testing::Test {
 protected:
  IdleCauses() {
    fs::create_directories(folder_);
    kernel_ = program_.spool().kind("large_kernel", program_.place("train.py", 10, "step"));
  }
  ~IdleCauses() override { fs::remove_all(folder_); }

  /// `count` steps of what `one` does.
  void steps(int count, const std::function<void(int)>& one) {
    for (int i = 0; i < count; ++i) {
      program_.step();
      one(i);
    }
    program_.step();
    program_.launch(kernel_, kMilli);
  }
  void launches(int count, std::uint64_t length) {
    for (int i = 0; i < count; ++i) program_.launch(kernel_, length);
  }

  IdleResult result(bool sampled = true) {
    program_.spool().end(program_.now() + kMilli);
    const std::vector<ProcessTrace> traces = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
    const Recording recording(traces);
    const HostSamples samples = sampled ? program_.take_samples() : HostSamples();
    IdleResult made = {idle_parts(recording, program_.steps(), samples), program_.gpu_idle_s(program_.steps())};
    EXPECT_LE(made.all(), 1 + 1e-9);
    return made;
  }

  int own_stack(const std::string& file, int line, const std::string& function) {
    return program_.samples().stack({Builder::own(file, line, function), Builder::own("train.py", 12, "<module>")});
  }

  SimulatedProgram program_;
  spool::Id kernel_ = 0;
  fs::path folder_ = fs::path(testing::TempDir()) /
                     (std::string("idle_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(IdleCauses, PythonThatMakesABatchIsDataLoading) {
  const spool::Id copy = program_.place("train.py", 12, "step");
  const int load = own_stack("train.py", 9, "load_batch");
  steps(40, [&](int) {
    program_.host(25 * kMilli, ThreadState::running, load);
    program_.copy_in(2 << 20, spool::Memory::pageable, 200 * kMicro, copy, true);
    launches(20, 100 * kMicro);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::data_loading);
  EXPECT_EQ(found.first().line, "train.py:9 load_batch");
  EXPECT_GT(found.share(SavingCause::data_loading), 0.95);
  EXPECT_LT(found.share(SavingCause::unknown_idle), 0.05);
}

TEST_F(IdleCauses, WithoutSamplesACopyFromTheHostAfterALongPauseIsDataLoading) {
  const spool::Id copy = program_.place("train.py", 12, "step");
  steps(10, [&](int) {
    program_.host(25 * kMilli, ThreadState::running, -1);
    program_.copy_in(2 << 20, spool::Memory::pageable, 200 * kMicro, copy, true);
    launches(20, 100 * kMicro);
  });
  const IdleResult found = result(false);
  EXPECT_EQ(found.first().cause, SavingCause::data_loading);
  EXPECT_EQ(found.first().line, "train.py:12 step");
}

TEST_F(IdleCauses, PythonThatEndsInALaunchIsHostPython) {
  const int slow = own_stack("train.py", 30, "shuffle");
  const int faster = own_stack("train.py", 31, "shuffle");
  steps(60, [&](int) {
    program_.host(14 * kMilli, ThreadState::running, slow);
    program_.host(6 * kMilli, ThreadState::running, faster);
    launches(4, 500 * kMicro);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::host_python);
  EXPECT_EQ(found.first().line, "train.py:30 shuffle");
  EXPECT_GT(found.share(SavingCause::host_python), 0.95);
}

TEST_F(IdleCauses, NativeCodeIsNamedByTheLineThatCallsIt) {
  const int stack =
      program_.samples().stack({Builder::native("/lib/libfoo.so", "crunch"), Builder::own("train.py", 44, "solve")});
  steps(40, [&](int) {
    program_.host(15 * kMilli, ThreadState::running, stack);
    launches(4, 500 * kMicro);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::host_native);
  EXPECT_EQ(found.first().line, "train.py:44 solve");
}

TEST_F(IdleCauses, WithoutSamplesALongPauseIsUnknown) {
  steps(10, [&](int) {
    program_.host(15 * kMilli, ThreadState::running, -1);
    launches(4, 500 * kMicro);
  });
  EXPECT_GT(result(false).share(SavingCause::unknown_idle), 0.95);
}

TEST_F(IdleCauses, SamplesOfAnotherPhaseStillNameTheLine) {
  const int load = own_stack("train.py", 9, "load_batch");
  const int launching = own_stack("train.py", 10, "step");
  steps(5, [&](int) {
    program_.host(15 * kMilli, ThreadState::running, -1);
    launches(4, 500 * kMicro);
  });
  // Later, with launches that were not recorded.
  for (std::uint64_t time = 10; time < 60; ++time) {
    program_.samples().sample(program_.main_thread(), program_.now() + time * 10 * kMilli, ThreadState::running,
                              time % 5 == 0 ? launching : load);
  }
  program_.spool().end(program_.now());
  const std::vector<ProcessTrace> traces = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
  const Recording recording(traces);
  const std::vector<IdlePart> parts = idle_parts(recording, program_.steps(), program_.samples().take());
  ASSERT_FALSE(parts.empty());
  EXPECT_EQ(parts[0].cause, SavingCause::host_python);
  EXPECT_EQ(parts[0].line, "train.py:9 load_batch");
}

TEST_F(IdleCauses, TheHostsTimeCountsFromItsLastLaunch) {
  // 12 ms of Python beside a kernel of 10 ms: the GPU waits for 2 ms, which both lines of Python are the cause of.
  const int first = own_stack("train.py", 20, "augment");
  const int second = own_stack("train.py", 25, "collate");
  steps(100, [&](int) {
    program_.launch(kernel_, 10 * kMilli);
    program_.host(9 * kMilli, ThreadState::running, first);
    program_.host(3 * kMilli, ThreadState::running, second);
  });
  const IdleResult found = result();
  ASSERT_GE(found.parts.size(), 2U);
  EXPECT_EQ(found.first().line, "train.py:20 augment");
  EXPECT_NEAR(found.first().seconds / found.idle, 0.75, 0.1);
}

TEST_F(IdleCauses, AValueThatIsReadBackIsItemSync) {
  const spool::Id line = program_.place("train.py", 15, "step");
  steps(50, [&](int) {
    launches(4, 500 * kMicro);
    program_.item(line);
    program_.host(20 * kMicro, ThreadState::running, -1);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::item_sync);
  EXPECT_EQ(found.first().line, "train.py:15 step");
  EXPECT_GT(found.share(SavingCause::item_sync), 0.7);
}

TEST_F(IdleCauses, ASynchronisationMakesTheNextLaunchLate) {
  const spool::Id line = program_.place("train.py", 16, "step");
  steps(50, [&](int) {
    for (int layer = 0; layer < 6; ++layer) {
      program_.launch(kernel_, 40 * kMicro);
      program_.wait("cuCtxSynchronize", line);
      program_.host(15 * kMicro, ThreadState::running, -1);
    }
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::synchronize);
  EXPECT_EQ(found.first().line, "train.py:16 step");
  EXPECT_GT(found.share(SavingCause::synchronize), 0.7);
}

TEST_F(IdleCauses, ASynchronisationOfAnIdleGpuIsNotTheCauseOfALongPause) {
  const spool::Id line = program_.place("train.py", 16, "step");
  const int load = own_stack("train.py", 9, "load_batch");
  steps(40, [&](int) {
    launches(2, 500 * kMicro);
    program_.wait("cuCtxSynchronize", line);
    program_.host(30 * kMilli, ThreadState::running, load);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::host_python);
  // Without the wait, as much of the work as the GPU's would have been beside it: 1 ms.
  EXPECT_LT(found.share(SavingCause::synchronize), 0.06);
  EXPECT_GT(found.share(SavingCause::synchronize), 0.01);
}

TEST_F(IdleCauses, OfALoopThatLaunchesSlowlyASynchronisationHasNoMoreThanItsWait) {
  const spool::Id line = program_.place("train.py", 16, "step");
  const spool::Id tiny = program_.spool().kind("vectorized_elementwise_kernel", program_.place("train.py", 5, "step"));
  steps(50, [&](int) {
    for (int i = 0; i < 20; ++i) {
      program_.launch(tiny, 2 * kMicro);
      program_.host(20 * kMicro, ThreadState::running, -1);
    }
    program_.wait("cuCtxSynchronize", line);  // the GPU has been idle for long: 2 us
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::tiny_kernels);
  EXPECT_LE(found.share(SavingCause::synchronize) * found.idle, 50 * 2e-6 + 1e-9);
}

TEST_F(IdleCauses, TheDelayOfAWaitLastsUntilTheHostIsAheadAgain) {
  const spool::Id line = program_.place("train.py", 16, "step");
  steps(50, [&](int) {
    program_.launch(kernel_, kMilli);
    program_.wait("cuCtxSynchronize", line);  // 1 ms in which the host could have launched what follows
    for (int i = 0; i < 20; ++i) {
      program_.launch(kernel_, 10 * kMicro);
      program_.host(20 * kMicro, ThreadState::running, -1);
    }
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::synchronize);
  EXPECT_GT(found.share(SavingCause::synchronize), 0.9);
}

TEST_F(IdleCauses, BetweenQueuedKernelsTheTimeIsTheGpus) {
  steps(40, [&](int) { launches(50, 200 * kMicro); });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::between_kernels);
  EXPECT_GT(found.share(SavingCause::between_kernels), 0.9);
  EXPECT_LT(found.share(SavingCause::launch_rate) + found.share(SavingCause::tiny_kernels), 0.1);
}

TEST_F(IdleCauses, AWaitInPrintIsLogging) {
  const spool::Id line = program_.place("train.py", 18, "step");
  const int printing = program_.samples().stack(
      {Builder::library("torch/_tensor_str.py", "_str"), Builder::own("train.py", 18, "step")});
  steps(60, [&](int) {
    launches(10, kMilli);
    program_.item(line);
    program_.host(900 * kMicro, ThreadState::running, printing);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::logging_sync);
  EXPECT_EQ(found.first().line, "train.py:18 step");
  EXPECT_EQ(found.share(SavingCause::item_sync), 0);
}

TEST_F(IdleCauses, ACopyThatWaitsIsTheCauseOfTheGapAfterIt) {
  const spool::Id line = program_.place("train.py", 13, "step");
  steps(30, [&](int) {
    program_.copy_in(8 << 20, spool::Memory::pageable, 900 * kMicro, line, true);
    program_.host(40 * kMicro, ThreadState::running, -1);
    launches(20, 200 * kMicro);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::pageable_copy);
  EXPECT_EQ(found.first().line, "train.py:13 step");
}

TEST_F(IdleCauses, AllocationsInTheLoop) {
  const spool::Id line = program_.place("train.py", 21, "step");
  steps(30, [&](int) {
    launches(4, 300 * kMicro);
    program_.wait("cuCtxSynchronize", line);
    program_.call("cuMemFree", spool::CallKind::release, 400 * kMicro, line);
    program_.call("cuMemAlloc", spool::CallKind::allocate, 300 * kMicro, line);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::allocation);
  EXPECT_EQ(found.first().line, "train.py:21 step");
  EXPECT_GT(found.share(SavingCause::allocation), 0.9);
}

TEST_F(IdleCauses, CodeThatIsCompiledAndLoaded) {
  const spool::Id line = program_.place("train.py", 22, "step");
  const int compiling = program_.samples().stack({Builder::library("torch/_inductor/scheduler.py", "fuse"),
                                                  Builder::library("torch/_dynamo/convert_frame.py", "compile_inner"),
                                                  Builder::own("train.py", 22, "step")});
  steps(10, [&](int) {
    launches(4, 300 * kMicro);
    program_.host(200 * kMilli, ThreadState::running, compiling);
    program_.call("cuModuleLoadData", spool::CallKind::load, 20 * kMilli, line);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::recompilation);
  EXPECT_EQ(found.first().line, "train.py:22 step");
  EXPECT_GT(found.share(SavingCause::recompilation), 0.95);  // with the load of what was compiled
}

TEST_F(IdleCauses, WhatACompilerTriesIsItsTime) {
  const spool::Id line = program_.place("train.py", 22, "step");
  const int compiling = program_.samples().stack(
      {Builder::library("torch/_inductor/scheduler.py", "fuse"), Builder::own("train.py", 22, "step")});
  steps(10, [&](int) {
    launches(4, 300 * kMicro);
    for (int attempt = 0; attempt < 20; ++attempt) {
      program_.host(8 * kMilli, ThreadState::running, compiling);
      program_.call("cuMemAlloc_v2", spool::CallKind::allocate, 2 * kMilli, line);
      program_.launch(kernel_, 100 * kMicro);
    }
  });
  const IdleResult found = result();
  EXPECT_GT(found.share(SavingCause::recompilation), 0.9);
  EXPECT_LT(found.share(SavingCause::allocation), 0.05);
}

TEST_F(IdleCauses, WhatTheProfilerCompilesIsNoCause) {
  const int counting = program_.samples().stack(
      {Builder::native("/usr/lib/libnvidia-ptxjitcompiler.so.580", "__cuda_CallJitEntryPoint"),
       Builder::native("/usr/lib/libnvperf_host.so", "[unknown]"), Builder::own("train.py", 22, "step")});
  const int cut = program_.samples().stack({Builder::native("/lib/libc.so.6", "fcntl64")});
  const int shuffle = own_stack("train.py", 30, "shuffle");
  steps(40, [&](int i) {
    launches(4, 300 * kMicro);
    if (i % 2 == 0) {
      program_.host(30 * kMilli, ThreadState::running, counting);
      program_.host(10 * kMilli, ThreadState::disk, cut);
    } else {
      program_.host(15 * kMilli, ThreadState::running, shuffle);
    }
  });
  const IdleResult found = result();
  EXPECT_EQ(found.share(SavingCause::recompilation), 0);
  EXPECT_LT(found.share(SavingCause::wait_disk), 0.05);
  EXPECT_EQ(found.first().line, "train.py:30 shuffle");
  EXPECT_LT(found.all(), 0.5) << "the profiler's gaps are nobody's";
}

TEST_F(IdleCauses, WhatTheInterpreterCallsOfTheSystemIsPython) {
  const int clock =
      program_.samples().stack({Builder::native("[vdso]", "[unknown]"), Builder::own("train.py", 31, "wait_a_while")});
  steps(40, [&](int) {
    program_.host(15 * kMilli, ThreadState::running, clock);
    launches(4, 500 * kMicro);
  });
  EXPECT_EQ(result().first().cause, SavingCause::host_python);
}

TEST_F(IdleCauses, CompiledCodeThatRunsIsNotCompiled) {
  const int running = program_.samples().stack(
      {Builder::library("torch/_dynamo/eval_frame.py", "_fn"), Builder::own("train.py", 23, "step")});
  steps(30, [&](int) {
    launches(4, 300 * kMicro);
    program_.host(20 * kMilli, ThreadState::running, running);
  });
  EXPECT_EQ(result().share(SavingCause::recompilation), 0);
}

TEST_F(IdleCauses, TinyKernels) {
  const spool::Id tiny = program_.spool().kind("vectorized_elementwise_kernel", program_.place("train.py", 5, "step"));
  steps(40, [&](int) {
    for (int i = 0; i < 200; ++i) {
      program_.launch(tiny, 2 * kMicro);
      program_.host(3 * kMicro, ThreadState::running, -1);
    }
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::tiny_kernels);
  EXPECT_EQ(found.first().line, "train.py:5 step");
  EXPECT_GT(found.share(SavingCause::tiny_kernels), 0.95);
}

TEST_F(IdleCauses, GraphsThatComeTooLateNeedNoGraph) {
  const spool::Id graph =
      program_.spool().kind("graph of 3 kernels", program_.place("train.py", 5, "step"), spool::kGraph);
  steps(40, [&](int) {
    for (int i = 0; i < 200; ++i) {
      program_.launch(graph, 2 * kMicro);
      program_.host(3 * kMicro, ThreadState::running, -1);
    }
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::launch_rate);
  EXPECT_EQ(found.first().detail, CauseDetail::graph_launches);
  EXPECT_LT(found.share(SavingCause::tiny_kernels), 0.01);
}

TEST_F(IdleCauses, LaunchesOfLargeKernelsAfterEachOtherAreNotTiny) {
  steps(40, [&](int) { launches(50, kMilli); });
  const IdleResult found = result();
  EXPECT_EQ(found.share(SavingCause::tiny_kernels), 0);
  EXPECT_LT(found.idle, 0.01);
}

TEST_F(IdleCauses, SmallPiecesOfPythonBetweenLaunchesAreToldFromLaunching) {
  const int own = own_stack("train.py", 60, "bookkeeping");
  const int launching = own_stack("train.py", 10, "step");
  steps(100, [&](int) {
    for (int i = 0; i < 50; ++i) {
      program_.host(150 * kMicro, ThreadState::running, own);
      program_.host(50 * kMicro, ThreadState::running, launching);
      program_.launch(kernel_, 3 * kMicro);
    }
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::host_python);
  EXPECT_EQ(found.first().line, "train.py:60 bookkeeping");
  EXPECT_NEAR(found.share(SavingCause::host_python), 0.75, 0.1);
  EXPECT_NEAR(found.share(SavingCause::tiny_kernels) + found.share(SavingCause::launch_rate), 0.25, 0.1);
}

TEST_F(IdleCauses, AnotherThreadHoldsTheGil) {
  const int busy = program_.samples().thread(SimulatedProgram::kPid, 2, "Thread-1");
  program_.other(busy, ThreadState::running, own_stack("metrics.py", 7, "summarize"));
  const int waiting = own_stack("train.py", 10, "step");
  steps(40, [&](int) {
    launches(4, 200 * kMicro);
    program_.host(12 * kMilli, ThreadState::gil, waiting, busy);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::gil);
  EXPECT_EQ(found.first().line, "metrics.py:7 summarize");
}

class IdleWaits : public IdleCauses {
 protected:
  /// Steps in which the main thread waits in such a state.
  IdleResult waits(ThreadState state, int stack) {
    steps(40, [&](int) {
      launches(4, 200 * kMicro);
      program_.host(12 * kMilli, state, stack);
    });
    return result();
  }
  int loader_stack() {
    return program_.samples().stack({Builder::library("torch/utils/data/dataloader.py", "_try_get_data"),
                                     Builder::own("train.py", 40, "<module>")});
  }
  void worker(std::int64_t pid, ThreadState state, const std::vector<HostFrame>& frames) {
    const int thread = program_.samples().thread(pid, pid, "pt_data_worker", SimulatedProgram::kPid);
    std::vector<HostFrame> all = frames;
    all.push_back(Builder::library("torch/utils/data/_utils/worker.py", "_worker_loop"));
    all.push_back(Builder::own("train.py", 40, "<module>"));  // as a fork leaves it
    program_.other(thread, state, program_.samples().stack(all));
  }
};

TEST_F(IdleWaits, WorkersThatAreBusyAreTooFew) {
  worker(200, ThreadState::running, {Builder::own("data.py", 8, "__getitem__")});
  worker(201, ThreadState::running, {Builder::own("data.py", 8, "__getitem__")});
  const IdleResult found = waits(ThreadState::poll, loader_stack());
  EXPECT_EQ(found.first().cause, SavingCause::few_workers);
  EXPECT_EQ(found.first().detail, CauseDetail::none);
  EXPECT_EQ(found.first().line, "data.py:8 __getitem__");
}

TEST_F(IdleWaits, WorkersWithoutAFreeCpuAreNotToldToBeMore) {
  worker(200, ThreadState::running, {Builder::own("data.py", 8, "__getitem__")});
  worker(201, ThreadState::runnable, {Builder::own("data.py", 8, "__getitem__")});
  const IdleResult found = waits(ThreadState::poll, loader_stack());
  EXPECT_EQ(found.first().cause, SavingCause::few_workers);
  EXPECT_EQ(found.first().detail, CauseDetail::busy_cpus);
}

TEST_F(IdleWaits, WorkersThatSleepInAnItemAreTooFew) {
  worker(200, ThreadState::sleep, {Builder::own("data.py", 9, "__getitem__")});
  EXPECT_EQ(waits(ThreadState::poll, loader_stack()).first().cause, SavingCause::few_workers);
}

TEST_F(IdleWaits, TheProfilersThreadIsNoWorker) {
  const int thread = program_.samples().thread(SimulatedProgram::kPid, 7, "roofline");
  HostFrame frame = Builder::native("/tmp/roofline-x/libroofline_inject.so", "flush");
  frame.own = true;
  program_.other(thread, ThreadState::sleep, program_.samples().stack({frame}));
  worker(200, ThreadState::running, {Builder::own("data.py", 8, "__getitem__")});
  const IdleResult found = waits(ThreadState::poll, loader_stack());
  EXPECT_EQ(found.first().cause, SavingCause::few_workers);
  EXPECT_THAT(found.first().evidence, testing::HasSubstr("1 worker,"));
  EXPECT_THAT(found.first().evidence, testing::HasSubstr("100"));
}

class RestartedWorkers : public IdleWaits {
 protected:
  static constexpr std::uint64_t kPeriod = 10 * kMilli;

  struct Loader {
    std::uint64_t prepare = 0, decode = 0;  ///< of the host's waits for the first and for each later item of an epoch
    bool restart = true, feeds = true;
  };

  /// Epochs of eight steps, with four workers.
  IdleResult epochs(const Loader& loader) {
    constexpr int kEpochs = 6, kSteps = 8;
    steps(4, [&](int) { launches(4, 20 * kMilli); });
    std::uint64_t born = 0, delivered = 0;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      const bool starts = epoch == 0 || loader.restart;
      if (starts) born = program_.now();
      for (int step = 0; step < kSteps; ++step) {
        program_.step();
        program_.host(starts && step == 0 ? loader.prepare : loader.decode, ThreadState::poll, loader_stack());
        if (starts && step == 0) delivered = program_.now();
        launches(4, 200 * kMicro);
      }
      if (loader.restart || epoch + 1 == kEpochs) work(200 + 10 * epoch, {born, program_.now()}, delivered, loader);
      program_.host(2 * kPeriod, ThreadState::running, -1);
    }
    return result();
  }

 private:
  int worker_stack(std::vector<HostFrame> frames) {
    frames.push_back(Builder::library("torch/utils/data/_utils/worker.py", "_worker_loop"));
    return program_.samples().stack(frames);
  }
  void work(std::int64_t first, const Span& life, std::uint64_t delivered, const Loader& loader) {
    const int parsing =
        worker_stack({Builder::library("json/__init__.py", "load"), Builder::own("data.py", 5, "index")});
    const int decoding = worker_stack({Builder::own("data.py", 8, "__getitem__")});
    const int idle = worker_stack({Builder::library("multiprocessing/queues.py", "get")});
    const int feeding = program_.samples().stack({Builder::library("multiprocessing/queues.py", "_feed")});
    const int later = loader.decode > kPeriod ? decoding : idle;
    for (std::int64_t pid = first; pid < first + 4; ++pid) {
      const int thread = program_.samples().thread(pid, pid, "pt_data_worker", SimulatedProgram::kPid);
      const int feeder = program_.samples().thread(pid, pid + 1000, "pt_data_worker", SimulatedProgram::kPid);
      for (std::uint64_t time = life.start + kPeriod; time < life.end; time += kPeriod) {
        const bool begins = time <= delivered;
        program_.samples().sample(thread, time, ThreadState::running, begins ? parsing : later);
        if (!begins && loader.feeds) program_.samples().sample(feeder, time, ThreadState::lock, feeding);
      }
    }
  }
};

TEST_F(RestartedWorkers, TheWaitForTheirFirstItemsIsThatOfTheirStart) {
  const IdleResult found = epochs({.prepare = 200 * kMilli, .decode = 2 * kMilli});
  EXPECT_EQ(found.first().cause, SavingCause::data_loading);
  EXPECT_EQ(found.first().detail, CauseDetail::workers_started);
  EXPECT_EQ(found.first().line, "train.py:40 <module>");
  EXPECT_THAT(found.first().evidence, testing::HasSubstr("data.py:5 index"));
  EXPECT_THAT(found.first().evidence, testing::HasSubstr("json.load"));
  EXPECT_GT(found.share(SavingCause::data_loading), 0.7);
  EXPECT_LT(found.share(SavingCause::few_workers), 0.05);
}

TEST_F(RestartedWorkers, WorkersThatStayAndAreSlowAreTooFew) {
  const IdleResult found = epochs({.prepare = 200 * kMilli, .decode = 40 * kMilli, .restart = false});
  EXPECT_EQ(found.first().cause, SavingCause::few_workers);
  EXPECT_EQ(found.share(SavingCause::data_loading), 0);
}

TEST_F(RestartedWorkers, LaterWaitsOfSlowOnesAreForTooFewWorkers) {
  for (const bool feeds : {true, false}) {
    program_ = SimulatedProgram();
    kernel_ = program_.spool().kind("large_kernel", program_.place("train.py", 10, "step"));
    const IdleResult found = epochs({.prepare = 80 * kMilli, .decode = 40 * kMilli, .feeds = feeds});
    EXPECT_EQ(found.first().cause, SavingCause::few_workers);
    EXPECT_NEAR(found.share(SavingCause::few_workers), 280.0 / 380, 0.1) << feeds;
    EXPECT_NEAR(found.share(SavingCause::data_loading), 80.0 / 380, 0.1) << feeds;
  }
}

TEST_F(IdleWaits, AWorkerOfALibrarysDatasetIsNamedByItsMethod) {
  worker(200, ThreadState::running,
         {Builder::library("PIL/Image.py", "resize"), Builder::library("torchvision/datasets/folder.py", "__getitem__"),
          Builder::library("torch/utils/data/_utils/fetch.py", "fetch")});
  const IdleResult found = waits(ThreadState::poll, loader_stack());
  EXPECT_EQ(found.first().cause, SavingCause::few_workers);
  EXPECT_EQ(found.first().line, "folder.py:1 __getitem__");
}

TEST_F(IdleWaits, WorkersOfAForkServer) {
  const int server = program_.samples().thread(150, 150, "python", SimulatedProgram::kPid);
  program_.other(server, ThreadState::poll,
                 program_.samples().stack({Builder::library("multiprocessing/forkserver.py", "main")}));
  const int thread = program_.samples().thread(201, 201, "python", 150);
  program_.other(thread, ThreadState::running,
                 program_.samples().stack({Builder::own("data.py", 8, "__getitem__"),
                                           Builder::library("multiprocessing/process.py", "_bootstrap")}));
  EXPECT_EQ(waits(ThreadState::poll, loader_stack()).first().cause, SavingCause::few_workers);
}

TEST_F(IdleWaits, AThreadThatWaitsForTasksInALoopOfTheProgramDoesNotWork) {
  const int thread = program_.samples().thread(SimulatedProgram::kPid, 5, "Thread-1");
  program_.other(thread, ThreadState::lock,
                 program_.samples().stack({Builder::library("queue.py", "get"), Builder::own("data.py", 3, "worker"),
                                           Builder::library("threading.py", "run")}));
  EXPECT_EQ(waits(ThreadState::poll, loader_stack()).first().cause, SavingCause::wait_queue);
}

TEST_F(IdleWaits, WorkersWithoutTasksAreEnough) {
  worker(200, ThreadState::poll, {Builder::library("multiprocessing/queues.py", "get")});
  const IdleResult found = waits(ThreadState::poll, loader_stack());
  EXPECT_EQ(found.first().cause, SavingCause::wait_queue);
  EXPECT_EQ(found.first().line, "train.py:40 <module>");
}

TEST_F(IdleWaits, ThreadsThatMakeItems) {
  const int thread = program_.samples().thread(SimulatedProgram::kPid, 5, "ThreadPoolExec");
  program_.other(thread, ThreadState::running,
                 program_.samples().stack(
                     {Builder::own("data.py", 3, "decode"), Builder::library("concurrent/futures/thread.py", "run")}));
  const int waiting = program_.samples().stack(
      {Builder::library("concurrent/futures/_base.py", "result"), Builder::own("train.py", 41, "<module>")});
  const IdleResult found = waits(ThreadState::lock, waiting);
  EXPECT_EQ(found.first().cause, SavingCause::few_workers);
  EXPECT_EQ(found.first().line, "data.py:3 decode");
}

TEST_F(IdleWaits, OtherWaitsAreNamedByTheirState) {
  const std::vector<std::pair<ThreadState, SavingCause>> expected = {{ThreadState::sleep, SavingCause::sleep},
                                                                     {ThreadState::disk, SavingCause::wait_disk},
                                                                     {ThreadState::network, SavingCause::wait_network},
                                                                     {ThreadState::lock, SavingCause::wait_lock},
                                                                     {ThreadState::read, SavingCause::wait_queue}};
  const int stack = own_stack("train.py", 50, "fetch");
  steps(60, [&](int) {
    for (const auto& [state, cause] : expected) {
      launches(2, 100 * kMicro);
      program_.host(10 * kMilli, state, stack);
    }
  });
  const IdleResult found = result();
  for (const auto& [state, cause] : expected) EXPECT_NEAR(found.share(cause), 0.2, 0.06) << to_string(cause);
  for (const IdlePart& part : found.parts) {
    if (part.seconds <= 0.1 * found.idle) continue;
    EXPECT_EQ(part.line, "train.py:50 fetch");
  }
}

/// Receiving takes CPU time besides the wait. A line that computes is another one.
TEST_F(IdleWaits, WhatALineThatWaitsForTheNetworkDoesIsAPartOfIt) {
  const int receive = own_stack("store.py", 15, "read"), parse = own_stack("store.py", 20, "read");
  steps(60, [&](int) {
    launches(2, 100 * kMicro);
    program_.host(10 * kMilli, ThreadState::network, receive);
    program_.host(10 * kMilli, ThreadState::running, receive);
    program_.host(20 * kMilli, ThreadState::running, parse);
  });
  const IdleResult found = result();
  EXPECT_NEAR(found.share(SavingCause::wait_network), 0.5, 0.08);
  for (const IdlePart& part : found.parts) {
    if (part.cause == SavingCause::wait_network) {
      EXPECT_EQ(part.line, "store.py:15 read");
    }
  }
}

/// A thread that runs during most of the waits has the lock, as far as samples can tell. One that waits has not.
TEST_F(IdleWaits, WhatRunsWhileTheHostWaitsForALockIsSaid) {
  for (const bool runs : {true, false}) {
    program_ = SimulatedProgram();
    const int other = program_.samples().thread(SimulatedProgram::kPid, 7, "ranker");
    program_.other(other, runs ? ThreadState::running : ThreadState::sleep, own_stack("replay.py", 35, "rank"));
    const IdleResult found = waits(ThreadState::lock, own_stack("replay.py", 38, "sample"));
    EXPECT_EQ(found.first().cause, SavingCause::wait_lock);
    EXPECT_EQ(found.first().line, "replay.py:38 sample");
    const std::string& said = found.first().evidence;
    EXPECT_EQ(said.find("replay.py:35 rank") != std::string::npos, runs) << said;
    EXPECT_EQ(said.find("ranker") != std::string::npos, runs) << said;
  }
}

/// A server reads its result back, answers, and waits for the next request. A request does not come earlier if the
/// host does not wait for the GPU; the host's own work would be done earlier.
TEST_F(IdleWaits, RequestsComeWhenAClientSendsThem) {
  const int stack = own_stack("serve.py", 50, "receive");
  steps(60, [&](int) {
    launches(10, kMilli);
    program_.item(program_.place("serve.py", 40, "answer"));
    program_.host(40 * kMilli, ThreadState::request, stack);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::wait_network);
  EXPECT_EQ(found.first().detail, CauseDetail::requests);
  EXPECT_EQ(found.first().line, "serve.py:50 receive");
  EXPECT_GT(found.share(SavingCause::wait_network), 0.95);
  EXPECT_LT(found.share(SavingCause::item_sync), 0.02);
}

TEST_F(IdleWaits, AServersWorkOnARequestIsNoLossOfTheGpus) {
  const int receive = own_stack("serve.py", 50, "receive"), decode = own_stack("serve.py", 60, "decode");
  const auto serve = [&](std::uint64_t wait, std::uint64_t work) {
    steps(60, [&](int) {
      launches(10, kMilli);
      program_.item(program_.place("serve.py", 40, "answer"));
      program_.host(wait, ThreadState::request, receive);
      program_.host(work, ThreadState::running, decode);
    });
    return result();
  };
  const auto detail_of = [](const IdleResult& of, SavingCause cause) {
    const auto part = std::find_if(of.parts.begin(), of.parts.end(), [&](const auto& p) { return p.cause == cause; });
    return part != of.parts.end() ? part->detail : CauseDetail::requests;
  };
  EXPECT_EQ(detail_of(serve(60 * kMilli, 15 * kMilli), SavingCause::host_python), CauseDetail::answers);
}

TEST_F(IdleWaits, AServerThatIsBusyLosesByItsWork) {
  const int receive = own_stack("serve.py", 50, "receive"), decode = own_stack("serve.py", 60, "decode");
  steps(60, [&](int) {
    launches(10, kMilli);
    program_.item(program_.place("serve.py", 40, "answer"));
    program_.host(15 * kMilli, ThreadState::request, receive);
    program_.host(60 * kMilli, ThreadState::running, decode);
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::host_python);
  EXPECT_EQ(found.first().detail, CauseDetail::none);
}

TEST_F(IdleWaits, WorkAfterAWaitForTheGpuCouldHaveBeenDoneBefore) {
  steps(60, [&](int) {
    launches(10, kMilli);
    program_.item(program_.place("serve.py", 40, "answer"));
    program_.host(40 * kMilli, ThreadState::running, own_stack("serve.py", 50, "postprocess"));
  });
  EXPECT_NEAR(result().share(SavingCause::item_sync), 0.25, 0.05) << "10 of 40 ms";
}

TEST_F(IdleWaits, AThreadThatWaitsForTheOneThatRunsIsNotTheCause) {
  // The backward pass: autograd's thread launches, and the main thread waits for it.
  const int autograd = program_.samples().thread(SimulatedProgram::kPid, 9, "pt_autograd_0");
  program_.other(autograd, ThreadState::running, own_stack("loss.py", 3, "backward"));
  program_.spool().on_thread(9);
  launches(1, kMicro);
  program_.spool().on_thread(1);
  const IdleResult found = waits(ThreadState::lock, own_stack("train.py", 14, "step"));
  EXPECT_EQ(found.first().cause, SavingCause::host_python);
  EXPECT_EQ(found.first().line, "loss.py:3 backward");
}

TEST_F(IdleWaits, AThreadThatLaunchesForTheMainThread) {
  // Thread 3 launches and waits for more; the main thread sleeps.
  const int runtime = program_.samples().thread(SimulatedProgram::kPid, 3, "runtime");
  program_.other(runtime, ThreadState::lock, program_.samples().stack({Builder::native("libc.so.6", "futex_wait")}));
  program_.spool().on_thread(3);
  const std::uint64_t main_id = SimulatedProgram::kPid;
  const int main = program_.samples().thread(main_id, main_id, "python");
  program_.other(main, ThreadState::sleep, own_stack("train.py", 33, "pause"));
  const IdleResult found = waits(ThreadState::other, -1);
  EXPECT_EQ(found.first().cause, SavingCause::sleep);
  EXPECT_EQ(found.first().line, "train.py:33 pause");
}

TEST_F(IdleCauses, ALoopOfSmallUpdatesAfterBackwardIsAnUnfusedOptimizer) {
  const spool::Id backward = program_.spool().kind("nvjet_gemm", program_.place("train.py", 10, "step", true));
  const spool::Id line = program_.place("train.py", 19, "step");
  std::vector<spool::Id> updates;
  for (const char* name : {"elementwise_kernel_mul", "elementwise_kernel_lerp", "elementwise_kernel_addcdiv"}) {
    updates.push_back(program_.spool().kind(name, line));
  }
  const spool::Id forward = program_.spool().kind("nvjet_gemm", program_.place("train.py", 10, "step"));
  steps(20, [&](int) {
    program_.launch(forward, 500 * kMicro);
    program_.launch(backward, 500 * kMicro);
    for (int parameter = 0; parameter < 40; ++parameter) {
      for (const spool::Id update : updates) {
        program_.launch(update, 2 * kMicro);
        program_.host(12 * kMicro, ThreadState::running, -1);
      }
    }
  });
  const IdleResult found = result();
  EXPECT_EQ(found.first().cause, SavingCause::unfused_optimizer);
  EXPECT_EQ(found.first().line, "train.py:19 step");
}

TEST_F(IdleCauses, CountingIsNoIdleTimeOfTheProgram) {
  steps(10, [&](int) {
    launches(4, 300 * kMicro);
    const std::uint64_t start = program_.now();
    program_.host(5 * kMilli, ThreadState::running, -1);
    program_.spool().add(spool::Type::overhead,
                         spool::Overhead{start, program_.now(), program_.spool().text(spool::kCountingOverhead), 0});
  });
  const IdleResult found = result();
  EXPECT_LT(found.all(), 0.2);
}

TEST_F(IdleCauses, AStreamThatWaitsForAnother) {
  steps(20, [&](int) {
    const std::uint64_t start = program_.launch(kernel_, 200 * kMicro);
    // Queued on another stream long before; it starts 50 us after the first one's end.
    program_.spool().launch(kernel_, program_.now(), program_.now() + 2 * kMicro, start + 250 * kMicro,
                            start + 450 * kMicro, 0, 8);
    program_.host(500 * kMicro, ThreadState::running, -1);
  });
  program_.spool().end(program_.now() + kMilli);
  const std::vector<ProcessTrace> traces = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
  const std::vector<IdlePart> parts = idle_parts(Recording(traces), program_.steps(), {});
  const auto late = std::find_if(parts.begin(), parts.end(),
                                 [](const IdlePart& part) { return part.cause == SavingCause::late_stream; });
  ASSERT_NE(late, parts.end());
  EXPECT_NEAR(late->seconds, 20 * 50e-6, 1e-6);
}

TEST_F(IdleCauses, PartsNeverExceedTheIdleTime) {
  std::mt19937 random(1);
  const auto below = [&random](std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most - 1)(random);
  };
  for (int timeline = 0; timeline < 60; ++timeline) {
    program_ = SimulatedProgram();
    kernel_ = program_.spool().kind("some_kernel", program_.place("train.py", 10, "step"));
    const spool::Id line = program_.place("train.py", 11, "step");
    const std::vector<int> stacks = {
        -1, own_stack("train.py", 10, "step"), own_stack("data.py", 5, "load"),
        program_.samples().stack({Builder::native("libtorch_cpu.so", "at::add")}),
        program_.samples().stack({Builder::library("torch/utils/data/dataloader.py", "_try_get_data")})};
    steps(12, [&](int) {
      for (std::uint64_t i = 0; i < 30; ++i) {
        switch (below(8)) {
          case 0:
            program_.item(line);
            break;
          case 1:
            program_.copy_in(1 + below(1 << 20), below(2) == 0 ? spool::Memory::pageable : spool::Memory::pinned,
                             1 + below(kMilli), line, below(2) == 0);
            break;
          case 2:
            program_.wait("cuCtxSynchronize", line);
            break;
          case 3:
            program_.call("cuMemAlloc", spool::CallKind::allocate, below(kMilli), line);
            break;
          case 4:
            program_.call("cuModuleLoadData", spool::CallKind::load, below(kMilli), line);
            break;
          case 5:
            program_.host(below(20 * kMilli), static_cast<ThreadState>(below(12)), stacks[below(stacks.size())]);
            break;
          default:
            program_.launch(kernel_, 1 + below(500 * kMicro), 7 + static_cast<std::uint32_t>(below(2)));
            break;
        }
      }
    });
    const IdleResult found = result(timeline % 3 != 0);
    EXPECT_GT(found.all(), 0.999) << timeline;
    for (const IdlePart& part : found.parts) EXPECT_GT(part.seconds, 0);
  }
}

TEST_F(IdleCauses, NoStepsHaveNoParts) {
  launches(3, kMilli);
  const std::vector<ProcessTrace> none;
  EXPECT_TRUE(idle_parts(Recording(none), {}, {}).empty());
}

}  // namespace
}  // namespace roofline
