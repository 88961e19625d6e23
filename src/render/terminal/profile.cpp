// Ten seconds' reading, then a minute's: headline, budget and wins; then the kernels and lines that take most.
#include "render/terminal/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "render/terminal/bound.hpp"
#include "render/terminal/table.hpp"
#include "report/findings.hpp"
#include "report/profile_findings.hpp"
#include "report/spending.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostWins = 8, kMostTopKernels = 20, kMostLines = 10;

/// How a part of the wall time looks: told apart without colours, too.
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
                                                               {"-", "-", Ink::warn},
                                                               {"~", "~", Ink::warn},
                                                               {"\u00b7", ".", Ink::warn},
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

/// A line of cells, as many for each part as its share; what is less than half a cell has none.
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

/// What the bar's cells stand for, as many to a line as there is room for.
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

std::string answer_lines(const Report& report, const TerminalStyle& style) {
  std::string text;
  const auto line = [&](const std::string& words) {
    if (!words.empty()) text += wrapped("", for_terminal(words, style), style);
  };
  std::string first = wrapped("", for_terminal(answer(report), style), style);
  first.pop_back();
  text += inked(first, Ink::bold, style) + '\n';
  const std::vector<Budget> all = budgets(report);
  for (const Budget& budget : all) {
    if (!(budget.wall_s > 0)) continue;
    if (all.size() > 1) text += for_terminal(shorten(budget.device, style.columns), style) + '\n';
    text += budget_bar(budget, style) + budget_legend(budget, style);
  }
  line(why_no_roofs(report));
  return text;
}

std::string spending_list(const Report& report, const TerminalStyle& style) {
  const std::vector<Spending> all = spending_of(report, verdicts(report));
  std::string text;
  std::size_t told = 0;
  for (const Spending& spending : all) {
    if (!(spending.seconds > 0) || ++told > kMostWins) continue;
    const std::string seconds = for_terminal(duration(spending.seconds), style);
    const std::string first =
        std::string(static_cast<std::size_t>(std::max(0, 8 - display_width(seconds))), ' ') + seconds + "  ";
    const auto part = [&](std::string_view before, const std::string& words) {
      if (!words.empty()) text += wrapped(before, for_terminal(clean_line(words), style), style);
    };
    part(first, shorten(spending.text, 200));
    part("          ", spending.evidence);
    part(for_terminal("        \u2192 ", style), spending.action);
  }
  if (text.empty()) return {};
  if (told > kMostWins) text += fmt::format("          and {} more\n", told - kMostWins);
  return inked("Where to spend time", Ink::bold, style) + '\n' + text + '\n';
}

/// With where its work is from, where rows differ in that.
std::vector<Cell> kernel_row(const Report& report, const Point& point, bool told) {
  const ProfiledKind& kind = *point.profiled;
  const bool has_work = point.work.total_flops() > 0;
  std::vector<Cell> row = {
      {clean_line(point.workload.label.empty() ? point.workload.op : point.workload.label)},
      {count(kind.launches)},
      {duration(kind.total_s)},
      {percent(share_of_time(report, point))},
      {point.time ? duration(point.time->median) : kAbsent},
      {has_work ? at_most(point) + intensity(point.bound.arithmetic_intensity) : kAbsent},
      {at_least(point) + percent(point.fraction_of_roof()), roof_ink(point)},
      {point.bound.label == BoundLabel::unknown ? kAbsent : std::string(to_string(point.bound.label)),
       bound_ink(point.bound.label)},
      {limit_label(point.bound), bound_ink(point.bound.label)}};
  if (told) row.push_back({work_source(point).empty() ? kAbsent : std::string(work_source(point))});
  return row;
}

std::string kernels_table(const Report& report, const TerminalStyle& style) {
  const bool told = tells_sources(report);
  std::vector<TerminalColumn> columns = {{"kernel", false, 0, true, told ? 24 : 38},
                                         {"launches", true, 3, false},
                                         {"total", true, 0, false},
                                         {"share", true, 0, false},
                                         {"median", true, 1, false},
                                         {"AI", true, 4, false},
                                         {"roof", true, 0, false},
                                         {"bound", false, 2, false},
                                         {"limited by", false, 5, false}};
  if (told) columns.push_back({"work", false, 0, false});
  TerminalTable table(columns);
  double more_s = 0;
  std::size_t shown = 0, more = 0;
  for (const std::size_t i : by_total_time(report)) {
    const Point& point = report.points[i];
    if (!point.profiled) continue;
    if (shown < kMostTopKernels) {
      table.add_row(kernel_row(report, point, told));
      ++shown;
    } else {
      more_s += point.profiled->total_s;
      ++more;
    }
  }
  if (shown == 0) return {};
  std::string text = table.render(style);
  if (more > 0) text += for_terminal(fmt::format("and {} more, {} in all\n", more, duration(more_s)), style);
  if (told) text += wrapped("", for_terminal(where_figures_are_from(report), style), style);
  return text + '\n';
}

std::string lines_table(const Report& report, const TerminalStyle& style) {
  const Profile& profile = *report.profile;
  if (profile.lines.empty()) return {};
  std::vector<LineSum> lines = profile.lines;
  std::stable_sort(lines.begin(), lines.end(),
                   [](const LineSum& a, const LineSum& b) { return a.total_s > b.total_s; });
  TerminalTable table({{"line", false, 0, true, 24},
                       {"kernels", true, 0, false},
                       {"share", true, 0, false},
                       {"of it backward", true, 2, false},
                       {"launches", true, 1, false}});
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    const LineSum& line = lines[i];
    const std::string file = line.file.substr(line.file.find_last_of('/') + 1);
    table.add_row({{clean_line(fmt::format("{}:{} {}", file, line.number, line.function))},
                   {duration(line.total_s)},
                   {profile.kernel_s > 0 ? percent(line.total_s / profile.kernel_s) : kAbsent},
                   {line.backward_s > 0 && line.total_s > 0 ? percent(line.backward_s / line.total_s) : kAbsent},
                   {count(line.launches)}});
  }
  return table.render(style) + '\n';
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
  if (!facts.empty()) text += for_terminal(shorten(facts, style.columns), style) + '\n';
  text += '\n' + answer_lines(report, style) + '\n' + spending_list(report, style) + kernels_table(report, style) +
          lines_table(report, style);
  for (const std::string& sentence : findings(report)) {
    text += wrapped(for_terminal("\u00b7 ", style), for_terminal(sentence, style), style);
  }
  for (const std::string& note : report.notes) {
    text += wrapped("! ", for_terminal(clean_line(note), style), style);
  }
  return text + completeness_line(report, style);
}

}  // namespace roofline
