// Exports of Nsight Systems: of this year's schema, of an old one, and hostile ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "import/nsys.hpp"
#include "tests/support/import_files.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A database that these statements have made.
class Export {
 public:
  explicit Export(const std::string& statements) : file_("step.sqlite", "") {
    fs::remove(file_.path());
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(file_.path().c_str(), &database), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
    sqlite3_close(database);
  }
  const fs::path& path() const { return file_.path(); }

 private:
  TemporaryFile file_;
};

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

TEST(Nsys, KernelsCallsRangesAndCopies) {
  const Export file(whole());
  const Report report = report_of_file(file.path());
  ASSERT_EQ(report.points.size(), 1U);
  const Point& point = report.points[0];
  EXPECT_EQ(point.profiled->full_name, "kernel(float*)");
  EXPECT_EQ(point.profiled->range, "step/forward");
  EXPECT_EQ(point.profiled->grid, (std::array<std::int64_t, 3>{4, 2, 1}));
  EXPECT_NEAR(point.time->median, 2e-6, 1e-12);
  EXPECT_THAT(point.implementation_summary, HasSubstr("nsys (schema 3.25.0)"));
  const Profile& profile = *report.profile;
  EXPECT_EQ(profile.copies.at(0).direction, "host to device, pinned");
  EXPECT_EQ(profile.copies.at(0).bytes, 4096);
  EXPECT_EQ(profile.calls.at(0).name, "cudaStreamSynchronize");
  EXPECT_NEAR(profile.wall_s, 9e-6, 1e-9) << "from the first range to its end";
  ASSERT_TRUE(profile.timeline);
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
  EXPECT_THAT(refusal("CREATE TABLE anything (x INT);"), HasSubstr("no export of Nsight Systems"));
  EXPECT_THAT(refusal(whole() + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end) VALUES (20, 10);"),
              HasSubstr("table CUPTI_ACTIVITY_KIND_KERNEL, row 2"));
  EXPECT_THAT(refusal(whole() + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end) VALUES (-5, 10);"),
              HasSubstr("from -5"));
  EXPECT_EQ(refusal(whole() + "CREATE TABLE \"a\"\"; DROP TABLE StringIds; --\" (\"c\"\"d\" INT);"), "");
  EXPECT_THAT(refusal_of("a.sqlite", std::string("SQLite format 3\0", 16) + std::string(5000, '\x7f')),
              testing::Not(testing::IsEmpty()));
  EXPECT_THAT(refusal_of("a.nsys-rep", "anything"), HasSubstr("export"));
}

}  // namespace
}  // namespace roofline
