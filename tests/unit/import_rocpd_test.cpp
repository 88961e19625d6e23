// Databases of rocprofv3: of one process, of several, and damaged ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sqlite_file.hpp"

namespace roofline {
namespace {

using testing::HasSubstr;

/// The tables of a process: two dispatches of one kernel and a copy to the GPU. `counters` are rows of pmc_event.
std::string rocpd_set(std::string_view guid, std::uint64_t start, std::string_view counters = "",
                      std::string_view kernel = "7") {
  std::string text = fmt::format(R"(
    CREATE TABLE rocpd_string_{0} (id INT, string TEXT);
    CREATE TABLE rocpd_info_agent_{0} (id INT, nid INT, type TEXT, absolute_index INT, name TEXT, product_name TEXT,
      extdata TEXT);
    INSERT INTO rocpd_info_agent_{0} VALUES (0, 5, 'CPU', 0, 'AMD EPYC', 'AMD EPYC', '{{}}'),
      (2, 5, 'GPU', 2, 'gfx942', 'AMD Instinct MI300X', '{{"cu_count":304,"max_engine_clk_fcompute":2100}}'),
      (3, 5, 'GPU', 3, 'gfx942', 'AMD Instinct MI300X', 'not JSON');
    CREATE TABLE rocpd_info_kernel_symbol_{0} (id INT, kernel_name TEXT, display_name TEXT, arch_vgpr_count INT);
    INSERT INTO rocpd_info_kernel_symbol_{0} VALUES (7, '_Z4axpyPfS_.kd', 'axpy', 12);
    CREATE TABLE rocpd_info_pmc_{0} (id INT, name TEXT);
    INSERT INTO rocpd_info_pmc_{0} VALUES (1, 'FETCH_SIZE'), (2, 'WRITE_SIZE'), (3, 'GRBM_COUNT');
    CREATE TABLE rocpd_pmc_event_{0} (event_id INT, pmc_id INT, value REAL);
    CREATE TABLE rocpd_kernel_dispatch_{0} (agent_id INT, kernel_id INT, queue_id INT, stream_id INT, start INT, "end" INT,
      workgroup_size_x INT, workgroup_size_y INT, workgroup_size_z INT, grid_size_x INT, grid_size_y INT, grid_size_z INT,
      group_segment_size INT, private_segment_size INT, event_id INT);
    INSERT INTO rocpd_kernel_dispatch_{0} VALUES (2, {2}, 16, 0, {1}, {1} + 3000, 256, 1, 1, 1000, 2, 1, 64, 0, 41),
      (2, 7, 16, 0, {1} + 5000, {1} + 10000, 256, 1, 1, 1000, 2, 1, 64, 0, 42);
    CREATE TABLE rocpd_memory_copy_{0} (start INT, "end" INT, size INT, src_agent_id INT, dst_agent_id INT,
      queue_id INT, stream_id INT);
    INSERT INTO rocpd_memory_copy_{0} VALUES ({1} - 500, {1} - 100, 4096, 0, 2, 0, 0);)",
                                 guid, start, kernel);
  if (!counters.empty()) text += fmt::format("INSERT INTO rocpd_pmc_event_{} VALUES {};", guid, counters);
  return text;
}

ImportedProfile import_database(const std::string& statements) {
  return read_profile_file(SqliteFile(statements, "results.db").path());
}

TEST(Rocpd, KernelsAndCopiesAreThoseOfTheProcess) {
  const ImportedProfile profile = import_database(rocpd_set("a1", 1000));
  EXPECT_EQ(profile.kind, ImportedKind::rocprof);
  ASSERT_EQ(profile.trace.kernels.size(), 2U);
  const spool::Kernel& kernel = profile.trace.kernels[1];
  EXPECT_EQ(kernel.end - kernel.start, 5000U);
  EXPECT_EQ(kernel.stream, 16U) << "the queue, where there is no stream";
  EXPECT_EQ(kernel.static_shared, 64U);
  EXPECT_EQ(kernel.registers, 12U);
  const spool::Kind& kind = profile.trace.kind(kernel.kind);
  EXPECT_EQ(profile.trace.text(kind.name), "_Z4axpyPfS_");
  EXPECT_EQ(kind.grid[0], 4U) << "a grid is in work-items";
  EXPECT_EQ(kind.grid[1], 2U);
  ASSERT_EQ(profile.devices.size(), 1U) << "neither a CPU nor an idle GPU";
  EXPECT_EQ(profile.devices[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(profile.devices[0].sms, 304U);
  EXPECT_EQ(profile.devices[0].core_hz, 2.1e9);
  ASSERT_EQ(profile.trace.copies.size(), 1U);
  EXPECT_EQ(profile.trace.copies[0].bytes, 4096U);
  EXPECT_EQ(profile.trace.copies[0].to, spool::Memory::device);
  EXPECT_TRUE(profile.trace.models.empty());
}

TEST(Rocpd, InstancesOfACounterAreSummedAndDispatchesAveraged) {
  const ImportedProfile profile = import_database(
      rocpd_set("a1", 1000, "(41, 1, 1), (41, 1, 3), (41, 2, 2), (42, 1, 8), (42, 2, 2), (42, 3, 9), (99, 1, 1000)"));
  ASSERT_EQ(profile.trace.models.size(), 1U);
  const ProcessTrace::Model& model = profile.trace.models.begin()->second;
  EXPECT_EQ(model.source, WorkSource::counted);
  EXPECT_EQ(model.work.bytes.at(Level::hbm).read, (1 + 3 + 8) / 2.0 * 1024) << "event 99 is of no dispatch";
  EXPECT_EQ(model.work.bytes.at(Level::hbm).write, 2 * 1024.0);
}

TEST(Rocpd, ProcessesOfAMergedFileShareTheGpusOfANode) {
  const ImportedProfile profile = import_database(rocpd_set("a1", 1000) + rocpd_set("b2", 2000));
  EXPECT_EQ(profile.trace.kernels.size(), 4U);
  EXPECT_EQ(profile.devices.size(), 1U);
  EXPECT_EQ(profile.time_defects.overlapping.count, 0) << "each process has queues of its own";
}

TEST(Rocpd, DamagedFilesAreRefused) {
  const auto refusal = [](const std::string& statements) {
    try {
      import_database(statements);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refusal(rocpd_set("a1", 1000, "", "8")), HasSubstr("row 1")) << "no such kernel";
  EXPECT_THAT(refusal(rocpd_set("a1", 1000, "(41, 9, 1)")), HasSubstr("row 1")) << "no such counter";
  EXPECT_THAT(refusal("CREATE TABLE rocpd_metadata_a1 (tag TEXT);"), HasSubstr("no kernel"));
}

}  // namespace
}  // namespace roofline
