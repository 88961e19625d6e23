// Exports of Nsight Systems: of this year's schema, of an old one, and hostile ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/nsys.hpp"
#include "tests/support/sqlite_file.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

using Export = SqliteFile;

// Process 5, thread 6: 5 * 2^24 + 6 = 83886086.
constexpr const char* kStrings = R"(
  CREATE TABLE StringIds (id INTEGER, value TEXT);
  INSERT INTO StringIds VALUES (1, '_Z6kernelPf'), (2, 'cudaLaunchKernel_v7000'), (3, 'step'), (4, 'cudaStreamSynchronize');
)";
constexpr const char* kRuntime = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, correlationId INT, nameId INT, globalTid INT);
  INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1500, 9, 2, 83886086), (5000, 9000, 10, 4, 83886086);
)";
constexpr const char* kRanges = R"(
  CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, textId INT, globalTid INT);
  INSERT INTO NVTX_EVENTS VALUES (500, 9500, 59, NULL, 3, 83886086), (900, 2000, 59, 'forward', NULL, 83886086),
    (900, NULL, 59, 'never ends', NULL, 83886086), (900, 950, 34, 'mark', NULL, 83886086);
)";
constexpr const char* kKernels = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT, streamId INT,
    correlationId INT, globalPid INT, demangledName INT, shortName INT, mangledName INT, gridX INT, gridY INT, gridZ INT,
    blockX INT, blockY INT, blockZ INT, staticSharedMemory INT, dynamicSharedMemory INT, registersPerThread INT,
    graphNodeId INT);
  INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 4000, 0, 1, 7, 9, 83886080, 1, 1, 1, 4, 2, 1, 128, 1, 1, 0, 64,
    32, NULL);
)";
constexpr const char* kDevice = R"(
  CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, smCount INT, computeMajor INT, computeMinor INT);
  INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA H100 80GB HBM3', 132, 9, 0);
  CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
  INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');
)";
constexpr const char* kCopies = R"(
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INT, end INT, deviceId INT, contextId INT, streamId INT,
    correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);
  INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (4000, 4500, 0, 1, 7, 11, 83886080, 4096, 1, 1, 2);
)";

std::string whole() { return std::string(kStrings) + kRuntime + kRanges + kKernels + kDevice + kCopies; }

TEST(NsysImport, GraphsTracedAsAWholeNeedNoGraph) {
  std::string records = R"(CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT, deviceId INT,
    contextId INT, streamId INT, correlationId INT, globalPid INT, graphId INT);
    INSERT INTO StringIds VALUES (5, 'cudaGraphLaunch_v10000');)";
  for (int i = 0; i < 40; ++i) {
    records += fmt::format(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({0}, {1}, {2}, 5, 83886086);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES ({3}, {4}, 0, 1, 7, {2}, 83886080, 3);",
        1'000'000 + 10'000 * i, 1'001'000 + 10'000 * i, 500 + i, 1'002'000 + 10'000 * i, 1'005'000 + 10'000 * i);
  }
  const Export file(whole() + records);
  const Report report = report_of_file(file.path());
  EXPECT_TRUE(row_named(report, "graph 3").profiled->graph);
  for (const Saving& saving : report.profile->savings) EXPECT_NE(saving.cause, SavingCause::tiny_kernels);
}

TEST(Nsys, KernelsCallsRangesAndCopies) {
  const Export file(whole());
  const Report report = report_of_file(file.path());
  ASSERT_EQ(report.points.size(), 1U);
  const Point& point = report.points[0];
  EXPECT_EQ(point.profiled->full_name, "kernel(float*)");
  EXPECT_EQ(point.profiled->range, "step/forward");
  EXPECT_EQ(point.profiled->grid, (std::array<std::int64_t, 3>{4, 2, 1}));
  EXPECT_NEAR(point.time->median, 2e-6, 1e-12);
  EXPECT_THAT(point.profiled->sources, HasSubstr("nsys (schema 3.25.0)"));
  const Profile& profile = *report.profile;
  EXPECT_EQ(to_string(profile.copies.at(0).path), "host to device, pinned");
  EXPECT_EQ(profile.copies.at(0).bytes, 4096);
  EXPECT_EQ(profile.calls.at(0).name, "cudaStreamSynchronize");
  EXPECT_NEAR(profile.wall_s, 9e-6, 1e-9) << "from the first range to its end";
  ASSERT_TRUE(profile.timeline);
}

/// libstdc++ rejects some names that compilers write, and nsys has the demangled one.
TEST(Nsys, ANameThatCannotBeDemangledIsThatOfNsys) {
  const Export file(whole() + R"(
    INSERT INTO StringIds VALUES (20, '_Z4soloIXLS0_1EEvT_'), (21, 'void solo<(kind)1>(T1)'), (22, 'solo');
    UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET mangledName = 20, demangledName = 21, shortName = 22;
  )");
  EXPECT_EQ(report_of_file(file.path()).points.at(0).profiled->full_name, "void solo<(kind)1>(T1)");
  const Export without(whole() + R"(
    INSERT INTO StringIds VALUES (20, '_Z4soloIXLS0_1EEvT_');
    UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET mangledName = 20, demangledName = NULL, shortName = NULL;
  )");
  EXPECT_EQ(report_of_file(without.path()).points.at(0).profiled->full_name, "_Z4soloIXLS0_1EEvT_");
}

/// As nsys 2024.4 writes them: of pages that the driver moves both kinds are "unknown" (7); 5 are __device__ variables
/// and 6 __managed__ ones.
TEST(Nsys, CopiesOfUnifiedMemory) {
  const Export file(whole() + R"(
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES
      (5000, 5500, 0, 1, 7, 12, 83886080, 65536, 11, 7, 7),
      (6000, 6100, 0, 1, 7, 13, 83886080, 65536, 12, 7, 7),
      (7000, 7050, 0, 1, 7, 14, 83886080, 65536, 8, 2, 5),
      (8000, 8010, 0, 1, 7, 15, 83886080, 65536, 1, 6, 2);
  )");
  const Report report = report_of_file(file.path());
  std::vector<std::string> directions;
  for (const CopySum& copy : report.profile->copies) directions.push_back(to_string(copy.path));
  EXPECT_THAT(directions,
              testing::UnorderedElementsAre("host to device, pinned", "host to device, unified memory",
                                            "device to host, unified memory", "device to device", "managed to device"));
  const auto moved = std::find_if(
      report.profile->savings.begin(), report.profile->savings.end(),
      [](const Saving& saving) { return saving.what.find("host to device, unified memory") != std::string::npos; });
  ASSERT_NE(moved, report.profile->savings.end());
  EXPECT_THAT(moved->action, HasSubstr("cudaMemPrefetchAsync"));
}

/// As nsys writes it on Windows: an adapter without multiprocessors comes last, and has the first GPU's number.
TEST(Nsys, AnAdapterThatOnlyDrawsIsNoGpu) {
  const Export file(whole() + "INSERT INTO TARGET_INFO_GPU VALUES (0, 'Microsoft Basic Render Driver', 0, 0, 0);");
  EXPECT_EQ(device_of({read_profile_file(file.path())}).name, "NVIDIA H100 80GB HBM3");
}

/// What sqlite3 says of the file: count(*), sum(end - start) of its kernels, and of its copies.
TEST(Nsys, ARecordedTrainingStep) {
  const Report report = report_of_file(recorded("step.sqlite"));
  std::int64_t launches = 0;
  double seconds = 0;
  for (const Point& point : report.points) {
    launches += point.profiled->launches;
    seconds += point.profiled->total_s;
  }
  EXPECT_EQ(launches, 444);
  EXPECT_NEAR(seconds, 48'964'743e-9, 1e-12);
  std::int64_t copies = 0;
  double copying = 0;
  for (const CopySum& copy : report.profile->copies) {
    if (copy.path.direction == CopyDirection::memset) continue;
    copies += copy.copies;
    copying += copy.total_s;
  }
  EXPECT_EQ(copies, 17);
  EXPECT_NEAR(copying, 12'548'382e-9, 1e-12);
  EXPECT_EQ(row_named(report, "axpy").profiled->range, "ops");
  EXPECT_EQ(row_named(report, "nll_loss_forward").profiled->range, "step/forward");
  const DeviceFacts device = device_of({read_profile_file(recorded("step.sqlite"))});
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_EQ(device.memory_bytes_per_s, 4.814304e12);
}

TEST(Nsys, OldTablesLackColumnsAndWholeTables) {
  const Export file(std::string(kStrings) +
                    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, shortName INT);"
                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 1);");
  const Report report = report_of_file(file.path());
  EXPECT_EQ(report.points.size(), 1U);
}

TEST(Nsys, HostileOnesAreRefusedWithTheirRow) {
  const auto refusal = [](const std::string& statements) -> std::string {
    const Export file(statements);
    try {
      read_profile_file(file.path());
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(refusal("CREATE TABLE anything (x INT);"), HasSubstr("Nsight Systems"));
  EXPECT_EQ(refusal(whole() + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end) VALUES (20, 10);"), "");
  EXPECT_EQ(refusal(whole() + "CREATE TABLE \"a\"\"; DROP TABLE StringIds; --\" (\"c\"\"d\" INT);"), "");
  EXPECT_THAT(refusal_of("a.sqlite", std::string("SQLite format 3\0", 16) + std::string(5000, '\x7f')),
              testing::Not(testing::IsEmpty()));
  EXPECT_THAT(refusal_of("a.nsys-rep", "anything"), HasSubstr("export"));
}

TEST(Nsys, TheNumberOfAGpuIsItsOrdinalAndNotItsPlace) {
  const Export file(std::string(kStrings) + kKernels +
                    R"(CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, smCount INT, cuDevice INT);
                       INSERT INTO TARGET_INFO_GPU VALUES (0, 'b', 8, 2), (1, 'c', 8, 1), (2, 'a', 8, 0);)");
  const Report report = report_of_file(file.path());
  ASSERT_EQ(report.profile->devices.size(), 1U);
  EXPECT_EQ(report.profile->devices[0].device, 0);
  EXPECT_EQ(report.profile->devices[0].device_name, "a");
}

TEST(Nsys, LostKernelsAreTold) {
  const auto notes_of_file = [](const std::string& statements) {
    const Export file(statements);
    std::string text;
    for (const std::string& note : read_profile_file(file.path()).notes) text += note + "\n";
    return text;
  };
  const std::string messages = R"(CREATE TABLE DIAGNOSTIC_EVENT (timestamp INT, text TEXT);
    INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'Number of incomplete CUPTI events dropped: 2.'),
      (2, 'Installed CUDA driver version (13.3) is not supported'), (3, 'CUPTI events dropped: 0.'),
      (4, 'CPU sampling is not supported'), (5, 'Profiling has started.');)";
  const std::string lost = notes_of_file(std::string(kStrings) + kRuntime + messages);
  EXPECT_THAT(lost, testing::AllOf(HasSubstr("1 launch,"), HasSubstr("dropped: 2"), HasSubstr("13.3"),
                                   testing::Not(HasSubstr("--trace"))));
  EXPECT_THAT(lost, testing::Not(testing::AnyOf(HasSubstr("dropped: 0"), HasSubstr("CPU"), HasSubstr("started"))));
  EXPECT_THAT(notes_of_file(std::string(kStrings)), HasSubstr("--trace cuda"));
  EXPECT_THAT(notes_of_file(whole() + messages), HasSubstr("dropped: 2")) << "also beside kernels";
  EXPECT_THAT(notes_of_file(whole()), testing::IsEmpty());
}

}  // namespace
}  // namespace roofline
