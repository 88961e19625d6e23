// From spools with known launches to the report of a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "device/cuda/counter_metrics.hpp"
#include "model/error.hpp"
#include "profile/idle_causes.hpp"
#include "profile/intervals.hpp"
#include "profile/metrics.hpp"
#include "profile/process_trace.hpp"
#include "profile/profile.hpp"
#include "profile/recording.hpp"
#include "profile/rows.hpp"
#include "profile/symbols.hpp"
#include "report/profile_findings.hpp"
#include "spool_builder.hpp"
#include "text/demangle.hpp"

namespace roofline {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kUs = 1000;
constexpr std::uint64_t kMs = 1000 * kUs;

Ceiling roof(const std::string& name, CeilingKind kind, double value) {
  Ceiling ceiling;
  ceiling.name = name;
  ceiling.kind = kind;
  ceiling.value = value;
  ceiling.ci95 = {value * 0.999, value * 1.001};
  return ceiling;
}

/// 4 TB/s, 800 TFLOP/s, 50 GB/s to the host.
Machine machine() {
  Machine machine;
  machine.device.kind = DeviceKind::cuda;
  machine.device.name = "NVIDIA Test";
  machine.device.identity = "nvidia-test";
  const auto memory = [](const std::string& name, Level level, Pattern pattern, double value) {
    Ceiling ceiling = roof(name, CeilingKind::bandwidth, value);
    ceiling.level = level;
    ceiling.pattern = pattern;
    return ceiling;
  };
  machine.ceilings = {
      memory("hbm.copy", Level::hbm, Pattern::copy, 4e12), memory("hbm.read", Level::hbm, Pattern::read, 4e12),
      memory("pcie.h2d", Level::pcie, Pattern::h2d, 50e9), memory("pcie.d2h", Level::pcie, Pattern::d2h, 50e9)};
  Ceiling tensor = roof("tensor.bf16", CeilingKind::compute, 800e12);
  tensor.pipe = Pipe::tensor_bf16;
  machine.ceilings.push_back(tensor);
  return machine;
}

class ProfileTest : public testing::Test {
 protected:
  ProfileTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ProfileTest() override { fs::remove_all(folder_); }

  ProcessTrace trace(const SpoolBuilder& spool, const std::string& name = "100.1.spool") const {
    return read_spool(spool.write(folder_ / name));
  }
  Report report(const SpoolBuilder& spool, const ProgramFacts& facts = {}) const {
    const std::vector<ProcessTrace> traces = {trace(spool)};
    return report_of(traces, facts, machine());
  }

  fs::path folder_ = fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST(Symbols, PeoplesNames) {
  EXPECT_EQ(demangled("_Z5saxpyPfi"), "saxpy(float*, int)");
  EXPECT_EQ(demangled("nvjet_sm90_tst_NNT"), "nvjet_sm90_tst_NNT");
  EXPECT_EQ(short_name("saxpy(float*, int)"), "saxpy");
  EXPECT_EQ(short_name("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
                       "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"),
            "vectorized_elementwise_kernel<CUDAFunctor_add, array>");
  EXPECT_EQ(short_name("void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::"
                       "direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda("
                       "float)#1}>(at::TensorIteratorBase&, int)::{lambda(int)#1}>(int, int)"),
            "elementwise_kernel<direct_copy_kernel_cuda>");
  EXPECT_EQ(short_name("void at::native::vectorized_elementwise_kernel<4, at::native::compare_scalar_kernel<long>(at::"
                       "TensorIteratorBase&, at::native::OpType, long)::{lambda(long)#1}, at::detail::Array<char*, 2> "
                       ">(int)"),
            "vectorized_elementwise_kernel<compare_scalar_kernel, Array>");
  EXPECT_EQ(short_name("void at::native::(anonymous namespace)::layer_norm_kernel<float>(int)"),
            "layer_norm_kernel<float>");
  for (const char* odd : {"", "(", "<>", ")(", "a<b", "::", "operator<(int)"}) {
    EXPECT_NO_FATAL_FAILURE(short_name(odd)) << odd;
  }
}

TEST(Intervals, KnownAnswers) {
  const std::vector<Span> spans = covered({{5, 9}, {0, 2}, {8, 12}, {2, 3}, {20, 20}});
  EXPECT_THAT(spans, testing::ElementsAre(Span{0, 3}, Span{5, 12}));
  EXPECT_THAT(uncovered({{0, 20}}, spans), testing::ElementsAre(Span{3, 5}, Span{12, 20}));
  EXPECT_THAT(common(spans, {{1, 6}, {11, 30}}), testing::ElementsAre(Span{1, 3}, Span{5, 6}, Span{11, 12}));
  EXPECT_EQ(total_length(spans), 10U);
  // What is covered and what is not make up the whole, whatever is given.
  const std::vector<Span> within = {{0, 7}, {9, 30}};
  EXPECT_EQ(total_length(common(within, spans)) + total_length(uncovered(within, spans)), total_length(within));
}

TEST_F(ProfileTest, ASpoolThatIsCutOffIsReadAsFarAsItGoes) {
  SpoolBuilder spool;
  const spool::Id kind = spool.kind("_Z5saxpyPfi");
  for (std::uint64_t i = 0; i < 10; ++i)
    spool.launch(kind, i * kMs, i * kMs + 2 * kUs, i * kMs + 10 * kUs, i * kMs + 20 * kUs);
  spool.end(10 * kMs);
  const std::string whole = spool.bytes();
  std::size_t most = 0;
  for (std::size_t length = 8; length <= whole.size(); ++length) {
    std::ofstream(folder_ / "cut.spool", std::ios::binary) << whole.substr(0, length);
    const ProcessTrace cut = read_spool(folder_ / "cut.spool");
    EXPECT_GE(cut.kernels.size(), most) << length;
    EXPECT_EQ(cut.torn, length < whole.size()) << length;
    most = cut.kernels.size();
  }
  EXPECT_EQ(most, 10U);
  std::ofstream(folder_ / "other.spool", std::ios::binary) << "no spool at all";
  EXPECT_THROW(read_spool(folder_ / "other.spool"), Error);
}

TEST_F(ProfileTest, DefectiveSpoolsAreCountedAndTheRestIsReported) {
  SpoolBuilder spool(4711);
  const spool::Id kind = spool.kind("_Z5saxpyPfi");
  for (std::uint64_t i = 0; i < 10; ++i)
    spool.launch(kind, i * kMs, i * kMs + 2 * kUs, i * kMs + 10 * kUs, i * kMs + 20 * kUs);
  const std::string open_end = spool.bytes();
  spool.end(10 * kMs);
  const std::string whole = spool.bytes();
  const auto put = [this](const char* name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  };
  std::string impossible(64, '\x7f'), other_version = whole;
  other_version[7] = '9';
  put("cut.spool", open_end.substr(0, open_end.size() - 12));
  put("empty.spool", "");
  put("good.spool", whole);
  put("header.spool", whole.substr(0, 20));
  put("impossible.spool", open_end + impossible);
  put("magic.spool", whole.substr(0, 5));
  put("other_version.spool", other_version);
  put("zeros.spool", whole + std::string(4096, '\0'));
  fs::create_directory(folder_ / "folder.spool");

  ProgramFacts facts;
  const std::vector<ProcessTrace> traces = read_spools(folder_, facts.defective_spools);
  std::map<std::string, SpoolDefect> defects;
  std::map<std::string, std::uint64_t> unread;
  for (const DefectiveSpool& defective : facts.defective_spools) {
    defects[defective.name] = defective.defect;
    unread[defective.name] = defective.bytes;
  }
  const std::map<std::string, SpoolDefect> expected = {{"cut.spool", SpoolDefect::torn},
                                                       {"empty.spool", SpoolDefect::empty},
                                                       {"folder.spool", SpoolDefect::unreadable},
                                                       {"header.spool", SpoolDefect::no_process},
                                                       {"impossible.spool", SpoolDefect::torn},
                                                       {"magic.spool", SpoolDefect::no_process},
                                                       {"other_version.spool", SpoolDefect::other_format},
                                                       {"zeros.spool", SpoolDefect::torn}};
  EXPECT_EQ(defects, expected);
  EXPECT_GT(unread["cut.spool"], 0U);
  EXPECT_EQ(unread["impossible.spool"], 64U);
  EXPECT_EQ(unread["zeros.spool"], 4096U);
  ASSERT_EQ(traces.size(), 4U);

  const Report done = report_of(traces, facts, machine());
  EXPECT_LT(done.profile->wall_s, 1.0);
  std::int64_t torn = 0, kernels = 0;
  for (const ProfiledProcess& process : done.profile->processes) {
    torn += process.torn ? 1 : 0;
    kernels += process.kernels;
  }
  EXPECT_EQ(torn, 3);
  EXPECT_EQ(kernels, 39) << "all but the one that is cut off";
  EXPECT_THAT(done.notes, testing::IsSupersetOf({HasSubstr("zeros.spool"), HasSubstr("other_version.spool")}));
  // A process of which nothing is left did use the GPU.
  ProgramFacts unknown;
  unknown.defective_spools = {{"header.spool", SpoolDefect::no_process, 12}};
  EXPECT_THAT(report_of({}, unknown, machine()).notes, testing::ElementsAre(HasSubstr("header.spool")));
}

/// A crash of a program of JAX with CUDA graphs may be the profiler's; one of other programs or without graphs is not.
TEST_F(ProfileTest, ACrashWithGraphsOfXlaIsExplained) {
  struct Case {
    std::string kernel;
    std::uint32_t flags;
    int signal;
  };
  for (const auto& [kernel, flags, signal] :
       {Case{"loop_add_fusion", spool::kGraph, SIGSEGV}, Case{"loop_add_fusion", 0, SIGSEGV},
        Case{"saxpy", spool::kGraph, SIGSEGV}, Case{"loop_add_fusion", spool::kGraph, SIGTERM}}) {
    SpoolBuilder spool;
    spool.launch(spool.kind(kernel), kMs, 2 * kMs, 3 * kMs, 4 * kMs);
    spool.launch(spool.kind("graph of 2 kernels", 0, flags), 5 * kMs, 6 * kMs, 7 * kMs, 8 * kMs);
    ProgramFacts facts;
    facts.run.emplace().signal = signal;
    const bool explained = kernel == "loop_add_fusion" && flags != 0 && signal == SIGSEGV;
    EXPECT_EQ(testing::Value(report(spool, facts).notes, testing::Contains(HasSubstr("XLA_FLAGS="))), explained)
        << kernel << ' ' << flags << ' ' << signal;
  }
}

TEST_F(ProfileTest, AnyByteMayBeWrong) {
  SpoolBuilder spool;
  const spool::Id range = spool.range("step", spool.range("epoch"));
  const spool::Id kind = spool.kind("_Z5saxpyPfi", spool.place({.range = range, .module = "a.b"}));
  spool.launch(kind, kMs, 2 * kMs, 3 * kMs, 4 * kMs);
  spool.counts(kind, {{"dram.read_bytes", 1e6}});
  spool::Allocation block = {};
  block.time = 2 * kMs;
  block.bytes = block.allocated = 1 << 20;
  spool.add(spool::Type::allocation, block);
  spool::MemoryUse use = {};
  use.start = kMs;
  use.end = 4 * kMs;
  spool.add(spool::Type::memory_use, use);
  spool.end(5 * kMs);
  for (std::size_t at = 8; at < spool.bytes().size(); ++at) {
    for (const char value : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string broken = spool.bytes();
      broken[at] = value;
      std::ofstream(folder_ / "broken.spool", std::ios::binary) << broken;
      const std::vector<ProcessTrace> traces = {read_spool(folder_ / "broken.spool")};
      EXPECT_NO_THROW(report_of(traces, {}, machine())) << at;
    }
  }
}

TEST_F(ProfileTest, ALaunchIsNoLargerThanCudaAllows) {
  SpoolBuilder spool;
  spool::Kind kind = {};
  kind.id = 1;
  kind.place = spool.place({});
  for (std::uint32_t& extent : kind.grid) extent = 0xffffffff;
  for (std::uint32_t& extent : kind.block) extent = 0xffffffff;
  spool.add(spool::Type::kind, kind);
  spool.launch(kind.id, kMs, 2 * kMs, 3 * kMs, 4 * kMs);
  spool.end(5 * kMs);
  std::ofstream(folder_ / "large.spool", std::ios::binary) << spool.bytes();
  const ProcessTrace trace = read_spool(folder_ / "large.spool");
  EXPECT_THAT(trace.kind(1).grid, testing::ElementsAre(0x7fffffff, 0xffff, 0xffff));
  EXPECT_THAT(trace.kind(1).block, testing::ElementsAre(1024, 1024, 1024));
  EXPECT_NO_THROW(report_of({trace}, {}, machine()));
}

// 1 ms of nothing, then per 100 us: a kernel of 40 us, a copy of 20 us half of which is under the kernel, 50 us of idle
// of which 10 us are a launch and 15 us a synchronisation.
TEST_F(ProfileTest, WallTimeIsDividedWithoutRemainder) {
  SpoolBuilder spool;
  const spool::Id kind = spool.kind("_Z5saxpyPfi");
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t at = kMs + i * 100 * kUs;
    spool.launch(kind, at - 10 * kUs, at, at, at + 40 * kUs);
    spool.copy(1 << 20, spool::Memory::pageable, spool::Memory::device, at + 5 * kUs, at + 30 * kUs, at + 50 * kUs);
    spool.call("cuStreamSynchronize", spool::CallKind::synchronise, at + 20 * kUs, at + 65 * kUs);
  }
  spool.end(10 * kMs);
  const Report done = report(spool);
  ASSERT_EQ(done.profile->devices.size(), 1U);
  const WallTime& wall = done.profile->devices[0];
  EXPECT_DOUBLE_EQ(wall.wall_s, 10e-3);
  EXPECT_NEAR(wall.before_s, 1e-3, 1e-12);
  EXPECT_NEAR(wall.kernels_s, 20 * 40e-6, 1e-12);
  EXPECT_NEAR(wall.copies_s, 20 * 10e-6, 1e-12);
  EXPECT_NEAR(wall.idle_launching_s, 19 * 10e-6, 1e-12);
  EXPECT_NEAR(wall.idle_waiting_s, 19 * 15e-6, 1e-12);
  EXPECT_NEAR(wall.idle_elsewhere_s, 19 * 25e-6, 1e-12);
  EXPECT_NEAR(wall.before_s + wall.kernels_s + wall.copies_s + wall.counting_s + wall.idle_launching_s +
                  wall.idle_waiting_s + wall.idle_elsewhere_s + wall.after_s,
              wall.wall_s, 1e-12);
}

TEST_F(ProfileTest, EveryGapHasACause) {
  SpoolBuilder spool;
  const spool::Id kind = spool.kind("_Z5saxpyPfi");
  const auto run = [&](std::uint64_t call, std::uint64_t start) {
    spool.launch(kind, call * kUs, (call + 2) * kUs, start * kUs, (start + 10) * kUs);
  };
  run(0, 5);    // ends at 15
  run(30, 35);  // the host was late: its launch came in the gap
  run(40, 50);  // launched while the one before ran
  spool.call("cuStreamSynchronize", spool::CallKind::synchronise, 45 * kUs, 61 * kUs);
  run(80, 85);  // the host had waited
  spool.call("cuMemAlloc_v2", spool::CallKind::allocate, 96 * kUs, 120 * kUs);
  run(125, 130);  // the host allocated
  spool.call("cuModuleLoadData", spool::CallKind::load, 141 * kUs, 190 * kUs);
  run(195, 200);
  spool.end(kMs);
  const std::vector<ProcessTrace> traces = {trace(spool)};
  const Recording recording(traces);
  std::set<SavingCause> causes;
  double total_s = 0;
  for (const IdlePart& part : idle_parts(recording, {{0, kMs}}, {})) {
    causes.insert(part.cause);
    total_s += part.seconds;
  }
  using enum SavingCause;
  EXPECT_THAT(causes, testing::ElementsAre(synchronize, tiny_kernels, allocation, module_load));
  EXPECT_NEAR(total_s, (20 + 5 + 25 + 35 + 60) * 1e-6, 1e-12) << "the parts of the gaps are the gaps";
}

TEST_F(ProfileTest, SumsAddUpAndBackwardBelongsToItsForward) {
  SpoolBuilder spool;
  const spool::Id line = spool.line("/home/me/model.py", 10, "forward");
  const spool::Id forward = spool.place({.line = line, .module = "blocks.0.fc1"});
  const spool::Id backward = spool.place({.line = line, .module = "blocks.0.fc1", .backward = true});
  const spool::Id other = spool.place({.module = "blocks.1.fc1"});
  std::uint64_t at = 0;
  const auto run = [&](spool::Id kind, std::uint64_t us) {
    spool.launch(kind, at, at + kUs, at + 2 * kUs, at + (2 + us) * kUs);
    at += (us + 10) * kUs;
  };
  run(spool.kind("a", forward), 30);
  run(spool.kind("b", backward), 60);
  run(spool.kind("a", other), 10);
  run(spool.kind("c"), 5);
  spool.end(at);
  const Profile profile =
      *report(spool, {.program = {"python"}, .folder = "/home/me", .run = {}, .untraced_s = {}}).profile;
  EXPECT_NEAR(profile.kernel_s, 105e-6, 1e-12);
  ASSERT_EQ(profile.lines.size(), 1U);
  EXPECT_EQ(profile.lines[0].file, "model.py");
  EXPECT_NEAR(profile.lines[0].total_s, 90e-6, 1e-12);
  EXPECT_NEAR(profile.lines[0].backward_s, 60e-6, 1e-12);
  EXPECT_NEAR(profile.lines[0].total_s + profile.without_line_s, profile.kernel_s, 1e-12);
  ASSERT_EQ(profile.modules.size(), 5U);  // blocks, 0, fc1, 1, fc1
  EXPECT_EQ(profile.modules[0].name, "blocks");
  EXPECT_NEAR(profile.modules[0].total_s, 100e-6, 1e-12);
  EXPECT_NEAR(profile.modules[0].self_s, 0, 1e-12);
  EXPECT_NEAR(profile.modules[0].backward_s, 60e-6, 1e-12);
  EXPECT_NEAR(profile.modules[0].total_s + profile.without_module_s, profile.kernel_s, 1e-12);
}

TEST_F(ProfileTest, RepeatedBlocksAreOneRow) {
  SpoolBuilder spool;
  for (std::uint64_t block = 0; block < 8; ++block) {
    const spool::Id place = spool.place({.module = "blocks." + std::to_string(block) + ".fc1"});
    const spool::Id kind = spool.kind("gemm", place);
    for (std::uint64_t i = 0; i < 4; ++i) {
      const std::uint64_t at = (block * 4 + i) * 100 * kUs;
      spool.launch(kind, at, at + kUs, at + 5 * kUs, at + 15 * kUs);
    }
  }
  const spool::Id elsewhere = spool.kind("gemm", spool.place({.module = "blocks.0.fc2"}));
  spool.launch(elsewhere, 4 * kMs, 4 * kMs + kUs, 4 * kMs + 5 * kUs, 4 * kMs + 15 * kUs);
  spool.end(5 * kMs);
  const Report done = report(spool);
  ASSERT_EQ(done.points.size(), 2U);
  EXPECT_EQ(done.points[0].profiled->launches, 32);
  EXPECT_EQ(done.points[0].profiled->module, "blocks.*.fc1");
  EXPECT_EQ(done.points[0].workload.label, "gemm, blocks.*.fc1");
  EXPECT_EQ(done.points[1].workload.label, "gemm, blocks.*.fc2");
}

// A kind of its own for each set of scalar parameters: rows of their own only where these matter.
TEST_F(ProfileTest, ScalarParametersThatMakeADifferenceAreRows) {
  SpoolBuilder spool;
  const auto run = [&](std::uint64_t scalars, std::uint64_t us) {
    const spool::Id kind = spool.kind("gemm", 0, 0, 132, scalars);
    for (std::uint64_t i = 0; i < 5; ++i) spool.launch(kind, i * kMs, i * kMs, i * kMs + kUs, i * kMs + (1 + us) * kUs);
    return kind;
  };
  run(1, 100);
  run(2, 101);  // a seed
  run(3, 300);  // another shape
  const spool::Id same_time = run(4, 301);
  const spool::Id more_work = run(5, 302);
  spool.counts(same_time, {{"tensor.wgmma_bf16_ops", 1e9}});
  spool.counts(more_work, {{"tensor.wgmma_bf16_ops", 2e9}});
  spool.end(6 * kMs);
  std::vector<std::int64_t> launches;
  const Report done = report(spool);
  for (const Point& point : done.points) launches.push_back(point.profiled->launches);
  EXPECT_THAT(launches, testing::UnorderedElementsAre(10, 10, 5));
}

TEST_F(ProfileTest, CountsMakeARowOfTheRoofline) {
  SpoolBuilder spool;
  const spool::Id kind = spool.kind("gemm");
  for (std::uint64_t i = 0; i < 6; ++i) {
    const std::uint64_t at = i * kMs;
    // The third is counted: it takes ten times as long, which is not the program's doing.
    const bool counted = i == 2;
    spool.launch(kind, at, at + kUs, at + 5 * kUs, at + (counted ? 405 : 205) * kUs,
                 counted ? std::uint32_t{spool::kCounted} : 0U);
  }
  spool.counts(kind,
               {{"tensor.wgmma_bf16_ops", 137438953472.0}, {"dram.read_bytes", 67e6}, {"dram.write_bytes", 33e6}});
  spool.end(7 * kMs);
  const Report done = report(spool);
  ASSERT_EQ(done.points.size(), 1U);
  const Point& point = done.points[0];
  EXPECT_DOUBLE_EQ(point.work.flops.at(Pipe::tensor_bf16), 137438953472.0);
  EXPECT_DOUBLE_EQ(point.work.bytes.at(Level::hbm).total(), 100e6);
  EXPECT_NEAR(point.time->median, 200e-6, 1e-12);
  EXPECT_EQ(point.time->samples, 5);
  EXPECT_NEAR(point.profiled->total_s, 5 * 200e-6 + 400e-6, 1e-12);
  EXPECT_EQ(point.bound.limiting_ceiling, "tensor.bf16");
  EXPECT_NEAR(point.fraction_of_roof(), 137438953472.0 / 800e12 / 200e-6, 1e-9);
  EXPECT_TRUE(point.profiled->complete);
  EXPECT_EQ(point.workload.dtype, DType::bf16);
  EXPECT_NEAR(done.profile->at_roof_s, 6 * 137438953472.0 / 800e12, 1e-12);
  EXPECT_NEAR(done.profile->counted_s, done.profile->kernel_s, 1e-12);
  EXPECT_TRUE(done.profile->counters);
}

TEST(ProfileMetrics, EveryQuantityStandsOnceAndTheStandardSetIsWhole) {
  const std::string text = metrics_text();
  std::set<std::string> ids;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string id = line.substr(0, line.find(' '));
    EXPECT_TRUE(ids.insert(id).second) << id;
    EXPECT_GE(std::count(line.begin(), line.end(), ' '), 2) << line << ": id, scale and a name at least";
  }
  const std::set<std::string> left_out = {"time_s", "sm.clock_hz", "l2.hit_rate"};
  for (const CounterMetric& metric : counter_metrics()) {
    const bool wanted = metric.set == CounterSet::standard && !left_out.contains(std::string(metric.id));
    EXPECT_EQ(ids.contains(std::string(metric.id)), wanted) << metric.id;
  }
}

TEST_F(ProfileTest, WithoutCountersNothingIsGuessed) {
  SpoolBuilder spool;
  spool.launch(spool.kind("gemm"), 0, kUs, 5 * kUs, 205 * kUs);
  spool.note(spool::NoteCode::not_counted, 10, "no permission: run as root");
  spool.end(kMs);
  const Report done = report(spool);
  const Point& point = done.points.at(0);
  EXPECT_THAT(point.work.flops, IsEmpty());
  EXPECT_THAT(point.work.bytes, IsEmpty());
  EXPECT_EQ(point.bound.label, BoundLabel::unknown);
  EXPECT_TRUE(std::isnan(point.fraction_of_roof()));
  EXPECT_EQ(done.profile->why_no_counters, "no permission: run as root");
  ASSERT_EQ(point.counters->kernels.size(), 1U);
  EXPECT_EQ(point.counters->kernels[0].blocks, 132);
  EXPECT_GT(point.counters->kernels[0].occupancy, 0);
  EXPECT_THAT(point.profiled->not_counted, HasSubstr("no permission"));
}

TEST_F(ProfileTest, AGraphHasItsKernelsTimesAndItsOwnCounts) {
  SpoolBuilder spool;
  const spool::Id graph = spool.kind("graph of 2 kernels", 0, spool::kGraph);
  const spool::Id first = spool.kind("a", 0, spool::kInGraph);
  const spool::Id second = spool.kind("b", 0, spool::kInGraph);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::uint64_t at = i * kMs;
    const std::uint32_t correlation = spool.launch_graph(graph, at, at + 5 * kUs);
    spool.kernel(first, correlation, at + 10 * kUs, at + 30 * kUs, 1);
    spool.kernel(second, correlation, at + 31 * kUs, at + 61 * kUs, 1);
  }
  spool.counts(graph, {{"dram.read_bytes", 100e6}, {"dram.write_bytes", 100e6}});
  spool.end(4 * kMs);
  const Report done = report(spool);
  ASSERT_EQ(done.points.size(), 3U);
  const Point& whole = done.points[0];
  EXPECT_TRUE(whole.profiled->graph);
  EXPECT_NEAR(whole.time->median, 51e-6, 1e-12);
  EXPECT_NEAR(whole.bound.attainable_time_s, 50e-6, 1e-12);
  EXPECT_NEAR(done.profile->kernel_s, 3 * 50e-6, 1e-12) << "its kernels once, not once more as the graph";
  EXPECT_TRUE(done.points[1].profiled->in_graph);
  EXPECT_NE(done.points[1].profiled->not_counted, "");
}

TEST(ProfileModes, TwoModesAreSeenAndScatterIsNot) {
  std::vector<double> alike, two;
  for (int i = 0; i < 200; ++i) {
    const double scatter = 1 + 0.05 * std::sin(i * 12.9898);
    alike.push_back(1e-5 * scatter);
    two.push_back((i % 4 == 0 ? 3e-5 : 1e-5) * scatter);
  }
  EXPECT_EQ(modes_of(alike), "");
  EXPECT_THAT(modes_of(two), HasSubstr("150 launches"));
  EXPECT_EQ(modes_of({1e-5, 9e-5, 1e-5}), "") << "too few to tell";
}

// Four programs made to be one thing each: the first line of the answer says which.
class FirstSaving : public ProfileTest {
 protected:
  /// `n` times a kernel of `kernel` us every `period` us, that reads and writes `bytes` and does `flops`.
  SpoolBuilder loop(std::uint64_t kernel, std::uint64_t period, double bytes, double flops, bool copies) {
    SpoolBuilder spool;
    const spool::Id kind = spool.kind("work");
    for (std::uint64_t i = 0; i < 100; ++i) {
      const std::uint64_t at = i * period * kUs;
      if (copies) {
        spool.copy(8 << 20, spool::Memory::pageable, spool::Memory::device, at, at + 2 * kUs,
                   at + (period - kernel - 5) * kUs);
      }
      const std::uint64_t begin = at + (period - kernel - 4) * kUs;
      spool.launch(kind, begin, begin + 2 * kUs, begin + 4 * kUs, begin + (4 + kernel) * kUs);
    }
    spool.counts(kind,
                 {{"dram.read_bytes", bytes / 2}, {"dram.write_bytes", bytes / 2}, {"tensor.wgmma_bf16_ops", flops}});
    spool.end(100 * period * kUs);
    return spool;
  }
  Saving first(const SpoolBuilder& spool) const { return report(spool).profile->savings.at(0); }
};

TEST_F(FirstSaving, OfALaunchBoundProgramIsTheHost) {
  const Saving saving = first(loop(2, 12, 4e6, 0, false));
  EXPECT_EQ(saving.kind, SavingKind::idle);
  EXPECT_FALSE(saving.one_off);
  EXPECT_NEAR(saving.seconds, 99 * 10e-6, 1e-9);
}

TEST_F(FirstSaving, OfACopyBoundProgramIsTheCopies) {
  const Saving saving = first(loop(10, 500, 20e6, 0, true));
  EXPECT_EQ(saving.kind, SavingKind::copies);
  EXPECT_EQ(saving.cause, SavingCause::pageable_copy);
  EXPECT_THAT(saving.action, HasSubstr("cudaHostAlloc"));
}

TEST_F(FirstSaving, OfAPoorStreamingProgramIsItsKernel) {
  const Saving saving = first(loop(100, 106, 100e6, 0, false));  // 25 us would do
  EXPECT_EQ(saving.kind, SavingKind::kernel);
  EXPECT_EQ(saving.cause, SavingCause::kernel);
  EXPECT_NEAR(saving.seconds, 99 * 75e-6, 1e-9) << "of the steps, which last to the next one's beginning";
  EXPECT_THAT(saving.evidence, HasSubstr("hbm.copy"));
}

TEST_F(FirstSaving, OfAPoorProductIsItsKernel) {
  const Saving saving = first(loop(400, 406, 1e6, 80e9, false));  // 100 us would do
  EXPECT_EQ(saving.kind, SavingKind::kernel);
  EXPECT_THAT(saving.evidence, HasSubstr("tensor.bf16"));
}

TEST_F(FirstSaving, OfStreamingKernelsInARowIsTheirFusion) {
  SpoolBuilder spool;
  const spool::Id relu = spool.kind("relu"), scale = spool.kind("scale");
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::uint64_t at = i * 260 * kUs;
    for (std::uint64_t k = 0; k < 10; ++k) {
      spool.launch(k % 2 == 0 ? relu : scale, at, at, at + (k * 26) * kUs, at + (k * 26 + 26) * kUs);
    }
  }
  for (const spool::Id kind : {relu, scale}) {
    spool.counts(kind, {{"dram.read_bytes", 50e6}, {"dram.write_bytes", 50e6}});
  }
  spool.end(26 * kMs);
  const Saving saving = first(spool);
  EXPECT_EQ(saving.kind, SavingKind::fusion);
  EXPECT_EQ(saving.cause, SavingCause::fusion);
  EXPECT_THAT(saving.what, testing::AllOf(HasSubstr("2 kernels"), HasSubstr("scale \u2192 relu")));
}

/// What Inductor can fuse, it has fused.
TEST_F(FirstSaving, OfAChainIsNoFusionWhereInductorMadeItsKernels) {
  for (const std::string name : {"triton_poi_fused_add_slice_", "cupy_add__float32_"}) {
    SpoolBuilder spool;
    const spool::Id even = spool.kind(name + "0"), odd = spool.kind(name + "1"), product = spool.kind("product");
    for (std::uint64_t i = 0; i < 50; ++i) {
      std::uint64_t at = i * 1000 * kUs;
      for (int k = 0; k < 10; ++k, at += 50 * kUs) spool.launch(k % 2 == 0 ? even : odd, at, at, at, at + 50 * kUs);
      spool.launch(product, at, at, at, at + 100 * kUs);
    }
    for (const spool::Id kind : {even, odd}) {
      spool.counts(kind, {{"dram.read_bytes", 50e6}, {"dram.write_bytes", 50e6}});
    }
    spool.end(50 * kMs);
    const Report done = report(spool);
    const bool fusion = std::ranges::any_of(done.profile->savings,
                                            [](const Saving& saving) { return saving.kind == SavingKind::fusion; });
    EXPECT_EQ(fusion, name.starts_with("cupy")) << name;
  }
}

/// Light kernels at half of their roof: a fused one takes the time of the traffic that is left. Of others only the
/// traffic is saved. Each kernel reads and writes 100 MB (25 us at the roof) in 50 us.
TEST_F(FirstSaving, OfAChainOfLightKernelsIsAllButTheRemainingTraffic) {
  constexpr std::size_t kChain = 36;
  for (const std::string name : {"cupy_multiply__float32", "my_kernel"}) {
    SpoolBuilder spool;
    std::vector<spool::Id> kinds;
    for (std::uint32_t k = 0; k < kChain; ++k) {
      const spool::Id place =
          spool.place({.line = spool.line("book.py", 28 + k / 4, k % 9 == 8 ? "helper" : "revalue")});
      kinds.push_back(spool.kind(name + std::to_string(k), place));
    }
    const spool::Id product = spool.kind("product");
    for (std::uint64_t i = 0; i < 50; ++i) {
      std::uint64_t at = i * 2000 * kUs;
      for (const spool::Id kind : kinds) {
        spool.launch(kind, at, at, at, at + 50 * kUs);
        at += 50 * kUs;
      }
      spool.launch(product, at, at, at, at + 100 * kUs);
    }
    for (const spool::Id kind : kinds) spool.counts(kind, {{"dram.read_bytes", 50e6}, {"dram.write_bytes", 50e6}});
    spool.end(101 * kMs);
    const Report done = report(spool);
    const std::vector<Saving>& savings = done.profile->savings;
    const auto is_fusion = [](const Saving& saving) { return saving.kind == SavingKind::fusion; };
    ASSERT_EQ(std::ranges::count_if(savings, is_fusion), 1) << name;
    const Saving& fusion = *std::ranges::find_if(savings, is_fusion);
    const auto steps = static_cast<double>(done.profile->steps->count);
    const double traffic_s = (kChain - 1) * 25e-6, remaining_s = 25e-6;
    const bool light = name.starts_with("cupy");
    EXPECT_NEAR(fusion.seconds / steps, light ? kChain * 50e-6 - remaining_s : traffic_s, 1e-6) << name;
    EXPECT_TRUE(fusion.line.ends_with(" revalue")) << fusion.line;
    EXPECT_TRUE(!light || savings.front().kind == SavingKind::fusion);
  }
}

TEST_F(FirstSaving, EachGpuHasTheRoofsOfItsOwnKernels) {
  const auto gpu = [](std::uint32_t pid, std::uint8_t uuid, std::uint64_t launches) {
    SpoolBuilder spool(pid, uuid);
    const spool::Id copy = spool.kind("copy");
    for (std::uint64_t i = 1; i <= launches; ++i) {
      spool.launch(copy, i * 100 * kUs, i * 100 * kUs, i * 100 * kUs, (i * 100 + 50) * kUs);
    }
    if (pid == 1) spool.counts(copy, {{"dram.read_bytes", 50e6}, {"dram.write_bytes", 50e6}});  // 25 us would do
    spool.end(40 * kMs);
    return spool;
  };
  const std::vector<ProcessTrace> traces = {trace(gpu(1, 1, 100), "1.1.spool"), trace(gpu(2, 2, 300), "2.1.spool")};
  const Report done = report_of(traces, {}, machine());
  ASSERT_EQ(done.points.size(), 1U) << "one kind of launch, on two GPUs";
  const std::vector<WallTime>& gpus = done.profile->devices;
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_NEAR(gpus[0].kernel_s, 100 * 50e-6, 1e-9);
  EXPECT_NEAR(gpus[1].kernel_s, 300 * 50e-6, 1e-9);
  EXPECT_NEAR(gpus[0].at_roof_s * 3, gpus[1].at_roof_s, 1e-9);
  EXPECT_NEAR(gpus[0].at_roof_s + gpus[1].at_roof_s, done.profile->at_roof_s, 1e-9);
  EXPECT_NEAR(gpus[0].roofed_s + gpus[1].roofed_s, done.profile->kernel_s, 1e-9);
  for (const Budget& budget : budgets(done)) EXPECT_EQ(budget.seconds(WallPart::no_roof), 0) << budget.device;
}

// An optimizer's kernels have one name and many arguments of templates.
TEST_F(FirstSaving, LongChainsAreToldShort) {
  const auto what_of = [this](const std::vector<std::string>& names) {
    SpoolBuilder spool;
    std::vector<spool::Id> kinds;
    for (const std::string& name : names) kinds.push_back(spool.kind(name));
    for (std::uint64_t i = 0; i < 100; ++i) {
      const std::uint64_t at = i * 1000 * kUs;
      for (std::uint64_t k = 0; k < kinds.size(); ++k) {
        spool.launch(kinds[k], at, at, at + (k * 26) * kUs, at + (k * 26 + 26) * kUs);
      }
      const std::uint64_t rest = at + kinds.size() * 26 * kUs;
      spool.launch(spool.kind("product"), rest, rest, rest, rest + kUs);
    }
    for (const spool::Id kind : kinds) spool.counts(kind, {{"dram.read_bytes", 50e6}, {"dram.write_bytes", 50e6}});
    spool.end(101 * kMs);
    const std::vector<Saving> savings = report(spool).profile->savings;
    const auto fusion = std::find_if(savings.begin(), savings.end(),
                                     [](const Saving& saving) { return saving.kind == SavingKind::fusion; });
    return fusion == savings.end() ? std::string() : fusion->what;
  };
  EXPECT_THAT(what_of({"norm<float, 4>", "apply<Add, float>", "apply<Mul, float>", "apply<Div>", "cast"}),
              testing::AllOf(HasSubstr("5 kernels"), HasSubstr("norm → apply (3×) → cast")));
  EXPECT_EQ(what_of(std::vector<std::string>(4, "_ZN2at6native25multi_tensor_apply_kernelI")), "")
      << "parts of lists of tensors hand nothing on";
  EXPECT_EQ(what_of({"a", "a", "a", "a", "b", "b", "b", "b", "b"}), "") << "rows of launches of one kernel";
  EXPECT_THAT(what_of({"a", "a", "a", "a", "b", "c"}), HasSubstr("2 kernels"));
  EXPECT_EQ(what_of({"cupy_multiply", "vector_fft_r2c<EPT>", "cupy_add", "DeviceRadixSortOnesweepKernel", "cast"}), "")
      << "transforms and sorts need all of their input first";
  EXPECT_THAT(what_of({"a", "b", "c", "d", "e", "f", "g<int>"}),
              testing::AllOf(HasSubstr("7 kernels"), HasSubstr("a → b → c → d → … 2 more → g")));
}

TEST_F(FirstSaving, IdleIsNotExplainedWhereWeWereTheCause) {
  const SpoolBuilder spool = loop(2, 12, 4e6, 0, false);
  ProgramRun run;
  run.end = 1200 * kUs;
  const auto kinds = [&](double untraced_s) {
    const Report done = report(spool, {.program = {"p"}, .folder = {}, .run = run, .untraced_s = untraced_s});
    std::vector<SavingKind> found;
    for (const Saving& saving : done.profile->savings) found.push_back(saving.kind);
    return found;
  };
  EXPECT_THAT(kinds(1150e-6), testing::Contains(SavingKind::idle));
  EXPECT_THAT(kinds(800e-6), testing::Not(testing::Contains(SavingKind::idle)));
}

TEST_F(ProfileTest, AProgramThatNeverUsedAGpuSaysSo) {
  const Report done =
      report_of({}, {.program = {"true"}, .folder = {}, .run = ProgramRun{}, .untraced_s = {}}, machine());
  EXPECT_THAT(done.points, IsEmpty());
  EXPECT_THAT(done.notes, testing::ElementsAre(HasSubstr("GPU")));
}

ProgramRun run_program_of(std::vector<std::string> command, const fs::path& spools = {}, bool has_window = false) {
  ProgramOptions options;
  options.command = std::move(command);
  options.environment = {{"ROOFLINE_TEST_VARIABLE", "7"}};
  options.spools = spools;
  options.has_window = has_window;
  return run_program(options);
}

TEST(ProgramTest, ItsLibrariesAreWhereItsUserSays) {
  const std::vector<std::string> looks = {"sh", "-c", "test \"$LD_LIBRARY_PATH\" = .:/elsewhere"};
  EXPECT_EQ(run_program_of(looks).exit_status, 1);
  ::setenv("ROOFLINE_USER_LIBRARY_PATH", ".:/elsewhere", 1);  // as leave_relative_library_folders() does
  EXPECT_EQ(run_program_of(looks).exit_status, 0);
  ::unsetenv("ROOFLINE_USER_LIBRARY_PATH");
}

TEST(ProgramTest, ItsEndIsItsOwn) {
  EXPECT_EQ(run_program_of({"sh", "-c", "exit $ROOFLINE_TEST_VARIABLE"}).exit_status, 7);
  const ProgramRun killed = run_program_of({"sh", "-c", "kill -9 $$"});
  EXPECT_EQ(killed.signal, 9);
  EXPECT_FALSE(killed.exit_status);
  EXPECT_FALSE(killed.stopped);
  EXPECT_GE(killed.end, killed.start);
  EXPECT_THROW(run_program_of({"/no/such/program"}), UsageError);
}

TEST_F(ProfileTest, ProcessesThatRecordAreWaitedForAndOthersAreNot) {
  // The first leaves a process behind that has a spool, and one that has none.
  const std::string script = "(sleep 1; echo done > " + (folder_ / "done").string() + ") & touch " +
                             (folder_ / "$!.1.spool").string() + "; sleep 600 & echo $! > " +
                             (folder_ / "pid").string();
  EXPECT_EQ(run_program_of({"sh", "-c", script}, folder_).exit_status, 0);
  EXPECT_TRUE(fs::exists(folder_ / "done"));
  pid_t other = 0;
  std::ifstream(folder_ / "pid") >> other;
  ASSERT_GT(other, 0);
  EXPECT_EQ(kill(other, SIGKILL), 0) << "it has ended, so it was waited for";
}

TEST_F(ProfileTest, AProcessThatIsNotTheProgramsIsNeitherWaitedForNorEnded) {
  std::ofstream(folder_ / (std::to_string(::getppid()) + ".1.spool"));
  std::ofstream(folder_ / "1.1.spool");
  EXPECT_EQ(run_program_of({"true"}, folder_).exit_status, 0);
}

TEST_F(ProfileTest, AProgramIsEndedWhenItsWindowIsOver) {
  SpoolBuilder spool;
  spool.note(spool::NoteCode::window_began, 1, "");
  spool.note(spool::NoteCode::window_ended, 2, "");
  spool.write(folder_ / "over");
  const std::string script =
      "mv " + (folder_ / "over").string() + " " + (folder_ / "$$.1.spool").string() + "; exec sleep 60";
  const ProgramRun ended = run_program_of({"sh", "-c", script}, folder_, true);
  EXPECT_TRUE(ended.stopped);
  EXPECT_EQ(ended.signal, 15);
}

/// What was recorded of real programs on an H200; tests/inject/spools says what each is.
class RecordedSpools : public ProfileTest {
 protected:
  static std::vector<ProcessTrace> traces(std::initializer_list<const char*> names) {
    std::vector<ProcessTrace> all;
    for (const char* name : names)
      all.push_back(read_spool(fs::path(ROOFLINE_SOURCE_DIR) / "tests/inject/spools" / name));
    return all;
  }
  static void expect_sums(const Report& done) {
    const Profile& profile = *done.profile;
    double rows = 0, lines = 0, modules = 0;
    for (const Point& point : done.points) rows += point.profiled->graph ? 0 : point.profiled->total_s;
    for (const LineSum& line : profile.lines) lines += line.total_s;
    for (const TreeSum& module : profile.modules) modules += module.parent < 0 ? module.total_s : 0;
    EXPECT_NEAR(rows, profile.kernel_s, 1e-9);
    EXPECT_NEAR(lines + profile.without_line_s, profile.kernel_s, 1e-9);
    EXPECT_NEAR(modules + profile.without_module_s, profile.kernel_s, 1e-9);
    for (const WallTime& wall : profile.devices) {
      EXPECT_GE(wall.kernel_s, wall.roofed_s);
      EXPECT_NEAR(wall.before_s + wall.kernels_s + wall.copies_s + wall.counting_s + wall.idle_launching_s +
                      wall.idle_waiting_s + wall.idle_elsewhere_s + wall.after_s,
                  wall.wall_s, 1e-9);
    }
  }
};

TEST_F(RecordedSpools, GraphReplay) {
  const std::vector<ProcessTrace> recorded = traces({"graph_replay.spool"});
  const Report done = report_of(recorded, {}, machine());
  expect_sums(done);
  EXPECT_TRUE(std::any_of(done.points.begin(), done.points.end(), [](const Point& p) { return p.profiled->graph; }));
  EXPECT_TRUE(std::any_of(done.points.begin(), done.points.end(), [](const Point& p) { return p.profiled->in_graph; }));
  EXPECT_GT(done.profile->modules.size(), 0U) << "kernels of a graph have the module of their capture";
}

TEST_F(RecordedSpools, TwoProcesses) {
  const std::vector<ProcessTrace> recorded = traces({"two_processes_1.spool", "two_processes_2.spool"});
  const Report done = report_of(recorded, {}, machine());
  expect_sums(done);
  EXPECT_EQ(done.profile->processes.size(), 2U);
  EXPECT_EQ(done.profile->devices.size(), 1U) << "one GPU, told apart by its UUID";
}

TEST_F(RecordedSpools, Killed) {
  const std::vector<ProcessTrace> recorded = traces({"killed.spool"});
  const Report done = report_of(recorded, {}, machine());
  expect_sums(done);
  EXPECT_TRUE(done.profile->processes.at(0).torn);
  EXPECT_THAT(done.points, testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace roofline
