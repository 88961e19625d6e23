// Begin and end events of Chrome traces, events that are left out, and copies without a size: each is read, or counted
// and named.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "import/above_roof.hpp"
#include "import/roofs.hpp"
#include "render/terminal/profile.hpp"
#include "report/json/json.hpp"
#include "report/profile_findings.hpp"
#include "report/work_source.hpp"
#include "tests/support/import_files.hpp"
#include "tests/support/sqlite_file.hpp"

namespace roofline {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string trace_of(const std::vector<std::string>& events) {
  return fmt::format(R"({{"deviceProperties": [{{"id": 0, "name": "NVIDIA H100 80GB HBM3", "numSms": 132}}],
    "traceEvents": [{}]}})",
                     fmt::join(events, ", "));
}

std::string begin_of(std::string_view category, std::string_view name, int thread, double time,
                     std::string_view arguments = "") {
  return fmt::format(R"({{"ph": "B", "cat": "{}", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "args": {{{}}}}})",
                     category, name, thread, time, arguments);
}

std::string end_of(int thread, double time, std::string_view name = "", std::string_view arguments = "") {
  const std::string named = name.empty() ? "" : fmt::format(R"("name": "{}", )", name);
  return fmt::format(R"({{"ph": "E", {}"pid": 0, "tid": {}, "ts": {}, "args": {{{}}}}})", named, thread, time,
                     arguments);
}

/// A product on the host, its launch and its kernel.
std::vector<std::string> product() {
  return {begin_of("cpu_op", "aten::mm", 1, 10, R"("Input Dims": [[64,64],[64,64]], "Input type": ["float","float"])"),
          begin_of("cuda_runtime", "cudaLaunchKernel", 1, 20, R"("correlation": 1)"),
          end_of(1, 22.5),
          end_of(1, 40),
          begin_of("kernel", "gemm_f16", 7, 50, R"("device": 0, "stream": 7)"),
          end_of(7, 60.5, "", R"("correlation": 1)")};
}

TEST(ImportPairs, BeginAndEndAreOneEvent) {
  const ImportedProfile profile = import_text("t.json", trace_of(product()));
  ASSERT_EQ(profile.trace.kernels.size(), 1U);
  EXPECT_EQ(profile.trace.kernels[0].end - profile.trace.kernels[0].start, 10500U);
  ASSERT_EQ(profile.trace.models.size(), 1U)
      << "the kernel's correlation is in its end, the operator encloses the call";
  EXPECT_EQ(profile.trace.models.begin()->second.work.total_flops(), 2.0 * 64 * 64 * 64);
  EXPECT_EQ(profile.time_defects.unpaired.count, 0);
}

TEST(ImportPairs, OrderInTheFileDoesNotMatter) {
  std::mt19937 random(3);
  std::vector<std::string> events = product();
  for (int round = 0; round < 20; ++round) {
    std::shuffle(events.begin(), events.end(), random);
    const ImportedProfile profile = import_text("t.json", trace_of(events));
    ASSERT_EQ(profile.trace.kernels.size(), 1U);
    EXPECT_EQ(profile.trace.kernels[0].end - profile.trace.kernels[0].start, 10500U);
    EXPECT_EQ(profile.trace.models.size(), 1U);
  }
}

TEST(ImportPairs, AnEndBelongsToTheEventOfItsName) {
  // Two kernels that overlap on one track, so that the first begun ends first.
  const ImportedProfile profile = import_text(
      "t.json", trace_of({begin_of("kernel", "a", 7, 10, R"("stream": 1)"),
                          begin_of("kernel", "b", 7, 20, R"("stream": 2)"), end_of(7, 30, "a"), end_of(7, 60, "b")}));
  std::vector<std::uint64_t> lengths;
  for (const spool::Kernel& kernel : profile.trace.kernels) lengths.push_back(kernel.end - kernel.start);
  EXPECT_THAT(lengths, testing::UnorderedElementsAre(20000U, 40000U));
}

TEST(ImportPairs, EventsWithoutAPartnerAreCountedAndNamed) {
  std::vector<std::string> events = product();
  events.push_back(begin_of("kernel", "never_ended", 7, 70));
  events.push_back(end_of(8, 80, "never_begun"));
  events.push_back(begin_of("browser", "of_no_interest", 9, 90));
  const ImportedProfile profile = import_text("t.json", trace_of(events));
  EXPECT_EQ(profile.trace.kernels.size(), 1U);
  EXPECT_EQ(profile.time_defects.unpaired.count, 2);
  EXPECT_THAT(notes_of(profile.time_defects), Contains(HasSubstr("never_")));
}

TEST(ImportPairs, APairWithoutATimeIsNoEvent) {
  std::vector<std::string> events = product();
  events.push_back(begin_of("kernel", "k", 7, 70));
  events.push_back(R"({"ph": "E", "name": "k", "pid": 0, "tid": 7, "ts": "soon"})");
  EXPECT_EQ(import_text("t.json", trace_of(events)).time_defects.unpaired.count, 2);
}

TEST(ImportPairs, AsynchronousEventsAreCountedAndNamed) {
  std::vector<std::string> events = product();
  for (const char* phase : {"b", "e"}) {
    events.push_back(fmt::format(
        R"({{"ph": "{}", "cat": "kernel", "name": "async_gemm", "pid": 0, "tid": 7, "id": 5, "ts": 90}})", phase));
  }
  const ImportedProfile profile = import_text("t.json", trace_of(events));
  EXPECT_EQ(profile.time_defects.asynchronous.count, 1);
  EXPECT_THAT(notes_of(profile.time_defects), Contains(HasSubstr("async_gemm")));
}

TEST(ImportPairs, RandomNestsAreThoseOfCompleteEvents) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::string> pairs, complete;
    double time = 1;
    for (int i = 0; i < 20; ++i) {
      const int stream = static_cast<int>(random() % 3);
      const double length = static_cast<double>(1 + random() % 50);
      const std::string arguments = fmt::format(R"("device": 0, "stream": {})", stream);
      pairs.push_back(begin_of("kernel", "k", stream, time, arguments));
      pairs.push_back(end_of(stream, time + length, round % 2 == 0 ? "" : "k"));
      complete.push_back(fmt::format(
          R"({{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}}}})",
          stream, time, length, arguments));
      time += length + static_cast<double>(random() % 3);
    }
    const auto times = [](const std::string& text) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
      for (const spool::Kernel& kernel : import_text("t.json", text).trace.kernels) {
        all.emplace_back(kernel.start, kernel.end);
      }
      std::sort(all.begin(), all.end());
      return all;
    };
    EXPECT_EQ(times(trace_of(pairs)), times(trace_of(complete))) << "round " << round;
  }
}

std::string copy_of(double start, std::string_view size) {
  return fmt::format(R"json({{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0,
                              "tid": 7, "ts": {}, "dur": 10, "args": {{"device": 0, "stream": 7{}}}}})json",
                     start, size);
}

TEST(ImportSizes, CopiesWithoutASizeAreCountedAndHaveNoRate) {
  const TemporaryFile file("t.json", trace_of({copy_of(10, R"(, "bytes": 1000)"), copy_of(30, R"(, "bytes": -4)"),
                                               copy_of(50, R"(, "bytes": "many")"), copy_of(70, "")}));
  const ImportedProfile profile = read_profile_file(file.path());
  EXPECT_EQ(profile.time_defects.without_size.count, 3);
  EXPECT_EQ(profile.time_defects.transfers_read, 4);
  const Report report = report_of_file(file.path());
  EXPECT_THAT(report.notes, Contains(HasSubstr("3 of 4 copies")));
  ASSERT_EQ(report.profile->copies.size(), 2U) << "those with a size, and the others";
  for (const CopySum& copies : report.profile->copies) {
    if (copies.copies == 1) {
      EXPECT_EQ(copies.bytes, 1000);
      EXPECT_EQ(rate_text(copies), rate_text({.path = copies.path, .copies = 1, .bytes = 1000, .total_s = 10e-6}));
    } else {
      EXPECT_EQ(copies.copies, 3);
      EXPECT_TRUE(std::isnan(moved_bytes(copies)));
      EXPECT_TRUE(std::isnan(fraction_of_roof(copies)));
    }
  }
  const auto json = report_to_json(report);
  for (const auto& copies : json["profile"]["copies"]) EXPECT_EQ(copies.contains("bytes"), copies["copies"] == 1);
}

TEST(ImportSizes, NoNoteWhereAllAreKnown) {
  const ImportedProfile profile = import_text("t.json", trace_of({copy_of(10, R"(, "bytes": 1000)")}));
  EXPECT_THAT(notes_of(profile.time_defects), Not(Contains(HasSubstr("size"))));
}

TEST(ImportSizes, TextOfADatabaseIsAWholeNumberOrNone) {
  const SqliteFile file(R"(CREATE TABLE StringIds (id INT, value TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT, streamId INT,
      correlationId INT, globalPid INT, bytes TEXT, copyKind INT, srcKind INT, dstKind INT);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (4000, 4500, 0, 1, 7, 11, 83886080, '4096', 1, 1, 2),
      (5000, 5500, 0, 1, 7, 12, 83886080, '4,096', 1, 1, 2), (6000, 6500, 0, 1, 7, 13, 83886080, NULL, 1, 1, 2),
      (7000, 7500, 0, 1, 7, 14, 83886080, '-1', 1, 1, 2), (8000, 8500, 0, 1, 7, 15, 83886080, 'none', 1, 1, 2);)");
  const ImportedProfile profile = read_profile_file(file.path());
  std::uint64_t bytes = 0;
  for (const spool::Copy& copy : profile.trace.copies) bytes += copy.bytes;
  EXPECT_EQ(bytes, 4096U) << "\"4,096\" is not 4 bytes";
  EXPECT_EQ(profile.time_defects.without_size.count, 4);
}

/// Element-wise copies of 1 GB each, which take so long.
Report report_of_copies(const std::vector<std::string>& kernels, double us) {
  std::vector<std::string> events;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const double start = 5 + 20000.0 * static_cast<double>(i);
    events.push_back(fmt::format(
        R"({{"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 1, "tid": 1, "ts": {}, "dur": 100,
            "args": {{"Input Dims": [[16384, 16384], [16384, 16384]], "Input type": ["float", "float"]}}}})",
        start));
    events.push_back(fmt::format(
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": {}, "dur": 2,
            "args": {{"correlation": {}}}}})",
        start + 5, i + 1));
    events.push_back(fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": 7, "ts": {}, "dur": {},
            "args": {{"device": 0, "stream": 7, "correlation": {}}}}})",
        kernels[i], start + 45, us, i + 1));
  }
  const TemporaryFile file("t.json", trace_of(events));
  std::vector<ImportedProfile> profiles;
  profiles.push_back(read_profile_file(file.path()));
  std::vector<std::string> joined;
  const ImportRoofs roofs = {.machine = data_sheet_machine(device_of(profiles)), .others = {}};
  return report_of_imports(std::move(profiles), roofs, {"roofline", "import"}, joined);
}

TEST(ImportAboveRoof, TheReasonIsInTheRowOfTheReport) {
  const auto above = report_to_json(report_of_copies({"copy_kernel"}, 10))["results"][0];
  const auto below = report_to_json(report_of_copies({"copy_kernel"}, 10000))["results"][0];
  ASSERT_GT(above["fraction_of_roof"], kAboveRoof);
  EXPECT_THAT(above.value("why_above_roof", ""), Not(IsEmpty()));
  ASSERT_LT(below["fraction_of_roof"], 1);
  EXPECT_FALSE(below.contains("why_above_roof"));
}

TEST(ImportAboveRoof, TheTerminalNamesEveryRowThatIsShown) {
  const std::vector<std::string> kernels = {"first_k", "second_k", "third_k", "fourth_k", "fifth_k"};
  const std::string text = profile_terminal(report_of_copies(kernels, 10), {.columns = 2000});
  for (const std::string& kernel : kernels) {
    EXPECT_THAT(text, testing::ContainsRegex(kernel + " [0-9]+ %")) << "with its share of the roof";
  }
}

}  // namespace
}  // namespace roofline
