// Memory of GPUs and of the host over the run, and what was allocated at the peak.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "render/html/escape.hpp"
#include "render/html/profile_sections.hpp"
#include "render/memory_columns.hpp"
#include "report/memory_lines.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostCharts = 8, kMostHosts = 3, kMostRows = 12;
constexpr double kWidth = 1000, kHeight = 100;  // of the drawing's own units; it is stretched

/// The share, limited to 0 to 1 for any figure.
double part_of(double value, double all) {
  const double part = all > 0 ? value / all : 0;
  return part > 0 ? std::min(part, 1.0) : 0;
}

/// The area below a curve that keeps each value until the next one.
std::string area(const std::vector<MemoryPoint>& curve, double MemoryPoint::*value, double end_s, double most) {
  std::string path = fmt::format("M0 {}", kHeight);
  double y = kHeight;
  for (const MemoryPoint& point : curve) {
    const double x = kWidth * part_of(point.time_s, end_s);
    path += fmt::format("L{:.1f} {:.2f}", x, y);
    y = kHeight * (1 - part_of(point.*value, most));
    path += fmt::format("L{:.1f} {:.2f}", x, y);
  }
  return path + fmt::format("L{0} {1:.2f}L{0} {2}Z", kWidth, y, kHeight);
}

struct Chart {
  const std::vector<MemoryPoint>& curve;
  std::string name;
  double end_s = 0, most = 0, limit = 0;  ///< `limit`: a line; 0: none
};

std::string chart_of(const Chart& chart) {
  if (chart.curve.empty() || !(chart.end_s > 0) || !(chart.most > 0)) return {};
  std::string limit;
  if (chart.limit > 0) {
    const double y = kHeight * (1 - part_of(chart.limit, chart.most));
    limit = fmt::format("<line class=\"limit\" x1=\"0\" x2=\"{0}\" y1=\"{1:.2f}\" y2=\"{1:.2f}\"/>", kWidth, y);
  }
  return fmt::format(
      "<figure class=\"memory-chart\"><div class=\"scale\"><span>{}</span><span>0</span></div>"
      "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\">"
      "<path class=\"reserved\" d=\"{}\"/><path class=\"allocated\" d=\"{}\"/>{}</svg>"
      "<div class=\"times\"><span>0</span><span>{}</span></div></figure>\n",
      si(chart.most, "B", 2), escape_html(chart.name), kWidth, kHeight,
      area(chart.curve, &MemoryPoint::reserved, chart.end_s, chart.most),
      area(chart.curve, &MemoryPoint::allocated, chart.end_s, chart.most), limit, duration(chart.end_s));
}

/// The top of the scale: the GPU's memory where it is nearly reached.
double scale_of(double peak, double capacity) {
  constexpr double kRoom = 1.1, kNearly = 0.5;
  return capacity > 0 && peak > kNearly * capacity ? std::max(peak, capacity) : kRoom * peak;
}

std::string legend(bool reserved, const char* first, const char* second) {
  std::string html = fmt::format("<p class=\"memory-legend\"><i class=\"allocated\"></i> {}", first);
  if (reserved) html += fmt::format(" <i class=\"reserved\"></i> {}", second);
  return html + "</p>\n";
}

/// The largest lines and what they leave of `all`, which `rest` names.
std::string table_of(const char* caption, const std::vector<MemoryHolder>& holders, double all, const char* rest,
                     const Profile& profile) {
  std::vector<MemoryRow> rows;
  double more = 0, named = 0;
  for (const MemoryHolder& holder : holders) {
    if (holder.line.empty() && holder.module.empty()) continue;
    named += holder.bytes;
    if (rows.size() < kMostRows) {
      rows.push_back({.holder = holder, .all = all});
    } else {
      more += holder.bytes;
    }
  }
  if (rows.empty()) return {};
  const auto add = [&](const char* name, double bytes) {
    constexpr double kSmall = 0.001;
    if (bytes > kSmall * all) rows.push_back({.holder = {.bytes = bytes}, .all = all, .instead = name});
  };
  add("other lines", more);
  add(rest, all - named);
  return html_table("sums memory", caption, memory_columns(), profile, rows);
}

std::string at_peak(const GpuMemory& memory, const Profile& profile) {
  const std::string table = table_of("Memory by line at the peak", memory.at_peak, memory.explained,
                                     "allocated before recording, or no line known", profile);
  if (table.empty()) return {};
  return fmt::format("<p class=\"lead\">Allocated {} into the recording: {}.</p>\n{}", duration(memory.explained_s),
                     si(memory.explained, "B"), table);
}

std::string kept(const GpuMemory& memory, const Profile& profile) {
  if (!memory.growth) return {};
  const bool steps = memory.growth->bytes_per_step.has_value();
  const double all = std::max(bytes_of(memory.growth->kept), memory.growth->bytes_per_step.value_or(0));
  const std::string table = table_of("Memory that stays, by line", memory.growth->kept, all, "no line known", profile);
  if (table.empty()) return {};
  return fmt::format("<p class=\"lead\">Not freed{}: {}.</p>\n{}", steps ? ", of each step" : "", si(all, "B"), table);
}

std::string in_a_step(const GpuMemory& memory, const Profile& profile) {
  const std::string table = table_of("Memory allocated in a step, by line", memory.per_step, bytes_of(memory.per_step),
                                     "no line known", profile);
  if (table.empty()) return {};
  return fmt::format("<details class=\"fold\"><summary>Allocated in a step, freed or not: {}</summary>\n{}</details>\n",
                     si(bytes_of(memory.per_step), "B"), table);
}

std::string of_device(const GpuMemory& memory, const Profile& profile, bool several) {
  const bool torch = memory.source == MemorySource::torch;
  const double peak = std::max(memory.peak_allocated, memory.peak_reserved);
  const double most = scale_of(peak, memory.capacity);
  const std::string name = name_of(memory, profile.memory) + " memory";
  const double limit = memory.capacity > 0 && memory.capacity <= most ? memory.capacity : 0;
  return fmt::format("{}{}{}{}{}{}", several ? fmt::format("<h3>{}</h3>\n", escape_html(name)) : "",
                     chart_of({memory.curve, name, profile.wall_s, most, limit}),
                     legend(torch, torch ? "allocated" : "allocated with CUDA", "reserved by PyTorch"),
                     kept(memory, profile), at_peak(memory, profile), in_a_step(memory, profile));
}

std::string of_host(const HostMemory& memory, double wall_s) {
  const std::string name = fmt::format("Host memory of process {}", memory.pid);
  return fmt::format("<h3>{}</h3>\n<p class=\"lead\">{}</p>\n{}{}", name,
                     escape_html(shorten(clean_line(memory.command), 100)),
                     chart_of({memory.curve, name, wall_s, scale_of(memory.peak, 0), 0}),
                     legend(true, "of the process alone", "resident, with files and shared memory"));
}

}  // namespace

std::string html_memory(const Report& report) {
  const Profile& profile = *report.profile;
  const MemoryProfile& memory = profile.memory;
  if (memory.empty()) return {};
  std::string html;
  for (const std::string& line : memory_lines(report)) html += escape_html(line) + " ";
  html = "<p class=\"lead\">" + html + "</p>\n";
  const bool several = memory.devices.size() > 1;
  for (std::size_t i = 0; i < std::min(memory.devices.size(), kMostCharts); ++i) {
    html += of_device(memory.devices[i], profile, several);
  }
  std::string hosts;
  for (std::size_t i = 0; i < std::min(memory.host.size(), kMostHosts); ++i) {
    hosts += of_host(memory.host[i], profile.wall_s);
  }
  if (memory.devices.empty()) {
    html += hosts;
  } else if (!hosts.empty()) {
    html += fmt::format("<details class=\"fold\"><summary>Host memory</summary>\n{}</details>\n", hosts);
  }
  return fmt::format(
      "<section id=\"memory\" aria-labelledby=\"memory-h\">\n<h2 id=\"memory-h\">Memory</h2>\n{}</section>\n", html);
}

}  // namespace roofline
