// Tables of a profile in GitHub's dialect, each cut to what somebody reads.
#include "render/profile_markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "render/markdown_text.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostKernels = 60, kMostRows = 30;

std::string share(double seconds, double all) { return all > 0 ? percent(seconds / all) : std::string(kAbsent); }

std::string budget_table(const Report& report) {
  std::string text;
  for (const Budget& budget : budgets(report)) {
    text += '\n';
    append_markdown_row(text, {escape_markdown(budget.device), budget.text(budget.steps), "100 %"});
    text += "|:--|--:|--:|\n";
    for (const WallShare& part : budget.shares) {
      append_markdown_row(text, {std::string(name_of(part.part)), escape_markdown(budget.text(part)),
                                 percent(part.seconds / budget.wall_s)});
    }
  }
  return text;
}

std::string kernels_table(const Report& report) {
  std::string text = "\n## By kernel\n\n";
  const bool told = tells_sources(report);
  if (told) text += where_figures_are_from(report) + "\n\n";
  std::vector<std::string> names = {"Kernel",      "Launches", "Total", "Share",      "Median",
                                    "Of the roof", "AI",       "Bound", "Limited by", "Where from"};
  if (told) names.insert(names.end(), {"Time", "Work"});
  append_markdown_row(text, names);
  text += fmt::format("|:--|--:|--:|--:|--:|--:|--:|:--|:--|:--|{}\n", told ? ":--|:--|" : "");
  std::size_t rows = 0;
  for (const std::size_t i : by_total_time(report)) {
    const Point& point = report.points[i];
    if (!point.profiled || ++rows > kMostKernels) continue;
    const bool known = point.bound.label != BoundLabel::unknown;
    std::vector<std::string> row = {
        escape_markdown(point_name(point)),
        count(point.profiled->launches),
        duration(point.profiled->total_s),
        percent(share_of_time(report, point)),
        point.time ? duration(point.time->median) : kAbsent,
        at_least(point) + percent(point.fraction_of_roof()) + (point.above_roof() ? " **above**" : ""),
        point.work.total_flops() > 0 ? at_most(point) + intensity(point.bound.arithmetic_intensity) : kAbsent,
        known ? std::string(to_string(point.bound.label)) : escape_markdown(why_no_work(point)),
        escape_markdown(limit_label(point.bound)),
        escape_markdown(where_from(*point.profiled))};
    if (told) {
      row.emplace_back(to_string(point.profiled->time_source));
      row.emplace_back(work_source(point).empty() ? kAbsent : work_source(point));
    }
    append_markdown_row(text, row);
  }
  if (rows > kMostKernels) text += fmt::format("\nand {} more.\n", rows - kMostKernels);
  return rows == 0 ? "" : text;
}

std::string lines_table(const Profile& profile) {
  if (profile.lines.empty()) return {};
  std::vector<LineSum> lines = profile.lines;
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LineSum& a, const LineSum& b) { return a.total_s > b.total_s; });
  std::string text = "\n## By line\n\n";
  append_markdown_row(text, {"Line", "Kernels", "Share", "Of it backward", "Launches"});
  text += "|:--|--:|--:|--:|--:|\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kMostRows); ++i) {
    const LineSum& line = lines[i];
    append_markdown_row(
        text, {escape_markdown(fmt::format("{}:{} {}", line.file, line.number, line.function)), duration(line.total_s),
               share(line.total_s, profile.kernel_s), share(line.backward_s, line.total_s), count(line.launches)});
  }
  if (lines.size() > kMostRows) text += fmt::format("\nand {} more.\n", lines.size() - kMostRows);
  return text;
}

/// A tree's nodes under their parents, indented, down to the second level.
std::string tree_table(const char* title, const std::vector<TreeSum>& nodes, double all) {
  if (nodes.empty()) return {};
  std::string text = fmt::format("\n## {}\n\n", title);
  append_markdown_row(text, {"", "Kernels", "Share", "Launches"});
  text += "|:--|--:|--:|--:|\n";
  std::size_t rows = 0;
  for (const TreeSum& node : nodes) {
    const bool root = node.parent < 0;
    const bool second = !root && nodes[static_cast<std::size_t>(node.parent)].parent < 0;
    if ((!root && !second) || ++rows > kMostRows) continue;
    append_markdown_row(text, {(second ? "\u00b7 " : "") + escape_markdown(node.name), duration(node.total_s),
                               share(node.total_s, all), count(node.launches)});
  }
  if (rows < nodes.size())
    text += fmt::format("\nDeeper levels are left out: {} nodes.\n", nodes.size() - std::min(rows, kMostRows));
  return text;
}

std::string copies_table(const Profile& profile) {
  if (profile.copies.empty()) return {};
  std::string text = "\n## Copies\n\n";
  append_markdown_row(text, {"Direction", "Copies", "Bytes", "Time", "Rate", "Of the roof"});
  text += "|:--|--:|--:|--:|--:|:--|\n";
  for (const CopySum& copy : profile.copies) {
    const double now = copy.total_s > 0 ? copy.bytes / copy.total_s : std::nan("");
    append_markdown_row(text, {escape_markdown(to_string(copy.path)), count(copy.copies), si(copy.bytes, "B"),
                               duration(copy.total_s), rate(now, CeilingKind::bandwidth),
                               copy.roof.empty() ? kAbsent
                                                 : fmt::format("{} of {}", percent(fraction_of_roof(copy)),
                                                               escape_markdown(copy.roof))});
  }
  return text;
}

std::string calls_table(const Profile& profile) {
  if (profile.calls.empty()) return {};
  std::string text = "\n## By call\n\n";
  append_markdown_row(text, {"Call", "Calls", "Total", "Median", "Longest"});
  text += "|:--|--:|--:|--:|--:|\n";
  for (std::size_t i = 0; i < std::min(profile.calls.size(), kMostRows); ++i) {
    const CallSum& call = profile.calls[i];
    append_markdown_row(text, {escape_markdown(call.name), count(call.calls), duration(call.total_s),
                               duration(call.median_s), duration(call.max_s)});
  }
  if (profile.calls.size() > kMostRows) text += fmt::format("\nand {} more.\n", profile.calls.size() - kMostRows);
  return text;
}

}  // namespace

std::string profile_markdown_answer(const Report& report) {
  std::string text =
      fmt::format("**{}**\n\n{}\n", escape_markdown(answer(report)), escape_markdown(where_the_rest_is(report)));
  if (const std::string why = why_no_roofs(report); !why.empty()) text += "\n" + escape_markdown(why) + "\n";
  return text + budget_table(report) + "\n";
}

std::string profile_markdown_tables(const Report& report) {
  const Profile& profile = *report.profile;
  std::string text = kernels_table(report) + lines_table(profile) +
                     tree_table("By module", profile.modules, profile.kernel_s) +
                     tree_table("By range", profile.ranges, profile.kernel_s) + copies_table(profile) +
                     calls_table(profile) + "\n## How complete it is, and what it cost\n\n";
  for (const auto& [name, fact] : completeness(report)) text += fmt::format("- {}: {}\n", name, escape_markdown(fact));
  for (const ProfiledProcess& process : profile.processes) {
    for (const std::string& note : process.notes) {
      text += fmt::format("- Process {}: {}\n", process.pid, escape_markdown(note));
    }
  }
  return text;
}

}  // namespace roofline
