// Nsight Compute: the report and the pages of one recording say the same, and broken ones are refused with their place.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/ncu_units.hpp"
#include "import/protobuf.hpp"
#include "report/profile_findings.hpp"
#include "report/work_source.hpp"
#include "tests/support/import_files.hpp"
#include "tests/support/protobuf_message.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

const std::string kBegin = ncu_report_begin();

struct NcuMetric {
  std::string name;
  double value;
};

std::string report_of_metrics(const std::vector<NcuMetric>& metrics, std::uint64_t wrong_name = 0) {
  ProtobufMessage table, result;
  result.number(1, 1).text(5, "_Z6kernelPf").text(6, "kernel");
  result.text(10, ProtobufMessage().number(1, 4).number(2, 1).number(3, 1).bytes());
  result.text(11, ProtobufMessage().number(1, 128).number(2, 1).number(3, 1).bytes());
  std::uint64_t id = wrong_name;
  for (const NcuMetric& metric : metrics) {
    table.text(1, metric.name);
    result.text(13, ProtobufMessage().number(1, id++).text(2, ProtobufMessage().real(3, metric.value).bytes()).bytes());
  }
  result.text(99, "a field of later versions").number(23, 7);
  const std::string payload = result.framed();
  return kBegin + ProtobufMessage().number(2, 1).text(4, table.bytes()).number(5, payload.size()).framed() + payload;
}

std::vector<NcuMetric> whole_launch() {
  return {{"gpu__time_duration.sum", 1000},
          {"dram__bytes_read.sum", 4096},
          {"dram__bytes_write.sum", 2048},
          {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 10},
          {"smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 20},
          {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 30},
          {"sm__ops_path_tensor_src_fp8_sparsity_off.sum", 500},
          {"sm__ops_path_tensor_src_fp8_sparsity_on.sum", 0}};
}

TEST(NcuReport, ALaunchHasItsTimesAndCounts) {
  const TemporaryFile file("a.ncu-rep", report_of_metrics(whole_launch()));
  const Report report = report_of_file(file.path());
  ASSERT_EQ(report.points.size(), 1U);
  const Point& point = report.points[0];
  EXPECT_EQ(point.profiled->full_name, "kernel(float*)");
  EXPECT_EQ(point.profiled->grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_NEAR(point.time->median, 1e-6, 1e-12);
  EXPECT_EQ(point.work.bytes.at(Level::hbm).read, 4096);
  EXPECT_EQ(point.work.bytes.at(Level::hbm).write, 2048);
  EXPECT_EQ(point.work.flops.at(Pipe::fp32), 10 + 20 + 2 * 30);
  EXPECT_EQ(point.work.flops.at(Pipe::tensor_fp8), 500) << "with and without sparsity together";
  EXPECT_FALSE(report.profile->timeline) << "when kernels ran is not in such a file";
  EXPECT_EQ(point.profiled->time_source, TimeSource::replayed);
  EXPECT_EQ(work_source(point), "counted");
  EXPECT_FALSE(bytes_is_lower_bound(point));
  EXPECT_THAT(point.profiled->sources, HasSubstr("ncu"));
}

TEST(NcuReport, WhatIsMissingIsNamedAndNothingGuessed) {
  std::vector<NcuMetric> metrics = whole_launch();
  metrics.resize(6);  // no tensor cores
  const TemporaryFile file("a.ncu-rep", report_of_metrics(metrics));
  const Report report = report_of_file(file.path());
  EXPECT_FALSE(std::isfinite(report.points.at(0).bound.arithmetic_intensity));
  EXPECT_THAT(report.points.at(0).profiled->not_counted, HasSubstr("tensor core operations"));
}

TEST(NcuReport, BrokenOnesAreRefusedWithTheirPlace) {
  const std::string whole = report_of_metrics(whole_launch());
  for (std::size_t size = 4; size + 1 < whole.size(); ++size) {
    if (size == kBegin.size()) continue;  // a report without a block
    EXPECT_THAT(refusal_of("a.ncu-rep", whole.substr(0, size)), HasSubstr("byte")) << size;
  }
  EXPECT_THAT(refusal_of("a.ncu-rep", report_of_metrics(whole_launch(), 1000)), HasSubstr("string 1000 of 8"));
  EXPECT_THAT(refusal_of("a.ncu-rep", kBegin + "\xff\xff\xff\xff"), HasSubstr("of 4294967295 bytes"));
  const std::string endless = "\x08" + std::string(12, '\xff');
  EXPECT_THAT(refusal_of("a.ncu-rep", kBegin + ProtobufMessage::length_of(endless.size()) + endless),
              HasSubstr("is broken"));
}

TEST(NcuNumbers, ALocaleIsLearnedFromTheWholeFile) {
  NcuNumbers english, german, french;
  for (const char* text : {"1,205,000", "25,120", "0.25"}) english.learn(text);
  for (const char* text : {"1.205.000", "25.120", "0,25"}) german.learn(text);
  EXPECT_EQ(english.read("25,120"), 25120);
  EXPECT_EQ(german.read("25.120"), 25120);
  EXPECT_EQ(german.read("1.205,5"), 1205.5);
  for (const char* text : {"1\u202f205,5", "25\u202f120"}) french.learn(text);
  EXPECT_EQ(french.read("25\u202f120"), 25120);
  EXPECT_EQ(english.read("12,345,678.5"), 12345678.5);
  EXPECT_FALSE(english.read("(none)"));
}

TEST(NcuUnits, OldAndNewSpellings) {
  EXPECT_EQ(ncu_unit_scale("Mbyte"), 1e6);
  EXPECT_EQ(ncu_unit_scale("usecond"), 1e3);
  EXPECT_EQ(ncu_unit_scale("ms"), 1e6);
  EXPECT_EQ(ncu_unit_scale("Ghz"), 1e9);
  EXPECT_EQ(ncu_unit_scale("cycle/nsecond"), 1e9);
  EXPECT_EQ(ncu_unit_scale("Tbyte/s"), 1e12);
  EXPECT_EQ(ncu_unit_scale("Kbyte/block"), 1e3);
  EXPECT_EQ(ncu_unit_scale("%"), 1);
  EXPECT_EQ(ncu_unit_scale(""), 1);
  EXPECT_FALSE(ncu_unit_scale("parsec"));
}

constexpr const char* kWide =
    "==PROF== Connected to process 1\nthe program's own output\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"dram__bytes_read.sum\","
    "\"gpu__time_duration.sum\",\"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active\"\n"
    "\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"us\",\"%\"\n"
    "\"0\",\"1\",\"void k<float, 8>(int)\",\"(128, 1, 1)\",\"(32, 2, 1)\",\"1,5\",\"2,25\",\"0\"\n";

TEST(NcuCsv, WideRowsAreReadByTheirUnitsAndLocale) {
  const TemporaryFile file("a.csv", kWide);
  const Report report = report_of_file(file.path());
  const Point& point = report.points.at(0);
  EXPECT_NEAR(point.time->median, 2.25e-6, 1e-12);
  EXPECT_EQ(point.counters->find("dram.read_bytes"), 1.5e6);
  EXPECT_EQ(point.profiled->grid, (std::array<std::int64_t, 3>{32, 2, 1}));
}

/// `ncu --set roofline` and `--set full` collect operations as rates, for their own chart. A product of 1024³ by ncu
/// 2024.1 on a GTX 1660 SUPER, which has no tensor cores; its fused multiply-adds are 1024³ + 1024².
TEST(NcuCsv, OperationsOfItsOwnSectionsAreRates) {
  const std::string op = "\"smsp__sass_thread_inst_executed_op_";
  const std::string rate = "_pred_on.sum.per_cycle_elapsed\",";
  const std::string text =
      "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\"," + op + "fadd" + rate + op + "fmul" + rate + op + "ffma" +
      rate +
      "\"dram__bytes.sum.per_second\",\"gpu__time_duration.sum\",\"smsp__cycles_elapsed.avg.per_second\","
      "\"sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active\"\n"
      "\"\",\"\",\"\",\"\",\"inst/cycle\",\"inst/cycle\",\"inst/cycle\",\"Gbyte/s\",\"ms\",\"cycle/nsecond\",\"%\"\n"
      "\"0\",\"naive_gemm\",\"(32, 32, 1)\",\"(32, 32, 1)\",\"0\",\"0.131072\",\"134.3488\",\"31.25\",\"4.8\","
      "\"1.6666666666666667\",\"0\"\n";
  const TemporaryFile file("a.csv", text);
  const Report report = report_of_file(file.path());
  const Point& point = report.points.at(0);
  EXPECT_NEAR(point.work.flops.at(Pipe::fp32), 2.0 * (1024.0 * 1024 * 1024 + 1024 * 1024) + 1024 * 1024, 3000);
  EXPECT_NEAR(point.work.bytes.at(Level::hbm).total(), 150e6, 1);
  EXPECT_EQ(point.profiled->not_counted, "");
}

TEST(NcuCsv, BrokenOnesAreRefusedWithTheirLine) {
  EXPECT_THAT(refusal_of("a.csv", std::string(kWide) + "\"x\",\"1\"\n"), HasSubstr("line 6"));
  EXPECT_THAT(refusal_of("a.csv", "==PROF== nothing\n"), HasSubstr("no header"));
  EXPECT_THAT(refusal_of("a.csv", std::string(kWide) + "\"1\",\"unended\n"), HasSubstr("quoted field"));
}

/// What the report says, every other form of the same recording says too.
class NcuPages : public testing::TestWithParam<const char*> {};

TEST_P(NcuPages, SayWhatTheReportSays) {
  const Report report = report_of_file(recorded("kernels.ncu-rep"));
  const Report page = report_of_file(recorded(GetParam()));
  const auto totals = [](const Report& of) {
    double time = 0, flops = 0, bytes = 0, launches = 0;
    for (const Point& point : of.points) {
      const auto often = static_cast<double>(point.profiled->launches);
      launches += often;
      time += point.profiled->total_s;
      flops += often * point.work.total_flops();
      if (point.work.bytes.contains(Level::hbm)) bytes += often * point.work.bytes.at(Level::hbm).total();
    }
    return std::array<double, 4>{launches, time, flops, bytes};
  };
  const auto expected = totals(report), found = totals(page);
  EXPECT_EQ(found[0], expected[0]);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NEAR(found[i] / expected[i], 1, 0.01) << i;
}
INSTANTIATE_TEST_SUITE_P(Recorded, NcuPages, testing::Values("wide.csv.gz", "wide-base.csv.gz", "details.csv.gz"));

/// Of ncu's own sections (`--set roofline`) everything that a bound needs is read: products have the FLOPs that they
/// have.
TEST(NcuPages, OfItsOwnSections) {
  const Report report = report_of_file(recorded("roofline-set.csv.gz"));
  EXPECT_EQ(report.points.size(), 13U);
  for (const Point& point : report.points) EXPECT_EQ(point.profiled->not_counted, "") << point.profiled->full_name;
  const auto flops = [&](std::string_view kernel, Pipe pipe) { return row_named(report, kernel).work.flops.at(pipe); };
  constexpr double kCube = 1024.0 * 1024 * 1024;
  EXPECT_NEAR(flops("nvjet_sm90_tst", Pipe::tensor_bf16), 2 * 64 * kCube, 10);
  EXPECT_NEAR(flops("nvjet_sm90_qqtst", Pipe::tensor_fp8), 2 * 64 * kCube, 10);
  EXPECT_NEAR(flops("gemm_f64f64", Pipe::tensor_fp64), 2 * kCube, 10);
  EXPECT_NEAR(flops("wmma_tensorop_i16", Pipe::tensor_int8), 2 * 8 * kCube, 10);
  EXPECT_NEAR(flops("simt_sgemm", Pipe::fp32), 2 * 8 * kCube, 1e-3 * 16 * kCube) << "and its epilogue";
  EXPECT_NEAR(flops("flash_fprop", Pipe::tensor_bf16), 4.0 * 8 * 16 * 2048 * 2048 * 128, 10);
}

TEST(NcuReport, ARecordedTrainingStep) {
  const Report report = report_of_file(recorded("kernels.ncu-rep"));
  // What ncu's own page shows of these launches.
  const Point& gemm = row_named(report, "nvjet_sm90_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN");
  EXPECT_EQ(gemm.work.flops.at(Pipe::tensor_bf16), 284'021'489'664.0);
  EXPECT_EQ(gemm.profiled->range.substr(0, 4), "step");
  const Point& axpy = row_named(report, "axpy");
  EXPECT_EQ(axpy.work.flops.at(Pipe::fp32), 2.0 * (1 << 26));
  EXPECT_NEAR(axpy.work.bytes.at(Level::hbm).total(), 2.0 * 4 * (1 << 26), 1e7) << "both inputs are one";
}

/// Tables of ncu 2020 with chosen metrics have no columns of grids: these are not known, and no grids of one block.
TEST(NcuCsv, AGridThatIsNotInTheFileIsNotKnown) {
  const std::string header =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\",\"Section Name\",\"Metric Name\","
      "\"Metric Unit\",\"Metric Value\"\n";
  const auto line = [](std::string_view metric, std::string_view unit, int value) {
    return fmt::format(
        "\"0\",\"9\",\"iterate\",\"2020-Nov-09 10:47:36\",\"1\",\"7\",\"Command line profiler metrics\",\"{}\","
        "\"{}\",\"{}\"\n",
        metric, unit, value);
  };
  const std::string table = header + line("gpu__time_duration.sum", "nsecond", 5000);
  const auto grid = [](const std::string& text) {
    const ImportedProfile profile = import_text("a.csv", text);
    const spool::Kind& kind = profile.trace.kind(profile.trace.kernels.at(0).kind);
    return std::array<std::uint32_t, 3>{kind.grid[0], kind.grid[1], kind.grid[2]};
  };
  EXPECT_EQ(grid(table), (std::array<std::uint32_t, 3>{0, 0, 0}));
  EXPECT_EQ(grid(table + line("launch__grid_size", "", 1)), (std::array<std::uint32_t, 3>{1, 1, 1}));
  EXPECT_EQ(grid(table + line("launch__grid_size", "", 64)), (std::array<std::uint32_t, 3>{64, 1, 1}));
}

}  // namespace
}  // namespace roofline
