// A profile in a terminal: headline, time budget and hotspots; then the longest-running kernels and lines.
#include "render/terminal/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "render/kernel_columns.hpp"
#include "render/profile_columns.hpp"
#include "render/rank_columns.hpp"
#include "render/terminal/host.hpp"
#include "render/terminal/table.hpp"
#include "report/findings.hpp"
#include "report/hotspots.hpp"
#include "report/memory_lines.hpp"
#include "report/profile_answer.hpp"
#include "report/profile_findings.hpp"
#include "report/rank_findings.hpp"
#include "report/step_findings.hpp"
#include "report/work_source.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostSavings = 8, kMostTopKernels = 20, kMostLines = 10;

/// The look of a part of the wall time, distinguishable without colours too.
struct PartLook {
  const char* unicode;
  const char* ascii;
  Ink ink;
};
const PartLook& look_of(WallPart part) {
  static constexpr std::array<PartLook, kWallParts> kLooks = {{{"\u2588", "#", Ink::good},
                                                               {"\u2593", "%", Ink::bad},
                                                               {"\u2592", "+", Ink::plain},
                                                               {"=", "=", Ink::magenta},
                                                               {"\u2591", "w", Ink::bad},
                                                               {"*", "*", Ink::magenta},
                                                               {"-", "-", Ink::warn},
                                                               {"~", "~", Ink::warn},
                                                               {"\u00b7", ".", Ink::warn},
                                                               {"_", "_", Ink::plain},
                                                               {"<", "<", Ink::dim},
                                                               {">", ">", Ink::dim},
                                                               {":", ":", Ink::dim},
                                                               {"?", "?", Ink::dim}}};
  return kLooks.at(static_cast<std::size_t>(part));
}

std::string glyphs(WallPart part, std::int64_t cells, const TerminalStyle& style) {
  const PartLook& look = look_of(part);
  std::string text;
  for (std::int64_t i = 0; i < cells; ++i) text += style.unicode ? look.unicode : look.ascii;
  return inked(text, look.ink, style);
}

/// A line of cells in proportion to the parts; parts of less than half a cell are not drawn.
std::string budget_bar(const Budget& budget, const TerminalStyle& style) {
  const double width = std::max(20, style.columns);
  std::string text;
  double so_far = 0;
  std::int64_t drawn = 0;
  for (const WallShare& share : budget.shares) {
    so_far += share.seconds;
    const auto to = std::llround(width * so_far / budget.wall_s);
    text += glyphs(share.part, to - drawn, style);
    drawn = to;
  }
  return text + '\n';
}

/// The legend of the bar, wrapped to the width of the terminal.
std::string budget_legend(const Budget& budget, const TerminalStyle& style) {
  constexpr int kGap = 3;
  std::string text;
  int used = 0;
  for (const WallShare& share : budget.shares) {
    const std::string entry = for_terminal(fmt::format(" {} {}", name_of(share.part), budget.text(share)), style);
    const int width = 1 + display_width(entry);
    if (used > 0) {
      const bool fits = used + kGap + width <= style.columns;
      text += fits ? std::string(kGap, ' ') : "\n";
      used = fits ? used + kGap : 0;
    }
    text += glyphs(share.part, 1, style) + entry;
    used += width;
  }
  return text + '\n';
}

std::string answer_lines(const Report& report, const std::vector<Hotspot>& hotspots, const TerminalStyle& style) {
  std::string text;
  const auto line = [&](const std::string& words) {
    if (!words.empty()) text += wrapped("", for_terminal(words, style), style);
  };
  std::string first = wrapped("", for_terminal(answer(report), style), style);
  first.pop_back();
  text += inked(first, Ink::bold, style) + '\n';
  line(first_action(report, hotspots));
  const std::vector<Budget> all = budgets(report);
  for (const Budget& budget : all) {
    if (!(budget.wall_s > 0)) continue;
    if (all.size() > 1) text += for_terminal(shorten(budget.device, style.columns), style) + '\n';
    text += budget_bar(budget, style) + budget_legend(budget, style);
  }
  line(why_no_roofs(report));
  line(why_no_steps(report));
  return text;
}

std::string hotspots_list(const Report& report, const std::vector<Hotspot>& all, const TerminalStyle& style) {
  std::string text;
  std::size_t shown = 0;
  for (const Hotspot& hotspot : all) {
    if (!hotspot.counts() || ++shown > kMostSavings) continue;
    const std::string seconds = hotspot.memory ? "memory" : for_terminal(duration(hotspot.seconds), style);
    const std::string first =
        std::string(static_cast<std::size_t>(std::max(0, 8 - display_width(seconds))), ' ') + seconds + "  ";
    const auto part = [&](std::string_view before, const std::string& words) {
      if (!words.empty()) text += wrapped(before, for_terminal(clean_line(words), style), style);
    };
    part(first, hotspot.text + once_text(report, hotspot));
    part("          ", hotspot.evidence);
    part(for_terminal("        \u2192 ", style), hotspot.action);
  }
  if (text.empty()) return {};
  if (shown > kMostSavings) text += fmt::format("          and {} more\n", shown - kMostSavings);
  const char* title = report.profile->steps ? "Where to spend time (per step)" : "Where to spend time";
  return inked(title, Ink::bold, style) + '\n' + text + '\n';
}

/// What the run consists of beside its steps, and the slow ones.
std::string steps_list(const Report& report, const TerminalStyle& style) {
  std::string text;
  for (const auto& [name, fact] : run_parts(report)) {
    text += wrapped("", for_terminal(fmt::format("{}: {}", name, fact), style), style);
  }
  for (const std::string& line : slow_step_lines(report)) {
    text += wrapped(for_terminal("\u00b7 ", style), for_terminal(line, style), style);
  }
  return text.empty() ? text : text + '\n';
}

std::string memory_list(const Report& report, const TerminalStyle& style) {
  std::string text;
  for (const std::string& line : memory_lines(report)) text += wrapped("", for_terminal(line, style), style);
  return text.empty() ? text : text + '\n';
}

/// What the signs and short titles of the table mean, of those that it has.
std::string kernels_key(const Report& report, const TerminalTable& table, const TerminalStyle& style) {
  std::string text = "share: of the kernels' time";
  if (table.shows("median", style)) text += "; median: per launch";
  const bool roofs = std::any_of(report.points.begin(), report.points.end(),
                                 [](const Point& point) { return !point.bound.limiting_ceiling.empty(); });
  if (roofs) text += "; roof: share of the roof that limits it";
  if (std::any_of(report.points.begin(), report.points.end(), bytes_is_lower_bound))
    text += "; \u2265, \u2264: bytes are modelled, a lower bound";
  return text;
}

/// Why rows are above their roof: a line for each reason, with its rows.
std::string above_roof_lines(const std::vector<KernelRow>& rows, const TerminalStyle& style) {
  constexpr int kColumns = 40;
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const KernelRow& row : rows) {
    const std::string& why = row.launch().why_above_roof;
    if (why.empty()) continue;
    by_reason[why].push_back(fmt::format("{} {}", shorten(clean_line(point_name(row.point)), kColumns),
                                         percent(row.point.fraction_of_roof())));
  }
  std::string text;
  for (const auto& [why, above] : by_reason) {
    text += wrapped("", for_terminal(fmt::format("above the roof, {}: {}", why, fmt::join(above, ", ")), style), style);
  }
  return text;
}

std::string kernels_table(const Report& report, const TerminalStyle& style) {
  std::vector<KernelRow> rows = program_rows(report);
  if (rows.empty()) return {};
  double more_s = 0;
  const std::size_t all = rows.size();
  for (; rows.size() > kMostTopKernels; rows.pop_back()) more_s += rows.back().launch().total_s;
  const auto columns = columns_in(kTerminal, kernel_columns(), report);
  TerminalTable table = terminal_head(columns, report);
  for (const KernelRow& row : rows) table.add_row(terminal_cells(columns, row, style));
  std::string text = table.render(style);
  if (all > rows.size())
    text += for_terminal(fmt::format("and {} more, {} in all\n", all - rows.size(), duration(more_s)), style);
  text += above_roof_lines(rows, style) + wrapped("", for_terminal(kernels_key(report, table, style), style), style);
  if (shows_sources(report)) text += wrapped("", for_terminal(where_figures_are_from(report), style), style);
  return text + '\n';
}

std::string lines_table(const Profile& profile, const TerminalStyle& style) {
  if (profile.lines.empty()) return {};
  return terminal_table(line_columns(), profile, line_rows(profile, kMostLines), style) + '\n';
}

std::string ranks_tables(const Report& report, const TerminalStyle& style) {
  constexpr std::size_t kMostRanks = 16, kMostCollectives = 8;
  if (!report.profile->ranks) return {};
  const Ranks& ranks = *report.profile->ranks;
  std::string text;
  for (const std::string& line : {scaling_text(report), matching_text(report)}) {
    if (!line.empty()) text += wrapped("", for_terminal(line, style), style);
  }
  const std::vector<RankSum> shown = shown_ranks(ranks, kMostRanks);
  text += terminal_table(rank_columns(), ranks, shown, style);
  if (shown.size() < ranks.ranks.size()) text += fmt::format("{} of {} ranks\n", shown.size(), ranks.ranks.size());
  std::vector<CollectiveSum> collectives = ranks.collectives;
  collectives.resize(std::min(kMostCollectives, collectives.size()));
  if (!collectives.empty()) text += '\n' + terminal_table(collective_columns(), ranks, collectives, style);
  return text + '\n';
}

std::string completeness_line(const Report& report, const TerminalStyle& style) {
  std::string text;
  for (const auto& [name, fact] : completeness(report))
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", name, fact);
  return wrapped("", for_terminal(text, style), style);
}

}  // namespace

std::string profile_terminal(const Report& report, const TerminalStyle& style) {
  std::string facts;
  for (const std::string& part : headline(report)) facts += (facts.empty() ? "" : " \u00b7 ") + part;
  const std::string title = program_name(*report.profile) + " \u00b7 " + clean_line(report.machine.device.name);
  std::string text = for_terminal(shorten(title, style.columns), style) + '\n';
  if (!facts.empty()) text += wrapped("", for_terminal(facts, style), style);
  const std::vector<Hotspot> hotspots = hotspots_of(report, verdicts(report));
  text += '\n' + answer_lines(report, hotspots, style) + '\n' + hotspots_list(report, hotspots, style) +
          steps_list(report, style) + ranks_tables(report, style) + memory_list(report, style) +
          kernels_table(report, style) + lines_table(*report.profile, style);
  if (const auto& host = report.profile->host) text += host_terminal(*host, !is_of_host(report), style);
  for (const Finding& finding : findings(report)) {
    text += wrapped(for_terminal("\u00b7 ", style), for_terminal(finding.text, style), style);
  }
  for (const std::string& note : report.notes) {
    text += wrapped("! ", for_terminal(clean_line(note), style), style);
  }
  return text + completeness_line(report, style);
}

}  // namespace roofline
