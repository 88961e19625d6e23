// The tables of a profile in Markdown, each limited to its first rows.
#include "render/profile_markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/nan.hpp"
#include "render/host_columns.hpp"
#include "render/kernel_columns.hpp"
#include "render/profile_columns.hpp"
#include "render/rank_columns.hpp"
#include "report/hotspots.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/rank_findings.hpp"
#include "report/step_findings.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostKernels = 60, kMostRows = 30;

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

/// What the run consists of beside its steps, and the slow ones.
std::string steps_list(const Report& report) {
  std::string text;
  for (const auto& [name, fact] : run_parts(report)) text += fmt::format("- {}: {}\n", name, escape_markdown(fact));
  for (const std::string& line : slow_step_lines(report)) text += "- " + escape_markdown(line) + "\n";
  return text.empty() ? text : "\n## Steps\n\n" + text;
}

std::string ranks_tables(const Report& report) {
  if (!report.profile->ranks) return {};
  const Ranks& ranks = *report.profile->ranks;
  std::string text = "\n## By rank\n\n" + escape_markdown(scaling_text(report)) + "\n";
  if (const std::string matching = matching_text(report); !matching.empty()) text += escape_markdown(matching) + "\n";
  text += "\n" + markdown_table(rank_columns(), ranks, shown_ranks(ranks, kMostRows));
  if (ranks.collectives.empty()) return text;
  return text + "\n" + markdown_table(collective_columns(), ranks, ranks.collectives);
}

std::string kernels_table(const Report& report, const std::vector<Verdict>& verdicts) {
  std::vector<KernelRow> rows = program_rows(report, verdicts);
  if (rows.empty()) return {};
  std::string text = "\n## By kernel\n\n";
  if (shows_sources(report)) text += where_figures_are_from(report) + "\n\n";
  const std::string more =
      rows.size() > kMostKernels ? fmt::format("\nand {} more.\n", rows.size() - kMostKernels) : "";
  while (rows.size() > kMostKernels) rows.pop_back();
  return text + markdown_table(kernel_columns(), report, rows) + more;
}

std::string and_more(std::size_t all) {
  return all > kMostRows ? fmt::format("\nand {} more.\n", all - kMostRows) : "";
}

std::string lines_table(const Profile& profile) {
  if (profile.lines.empty()) return {};
  return "\n## By line\n\n" + markdown_table(line_columns(), profile, line_rows(profile, kMostRows)) +
         and_more(profile.lines.size());
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
                               percent(share_or_nan(node.total_s, all)), count(node.launches)});
  }
  if (rows < nodes.size())
    text += fmt::format("\n{} deeper nodes not shown.\n", nodes.size() - std::min(rows, kMostRows));
  return text;
}

std::string host_tables(const Profile& profile) {
  if (!profile.host || profile.host->samples == 0) return {};
  const HostProfile& host = *profile.host;
  return "\n## Host by line\n\n" + markdown_table(host_line_columns(), host, host_line_rows(host, kMostRows)) +
         and_more(host.lines.size()) + "\n## Host by thread\n\n" +
         markdown_table(host_thread_columns(), host, host_thread_rows(host, kMostRows)) + and_more(host.threads.size());
}

std::string copies_table(const Profile& profile) {
  if (profile.copies.empty()) return {};
  return "\n## Copies\n\n" + markdown_table(copy_columns(), profile, profile.copies);
}

std::string calls_table(const Profile& profile) {
  if (profile.calls.empty()) return {};
  return fmt::format("\n## By {} call\n\n", runtime_name(profile)) +
         markdown_table(call_columns(), profile, call_rows(profile, kMostRows)) + and_more(profile.calls.size());
}

}  // namespace

std::string profile_markdown_answer(const Report& report, const std::vector<Verdict>& verdicts) {
  std::string text = fmt::format("**{}**\n", escape_markdown(answer(report)));
  const std::string rest = time_above_roofs(report), first = first_action(report, hotspots_of(report, verdicts));
  for (const std::string& line : {first, rest, why_no_steps(report)}) {
    if (!line.empty()) text += "\n" + escape_markdown(line) + "\n";
  }
  if (const std::string why = why_no_roofs(report); !why.empty()) text += "\n" + escape_markdown(why) + "\n";
  return text + budget_table(report) + steps_list(report) + "\n";
}

std::string profile_markdown_tables(const Report& report, const std::vector<Verdict>& verdicts) {
  const Profile& profile = *report.profile;
  std::string text = ranks_tables(report) + kernels_table(report, verdicts) + lines_table(profile) +
                     tree_table("By module", profile.modules, profile.kernel_s) +
                     tree_table("By range", profile.ranges, profile.kernel_s) + copies_table(profile) +
                     calls_table(profile) + host_tables(profile) + "\n## Recording coverage and overhead\n\n";
  for (const auto& [name, fact] : completeness(report)) text += fmt::format("- {}: {}\n", name, escape_markdown(fact));
  for (const ProfiledProcess& process : profile.processes) {
    for (const std::string& note : process.notes) {
      text += fmt::format("- Process {}: {}\n", process.pid, escape_markdown(note));
    }
  }
  return text;
}

}  // namespace roofline
