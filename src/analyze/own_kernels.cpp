// Ahead-of-time compilation, counted work, and the choice among configurations.
#include "analyze/own_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "op/suite_op.hpp"
#include "user/binding.hpp"
#include "user/compile.hpp"

namespace roofline {
namespace {

/// The unit for which one configuration is chosen: the kernel at one shape.
using Choice =
    std::tuple<const KernelSpec*, DType, std::vector<std::pair<std::string, std::int64_t>>, CacheMode, std::uint64_t>;

/// The timed rows of each choice, fastest first.
using Choices = std::map<Choice, std::vector<std::size_t>>;

/// "3.1 % (2.9 to 3.4 %) faster than block=128"; without the interval if one of the two has none.
std::string lead_over(const Point& fastest, const Point& next) {
  const auto percent = [](double slower, double faster) { return 100 * (slower / faster - 1); };
  const double low = percent(next.time->ci95.low, fastest.time->ci95.high);
  const double high = percent(next.time->ci95.high, fastest.time->ci95.low);
  const std::string interval =
      std::isfinite(low) && std::isfinite(high) ? fmt::format(" ({:.1f} to {:.1f} %)", low, high) : "";
  return fmt::format("{:.1f} %{} faster than {}", percent(next.time->median, fastest.time->median), interval,
                     next.workload.implementation);
}

Choices ranked_choices(const Suite& suite, const Report& report) {
  Choices choices;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    const SuiteEntry& entry = suite.entries[i];
    if (!entry.chooses_fastest() || !report.points[i].time) continue;
    const Workload& w = entry.workload;
    choices[{entry.kernel.get(), w.dtype, w.shape.extents(), w.cache, w.seed}].push_back(i);
  }
  for (auto& [choice, rows] : choices) {
    std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
      return report.points[a].time->median < report.points[b].time->median;
    });
  }
  return choices;
}

/// The rows, of `rows`, that are in a choice and not its fastest.
std::vector<bool> all_but_fastest(const Choices& choices, std::size_t rows) {
  std::vector<bool> slower(rows);
  for (const auto& [choice, ranked] : choices)
    for (std::size_t i = 1; i < ranked.size(); ++i) slower[ranked[i]] = true;
  return slower;
}

}  // namespace

void compile_own_kernels(const Suite& suite, const std::string& architecture,
                         const std::function<void(std::size_t done)>& progress) {
  std::vector<const KernelSpec*> seen;
  std::vector<CompileRequest> requests;
  for (const SuiteEntry& entry : suite.entries) {
    const KernelSpec* spec = entry.kernel.get();
    if (spec == nullptr || std::find(seen.begin(), seen.end(), spec) != seen.end()) continue;
    seen.push_back(spec);
    for (const Configuration& configuration : configurations(*spec)) {
      requests.push_back(compile_request(*spec, configuration, architecture));
    }
  }
  compile_ahead(requests, progress);
}

void take_flops(Point& point, std::map<Pipe, double> flops, const Machine& machine) {
  point.work.flops = std::move(flops);
  point.paired.reset();  // a fraction for other work
  point.bound = bound_of(point.work, machine, point.time ? point.time->clock_hz : std::nullopt);
}

void take_counted_work(const Suite& suite, Report& report) {
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    Point& point = report.points[i];
    const SuiteOp* own = as_suite_op(*suite.entries[i].op);
    if (own == nullptr || !own->wants_counted_work() || !point.counters) continue;
    take_flops(point, counted_flops(*point.counters), report.machine);
    report.notes.push_back(
        fmt::format("{}: operations from hardware counters, bytes from buffer sizes", point.workload.label));
  }
}

std::vector<bool> slower_configurations(const Suite& suite, const Report& report) {
  return all_but_fastest(ranked_choices(suite, report), report.points.size());
}

void keep_fastest(const Suite& suite, Report& report) {
  const Choices choices = ranked_choices(suite, report);
  const std::vector<bool> dropped = all_but_fastest(choices, report.points.size());
  for (const auto& [choice, rows] : choices) {
    Point& fastest = report.points[rows[0]];
    const std::string& label = suite.entries[rows[0]].chosen_label;
    if (!label.empty()) fastest.workload.label = label;
    for (const std::size_t row : rows)
      fastest.tried.push_back({report.points[row].workload.implementation, report.points[row].time->median});
    std::string note = fmt::format("{}: {} is the fastest of {}", fastest.workload.label,
                                   fastest.workload.implementation, rows.size());
    if (rows.size() > 1) note += fmt::format(", {}", lead_over(fastest, report.points[rows[1]]));
    if (rows.size() > 2) note += fmt::format(", {}", lead_over(fastest, report.points[rows.back()]));
    report.notes.push_back(note);
  }
  std::vector<Point> kept;
  for (std::size_t i = 0; i < report.points.size(); ++i) {
    if (!dropped[i]) kept.push_back(std::move(report.points[i]));
  }
  report.points = std::move(kept);
}

}  // namespace roofline
