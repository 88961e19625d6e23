// One sample for eyes and for programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "render/monitor/monitor_render.hpp"
#include "tests/support/golden.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Sample sample_of(int gpus) {
  Sample sample;
  sample.time = "2026-11-23T05:00:00Z";
  sample.host = "node\"7";
  sample.interval_s = 1;
  for (int index = 0; index < gpus; ++index) {
    DeviceSample gpu;
    gpu.device = "cuda:" + std::to_string(index);
    gpu.kind = DeviceKind::cuda;
    gpu.name = "NVIDIA H200";
    gpu.uuid = "GPU-1";
    gpu.seconds = 1;
    gpu.values = {{"tensor_active_fraction", 0.621}, {"dram_active_fraction", 0.35}, {"dram_read_fraction", 0.2},
                  {"dram_write_fraction", 0.15},     {"power_watts", 686},           {"power_limit_watts", 700},
                  {"core_clock_hertz", 1605e6},      {"energy_joules", 12}};
    gpu.roofs = {{"dram", "hbm.copy", 1.68e12, 4.34e12, ""},
                 {"tensor", "tensor.bf16 (sustained)", 571e12, 860e12, "at most, if all bf16"}};
    gpu.roofs_measured_at = "2026-11-20T00:00:00Z";
    gpu.limited_by = {"power cap"};
    gpu.processes = {{4711, "python\n3", 88.0 * (1 << 30), 0.97}};
    gpu.absent = {{"dram_read_bytes_per_second", "not checked"}, {"fan_fraction", "not supported"}};
    sample.devices.push_back(gpu);
  }
  return sample;
}

int widest(const std::string& text) {
  int most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) most = std::max(most, display_width(line));
  return most;
}

std::string drawn(const Sample& sample, int columns, int lines, bool unicode = true) {
  return render_monitor_terminal(sample, {.color = false, .unicode = unicode, .columns = columns}, lines);
}

TEST(MonitorTerminal, SharesOfRoofsBesideTheFigures) {
  const std::string text = drawn(sample_of(1), 120, 0);
  EXPECT_THAT(text, HasSubstr("62.1 %"));
  EXPECT_THAT(text, AllOf(HasSubstr("66.4 % of tensor.bf16 (sustained)"), HasSubstr("571 TFLOP/s")));
  EXPECT_THAT(text, AllOf(HasSubstr("38.7 % of hbm.copy"), HasSubstr("20.0 % read"), HasSubstr("15.0 % written")));
  EXPECT_THAT(text, HasSubstr("686 W of 700 W"));
  EXPECT_THAT(text, HasSubstr("limited by power cap"));
  EXPECT_THAT(text, HasSubstr("4711 python"));
  EXPECT_THAT(text, HasSubstr("not checked"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

/// Beside the files of roofline_unit_tests; renewed in the same way.
TEST(GoldenMonitor, Terminal) {
  Sample silent = sample_of(1);
  silent.devices[0].values.clear();
  silent.devices[0].absent = {{"device", "its process was ended"}};
  expect_golden("monitor.txt", drawn(sample_of(2), 120, 0) + drawn(sample_of(8), 100, 20) + drawn(silent, 100, 0) +
                                   render_monitor_prometheus(sample_of(1)));
}

TEST(MonitorTerminal, NoLineIsWiderThanTheScreen) {
  for (const int columns : {40, 80, 120}) {
    for (const bool unicode : {true, false}) {
      EXPECT_LE(widest(drawn(sample_of(2), columns, 0, unicode)), columns);
      EXPECT_LE(widest(drawn(sample_of(8), columns, 12, unicode)), columns);
    }
  }
}

TEST(MonitorTerminal, ALowScreenHasALineADevice) {
  const std::string text = drawn(sample_of(8), 100, 20);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 20);
  for (const char* name : {"cuda:0", "cuda:7", "38.7 %", "66.4 %"}) EXPECT_THAT(text, HasSubstr(name));
  EXPECT_THAT(drawn(sample_of(8), 100, 400), HasSubstr("4711 python"));
  const std::string lower = drawn(sample_of(8), 100, 5);
  EXPECT_EQ(std::count(lower.begin(), lower.end(), '\n'), 5);
}

TEST(MonitorTerminal, AsciiWhereTheLocaleHasNoMore) {
  const std::string text = drawn(sample_of(1), 100, 0, false);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; }));
  EXPECT_THAT(text, HasSubstr("[############........]"));
}

TEST(MonitorTerminal, ASilentDeviceSaysWhy) {
  Sample sample = sample_of(1);
  sample.devices[0].values.clear();
  sample.devices[0].roofs.clear();
  sample.devices[0].absent = {{"device", "its process was ended"}};
  EXPECT_THAT(drawn(sample, 80, 0), HasSubstr(": its process was ended"));
}

TEST(MonitorJson, IsOneLineWithTheTablesNames) {
  const std::string text = render_monitor_json(sample_of(2));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], "roofline.monitor/1");
  const auto& gpu = json["devices"][1];
  EXPECT_EQ(gpu["device"], "cuda:1");
  EXPECT_EQ(gpu["values"]["power_watts"], 686);
  EXPECT_NEAR(gpu["roofs"][0]["share"], 0.387, 1e-3);
  EXPECT_FALSE(gpu["roofs"][0].contains("basis"));
  EXPECT_EQ(gpu["processes"][0]["pid"], 4711);
  EXPECT_EQ(gpu["absent"]["fan_fraction"], "not supported");
}

TEST(MonitorPrometheus, HeadsOnceLabelsEscaped) {
  Sample sample = sample_of(2);
  sample.devices[1].absent["device"] = "gone";
  const std::string text = render_monitor_prometheus(sample);
  const std::string labels = R"({host="node\"7",device="NVIDIA H200",index="cuda:0",uuid="GPU-1"})";
  EXPECT_THAT(text,
              HasSubstr("# TYPE roofline_monitor_power_watts gauge\nroofline_monitor_power_watts" + labels + " 686\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE roofline_monitor_energy_joules counter\n"));
  EXPECT_THAT(text, HasSubstr("roofline_monitor_up" + labels + " 1\n"));
  EXPECT_THAT(text, HasSubstr("index=\"cuda:1\",uuid=\"GPU-1\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("uuid=\"GPU-1\",resource=\"dram\",roof=\"hbm.copy\"} 0.387"));
  EXPECT_THAT(text, HasSubstr("reason=\"power cap\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("pid=\"4711\",process=\"python\\n3\"} 9"));
  const std::string head = "# HELP roofline_monitor_power_watts ";
  EXPECT_EQ(text.find(head, text.find(head) + 1), std::string::npos);
  EXPECT_THAT(text, Not(HasSubstr("fan_fraction")));
}

}  // namespace
}  // namespace roofline
