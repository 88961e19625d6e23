// Idle time by what its cause is about: each fault, and the same program without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "profile/actions.hpp"
#include "profile/idle_causes.hpp"
#include "report/saving_order.hpp"
#include "simulated_program.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

using SampleFrames = HostSamplesBuilder;

class IdleDetails : public testing::Test {
 protected:
  static constexpr std::uint64_t kUs = SimulatedProgram::kUs, kMs = SimulatedProgram::kMs;

  IdleDetails() {
    fs::create_directories(folder_);
    restart();
  }
  ~IdleDetails() override { fs::remove_all(folder_); }

  void restart() {
    program_ = SimulatedProgram();
    kernel_ = program_.spool().kind("large_kernel", program_.place("train.py", 10, "step"));
  }

  void steps(int count, const std::function<void(int)>& one) {
    for (int i = 0; i < count; ++i) {
      program_.step();
      one(i);
    }
    program_.step();
    program_.launch(kernel_, kMs);
  }

  /// The largest part, and what it is of the idle time.
  struct Largest {
    IdlePart part;
    double share = 0;
  };
  Largest largest() {
    program_.spool().end(program_.now() + kMs);
    const std::vector<ProcessTrace> traces = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
    const Recording recording(traces);
    const std::vector<IdlePart> parts = idle_parts(recording, program_.steps(), program_.take_samples());
    if (parts.empty()) return {};
    return {parts.front(), parts.front().seconds / program_.gpu_idle_s(program_.steps())};
  }

  int stack(const std::vector<HostFrame>& frames) {
    std::vector<HostFrame> all = frames;
    all.push_back(SampleFrames::own("train.py", 30, "step"));
    return program_.samples().stack(all);
  }

  /// Steps in which the host makes such a call between its launches.
  Largest of_call(const char* name, spool::CallKind kind) {
    restart();
    const spool::Id line = program_.place("train.py", 21, "step");
    steps(20, [&](int) {
      program_.launch(kernel_, 300 * kUs);
      program_.wait("cuCtxSynchronize", line);
      program_.call(name, kind, 4 * kMs, line);
    });
    return largest();
  }

  SimulatedProgram program_;
  spool::Id kernel_ = 0;
  fs::path folder_ = fs::path(testing::TempDir()) /
                     (std::string("details_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(IdleDetails, WhatIsCreatedInTheLoop) {
  struct Row {
    const char* call;
    spool::CallKind kind;
    CauseDetail detail;
  };
  for (const Row& row : {Row{"cuMemHostAlloc", spool::CallKind::allocate, CauseDetail::host_memory},
                         Row{"cuMemHostRegister", spool::CallKind::allocate, CauseDetail::host_memory},
                         Row{"cuStreamCreateWithPriority", spool::CallKind::other, CauseDetail::streams},
                         Row{"cuEventCreate", spool::CallKind::other, CauseDetail::streams},
                         Row{"cuGraphInstantiateWithFlags", spool::CallKind::load, CauseDetail::graphs},
                         Row{"cuMemAlloc", spool::CallKind::allocate, CauseDetail::none}}) {
    const Largest found = of_call(row.call, row.kind);
    EXPECT_EQ(found.part.cause, SavingCause::allocation) << row.call;
    EXPECT_EQ(found.part.detail, row.detail) << row.call;
    EXPECT_EQ(found.part.line, "train.py:21 step") << row.call;
    EXPECT_GT(found.share, 0.9) << row.call;
  }
}

/// The launches that a graph is captured from, until it is instantiated; not what the host does before them.
TEST_F(IdleDetails, CapturingAGraphInTheLoop) {
  for (const std::uint64_t before : {std::uint64_t{0}, 6 * kMs}) {
    restart();
    const spool::Id line = program_.place("serve.py", 51, "capture");
    const int preparing = stack({SampleFrames::own("serve.py", 12, "prepare")});
    steps(20, [&](int) {
      program_.launch(kernel_, 300 * kUs);
      program_.item(line);
      program_.host(before, ThreadState::running, preparing);
      for (int i = 0; i < 8; ++i) {
        program_.call("cuLaunchKernel", spool::CallKind::launch, 10 * kUs, line);
        program_.host(490 * kUs, ThreadState::running,
                      stack({SampleFrames::library("torch/nn/modules/linear.py", "forward")}));
      }
      program_.call("cuGraphInstantiateWithFlags", spool::CallKind::load, kMs, line);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.detail, CauseDetail::graphs);
    EXPECT_NEAR(found.share, before == 0 ? 1.0 : 5.0 / 11, 0.1);
  }
}

/// From a runtime's own thread, whose copies have no line: the host converts the array in each call.
TEST_F(IdleDetails, WhatTheHostDoesForACopyOfTheSameContents) {
  struct Case {
    bool same = false, own_line = false;
    SavingCause cause = SavingCause::data_loading;
  };
  for (const Case& one :
       {Case{.same = true, .cause = SavingCause::repeated_copy}, Case{}, Case{.same = true, .own_line = true}}) {
    restart();
    const spool::Id line = one.own_line ? program_.place("train.py", 99, "other") : 0;
    const int converting = stack({SampleFrames::native("libc.so.6", "memcpy")});
    steps(10, [&](int i) {
      program_.host(20 * kMs, ThreadState::running, converting);
      program_.copy_in(8 << 20, spool::Memory::pinned, 500 * kUs, line, false,
                       one.same ? 77 : 100 + static_cast<std::uint64_t>(i));
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, one.cause) << one.same << one.own_line;
    EXPECT_GT(found.share, 0.9);
  }
}

TEST_F(IdleDetails, InputThatTheHostDecompresses) {
  const std::vector<std::pair<std::vector<HostFrame>, CauseDetail>> stacks = {
      {{SampleFrames::native("libz.so.1", "inflate"),
        SampleFrames::library("python3.12/zipfile/__init__.py", "ZipExtFile.read")},
       CauseDetail::decompression},
      {{SampleFrames::library("python3.11/gzip.py", "read")}, CauseDetail::decompression},
      {{SampleFrames::native("libzstd.so", "ZSTD_decompressBlock_internal")}, CauseDetail::decompression},
      {{SampleFrames::native("libz.so.1", "inflate"), SampleFrames::library("site-packages/PIL/Image.py", "load")},
       CauseDetail::none},
      {{SampleFrames::library("python3.11/gzip.py", "write")}, CauseDetail::none}};
  for (const auto& [frames, detail] : stacks) {
    restart();
    const spool::Id line = program_.place("train.py", 30, "step");
    const int reading = stack(frames);
    steps(10, [&](int) {
      program_.host(20 * kMs, ThreadState::running, reading);
      program_.copy_in(8 << 20, spool::Memory::pageable, 500 * kUs, line, false);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::data_loading) << frames.front().function;
    EXPECT_EQ(found.part.detail, detail) << frames.front().function;
  }
}

TEST_F(IdleDetails, OtherCallsCreateNothing) {
  for (const char* call : {"cuCtxCreate", "cuLaunchHostFunc"}) {
    EXPECT_NE(of_call(call, spool::CallKind::other).part.cause, SavingCause::allocation) << call;
  }
}

TEST_F(IdleDetails, CodeThatIsLoadedInSeveralStepsIsCompiledAgain) {
  for (const int loads : {2, 20}) {
    restart();
    const spool::Id line = program_.place("train.py", 21, "step");
    steps(20, [&](int i) {
      program_.launch(kernel_, 300 * kUs);
      if (i < loads) program_.call("cuModuleLoadData", spool::CallKind::load, 4 * kMs, line);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, loads > 2 ? SavingCause::recompilation : SavingCause::module_load);
    EXPECT_EQ(found.part.line, "train.py:21 step");
  }
}

TEST_F(IdleDetails, ManySmallCopiesAreOneCause) {
  for (const bool many : {true, false}) {
    restart();
    const spool::Id copy = program_.place("train.py", 15, "load_batch");
    const int own = program_.samples().stack({SampleFrames::own("train.py", 15, "load_batch")});
    steps(20, [&](int) {
      for (int i = 0; i < (many ? 400 : 4); ++i) {
        program_.host(10 * kUs, ThreadState::running, own);
        program_.copy_in(4096, spool::Memory::pinned, kUs, copy, false);
      }
      program_.host(50 * kUs, ThreadState::running, own);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.detail == CauseDetail::small_copies, many);
    if (!many) continue;
    EXPECT_EQ(found.part.cause, SavingCause::copies);
    EXPECT_EQ(found.part.line, "train.py:15 load_batch");
    EXPECT_GT(found.share, 0.9);
  }
}

TEST_F(IdleDetails, ItemsThatAreDecodedBeforeTheirCopiesAreLoadingOfData) {
  const spool::Id copy = program_.place("train.py", 15, "load_batch");
  const int decoding = program_.samples().stack(
      {SampleFrames::library("PIL/Image.py", "resize"), SampleFrames::own("train.py", 15, "load_batch")});
  steps(10, [&](int) {
    for (int i = 0; i < 20; ++i) {
      program_.host(2 * kMs, ThreadState::running, decoding);
      program_.copy_in(4096, spool::Memory::pinned, kUs, copy, false);
    }
    program_.launch(kernel_, 300 * kUs);
  });
  EXPECT_EQ(largest().part.cause, SavingCause::data_loading);
}

TEST_F(IdleDetails, AWaitForACopyFromPinnedMemory) {
  for (const bool waits : {true, false}) {
    restart();
    const spool::Id line = program_.place("train.py", 13, "step");
    steps(20, [&](int) {
      program_.copy_in(8 << 20, spool::Memory::pinned, 500 * kUs, line, waits);
      program_.host(100 * kUs, ThreadState::running, -1);
      program_.launch(kernel_, 300 * kUs);
    });
    EXPECT_EQ(largest().part.detail == CauseDetail::waited_copies, waits);
  }
}

TEST_F(IdleDetails, AnomalyModeOfAutograd) {
  const spool::Id backward = program_.place("train.py", 31, "step", true);
  const int tracing = stack({SampleFrames::library("traceback.py", "extract_stack"),
                             SampleFrames::library("torch/fx/traceback.py", "format_stack")});
  steps(20, [&](int) {
    for (int i = 0; i < 10; ++i) {
      program_.host(2 * kMs, ThreadState::running, tracing);
      program_.launch(kernel_, 50 * kUs);
    }
    for (int i = 0; i < 10; ++i) {
      program_.launch(kernel_, 50 * kUs);
      program_.item(backward);
    }
  });
  const Largest found = largest();
  EXPECT_EQ(found.part.cause, SavingCause::item_sync);
  EXPECT_EQ(found.part.detail, CauseDetail::anomaly_mode);
  EXPECT_GT(found.share, 0.9);
}

TEST_F(IdleDetails, AValueOfBackwardIsNoAnomalyMode) {
  const spool::Id backward = program_.place("train.py", 31, "step", true);
  steps(20, [&](int) {
    for (int i = 0; i < 10; ++i) {
      program_.launch(kernel_, 50 * kUs);
      program_.item(backward);
    }
  });
  const Largest found = largest();
  EXPECT_EQ(found.part.cause, SavingCause::item_sync);
  EXPECT_EQ(found.part.detail, CauseDetail::none);
}

TEST_F(IdleDetails, ATensorThatIsPrinted) {
  const int printing = stack({SampleFrames::library("torch/_tensor_str.py", "_tensor_str")});
  steps(20, [&](int) {
    program_.host(10 * kMs, ThreadState::running, printing);
    program_.launch(kernel_, 300 * kUs);
  });
  const Largest found = largest();
  EXPECT_EQ(found.part.cause, SavingCause::logging_sync);
  EXPECT_EQ(found.part.line, "train.py:30 step");
}

TEST_F(IdleDetails, CompilersAreToldApart) {
  const std::vector<std::pair<std::vector<HostFrame>, CauseDetail>> compilers = {
      {{SampleFrames::library("torch/_inductor/graph.py", "run")}, CauseDetail::none},
      {{SampleFrames::native("xla_cuda_plugin.so", "llvm::PassManager::run"),
        SampleFrames::library("jax/_src/compiler.py", "f")},
       CauseDetail::none},
      {{SampleFrames::library("triton/compiler/compiler.py", "compile")}, CauseDetail::triton_compiler},
      {{SampleFrames::library("triton/compiler/compiler.py", "compile"),
        SampleFrames::library("torch/_inductor/async_compile.py", "triton")},
       CauseDetail::none},
      {{SampleFrames::library("numba/core/compiler.py", "compile_extra")}, CauseDetail::numba_compiler},
      {{SampleFrames::native("libnvrtc.so.13", "nvrtcCompileProgram")}, CauseDetail::nvrtc_compiler},
      {{SampleFrames::native("libnvrtc.so.13", "nvrtcCompileProgram"),
        SampleFrames::library("cupy/cuda/compiler.py", "compile")},
       CauseDetail::none}};
  for (const auto& [frames, detail] : compilers) {
    restart();
    const int compiling = stack(frames);
    steps(10, [&](int) {
      program_.host(50 * kMs, ThreadState::running, compiling);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::recompilation) << frames.front().file;
    EXPECT_EQ(found.part.detail, detail) << frames.front().file;
    EXPECT_EQ(found.part.line, "train.py:30 step") << frames.front().file;
  }
}

TEST_F(IdleDetails, CudnnThatCompilesIsNoCodeOfTheProgram) {
  const int compiling = stack({SampleFrames::native("libnvrtc.so.13", "nvrtcCompileProgram"),
                               SampleFrames::native("libcudnn_engines_runtime_compiled.so.9", "[unknown]")});
  steps(10, [&](int) {
    program_.host(50 * kMs, ThreadState::running, compiling);
    program_.launch(kernel_, 300 * kUs);
  });
  EXPECT_EQ(largest().part.detail, CauseDetail::cudnn_compiler);
}

/// Work of the host before a copy to the GPU: a batch's, or what a model makes in its forward.
TEST_F(IdleDetails, AModelThatMakesTensorsOnTheHostLoadsNoData) {
  for (const bool in_model : {true, false}) {
    restart();
    const spool::Id line = program_.place("train.py", 30, "step");
    std::vector<HostFrame> frames;
    if (in_model) {
      frames = {SampleFrames::own("train.py", 30, "step"),
                SampleFrames::library("torch/nn/modules/module.py", "Module._call_impl")};
    } else {
      frames = {SampleFrames::own("train.py", 30, "step")};
    }
    const int making = program_.samples().stack(frames);
    steps(10, [&](int) {
      program_.host(20 * kMs, ThreadState::running, making);
      program_.copy_in(8 << 20, spool::Memory::pinned, 500 * kUs, line, false);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, in_model ? SavingCause::host_native : SavingCause::data_loading);
    EXPECT_EQ(found.part.detail, in_model ? CauseDetail::made_on_host : CauseDetail::none);
    EXPECT_EQ(found.part.line, "train.py:30 step");
  }
}

/// A batch of a replay buffer, picked from a list, and noise that is drawn.
TEST_F(IdleDetails, ItemsThatPythonPicksAtRandom) {
  for (const char* function : {"Random.sample", "Random.choices", "Random.gauss"}) {
    restart();
    const int picking = stack({SampleFrames::library("random.py", function)});
    steps(10, [&](int) {
      program_.host(20 * kMs, ThreadState::running, picking);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    const bool picks = std::string_view(function) != "Random.gauss";
    EXPECT_EQ(found.part.cause, picks ? SavingCause::host_python : SavingCause::host_native) << function;
    EXPECT_EQ(found.part.detail, picks ? CauseDetail::host_picks : CauseDetail::host_random) << function;
  }
}

TEST_F(IdleDetails, PyTorchThatComputesOnTheCpu) {
  const std::vector<std::pair<std::vector<HostFrame>, CauseDetail>> stacks = {
      {{SampleFrames::native("libtorch_cpu.so", "at::(anonymous namespace)::wrapper_CPU_mul__Tensor(at::Tensor&)")},
       CauseDetail::cpu_tensors},
      {{SampleFrames::native("libgomp.so.1", "GOMP_parallel"),
        SampleFrames::native("libtorch_cpu.so", "at::native::AVX2::vectorized_loop()")},
       CauseDetail::cpu_tensors},
      // On its way to a GPU.
      {{SampleFrames::native("libcuda.so.1", "cuLaunchKernel"), SampleFrames::native("libtorch_cuda.so", "[unknown]"),
        SampleFrames::native("libtorch_cpu.so", "at::_ops::mul::call")},
       CauseDetail::none},
      {{SampleFrames::native("_generator.cpython-312-x86_64-linux-gnu.so", "random_standard_normal")},
       CauseDetail::host_random},
      {{SampleFrames::native("_multiarray_umath.so", "DOUBLE_add")}, CauseDetail::none}};
  for (const auto& [frames, detail] : stacks) {
    restart();
    const int computing = stack(frames);
    steps(10, [&](int) {
      program_.host(20 * kMs, ThreadState::running, computing);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::host_native) << frames.front().function;
    EXPECT_EQ(found.part.detail, detail) << frames.front().function;
  }
}

TEST_F(IdleDetails, RowsThatTheHostGathersForACopy) {
  const std::vector<std::pair<HostFrame, CauseDetail>> stacks = {
      {SampleFrames::library("torch/nn/functional.py", "embedding"), CauseDetail::host_gather},
      {SampleFrames::native("libtorch_cpu.so", "at::native::index_select_out_cpu_(at::Tensor&)"),
       CauseDetail::host_gather},
      {SampleFrames::native("_multiarray_umath.so", "mapiter_get"), CauseDetail::host_gather},
      {SampleFrames::native("_multiarray_umath.so", "FLOAT_multiply"), CauseDetail::none},
      {SampleFrames::library("torch/nn/functional.py", "pad"), CauseDetail::none}};
  for (const bool copied : {true, false}) {
    for (const auto& [frame, detail] : stacks) {
      restart();
      const spool::Id line = program_.place("train.py", 30, "step");
      const int gathering = stack({frame});
      steps(10, [&](int) {
        program_.host(20 * kMs, ThreadState::running, gathering);
        if (copied) program_.copy_in(8 << 20, spool::Memory::pageable, 500 * kUs, line, false);
        program_.launch(kernel_, 300 * kUs);
      });
      const Largest found = largest();
      EXPECT_EQ(found.part.cause == SavingCause::data_loading, copied) << frame.function;
      EXPECT_EQ(found.part.detail, copied ? detail : CauseDetail::none) << frame.function;
    }
  }
}

/// Work behind the line that reads an array back is no input data, although a copy to the GPU follows.
TEST_F(IdleDetails, WorkOnResultsIsNoInputData) {
  for (const int line : {40, 20}) {
    restart();
    const spool::Id reading = program_.place("decode.py", 30, "select"),
                    sending = program_.place("decode.py", 50, "select");
    const int choosing = program_.samples().stack({SampleFrames::own("decode.py", line, "Decoder.select")});
    steps(10, [&](int) {
      program_.launch(kernel_, 300 * kUs);
      program_.item(reading, 4096);
      program_.host(20 * kMs, ThreadState::running, choosing);
      program_.copy_in(8192, spool::Memory::pageable, 20 * kUs, sending, false);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause == SavingCause::data_loading, line < 30) << line;
    EXPECT_EQ(found.part.detail == CauseDetail::host_results, line > 30) << line;
  }
}

/// The program waits for an array, and computes with it before it launches again: not the wait is long.
TEST_F(IdleDetails, WorkOnResultsIsNoPartOfTheWaitForThem) {
  for (const int line : {40, 20}) {
    restart();
    const spool::Id reading = program_.place("stats.py", 30, "on_step_end");
    const int computing = program_.samples().stack({SampleFrames::native("_multiarray_umath.so", "histogram"),
                                                    SampleFrames::own("stats.py", line, "Stats.on_step_end")});
    steps(20, [&](int) {
      program_.launch(kernel_, 30 * kMs);
      program_.item(reading, 1 << 20);
      program_.host(20 * kMs, ThreadState::running, computing);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.detail == CauseDetail::host_results, line > 30) << line;
    EXPECT_EQ(found.part.line, line > 30 ? "stats.py:40 Stats.on_step_end" : "stats.py:30 on_step_end");
    EXPECT_GT(found.share, 0.9);
  }
}

/// The same in a function that is called behind the wait, before the caller launches again.
TEST_F(IdleDetails, WorkOnResultsMayBeInACalledFunction) {
  for (const int launching : {60, 35}) {
    restart();
    const spool::Id reading = program_.place("decode.py", 30, "main"),
                    next = program_.place("decode.py", launching, "main");
    const spool::Id encoder = program_.spool().kind("encode", next);
    const int decoding = program_.samples().stack(
        {SampleFrames::own("decode.py", 12, "greedy"), SampleFrames::own("decode.py", 40, "main")});
    steps(20, [&](int) {
      program_.launch(encoder, 30 * kMs);
      program_.item(reading, 1 << 16);
      program_.host(20 * kMs, ThreadState::running, decoding);
    });
    EXPECT_EQ(largest().part.detail == CauseDetail::host_results, launching > 40) << launching;
  }
}

/// A wait before the steps, as behind a warm-up, is not in the loop; one in each step is.
TEST_F(IdleDetails, AWaitBeforeTheStepsIsNoneOfTheirs) {
  for (const bool in_loop : {false, true}) {
    restart();
    const spool::Id waiting = program_.place("train.py", 50, "warm_up");
    program_.launch(kernel_, 500 * kMs);
    program_.wait("cuCtxSynchronize", waiting);
    steps(50, [&](int) {
      for (int i = 0; i < 20; ++i) {
        program_.launch(kernel_, 2 * kUs);
        program_.host(40 * kUs, ThreadState::running, -1);
      }
      if (!in_loop) return;
      program_.launch(kernel_, 5 * kMs);
      program_.wait("cuCtxSynchronize", waiting);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause == SavingCause::synchronize, in_loop);
    EXPECT_EQ(of_launching(found.part.cause), !in_loop);
    EXPECT_GT(found.share, 0.9);
  }
}

/// Hooks of a backward pass copy what they need: nobody prepares input there.
TEST_F(IdleDetails, BackwardPassesPrepareNoInput) {
  for (const char* const thread : {"pt_autograd_0", "loader"}) {
    restart();
    const spool::Id line = program_.place("train.py", 30, "step");
    const int launching = program_.samples().thread(SimulatedProgram::kPid, 2, thread);
    const int working = program_.samples().stack({SampleFrames::native("libtorch_cpu.so", "at::native::empty")});
    steps(10, [&](int) {
      program_.host(20 * kMs, ThreadState::lock, -1);
      program_.spool().on_thread(2);
      program_.copy_in(8 << 20, spool::Memory::pinned, 500 * kUs, line, false);
      program_.launch(kernel_, 300 * kUs);
    });
    program_.other(launching, ThreadState::running, working);
    const bool autograd = std::string_view(thread).starts_with("pt_autograd");
    EXPECT_EQ(largest().part.cause, autograd ? SavingCause::host_native : SavingCause::data_loading);
  }
}

/// Some stacks end in Python, because the native frames were not found.
TEST_F(IdleDetails, SamplesWithoutNativeFramesDoWhatTheOthersAtTheirLineDo) {
  for (const bool random : {true, false}) {
    restart();
    const spool::Id line = program_.place("train.py", 30, "noise");
    const std::vector<HostFrame> python = {SampleFrames::own("train.py", 30, "noise")};
    std::vector<HostFrame> native = python;
    native.insert(
        native.begin(),
        SampleFrames::native("libtorch_cpu.so", random ? "normal_kernel<at::CPUGeneratorImpl*>" : "decode_jpeg"));
    const int drawing = program_.samples().stack(native), unknown = program_.samples().stack(python);
    steps(20, [&](int step) {
      program_.host(20 * kMs, ThreadState::running, step % 3 != 0 ? drawing : unknown);
      program_.copy_in(8 << 20, spool::Memory::pageable, 500 * kUs, line, false);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.detail == CauseDetail::host_random, random);
    EXPECT_EQ(found.part.cause == SavingCause::data_loading, !random);
    EXPECT_GT(found.share, 0.8);
  }
}

TEST_F(IdleDetails, AnotherProgramThatIsWaitedForIsNoQueue) {
  for (const char* const file : {"subprocess.py", "queue.py"}) {
    restart();
    const bool program = std::string_view(file) == "subprocess.py";
    const int waiting = stack({SampleFrames::library("selectors.py", "_PollLikeSelector.select"),
                               SampleFrames::library(file, program ? "Popen.communicate" : "join")});
    steps(10, [&](int) {
      program_.host(20 * kMs, ThreadState::poll, waiting);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::wait_queue);
    EXPECT_EQ(found.part.detail, program ? CauseDetail::subprocess : CauseDetail::none);
  }
}

TEST_F(IdleDetails, WorkersThatAreStartedAgainAreNoSlowLoader) {
  for (const char* const function :
       {"_MultiProcessingDataLoaderIter.__init__", "_SingleProcessDataLoaderIter.__init__"}) {
    restart();
    const bool starts = std::string_view(function).starts_with("_Multi");
    const int starting = stack({SampleFrames::library("torch/utils/data/dataloader.py", function)});
    steps(10, [&](int) {
      program_.host(50 * kMs, ThreadState::running, starting);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::data_loading);
    EXPECT_EQ(found.part.detail, starts ? CauseDetail::workers_started : CauseDetail::none);
  }
}

/// A communicator that is made, used once and destroyed: in each of ten steps, or in the first one.
TEST_F(IdleDetails, CommunicatorsMadeInEachStepAreOneCause) {
  for (const bool python : {true, false}) {
    for (const bool always : {true, false}) {
      restart();
      const auto own = [&](int line) {
        HostFrame frame = SampleFrames::own(python ? "train.py" : "solver.cpp", line, "pooled");
        frame.python = python;
        return frame;
      };
      const spool::Id used = program_.place(python ? "train.py" : "solver.cpp", 65, "pooled");
      const spool::Id reduce = program_.spool().kind("ncclDevKernel_AllReduce_Sum_f32_RING_LL", used);
      const int making = program_.samples().stack(
          {SampleFrames::native("libnccl.so.2", python ? "ncclCommInitRankConfig" : "ncclCommSplit"), own(65)});
      const int destroying =
          python
              ? program_.samples().stack(
                    {SampleFrames::library("torch/distributed/distributed_c10d.py", "destroy_process_group"), own(67)})
              : program_.samples().stack({SampleFrames::native("libnccl.so.2", "pncclCommDestroy"), own(67)});
      steps(10, [&](int step) {
        const bool makes = always || step == 0;
        program_.launch(kernel_, 300 * kUs);
        if (makes) {
          const auto id = static_cast<spool::Id>(step + 1);
          program_.spool().add(spool::Type::communicator, spool::Communicator{id + 90U, id, 0, 2, 0});
          program_.host(20 * kMs, ThreadState::running, making);
          program_.call("cuMemSetAccess", spool::CallKind::allocate, 2 * kMs, used);
        }
        spool::Collective call = {};
        call.start = program_.now();
        program_.launch(reduce, 20 * kUs);
        call.end = program_.now();
        call.sequence = makes ? 0 : static_cast<std::uint64_t>(step);
        call.communicator = always ? static_cast<spool::Id>(step + 1) : 1;
        call.kind = spool::CollectiveKind::all_reduce;
        call.calls = 1;
        program_.spool().add(spool::Type::collective, call);
        program_.host(30 * kMs, ThreadState::lock, makes ? destroying : stack({}));
        program_.launch(kernel_, 300 * kUs);
      });
      const Largest found = largest();
      EXPECT_EQ(found.part.cause == SavingCause::new_communicators, always);
      if (!always) {
        EXPECT_EQ(found.part.cause, SavingCause::wait_lock);
        continue;
      }
      EXPECT_GT(found.share, 0.95);
      EXPECT_THAT(found.part.evidence, testing::HasSubstr("per step: 1,"));
      for (const char* const line : {":65", ":67"}) EXPECT_THAT(found.part.evidence, testing::HasSubstr(line));
    }
  }
}

TEST_F(IdleDetails, AProfilerOfTheProgramIsSeenAlsoBetweenLaunches) {
  for (const bool profiles : {true, false}) {
    restart();
    const int recording = stack({SampleFrames::native(
        "libtorch_cpu.so", profiles ? "torch::profiler::impl::ThreadLocalSubqueue::begin_op(at::RecordFunction const&)"
                                    : "at::RecordFunction::runStartCallbacks()")});
    steps(20, [&](int) {
      for (int launch = 0; launch < 40; ++launch) {
        program_.host(200 * kUs, ThreadState::running, recording);
        program_.launch(kernel_, 5 * kUs);
      }
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause == SavingCause::profiler_on, profiles);
    // What an optimizer marks for a profiler is there without one.
    if (!profiles) continue;
    for (const HostFrame& marks :
         {SampleFrames::library("torch/autograd/profiler.py", "record_function.__enter__"),
          SampleFrames::native("libtorch_cpu.so",
                               "torch::autograd::profiler::record_function_enter_new(std::string)")}) {
      restart();
      const int marking = stack({marks});
      steps(10, [&](int) {
        program_.host(20 * kMs, ThreadState::running, marking);
        program_.launch(kernel_, 300 * kUs);
      });
      EXPECT_NE(largest().part.cause, SavingCause::profiler_on);
    }
  }
}

TEST_F(IdleDetails, ADeepCopyIsNamedWhateverItLaunches) {
  for (const char* const function : {"deepcopy", "copy"}) {
    restart();
    const int copying = stack({SampleFrames::library("/usr/lib/python3/copy.py", function)});
    steps(20, [&](int) {
      for (int launch = 0; launch < 40; ++launch) {
        program_.host(200 * kUs, ThreadState::running, copying);
        program_.launch(kernel_, 5 * kUs);
      }
    });
    EXPECT_EQ(largest().part.detail == CauseDetail::deep_copies, std::string_view(function) == "deepcopy");
  }
}

TEST_F(IdleDetails, AFunctionOfTheHostHoldsUpItsStream) {
  for (const char* const name : {"cuLaunchHostFunc", "cuCtxGetCurrent"}) {
    restart();
    const spool::Id place = program_.place("train.py", 40, "step");
    steps(20, [&](int) {
      const std::uint64_t start = program_.launch(kernel_, 200 * kUs);
      program_.call(name, spool::CallKind::other, 2 * kUs, place);
      program_.spool().launch(kernel_, program_.now(), program_.now() + 2 * kUs, start + 3200 * kUs,
                              start + 3400 * kUs);
      program_.host(4 * kMs, ThreadState::running, -1);
    });
    const Largest found = largest();
    const bool function = std::string_view(name) == "cuLaunchHostFunc";
    EXPECT_EQ(found.part.cause, function ? SavingCause::late_stream : SavingCause::unknown_idle);
    EXPECT_EQ(found.part.detail, function ? CauseDetail::host_function : CauseDetail::queued_work);
    EXPECT_GT(found.share, 0.5);
  }
}

/// No stream of the program does anything for milliseconds: another program's turn. With a second GPU that works
/// meanwhile, its end is what the stream waits for.
TEST_F(IdleDetails, QueuedWorkThatDoesNotBegin) {
  for (const bool second_gpu : {false, true}) {
    restart();
    program_.spool().device(1, 8);
    steps(20, [&](int) {
      const std::uint64_t start = program_.launch(kernel_, 200 * kUs);
      program_.spool().on_device(1);
      if (second_gpu)
        program_.spool().launch(kernel_, program_.now(), program_.now() + 2 * kUs, start, start + 2190 * kUs);
      program_.spool().on_device(0);
      program_.spool().launch(kernel_, program_.now(), program_.now() + 2 * kUs, start + 2200 * kUs,
                              start + 2400 * kUs);
      program_.host(3 * kMs, ThreadState::running, -1);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, second_gpu ? SavingCause::late_stream : SavingCause::unknown_idle);
    EXPECT_EQ(found.part.detail, second_gpu ? CauseDetail::none : CauseDetail::queued_work);
    EXPECT_GT(found.share, 0.5);
  }
}

TEST_F(IdleDetails, ObjectsForOtherRanksArePacked) {
  for (const char* const function : {"all_gather_object", "all_gather"}) {
    restart();
    const int packing = stack({SampleFrames::library("torch/distributed/distributed_c10d.py", function)});
    steps(10, [&](int) {
      program_.host(20 * kMs, ThreadState::running, packing);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::host_python);
    EXPECT_EQ(found.part.detail == CauseDetail::object_messages, std::string_view(function) == "all_gather_object");
  }
}

TEST_F(IdleDetails, FsdpPreparesItsCollectives) {
  for (const char* const file :
       {"torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py",
        "torch/distributed/fsdp/fully_sharded_data_parallel.py", "train/_fsdp_param_group.py"}) {
    restart();
    const int copies = stack({SampleFrames::native("libtorch_cuda.so", "at::native::_chunk_cat_out_cuda"),
                              SampleFrames::library(file, "post_backward")});
    steps(10, [&](int) {
      program_.host(20 * kMs, ThreadState::running, copies);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::host_native);
    EXPECT_EQ(found.part.detail == CauseDetail::shard_copies,
              std::string_view(file).ends_with("_fully_shard/_fsdp_param_group.py"))
        << file;
  }
}

/// Such a collective copies, launches and waits: all of that is what it costs.
TEST_F(IdleDetails, WhateverACollectiveOfObjectsDoesIsItsOwn) {
  for (const char* const function : {"all_gather_object", "all_gather"}) {
    restart();
    const spool::Id line = program_.place("train.py", 30, "step");
    const spool::Id packing = program_.spool().kind("small_kernel", line);
    // Tensors in objects are packed as for a checkpoint.
    const int running = stack({SampleFrames::library("torch/serialization.py", "save"),
                               SampleFrames::library("torch/distributed/distributed_c10d.py", function)});
    steps(20, [&](int) {
      for (int i = 0; i < 10; ++i) {
        program_.host(300 * kUs, ThreadState::running, running);
        program_.launch(packing, 2 * kUs);
        program_.item(line);
      }
    });
    const Largest found = largest();
    const bool objects = std::string_view(function) == "all_gather_object";
    EXPECT_EQ(found.part.detail == CauseDetail::object_messages, objects) << found.share;
    EXPECT_EQ(found.part.line, "train.py:30 step");
    if (objects) {
      EXPECT_GT(found.share, 0.9);
    }
  }
}

TEST_F(IdleDetails, ACheckpointIsSavedWhateverTheHostDoesForIt) {
  for (const char* const file : {"torch/serialization.py", "numpy/lib/_npyio_impl.py"}) {
    restart();
    const bool checkpoint = std::string_view(file) == "torch/serialization.py";
    const int writing = stack({SampleFrames::library(file, "save")});
    const spool::Id line = program_.place("train.py", 30, "step");
    steps(10, [&](int) {
      program_.launch(kernel_, 300 * kUs);
      program_.host(10 * kMs, ThreadState::running, writing);
      program_.item(line);
      program_.host(20 * kMs, ThreadState::disk, writing);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.detail, checkpoint ? CauseDetail::saved_state : CauseDetail::none);
    EXPECT_EQ(found.part.cause, checkpoint ? SavingCause::host_native : SavingCause::wait_disk);
    EXPECT_EQ(found.part.line, "train.py:30 step");
  }
}

TEST_F(IdleDetails, ARuntimesThreadThatTunesIsACompiler) {
  for (const bool compiles : {true, false}) {
    restart();
    const int beside = program_.samples().thread(SimulatedProgram::kPid, SimulatedProgram::kPid);
    const int waits = program_.samples().stack({SampleFrames::native("libc.so.6", "poll")});
    program_.other(beside, ThreadState::lock,
                   compiles ? stack({SampleFrames::library("jax/_src/compiler.py", "backend_compile_and_load")})
                            : stack({SampleFrames::library("queue.py", "join")}));
    steps(20, [&](int) {
      program_.host(50 * kMs, ThreadState::poll, waits);
      program_.launch(kernel_, 300 * kUs);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, compiles ? SavingCause::recompilation : SavingCause::wait_queue);
    EXPECT_EQ(found.part.line, "train.py:30 step");
  }
}

/// XLA's loops launch a few kernels again and again; a step of as many different ones is none.
TEST_F(IdleDetails, ALoopInsideOfACompiledStep) {
  for (const bool loop : {true, false}) {
    restart();
    program_.spool().range("XlaModule:#hlo_module=jit_update#", 0);
    steps(10, [&](int) {
      for (int i = 0; i < 100; ++i) {
        program_.host(40 * kUs, ThreadState::running, -1);
        const std::string name = loop ? "loop_add_fusion" : "loop_add_fusion_" + std::to_string(i);
        program_.launch(program_.spool().kind(name, program_.place("train.py", 60, "main")), 3 * kUs);
      }
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::tiny_kernels);
    EXPECT_EQ(found.part.detail == CauseDetail::kernel_loop, loop);
  }
}

/// Kernels of a list's items, of a model's layers, of a function without a loop, of compiled code, and of autograd.
TEST_F(IdleDetails, ALoopOverItemsIsNoModelAndNoCompiledFunction) {
  struct Case {
    std::string kernel;
    bool other_kernels = false, layers = false, backward = false;
    CauseDetail loop = CauseDetail::none;
  };
  for (const Case& of :
       {Case{.kernel = "at::native::reduce_kernel", .loop = CauseDetail::item_loop},
        Case{.kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", .loop = CauseDetail::collective_loop},
        Case{.kernel = "at::native::reduce_kernel", .layers = true},
        Case{.kernel = "at::native::reduce_kernel", .backward = true},
        Case{.kernel = "at::native::reduce_kernel", .other_kernels = true},
        Case{.kernel = "at::native::multi_tensor_apply_kernel"}, Case{.kernel = "triton_poi_fused_add_3"}}) {
    restart();
    const spool::Id same = program_.place("train.py", 61, "clip_gradients", of.backward);
    steps(10, [&](int) {
      for (int i = 0; i < 100; ++i) {
        program_.host(40 * kUs, ThreadState::running, -1);
        const spool::Id place =
            of.layers ? program_.place("train.py", 61, "clip_gradients", false, "blocks." + std::to_string(i)) : same;
        const std::string name = of.other_kernels ? of.kernel + std::to_string(i) : of.kernel;
        program_.launch(program_.spool().kind(name, place), 3 * kUs);
      }
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::tiny_kernels);
    EXPECT_EQ(found.part.detail, of.loop) << of.kernel;
    EXPECT_EQ(found.part.line, "train.py:61 clip_gradients");
  }
}

/// A loop over experts waits for the number of its tokens; autograd launches for the loop's line, and for another one.
TEST_F(IdleDetails, ALoopOverGroupsReadsTheirSizesBack) {
  for (const auto& [reads, of_loop] : {std::pair{true, true}, {true, false}, {false, true}, {false, false}}) {
    restart();
    const spool::Id select = program_.place("train.py", 38, "route");
    const spool::Id forward =
        program_.spool().kind("at::native::reduce_kernel", program_.place("train.py", 41, "route"));
    const spool::Id backward =
        program_.spool().kind("at::native::mul_kernel", program_.place("train.py", of_loop ? 41 : 90, "route", true));
    steps(10, [&, reads = reads](int) {
      for (int i = 0; i < 64; ++i) {
        if (reads) program_.item(select, 8);
        program_.launch(forward, 3 * kUs);
      }
      for (int i = 0; i < 200; ++i) {
        program_.host(40 * kUs, ThreadState::running, -1);
        program_.launch(backward, 3 * kUs);
      }
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::tiny_kernels);
    const CauseDetail loop = reads ? CauseDetail::grouped_loop : CauseDetail::item_loop;
    EXPECT_EQ(found.part.detail, of_loop ? loop : CauseDetail::none) << reads << of_loop;
  }
}

/// What an allocator gives back it must allocate again. Without that, with an allocator that has run out of memory,
/// and without such an allocator, the calls are those of their lines.
TEST_F(IdleDetails, MemoryThatIsGivenBackInTheLoop) {
  struct Case {
    const char* kernel;
    std::uint32_t freed_at = 0;  // 0: nowhere
    bool returns = false;
  };
  for (const Case& of :
       {Case{"at::native::reduce_kernel", 69, true}, Case{"cupy_add", 69, true}, Case{"at::native::reduce_kernel", 30},
        Case{"at::native::reduce_kernel"}, Case{"my_kernel", 69}}) {
    restart();
    kernel_ = program_.spool().kind(of.kernel, program_.place("train.py", 10, "step"));
    const spool::Id allocates = program_.place("train.py", 30, "forward");
    const spool::Id frees = program_.place("train.py", of.freed_at, "step");
    steps(20, [&](int) {
      for (int i = 0; i < 5; ++i) {
        program_.call("cuMemAlloc_v2", spool::CallKind::allocate, kMs, of.freed_at == 30 ? frees : allocates);
        program_.launch(kernel_, 100 * kUs);
      }
      if (of.freed_at == 0) return;
      program_.wait("cuCtxSynchronize", frees);
      for (int i = 0; i < 5; ++i) program_.call("cuMemFree_v2", spool::CallKind::release, 400 * kUs, frees);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::allocation);
    EXPECT_EQ(found.part.detail == CauseDetail::memory_returns, of.returns) << of.kernel << ' ' << of.freed_at;
    if (!of.returns) continue;
    EXPECT_EQ(found.part.line, "train.py:69 step");
    EXPECT_GT(found.share, 0.9);
    EXPECT_LE(found.share, 1.0);
  }
}

/// Operations of JAX outside of jit, each a program of one kernel, and a jitted step of the same kernels.
TEST_F(IdleDetails, OperationsOutsideOfJit) {
  for (const bool eager : {true, false}) {
    restart();
    const spool::Id program = program_.spool().range("XlaModule:#hlo_module=jit_multiply#", 0);
    const spool::Id line = program_.spool().line("/home/user/project/train.py", 38, "adam");
    const spool::Id kernel =
        program_.spool().kind("loop_multiply_fusion", program_.spool().place({.range = program, .line = line}));
    const spool::Id unknown = program_.spool().place({});
    const int waits = stack({SampleFrames::native("libc.so.6", "[unknown]")});
    const auto executed = [&](spool::Id range, std::uint64_t since) {
      program_.spool().add(spool::Type::range_time, spool::RangeTime{since, program_.now(), range, 1});
    };
    steps(10, [&](int) {
      const std::uint64_t start = program_.now();
      for (int i = 0; i < 100; ++i) {
        const std::uint64_t call = program_.now();
        program_.copy_in(4, spool::Memory::pageable, 2 * kUs, unknown, false);
        program_.host(60 * kUs, ThreadState::lock, waits);
        program_.launch(kernel, 3 * kUs);
        if (eager) executed(program, call);
      }
      if (!eager) executed(program, start);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.detail == CauseDetail::eager_programs, eager);
    if (!eager) continue;
    EXPECT_EQ(found.part.line, "train.py:38 adam");
    EXPECT_GT(found.share, 0.8);
  }
}

/// Two layers of cells on two lines of one loop, forward and backward; a loop over other items; cuDNN's own layers.
TEST_F(IdleDetails, ARecurrentCellThatIsSteppedInALoop) {
  struct Case {
    const char* kernel;
    bool cells = false;
  };
  for (const Case& of : {Case{"at::native::lstm_cell_forward", true}, Case{"at::native::gru_cell_forward", true},
                         Case{"at::native::reduce_kernel"}, Case{"void elemWiseRNNcell<float>"}}) {
    restart();
    std::vector<spool::Id> kernels;
    for (const bool backward : {false, true}) {
      for (const std::uint32_t line : {24U, 25U}) {
        const spool::Id place = program_.place("train.py", line, "forward", backward);
        kernels.push_back(program_.spool().kind(backward ? "at::native::cell_backward" : of.kernel, place));
      }
    }
    steps(10, [&](int) {
      for (int i = 0; i < 400; ++i) {
        program_.host(40 * kUs, ThreadState::running, -1);
        program_.launch(kernels[static_cast<std::size_t>(i < 200 ? i % 2 : 2 + i % 2)], 3 * kUs);
      }
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, SavingCause::tiny_kernels);
    EXPECT_EQ(found.part.detail == CauseDetail::recurrent_cells, of.cells) << of.kernel;
    EXPECT_TRUE(!of.cells || found.share > 0.9) << found.share;
  }
}

TEST_F(IdleDetails, ACollectiveOnTheCpu) {
  struct Case {
    const char *waits, *called;
    SavingCause cause;
    CauseDetail detail;
  };
  for (const Case& of : {Case{"c10d::Work::wait(std::chrono::duration<long>)", "all_reduce", SavingCause::wait_network,
                              CauseDetail::cpu_collective},
                         Case{"c10d::Work::wait(std::chrono::duration<long>)", "monitored_barrier",
                              SavingCause::barrier, CauseDetail::none},
                         Case{"c10d::ProcessGroupNCCL::WorkNCCL::wait(std::chrono::duration<long>)", "all_reduce",
                              SavingCause::wait_lock, CauseDetail::none}}) {
    restart();
    const int waits = stack({SampleFrames::native("libc.so.6", "pthread_cond_wait"),
                             SampleFrames::native("libtorch_cpu.so", of.waits),
                             SampleFrames::library("torch/distributed/distributed_c10d.py", of.called)});
    steps(20, [&](int) {
      program_.launch(kernel_, 300 * kUs);
      program_.host(20 * kMs, ThreadState::lock, waits);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, of.cause) << of.waits;
    EXPECT_EQ(found.part.detail, of.detail) << of.called;
    EXPECT_EQ(found.part.line, "train.py:30 step");
  }
}

TEST_F(IdleDetails, OnlyAThreadThatWaitsForALockIsHeldByOne) {
  struct Case {
    const char *library, *waits;
    SavingCause cause;
  };
  for (const Case& of : {Case{"libgomp-a34b3233.so.1", "[unknown]", SavingCause::host_native},
                         Case{"libtorch_cpu.so", "torch::autograd::ReadyQueue::pop()", SavingCause::unknown_idle},
                         Case{"libstdc++.so.6", "std::mutex::lock()", SavingCause::wait_lock}}) {
    restart();
    const int waits =
        stack({SampleFrames::native("libc.so.6", "[unknown]"), SampleFrames::native(of.library, of.waits),
               SampleFrames::native("libtorch_cpu.so", "at::native::AVX2::copy_kernel(at::TensorIterator&)")});
    steps(20, [&](int) {
      program_.launch(kernel_, 300 * kUs);
      program_.host(20 * kMs, ThreadState::lock, waits);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.cause, of.cause) << of.waits;
    EXPECT_EQ(found.part.line, "train.py:30 step");
  }
}

TEST_F(IdleDetails, AThreadOfGlooCopiesTensorsOfTheGpu) {
  for (const bool gloo : {true, false}) {
    restart();
    program_.samples().thread(SimulatedProgram::kPid, 7, gloo ? "pt_gloo_runloop" : "python");
    const spool::Id back = program_.place("train.py", 17, "average");
    const int waits = stack({SampleFrames::native("libc.so.6", "pthread_cond_wait")});
    steps(20, [&](int) {
      program_.launch(kernel_, 300 * kUs);
      program_.spool().on_thread(7);
      program_.wait("cuStreamSynchronize", back);
      program_.host(20 * kMs, ThreadState::lock, waits);
      program_.copy_in(16 << 20, spool::Memory::pinned, kMs, back, false);
      program_.spool().on_thread(1);
    });
    const Largest found = largest();
    EXPECT_EQ(found.part.detail == CauseDetail::cpu_collective, gloo);
    if (!gloo) continue;
    EXPECT_EQ(found.part.cause, SavingCause::wait_network);
    EXPECT_EQ(found.part.line, "train.py:17 average");
    EXPECT_GT(found.share, 0.9);
  }
}

TEST_F(IdleDetails, EveryDetailHasTexts) {
  for (int detail = 1; detail <= static_cast<int>(CauseDetail::exposed_all_to_alls); ++detail) {
    for (const Framework framework : {Framework::cuda, Framework::torch, Framework::jax, Framework::cupy}) {
      const auto of = static_cast<CauseDetail>(detail);
      EXPECT_FALSE(what_is_lost(SavingCause::copies, of).empty()) << detail;
      EXPECT_FALSE(action_against(SavingCause::unknown_idle, framework, of).empty()) << detail;
      EXPECT_NE(what_is_lost(SavingCause::unknown_idle, of), what_is_lost(SavingCause::unknown_idle)) << detail;
    }
  }
}

}  // namespace
}  // namespace roofline
