// What a report of an import says of its counters, copies and framework agrees with its rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "import/xla_details.hpp"
#include "profile/actions.hpp"
#include "profile/recording.hpp"
#include "report/profile_findings.hpp"
#include "report/work_source.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Two launches of a kernel whose counters these are.
Report rocprof_counters(const std::vector<std::string>& counters) {
  std::string text =
      "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Grid_Size\",\"Kernel_Name\",\"Workgroup_Size\","
      "\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";
  for (const int launch : {1, 2}) {
    for (const std::string& counter : counters) {
      text += fmt::format("{0},{0},4,1,1024,axpy,256,{1},4096,{0}1000,{0}3000\n", launch, counter);
    }
  }
  const TemporaryFile file("counter_collection.csv", text);
  return report_of_file(file.path());
}

std::string counters_in_footer(const Report& report) {
  for (const auto& [what, fact] : completeness(report)) {
    if (what == "Counters") return fact;
  }
  return "none";
}

TEST(CountersFooter, AgreesWithTheRows) {
  const Report counted = rocprof_counters({"FETCH_SIZE", "WRITE_SIZE"});
  EXPECT_EQ(work_source(counted.points.at(0)), "counted");
  EXPECT_THAT(counters_in_footer(counted), AllOf(HasSubstr("1 of 1"), Not(HasSubstr("none"))));
  const Report part = rocprof_counters({"FETCH_SIZE"});
  EXPECT_EQ(work_source(part.points.at(0)), "");
  EXPECT_THAT(counters_in_footer(part), AllOf(HasSubstr("none"), HasSubstr("WRITE_SIZE")));
  EXPECT_THAT(part.points.at(0).profiled->not_counted, HasSubstr("WRITE_SIZE"));
  const Report other = rocprof_counters({"WRITE_SIZE"});
  EXPECT_THAT(other.points.at(0).profiled->not_counted, HasSubstr("FETCH_SIZE"));
}

TEST(CountersSource, IsNotCuptiOfAnAmdGpu) {
  const Report report = rocprof_counters({"FETCH_SIZE"});
  ASSERT_TRUE(report.points.at(0).counters);
  EXPECT_THAT(report.points[0].counters->source, Not(HasSubstr("CUPTI")));
}

TEST(RocprofGrids, OfAllWorkItemsHaveThreeExtents) {
  const Report report = rocprof_counters({"FETCH_SIZE", "WRITE_SIZE"});
  EXPECT_EQ(report.points.at(0).profiled->grid, (std::array<std::int64_t, 3>{4, 1, 1}));
  EXPECT_EQ(report.points.at(0).profiled->block, (std::array<std::int64_t, 3>{256, 1, 1}));
}

TEST(GoogleBenchmarkJson, WithoutTimesIsNamed) {
  const std::string named = R"({"benchmarks": [{"name": "a", "run_type": "iteration", "family_index": 0}]})";
  EXPECT_THAT(refusal_of("b.json", named), AllOf(HasSubstr("Google Benchmark"), Not(HasSubstr("Chrome"))));
  EXPECT_EQ(refusal_of("b.json", R"({"benchmarks": [{"name": "a", "run_type": "iteration", "real_time": 5,
                                     "cpu_time": 5, "time_unit": "us", "iterations": 1}]})"),
            "");
}

/// The notes on benchmarks that take so long.
std::string notes_of_benchmarks(const std::vector<std::string>& times_ns) {
  std::string runs, notes;
  for (const std::string& time : times_ns) {
    runs += fmt::format(R"({}{{"name": "b{}", "real_time": {}, "cpu_time": 1, "time_unit": "ns", "iterations": 1}})",
                        runs.empty() ? "" : ",", time, time);
  }
  for (const std::string& note : import_text("b.json", R"({"benchmarks": [)" + runs + "]}").notes) notes += note + '\n';
  return notes;
}

TEST(GoogleBenchmarkJson, UnlikeRowsAreNotedBesideTheirTotal) {
  EXPECT_THAT(notes_of_benchmarks({"5", "5000"}), AllOf(HasSubstr("x1000"), HasSubstr("total")));
  EXPECT_THAT(notes_of_benchmarks({"5", "6"}), AllOf(HasSubstr("x1000"), Not(HasSubstr("total"))));
  EXPECT_THAT(notes_of_benchmarks({"5000"}), Not(HasSubstr("total")));
}

TEST(GoogleBenchmarkJson, TimesThatNoComputationTakesHaveNoRow) {
  const ImportedProfile profile = import_text(
      "b.json",
      R"({"benchmarks": [{"name": "BM_Empty", "real_time": 1.9e-9, "cpu_time": 2e-9, "time_unit": "ns", "iterations": 1},
                  {"name": "BM_Work", "real_time": 5000, "cpu_time": 1, "time_unit": "ns", "iterations": 1}]})");
  EXPECT_EQ(profile.trace.kernels.size(), 1U);
  EXPECT_THAT(notes_of_benchmarks({"1e-9", "5000"}), HasSubstr("b1e-9"));
  EXPECT_THAT(notes_of_benchmarks({"0.3", "5000"}), Not(HasSubstr("b0.3"))) << "an iteration within a cycle";
}

TEST(OtherFiles, BinaryFilesThatWereSavedAsText) {
  std::string damaged("\n\xef\xbf\xbd\x01\x08\x01\x12\x0d/device:TPU:0", 24), text;
  for (int i = 0; i < 20; ++i) damaged += "\x1a\xef\xbf\xbd\x01\x02";
  for (int i = 0; i < 20; ++i) text += "name \xef\xbf\xbd,1\n";
  EXPECT_THAT(refusal_of("a.xplane.pb", damaged), HasSubstr("saved as text"));
  EXPECT_THAT(refusal_of("a.csv", text), Not(HasSubstr("saved as text")));
}

TEST(OtherFiles, OfSamplersAndCaliperAreNamed) {
  EXPECT_THAT(refusal_of("a.csv", "timestamp, utilization.gpu [%], power.draw [W]\n1, 0 %, 16 W\n"),
              HasSubstr("nvidia-smi"));
  EXPECT_THAT(refusal_of("a.cali", "__rec=node,id=12,attr=8,data=1\n"), HasSubstr("Caliper"));
  EXPECT_THAT(refusal_of("a.csv", "Time,Time,Calls,Avg,Min,Max,Operation\n47.79,542ms,45,12ms,12ms,12ms,k\n"),
              HasSubstr("nvprof"));
  EXPECT_THAT(refusal_of("a.csv", "timestamp,value\n1,2\n"), Not(HasSubstr("nvidia-smi")));
}

TEST(XlaCopies, HaveTheirDirectionInTheNameElseInTheDetails) {
  const XlaCopyEnds named = xla_copy_ends("kind:Unknown size:655360 dest:2 async:1", "CopyDeviceToDevice");
  EXPECT_EQ(named.from, spool::Memory::device);
  EXPECT_EQ(named.to, spool::Memory::device);
  EXPECT_EQ(xla_copy_ends("size:4", "MemcpyH2D").from, spool::Memory::host);
  EXPECT_EQ(xla_copy_ends("kind_src:pinned kind_dst:device size:4", "MemcpyH2D").from, spool::Memory::pinned);
  EXPECT_EQ(xla_copy_ends("size:4", "MemcpyOther").from, spool::Memory::unknown);
}

TEST(XlaAdvice, IsOfJaxAlsoWithModules) {
  std::vector<ProcessTrace> traces(1);
  traces[0].times_by = kXlaProfiler;
  EXPECT_EQ(framework_of(Recording(traces)), Framework::jax);
  traces[0].times_by = "rocprofv3";
  EXPECT_EQ(framework_of(Recording(traces)), Framework::cuda);
}

}  // namespace
}  // namespace roofline
