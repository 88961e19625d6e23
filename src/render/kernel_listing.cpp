#include "render/kernel_listing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/diagnosis/verdict.hpp"
#include "report/memory_flow.hpp"
#include "report/occupancy_text.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostLines = 12, kMostInstructions = 40, kMostKernels = 30, kMostWaits = 8;
constexpr double kLeastShare = 0.01;

double share(std::int64_t part, std::int64_t all) {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

/// "0x0120".
std::string offset_text(std::int64_t offset) { return fmt::format("{:#06x}", offset); }

std::string name_at(const SampledKernel& kernel, std::int64_t offset) {
  const auto found =
      std::lower_bound(kernel.instructions.begin(), kernel.instructions.end(), offset,
                       [](const SampledInstruction& one, std::int64_t value) { return one.offset < value; });
  return found != kernel.instructions.end() && found->offset == offset ? clean_line(found->name) : "";
}

/// Rows of the report that are launches of this kernel.
std::vector<std::size_t> rows_of(const Report& report, const SampledKernel& kernel) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const auto& kind = report.points[i].profiled;
    if (kind && kind->full_name == kernel.name) rows.push_back(i);
  }
  return rows;
}

double seconds_of(const Report& report, const std::vector<std::size_t>& rows) {
  double all = 0;
  for (const std::size_t row : rows) all += report.points[row].profiled->total_s;
  return all;
}

std::string paragraph(const std::string& text, const TerminalStyle& style) { return wrapped("", text, style) + "\n"; }

/// What fits an SM of the launch's first kernel, and with what more would.
std::string occupancy_paragraph(const Point& point, const TerminalStyle& style) {
  if (!point.counters || point.counters->kernels.empty()) return {};
  const KernelLaunch& kernel = point.counters->kernels.front();
  std::string text = resident_blocks_text(kernel);
  const std::string changes = occupancy_changes_text(kernel);
  if (!changes.empty()) text += fmt::format(" More would fit with {}, each alone.", changes);
  return text.empty() ? "" : "\n" + paragraph(text, style);
}

}  // namespace

std::string place_of(const SampledLine& line) {
  return line.file.empty() ? "no line" : fmt::format("{}:{}", clean_line(last_path_part(line.file)), line.line);
}

std::string waits_of(const SampledLine& line, std::size_t most) {
  std::string text;
  for (const WaitCount& wait : line.waits) {
    if (most-- == 0 || share(wait.samples, line.samples) < kLeastShare) break;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", description_of(wait.what), percent(share(wait.samples, line.samples)));
  }
  return text;
}

std::string how_sampled(const KernelSamples& samples) {
  const std::string took = samples.by.empty() ? "in " + duration(samples.seconds) : "by " + clean_line(samples.by);
  return samples.period > 0 ? fmt::format("{}, one per SM every {} cycles", took, count(samples.period)) : took;
}

TextTable memory_table(const Point& point, const Machine& machine) {
  TextTable table;
  table.columns = {{.title = "Memory"},
                   {.title = "Bytes", .right = true},
                   {.title = "Rate", .right = true},
                   {.title = "Of its roof", .right = true},
                   {.title = "Hits", .right = true},
                   {.title = "Sectors", .right = true, .rank = 1},
                   {.title = "Moved/asked", .right = true}};
  const auto known = [](double value, const std::string& text) { return std::isfinite(value) ? text : std::string(); };
  for (const MemoryFlow& flow : memory_flows(point, machine)) {
    const std::string roof = flow.ceiling.empty() ? "" : fmt::format("{} of {}", percent(flow.share()), flow.ceiling);
    table.rows.push_back({std::string(to_string(flow.level)), si(flow.bytes, "B"), si(flow.rate, "B/s"), roof,
                          known(flow.hit_rate, percent(flow.hit_rate)),
                          known(flow.sectors, fmt::format("{:.3g}", flow.sectors)),
                          known(flow.excess, factor(flow.excess))});
  }
  return table;
}

TextTable waits_table(const SampledKernel& kernel) {
  TextTable table;
  table.columns = {{.title = "Warps waited for", .shrinks = true},
                   {.title = "Samples", .right = true},
                   {.title = "Most of it at"},
                   {.title = "Used at", .rank = 1}};
  for (const SampledWait& wait : kernel.waits) {
    if (wait.share < kLeastShare || table.rows.size() == kMostWaits) break;
    table.rows.push_back({std::string(description_of(wait.what)), percent(wait.share), clean_line(wait.line),
                          wait.what == WaitFor::barrier ? "" : clean_line(wait.used_line)});
  }
  return table;
}

TextTable lines_table(const SampledKernel& kernel, std::size_t most) {
  TextTable table;
  table.columns = {{.title = "Line"},
                   {.title = "Samples", .right = true},
                   {.title = "Most waits", .rank = 1},
                   {.title = "Source", .shrinks = true}};
  for (const SampledLine& line : kernel.lines) {
    if (table.rows.size() == most || share(line.samples, kernel.samples) < kLeastShare) break;
    const std::string wait = line.waits.empty() ? "" : std::string(description_of(line.waits.front().what));
    table.rows.push_back({place_of(line), percent(share(line.samples, kernel.samples)), wait, clean_line(line.text)});
  }
  return table;
}

TextTable instructions_table(const SampledKernel& kernel, std::size_t most) {
  std::vector<const SampledInstruction*> hottest;
  for (const SampledInstruction& one : kernel.instructions) hottest.push_back(&one);
  std::stable_sort(hottest.begin(), hottest.end(),
                   [](const SampledInstruction* a, const SampledInstruction* b) { return a->samples > b->samples; });
  if (hottest.size() > most) hottest.resize(most);
  std::sort(hottest.begin(), hottest.end(),
            [](const SampledInstruction* a, const SampledInstruction* b) { return a->offset < b->offset; });
  TextTable table;
  table.columns = {{.title = "Offset", .right = true},  {.title = "Instruction"}, {.title = "Line"},
                   {.title = "Samples", .right = true}, {.title = "Stall"},       {.title = "Waits for", .rank = 1}};
  for (const SampledInstruction* const one : hottest) {
    if (share(one->samples, kernel.samples) < kLeastShare / 10) continue;
    const std::string line = one->line < 0 ? "" : place_of(kernel.lines[static_cast<std::size_t>(one->line)]);
    const std::string reason = one->reasons.empty() ? "" : clean_line(one->reasons.front().reason);
    std::string waited;
    if (!one->waits_for.empty()) {
      waited = fmt::format("{} {}", offset_text(one->waits_for.front()), name_at(kernel, one->waits_for.front()));
    }
    table.rows.push_back({offset_text(one->offset), clean_line(one->name), line,
                          percent(share(one->samples, kernel.samples)), reason, waited});
  }
  return table;
}

std::string render_sampled_kernels(const Report& report, const TerminalStyle& style) {
  const KernelSamples& samples = report.profile->instructions;
  TextTable table;
  table.columns = {{.title = "Kernel", .shrinks = true},
                   {.title = "GPU time", .right = true},
                   {.title = "Samples", .right = true},
                   {.title = "Largest wait", .rank = 1},
                   {.title = "Line"}};
  for (const SampledKernel& kernel : samples.kernels) {
    if (table.rows.size() == kMostKernels) break;
    const auto wait = std::find_if(kernel.waits.begin(), kernel.waits.end(), [](const SampledWait& one) {
      return one.what != WaitFor::issuing && one.what != WaitFor::ready;
    });
    const bool any = wait != kernel.waits.end();
    const double seconds = seconds_of(report, rows_of(report, kernel));
    table.rows.push_back(
        {clean_line(kernel.name), report.profile->kernel_s > 0 ? percent(seconds / report.profile->kernel_s) : "",
         count(kernel.samples), any ? std::string(description_of(wait->what)) : "", any ? clean_line(wait->line) : ""});
  }
  return terminal_table(table, style);
}

std::string render_kernel_listing(const Report& report, const SampledKernel& kernel, const TerminalStyle& style) {
  const KernelSamples& samples = report.profile->instructions;
  const std::vector<std::size_t> rows = rows_of(report, kernel);
  std::string out = inked(clean_line(kernel.name), Ink::bold, style) + "\n";
  out += paragraph(
      fmt::format("{} launch {}, {} of the GPU\u2019s kernel time. {} samples of its warps {}.",
                  count(static_cast<std::int64_t>(rows.size())), rows.size() == 1 ? "signature" : "signatures",
                  percent(report.profile->kernel_s > 0 ? seconds_of(report, rows) / report.profile->kernel_s : 0),
                  count(kernel.samples), how_sampled(samples)),
      style);
  std::vector<std::string> said;
  for (const Verdict& verdict : verdicts(report)) {
    if (std::find(rows.begin(), rows.end(), verdict.row) == rows.end()) continue;
    if (std::find(said.begin(), said.end(), verdict.finding) != said.end()) continue;
    said.push_back(verdict.finding);
    out += "\n" + paragraph(verdict.finding, style) + paragraph("Next: " + verdict.action, style);
  }
  const auto longest = std::max_element(rows.begin(), rows.end(), [&report](std::size_t a, std::size_t b) {
    return report.points[a].profiled->total_s < report.points[b].profiled->total_s;
  });
  if (longest != rows.end()) {
    const TextTable memory = memory_table(report.points[*longest], machine_of(report, report.points[*longest]));
    if (!memory.rows.empty()) {
      out += "\n" + terminal_table(memory, style);
      out += paragraph(
          "hits: requests that end there; sectors: of 32 bytes, per request of a warp; moved/asked: bytes "
          "moved over those that threads asked for",
          style);
    }
    out += occupancy_paragraph(report.points[*longest], style);
  }
  out += "\n" + terminal_table(waits_table(kernel), style);
  out += "\n" + terminal_table(lines_table(kernel, kMostLines), style);
  if (kernel.lines.empty() || std::all_of(kernel.lines.begin(), kernel.lines.end(),
                                          [](const SampledLine& line) { return line.file.empty(); })) {
    out += paragraph("Its code has no source lines: compile with nvcc -lineinfo (NVRTC: --generate-line-info).", style);
  }
  out += "\n" + terminal_table(instructions_table(kernel, kMostInstructions), style);
  return for_terminal(std::move(out), style);
}

}  // namespace roofline
