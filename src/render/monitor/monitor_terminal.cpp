// A sample for people: bars for utilisation, the share of the measured roof beside it, and below it what is missing
// and why. Where the screen is too low for that, a table with one line per device.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/find.hpp"
#include "render/monitor/monitor_render.hpp"
#include "render/terminal/table.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr int kLabelWidth = 9;
constexpr int kWideScreen = 100;
constexpr double kMega = 1e6;
constexpr std::size_t kShownProcesses = 5;

/// A bar in a frame, so that its end is visible.
std::string meter(double fraction, const TerminalStyle& style) {
  const int width = style.columns >= kWideScreen ? 20 : 12;
  if (!style.unicode) {
    const auto marks = static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * width));
    return "[" + std::string(marks, '#') + std::string(static_cast<std::size_t>(width) - marks, '.') + "]";
  }
  const std::string filled = bar(fraction, width, style);
  const std::string rest(static_cast<std::size_t>(width - display_width(filled)), ' ');
  return inked(filled, Ink::cyan, style) + rest + inked("\u2502", Ink::dim, style);
}

std::string megahertz(double hz) { return fmt::format("{:.0f} MHz", hz / kMega); }

const RoofShare* share_of(const DeviceSample& device, std::string_view resource) {
  return find_by(device.roofs, &RoofShare::resource, resource);
}

/// Lines of a device, each with a label in front.
class DeviceLines {
 public:
  DeviceLines(const DeviceSample& device, const TerminalStyle& style) : device_(device), style_(style) {}

  void add(const std::string& label, const std::string& text) {
    lines_.push_back("  " + inked(label, Ink::dim, style_) +
                     std::string(static_cast<std::size_t>(std::max(1, kLabelWidth - display_width(label))), ' ') +
                     text);
  }

  /// "██████   62.1 %   rest", or nothing if there is no such figure.
  void add_bar(const std::string& label, std::string_view quantity, const std::string& rest) {
    if (const auto value = device_.find(quantity)) {
      add(label, fmt::format("{} {:>6}  {}", meter(*value, style_), percent(*value), rest));
    }
  }

  std::vector<std::string> take() { return std::move(lines_); }

 private:
  const DeviceSample& device_;
  const TerminalStyle& style_;
  std::vector<std::string> lines_;
};

/// "66.4 % of tensor.bf16 (sustained), at most 571 TFLOP/s".
std::string tensor_text(const DeviceSample& device) {
  const RoofShare* share = share_of(device, "tensor");
  if (share == nullptr) return "";
  return fmt::format("{} of {}, {} {}", percent(share->share()), share->roof, si(share->per_s, "FLOP/s"), share->basis);
}

std::string dram_text(const DeviceSample& device) {
  std::vector<std::string> parts;
  if (const RoofShare* share = share_of(device, "dram")) {
    parts.push_back(fmt::format("{} of {}", percent(share->share()), share->roof));
  }
  for (const auto& [direction, word] : {std::pair("read", "read"), std::pair("write", "written")}) {
    const auto rate = device.find(fmt::format("dram_{}_bytes_per_second", direction));
    const auto share = device.find(fmt::format("dram_{}_fraction", direction));
    if (rate) {
      parts.push_back(fmt::format("{} {}", si(*rate, "B/s"), word));
    } else if (share) {
      parts.push_back(fmt::format("{} {}", percent(*share), word));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string clock_text(const DeviceSample& device, const TerminalStyle& style) {
  std::vector<std::string> parts;
  if (const auto hz = device.find("core_clock_hertz")) {
    const auto most = device.find("core_clock_max_hertz");
    parts.push_back(megahertz(*hz) + (most ? " of " + megahertz(*most) : ""));
  }
  if (const auto hz = device.find("memory_clock_hertz")) parts.push_back("memory " + megahertz(*hz));
  if (device.limited_by && !device.limited_by->empty()) {
    parts.push_back(inked("limited by " + listed(*device.limited_by), Ink::warn, style));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string power_text(const DeviceSample& device) {
  std::vector<std::string> parts;
  if (const auto watts = device.find("power_watts")) {
    const auto limit = device.find("power_limit_watts");
    parts.push_back(limit ? fmt::format("{:.0f} W of {:.0f} W", *watts, *limit) : fmt::format("{:.0f} W", *watts));
  }
  if (const auto share = device.find("power_capped_fraction"); share && *share > 0) {
    parts.push_back(fmt::format("power-limited {} of the time", percent(*share)));
  }
  if (const auto celsius = device.find("temperature_celsius")) parts.push_back(fmt::format("{:.0f} \u00b0C", *celsius));
  if (const auto celsius = device.find("memory_temperature_celsius")) {
    parts.push_back(fmt::format("memory {:.0f} \u00b0C", *celsius));
  }
  if (const auto share = device.find("thermal_capped_fraction"); share && *share > 0) {
    parts.push_back(fmt::format("thermally limited {} of the time", percent(*share)));
  }
  if (const auto fan = device.find("fan_fraction")) parts.push_back("fan " + percent(*fan));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "in 1.2 GB/s (2.2 % of pcie.h2d), out 0.3 GB/s"; empty where neither is known.
std::string link_text(const DeviceSample& device, const std::string& link) {
  std::vector<std::string> parts;
  for (const auto& [direction, word] : {std::pair("rx", "in"), std::pair("tx", "out")}) {
    const auto rate = device.find(fmt::format("{}_{}_bytes_per_second", link, direction));
    if (!rate) continue;
    const RoofShare* share = share_of(device, fmt::format("{}_{}", link, direction));
    parts.push_back(fmt::format("{} {}", word, si(*rate, "B/s")) +
                    (share != nullptr ? fmt::format(" ({} of {})", percent(share->share()), share->roof) : ""));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_processes(const DeviceSample& device, DeviceLines& lines) {
  if (!device.processes) return;
  std::vector<GpuProcess> shown = *device.processes;
  std::stable_sort(shown.begin(), shown.end(), [](const GpuProcess& a, const GpuProcess& b) {
    return a.memory_bytes.value_or(0) > b.memory_bytes.value_or(0);
  });
  for (std::size_t i = 0; i < std::min(shown.size(), kShownProcesses); ++i) {
    const GpuProcess& process = shown[i];
    std::string text = process.name.empty() ? std::to_string(process.pid)
                                            : fmt::format("{} {}", process.pid, shorten(process.name, 24));
    if (process.memory_bytes) text += ", " + binary_bytes(*process.memory_bytes);
    if (process.sm_fraction) text += fmt::format(", on SMs {} of the time", percent(*process.sm_fraction));
    lines.add(i == 0 ? "process" : "", text);
  }
  if (shown.size() > kShownProcesses) lines.add("", fmt::format("and {} more", shown.size() - kShownProcesses));
}

void add_gpu_lines(const DeviceSample& device, const TerminalStyle& style, DeviceLines& lines) {
  lines.add_bar("tensor", "tensor_active_fraction", tensor_text(device));
  lines.add_bar("DRAM", "dram_active_fraction", dram_text(device));
  lines.add_bar("SMs", "sm_active_fraction",
                device.find("kernel_active_fraction")
                    ? fmt::format("kernels active {} of the time", percent(*device.find("kernel_active_fraction")))
                    : "");
  if (!device.find("sm_active_fraction")) lines.add_bar("busy", "busy_fraction", "sampled by the driver");
  if (const std::string text = clock_text(device, style); !text.empty()) lines.add("clock", text);
  if (const std::string text = power_text(device); !text.empty()) lines.add("power", text);
  const auto used = device.find("memory_used_bytes");
  const auto total = device.find("memory_total_bytes");
  if (used && total) lines.add("memory", fmt::format("{} of {}", binary_bytes(*used), binary_bytes(*total)));
  if (std::string text = link_text(device, "pcie"); !text.empty()) {
    if (const auto generation = device.find("pcie_generation")) {
      text += fmt::format("; generation {:.0f}, {:.0f} lanes", *generation, device.find("pcie_lanes").value_or(0));
    }
    lines.add("PCIe", text);
  }
  if (const std::string text = link_text(device, "nvlink"); !text.empty()) {
    lines.add("NVLink", fmt::format("{}; {:.0f} links", text, device.find("nvlink_links").value_or(0)));
  }
  if (const auto errors = device.find("ecc_uncorrected_errors"); errors && *errors > 0) {
    lines.add("ECC", inked(fmt::format("{:.0f} uncorrected memory errors", *errors), Ink::bad, style));
  }
  add_processes(device, lines);
}

void add_cpu_lines(const DeviceSample& device, const TerminalStyle& style, DeviceLines& lines) {
  std::string busy;
  if (const auto load = device.find("load_tasks")) busy = fmt::format("load {:.2f}", *load);
  if (const auto stolen = device.find("stolen_fraction"); stolen && *stolen > 0) {
    busy += fmt::format("{}{} stolen by the hypervisor", busy.empty() ? "" : ", ", percent(*stolen));
  }
  if (const auto throttled = device.find("throttled_fraction"); throttled && *throttled > 0) {
    busy += fmt::format("{}{} CPUs throttled by quota", busy.empty() ? "" : ", ", number(*throttled, 2));
  }
  lines.add_bar("busy", "busy_fraction", busy);
  lines.add_bar("DRAM", "dram_active_fraction", dram_text(device));
  if (!device.find("dram_active_fraction") && device.find("dram_read_bytes_per_second")) {
    lines.add("DRAM", dram_text(device));
  }
  if (const std::string text = clock_text(device, style); !text.empty()) lines.add("clock", text);
  if (const std::string text = power_text(device); !text.empty()) lines.add("power", text);
  const auto used = device.find("memory_used_bytes");
  const auto total = device.find("memory_total_bytes");
  if (used && total) lines.add("memory", fmt::format("{} of {}", binary_bytes(*used), binary_bytes(*total)));
  std::vector<std::string> pressure;
  for (const char* what : {"cpu", "memory", "io"}) {
    if (const auto share = device.find(fmt::format("{}_pressure_fraction", what))) {
      pressure.push_back(fmt::format("{} {}", what, percent(*share)));
    }
  }
  if (!pressure.empty()) lines.add("stalled", fmt::format("tasks waiting for {}", fmt::join(pressure, ", ")));
}

/// Figures whose absence is explained, by the key of the reason.
constexpr std::pair<const char*, const char*> kMissed[] = {
    {"device", "answer"},
    {"tensor_active_fraction", "tensor activity"},
    {"dram_active_fraction", "DRAM activity"},
    {"dram_read_bytes_per_second", "DRAM bytes"},
    {"core_clock_hertz", "clock"},
    {"power_watts", "power"},
    {"temperature_celsius", "temperature"},
    {"memory_used_bytes", "memory"},
    {"pcie_rx_bytes_per_second", "PCIe"},
    {"limited_by", "what limits the clock"},
    {"processes", "processes"},
    {"roofs", "roofs"},
};

/// "no DRAM bytes, tensor activity: the reason", a line for each reason.
std::string missing_lines(const DeviceSample& device, const TerminalStyle& style) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const auto& [name, words] : kMissed) {
    const auto found = device.absent.find(name);
    if (found != device.absent.end()) value_of_key(reasons, found->second).emplace_back(words);
  }
  std::string text;
  for (const auto& [reason, words] : reasons) {
    text += wrapped("  ", fmt::format("no {}: {}", listed(words), clean_line(reason)), style);
  }
  for (const std::string& note : device.notes) text += wrapped("  note: ", clean_line(note), style);
  return text;
}

std::string device_text(const DeviceSample& device, const TerminalStyle& style) {
  std::string text = inked(device.device, Ink::bold, style) + "  " + for_terminal(clean_line(device.name), style);
  if (!device.roofs_measured_at.empty()) {
    text += inked(fmt::format("  roofs of {}", device.roofs_measured_at), Ink::dim, style);
  }
  text += '\n';
  DeviceLines lines(device, style);
  if (device.kind == DeviceKind::cuda) {
    add_gpu_lines(device, style, lines);
  } else {
    add_cpu_lines(device, style, lines);
  }
  for (const std::string& line : lines.take()) text += for_terminal(line, style) + '\n';
  return text + missing_lines(device, style);
}

std::string monitor_table(const Sample& sample, const TerminalStyle& style) {
  TerminalTable table({{"device", false, 0},
                       {"tensor", true, 1},
                       {"of roof", true, 3},
                       {"DRAM", true, 1},
                       {"of roof", true, 2},
                       {"busy", true, 1},
                       {"clock", true, 5},
                       {"power", true, 4},
                       {"temp", true, 6},
                       {"memory", true, 7},
                       {"PCIe in", true, 9},
                       {"PCIe out", true, 9},
                       {"NVLink in", true, 8},
                       {"NVLink out", true, 8},
                       {"limited by", false, 0, true, 12}});
  for (const DeviceSample& device : sample.devices) {
    const auto cell = [&](std::string_view quantity, const auto& write) -> Cell {
      const auto value = device.find(quantity);
      return value ? Cell{write(*value)} : Cell{kAbsent, Ink::dim};
    };
    const auto share = [&](std::string_view resource) -> Cell {
      const RoofShare* found = share_of(device, resource);
      return found != nullptr ? Cell{percent(found->share()), Ink::bold} : Cell{kAbsent, Ink::dim};
    };
    const auto rate = [](double value) { return si(value, "B/s"); };
    const auto degrees = [](double value) { return fmt::format("{:.0f} \u00b0C", value); };
    const auto watts = [](double value) { return fmt::format("{:.0f} W", value); };
    const auto silent = device.absent.find("device");
    const std::string limits = silent != device.absent.end() ? clean_line(silent->second)
                               : device.limited_by           ? listed(*device.limited_by)
                                                             : std::string();
    table.add_row({{device.device, Ink::bold},
                   cell("tensor_active_fraction", percent),
                   share("tensor"),
                   cell("dram_active_fraction", percent),
                   share("dram"),
                   cell(device.find("kernel_active_fraction") ? "kernel_active_fraction" : "busy_fraction", percent),
                   cell("core_clock_hertz", megahertz),
                   cell("power_watts", watts),
                   cell("temperature_celsius", degrees),
                   cell("memory_used_bytes", binary_bytes),
                   cell("pcie_rx_bytes_per_second", rate),
                   cell("pcie_tx_bytes_per_second", rate),
                   cell("nvlink_rx_bytes_per_second", rate),
                   cell("nvlink_tx_bytes_per_second", rate),
                   {limits, Ink::warn}});
  }
  return table.render(style);
}

/// At most `lines` lines (0: all) as wide as the screen: the next sample overwrites this one in place.
std::string cut_lines(const std::string& text, const TerminalStyle& style, int lines) {
  std::string result;
  int line = 0;
  for (std::size_t begin = 0; begin < text.size() && (lines == 0 || line < lines); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    int left = style.columns;
    for (std::size_t at = begin; at < end;) {
      if (text[at] == '\x1b') {
        const std::size_t code_end = std::min(text.find('m', at), end - 1);
        result.append(text, at, code_end + 1 - at);
        at = code_end + 1;
        continue;
      }
      const std::size_t bytes = std::max<std::size_t>(1, next_code_point(std::string_view(text).substr(at)).bytes);
      const std::string_view point = std::string_view(text).substr(at, bytes);
      left -= display_width(point);
      if (left >= 0) result += point;
      at += bytes;
    }
    result += '\n';
    begin = end + 1;
  }
  return result;
}

}  // namespace

std::string render_monitor_terminal(const Sample& sample, const TerminalStyle& style, int lines) {
  const std::string head = fmt::format("{}  {}\n", clean_line(sample.host), sample.time);
  std::string full = head;
  for (const DeviceSample& device : sample.devices) full += "\n" + device_text(device, style);
  full = cut_lines(full, style, 0);
  const auto height = std::count(full.begin(), full.end(), '\n');
  if (lines == 0 || height <= lines) return full;
  return cut_lines(head + "\n" + monitor_table(sample, style) +
                       inked("enlarge the terminal to see each device in full", Ink::dim, style) + "\n",
                   style, lines);
}

}  // namespace roofline
