// The hardware counters against kernels whose counts are known: FLOPs to the last one, bytes within the per cents that
// caches leave open.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <iostream>
#include <optional>

#include "counted_kernels.hpp"
#include "probe_rate.hpp"

namespace roofline {
namespace {

class CountersTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    try {
      if (!reader_) reader_ = make_counter_reader(gpu(), CounterSet::standard);
    } catch (const Error& error) {
      GTEST_SKIP() << "no counters: " << error.what() << " (" << error.hint() << ")";
    }
  }
  static void TearDownTestSuite() {
    reader_.reset();
    GpuTest::TearDownTestSuite();
  }

  static Counters count(const std::function<void()>& launch) {
    return reader_->count({{[&](std::int64_t) { launch(); }}}).front();
  }

  static Counters count_probe(const std::string& name, Work& work) {
    const std::optional<ProbeCase> made = probe_named(name).make(gpu(), ProbeRequest{}, 0);
    work = made->work;
    return count([&] { made->run(); });
  }

  static void print(const Counters& counters) {
    std::cout << fmt::format("  {} ({} passes)\n", counters.source, counters.passes);
    for (const auto& [id, value] : counters.values) std::cout << fmt::format("    {:28} {:.6g}\n", id, value);
    for (const auto& [id, reason] : counters.missing) std::cout << fmt::format("    {:28} {}\n", id, reason);
    for (const KernelLaunch& kernel : counters.kernels) {
      std::cout << fmt::format(
          "    {} <<<{}, {}>>> {} registers, {} B shared, {} B local, {} blocks/SM ({}), {:.2f} waves\n",
          kernel.kernel.substr(0, 60), kernel.blocks, kernel.threads, kernel.registers, kernel.shared_bytes,
          kernel.local_bytes, kernel.blocks_per_sm, to_string(kernel.limit), kernel.waves);
    }
  }

  static inline std::unique_ptr<CounterReader> reader_;
};

constexpr int kBlocks = 1000;
constexpr int kSteps = 512;
constexpr double kThreadSteps = 1.0 * kBlocks * counted::kThreads * kSteps;

TEST_F(CountersTest, MultiplyAddsAreExact) {
  const auto out = gpu().allocate(std::size_t{kBlocks} * counted::kThreads * sizeof(double));
  const auto flops = [&](counted::Arithmetic arithmetic, int steps) {
    return counted_flops(count([&] { counted::launch_fma(arithmetic, out->data(), kBlocks, steps, gpu().stream()); }));
  };
  EXPECT_EQ(flops(counted::Arithmetic::fp64, kSteps).at(Pipe::fp64), 2 * kThreadSteps);
  EXPECT_EQ(flops(counted::Arithmetic::fp64, kSteps).at(Pipe::fp32), 0);
  EXPECT_EQ(flops(counted::Arithmetic::fp32, kSteps).at(Pipe::fp32), 2 * kThreadSteps);
  // The assembler sets registers to constants with HFMA2, twice a thread or so: the loop is what one length has more
  // than another.
  const auto of_the_loop = [&](counted::Arithmetic arithmetic) {
    return flops(arithmetic, 2 * kSteps).at(Pipe::fp16) - flops(arithmetic, kSteps).at(Pipe::fp16);
  };
  EXPECT_EQ(of_the_loop(counted::Arithmetic::half_packed), 4 * kThreadSteps);
  EXPECT_EQ(of_the_loop(counted::Arithmetic::bf16_packed), 4 * kThreadSteps);
  // One half at a time is the same instruction, and counted as two.
  EXPECT_EQ(of_the_loop(counted::Arithmetic::half_scalar), 4 * kThreadSteps);
}

TEST_F(CountersTest, AdditionsAndProductsAreOneOperationEach) {
  const auto out = gpu().allocate(std::size_t{kBlocks} * counted::kThreads * sizeof(float));
  const Counters counters =
      count([&] { counted::launch_add_mul(static_cast<float*>(out->data()), kBlocks, kSteps, gpu().stream()); });
  EXPECT_EQ(counters.find("fp32.add"), kThreadSteps);
  EXPECT_EQ(counters.find("fp32.mul"), kThreadSteps);
  EXPECT_EQ(counted_flops(counters).at(Pipe::fp32), 2 * kThreadSteps);
}

TEST_F(CountersTest, ProbesDoTheOperationsThatTheySay) {
  for (const char* name : {"fp64", "fp32", "fp16", "tensor.fp64", "tensor.tf32", "tensor.fp16", "tensor.bf16",
                           "tensor.fp8", "tensor.int8"}) {
    Work work;
    const Counters counters = count_probe(name, work);
    const Pipe pipe = *dominant_pipe(work);
    const std::map<Pipe, double> flops = counted_flops(counters);
    ASSERT_TRUE(flops.contains(pipe)) << name;
    EXPECT_EQ(flops.at(pipe), work.flops.at(pipe)) << name;
    const bool tensor = std::string_view(name).starts_with("tensor.") && pipe != Pipe::tensor_fp64;
    if (tensor && pipe != Pipe::tensor_fp8 && gpu().properties().major == 9) {
      EXPECT_EQ(wgmma_share(counters), 1.0) << name;
    }
    std::cout << fmt::format("  {:12} {:.0f} of {:.0f}, tensor pipe {:.1f} % active\n", name, flops.at(pipe),
                             work.flops.at(pipe), 100 * counters.find("tensor.active").value_or(0));
  }
}

TEST_F(CountersTest, MmaSyncIsToldFromWgmma) {
  for (const char* name :
       {"tensor.bf16.mma_sync", "tensor.fp16.mma_sync", "tensor.tf32.mma_sync", "tensor.int8.mma_sync"}) {
    Work work;
    const Counters counters = count_probe(name, work);
    const Pipe pipe = *dominant_pipe(work);
    const std::map<Pipe, double> flops = counted_flops(counters);
    EXPECT_EQ(flops.at(pipe), work.flops.at(pipe)) << name << " in " << counters.passes << " passes";
    if (gpu().properties().major == 9) {
      EXPECT_EQ(wgmma_share(counters), 0.0) << name;
    }
  }
}

TEST_F(CountersTest, BytesOfACopyInMemory) {
  Work work;
  const Counters counters = count_probe("hbm.copy", work);
  print(counters);
  const double bytes = work.bytes.at(Level::hbm).total();
  EXPECT_NEAR(*counted_bytes(counters, Level::hbm) / bytes, 1, 0.01);
  EXPECT_NEAR(*counters.find("dram.read_bytes") / work.bytes.at(Level::hbm).read, 1, 0.01);
  EXPECT_NEAR(*counted_bytes(counters, Level::l2) / bytes, 1, 0.03);
}

TEST_F(CountersTest, BytesOfACopyInL2) {
  Work work;
  const Counters counters = count_probe("l2.copy", work);
  print(counters);
  EXPECT_NEAR(*counted_bytes(counters, Level::l2) / work.bytes.at(Level::l2).total(), 1, 0.03);
  EXPECT_GT(*counters.find("l2.hit_rate"), 0.9);
}

TEST_F(CountersTest, UncoalescedLoadsAskForMoreSectors) {
  constexpr int kStride = 32;
  const auto in = gpu().allocate(std::size_t{kBlocks} * counted::kThreads * kStride * sizeof(float));
  const auto out = gpu().allocate(std::size_t{kBlocks} * counted::kThreads * sizeof(float));
  const auto copy = [&](int stride) {
    return count([&] {
      counted::launch_strided_copy(static_cast<const float*>(in->data()), static_cast<float*>(out->data()), kBlocks,
                                   stride, gpu().stream());
    });
  };
  EXPECT_NEAR(*copy(1).ratio("global.load_sectors", "global.load_instructions"), 4, 0.01);
  EXPECT_NEAR(*copy(kStride).ratio("global.load_sectors", "global.load_instructions"), 32, 0.01);
}

TEST_F(CountersTest, SharedMemoryConflictsTakeMoreWavefronts) {
  const auto out = gpu().allocate(std::size_t{kBlocks} * counted::kThreads * sizeof(float));
  const auto reads = [&](int stride) {
    return count([&] {
      counted::launch_shared_reads(static_cast<float*>(out->data()), kBlocks, kSteps, stride, gpu().stream());
    });
  };
  // One wavefront a read of a warp; the filling of the tile adds some.
  const double warp_reads = kThreadSteps / 32;
  EXPECT_NEAR(*counted_bytes(reads(1), Level::shared) / (128 * warp_reads), 1, 0.1);
  const Counters worst = reads(32);
  EXPECT_NEAR(*counted_bytes(worst, Level::shared) / (128 * warp_reads), 32, 2);
  EXPECT_NEAR(*worst.find("shared.bank_conflicts") / warp_reads, 31, 2);
}

TEST_F(CountersTest, LocalMemoryIsSeen) {
  const auto out = gpu().allocate(std::size_t{kBlocks} * counted::kThreads * sizeof(float));
  const Counters counters =
      count([&] { counted::launch_local_array(static_cast<float*>(out->data()), kBlocks, kSteps, gpu().stream()); });
  EXPECT_GE(*counters.find("local.bytes"), 4 * kThreadSteps);
  ASSERT_EQ(counters.kernels.size(), 1U);
  EXPECT_GE(counters.kernels[0].local_bytes, 256);
  EXPECT_THAT(counters.kernels[0].kernel, testing::HasSubstr("local_array"));
  EXPECT_EQ(counters.kernels[0].blocks, kBlocks);
  EXPECT_EQ(counters.kernels[0].threads, counted::kThreads);
}

TEST_F(CountersTest, SeveralLaunchesAreToldApart) {
  const auto out = gpu().allocate(std::size_t{kBlocks} * counted::kThreads * sizeof(double));
  const auto fma = [&](int steps) {
    return [&, steps](std::int64_t) {
      counted::launch_fma(counted::Arithmetic::fp32, out->data(), kBlocks, steps, gpu().stream());
    };
  };
  std::vector<LaunchFunction> launches;
  for (int i = 1; i <= 8; ++i) launches.emplace_back(fma(i * kSteps));
  const std::vector<Counters> counts = reader_->count(launches);
  ASSERT_EQ(counts.size(), launches.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_EQ(counts[i].find("fp32.fma"), static_cast<double>(i + 1) * kThreadSteps) << i;
  }
}

TEST_F(CountersTest, AFullSetHasTheStalls) {
  reader_.reset();  // one profiler at a time
  const auto full = make_counter_reader(gpu(), CounterSet::full);
  const auto out = gpu().allocate(std::size_t{kBlocks} * counted::kThreads * sizeof(float));
  const Counters counters =
      full->count({{[&](std::int64_t) {
            counted::launch_shared_reads(static_cast<float*>(out->data()), kBlocks, kSteps, 32, gpu().stream());
          }}})
          .front();
  print(counters);
  EXPECT_GT(counters.find("shared.bank_conflicts").value_or(0), 0);
  EXPECT_GT(counters.find("issue.active").value_or(0), 0);
  EXPECT_TRUE(counters.find("stall.long_scoreboard").has_value());
  for (const char* name : {"tensor.tf32.mma_sync", "tensor.int8.mma_sync"}) {
    const std::optional<ProbeCase> made = probe_named(name).make(gpu(), ProbeRequest{}, 0);
    const Counters tensor = full->count({{[&](std::int64_t) { made->run(); }}}).front();
    const Pipe pipe = *dominant_pipe(made->work);
    EXPECT_EQ(counted_flops(tensor).at(pipe), made->work.flops.at(pipe)) << name;
  }
}

}  // namespace
}  // namespace roofline
