// Copies and kernels with a planted fault, and the same programs without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "host_samples_builder.hpp"
#include "profile/actions.hpp"
#include "profile/causes/causes.hpp"
#include "profile/causes/detectors.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/checkpoint_calls.hpp"
#include "profile/graph_kernels.hpp"
#include "profile/rows.hpp"
#include "profile/savings.hpp"
#include "profile/source_text.hpp"
#include "simulated_program.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMicros = SimulatedProgram::kUs, kMillis = SimulatedProgram::kMs;

// Symbols as PyTorch 2 and cuBLAS have them, shortened.
constexpr const char* kGemm = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT";
constexpr const char* kSoftmax = "_ZN2at6native43_GLOBAL__N__softmax_warp_forwardIfffLi10ELb0ELb0EEEvPT0_PKT_iii";
constexpr const char* kLogSoftmax = "_ZN2at6native43_GLOBAL__N__softmax_warp_forwardIfffLi10ELb1ELb0EEEvPT0_PKT_iii";
constexpr const char* kMul = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13BUnaryFunctorIfff15MulFunctor";
constexpr const char* kAdd = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIf";
constexpr const char* kAddcdiv = "_ZN2at6native29vectorized_elementwise_kernelILi4E_addcdiv_cuda_kernel";
constexpr const char* kCast = "_ZN2at6native29vectorized_elementwise_kernelILi4E_bfloat16_copy_kernel_cuda";

class Causes : public testing::Test {
 protected:
  Causes() { fs::create_directories(folder_); }
  ~Causes() override { fs::remove_all(folder_); }

  spool::Id line(std::uint32_t number, bool backward = false, const std::string& module = {}) {
    return program_.place("train.py", number, "step", backward, module);
  }
  spool::Id kernel(const std::string& name, spool::Id place, std::uint32_t blocks = 1000) {
    return program_.spool().kind(name, place, 0, blocks);
  }

  void steps(int count, const std::function<void(int)>& one) {
    const spool::Id first = kernel("first_kernel", line(1));
    for (int i = 0; i < count; ++i) {
      program_.step();
      program_.launch(first, 10 * kMicros);
      one(i);
    }
    program_.step();
    program_.launch(first, 10 * kMicros);
  }

  std::vector<Saving> causes(const Machine& machine = {}, const std::function<void(Point&)>& change = {},
                             SourceTexts* sources = nullptr) {
    program_.spool().end(program_.now() + kMillis);
    const std::vector<ProcessTrace> traces = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
    const Recording recording(traces);
    FoundSteps found;
    for (const Span& span : program_.steps()) {
      Step step;
      step.span = span;
      found.all.push_back(step);
    }
    std::vector<Saving> savings;
    std::vector<Point> points(recording.groups.size());
    for (std::size_t i = 0; i < points.size() && change; ++i) {
      points[i].profiled.emplace().full_name = recording.groups[i].symbol;
      change(points[i]);
    }
    for (SavingClaim& claim : causes_of(recording, found, points, machine, sources)) {
      savings.push_back(std::move(claim.saving));
    }
    double total = 0, length = 0;
    for (const Saving& saving : savings) {
      total += saving.seconds;
      EXPECT_LT(saving.point, static_cast<int>(recording.groups.size()));
      EXPECT_NE(saving.kind, SavingKind::idle);
      EXPECT_FALSE(saving.action.empty());
    }
    for (const Span& span : program_.steps()) length += seconds(span.length());
    EXPECT_LE(total, length);
    return savings;
  }

  SimulatedProgram program_;
  fs::path folder_ = fs::path(testing::TempDir()) /
                     (std::string("causes_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Causes, CopiesFromPageableMemoryAreAFaultAndFromPinnedAreNot) {
  for (const spool::Memory memory : {spool::Memory::pageable, spool::Memory::pinned}) {
    program_ = SimulatedProgram();
    const spool::Id copy = line(13), small = line(14);
    steps(10, [&](int) {
      program_.copy_in(8 << 20, memory, 700 * kMicros, copy, true);
      program_.copy_in(256, spool::Memory::pageable, 2 * kMicros, small, true);
      program_.launch(kernel(kGemm, line(15)), kMillis);
    });
    const std::vector<Saving> found = causes();
    if (memory == spool::Memory::pinned) {
      EXPECT_TRUE(found.empty());
      continue;
    }
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].cause, SavingCause::pageable_copy);
    EXPECT_EQ(found[0].kind, SavingKind::copies);
    EXPECT_EQ(found[0].line, "train.py:13 step");
    EXPECT_NEAR(found[0].seconds, 10 * 700e-6, 1e-6);
  }
}

/// A table in host memory makes the copies: pinned memory is the lesser remedy, unless other code gathers.
TEST_F(Causes, CopiesOfGatheredRowsHaveTheRemedyOfTheTable) {
  const spool::Id copy = line(13);
  steps(10, [&](int) { program_.copy_in(8 << 20, spool::Memory::pageable, 700 * kMicros, copy, true); });
  program_.spool().end(program_.now() + kMillis);
  const std::vector<ProcessTrace> traces = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
  const Recording recording(traces);
  const std::vector<Point> points(recording.groups.size());
  Profile profile;
  profile.wall_s = 0.05;
  WallTime& wall = profile.devices.emplace_back();
  wall.wall_s = 0.05;
  wall.copies_s = 7e-3;
  wall.idle_elsewhere_s = 0.04;
  for (const std::string gathered_in : {"train.py:12 Table.step", "train.py:12 Table.other", ""}) {
    const IdleParts idle = [&gathered_in](const std::vector<Span>&) -> std::vector<IdlePart> {
      return {{0, SavingCause::data_loading, 5e-3, gathered_in, "", CauseDetail::host_gather}};
    };
    const std::vector<Saving> savings = savings_of(recording, {}, points, row_times(recording), {}, profile, idle);
    const auto copies = std::find_if(savings.begin(), savings.end(), [](const Saving& saving) {
      return saving.cause == SavingCause::pageable_copy && saving.kind == SavingKind::copies;
    });
    ASSERT_NE(copies, savings.end());
    const std::string of_table =
        action_against(SavingCause::data_loading, framework_of(recording), CauseDetail::host_gather);
    EXPECT_EQ(copies->action == of_table, gathered_in == "train.py:12 Table.step") << gathered_in;
  }
}

TEST_F(Causes, ManySmallCopiesFromOneLine) {
  for (const int copies : {100, 4}) {
    program_ = SimulatedProgram();
    const spool::Id copy = line(13), product = kernel(kGemm, line(15));
    steps(10, [&](int) {
      for (int i = 0; i < copies; ++i) program_.copy_in(4096, spool::Memory::pinned, 2 * kMicros, copy, false);
      program_.launch(product, 100 * kMicros);
    });
    const std::vector<Saving> found = causes();
    EXPECT_EQ(found.size(), copies == 100 ? 1U : 0U);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::copies);
    EXPECT_EQ(found[0].kind, SavingKind::copies);
    EXPECT_EQ(found[0].line, "train.py:13 step");
    EXPECT_NEAR(found[0].seconds, 10 * 100 * 2e-6, 1e-6);
  }
}

TEST_F(Causes, ATransferThatLostItsPlaceHasThatOfItsCall) {
  const spool::Id copy = line(13), product = kernel(kGemm, line(15));
  steps(10, [&](int) {
    for (int i = 0; i < 100; ++i) {
      program_.copy_in(4096, spool::Memory::pinned, 2 * kMicros, copy, false);
      program_.spool().lose_place_of_last_copy();
    }
    program_.launch(product, 100 * kMicros);
  });
  const std::vector<Saving> found = causes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].line, "train.py:13 step");
}

TEST_F(Causes, PagesThatMigrateWhileKernelsRun) {
  for (const bool migrates : {true, false}) {
    program_ = SimulatedProgram();
    const spool::Id some = kernel("my_kernel", line(15));
    steps(10, [&](int) {
      const std::uint64_t start = program_.launch(some, kMillis);
      if (!migrates) return;
      program_.spool().copy(1 << 20, spool::Memory::migrating, spool::Memory::device, start, start + 100 * kMicros,
                            start + 500 * kMicros);
    });
    const std::vector<Saving> found = causes();
    EXPECT_EQ(found.size(), migrates ? 1U : 0U);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::copies);
    EXPECT_EQ(found[0].kind, SavingKind::kernel);
    EXPECT_EQ(found[0].line, "train.py:15 step");
    EXPECT_NEAR(found[0].seconds, 10 * 400e-6, 1e-6);
  }
}

TEST_F(Causes, CopiesBesideKernelsCostNothing) {
  const spool::Id copy = line(13), product = kernel(kGemm, line(15));
  steps(10, [&](int) {
    const std::uint64_t start = program_.launch(product, 2 * kMillis);
    program_.spool().copy(8 << 20, spool::Memory::pageable, spool::Memory::device, program_.now(), start + 100,
                          start + kMillis, copy);
  });
  EXPECT_TRUE(causes().empty());
}

TEST_F(Causes, TheSameTensorInEveryStep) {
  const spool::Id same = line(20), batch = line(21), product = kernel(kGemm, line(22));
  steps(12, [&](int i) {
    program_.copy_in(4 << 20, spool::Memory::pinned, 300 * kMicros, same, false, 77);
    program_.copy_in(4 << 20, spool::Memory::pinned, 300 * kMicros, batch, false, 1000 + static_cast<std::uint64_t>(i));
    program_.launch(product, kMillis);
  });
  const std::vector<Saving> found = causes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, SavingCause::repeated_copy);
  EXPECT_EQ(found[0].line, "train.py:20 step");
  EXPECT_NEAR(found[0].seconds, 12 * 300e-6, 1e-6);
}

TEST_F(Causes, ARepeatedCopyFromPageableMemoryIsOneFaultNotTwo) {
  const spool::Id same = line(20), product = kernel(kGemm, line(22));
  steps(12, [&](int) {
    program_.copy_in(4 << 20, spool::Memory::pageable, 300 * kMicros, same, true, 77);
    program_.launch(product, kMillis);
  });
  const std::vector<Saving> found = causes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, SavingCause::repeated_copy);
}

TEST_F(Causes, BatchesThatComeBackAfterSomeStepsAreNotOneTensor) {
  const spool::Id batch = line(21), product = kernel(kGemm, line(22));
  steps(12, [&](int i) {
    program_.copy_in(4 << 20, spool::Memory::pinned, 300 * kMicros, batch, false,
                     5 + static_cast<std::uint64_t>(i % 3));
    program_.launch(product, kMillis);
  });
  EXPECT_TRUE(causes().empty());
}

TEST_F(Causes, SourcesWithoutATellingDigestAreNotCompared) {
  const spool::Id mask = line(21), product = kernel(kGemm, line(22));
  steps(12, [&](int) {
    const std::uint64_t start = program_.launch(product, kMillis) + kMillis;
    program_.spool().copy_of(0, 4 << 20, spool::Memory::pinned, program_.now(), start, start + 300 * kMicros, mask);
    program_.host(2 * kMillis, ThreadState::running, -1);
  });
  EXPECT_TRUE(causes().empty());
}

TEST_F(Causes, ConversionsOfUnchangedDataAreAFaultAndOfOthersAreNot) {
  const spool::Id weights = kernel(kCast, line(7)), activations = kernel(kCast, line(8)),
                  clone = kernel("_ZN2at6native29vectorized_elementwise_kernelILi4E_direct_copy_kernel_cuda", line(9)),
                  product = kernel(kGemm, line(10));
  steps(10, [&](int) {
    program_.launch(weights, 120 * kMicros, 7, spool::kSameInput);
    program_.launch(activations, 120 * kMicros);
    program_.launch(clone, 120 * kMicros, 7, spool::kSameInput);
    program_.launch(product, 200 * kMicros);
  });
  const std::vector<Saving> found = causes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, SavingCause::repeated_cast);
  EXPECT_EQ(found[0].line, "train.py:7 step");
  EXPECT_NEAR(found[0].seconds, 10 * 120e-6, 1e-6);
}

/// PyTorch divides the conversion of a large tensor among launches; the address of the first is that of the tensor,
/// which a product has written. Those of the others are within it.
TEST_F(Causes, ALargeConversionInPartsIsOfChangedData) {
  for (const bool changed : {true, false}) {
    program_ = SimulatedProgram();
    const spool::Id cast = line(8), part = kernel(kCast, cast, 1 << 20), last = kernel(kCast, cast, 1 << 19),
                    product = kernel(kGemm, line(10));
    steps(10, [&](int) {
      program_.launch(product, kMillis);
      program_.launch(part, kMillis, 7, changed ? 0U : std::uint32_t{spool::kSameInput});
      program_.launch(part, kMillis, 7, spool::kSameInput);
      program_.launch(last, kMillis / 2, 7, spool::kSameInput);
    });
    const std::vector<Saving> found = causes();
    ASSERT_EQ(found.size(), changed ? 0U : 1U);
    if (!changed) {
      EXPECT_EQ(found[0].cause, SavingCause::repeated_cast);
    }
  }
}

TEST_F(Causes, ConversionsOfUnchangedDataInAGraphAreAFault) {
  const auto in_graph = [&](const std::string& name, int number) {
    return program_.spool().kind(name, line(number), spool::kInGraph, 1000);
  };
  const spool::Id graph = program_.spool().kind("graph of 3 kernels", line(3), spool::kGraph),
                  weights = in_graph(kCast, 7), activations = in_graph(kCast, 8), product = in_graph(kGemm, 9);
  steps(10, [&](int) {
    program_.graph(
        graph, {{weights, 120 * kMicros, spool::kSameInput}, {activations, 120 * kMicros}, {product, 200 * kMicros}});
  });
  const std::vector<Saving> found = causes();
  const auto of = std::ranges::find(found, SavingCause::repeated_cast, &Saving::cause);
  ASSERT_NE(of, found.end());
  EXPECT_EQ(of->line, "train.py:7 step");
  EXPECT_NEAR(of->seconds, 10 * 120e-6, 1e-6);
  EXPECT_EQ(std::ranges::count(found, SavingCause::repeated_cast, &Saving::cause), 1);
}

/// A graph is counted as a whole. What its own kernels wait for comes before what the graph could save, and within it.
TEST_F(Causes, AGraphIsNamedByItsKernelsAndTheirWaitsComeFirst) {
  const spool::Id graph = program_.spool().kind("graph of 2 kernels", line(3), spool::kGraph),
                  own = program_.spool().kind("attend", line(7), spool::kInGraph, 1000),
                  library = program_.spool().kind(kGemm, line(9), spool::kInGraph, 1000);
  steps(10, [&](int) { program_.graph(graph, {{own, 400 * kMicros}, {library, 100 * kMicros}}); });
  program_.spool().end(program_.now() + kMillis);
  const std::vector<ProcessTrace> traces = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
  const Recording recording(traces);
  std::vector<Point> points;
  for (const LaunchGroup& group : recording.groups) points.push_back(row_of(group, recording, {}, ""));
  make_labels_unique(points);
  name_graph_kernels(recording, points);
  const auto row_of_kernel = [&](std::string_view name) {
    return static_cast<std::size_t>(
        std::ranges::find(points, name, [](const Point& point) -> std::string_view { return point.workload.op; }) -
        points.begin());
  };
  const std::size_t whole = row_of_kernel("graph of 2 kernels"), kernel = row_of_kernel("attend");
  ASSERT_LT(std::max(whole, kernel), points.size());
  const std::vector<GraphKernel>& named = points[whole].profiled->graph_kernels;
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].name, "attend, train.py:7 step");
  EXPECT_NEAR(named[0].share, 0.8, 1e-9);
  EXPECT_TRUE(points[kernel].profiled->graph_kernels.empty());

  points[kernel].profiled->sampled.emplace() = {.samples = 5000,
                                                .waits = {{.what = WaitFor::division,
                                                           .share = 0.9,
                                                           .line = "attend.py:7",
                                                           .used_line = "attend.py:8",
                                                           .line_share = 0.9}}};
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  Profile profile;
  profile.wall_s = 0.02;
  WallTime& wall = profile.devices.emplace_back();
  wall.wall_s = 0.02;
  wall.kernels_s = wall.kernel_s = 5e-3;
  // Of 5 ms, `least` at the roof: a graph that is close to it has nothing to wait for.
  const auto savings_with = [&](double least) {
    points[whole].bound.attainable_time_s = least / 10;
    const IdleParts idle = [](const std::vector<Span>&) { return std::vector<IdlePart>(); };
    return savings_of(recording, {}, points, row_times(recording), machine, profile, idle);
  };
  const auto saving_of = [](const std::vector<Saving>& savings, std::size_t row) {
    const auto found = std::ranges::find(savings, static_cast<int>(row), &Saving::point);
    return found == savings.end() ? 0.0 : found->seconds;
  };
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(saving_of(savings_with(unknown), kernel), 0.9 * 4e-3, 1e-6);
  const std::vector<Saving> half = savings_with(2.5e-3);
  EXPECT_NEAR(saving_of(half, kernel), 2.5e-3, 1e-6);
  EXPECT_EQ(saving_of(half, whole), 0);
  const std::vector<Saving> slow = savings_with(0.5e-3);
  EXPECT_NEAR(saving_of(slow, kernel), 3.6e-3, 1e-6);
  EXPECT_NEAR(saving_of(slow, whole), 0.9e-3, 1e-6);
  EXPECT_NEAR(saving_of(savings_with(4.9e-3), kernel), 0.1e-3, 1e-6);
}

/// Of two calls, the one with more samples; frames of the recomputation have no caller in the program.
TEST(CheckpointCalls, AreTheLinesOutsideOfPyTorchsFile) {
  using Builder = HostSamplesBuilder;
  Builder builder;
  const int thread = builder.thread(1, 1, "python");
  const HostFrame checkpoint = Builder::library("torch/utils/checkpoint.py", "checkpoint"),
                  forward = Builder::own("model.py", 40, "forward");
  const int often = builder.stack(
                {forward, checkpoint, Builder::own("model.py", 56, "encode"), Builder::own("train.py", 9, "main")}),
            seldom = builder.stack({forward, checkpoint, Builder::own("model.py", 70, "head")}),
            again = builder.stack({forward, checkpoint}), without = builder.stack({forward});
  std::uint64_t time = 0;
  for (const int stack : {often, often, seldom, again, again, again, without, without, without, without})
    builder.sample(thread, time += 10'000'000, ThreadState::running, stack);
  std::vector<Saving> savings(2);
  savings[1].cause = SavingCause::checkpointing;
  savings[1].line = "model.py:40 forward";
  name_checkpoint_calls(savings, builder.take());
  EXPECT_EQ(savings[1].line, "model.py:56 encode");
  EXPECT_EQ(savings[0].line, "");
  savings[1].line = "model.py:40 forward";
  name_checkpoint_calls(savings, HostSamples());
  EXPECT_EQ(savings[1].line, "model.py:40 forward");
}

TEST_F(Causes, AttentionInSeparateKernels) {
  const spool::Id product = kernel(kGemm, line(30)), scale = kernel(kMul, line(31)),
                  softmax = kernel(kSoftmax, line(32));
  steps(10, [&](int) {
    program_.launch(product, 100 * kMicros);
    program_.launch(scale, 40 * kMicros);
    program_.launch(softmax, 80 * kMicros);
    program_.fill(64, kMicros);  // which the library needs for its next product
    program_.launch(product, 100 * kMicros);
    program_.launch(scale, 30 * kMicros);  // after the second product: not in the chain
  });
  const std::vector<Saving> found = causes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, SavingCause::unfused_attention);
  EXPECT_EQ(found[0].line, "train.py:32 step");
  EXPECT_NEAR(found[0].seconds, 10 * 120e-6, 1e-6);
}

TEST(Attention, AMaskIsTheFourthArgumentOrNamed) {
  for (const char* call :
       {"y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])",
        "y = F.scaled_dot_product_attention(f(q, 1), k, v, mask, 0.0)",
        "scaled_dot_product_attention( q, k[a, b], v,  attn_mask=self.mask.to(q.dtype), scale=s )"}) {
    EXPECT_TRUE(gives_mask(call)) << call;
  }
  for (const char* call :
       {"y = F.scaled_dot_product_attention(q, k, v, is_causal=True)", "y = attend(q, k, v, attn_mask=mask)",
        "y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=True)",
        "y = F.scaled_dot_product_attention(q, k, v).masked_fill(mask, 0)",
        "y = F.scaled_dot_product_attention(q, k, v, None, 0.1)", "y = F.scaled_dot_product_attention(q, k, v", ""}) {
    EXPECT_FALSE(gives_mask(call)) << call;
  }
}

TEST(Attention, AMaskIsNoTensorInKernelsWithoutOne) {
  constexpr const char *kFlash = "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traits",
                       *kCutlass = "fmha_cutlassF_bf16_aligned_64x128_rf_sm80",
                       *kCudnn = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128";
  constexpr const char *kTensor = "F.scaled_dot_product_attention(q, k, v, attn_mask=mask)",
                       *kLower = "F.scaled_dot_product_attention(q, k, v, attn_mask=causal_lower_right(m, n))",
                       *kUpper = "F.scaled_dot_product_attention(q, k, v, causal_upper_left(m, n))";
  EXPECT_TRUE(may_have_mask(kCutlass, kTensor));
  EXPECT_TRUE(may_have_mask(kCudnn, kTensor));
  EXPECT_TRUE(may_have_mask(kCudnn, kLower)) << "PyTorch makes a tensor of it";
  EXPECT_FALSE(may_have_mask(kCutlass, kLower));
  EXPECT_FALSE(may_have_mask(kCudnn, kUpper));
  for (const char* call : {kTensor, kLower, kUpper}) EXPECT_FALSE(may_have_mask(kFlash, call)) << call;
}

TEST_F(Causes, FusedAttentionWithAMask) {
  constexpr const char* kFused = "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128";
  struct Case {
    std::string text;
    std::uint64_t length = 2 * kMillis;
    bool found = false;
    const char* symbol = kFused;
  };
  for (const Case& one :
       {Case{.text = "y = F.scaled_dot_product_attention(\n  q, k, v,\n  attn_mask=m,\n)", .found = true},
        Case{.text = "y = F.scaled_dot_product_attention(q, k, v, is_causal=True)"},
        Case{.text = "y = F.scaled_dot_product_attention(q, k, v, m)", .length = 200 * kMicros},
        Case{.text = "y = F.scaled_dot_product_attention(q, k, v, attn_mask=causal_lower_right(t, s + t))",
        .symbol = "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traits"}}) {
    program_ = SimulatedProgram();
    const spool::Id product = kernel(kGemm, line(30)), fused = kernel(one.symbol, line(18));
    steps(10, [&](int) {
      program_.launch(product, 2 * kMillis);
      program_.launch(fused, one.length);
    });
    SourceTexts sources([&](const std::string&) { return std::string(17, '\n') + "    " + one.text + "\n"; });
    const std::vector<Saving> found = causes({}, {}, &sources);
    const auto of = std::ranges::find(found, SavingCause::masked_attention, &Saving::cause);
    ASSERT_EQ(of != found.end(), one.found) << one.text;
    if (of == found.end()) continue;
    EXPECT_EQ(of->line, "train.py:18 step");
    EXPECT_NEAR(of->seconds, 10 * 1e-3, 1e-6) << "half of its time";
  }
}

TEST_F(Causes, FusedAttentionAndALossAreNoUnfusedAttention) {
  const spool::Id product = kernel(kGemm, line(30)), softmax = kernel(kLogSoftmax, line(32)),
                  fused = kernel("_ZN5flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi64EN7cutlass10bfloat16_tE",
                                 line(33)),
                  loss = kernel("nll_loss_forward_reduce_cuda_kernel_2d", line(34));
  steps(10, [&](int) {
    program_.launch(product, 100 * kMicros);
    program_.launch(fused, 100 * kMicros);
    program_.launch(product, 100 * kMicros);
    program_.launch(softmax, 80 * kMicros);
    program_.launch(loss, 10 * kMicros);
    program_.launch(product, 100 * kMicros);
  });
  EXPECT_TRUE(causes().empty());
}

class OptimizerCauses : public Causes {
 protected:
  void train(const std::function<void()>& update) {
    const spool::Id forward = kernel(kGemm, line(40)), backward = kernel(kGemm, line(40, true));
    steps(10, [&](int) {
      program_.launch(forward, 50 * kMicros);
      program_.launch(backward, 100 * kMicros);
      update();
    });
  }
};

TEST_F(OptimizerCauses, AKernelForEachParameterAndOperation) {
  const spool::Id where = line(42);
  const std::vector<spool::Id> kernels = {kernel(kMul, where), kernel(kAdd, where), kernel(kAddcdiv, where)};
  train([&] {
    for (int parameter = 0; parameter < 30; ++parameter) {
      for (const spool::Id id : kernels) program_.launch(id, 3 * kMicros);
    }
  });
  const std::vector<Saving> found = causes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, SavingCause::unfused_optimizer);
  EXPECT_EQ(found[0].line, "train.py:42 step");
  EXPECT_LE(found[0].seconds, 10 * 90 * 3e-6 + 1e-9);
  EXPECT_GT(found[0].seconds, 10 * 60 * 3e-6 - 1e-9);
}

TEST_F(OptimizerCauses, AFewLargeKernelsAreFused) {
  const spool::Id update = kernel("_ZN2at6native25multi_tensor_apply_kernelI_FusedAdamMathFunctor", line(42));
  train([&] {
    for (int i = 0; i < 12; ++i) program_.launch(update, 30 * kMicros);
  });
  EXPECT_TRUE(causes().empty());
}

/// Adam as PyTorch's foreach does it, and in one kernel.
TEST_F(OptimizerCauses, AKernelForEachOperationOnAllParameters) {
  for (const int operations : {7, 1}) {
    program_ = SimulatedProgram();
    std::vector<spool::Id> kernels;
    for (int i = 0; i < operations; ++i) {
      kernels.push_back(kernel("_ZN2at6native25multi_tensor_apply_kernelI_Op" + std::to_string(i), line(42)));
    }
    train([&] {
      for (const spool::Id id : kernels) program_.launch(id, 300 * kMicros);
    });
    const std::vector<Saving> found = causes();
    ASSERT_EQ(found.size(), operations == 7 ? 1U : 0U);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::unfused_optimizer);
    EXPECT_EQ(found[0].line, "train.py:42 step");
    EXPECT_NEAR(found[0].seconds, 10 * 7 * 300e-6 * (1 - 7 / 17.5), 1e-6);
  }
}

TEST_F(OptimizerCauses, RowsOfAnEmbeddingThatNoBatchUses) {
  for (const bool embedding : {true, false}) {
    program_ = SimulatedProgram();
    const spool::Id gradient = kernel(embedding ? "_ZN2at6native15sum_and_scatterIflEE" : "nvjet_NNT", line(20, true));
    const spool::Id update = kernel("_ZN2at6native25multi_tensor_apply_kernelI_FusedAdamMathFunctor", line(42));
    train([&] {
      program_.launch(gradient, 50 * kMicros);
      program_.launch(update, 9 * kMillis);
    });
    const std::vector<Saving> found = causes();
    ASSERT_EQ(found.size(), embedding ? 1U : 0U);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::unfused_optimizer);
  }
}

/// By bytes, where the update is a smaller part of a step: rows of a large table of which a batch uses few, or many;
/// and a small table beside other parameters.
TEST_F(OptimizerCauses, ZerosOfAnEmbeddingsGradient) {
  struct Case {
    double filled, used, updated;  // bytes per step
    double of_table;
  };
  for (const Case& one : {Case{3e9, 0.1e9, 21e9, 1}, Case{3e9, 1.5e9, 21e9, 0}, Case{0.03e9, 1e6, 21e9, 0.01}}) {
    program_ = SimulatedProgram();
    const spool::Id fill = kernel("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEE",
                                  line(20, true)),
                    gradient = kernel("_ZN2at6native15sum_and_scatterIflEE", line(20, true)),
                    update = kernel("_ZN2at6native25multi_tensor_apply_kernelI_FusedAdamMathFunctor", line(42));
    train([&] {
      program_.launch(fill, static_cast<std::uint64_t>(one.filled / 3e9 * 1e6));
      program_.launch(gradient, kMillis);
      program_.launch(update, 6 * kMillis);
    });
    const std::vector<Saving> found = causes({}, [&](Point& point) {
      const std::string& name = point.profiled->full_name;
      const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
      if (has("FillFunctor")) point.work.bytes[Level::hbm] = {.write = one.filled};
      if (has("sum_and_scatter")) point.work.bytes[Level::hbm] = {.read = one.used, .write = one.used};
      if (has("FusedAdam")) point.work.bytes[Level::hbm] = {.read = one.updated * 4 / 7, .write = one.updated * 3 / 7};
    });
    const double saved = one.of_table * 6e-3 + 1e-3;
    ASSERT_EQ(found.size(), one.of_table == 1 ? 1U : 0U) << one.filled << ' ' << one.used;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::unfused_optimizer);
    EXPECT_EQ(found[0].line, "train.py:20 step");
    EXPECT_NEAR(found[0].seconds, 10 * saved * (1 - one.used / one.filled), 1e-4);
  }
}

TEST_F(Causes, SmallKernelsInALoopWithoutBackwardAreNoOptimizer) {
  const spool::Id sine = kernel(kMul, line(5));
  steps(10, [&](int) {
    for (int i = 0; i < 100; ++i) program_.launch(sine, 3 * kMicros);
  });
  EXPECT_TRUE(causes().empty());
}

class CheckpointCauses : public Causes {
 protected:
  /// A training step of blocks, whose forward pass runs again where they are checkpointed.
  void train(bool checkpointed, int passes = 1) {
    const auto forward = [&](int block, bool again) {
      const std::string module = "blocks." + std::to_string(block);
      program_.launch(kernel("nvjet_TNT", line(50, again, module)), 100 * kMicros);
      program_.launch(kernel("vectorized_elementwise_kernel_gelu", line(50, again, module)), 20 * kMicros);
      program_.launch(kernel("nvjet_TNN", line(51, again, module)), 100 * kMicros);
      program_.launch(kernel("layer_norm_kernel", line(52, again, module)), 20 * kMicros);
    };
    const auto backward = [&](int block) {
      const std::string module = "blocks." + std::to_string(block);
      program_.launch(kernel("layer_norm_backward", line(52, true, module)), 30 * kMicros);
      program_.launch(kernel("nvjet_NNT", line(51, true, module)), 100 * kMicros);
      program_.launch(kernel("nvjet_NTN", line(51, true, module)), 100 * kMicros);
      program_.launch(kernel("vectorized_elementwise_kernel_gelu_backward", line(50, true, module)), 20 * kMicros);
      program_.launch(kernel("nvjet_NNT", line(50, true, module)), 100 * kMicros);
    };
    steps(8, [&](int) {
      for (int pass = 0; pass < passes; ++pass) {
        for (int block = 0; block < 3; ++block) forward(block, false);
        for (int block = 2; block >= 0; --block) {
          if (checkpointed) forward(block, true);
          backward(block);
        }
      }
    });
  }
};

TEST_F(CheckpointCauses, TheForwardPassThatRunsAgain) {
  train(true);
  const std::vector<Saving> found = causes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, SavingCause::checkpointing);
  EXPECT_NEAR(found[0].seconds, 8 * 3 * 240e-6, 1e-6);
}

TEST_F(CheckpointCauses, OrdinaryTrainingAndAccumulatedGradientsAreNotCheckpointed) {
  train(false, 3);
  EXPECT_TRUE(causes().empty());
}

TEST_F(Causes, ProductsInFp32OnThePlainPipe) {
  for (const bool plain : {true, false}) {
    program_ = SimulatedProgram();
    const spool::Id product =
        kernel(plain ? "ampere_sgemm_128x64_nn" : "cutlass_80_tensorop_s1688gemm_256x128_16x3_nn_align4", line(60));
    steps(10, [&](int) { program_.launch(product, kMillis); });
    Machine machine;
    for (const auto& [name, value] : {std::pair("fp32", 60e12), std::pair("tensor.tf32", 400e12)}) {
      Ceiling ceiling;
      ceiling.name = name;
      ceiling.value = value;
      machine.ceilings.push_back(ceiling);
    }
    const std::vector<Saving> found = causes(machine);
    EXPECT_EQ(found.size(), plain ? 1U : 0U);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::no_tf32);
    EXPECT_EQ(found[0].line, "train.py:60 step");
    EXPECT_NEAR(found[0].seconds, 10e-3 * (1 - 60.0 / 400), 1e-5);
  }
}

TEST_F(Causes, ProductsInDoublePrecision) {
  struct Case {
    bool doubles, torch;
  };
  for (const auto& [doubles, torch] : {Case{true, true}, Case{false, true}, Case{true, false}}) {
    program_ = SimulatedProgram();
    const spool::Id other = kernel(torch ? "_ZN2at6native13reduce_kernelEv" : "solve", line(63));
    const spool::Id product = kernel(doubles ? "_ZN7cutlass7Kernel2I41cutlass_80_tensorop_d884gemm_64x32_16x4_tnEE"
                                             : "cutlass_80_tensorop_s1688gemm_256x128_16x3_nn_align4",
                                     line(62));
    steps(10, [&](int) {
      program_.launch(product, kMillis);
      program_.launch(other, 20 * kMicros);
    });
    Machine machine;
    for (const auto& [name, value] : {std::pair("tensor.fp64", 60e12), std::pair("tensor.tf32", 400e12)}) {
      Ceiling ceiling;
      ceiling.name = name;
      ceiling.value = value;
      machine.ceilings.push_back(ceiling);
    }
    const std::vector<Saving> found = causes(machine);
    EXPECT_EQ(found.size(), doubles && torch ? 1U : 0U) << "elsewhere double precision is meant";
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::double_precision);
    EXPECT_EQ(found[0].line, "train.py:62 step");
    EXPECT_NEAR(found[0].seconds, 10e-3 * (1 - 60.0 / 400), 1e-5);
  }
}

/// CuPy computes with a float64 window in double precision; a Python number makes nothing double, and arrays that are
/// all double are meant to be.
TEST_F(Causes, ArraysThatAnotherMakesDouble) {
  struct Case {
    const char* first;
    bool promotes;
  };
  for (const auto& [first, promotes] :
       {Case{"cupy_multiply__float32_float64_float64", true}, Case{"cupy_multiply__float32_float_float32", false},
        Case{"cupy_multiply__float64_float64_float64", false}, Case{"cupy_add__complex64_float64_complex128", true},
        Case{"cupy_multiply__int16_float64_float64", true}, Case{"cupy_multiply__int32_float64_float64", false}}) {
    program_ = SimulatedProgram();
    const spool::Id multiply = kernel(first, line(33)), square = kernel("cupy_square__float64_float64", line(34));
    const spool::Id single = kernel("cupy_exp__float32_float32", line(35));
    steps(10, [&](int) {
      program_.launch(multiply, kMillis);
      program_.launch(square, kMillis);
      program_.launch(single, kMillis);
    });
    const std::vector<Saving> found = causes();
    const auto of = std::ranges::find(found, SavingCause::double_precision, &Saving::cause);
    EXPECT_EQ(of != found.end(), promotes) << first;
    if (of == found.end()) continue;
    EXPECT_EQ(of->line, "train.py:33 step");
    EXPECT_NEAR(of->seconds, 10e-3, 1e-5) << "half of what is double";
  }
}

/// A value that is carried from step to step becomes double at the line that multiplies it; or at another line.
TEST_F(Causes, AnArrayThatTheFirstStepMakesDouble) {
  for (const std::uint32_t promoting : {33U, 50U}) {
    program_ = SimulatedProgram();
    const spool::Id at = line(33), before = promoting == 33 ? at : line(promoting);
    program_.launch(kernel("cupy_multiply__complex64_complex128_complex128", before), kMillis);
    const spool::Id multiply = kernel("cupy_multiply__complex128_complex128_complex128", at);
    const spool::Id square = kernel("cupy_square__complex128_complex128", line(34));
    steps(10, [&](int) {
      program_.launch(multiply, kMillis);
      program_.launch(square, kMillis);
    });
    const std::vector<Saving> found = causes();
    const auto of = std::ranges::find(found, SavingCause::double_precision, &Saving::cause);
    EXPECT_EQ(of != found.end(), promoting == 33) << promoting;
    if (of == found.end()) continue;
    EXPECT_EQ(of->line, "train.py:33 step");
    EXPECT_NEAR(of->seconds, 10e-3, 1e-5) << "half of what is double";
  }
}

/// PyTorch's kernels name the type of the arithmetic, and that they convert operands.
TEST_F(Causes, TensorsThatAnotherMakesDouble) {
  constexpr const char* kSubtract =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >()";
  constexpr const char* kSubtractDouble =
      "void at::native::vectorized_elementwise_kernel<2, at::native::CUDAFunctor_add<double> >()";
  constexpr const char* kConvert =
      "void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<double>, at::native::memory::"
      "LoadWithCast<2>, at::native::memory::StoreWithCast<1> >()";
  constexpr const char* kPlain =
      "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::CUDAFunctor_add<"
      "double> >(at::TensorIteratorBase&)::{lambda(int)#1}>()";
  struct Case {
    const char *before, *first;
    bool promotes;
  };
  for (const auto& [before, first, promotes] :
       {Case{kSubtract, kConvert, true}, Case{kSubtractDouble, kConvert, false}, Case{kSubtract, kPlain, false}}) {
    program_ = SimulatedProgram();
    const spool::Id earlier = kernel(before, line(32)), convert = kernel(first, line(33));
    const spool::Id square = kernel(
        "void at::native::vectorized_elementwise_kernel<2, at::native::exp_kernel_cuda(at::TensorIteratorBase&)::"
        "{lambda(double)#1}>()",
        line(34));
    const spool::Id random = kernel(
        "void at::native::distribution_kernel<float, at::native::normal_kernel(at::TensorBase const&, double, "
        "double)::{lambda(float)#1}>()",
        line(35));
    steps(10, [&](int) {
      program_.launch(earlier, 10 * kMicros);
      program_.launch(convert, kMillis);
      program_.launch(square, kMillis);
      program_.launch(random, kMillis);
    });
    const std::vector<Saving> found = causes();
    const auto of = std::ranges::find(found, SavingCause::double_precision, &Saving::cause);
    EXPECT_EQ(of != found.end(), promotes) << before << ' ' << first;
    if (of == found.end()) continue;
    EXPECT_EQ(of->line, "train.py:33 step");
    EXPECT_NEAR(of->seconds, 10e-3, 1e-5) << "half of what is double";
  }
}

TEST_F(Causes, TheDefaultStreamSeparatesOthers) {
  for (const std::uint32_t stream_of_update : {7U, 20U}) {
    program_ = SimulatedProgram();
    const spool::Id track = kernel("track", line(50), 40), update = kernel("update", line(51), 1);
    steps(10, [&](int) {
      for (const std::uint32_t camera : {20U, 21U}) {
        program_.launch(track, kMillis, camera);
        program_.launch(track, kMillis, camera);
        program_.launch(update, 10 * kMicros, stream_of_update);
      }
    });
    const std::vector<Saving> found = causes();
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].cause, SavingCause::small_batch) << "their grids are small in both";
    EXPECT_EQ(found[0].line == "train.py:51 step", stream_of_update == 7);
    if (stream_of_update == 7) {
      EXPECT_NEAR(found[0].seconds, 20e-3, 1e-3);
    }
  }
  // PyTorch's streams do not wait for the default one: what is between them there is ordered by events.
  program_ = SimulatedProgram();
  const spool::Id torch = kernel(kMul, line(50), 40), update = kernel(kAdd, line(51), 1);
  steps(10, [&](int) {
    for (const std::uint32_t stream : {20U, 21U}) {
      program_.launch(torch, kMillis, stream);
      program_.launch(update, 10 * kMicros, 7);
    }
  });
  for (const Saving& saving : causes()) EXPECT_NE(saving.line, "train.py:51 step");
}

/// Kernels that a library chose for how it was called: the fault, and the same work without it.
TEST_F(Causes, KernelsThatALibraryChoseForItsArguments) {
  constexpr const char* kReduce = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_";
  constexpr const char* kSort = "_ZN14at_cuda_detail3cub6detail10radix_sort26DeviceRadixSortOnesweepKernelI";
  struct Case {
    const char* faulty;
    const char* healthy;
    SavingCause cause;
  };
  for (const Case& one :
       {Case{"_ZN7cutlass7Kernel2I50cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align1EEvNT_6ParamsE",
             "_ZN7cutlass7Kernel2I50cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_tn_align8EEvNT_6ParamsE",
             SavingCause::unaligned_product},
        Case{"_ZN55_GLOBAL__N__d2e1e5f3_11_Indexing_cu_indexing_backward_kernelIfLi4EEEvPKlS2_PKT_PS3_llllb",
             "_ZN2at6native23indexFuncLargeIndexI", SavingCause::indexed_sum},
        Case{"_Z19multi_bluestein_fftILj27E3EPTILj9EELj128EEv22kernel_arguments_blu_tIT8_E",
             "_Z10vector_fftILj1024E3EPTILj8EEEv18kernel_arguments_tIT6_E", SavingCause::fft_length}}) {
    for (const char* const symbol : {one.faulty, one.healthy}) {
      program_ = SimulatedProgram();
      const spool::Id chosen = kernel(symbol, line(70)), other = kernel(kReduce, line(71));
      steps(10, [&](int) {
        program_.launch(chosen, kMillis);
        program_.launch(other, kMillis);
      });
      const std::vector<Saving> found = causes();
      ASSERT_EQ(found.size(), symbol == one.faulty ? 1U : 0U) << symbol;
      if (found.empty()) continue;
      EXPECT_EQ(found[0].cause, one.cause);
      EXPECT_EQ(found[0].line, "train.py:70 step");
      EXPECT_GT(found[0].seconds, 10 * 0.4e-3);
      EXPECT_LT(found[0].seconds, 10 * 1e-3);
    }
  }
  // What follows a sort tells how much of it is used.
  for (const std::uint32_t blocks_after : {4U, 90'000U}) {
    program_ = SimulatedProgram();
    const spool::Id sort = kernel(kSort, line(72), 100'000), next = kernel(kReduce, line(73), blocks_after);
    steps(10, [&](int) {
      program_.launch(sort, kMillis);
      program_.launch(sort, kMillis);
      program_.launch(next, 100 * kMicros);
    });
    const std::vector<Saving> found = causes();
    ASSERT_EQ(found.size(), blocks_after == 4 ? 1U : 0U) << blocks_after;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::full_sort);
    EXPECT_EQ(found[0].line, "train.py:72 step");
  }
}

/// Logits of all positions, of which the next line takes the last one.
TEST_F(Causes, ProductsOfWhichTheLastPositionIsUsed) {
  struct Case {
    const char* text;
    double used;  // bytes
    bool fault;
  };
  constexpr const char* kSum = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_";
  constexpr double kResult = 4e9;
  for (const bool softmax : {false, true})
    for (const Case& one : {Case{"last = logits[:, -1].float()", 4e6, true},
                            {"last = logits[:, -1, :]", 4e6, true},
                            {"loss = cross_entropy(logits[:, -1:], y)", 3.9e9, false},
                            {"top = logits.topk(8)", 4e6, false},
                            {"", 4e6, false}}) {
      program_ = SimulatedProgram();
      const spool::Id body = kernel(kGemm, line(30)), head = kernel(kGemm, line(40)), take = kernel(kSum, line(52)),
                      all = kernel("cunn_SoftMaxForward", line(41));
      steps(20, [&](int) {
        program_.launch(body, kMillis);
        program_.launch(head, 2 * kMillis);
        if (softmax) program_.launch(all, kMillis);
        program_.launch(take, 10 * kMicros);
      });
      // A slice has no kernel: the line before the launch has the text.
      SourceTexts sources(
          [&](const std::string&) { return std::string(50, '\n') + "    " + one.text + "\n    x = f(last)\n"; });
      const std::vector<Saving> found = causes(
          {},
          [&](Point& point) {
            const bool takes = point.profiled->full_name.find("reduce") != std::string::npos;
            point.work.bytes[Level::hbm] = {.read = takes ? one.used : 1e6, .write = takes ? 1e3 : kResult};
          },
          &sources);
      ASSERT_EQ(found.size(), one.fault ? 1U : 0U) << one.text;
      if (found.empty()) continue;
      EXPECT_EQ(found[0].cause, SavingCause::unused_results);
      EXPECT_EQ(found[0].line, "train.py:40 step");
      EXPECT_NEAR(found[0].seconds, 20 * (softmax ? 3e-3 : 2e-3) * (1 - 4e6 / kResult), 1e-4);
    }
}

/// Results whose memory is freed before what follows can have read them, however the program's text looks.
TEST_F(Causes, ProductsWhoseResultsAreFreedUnread) {
  enum class After : std::uint8_t { few, whole, nothing, next_step, conversion };
  Ceiling l2;
  l2.name = "l2.read";
  l2.value = 5e12;
  Machine machine;
  machine.ceilings.push_back(l2);
  for (const After after : {After::few, After::whole, After::nothing, After::next_step, After::conversion}) {
    program_ = SimulatedProgram();
    const spool::Id at = line(40), at_convert = line(42);
    const spool::Id body = kernel(kGemm, line(30)), head = kernel(kGemm, at), take = kernel("gather", line(41), 1),
                    convert = kernel("direct_copy_kernel_cuda", at_convert), sum = kernel("reduce_kernel", line(43));
    spool::Allocation block = {};
    block.pool = spool::MemoryPool::torch;
    const auto change = [&](spool::MemoryEvent event, std::uint64_t address, std::uint64_t bytes, spool::Id place) {
      block.time = program_.now();
      block.address = address;
      block.bytes = bytes;
      block.place = place;
      block.event = event;
      program_.spool().add(spool::Type::allocation, block);
    };
    constexpr std::uint64_t kResult = 4'000'000'000;
    steps(20, [&](int step) {
      const std::uint64_t address = after == After::next_step ? 1 + step % 2 : 1;
      program_.launch(body, kMillis);
      change(spool::MemoryEvent::allocated, address, kResult, at);
      program_.launch(head, 2 * kMillis);
      if (after == After::conversion) {
        change(spool::MemoryEvent::allocated, 3, 2 * kResult, at_convert);
        program_.launch(convert, kMillis);
      }
      if (after == After::next_step && step > 0) change(spool::MemoryEvent::freed, 3 - address, kResult, at);
      if (after == After::nothing) change(spool::MemoryEvent::freed, address, kResult, at);
      program_.launch(after == After::whole ? sum : take, after == After::whole ? kMillis : 3 * kMicros);
      if (after == After::conversion) change(spool::MemoryEvent::freed, 3, 2 * kResult, at);
      if (after != After::next_step && after != After::nothing) change(spool::MemoryEvent::freed, address, kResult, at);
    });
    const std::vector<Saving> found = causes(machine);
    const bool fault = after == After::few || after == After::conversion;
    ASSERT_EQ(found.size(), fault ? 1U : 0U) << static_cast<int>(after);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::unused_results);
    EXPECT_EQ(found[0].line, "train.py:40 step");
    EXPECT_NEAR(found[0].seconds, 20 * (after == After::few ? 2e-3 : 3e-3), 1e-3);
  }
}

/// Where bytes are known, they decide: the kernel after the sort has many threads in both cases.
TEST_F(Causes, SortsOfWhichASliceIsUsed) {
  constexpr const char* kSort =
      "_ZN2at6native18radixSortKVInPlaceILi2ELin1ELi128ELi32EfljEEvNS_4cuda6detail10TensorInfo";
  constexpr const char* kCopy =
      "_ZN2at6native18elementwise_kernelILi128ELi2EZNS0_22gpu_kernel_impl_nocastIZNS0_23direct_copy_kernel_cudaERN";
  constexpr double kSorted = 1600e6;
  for (const double used : {5e6, 270e6}) {  // a slice, or all indices
    program_ = SimulatedProgram();
    const spool::Id sort = kernel(kSort, line(14), 16384), copy = kernel(kCopy, line(20), 1024);
    steps(10, [&](int) {
      program_.launch(sort, kMillis);
      program_.launch(copy, 10 * kMicros);
    });
    const std::vector<Saving> found = causes({}, [&](Point& point) {
      const bool sorts = point.profiled->full_name.find("radixSort") != std::string::npos;
      point.work.bytes[Level::l2] = {.read = (sorts ? kSorted : used) / 2, .write = (sorts ? kSorted : used) / 2};
    });
    ASSERT_EQ(found.size(), used < 10e6 ? 1U : 0U) << used;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::full_sort);
    EXPECT_EQ(found[0].line, "train.py:14 step");
  }
}

/// A permutation of all indices, of which the next kernel reads a few rows, or all.
TEST_F(Causes, PermutationsOfWhichFewIndicesAreUsed) {
  for (const double used : {5e6, 800e6}) {
    program_ = SimulatedProgram();
    const spool::Id keys = kernel("distribution_elementwise_grid_stride_kernel_random_from_to_kernel", line(47), 2000),
                    sort = kernel("_ZN3cub23DeviceRadixSortOnesweepKernelINS_6PolicyEL", line(47), 7000),
                    shuffle = kernel("_ZN2at6native37randperm_handle_duplicate_keys_kernelIl", line(47), 7000),
                    rows = kernel("_ZN2at6native24vectorized_gather_kernelILi16ElEE", line(48), 8000);
    steps(10, [&](int) {
      program_.launch(keys, kMillis);
      for (int pass = 0; pass < 3; ++pass) program_.launch(sort, kMillis);
      program_.launch(shuffle, kMillis);
      program_.launch(rows, kMillis);
    });
    const std::vector<Saving> found = causes({}, [&](Point& point) {
      const bool reads = point.profiled->full_name.find("gather") != std::string::npos;
      point.work.bytes[Level::l2] = {.read = reads ? used : 500e6, .write = reads ? used : 500e6};
    });
    ASSERT_EQ(found.size(), used < 10e6 ? 1U : 0U) << used;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::full_sort);
    EXPECT_EQ(found[0].line, "train.py:47 step");
    EXPECT_NEAR(found[0].seconds, 10 * 5e-3, 1e-6);
    EXPECT_THAT(found[0].action, testing::HasSubstr("randint"));
  }
}

/// The edges of a graph, sorted in each of its layers; a sort of each step's own results; one of other sizes.
TEST_F(Causes, SortsOfTheSameSizeSeveralTimesPerStep) {
  constexpr const char* kSort = "_ZN3cub23DeviceRadixSortOnesweepKernelINS_6PolicyEL";
  constexpr const char* kReduce = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfEEEEvT1_";
  for (const auto& [layers, growing] : {std::pair(3, false), {1, false}, {3, true}}) {
    program_ = SimulatedProgram();
    const spool::Id layer = kernel(kReduce, line(50), 90'000);
    std::vector<spool::Id> sorts;
    for (std::uint32_t i = 0; i < 10; ++i) sorts.push_back(kernel(kSort, line(12), growing ? 2605 + i : 2605));
    steps(10, [&](int step) {
      for (int i = 0; i < layers; ++i) {
        program_.launch(sorts[static_cast<std::size_t>(step)], kMillis);
        program_.launch(layer, 2 * kMillis);
      }
    });
    const std::vector<Saving> found = causes();
    const bool fault = layers > 1 && !growing;
    ASSERT_EQ(found.size(), fault ? 1U : 0U) << layers << growing;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::full_sort);
    EXPECT_EQ(found[0].line, "train.py:12 step");
    EXPECT_NEAR(found[0].seconds, 10 * 3e-3, 1e-6);
    EXPECT_THAT(found[0].action, testing::HasSubstr("before the loop"));
  }
}

TEST_F(Causes, ALineThatGrowsATensor) {
  struct Case {
    const char* text;
    Growth growth;
  };
  for (const Case& one :
       {Case{"self.k = torch.cat([self.k, k], dim=2)", Growth::kept},
        Case{"cache[i] = jnp.concatenate((cache[i], new), axis=1)", Growth::kept},
        Case{"this->keys = torch::cat({this->keys, k}, 2);", Growth::kept},
        Case{"k = torch.cat([past[0], k], dim=2)", Growth::kept},
        Case{"v = torch.cat((past_value, v), dim=-2)", Growth::kept},
        Case{"keys = torch.cat([k_cache, new_k], dim=1)", Growth::kept},
        Case{"x = torch.cat([past, position], dim=1)", Growth::none},
        Case{"seen = np.append(seen, row)", Growth::local}, Case{"x = torch.cat([x, skip], dim=1)", Growth::local},
        Case{"x = torch.cat([skip, x], dim=1)", Growth::none}, Case{"self.k = torch.cat([self.keys, k])", Growth::none},
        Case{"y = torch.cat([x, y2])", Growth::none}, Case{"if x == torch.cat([x, y]):", Growth::none},
        Case{"x = torch.stack([x, y])", Growth::none}, Case{"x =", Growth::none}, Case{"", Growth::none}}) {
    EXPECT_EQ(growth_at(one.text), one.growth) << one.text;
  }
}

/// A cache of each layer; another concatenation; skip connections, which are few; in training; little time.
TEST_F(Causes, TensorsGrownByConcatenation) {
  struct Case {
    const char* text;
    int launches = 24;
    bool training = false, known = true, found = false;
    std::uint64_t length = 100 * kMicros;
  };
  constexpr const char* kCat = "_ZN2at6native44_GLOBAL__N__19CatArrayBatchedCopyINS1_10OpaqueTypeILj2EEEjLi4EEEvPT_";
  for (const Case& one :
       {Case{.text = "self.k = torch.cat([self.k, k], dim=2)", .found = true},
        Case{.text = "self.k = torch.cat([self.k, k], dim=2)", .launches = 2, .found = true, .length = kMillis},
        Case{.text = "ids = torch.cat([ids, new], dim=1)", .found = true},
        Case{.text = "x = torch.cat([x, skip], dim=1)", .launches = 4, .length = kMillis},
        Case{.text = "y = torch.cat([q, k], dim=1)"},
        Case{.text = "self.k = torch.cat([self.k, k], dim=2)", .training = true},
        Case{.text = "self.k = torch.cat([self.k, k], dim=2)", .known = false},
        Case{.text = "self.k = torch.cat([self.k, k], dim=2)", .length = kMicros}}) {
    program_ = SimulatedProgram();
    const spool::Id grows = kernel(kCat, line(18)), gradient = kernel(kAdd, line(18, true));
    steps(10, [&](int) {
      for (int i = 0; i < one.launches; ++i) program_.launch(grows, one.length);
      program_.launch(kernel(kGemm, line(40)), 2 * kMillis);
      if (one.training) program_.launch(gradient, kMicros);
    });
    SourceTexts sources([&](const std::string&) { return std::string(17, '\n') + "    " + one.text + "\n"; });
    const std::vector<Saving> found = causes({}, {}, one.known ? &sources : nullptr);
    const auto of = std::ranges::find(found, SavingCause::repeated_copy, &Saving::cause);
    ASSERT_EQ(of != found.end(), one.found) << one.text << ' ' << one.launches;
    if (of == found.end()) continue;
    EXPECT_EQ(of->line, "train.py:18 step");
    EXPECT_LE(of->seconds, 10 * one.launches * static_cast<double>(one.length) * 1e-9);
  }
}

/// A graph's matrix is sorted and summed in each step, or once; the sort alone is another cause.
TEST_F(Causes, SparseMatricesThatAreBuiltInEachStep) {
  constexpr const char* kCoalesces = "_ZN2at6native5apply20coalesceValuesKernelIffEEvPlS3_PT_S5_lll";
  for (const int every : {1, 10}) {
    program_ = SimulatedProgram();
    const spool::Id coalesces = kernel(kCoalesces, line(31)), sorts = kernel("DeviceMergeSortMergeKernel", line(31)),
                    product = kernel(kGemm, line(40));
    steps(20, [&](int step) {
      if (step % every == 0) {
        program_.launch(sorts, 300 * kMicros);
        program_.launch(coalesces, 400 * kMicros);
      }
      program_.launch(product, kMillis);
    });
    const std::vector<Saving> found = causes();
    const auto of = std::ranges::find(found, SavingCause::layout_copy, &Saving::cause);
    ASSERT_EQ(of != found.end(), every == 1);
    if (of == found.end()) continue;
    EXPECT_EQ(of->line, "train.py:31 step");
    EXPECT_NEAR(of->seconds, 20 * 700e-6, 1e-5);
    EXPECT_EQ(of->action, action_against(SavingCause::layout_copy, Framework::torch, CauseDetail::sparse_build));
  }
}

/// A part of the time of all kernels but the optimizer's, beside other causes in the rest.
TEST_F(Causes, BatchesThatArePadded) {
  struct Case {
    std::uint32_t padding;
    int every;  // so many steps
    double share;
  };
  for (const Case& one : {Case{800, 1, 0.8}, {800, 2, 0.4}, {800, 4, 0}, {150, 1, 0}, {0, 1, 0}}) {
    program_ = SimulatedProgram();
    const spool::Id product = kernel(kGemm, line(40)),
                    update = kernel("at::native::multi_tensor_apply_kernel<FusedAdam>", line(50)), input = line(20);
    std::uint64_t digest = 1;
    steps(20, [&](int step) {
      const std::uint32_t padding = step % one.every == 0 ? one.padding : 0;
      program_.copy_in(512 << 10, spool::Memory::pinned, 20 * kMicros, input, false, ++digest, padding);
      program_.launch(product, kMillis);
      program_.launch(update, kMillis);
    });
    const std::vector<Saving> found = causes();
    const auto of = std::ranges::find(found, SavingCause::padding, &Saving::cause);
    ASSERT_EQ(of != found.end(), one.share > 0) << one.padding << ' ' << one.every;
    if (of == found.end()) continue;
    EXPECT_EQ(of->line, "train.py:20 step");
    EXPECT_NEAR(of->seconds, one.share * 20 * 1.01e-3, 1e-5);
  }
}

/// XLA's loop launches a graph of a few kernels per iteration; the same in PyTorch, seldom, and long ones are none.
TEST_F(Causes, LoopsOfShortKernelsInCompiledCode) {
  struct Case {
    const char* range;
    int launches;
    std::uint64_t length;
    bool found;
  };
  for (const Case& one : {Case{"Thunk:#hlo_op=while.3#", 500, 5 * kMicros, true},
                          {"Thunk:#hlo_op=fusion.3#", 500, 5 * kMicros, false},
                          {"Thunk:#hlo_op=while.3#", 20, 5 * kMicros, false},
                          {"Thunk:#hlo_op=while.3#", 500, 50 * kMicros, false}}) {
    program_ = SimulatedProgram();
    const spool::Id module = program_.spool().range("XlaModule:#hlo_module=jit_step#", 0),
                    loop = program_.spool().range(one.range, module),
                    at = program_.spool().line("/home/user/project/train.py", 86, "main");
    const spool::Id body =
        program_.spool().kind("loop_add_fusion", program_.spool().place({.range = loop, .line = at}));
    const spool::Id product = program_.spool().kind(kGemm, program_.spool().place({.range = module, .line = at}));
    steps(10, [&](int) {
      for (int i = 0; i < one.launches; ++i) program_.launch(body, one.length);
      program_.launch(product, kMillis);
    });
    const std::vector<Saving> found = causes();
    const auto of =
        std::ranges::find_if(found, [](const Saving& saving) { return saving.what.find("loop") != std::string::npos; });
    ASSERT_EQ(of != found.end(), one.found) << one.range << ' ' << one.launches;
    if (of == found.end()) continue;
    EXPECT_EQ(of->line, "train.py:86 main");
    EXPECT_LE(of->seconds, 10 * 500 * 5e-6 + 1e-9);
    EXPECT_EQ(of->action, action_against(SavingCause::small_batch, Framework::jax, CauseDetail::kernel_loop));
  }
}

TEST_F(Causes, ProductsWithOneHotVectors) {
  constexpr const char* kZeros =
      "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_11FillFunctorIlEESt5arrayIPcLm1EEEEviT0_T1_";
  constexpr const char* kOnes =
      "_ZN2at6native32_scatter_gather_elementwise_kernelILi128ELi8EZNS0_34_cuda_scatter_fill_internal_kernelINS0_"
      "10Opaque";
  constexpr const char* kConvert =
      "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_18TensorIteratorBaseENS_"
      "6memory12LoadWithCastILi1EEE";
  for (const bool indices : {true, false}) {  // or a mask, which is filled and multiplied elementwise
    program_ = SimulatedProgram();
    const spool::Id zeros = kernel(kZeros, line(30)), ones = kernel(kOnes, line(30)),
                    convert = kernel(kConvert, line(30));
    const spool::Id product = kernel(kGemm, line(31)), other = kernel(kGemm, line(40));
    steps(20, [&](int) {
      program_.launch(zeros, 300 * kMicros);
      if (indices) program_.launch(ones, 10 * kMicros);
      program_.launch(convert, 400 * kMicros);
      program_.launch(product, kMillis);
      program_.launch(other, kMillis);
    });
    const std::vector<Saving> found = causes();
    const auto of = std::ranges::find(found, SavingCause::one_hot, &Saving::cause);
    ASSERT_EQ(of != found.end(), indices);
    if (!indices) continue;
    EXPECT_EQ(of->line, "train.py:31 step");
    EXPECT_NEAR(of->seconds, 20 * 0.9 * 1.71e-3, 1e-4);
  }
}

TEST_F(Causes, CopiesThatChangeTheLayoutInEachStep) {
  constexpr const char* kStrided =
      "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastIZZZNS0_23direct_copy_kernel_cudaERN";
  constexpr const char* kContiguous =
      "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_23direct_copy_kernel_cudaERNS_18TensorIteratorBase";
  struct Case {
    const char* symbol;
    std::uint64_t nanoseconds;
    int every;  // so many steps
    bool fault;
  };
  for (const Case& one : {Case{kStrided, 400 * kMicros, 1, true},
                          {kContiguous, 400 * kMicros, 1, false},
                          {kStrided, 20 * kMicros, 1, false},  // a small part of the time
                          {kStrided, 400 * kMicros, 5, false}}) {
    program_ = SimulatedProgram();
    const spool::Id copy = kernel(one.symbol, line(64)), product = kernel(kGemm, line(65));
    steps(20, [&](int step) {
      program_.launch(product, kMillis);
      if (step % one.every == 0) program_.launch(copy, one.nanoseconds);
    });
    const std::vector<Saving> found = causes();
    EXPECT_EQ(found.size(), one.fault ? 1U : 0U) << one.symbol << ' ' << one.nanoseconds << ' ' << one.every;
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::layout_copy);
    EXPECT_EQ(found[0].line, "train.py:64 step");
    EXPECT_NEAR(found[0].seconds, 20 * 400e-6, 1e-5);
  }
}

/// The text of the line tells heads that are repeated from a change of the layout.
TEST_F(Causes, CopiesThatWriteEachValueSeveralTimes) {
  constexpr const char* kStrided =
      "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastIZZZNS0_23direct_copy_kernel_cudaERN";
  for (const char* text : {"keys = self.k.repeat_interleave(8, dim=1)", "x = x.repeat(1, 4, 1, 1)",
                           "x = x[:, :, None].expand(b, h, repeats, t, d)\n    return x.reshape(b, h * repeats, t, d)",
                           "y = x.permute(0, 2, 1).contiguous()", ""}) {
    program_ = SimulatedProgram();
    const spool::Id copy = kernel(kStrided, line(18)), product = kernel(kGemm, line(40));
    steps(20, [&](int) {
      program_.launch(product, kMillis);
      program_.launch(copy, 400 * kMicros);
    });
    const auto lines_before = 17 - std::ranges::count(std::string_view(text), '\n');
    SourceTexts sources([&](const std::string&) {
      return std::string(static_cast<std::size_t>(lines_before), '\n') + "    " + text + "\n";
    });
    const std::vector<Saving> found = causes({}, {}, &sources);
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_EQ(found[0].cause, SavingCause::layout_copy);
    const bool repeats = std::string_view(text).find("repeat") != std::string_view::npos;
    EXPECT_EQ(found[0].action, action_against(SavingCause::layout_copy, Framework::torch,
                                              repeats ? CauseDetail::repeated_values : CauseDetail::none))
        << text;
  }
}

/// cuDNN's conversions, on whatever lines, and what batch normalisation takes above its roof beside them.
TEST_F(Causes, ConvolutionsOfTensorsInNchw) {
  constexpr const char* kConverts = "_ZN5cudnn19engines_precompiled16nchwToNhwcKernelI13__nv_bfloat16S2_fLb0ELb1EEE";
  constexpr const char* kFirst = "_ZN2at6native36batch_norm_collect_statistics_kernelINS0_6InvStdEffE";
  constexpr const char* kLast = "_ZN2at6native50batch_norm_collect_statistics_channels_last_kernelINS0_6InvStdEffE";
  for (const std::uint64_t conversion : {50 * kMicros, 10 * kMicros}) {
    for (const char* const norm : {kFirst, kLast}) {
      program_ = SimulatedProgram();
      const spool::Id product = kernel(kGemm, line(65)), normalise = kernel(norm, line(66));
      const std::vector<spool::Id> converts = {kernel(kConverts, line(64)), kernel(kConverts, line(67))};
      steps(20, [&](int) {
        program_.launch(product, kMillis);
        for (const spool::Id one : converts) program_.launch(one, conversion);
        program_.launch(normalise, 200 * kMicros);
      });
      const std::vector<Saving> found = causes({}, [norm](Point& point) {
        if (point.profiled->full_name != norm) return;
        point.time.emplace().median = 200e-6;
        point.bound.label = BoundLabel::memory;
        point.bound.attainable_time_s = 50e-6;
      });
      ASSERT_EQ(found.size(), conversion > 20 * kMicros ? 1U : 0U);
      if (found.empty()) continue;
      EXPECT_EQ(found[0].cause, SavingCause::layout_copy);
      EXPECT_EQ(found[0].action,
                action_against(SavingCause::layout_copy, Framework::torch, CauseDetail::channels_first));
      EXPECT_NEAR(found[0].seconds, 20 * (100e-6 + (norm == kFirst ? 150e-6 : 0)), 1e-5);
    }
  }
}

TEST_F(Causes, GridsSmallerThanTheGpu) {
  for (const std::uint32_t blocks : {8U, 132U}) {
    program_ = SimulatedProgram();
    const spool::Id some = kernel("my_kernel", line(70), blocks),
                    collective = kernel("ncclDevKernel_AllReduce", line(71), 8);
    steps(10, [&](int) {
      program_.launch(some, kMillis);
      program_.launch(collective, 200 * kMicros);
    });
    const std::vector<Saving> found = causes();
    EXPECT_EQ(found.size(), blocks == 8 ? 1U : 0U);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].cause, SavingCause::small_batch);
    EXPECT_EQ(found[0].line, "train.py:70 step");
    EXPECT_NEAR(found[0].seconds, 10e-3 * (1 - 8.0 / 132), 1e-5);
  }
}

TEST_F(Causes, WhatASmallGridNeedsDependsOnItsKernel) {
  const auto action_for = [&](const char* symbol) {
    program_ = SimulatedProgram();
    const spool::Id some = kernel(symbol, line(70), 5);
    steps(10, [&](int) { program_.launch(some, kMillis); });
    return causes().at(0).action;
  };
  const auto row = [](Framework framework, CauseDetail detail) {
    return action_against(SavingCause::small_batch, framework, detail);
  };
  EXPECT_EQ(action_for("cupy_sum"), row(Framework::cupy, CauseDetail::long_sums));
  EXPECT_EQ(action_for("_ZN2at6native13reduce_kernelILi512ELi1E"), row(Framework::torch, CauseDetail::long_sums));
  EXPECT_EQ(action_for("_ZN2at6native29vectorized_elementwise_kernelILi4E"), row(Framework::torch, CauseDetail::none));
  EXPECT_EQ(action_for("advance_bodies"), row(Framework::cuda, CauseDetail::own_grid));
}

TEST_F(Causes, SmallGridsSideBySideFillTheGpu) {
  const spool::Id some = kernel("my_kernel", line(70), 60);
  steps(10, [&](int) {
    const std::uint64_t start = program_.launch(some, kMillis);
    program_.spool().launch(some, program_.now(), program_.now() + 2 * kMicros, start + 50, start + kMillis, 0, 8);
  });
  EXPECT_TRUE(causes().empty());
}

/// Kernels of a graph follow each other within the resolution of the GPU's clock.
TEST_F(Causes, SmallGridsInSequenceMayTouch) {
  const spool::Id some = kernel("my_kernel", line(70), 8);
  steps(10, [&](int) {
    const std::uint64_t start = program_.launch(some, kMillis);
    program_.spool().launch(some, program_.now(), program_.now() + 2 * kMicros, start + kMillis - 64,
                            start + 2 * kMillis, 0, 8);
    program_.host(2 * kMillis, ThreadState::running, -1);
  });
  const std::vector<Saving> found = causes();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].cause, SavingCause::small_batch);
  EXPECT_GT(found[0].seconds, 15e-3);
}

TEST_F(Causes, CountedStepsAreNotUsed) {
  const spool::Id copy = line(13);
  steps(4, [&](int) { program_.copy_in(8 << 20, spool::Memory::pageable, 700 * kMicros, copy, true); });
  program_.spool().end(program_.now());
  const std::vector<ProcessTrace> traces = {read_spool(program_.spool().write(folder_ / "100.1.spool"))};
  const Recording recording(traces);
  FoundSteps found;
  for (const Span& span : program_.steps()) {
    Step step;
    step.span = span;
    step.counted = true;
    found.all.push_back(step);
  }
  EXPECT_TRUE(causes_of(recording, found, {}, {}).empty());
}

TEST(KernelNames, WhatSymbolsSay) {
  EXPECT_TRUE(is_softmax(kSoftmax));
  EXPECT_FALSE(is_softmax(kLogSoftmax));
  EXPECT_FALSE(is_softmax("cunn_SoftMaxForward_LogSoftMaxForwardEpilogue"));
  EXPECT_TRUE(is_conversion(kCast));
  EXPECT_TRUE(is_conversion("triton_poi_fused__to_copy_0"));
  EXPECT_FALSE(is_conversion("triton_poi_fused__to_copy_add_1"));
  EXPECT_FALSE(is_conversion(kAdd));
  EXPECT_TRUE(is_product(kGemm));
  EXPECT_FALSE(is_product(kMul));
  EXPECT_TRUE(is_plain_fp32_product("cutlass_80_simt_sgemm_256x128_8x4_nn_align1"));
  EXPECT_TRUE(is_plain_fp32_product("sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_simt_small"));
  EXPECT_FALSE(is_plain_fp32_product("sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x128x32"));
  EXPECT_FALSE(is_plain_fp32_product("gemv2T_kernel_val_sgemv"));
  EXPECT_TRUE(is_collective("ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
}

}  // namespace
}  // namespace roofline
