// Rows of a CPU program: time and work of its loops, what does not fit together, and the verdict of each.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "model/error.hpp"
#include "profile/host_sums.hpp"
#include "render/render.hpp"
#include "report/diagnosis/verdict.hpp"
#include "report/findings.hpp"
#include "report/hotspots.hpp"
#include "report/json/json.hpp"
#include "report/profile_findings.hpp"
#include "report/roofs.hpp"
#include "tests/support/cpu_program.hpp"
#include "tests/unit/host_samples_builder.hpp"

namespace roofline {
namespace {

using example::counts_of;
using example::cpu_program_report;
using example::PlantedLoop;
using example::samples_of;
using testing::Contains;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// The rule that decides about the first row.
std::string rule_of(const Report& report) {
  const std::vector<Verdict> all = verdicts(report);
  const auto first = std::ranges::find(all, 0U, &Verdict::row);
  return first == all.end() ? "" : first->rule;
}

double gain_of(const Report& report) {
  const std::vector<Verdict> all = verdicts(report);
  const auto first = std::ranges::find(all, 0U, &Verdict::row);
  return first == all.end() ? 0 : first->total_gain_s;
}

TEST(CpuRows, HaveTheTimeAndTheWorkOfEachLoop) {
  const Report report = example::planted_cpu_report();
  ASSERT_THAT(report.points, SizeIs(3));
  const Point& stencil = report.points[0];  // of one thread: the longest
  EXPECT_NEAR(stencil.time->median, 0.45, 1e-6);
  EXPECT_EQ(stencil.work.threads, 1);
  EXPECT_EQ(stencil.work.bytes.at(Level::l1).total(), 2e9);
  EXPECT_EQ(stencil.work.bytes.at(Level::dram).read, 31250000 * 64.0);
  EXPECT_EQ(stencil.work.bytes.at(Level::dram).write, 6250000 * 64.0);
  EXPECT_EQ(stencil.bound.label, BoundLabel::memory);
  EXPECT_EQ(stencil.bound.limiting_ceiling, "dram.read.one_core");
  const Point& product = report.points[1];
  EXPECT_NEAR(product.time->median, 0.4, 0.01);
  EXPECT_EQ(product.work.threads, 0) << "all";
  EXPECT_EQ(product.bound.limiting_ceiling, "fp64");
  EXPECT_NEAR(product.fraction_of_roof(), 40e9 / 128e9 / 0.4, 0.02);
  EXPECT_EQ(product.profiled->work_source, WorkSource::emulated);
  EXPECT_EQ(product.profiled->loop->threads, 4);
  EXPECT_NEAR(product.profiled->loop->together, 4, 0.1);
  EXPECT_EQ(product.profiled->loop->iterations, 999);
  EXPECT_EQ(product.profiled->loop->entries, 1);
  EXPECT_NEAR(report.profile->emulated->cpu_s, 2.2, 1e-6);
  EXPECT_NEAR(report.profile->kernel_s, 1, 0.01);
  EXPECT_TRUE(report.profile->emulated->complete);
  double flops = 0, read = 0;
  for (const Point& point : report.points) {
    for (const auto& [pipe, count] : point.work.flops) flops += count;
    read += point.work.bytes.at(Level::dram).read;
  }
  ASSERT_TRUE(report.profile->emulated->totals);
  double total = 0;
  for (const auto& [pipe, count] : report.profile->emulated->totals->flops) total += count;
  EXPECT_EQ(total, flops) << "every loop has a row";
  EXPECT_EQ(report.profile->emulated->totals->read_bytes, read);
}

TEST(CpuRows, InCachesAreOnTheChartByTheirBytesAtL1) {
  const Report report =
      cpu_program_report({{.counts = "flops.fp64.256=20000000000 load.bytes=40000000000", .milliseconds = {500}}});
  EXPECT_EQ(report.points[0].work.bytes.at(Level::dram).total(), 0);
  EXPECT_TRUE(is_plottable(report.points[0]));
  EXPECT_DOUBLE_EQ(intensity_of(report.points[0], Intensity::memory), 0.5);
}

TEST(CpuRows, LeaveOutWhatTakesNoTime) {
  const Report report = cpu_program_report({{.head = 0x100, .counts = "loads=1", .milliseconds = {1000}},
                                            {.head = 0x200, .counts = "loads=1", .milliseconds = {3}}});
  EXPECT_THAT(report.points, SizeIs(1));
  EXPECT_NEAR(report.profile->emulated->folded_s, 0.003, 1e-9);
}

TEST(CpuRows, OfSomeThreadsHaveTheRoofsOfThose) {
  const Report report =
      cpu_program_report({{.counts = "flops.fp64.256=20000000000 load.bytes=64", .milliseconds = {500, 500}}});
  EXPECT_EQ(report.points[0].work.threads, 2);
  EXPECT_NEAR(report.points[0].bound.attainable_time_s, 20e9 / 64e9, 1e-6);
  // Memory is shared: two threads have what they reach, and not half of what four do.
  const Report memory =
      cpu_program_report({{.counts = "load.bytes=6400000000 l1.fills=100000000 l2.fills=100000000 l3.fills=100000000",
                           .milliseconds = {400, 400}}});
  EXPECT_NEAR(memory.points[0].bound.attainable_time_s, 6.4e9 / 20e9, 1e-6);
}

TEST(CpuRows, WithoutCountsSayWhy) {
  const Report other_path = cpu_program_report({{.head = 0x100, .counts = "loads=1", .milliseconds = {500}},
                                                {.head = 0x9000, .counts = "", .milliseconds = {500}},
                                                {.head = 0x200, .counts = "flops.fp64.256=1000 loads=9"}});
  const auto row = std::ranges::find_if(other_path.points, [](const Point& p) { return !p.profiled->complete; });
  ASSERT_NE(row, other_path.points.end());
  EXPECT_THAT(row->profiled->not_counted, Not(IsEmpty()));
  EXPECT_FALSE(row->counters);
  ASSERT_THAT(other_path.profile->emulated->timeless, SizeIs(1));
  EXPECT_EQ(other_path.profile->emulated->timeless[0].flops_share, 1);
  const Findings found = profile_findings(other_path);
  EXPECT_THAT(found, Contains(Field(&Finding::kind, FindingKind::code_without_counts)));
  EXPECT_THAT(found, Contains(Field(&Finding::kind, FindingKind::counts_without_time)));

  const Report partial = cpu_program_report({{.counts = "loads=1", .milliseconds = {500}}}, example::four_cores(),
                                            "illegal-instruction\t62f1\t/lib/x\t0x10");
  EXPECT_FALSE(partial.profile->emulated->complete);
  EXPECT_FALSE(partial.profile->emulated->totals);
  EXPECT_THAT(partial.points[0].profiled->not_counted, Not(IsEmpty()));
  EXPECT_TRUE(partial.points[0].work.bytes.empty());
  EXPECT_THAT(profile_findings(partial), Contains(Field(&Finding::kind, FindingKind::counts_incomplete)));
}

TEST(CpuRows, NeedNoRoofs) {
  Machine machine;
  machine.device.units = 4;
  const Report report = cpu_program_report({{.counts = "loads=1 load.bytes=8", .milliseconds = {500}}}, machine);
  EXPECT_EQ(report.points[0].bound.label, BoundLabel::unknown);
  EXPECT_THAT(render_terminal(report, {}), Not(IsEmpty()));
  EXPECT_THAT(render_html(report), Not(IsEmpty()));
}

TEST(CpuRows, AreReadAsTheyWereWritten) {
  const Report report = example::planted_cpu_report();
  const std::string text = render_json(report);
  const Report again = parse_report(text, "again.json");
  EXPECT_EQ(render_json(again), text);
  EXPECT_EQ(again.points[1].profiled->loop->iterations, 999);
  EXPECT_EQ(again.profile->emulated->isa, "avx2");
  EXPECT_EQ(again.profile->emulated->totals->flops, report.profile->emulated->totals->flops);
  EXPECT_EQ(again.points[0].profiled->time_source, TimeSource::sampled);
}

/// What two programs have in common but for the fault.
struct LoopPair {
  const char* rule;
  std::vector<PlantedLoop> faulty, healthy;
};

TEST(CpuRows, HaveACauseOnlyWithTheFault) {
  const PlantedLoop parallel = {
      .head = 0x9000, .counts = "flops.fp64.256=12000000000 load.bytes=64", .milliseconds = {100, 100, 100, 100}};
  const std::vector<LoopPair> pairs = {
      {"serial-part",
       {{.counts = "flops.fp64.256=10000000000 load.bytes=64", .milliseconds = {500}}, parallel},
       {{.counts = "flops.fp64.256=10000000000 load.bytes=64", .milliseconds = {500}}}},
      {"uneven-loop",
       {{.counts = "flops.fp64.256=40000000000 load.bytes=64", .milliseconds = {900, 400, 400, 400}}},
       {{.counts = "flops.fp64.256=40000000000 load.bytes=64", .milliseconds = {500, 500, 500, 510}}}},
      {"uneven-loop",
       {{.counts = "flops.fp64.256=20000000000 load.bytes=64", .milliseconds = {900, 200}}},
       {{.counts = "flops.fp64.256=20000000000 load.bytes=64", .milliseconds = {500, 510}}}},
      {"falsely-shared-loop",
       {{.counts =
             "flops.fp64.scalar=100000000 loads=200000000 stores=100000000 load.bytes=1600000000 falsely.shared=400",
         .milliseconds = {500, 500, 500, 500}}},
       {{.counts =
             "flops.fp64.scalar=100000000 loads=200000000 stores=100000000 load.bytes=1600000000 falsely.shared=3",
         .milliseconds = {500, 500, 500, 500}}}},
      {"partial-lines-loop",
       {{.counts = "flops.fp64.scalar=50000000 load.bytes=400000000 l1.fills=50000000 l2.fills=50000000 "
                   "l3.fills=50000000 stride.other=50000000",
         .milliseconds = {400}}},
       {{.counts = "flops.fp64.scalar=400000000 load.bytes=3200000000 l1.fills=50000000 l2.fills=50000000 "
                   "l3.fills=50000000 stride.next=50000000 stride.line=350000000",
         .milliseconds = {400}}}},
      {"irregular-loop",
       {{.counts = "loads=5000000 load.bytes=40000000 l1.fills=5000000 l2.fills=5000000 l3.fills=5000000 "
                   "stride.other=5000000",
         .milliseconds = {500}}},
       {{.counts = "load.bytes=320000000 l1.fills=5000000 l2.fills=5000000 l3.fills=5000000 stride.line=40000000",
         .milliseconds = {500}}}},
      {"strided-loop",
       {{.counts = "flops.fp64.scalar=40000000 loads=40000000 load.bytes=320000000 l1.fills=20000000 l2.fills=1000000 "
                   "l1.used=320000000 stride.other=40000000 stride.bytes=24000",
         .milliseconds = {500}}},
       {{.counts = "flops.fp64.scalar=40000000 loads=40000000 load.bytes=320000000 l1.fills=5000000 l2.fills=1000000 "
                   "l1.used=320000000 stride.line=35000000 stride.next=5000000 stride.bytes=8",
         .milliseconds = {500}}}},
      {"page-walk-loop",
       {{.counts = "loads=5000000 load.bytes=40000000 l1.fills=5000000 l2.fills=5000000 l3.fills=5000000 "
                   "stride.other=5000000 page.walks=4900000",
         .milliseconds = {500}}},
       {{.counts = "loads=5000000 load.bytes=40000000 l1.fills=5000000 l2.fills=5000000 l3.fills=5000000 "
                   "stride.other=5000000 page.walks=1000",
         .milliseconds = {500}}}},
      {"integer-dividing-loop",
       {{.counts = "divides=100000000 loads=100000000 load.bytes=800000000", .milliseconds = {500}}},
       {{.counts = "divides=1000000 loads=100000000 load.bytes=800000000", .milliseconds = {500}}}},
      {"calling-loop",
       {{.counts = "flops.fp64.scalar=100000000 calls=1000 load.bytes=800000000", .milliseconds = {500}}},
       {{.counts = "flops.fp64.scalar=100000000 calls=10 load.bytes=800000000", .milliseconds = {500}}}},
      {"instruction-loop",
       {{.counts = "int=100 load.bytes=800000000", .milliseconds = {500}, .iterations = 4e9}},
       {{.counts = "int=100 load.bytes=800000000", .milliseconds = {500}, .iterations = 1e8}}},
      {"dividing-loop",
       {{.counts = "flops.fp64.scalar=200000000 divides=200000000 load.bytes=64 l1.fills=1", .milliseconds = {500}}},
       {{.counts = "flops.fp64.scalar=200000000 divides=2000000 load.bytes=64 l1.fills=1", .milliseconds = {500}}}},
      {"subnormal-loop",
       {{.counts = "flops.fp64.scalar=20000000 products=20000000 subnormals=10000000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}},
       {{.counts = "flops.fp64.scalar=20000000 products=20000000 subnormals=100000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}}},
      {"subnormal-data-loop",
       {{.counts = "flops.fp64.128=400000000 products=200000000 subnormals=180000000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}},
       {{.counts = "flops.fp64.128=400000000 products=200000000 subnormals=80000000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}}},
      {"mispredicting-loop",
       {{.counts = "branches=100000000 mispredicted=50000000 loads=100000000 load.bytes=800000000",
         .milliseconds = {500}}},
       {{.counts = "branches=100000000 mispredicted=5000000 loads=100000000 load.bytes=800000000",
         .milliseconds = {500}}}},
      {"atomic-loop",
       {{.counts = "atomics=100000000 loads=100000000 load.bytes=800000000", .milliseconds = {500}}},
       {{.counts = "atomics=10000000 loads=100000000 load.bytes=800000000", .milliseconds = {500}}}},
      {"converting-loop",
       {{.counts = "flops.fp64.scalar=500000000 conversions=2000000000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}},
       {{.counts = "flops.fp64.scalar=500000000 conversions=500000000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}}},
      {"chain-loop",
       {{.counts = "flops.fp64.scalar=500000000 chain.cycles=1500000000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}},
       {{.counts = "flops.fp64.scalar=500000000 chain.cycles=300000000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}}},
      // Independent chains keep the pipes busy at the width of their vectors.
      {"chain-loop",
       {{.counts = "flops.fp64.128=4000000000 chain.cycles=800000000 load.bytes=64 l1.fills=1", .milliseconds = {500}}},
       {{.counts = "flops.fp64.128=7800000000 chain.cycles=630000000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}}},
      {"narrow-vectors-loop",
       {{.counts = "flops.fp64.128=7800000000 chain.cycles=630000000 load.bytes=64 l1.fills=1", .milliseconds = {500}}},
       {{.counts = "flops.fp64.256=15600000000 chain.cycles=630000000 load.bytes=64 l1.fills=1",
         .milliseconds = {500}}}},
      // A core that executes four instructions per cycle does not wait for loads.
      {"irregular-loop",
       {{.counts = "loads=20000000 load.bytes=160000000 l1.fills=20000000 stride.other=20000000",
         .milliseconds = {500}}},
       {{.counts = "loads=20000000 load.bytes=160000000 l1.fills=20000000 stride.other=20000000",
         .milliseconds = {500},
         .iterations = 4e9}}},
      {"load-chain-loop",
       {{.counts = "chain.loads=10000000 loads=20000000 load.bytes=160000000 l1.fills=10000000 l2.fills=10000000 "
                   "l3.fills=10000000 stride.other=10000000 page.walks=10000000",
         .milliseconds = {500}}},
       {{.counts = "loads=20000000 load.bytes=160000000 l1.fills=10000000 l2.fills=10000000 l3.fills=10000000 "
                   "stride.other=10000000 page.walks=10000000",
         .milliseconds = {500}}}},
      {"scalar-loop",
       {{.counts = "flops.fp64.scalar=2000000000 load.bytes=16000000000 l1.fills=1000", .milliseconds = {500}}},
       {{.counts = "flops.fp64.256=2000000000 load.bytes=16000000000 l1.fills=1000", .milliseconds = {500}}}}};
  for (const LoopPair& pair : pairs) {
    const Report faulty = cpu_program_report(pair.faulty), healthy = cpu_program_report(pair.healthy);
    EXPECT_EQ(rule_of(faulty), pair.rule);
    EXPECT_NE(rule_of(healthy), pair.rule);
    EXPECT_LE(gain_of(faulty), faulty.points[0].profiled->total_s) << pair.rule;
    EXPECT_GE(gain_of(faulty), 0) << pair.rule;
  }
}

/// Two threads of which one waits for a CPU while the other runs: 50 ms of each in turn.
TEST(CpuRows, OfASerialPartBesideOtherPrograms) {
  for (const bool has_two : {true, false}) {
    ProgramFacts facts = {.program = {"solver"}, .folder = "/planted", .run = {}, .untraced_s = {}};
    facts.gpu = false;
    const std::vector<PlantedLoop> loops = {
        {.counts = "flops.fp64.256=10000000000 load.bytes=64", .milliseconds = {500}}};
    HostSamplesBuilder builder;
    const int first = builder.thread(10, 10), second = builder.thread(10, 11);
    const int stack = builder.stack({HostSamplesBuilder::own("solver.c", 9, "step")});
    for (std::uint64_t i = 1; i <= 100; ++i) {
      builder.sample(first, i * 10'000'000, ThreadState::running, stack);
      const bool ready = has_two && i % 2 == 0;
      builder.sample(second, i * 10'000'000, ready ? ThreadState::runnable : ThreadState::lock, stack);
    }
    facts.host = builder.take();
    facts.host->code = samples_of(loops).code;
    facts.counted = counts_of(loops);
    const Report report = report_of({}, facts, example::four_cores());
    EXPECT_EQ(rule_of(report) == "serial-part", has_two);
    for (std::size_t i = 0; i < facts.host->code.samples.size(); ++i)
      facts.host->code.samples[i].thread = i / 50 % 2 == 0 ? 0 : 1;
    EXPECT_NE(rule_of(report_of({}, facts, example::four_cores())), "serial-part") << "both threads run it, in turn";
  }
}

TEST(CpuRows, ShareTheTimeOfTheirLineWithInlinedLibraries) {
  const auto sum_at = [](const std::string& line) {
    Report report = cpu_program_report(
        {{.counts = "flops.fp64.scalar=2000000000 load.bytes=16000000000 l1.fills=1000", .milliseconds = {500}}});
    HostSamplesBuilder builder;
    const int thread = builder.thread(10, 10);
    const int stack =
        builder.stack({HostSamplesBuilder::native("/usr/include/c++/12/bits/stl_algo.h", "std::__find_if"),
                       {"step", "/home/u/solver.cpp", 7, false, true}});
    for (std::uint64_t i = 1; i <= 40; ++i) builder.sample(thread, i * 10'000'000, ThreadState::running, stack);
    report.profile->host = host_profile(builder.take());
    report.points[0].profiled->line = line;
    double sum = 0;
    for (const Hotspot& hotspot : hotspots_of(report, verdicts(report))) sum += hotspot.seconds;
    return sum;
  };
  EXPECT_LE(sum_at("solver.cpp:7 step"), 0.501);
  EXPECT_GT(sum_at("solver.cpp:9 step"), 0.501) << "another line's time";
}

TEST(CpuRows, WithoutAnExplanationHaveNoCause) {
  const Report report = cpu_program_report({{.counts = "instructions=1000000000 loads=100000000 load.bytes=800000000 "
                                                       "l1.fills=1000",
                                             .milliseconds = {500}}});
  const std::vector<Verdict> found = verdicts(report);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].rule, "unexplained-loop");
  EXPECT_EQ(found[0].kind, VerdictKind::unknown);
  EXPECT_FALSE(found[0].actionable);
}

TEST(CpuRows, WhoseCountsAreOfOtherWorkThanTheirTime) {
  const auto kind_of = [](double iterations) {
    const std::vector<Verdict> found =
        verdicts(cpu_program_report({{.counts = "loads=100000000 load.bytes=800000000 l1.fills=1000",
                                      .milliseconds = {500},
                                      .iterations = iterations}}));
    return found.empty() ? VerdictKind::at_roof : found[0].kind;
  };
  EXPECT_EQ(kind_of(1e11), VerdictKind::measure);
  EXPECT_EQ(kind_of(1e9), VerdictKind::unknown);
}

/// A rep movs is a jump to itself.
TEST(CpuRows, OfSmallCopies) {
  const auto rule = [](double bytes) {
    CountedInstructions counted;
    std::istringstream in(
        "roofline-counts\t1\npid\t10\t1\nmodule\t0\t0x0\t/planted/solver\n"
        "i\t0\t0x100\t1000000\tloads=1000000\tload.bytes=8000000\n" +
        fmt::format("i\t0\t0x104\t{0}\tloads={1}\tload.bytes={1}\tstores={1}\tstore.bytes={1}\n", 1e6 * (bytes + 1),
                    1e6 * bytes) +
        fmt::format("e\t0\t0x104\t0x104\t{}\ne\t0\t0x110\t0x100\t999999\nend\tcomplete\n", 1e6 * bytes));
    read_counts(in, "10.counts", counted);
    const CountedInstruction& copy = counted.instructions.at(1);
    EXPECT_EQ(counted.counts_of(copy).of(CountKey::string_uses), 1e6);
    EXPECT_EQ(counted.counts_of(copy).of(CountKey::string_bytes), 1e6 * bytes);
    ProgramFacts facts = {.program = {"solver"}, .folder = "/planted", .run = {}, .untraced_s = {}};
    facts.host = example::samples_of({{.head = 0x104, .counts = "", .milliseconds = {500}}});
    facts.counted = counted;
    facts.gpu = false;
    return rule_of(report_of({}, facts, example::four_cores()));
  };
  EXPECT_EQ(rule(8), "small-copies-loop");
  EXPECT_NE(rule(4096), "small-copies-loop");
}

/// Code without symbols may be several functions: what the emulated run executed there need not be what took time.
TEST(CpuRows, OfAFunctionThatTookAnotherPathHaveNoWork) {
  const auto counted_at = [](const char* address) {
    CountedInstructions counted;
    std::istringstream in(
        fmt::format("roofline-counts\t1\npid\t10\t1\nmodule\t0\t0x0\t/planted/solver\ni\t0\t{}\t1000\t"
                    "load.bytes=800000000\nend\tcomplete\n",
                    address));
    read_counts(in, "10.counts", counted);
    ProgramFacts facts = {.program = {"solver"}, .folder = "/planted", .run = {}, .untraced_s = {}};
    facts.host = example::samples_of({{.head = 0x100, .counts = "", .milliseconds = {500}}});
    facts.counted = counted;
    facts.gpu = false;
    return report_of({}, facts, example::four_cores()).points.at(0).profiled->complete;
  };
  EXPECT_TRUE(counted_at("0x100"));
  EXPECT_FALSE(counted_at("0x900"));
}

TEST(CpuRows, OfDivisionsNeedAtMostAllOfTheirTime) {
  const Report report = cpu_program_report(
      {{.counts = "flops.fp64.scalar=900000000 divides=900000000 load.bytes=64 l1.fills=1", .milliseconds = {500}}});
  EXPECT_EQ(rule_of(report), "dividing-loop");
  EXPECT_THAT(verdicts(report)[0].finding, testing::HasSubstr("100.0 %"));
}

TEST(CpuRows, OfAHealthyLoopAreAtTheirRoof) {
  const Report product =
      cpu_program_report({{.counts = "flops.fp64.256=48000000000 load.bytes=12000000000 l1.fills=100",
                           .milliseconds = {400, 400, 400, 400}}});
  EXPECT_EQ(verdicts(product)[0].kind, VerdictKind::at_roof);
  const Report stream = cpu_program_report(
      {{.counts =
            "flops.fp64.256=100000000 load.bytes=4800000000 l1.fills=75000000 l2.fills=75000000 l3.fills=75000000 "
            "stride.line=75000000 stride.next=75000000",
        .milliseconds = {250, 250, 250, 250}}});
  EXPECT_EQ(verdicts(stream)[0].kind, VerdictKind::at_roof);
}

}  // namespace
}  // namespace roofline
