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
