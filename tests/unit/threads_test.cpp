// What several threads do at once beside the pool, for ThreadSanitizer (the preset tsan) and for their results.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "fleet/read_fleet.hpp"
#include "host/private_folder.hpp"
#include "op/host_parallel.hpp"
#include "report/json/json.hpp"
#include "tests/support/sample_report.hpp"

namespace roofline {
namespace {

TEST(HostParallel, EveryIndexOnceAndSeenAfterwards) {
  constexpr std::int64_t kCount = 10'000;
  std::vector<int> seen(kCount);
  host_parallel(kCount, 7, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(seen, std::vector<int>(kCount, 1));
}

TEST(HostParallel, ManyThatFailGiveOneException) {
  const auto fail = [](std::int64_t, std::int64_t) { throw std::runtime_error("each of them"); };
  for (int i = 0; i < 50; ++i) EXPECT_THROW(host_parallel(1000, 1, fail), std::runtime_error);
}

TEST(FleetReaders, FilesAreReadSideBySide) {
  const PrivateFolder folder;
  const std::string whole = render_json(example::sample_report());
  constexpr std::size_t kFiles = 64;
  for (std::size_t i = 0; i < kFiles; ++i) {
    std::ofstream(folder.path() / (std::to_string(i) + ".json")) << (i % 4 == 0 ? whole.substr(0, 50 * i) : whole);
  }
  const FleetFiles files = read_fleet({folder.path().string()});
  EXPECT_EQ(files.sheets.size(), kFiles * 3 / 4);
  EXPECT_EQ(files.left_out.size(), kFiles / 4);
}

TEST(ReportWriter, RowsInPartsAreThoseOfOneAfterAnother) {
  Report report = example::random_report(1500);
  const std::string text = render_json(report);
  EXPECT_EQ(parse_report(text, "report.json").points.size(), report.points.size());
  EXPECT_EQ(render_json(parse_report(text, "report.json")), text);
}

}  // namespace
}  // namespace roofline
