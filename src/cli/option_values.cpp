// Text → values of options.
#include "cli/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "config/suite.hpp"
#include "device/cpu/placement.hpp"
#include "text/nearest_name.hpp"

namespace roofline {
namespace {

constexpr int kLeastWidth = 320, kLeastHeight = 240;
constexpr int kMostWidth = 7680, kMostHeight = 4320;
constexpr double kMostPixels = 140e6;  // 7680x4320 at scale 2: half a gigabyte of picture

/// The whole text as a number.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// The format that a file's ending stands for; null when it stands for none.
const Format* format_of_file(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return ending.empty() ? nullptr : find_format(std::string_view(ending).substr(1));
}

const Format& format_of_name(const std::string& name) {
  if (const Format* format = find_format(name)) return *format;
  const std::vector<std::string> known = format_names();
  throw UsageError(fmt::format("unknown format '{}' (there are: {})", name, fmt::join(known, ", ")),
                   nearest_hint(name, known, "roofline report --help"));
}

}  // namespace

std::string nearest_hint(const std::string& given, const std::vector<std::string>& names, const std::string& help) {
  const std::string near = nearest_name(given, names);
  return near.empty() ? fmt::format("see: {}", help) : fmt::format("did you mean '{}'? (see: {})", near, help);
}

namespace {

/// "0,2": two indices or more, ascending; nothing when it is no such list.
std::optional<std::vector<int>> parse_indices(std::string_view text) {
  std::vector<int> indices;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::optional<int> index = number_of<int>(text.substr(at, end - at));
    if (!index || *index < 0) return std::nullopt;
    indices.push_back(*index);
    at = end + 1;
  }
  std::sort(indices.begin(), indices.end());
  const bool twice = std::adjacent_find(indices.begin(), indices.end()) != indices.end();
  return twice || indices.size() < 2 ? std::nullopt : std::optional(indices);
}

}  // namespace

DeviceRequest parse_device(const std::string& text, int threads, const std::optional<std::string>& cpus) {
  DeviceRequest request;
  request.threads = threads;
  if (cpus) {
    request.cpus = parse_cpu_list(*cpus, "--cpus");
    request.kind = DeviceKind::cpu;
  }
  if (text.empty()) return request;
  const std::size_t colon = text.find(':');
  const bool has_index = colon != std::string::npos;
  const std::string behind = has_index ? text.substr(colon + 1) : "0";
  request.all = text == "all";
  request.kind = request.all ? DeviceKind::cuda : parse_device_kind(text.substr(0, colon));
  std::optional<int> index = number_of<int>(behind);
  if (const auto indices = parse_indices(behind)) {
    request.indices = *indices;
    index = indices->front();
  }
  if (!request.kind || !index || *index < 0 || (request.kind == DeviceKind::cpu && has_index)) {
    throw UsageError(fmt::format("--device {}: expected cpu, cuda or cuda:N (calibrate: also cuda:N,M or all)", text),
                     "see: roofline devices");
  }
  if (cpus && request.kind != DeviceKind::cpu) {
    throw UsageError(fmt::format("--cpus {}: is for the CPU, and --device {} is a GPU", *cpus, text),
                     "leave one of them out");
  }
  request.index = *index;
  return request;
}

MonitoredDevices parse_monitored(const std::string& text) {
  MonitoredDevices devices;
  if (text.empty() || text == "all") return devices;
  bool numbers = false;  // "cuda:0,2": the next number is a GPU's too
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, comma - begin);
    begin = comma + 1;
    const bool named = word.starts_with("cuda:");
    const std::optional<int> index = number_of<int>(named ? word.substr(5) : word);
    if (word == "cpu" || word == "cuda") {
      (word == "cpu" ? devices.cpu : devices.every_gpu) = true;
      numbers = false;
    } else if (index && *index >= 0 && (named || numbers)) {
      devices.gpus.push_back(*index);
      numbers = true;
    } else {
      throw UsageError(fmt::format("--device {}: expected all, cpu, cuda, or some such as cuda:0,2,cpu", text),
                       "see: roofline devices");
    }
  }
  return devices;
}

std::string device_word(const DeviceInfo& info) {
  return info.kind == DeviceKind::cuda ? fmt::format("cuda:{}", info.index) : "cpu";
}

void parse_size(const std::string& text, ChartOptions& chart) {
  const std::size_t cross = text.find('x');
  const auto width = number_of<int>(std::string_view(text).substr(0, cross));
  const auto height =
      cross == std::string::npos ? std::nullopt : number_of<int>(std::string_view(text).substr(cross + 1));
  if (!width || !height || *width < kLeastWidth || *width > kMostWidth || *height < kLeastHeight ||
      *height > kMostHeight) {
    throw UsageError(fmt::format("--size {}: expected WIDTHxHEIGHT in pixels, from {}x{} to {}x{}", text, kLeastWidth,
                                 kLeastHeight, kMostWidth, kMostHeight),
                     "for example: --size 1600x900");
  }
  chart.width = *width;
  chart.height = *height;
}

void check_pixels(const ChartOptions& chart) {
  const double pixels = chart.width * chart.scale * chart.height * chart.scale;
  if (pixels <= kMostPixels) return;
  const double fits = std::sqrt(kMostPixels / chart.width / chart.height);
  throw UsageError(fmt::format("--scale {:g}: {}x{} at that scale has {:.0f} million pixels", chart.scale, chart.width,
                               chart.height, pixels / 1e6),
                   fmt::format("--scale {:.1f} is the most at this size", std::floor(fits * 10) / 10));
}

Theme parse_theme(const std::string& text) {
  if (text == "light") return Theme::light;
  if (text == "dark") return Theme::dark;
  throw UsageError(fmt::format("--theme {}: expected light or dark", text), "for example: --theme dark");
}

MarkSize parse_marks(const std::string& text) {
  if (text == "time") return MarkSize::time;
  if (text == "equal") return MarkSize::equal;
  throw UsageError(fmt::format("--marks {}: expected time or equal", text), "for example: --marks equal");
}

Intensity parse_bytes(const std::string& text) {
  if (text == "memory") return Intensity::memory;
  if (text == "network") return Intensity::network;
  throw UsageError(fmt::format("--bytes {}: expected memory or network", text), "for example: --bytes network");
}

double parse_percentage(const std::string& text, const std::string& option) {
  std::string digits = text;
  if (digits.ends_with('%')) digits.pop_back();
  while (digits.ends_with(' ')) digits.pop_back();
  const std::optional<double> value = number_of<double>(digits);
  if (!value || !(*value >= 0 && *value <= 1000)) {
    throw UsageError(fmt::format("{} {}: expected per cent, from 0 to 1000", option, text),
                     fmt::format("for example: {} 3%", option));
  }
  return *value / 100;
}

double parse_duration(const std::string& text, const std::string& option) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {{"ms", 1e-3}, {"min", 60}, {"s", 1}, {"", 1}};
  for (const auto& [unit, seconds] : kUnits) {
    if (!text.ends_with(unit)) continue;
    const std::optional<double> value = number_of<double>(std::string_view(text).substr(0, text.size() - unit.size()));
    constexpr double kDay = 86400;
    if (value && *value >= 0 && *value * seconds <= kDay) return *value * seconds;
    break;
  }
  throw UsageError(fmt::format("{} {}: expected a time of at most a day", option, text),
                   fmt::format("for example: {} 5s, {} 500ms, {} 2min", option, option, option));
}

OutputRequest parse_output(const std::string& path, const std::vector<std::string>& names, std::size_t runs) {
  OutputRequest request{path, {}, false};
  for (const std::string& name : names) {
    const Format* format = &format_of_name(name);
    if (std::find(request.formats.begin(), request.formats.end(), format) == request.formats.end()) {
      request.formats.push_back(format);
    }
  }
  if (const Format* format = format_of_file(path)) {
    const bool agrees = request.formats.empty() || request.formats == std::vector<const Format*>{format};
    if (!agrees) {
      throw UsageError(
          fmt::format("-o {}: is one {} file, and --format asks for {}", path, format->name, fmt::join(names, ", ")),
          "leave out --format, or name a folder with -o");
    }
    request.formats = {format};
    request.is_file = true;
  }
  for (const Format* format : request.formats) {
    if (format->several || runs == 1) continue;
    throw UsageError(fmt::format("{} holds one run, and several files are given", format->name),
                     "give one file, or compare two: roofline compare BASE NEW --format json");
  }
  if (path == "-" && request.formats.size() != 1) {
    throw UsageError("-o - needs exactly one --format", "for example: --format json -o -");
  }
  return request;
}

}  // namespace roofline
