// Comparisons: the verdict, the step, and what changed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "mcp/digest.hpp"
#include "mcp/facts.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// "1.05 [1.02, 1.08]".
std::string ratio_of(const Json& object, const std::string& key) {
  const auto ratio = number_fact(object, key);
  if (!ratio) return kAbsent;
  const Json& ends = list_fact(object, key + "_ci95");
  if (ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number()) return number(*ratio);
  return fmt::format("{} [{}, {}]", number(*ratio), number(ends[0].get<double>()), number(ends[1].get<double>()));
}

void digest_figure(const Json& program, const char* key, const std::string& name, Digest& digest) {
  const Json& figure = object_fact(program, key);
  if (figure.empty()) return;
  digest.line(fmt::format("{}: {} -> {}, ratio {}: {}", name, duration_fact(figure, "before.seconds"),
                          duration_fact(figure, "now.seconds"), ratio_of(figure, "ratio"),
                          text_fact(figure, "change")));
}

void list_changes(const Json& list, const char* title, const char* name, std::size_t most, Digest& digest) {
  bool titled = false;
  std::size_t told = 0;
  for (const Json& entry : list) {
    const double before = number_fact_or(entry, "before_s", 0), now = number_fact_or(entry, "now_s", 0);
    if (before == now || told == most) continue;
    if (!titled) digest.line(title);
    titled = true;
    std::string what = shorten(text_fact(entry, name), 100);
    for (const char* more : {"cause", "line"}) {
      if (const std::string text = text_fact(entry, more); !text.empty() && text != what) what += " [" + text + "]";
    }
    const std::string change = text_fact(entry, "change");
    if (!digest.item(fmt::format("  {}: {} -> {}{}", what, duration(before), duration(now),
                                 change.empty() ? "" : " " + change))) {
      return;
    }
    ++told;
  }
}

void digest_program_change(const Json& program, Digest& digest) {
  const std::string unit = text_fact(program, "unit");
  const bool of_host = number_fact_or(program, "before.gpus", 1) == 0;
  digest_figure(program, "typical", unit == "step" ? "median step" : of_host ? "CPU time" : "GPU busy", digest);
  digest_figure(program, "mean", unit == "step" ? "mean step" : "wall time", digest);
  constexpr std::size_t kMostCauses = 8, kMostKernels = 8, kMostBarParts = 12;
  list_changes(list_fact(program, "parts"), "parts:", "part", kMostBarParts, digest);
  list_changes(list_fact(program, "causes"), "causes of lost time, the largest difference first:", "what", kMostCauses,
               digest);
  list_changes(list_fact(program, "host_causes"),
               "causes of lost time on the host, the largest difference first:", "cause", kMostCauses, digest);
  list_changes(list_fact(program, "functions"), "CPU time of functions, the largest difference first:", "function",
               kMostKernels, digest);
  list_changes(list_fact(program, "kernels"), "kernels, the largest difference first:", "kernel", kMostKernels, digest);
}

std::string judgement_of(const Json& comparison) {
  if (!flag_fact(comparison, "judged")) return "two machines and no threshold: nothing is a regression";
  const double regressions = number_fact_or(comparison, "regressions", 0);
  const std::string limit = percent_fact(comparison, "max_slowdown");
  return regressions > 0 ? fmt::format("REGRESSION: {:.0f} above the threshold of {}", regressions, limit)
                         : fmt::format("no regression above {}", limit);
}

}  // namespace

void digest_comparison(const Json& comparison, std::size_t offset, Digest& digest) {
  const Json& rows = list_fact(comparison, "rows");
  const auto side = [&](const char* key) {
    const double runs = number_fact_or(comparison, std::string(key) + ".runs", 1);
    return fmt::format("{} ({}, {:.0f} {})", text_fact(comparison, std::string(key) + ".suite"),
                       text_fact(comparison, std::string(key) + ".started_at"), runs, runs == 1 ? "run" : "runs");
  };
  digest.line(fmt::format("before {}, now {}", side("base"), side("now")));
  digest.line(judgement_of(comparison));
  const Json& program = object_fact(comparison, "program");
  if (!program.empty()) digest_program_change(program, digest);
  std::vector<std::pair<std::string, std::size_t>> counts;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string change = text_fact(rows[i], "change");
    const auto known = std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == change; });
    if (known == counts.end()) {
      counts.emplace_back(change, 1);
    } else {
      ++known->second;
    }
    const bool timed = find_fact(rows[i], "before.time_s") != nullptr || find_fact(rows[i], "now.time_s") != nullptr;
    if (timed && change != "same") order.push_back(i);
  }
  std::string summary;
  for (const auto& [change, number] : counts)
    summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", number, change);
  if (!summary.empty()) digest.line("rows: " + summary);
  const auto distance = [&](std::size_t i) { return std::abs(std::log(number_fact_or(rows[i], "time_ratio", 1))); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return distance(a) > distance(b); });
  digest_offset(offset, order.size(), "rows that changed", digest);
  std::size_t at = std::min(offset, order.size());
  for (; at < order.size(); ++at) {
    const Json& row = rows[order[at]];
    const std::string conditions = text_fact(row, "conditions");
    if (!digest.item(fmt::format("{}{}: {} -> {}, ratio {}, {}{}{}", flag_fact(row, "regression") ? "REGRESSION " : "",
                                 shorten(text_fact(row, "label"), 90), duration_fact(row, "before.time_s.median"),
                                 duration_fact(row, "now.time_s.median"), ratio_of(row, "time_ratio"),
                                 text_fact(row, "change"), conditions.empty() ? "" : "; ", conditions))) {
      break;
    }
  }
  if (at < order.size()) digest.more(fmt::format("{} more rows that changed: offset={}", order.size() - at, at));
}

}  // namespace roofline
