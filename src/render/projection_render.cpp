#include "render/projection_render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "render/markdown_text.hpp"
#include "render/text_table.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostProjected = 20;

std::string range_text(const ProjectedTime& time) {
  return fmt::format("{} to {}", duration(time.low), duration(time.high));
}

/// "1.3× as fast", "1.1× as long".
std::string change_text(double here, double there) {
  constexpr double kSame = 0.005;
  if (!(here > 0) || !(there > 0)) return "\u2013";
  const double ratio = here / there;
  if (std::abs(ratio - 1) < kSame) return "as fast as here";
  return ratio > 1 ? factor(ratio) + " as fast" : factor(1 / ratio) + " as long";
}

std::string sentence_of(const Projection& projection) {
  const ProjectedTime& there = projection.whole_there();
  std::string text =
      fmt::format("{} {} here and {} on {} ({}): {}.", projection.step ? "A step takes" : "All rows together take",
                  duration(projection.whole_here()), duration(there.seconds), clean_line(projection.machine),
                  range_text(there), change_text(projection.whole_here(), there.seconds));
  if (projection.step) {
    text += fmt::format(" Here kernels take {} of it, copies {}, and the GPU is idle for {}.",
                        duration(projection.step->kernels_s), duration(projection.step->copies_s),
                        duration(projection.step->idle_s));
  }
  return text;
}

std::vector<std::size_t> by_time(const std::vector<Projection>& projections) {
  std::vector<std::size_t> order(projections.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return projections[a].whole_there().seconds < projections[b].whole_there().seconds;
  });
  return order;
}

bool any_price(const std::vector<double>& prices) {
  return std::any_of(prices.begin(), prices.end(), [](double price) { return price > 0; });
}

TextTable table_of_machines(const std::vector<Projection>& projections, const std::vector<double>& prices) {
  const bool priced = any_price(prices);
  TextTable table;
  table.columns = {{.title = "machine", .shrinks = true},
                   {.title = "time", .right = true},
                   {.title = "range", .right = true, .rank = 1},
                   {.title = "against here", .right = true},
                   {.title = "roofs", .rank = 2}};
  if (priced) table.columns.push_back({.title = "price of a million", .right = true});
  for (const std::size_t i : by_time(projections)) {
    const Projection& of = projections[i];
    constexpr double kHour = 3600, kMillion = 1e6;
    table.rows.push_back({clean_line(of.machine), duration(of.whole_there().seconds), range_text(of.whole_there()),
                          change_text(of.whole_here(), of.whole_there().seconds),
                          of.measured ? "measured" : "data sheet"});
    if (!priced) continue;
    table.rows.back().push_back(prices[i] > 0 ? number(prices[i] * kMillion * of.whole_there().seconds / kHour, 3)
                                              : "\u2013");
  }
  return table;
}

TextTable table_of_rows(const Report& report, const Projection& projection) {
  TextTable table;
  table.columns = {{.title = projection.step ? "kernel" : "row", .shrinks = true},
                   {.title = "launches", .right = true, .rank = 4},
                   {.title = projection.step ? "a step here" : "here", .right = true},
                   {.title = "there", .right = true},
                   {.title = "range", .right = true, .rank = 2},
                   {.title = "limited here by", .rank = 3},
                   {.title = "there by", .rank = 1}};
  std::vector<const ProjectedRow*> rows;
  for (const ProjectedRow& row : projection.rows) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(), [](const ProjectedRow* a, const ProjectedRow* b) {
    return a->here_s * a->weight > b->here_s * b->weight;
  });
  if (rows.size() > kMostProjected) rows.resize(kMostProjected);
  for (const ProjectedRow* row : rows) {
    const bool known = row->why_range.empty();
    table.rows.push_back({clean_line(report.points[row->point].workload.label), number(row->weight, 3),
                          duration(row->here_s * row->weight),
                          known ? duration(row->there.seconds * row->weight) : "\u2013",
                          range_text(row->there.times(row->weight)), known ? row->limit_here : "not known",
                          known ? row->limit_there : row->why_range});
  }
  return table;
}

std::vector<std::string> notes_of(const std::vector<Projection>& projections) {
  std::vector<std::string> notes;
  const Projection& first = projections[by_time(projections).front()];
  constexpr double kAll = 0.995;
  if (first.projected_share < kAll) {
    notes.push_back(fmt::format(
        "{} of the kernels' time has no known work, or no roof there: only a range is known, whose middle is used",
        percent(1 - first.projected_share)));
  }
  if (first.rows.size() > kMostProjected) {
    notes.push_back(fmt::format("{} further rows: --format json",
                                count(static_cast<std::int64_t>(first.rows.size() - kMostProjected))));
  }
  if (first.step) notes.emplace_back("the host is assumed to be as fast as here");
  for (const Projection& projection : projections) {
    if (!projection.measured) {
      notes.push_back(fmt::format("{}: roofs of the data sheet, which no measurement has verified",
                                  clean_line(projection.machine)));
    }
  }
  return notes;
}

std::string title_of(const Report& report) {
  return fmt::format("{} \u00b7 {}", clean_line(report.invocation.run_name), clean_line(report.machine.device.name));
}

}  // namespace

std::string render_projections_terminal(const Report& report, const std::vector<Projection>& projections,
                                        const std::vector<double>& prices, const TerminalStyle& style) {
  const Projection& first = projections[by_time(projections).front()];
  std::string text = wrapped("", for_terminal(title_of(report), style), style) + '\n';
  text += wrapped("", for_terminal(sentence_of(first), style), style) + '\n';
  if (projections.size() > 1 || any_price(prices))
    text += terminal_table(table_of_machines(projections, prices), style) + '\n';
  text += inked("On " + for_terminal(clean_line(first.machine), style), Ink::bold, style) + '\n' +
          terminal_table(table_of_rows(report, first), style) + '\n';
  for (const std::string& note : notes_of(projections)) text += wrapped("! ", for_terminal(note, style), style);
  return text;
}

std::string render_projections_markdown(const Report& report, const std::vector<Projection>& projections,
                                        const std::vector<double>& prices) {
  const Projection& first = projections[by_time(projections).front()];
  std::string text = "# Projection of " + escape_markdown(title_of(report)) + "\n\n";
  text += escape_markdown(sentence_of(first)) + "\n\n" + markdown_table(table_of_machines(projections, prices)) + "\n";
  text += "## On " + escape_markdown(clean_line(first.machine)) + "\n\n" + markdown_table(table_of_rows(report, first));
  text += '\n';
  for (const std::string& note : notes_of(projections)) text += "- " + escape_markdown(note) + "\n";
  return text;
}

}  // namespace roofline
