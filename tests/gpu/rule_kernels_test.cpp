// Counts the kernels that the rules of the diagnosis are tried on, and writes what was counted, with the machine that
// ROOFLINE_MACHINE names, to the file that ROOFLINE_RECORD names; tests/unit/rule_kernels_test.cpp replays it
// (tests/data/counted-kernels-h200.json). Without the variable all run, and two of them are counted, to see that a
// fault shows and that mending it shows too.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>

#include "counted_kernels.hpp"
#include "device/counter_reader.hpp"
#include "device/cuda/handles.hpp"
#include "host/files.hpp"
#include "measure/statistics.hpp"
#include "probe_rate.hpp"
#include "report/json/json.hpp"
#include "report/json/json_value.hpp"
#include "rule_kernels.hpp"

namespace roofline {
namespace {

using faulty::Grid;

struct RuleKernel {
  std::string name;
  Work work;
  std::function<void()> launch;
  double warm_up_s = 0;  ///< of load before it is timed
};

constexpr std::size_t kFloats = std::size_t{1} << 28;
constexpr double kBytes = 4.0 * kFloats;
constexpr int kChainEntries = 1 << 22;
constexpr int kSteps = 4096;
constexpr int kMatrix = 4096;
constexpr int kProduct = 1024;

Work work_of(std::map<Pipe, double> flops, double read, double write, std::int64_t launches = 1) {
  Work work;
  work.flops = std::move(flops);
  work.bytes[Level::hbm] = {.read = read, .write = write};
  work.launches = launches;
  return work;
}

class RuleKernelsTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    in_ = gpu().allocate(4 * kFloats);
    out_ = gpu().allocate(4 * kFloats);
    gpu().fill(in_->data(), std::byte{0x3c}, in_->size());
    std::vector<unsigned> next(kChainEntries);
    for (std::size_t i = 0; i < next.size(); ++i)
      next[i] = static_cast<unsigned>((1664525 * i + 1013904223) % kChainEntries);
    next_ = gpu().allocate(4 * next.size());
    gpu().upload(next_->data(), next.data(), next_->size());
    host_ = make_pinned_memory(std::size_t{64} << 20);
  }

  std::vector<RuleKernel> kernels() {
    std::vector<RuleKernel> all;
    for (auto group : {memory_kernels(), latency_kernels(), arithmetic_kernels(), link_kernels(), product_kernels()}) {
      std::move(group.begin(), group.end(), std::back_inserter(all));
    }
    return all;
  }

  Counters count(CounterReader& reader, const RuleKernel& kernel) {
    return reader.count({{[&](std::int64_t) { kernel.launch(); }}}).front();
  }

  /// Five batches of some milliseconds, as launches in a row.
  static Summary time(const RuleKernel& kernel) {
    const auto timer = gpu().timer([&](std::int64_t) { kernel.launch(); });
    const double once = timer->time(1).seconds;
    const auto launches = std::clamp<std::int64_t>(static_cast<std::int64_t>(2e-3 / once), 1, 500);
    const auto start = std::chrono::steady_clock::now();
    const auto warm = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    do {
      timer->time(launches);
    } while (warm() < kernel.warm_up_s);
    std::vector<double> seconds;
    std::optional<double> clock;
    for (int i = 0; i < 5; ++i) {
      const Reading reading = timer->time(launches);
      seconds.push_back(reading.seconds / static_cast<double>(launches));
      clock = reading.clock_hz;
    }
    Summary summary = summarize(seconds);
    summary.launches_per_sample = launches;
    summary.clock_hz = clock;
    return summary;
  }

  Point record(CounterReader& reader, const RuleKernel& kernel) {
    Point point;
    point.workload.op = kernel.name;
    point.workload.label = kernel.name;
    point.work = kernel.work;
    point.time = time(kernel);
    point.counters = count(reader, kernel);
    return point;
  }

  static Grid grid(double blocks_per_sm, int threads = 256, int shared_bytes = 0) {
    const double blocks = blocks_per_sm * static_cast<double>(gpu().info().units);
    return {static_cast<int>(blocks), threads, gpu().stream(), shared_bytes};
  }

  float* in() { return static_cast<float*>(in_->data()); }
  float* out() { return static_cast<float*>(out_->data()); }

 private:
  RuleKernel stream(const std::string& name, std::size_t floats, Grid grid) {
    const double n = static_cast<double>(floats);
    return {name, work_of({{Pipe::fp32, n}}, 4 * n, 4 * n),
            [this, floats, grid] { faulty::launch_stream(in(), out(), floats, grid); }};
  }

  std::vector<RuleKernel> memory_kernels() {
    constexpr int kThreads = 1 << 22;
    constexpr double kEach = 4.0 * kThreads;
    const Grid wide{kThreads / 256, 256, gpu().stream()};
    const auto loads = [this](int stride) {
      return [this, stride] { counted::launch_strided_copy(in(), out(), kThreads / 256, stride, gpu().stream()); };
    };
    const auto stores = [this, wide](int stride) {
      return [this, wide, stride] { faulty::launch_strided_store(in(), out(), stride, wide); };
    };
    const auto transpose = [this](bool padded) {
      return [this, padded] { faulty::launch_transpose(in(), out(), kMatrix, padded, gpu().stream()); };
    };
    const auto fill = [this](bool narrow) {
      return [this, narrow] {
        faulty::launch_fill(reinterpret_cast<unsigned char*>(out()), narrow, {4096, 256, gpu().stream()});
      };
    };
    const auto passes = [this](const std::string& name, faulty::Passes how) -> RuleKernel {
      return {name, work_of({{Pipe::fp32, 2.0 * how.uses * how.count * kFloats}}, kBytes, 0),
              [this, how] { faulty::launch_passes(in(), out(), kFloats, how, grid(8)); }};
    };
    const Work filled = work_of({}, 0, 256.0 * 4096 * 256);
    const Work transposed = work_of({}, 4.0 * kMatrix * kMatrix, 4.0 * kMatrix * kMatrix);
    Work streamed = work_of({{Pipe::fp32, 0.5 * kFloats}}, kBytes / 2, kBytes / 2, 2);
    streamed.extra = {.read = kBytes / 2, .write = kBytes / 2};
    return {stream("stream", kFloats, grid(16)),
            stream("stream 16 MiB in L2", std::size_t{1} << 21, grid(8)),
            stream("stream by 16 blocks", kFloats / 16, {16, 256, gpu().stream()}),
            {"stream twice", streamed,
             [this] {
               float* half = out() + kFloats / 2;
               faulty::launch_stream(in(), half, kFloats / 2, grid(16));
               faulty::launch_stream(half, out(), kFloats / 2, grid(16));
             }},
            {"loads, stride 32", work_of({}, kEach, kEach), loads(32)},
            {"loads, stride 1", work_of({}, kEach, kEach), loads(1)},
            {"stores, stride 32", work_of({}, kEach, kEach), stores(32)},
            {"stores, stride 1", work_of({}, kEach, kEach), stores(1)},
            {"transpose", transposed, transpose(false)},
            {"transpose, padded", transposed, transpose(true)},
            {"fill by bytes", filled, fill(true)},
            {"fill by 16 bytes", filled, fill(false)},
            passes("one pass", {.count = 1, .uses = 1, .blocked = false}),
            passes("eight passes over all", {.count = 8, .uses = 1, .blocked = false}),
            passes("eight passes over chunks", {.count = 8, .uses = 1, .blocked = true}),
            passes("eight busy passes over all", {.count = 8, .uses = 4, .blocked = false}),
            passes("eight busy passes over chunks", {.count = 8, .uses = 4, .blocked = true}),
            {"local array", work_of({}, 0, 4.0 * 1000 * 256),
             [this] { counted::launch_local_array(out(), 1000, 512, gpu().stream()); }}};
  }

  std::vector<RuleKernel> latency_kernels() {
    const auto chase = [this](const std::string& name, int others, bool registers, Grid grid) -> RuleKernel {
      const double threads = 1.0 * grid.blocks * grid.threads;
      return {name, work_of({}, 4.0 * kChainEntries, 4 * threads), [this, others, registers, grid] {
                faulty::launch_chase(static_cast<const unsigned*>(next_->data()), out(), 500, others, registers, grid);
              }};
    };
    const auto tiny = [this](int kernels, std::size_t floats) {
      return [this, kernels, floats] {
        for (int i = 0; i < kernels; ++i) {
          const std::size_t each = floats / static_cast<std::size_t>(kernels);
          faulty::launch_stream(in() + each * i, out() + each * i, each, {1, 256, gpu().stream()});
        }
      };
    };
    constexpr std::size_t kTiny = 32 * 1024;
    const auto launches = [](std::int64_t n) {
      return work_of({{Pipe::fp32, 1.0 * kTiny}}, 4.0 * kTiny, 4.0 * kTiny, n);
    };
    return {chase("chase", 500, false, grid(8)),
            chase("chase, 222 registers", 500, true, grid(8)),
            chase("chase, 100 KiB shared", 500, false, grid(8, 128, 100 << 10)),
            chase("chase, blocks of a warp", 500, false, grid(64, 32)),
            chase("chase, one long warp", 20, false, grid(8)),
            {"32 tiny launches", launches(32), tiny(32, kTiny)},
            {"one launch", launches(1),
             [this] {
               faulty::launch_stream(in(), out(), kTiny, {32, 256, gpu().stream()});
             }},
            {"a large launch", work_of({{Pipe::fp32, 1.0 * (1 << 20)}}, 4.0 * (1 << 20), 4.0 * (1 << 20)),
             [this] { faulty::launch_stream(in(), out(), 1 << 20, grid(4)); }}};
  }

  std::vector<RuleKernel> arithmetic_kernels() {
    const auto work = [](Pipe pipe, double flops, const Grid& grid) {
      return work_of({{pipe, flops}}, 0, (pipe == Pipe::fp64 ? 8.0 : 4.0) * grid.blocks * grid.threads);
    };
    const auto threads = [](const Grid& grid) { return 1.0 * grid.blocks * grid.threads; };
    const auto chains = [&](const std::string& name, int count, bool fp64, Grid grid) -> RuleKernel {
      return {name, work(fp64 ? Pipe::fp64 : Pipe::fp32, 2.0 * kSteps * count * threads(grid), grid),
              [this, count, fp64, grid] { faulty::launch_chains(out(), kSteps, count, fp64, grid); }};
    };
    const auto code = [&](bool long_code, Grid grid) {
      return [this, long_code, grid] { faulty::launch_code(out(), long_code ? 16 : 4096, long_code, grid); };
    };
    const auto barriers = [&](bool block_wide, Grid grid) {
      return [this, block_wide, grid] { faulty::launch_barriers(out(), 512, block_wide, grid); };
    };
    const auto shared = [&](int uses, Grid grid) {
      return [this, uses, grid] { faulty::launch_shared_uses(out(), kSteps, uses, grid); };
    };
    const Grid full = grid(16);
    const Grid one = grid(1, 128);
    const Grid blocks = grid(2, 1024);
    const Work half = work(Pipe::fp32, 2.0 * kSteps * 2 * threads(full), full);
    const Work coded = work(Pipe::fp32, 2.0 * 64 * 4096 * threads(one), one);
    const Work waited = work(Pipe::fp32, 2.0 * 32 * 512 * threads(blocks) / 32, blocks);
    return {
        chains("chains of fp32", 4, false, full),
        chains("one chain, 4 warps an SM", 1, false, one),
        chains("chains of fp64", 4, true, full),
        chains("1.2 waves", 4, false, grid(2.4, 1024)),
        chains("2 waves", 4, false, grid(4, 1024)),
        {"chains of fp32, half of them padding", half,
         [this, full] { faulty::launch_chains(out(), kSteps, 4, false, full); }},
        {"long code", coded, code(true, one)},
        {"short code", coded, code(false, one)},
        {"block barriers", waited, barriers(true, blocks)},
        {"warp barriers", waited, barriers(false, blocks)},
        {"shared memory, used once", work(Pipe::fp32, 2.0 * kSteps * threads(full), full), shared(1, full)},
        {"shared memory, used 64 times", work(Pipe::fp32, 2.0 * 64 * kSteps * threads(full), full), shared(64, full)}};
  }

  std::vector<RuleKernel> link_kernels() {
    constexpr std::size_t kLink = std::size_t{64} << 20;
    Work copied = work_of({{Pipe::fp32, kLink / 4.0}}, kLink, kLink, 2);
    copied.bytes[Level::pcie] = {.read = kLink, .write = 0};
    return {{"stream from the host", copied, [this] {
               check(cudaMemcpyAsync(in_->data(), host_.get(), kLink, cudaMemcpyHostToDevice, gpu().stream()),
                     "copying");
               faulty::launch_stream(in(), out(), kLink / 4, grid(16));
             }}};
  }

  std::vector<RuleKernel> product_kernels() {
    const auto product = [this](bool tensor_cores) {
      return [this, tensor_cores] {
        const auto* a = static_cast<const __nv_bfloat16*>(in_->data());
        faulty::launch_product(a, a + kProduct * kProduct, out(), kProduct, tensor_cores, gpu().stream());
      };
    };
    const double n = kProduct;
    const Work work = work_of({{Pipe::tensor_bf16, 2 * n * n * n}}, 4 * n * n, 4 * n * n);
    std::vector<RuleKernel> all = {{"product on CUDA cores", work, product(false)},
                                   {"product by mma.sync", work, product(true)}};
    for (const char* name : {"tensor.bf16", "tensor.bf16.mma_sync"}) {
      auto probe = std::make_shared<ProbeCase>(*probe_named(name).make(gpu(), ProbeRequest{}, 0));
      Work probe_work = probe->work;
      probe_work.launches = 1;
      if (!probe_work.bytes.contains(Level::hbm)) probe_work.bytes[Level::hbm] = {.read = 0, .write = 1};
      all.push_back({std::string(name), probe_work, [probe] { probe->run(); }});
      if (all.back().name == "tensor.bf16") {
        all.push_back({"tensor.bf16 under load", probe_work, [probe] { probe->run(); }, 1.5});
      }
    }
    return all;
  }

  std::unique_ptr<Buffer> in_;
  std::unique_ptr<Buffer> out_;
  std::unique_ptr<Buffer> next_;
  PinnedMemory host_;
};

std::unique_ptr<CounterReader> reader_or_null(Device& device, CounterSet set) {
  try {
    return make_counter_reader(device, set);
  } catch (const Error& error) {
    std::cout << "no counters: " << error.what() << '\n';
    return nullptr;
  }
}

// For compute-sanitizer, which leaves no room for a profiler.
TEST_F(RuleKernelsTest, AllRun) {
  for (const RuleKernel& kernel : kernels()) kernel.launch();
  for (const int stride : {1, 32}) counted::launch_shared_reads(out(), 100, 64, stride, gpu().stream());
  counted::launch_add_mul(out(), 100, 64, gpu().stream());
  for (const auto arithmetic : {counted::Arithmetic::fp64, counted::Arithmetic::fp32, counted::Arithmetic::half_scalar,
                                counted::Arithmetic::half_packed, counted::Arithmetic::bf16_packed}) {
    counted::launch_fma(arithmetic, out(), 100, 64, gpu().stream());
  }
  EXPECT_NO_THROW(gpu().synchronize());
}

TEST_F(RuleKernelsTest, APaddedTileHasNoConflicts) {
  const auto reader = reader_or_null(gpu(), CounterSet::standard);
  if (!reader) GTEST_SKIP();
  std::map<std::string, double> conflicts;
  for (const RuleKernel& kernel : kernels()) {
    if (!kernel.name.starts_with("transpose")) continue;
    conflicts[kernel.name] = count(*reader, kernel).find("shared.bank_conflicts").value();
  }
  EXPECT_GT(conflicts.at("transpose"), 20 * (conflicts.at("transpose, padded") + 1));
}

TEST_F(RuleKernelsTest, AreRecorded) {
  const char* path = std::getenv("ROOFLINE_RECORD");
  if (path == nullptr) GTEST_SKIP() << "ROOFLINE_RECORD names no file";
  const auto reader = reader_or_null(gpu(), CounterSet::full);
  if (!reader) GTEST_SKIP();
  Report report;
  report.machine.device = gpu().info();
  if (const char* machine = std::getenv("ROOFLINE_MACHINE"))
    report.machine = parse_machine(read_file(machine), machine);
  for (const RuleKernel& kernel : kernels()) {
    report.points.push_back(record(*reader, kernel));
    const Point& point = report.points.back();
    std::cout << fmt::format("{:30} {:.3e} s {:.0f} MHz {} kernels, {} values, {} missing\n", kernel.name,
                             point.time->median, point.time->clock_hz.value_or(0) / 1e6, point.counters->kernels.size(),
                             point.counters->values.size(), point.counters->missing.size());
  }
  std::ofstream(path) << to_json_text(report_to_json(report));
}

}  // namespace
}  // namespace roofline
