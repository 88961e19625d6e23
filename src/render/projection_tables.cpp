// What projections say, in sentences and tables that terminal, Markdown and page share.
#include "render/projection_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "report/profile_findings.hpp"
#include "report/titles.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string range_text(const ProjectedTime& time) {
  return fmt::format("{} to {}", duration(time.low), duration(time.high));
}

/// "1.3× as fast", "1.1× as long".
/// Launches; those per step can be a fraction.
std::string weight_text(double launches) {
  return launches == std::floor(launches) ? count(static_cast<std::int64_t>(launches)) : number(launches, 3);
}

std::string change_text(double here, double there) {
  constexpr double kSame = 0.005;
  if (!(here > 0) || !(there > 0)) return "\u2013";
  const double ratio = here / there;
  if (std::abs(ratio - 1) < kSame) return "as fast as here";
  return ratio > 1 ? factor(ratio) + " as fast" : factor(1 / ratio) + " as long";
}

/// "an H200", "a B200", "an EPYC 9B45": as the name is spoken, letters one by one before a figure.
std::string with_article(const std::string& name) {
  if (name.empty()) return "another machine";
  const bool spelled = name.size() > 1 && !(name[1] >= 'a' && name[1] <= 'z');
  const std::string_view vowels = spelled ? "AEFHILMNORSX8" : "AEIOUaeiou8";
  return (vowels.find(name.front()) != std::string_view::npos ? "an " : "a ") + name;
}

/// What limits a row here, as a group of rows.
enum class Limit : std::uint8_t { memory, cache, compute, latency };
constexpr std::size_t kGroups = 4;
constexpr std::array<std::string_view, kGroups> kLimits = {"memory-bound kernels", "cache-bound kernels",
                                                           "compute-bound kernels", "kernels that wait"};

Limit limit_of(std::string_view roof) {
  if (roof == "latency") return Limit::latency;
  if (roof.starts_with("hbm.") || roof.starts_with("dram.")) return Limit::memory;
  const bool cache =
      roof.starts_with("l1.") || roof.starts_with("l2.") || roof.starts_with("l3.") || roof.starts_with("shared.");
  return cache ? Limit::cache : Limit::compute;
}

/// "; memory-bound kernels gain most (1.40×)"; empty where no group differs visibly from the whole.
std::string most_changed(const Projection& projection) {
  constexpr double kMinor = 0.05, kVisibly = 1.02;
  std::array<double, kGroups> here{}, there{};
  double all = 0, known_here = 0, known_there = 0;
  for (const ProjectedRow& row : projection.rows) {
    all += row.here_s * row.weight;
    if (!row.why_range.empty()) continue;
    const auto group = static_cast<std::size_t>(limit_of(row.limit_here));
    here.at(group) += row.here_s * row.weight;
    there.at(group) += row.there.seconds * row.weight;
    known_here += row.here_s * row.weight;
    known_there += row.there.seconds * row.weight;
  }
  if (!(known_there > 0)) return {};
  const double whole = known_here / known_there;
  std::size_t most = kGroups;
  const auto ratio = [&](std::size_t i) { return here.at(i) / there.at(i); };
  for (std::size_t i = 0; i < kGroups; ++i) {
    if (here.at(i) < kMinor * all || !(there.at(i) > 0)) continue;
    const bool farther = most == kGroups || (whole >= 1 ? ratio(i) > ratio(most) : ratio(i) < ratio(most));
    if (farther) most = i;
  }
  if (most == kGroups) return {};
  const double change = whole >= 1 ? ratio(most) : 1 / ratio(most);
  const double against = whole >= 1 ? ratio(most) / whole : whole / ratio(most);
  if (change < kVisibly || against < kVisibly) return {};
  return fmt::format("; {} {} most ({:.2f}\u00d7)", kLimits.at(most), whole >= 1 ? "gain" : "lose", change);
}

std::vector<const ProjectedRow*> longest_first(const Projection& projection, bool known) {
  std::vector<const ProjectedRow*> rows;
  for (const ProjectedRow& row : projection.rows) {
    if (known || !row.why_range.empty()) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ProjectedRow* a, const ProjectedRow* b) {
    return a->here_s * a->weight > b->here_s * b->weight;
  });
  return rows;
}

bool any_price(const std::vector<double>& prices) {
  return std::any_of(prices.begin(), prices.end(), [](double price) { return price > 0; });
}

std::string here_title(const Projection& projection) { return projection.step ? "step here" : "here"; }

}  // namespace

std::string projection_headline(const Report& report, const Projection& projection) {
  const ProjectedTime& there = projection.whole_there();
  const std::string& own = report.machine.device.name;
  const std::string name = own == projection.machine ? "another " + short_device_name(own)
                                                     : with_article(names_apart(own, projection.machine).second);
  const double here_s = projection.whole_here();
  const std::string where = projection.own ? "With these changes " : "On " + name + " ";
  return fmt::format("{}{} {} ({}) instead of {}: {}{}.", where,
                     projection.step  ? "a step takes"
                     : report.profile ? "all kernels together take"
                                      : "all rows together take",
                     duration(there.seconds), range_text(there), duration(here_s), change_text(here_s, there.seconds),
                     most_changed(projection));
}

std::string projected_step_text(const Projection& projection) {
  if (!projection.step) return {};
  return fmt::format("Here kernels take {} of the step, copies {}, and the GPU is idle for {}.",
                     duration(projection.step->kernels_s), duration(projection.step->copies_s),
                     duration(projection.step->idle_s));
}

std::vector<std::size_t> fastest_first(const std::vector<Projection>& projections) {
  std::vector<std::size_t> order(projections.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return projections[a].whole_there().seconds < projections[b].whole_there().seconds;
  });
  return order;
}

bool has_ranking(const std::vector<Projection>& projections, const std::vector<double>& prices) {
  return projections.size() > 1 || any_price(prices);
}

TextTable table_of_machines(const std::vector<Projection>& projections, const std::vector<double>& prices) {
  const bool priced = any_price(prices);
  TextTable table;
  table.columns = {{.title = "machine", .shrinks = true, .first_to = 16},
                   {.title = "time", .right = true},
                   {.title = "range", .right = true, .rank = 1},
                   {.title = "against here", .right = true},
                   {.title = "roofs", .rank = 2}};
  if (priced) table.columns.push_back({.title = "price of a million", .right = true});
  for (const std::size_t i : fastest_first(projections)) {
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

TextTable table_of_rows(const Report& report, const Projection& projection, std::size_t most) {
  TextTable table;
  table.columns = {{.title = projection.step ? "kernel" : "row", .shrinks = true, .first_to = 22},
                   {.title = "launches", .right = true, .rank = 4},
                   {.title = here_title(projection), .right = true},
                   {.title = "there", .right = true},
                   {.title = "range", .right = true, .rank = 1},
                   {.title = "limited here by", .rank = 3},
                   {.title = "there by", .rank = 2}};
  std::vector<const ProjectedRow*> rows = longest_first(projection, true);
  if (rows.size() > most) rows.resize(most);
  for (const ProjectedRow* row : rows) {
    const bool known = row->why_range.empty();
    table.rows.push_back({clean_line(report.points[row->point].workload.label), weight_text(row->weight),
                          duration(row->here_s * row->weight),
                          known ? duration(row->there.seconds * row->weight) : "\u2013",
                          range_text(row->there.times(row->weight)), known ? row->limit_here : "not known",
                          known ? row->limit_there : "not known"});
  }
  return table;
}

TextTable table_of_unprojected(const Report& report, const Projection& projection, std::size_t most) {
  TextTable table;
  table.columns = {{.title = projection.step ? "kernel" : "row", .shrinks = true, .first_to = 22},
                   {.title = here_title(projection), .right = true},
                   {.title = "range", .right = true},
                   {.title = "why", .rank = 1}};
  std::vector<const ProjectedRow*> rows = longest_first(projection, false);
  if (rows.size() > most) rows.resize(most);
  for (const ProjectedRow* row : rows) {
    table.rows.push_back({clean_line(report.points[row->point].workload.label), duration(row->here_s * row->weight),
                          range_text(row->there.times(row->weight)), clean_line(row->why_range)});
  }
  return table;
}

std::vector<std::string> projection_notes(const std::vector<Projection>& projections, std::size_t most) {
  std::vector<std::string> notes;
  const Projection& first = projections[fastest_first(projections).front()];
  constexpr double kAll = 0.995;
  if (first.projected_share < kAll) {
    notes.push_back(fmt::format(
        "{} of the kernels' time has no known work, or no roof there: only a range is known, whose middle is used",
        percent(1 - first.projected_share)));
  }
  if (first.rows.size() > most) {
    notes.push_back(
        fmt::format("{} further rows: --format json", count(static_cast<std::int64_t>(first.rows.size() - most))));
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

std::string projection_title(const Report& report) {
  const std::string name = report.profile ? program_name(*report.profile) : report.invocation.run_name;
  return fmt::format("{} \u00b7 {}", shorten(clean_line(name), 80), clean_line(report.machine.device.name));
}

}  // namespace roofline
