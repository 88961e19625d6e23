// What several threads do at once beside the pool, for ThreadSanitizer (the preset tsan) and for their results.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "calibrate/device_thread.hpp"
#include "fleet/read_fleet.hpp"
#include "host/private_folder.hpp"
#include "op/host_parallel.hpp"
#include "render/formats.hpp"
#include "report/json/json.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/profile_report.hpp"

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
  EXPECT_EQ(files.summaries.size(), kFiles * 3 / 4);
  EXPECT_EQ(files.left_out.size(), kFiles / 4);
}

TEST(ReportWriter, RowsInPartsAreThoseOfOneAfterAnother) {
  Report report = example::random_report(1500);
  const std::string text = render_json(report);
  EXPECT_EQ(parse_report(text, "report.json").points.size(), report.points.size());
  EXPECT_EQ(render_json(parse_report(text, "report.json")), text);
}

/// As a run's folder is written: one drawing, laid out once, and all formats beside each other; each twice, so that
/// what is made once for a process is asked for by two.
TEST(Formats, AreRenderedSideBySideAsOneAfterAnother) {
  for (const Report& report : {example::sample_report(), example::sampled_profile_report()}) {
    std::vector<Format> written = formats();
    std::erase_if(written, [&](const Format& format) {
      const bool of_program = format.name == "trace" || format.name == "stacks" || format.name == "speedscope";
      return of_program && !report.profile;
    });
    const Runs runs(report);
    const ChartOptions options;
    const ChartDrawing drawing(runs, options);
    const auto render = [&](const Format& format) {
      if (const auto* text = std::get_if<Format::Text>(&format.render)) return (*text)(runs);
      return std::get<Format::Drawn>(format.render)(runs, drawing, options);
    };
    std::vector<std::future<std::string>> texts;
    for (int twice = 0; twice < 2; ++twice) {
      for (const Format& format : written) {
        texts.push_back(std::async(std::launch::async, [&] { return render(format); }));
      }
    }
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Format& format = written[i % written.size()];
      const std::string text = texts[i].get();
      EXPECT_EQ(text, render(format)) << format.name;
    }
  }
}

TEST(DeviceThread, TasksOfManyThreadsRunOneAfterAnother) {
  int opened = 0, run = 0;
  {
    DeviceThread device([&] {
      ++opened;
      return std::make_unique<FakeDevice>();
    });
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 4; ++caller) {
      callers.emplace_back([&] {
        for (int i = 0; i < 50; ++i) device.run([&](Device&) { ++run; }).get();
      });
    }
    callers.clear();
    EXPECT_THROW(device.run([](Device&) { throw std::runtime_error("a task's own"); }).get(), std::runtime_error);
    device.run([&](Device&) { ++run; });  // nobody waits for it but the end
  }
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(run, 201);
}

}  // namespace
}  // namespace roofline
