// What projections say, in sentences and tables that terminal, Markdown and page share.
#include "render/projection_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

/// Launches; those per step can be a fraction.
std::string weight_text(double launches) {
  return launches == std::floor(launches) ? count(static_cast<std::int64_t>(launches)) : number(launches, 3);
}

/// "1.3× as fast", "1.1× as long".
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

constexpr std::array<std::string_view, kLimitGroups> kKernels = {"memory-bound kernels", "cache-bound kernels",
                                                                 "compute-bound kernels", "kernels that wait"};

/// "; memory-bound kernels gain most (1.40×)"; empty where no group differs visibly from the whole.
std::string most_changed(const Projection& projection) {
  constexpr double kMinor = 0.05, kVisibly = 1.02;
  std::array<double, kLimitGroups> here{}, there{};
  double all = 0, known_here = 0, known_there = 0;
  for (const ProjectedRow& row : projection.rows) {
    all += row.here_s * row.weight;
    if (!row.is_projected()) continue;
    const auto group = static_cast<std::size_t>(limit_group(row.limit_here));
    here.at(group) += row.here_s * row.weight;
    there.at(group) += row.there.seconds * row.weight;
    known_here += row.here_s * row.weight;
    known_there += row.there.seconds * row.weight;
  }
  if (!(known_there > 0) || projection.batch != 1) return {};
  const double whole = known_here / known_there;
  std::size_t most = kLimitGroups;
  const auto ratio = [&](std::size_t i) { return here.at(i) / there.at(i); };
  for (std::size_t i = 0; i < kLimitGroups; ++i) {
    if (here.at(i) < kMinor * all || !(there.at(i) > 0)) continue;
    const bool farther = most == kLimitGroups || (whole >= 1 ? ratio(i) > ratio(most) : ratio(i) < ratio(most));
    if (farther) most = i;
  }
  if (most == kLimitGroups) return {};
  const double change = whole >= 1 ? ratio(most) : 1 / ratio(most);
  const double against = whole >= 1 ? ratio(most) / whole : whole / ratio(most);
  if (change < kVisibly || against < kVisibly) return {};
  return fmt::format("; {} {} most ({:.2f}\u00d7)", kKernels.at(most), whole >= 1 ? "gain" : "lose", change);
}

std::vector<const ProjectedRow*> longest_first(const Projection& projection, bool known) {
  std::vector<const ProjectedRow*> rows;
  for (const ProjectedRow& row : projection.rows) {
    if (known || !row.is_projected()) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ProjectedRow* a, const ProjectedRow* b) {
    return a->here_s * a->weight > b->here_s * b->weight;
  });
  return rows;
}

bool any_price(const std::vector<double>& prices) {
  return std::any_of(prices.begin(), prices.end(), [](double price) { return price > 0; });
}

std::string rows_text(const Report& report, std::size_t rows) {
  const auto n = static_cast<std::int64_t>(rows);
  return report.profile ? counted_noun(n, "kernel", "kernels") : counted_noun(n, "row", "rows");
}

/// A step or row with another batch is compared by its samples.
double comparable_here(const Projection& projection) { return projection.whole_here() * projection.batch; }

std::string energy_text(const Projection& projection) {
  if (!projection.energy) return "unknown";
  return (projection.energy->upper_bound ? "\u2264 " : "") + si(projection.energy->joules, "J");
}

std::string row_range(const ProjectedRow& row) {
  return row.why_not.empty() ? range_text(row.there.times(row.weight)) : "\u2013";
}

/// What a ranking sorts by; infinite where it is not known.
double rank_key(const Projections& of, std::size_t i) {
  const Projection& projection = of.projections[i];
  constexpr double kLast = std::numeric_limits<double>::infinity();
  if (!projection.runs_there()) return kLast;
  if (of.ranking == Ranking::energy) return projection.energy ? projection.energy->joules : kLast;
  if (of.ranking == Ranking::price) return of.prices[i] > 0 ? price_of(projection, of.prices[i]) : kLast;
  return projection.whole_there().seconds;
}

/// "2 kernels can't run there (41 % of the time): A100 has no tensor.fp8 pipe", with the reason of the longest.
std::string refusal_text(const Report& report, const Projection& projection) {
  std::size_t rows = 0;
  const ProjectedRow* longest = nullptr;
  for (const ProjectedRow& row : projection.rows) {
    if (row.why_not.empty()) continue;
    ++rows;
    if (longest == nullptr || row.here_s * row.weight > longest->here_s * longest->weight) longest = &row;
  }
  return fmt::format("{} can't run there ({} of the time): {}", rows_text(report, rows),
                     percent(projection.refused_s / (projection.refused_s + projection.here_s)),
                     longest == nullptr ? "" : clean_line(longest->why_not));
}

double bytes_of(const Projection& projection, double ProjectedRow::*bytes) {
  double sum = 0;
  for (const ProjectedRow& row : projection.rows) sum += row.*bytes * row.weight;
  return sum;
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
  if (!projection.runs_there()) return where + "no time is known: " + refusal_text(report, projection) + ".";
  const std::string samples =
      projection.batch == 1 ? "" : fmt::format(" of {} times the samples", number(projection.batch, 3));
  return fmt::format("{}{} ({}) instead of {}: {}{}{}.", where,
                     (projection.step  ? "a step" + samples + " takes "
                      : report.profile ? "all kernels together take "
                                       : "all rows together take ") +
                         duration(there.seconds),
                     range_text(there), duration(here_s), change_text(comparable_here(projection), there.seconds),
                     projection.batch == 1 ? "" : " for each sample", most_changed(projection));
}

std::string projected_step_text(const Projection& projection) {
  if (!projection.step) return {};
  return fmt::format("Here kernels take {} of the step, copies {}, and the GPU is idle for {}.",
                     duration(projection.step->kernels_s), duration(projection.step->copies_s),
                     duration(projection.step->idle_s));
}

std::vector<std::string> limit_change_texts(const Report& report, const Projection& projection) {
  constexpr double kMinor = 0.01;  // of the time
  constexpr std::size_t kMost = 3, kNames = 2;
  std::vector<std::string> texts;
  for (const LimitChange& change : limit_changes(projection)) {
    if (texts.size() == kMost || change.here_s < kMinor * projection.here_s) break;
    std::string names;
    for (std::size_t i = 0; i < std::min(kNames, change.rows.size()); ++i) {
      const Point& point = report.points[projection.rows[change.rows[i]].point];
      names += (i > 0 ? ", " : "") + shorten(clean_line(point.workload.label), 40);
    }
    texts.push_back(fmt::format("{} ({} of the time) {} {}-bound here and {}-bound there: {}{}",
                                rows_text(report, change.rows.size()), percent(change.here_s / projection.here_s),
                                change.rows.size() == 1 ? "is" : "are", to_string(change.here), to_string(change.there),
                                names, change.rows.size() > kNames ? ", \u2026" : "."));
  }
  return texts;
}

std::vector<std::size_t> ranked(const Projections& of) {
  std::vector<std::size_t> order(of.projections.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank_key(of, a) < rank_key(of, b); });
  return order;
}

std::string ranking_title(Ranking ranking) {
  if (ranking == Ranking::energy) return "least energy first";
  return ranking == Ranking::price ? "cheapest first" : "fastest first";
}

bool has_ranking(const Projections& of) { return of.projections.size() > 1 || any_price(of.prices); }

TextTable table_of_machines(const Projections& of) {
  const bool priced = any_price(of.prices);
  const bool powered =
      std::ranges::any_of(of.projections, [](const Projection& one) { return one.energy.has_value(); });
  TextTable table;
  table.columns = {{.title = "machine", .shrinks = true, .first_to = 16},
                   {.title = "time", .right = true},
                   {.title = "range", .right = true, .rank = 1},
                   {.title = "against here", .right = true},
                   {.title = "roofs", .rank = 2}};
  if (powered)
    table.columns.push_back({.title = "energy", .right = true, .rank = of.ranking == Ranking::energy ? 0 : 3});
  if (priced) table.columns.push_back({.title = "price of a million", .right = true});
  for (const std::size_t i : ranked(of)) {
    const Projection& one = of.projections[i];
    constexpr double kMillion = 1e6;
    const bool runs = one.runs_there();
    const std::string none = "\u2013";
    table.rows.push_back({clean_line(one.machine), runs ? duration(one.whole_there().seconds) : none,
                          runs ? range_text(one.whole_there()) : none,
                          runs ? change_text(comparable_here(one), one.whole_there().seconds) : "can't run",
                          one.measured ? "measured" : "data sheet"});
    if (powered) table.rows.back().push_back(runs ? energy_text(one) : none);
    if (!priced) continue;
    table.rows.back().push_back(of.prices[i] > 0 && runs ? number(kMillion * price_of(one, of.prices[i]), 3) : none);
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
    const bool known = row->is_projected();
    table.rows.push_back({clean_line(report.points[row->point].workload.label), weight_text(row->weight),
                          duration(row->here_s * row->weight),
                          known ? duration(row->there.seconds * row->weight) : "\u2013", row_range(*row),
                          known ? row->limit_here : "not known",
                          known                  ? row->limit_there
                          : row->why_not.empty() ? "not known"
                                                 : "can't run"});
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
                          row_range(*row), clean_line(row->why_not.empty() ? row->why_range : row->why_not)});
  }
  return table;
}

std::vector<std::string> projection_notes(const Projections& of, std::size_t most) {
  std::vector<std::string> notes;
  const Projection& first = of.projections[ranked(of).front()];
  constexpr double kAll = 0.995, kSame = 0.01;
  if (first.refused_s > 0 && !first.program) {
    notes.push_back(refusal_text(of.report, first) + "; not part of any sum");
  }
  if (first.projected_share < kAll) {
    notes.push_back(fmt::format(
        "{} of the kernels' time has no known work, or no roof there: only a range is known, whose middle is used",
        percent(1 - first.projected_share)));
  }
  const double here = bytes_of(first, &ProjectedRow::bytes_here), there = bytes_of(first, &ProjectedRow::bytes_there);
  if (std::abs(there - here) > kSame * here) {
    notes.push_back(fmt::format("main-memory traffic: {} here, {} there", si(here, "B"), si(there, "B")));
  }
  if (first.rows.size() > most) {
    notes.push_back(
        fmt::format("{} further rows: --format json", count(static_cast<std::int64_t>(first.rows.size() - most))));
  }
  if (first.step) notes.emplace_back("the host is assumed to be as fast as here, except for measured launch rates");
  if (has_ranking(of) && std::ranges::any_of(of.projections, [](const Projection& one) {
        return one.energy && one.energy->upper_bound;
      })) {
    notes.emplace_back("energy with \u2264: the power limit is used where no power was measured");
  }
  for (const Projection& projection : of.projections) {
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
