// The values of options, from text: sizes, percentages, devices, where output goes. Pure functions; each throws
// UsageError with what is accepted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"

namespace roofline {

/// "cpu", "cuda" or "cuda:1"; empty: any. `cpus` is a list of logical CPUs, "0-3,8", which only a CPU device has.
DeviceRequest parse_device(const std::string& text, int threads, const std::optional<std::string>& cpus = {});

/// "all" or nothing, "cpu", "cuda", "cuda:0,2", "cuda:0,cpu".
MonitoredDevices parse_monitored(const std::string& text);

/// What names that device there: "cpu", "cuda:1".
std::string device_word(const DeviceInfo& info);

/// "1600x900" in CSS pixels, from 320x240 to 7680x4320.
void parse_size(const std::string& text, ChartOptions& chart);

/// A picture of that size and scale must fit into memory.
void check_pixels(const ChartOptions& chart);

Theme parse_theme(const std::string& text);
MarkSize parse_marks(const std::string& text);
Intensity parse_bytes(const std::string& text);

/// "3%", "3 %" or "3" is 0.03.
double parse_percentage(const std::string& text, const std::string& option);

/// "5s", "500ms", "2min" or "5": seconds.
double parse_duration(const std::string& text, const std::string& option);

/// Formats that exist, once each; `-o chart.svg` is the one file of that format. `runs` is how many are drawn.
OutputRequest parse_output(const std::string& path, const std::vector<std::string>& names, std::size_t runs);

/// "did you mean 'x'? (see: help)", or where to read on.
std::string nearest_hint(const std::string& given, const std::vector<std::string>& names, const std::string& help);

}  // namespace roofline
