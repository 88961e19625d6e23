// Triton Proton: what authors state is a row's work, and is told to be theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "report/profile_findings.hpp"
#include "report/work_source.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

constexpr const char* kTree =
    R"json([{"frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0, "time (ns)": 0},
  "children": [{"frame": {"name": "step", "type": "function"}, "metrics": {}, "children": [
    {"frame": {"name": "matmul_64", "type": "function"}, "metrics": {"count": 4, "time (ns)": 8000, "flops16": 4000,
      "bytes": 1600, "device_id": "0", "device_type": "CUDA"}, "children": []},
    {"frame": {"name": "__proton_launch_metadata:x", "type": "function"}, "metrics": {"count": 4, "time (ns)": 100},
      "children": []}]}]},
  {"CUDA": {"0": {"arch": "90", "bus_width": 5120, "clock_rate": 1980000, "memory_clock_rate": 2619000, "num_sms": 132}}}])json";

TEST(Proton, ATreeHasMeansAndWhatAuthorsState) {
  const TemporaryFile file("proton.hatchet", kTree);
  const Report report = report_of_file(file.path());
  ASSERT_EQ(report.points.size(), 1U) << "Proton's own kernels are no rows";
  const Point& point = report.points[0];
  EXPECT_EQ(point.workload.op, "matmul_64");
  EXPECT_EQ(point.profiled->launches, 4);
  EXPECT_NEAR(point.time->median, 2e-6, 1e-12);
  EXPECT_EQ(point.work.flops.at(Pipe::tensor_fp16), 1000);
  EXPECT_EQ(point.work.bytes.at(Level::hbm).total(), 400);
  EXPECT_EQ(point.profiled->range, "step");
  EXPECT_THAT(point.profiled->sources, HasSubstr("stated"));
  EXPECT_EQ(work_source(point), "stated");
  EXPECT_EQ(point.profiled->time_source, TimeSource::averaged);
  EXPECT_THAT(where_figures_are_from(report), HasSubstr("mean"));
  const DeviceFacts device = device_of({read_profile_file(file.path())});
  EXPECT_EQ(device.sms, 132U);
  EXPECT_EQ(device.core_hz, 1.98e9);
}

TEST(Proton, ATraceHasTimes) {
  const TemporaryFile file("proton.chrome_trace", R"json({"displayTimeUnit": "us", "traceEvents": [
    {"args": {"name": "GPU Stream 7"}, "name": "thread_name", "ph": "M", "pid": 0, "tid": 2000007},
    {"args": {"call_stack": ["ROOT", "step", "matmul_64"], "metrics": {"flops16": 1000, "bytes": 400}}, "cat": "kernel",
     "dur": 2.5, "name": "matmul_64", "ph": "X", "pid": 0, "tid": 2000007, "ts": 1.0},
    {"args": {"call_stack": ["ROOT", "other"]}, "cat": "kernel", "dur": 1, "name": "other", "ph": "X", "pid": 0,
     "tid": 2000007, "ts": 10.0}]})json");
  const Report report = report_of_file(file.path());
  ASSERT_EQ(report.points.size(), 2U);
  const Point& point = row_named(report, "matmul_64");
  EXPECT_EQ(point.work.flops.at(Pipe::tensor_fp16), 1000);
  EXPECT_NEAR(point.time->median, 2.5e-6, 1e-12);
  EXPECT_EQ(point.profiled->range, "step");
  EXPECT_THAT(row_named(report, "other").profiled->not_counted, HasSubstr("launch_metadata"));
  EXPECT_EQ(report.profile->timeline->lanes.at(0).name, "GPU 0, stream 7");
}

/// Launches and seconds of all rows.
std::pair<std::int64_t, double> sums_of(const Report& report) {
  std::pair<std::int64_t, double> sums;
  for (const Point& point : report.points) {
    sums.first += point.profiled->launches;
    sums.second += point.profiled->total_s;
  }
  return sums;
}

// Of the same four steps: what the files' own figures add up to.
TEST(Proton, RecordedFilesAreWhatTheySay) {
  const Report tree = report_of_file(recorded("proton.hatchet.gz"));
  EXPECT_EQ(sums_of(tree).first, 368);
  EXPECT_NEAR(sums_of(tree).second, 43.877045e-3, 368 * 0.5e-9) << "launches take whole nanoseconds";
  const Point& stated = row_named(tree, "axpy_67108864");
  EXPECT_EQ(stated.work.flops.at(Pipe::fp32), 536870912 / 4);
  EXPECT_EQ(stated.work.bytes.at(Level::hbm).total(), 3221225472 / 4);
  EXPECT_NEAR(stated.time->median, 509946e-9 / 4, 1e-9);

  const Report trace = report_of_file(recorded("proton-trace.chrome_trace.gz"));
  EXPECT_EQ(sums_of(trace).first, 368);
  EXPECT_NEAR(sums_of(trace).second, 43.959195e-3, 1e-9);
  EXPECT_EQ(row_named(trace, "axpy_67108864").work.flops.size(), 0U) << "this Proton's traces have no metadata";
  EXPECT_EQ(trace.points.size(), tree.points.size());
}

TEST(Proton, HostileTreesAreRefused) {
  EXPECT_THAT(
      refusal_of("a.hatchet",
                 R"json([{"frame": {"name": "a"}, "metrics": {"count": 1e300, "time (ns)": 5}, "children": []}])json"),
      HasSubstr("launches"));
  EXPECT_THAT(refusal_of("a.hatchet", R"json([{"frame": {"name": "a"}, "children": [)json"), HasSubstr("byte"));
  EXPECT_THAT(
      refusal_of("a.hatchet", R"json([{"frame": {"name": "a"}, "metrics": {"time (ns)": -5}, "children": []}])json"),
      HasSubstr("no kernel"));
}

/// Two scopes whose numbers differ, around one kernel each: four and two launches.
std::string scopes_of_a_product(std::string_view first, std::string_view second) {
  return fmt::format(R"json([{{"frame": {{"name": "ROOT", "type": "function"}}, "metrics": {{}}, "children": [
    {{"frame": {{"name": "blas [K=384]", "type": "function"}}, "metrics": {{"flops16": {}}}, "children": [
      {{"frame": {{"name": "gemm", "type": "function"}}, "metrics": {{"count": 4, "time (ns)": 8000}}, "children": []}}]}},
    {{"frame": {{"name": "blas [K=512]", "type": "function"}}, "metrics": {{"flops16": {}}}, "children": [
      {{"frame": {{"name": "gemm", "type": "function"}}, "metrics": {{"count": 2, "time (ns)": 4000}},
        "children": []}}]}}]}}])json",
                     first, second);
}

TEST(Proton, LaunchesOfDifferentWorkAreDifferentRows) {
  const auto flops_in = [](const Report& report) {
    double flops = 0;
    for (const Point& point : report.points) {
      flops += point.work.total_flops() * static_cast<double>(point.profiled->launches);
    }
    return flops;
  };
  const Report different = report_of_file(TemporaryFile("a.hatchet", scopes_of_a_product("4000", "8000")).path());
  EXPECT_EQ(different.points.size(), 2U);
  EXPECT_EQ(flops_in(different), 12000);
  const Report equal = report_of_file(TemporaryFile("a.hatchet", scopes_of_a_product("4000", "2000")).path());
  EXPECT_EQ(equal.points.size(), 1U) << "numbers of ranges are ignored";
  EXPECT_EQ(flops_in(equal), 6000);
}

}  // namespace
}  // namespace roofline
