#include "project/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "measure/summary.hpp"
#include "model/bound.hpp"
#include "project/resources.hpp"
#include "report/roofs.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

class Projector {
 public:
  Projector(const Report& report, const Machine& onto, const ProjectionOptions& options)
      : report_(report),
        onto_(as_reached_here(onto, report.machine)),
        options_(options),
        pipes_(pipes_of(report)),
        gpu_(onto.device.kind == DeviceKind::cuda) {}

  Projection project() {
    Projection result;
    result.machine = onto_.device.name;
    result.measured = not_measured(onto_).empty();
    result.program = report_.profile.has_value();
    result.batch = options_.batch;
    for (std::size_t i = 0; i < report_.points.size(); ++i) {
      const Point& point = report_.points[i];
      if (!point.time || !(point.time->median > 0) || ran_on_other_model(report_, point)) continue;
      const double weight = weight_of(point);
      if (weight > 0) add(result, row_of(i, weight));
    }
    if (result.here_s > 0) result.projected_share /= result.here_s;
    if (report_.profile && report_.profile->steps) result.step = step_of(result);
    result.energy = energy_of(result, onto_);
    return result;
  }

 private:
  static void add(Projection& result, ProjectedRow row) {
    const double here_s = row.here_s * row.weight;
    if (row.why_not.empty()) {
      result.here_s += here_s;
      result.there.add(row.there.times(row.weight));
      if (row.why_range.empty()) result.projected_share += here_s;
    } else {
      result.refused_s += here_s;
    }
    result.rows.push_back(std::move(row));
  }

  /// Kernels of a graph are in the graph's own row.
  double weight_of(const Point& point) const {
    if (!report_.profile) return 1;
    if (!point.profiled || point.profiled->in_graph) return 0;
    if (report_.profile->steps) return point.profiled->step ? point.profiled->step->launches : 0;
    return static_cast<double>(point.profiled->launches);
  }

  ProjectedRow row_of(std::size_t index, double weight) const {
    const Point& point = report_.points[index];
    const Machine& here = machine_of(report_, point);
    const RowWork work = work_on_both(point, here, onto_, {.type = options_.type, .batch = options_.batch});
    ProjectedRow row;
    row.point = index;
    row.here_s = point.time->median;
    row.weight = weight;
    KernelTimes kernel{.here_s = row.here_s, .gpu = gpu_, .clock = clock_ratio(here)};
    kernel.grid = grid_change(point, here.device, onto_.device, options_.batch);
    row.why_not = missing_unit(work.there.front(), onto_);
    if (row.why_not.empty()) row.why_not = kernel.grid.refused;
    if (!row.why_not.empty()) return row;
    std::string missing;
    for (std::size_t i = 0; i < work.there.size(); ++i) {
      Resources resources = resources_of(point, work, i, here, onto_);
      if (i == 0) missing = std::move(resources.missing);
      kernel.resources.push_back(std::move(resources.list));
    }
    project(row, kernel, work, missing, here);
    return row;
  }

  void project(ProjectedRow& row, const KernelTimes& kernel, const RowWork& work, const std::string& missing,
               const Machine& here) const {
    const std::vector<Resource>& likely = kernel.resources.front();
    const bool known =
        std::any_of(likely.begin(), likely.end(), [&](const Resource& of) { return of.here_s > 0.02 * row.here_s; }) ||
        !work.here.bytes.empty();
    if (!known || !missing.empty()) {
      row.why_range =
          missing.empty() ? "its FLOPs and bytes are not known" : fmt::format("{} has no roof there", missing);
      const auto [low, high] = ratios_of(here, onto_, pipes_);
      const double least = row.here_s * low, most = row.here_s * high * std::max(1.0, options_.batch);
      row.there = {(least + most) / 2, least, most};
      return;
    }
    row.limit_here = limit_of(likely, row.here_s, false);
    const std::string& label = report_.points[row.point].workload.label;
    if (options_.at_roofs || (!options_.perfect.empty() && matches_glob(label, options_.perfect))) {
      const double least = time_at_roof_there(kernel);
      row.there = {least, least, least};
    } else {
      row.there = time_there(kernel);
    }
    row.limit_there = limit_of(likely, row.there.seconds, true);
    row.launch_here = kernel.grid.here;
    row.launch_there = kernel.grid.there;
    row.bytes_here = main_memory_bytes(work.here);
    row.bytes_there = main_memory_bytes(work.there.front());
    row.flops_there = work.there.front().flops;
  }

  double main_memory_bytes(const Work& work) const {
    const auto traffic = work.bytes.find(main_memory(onto_.device.kind));
    return work.cache || traffic == work.bytes.end() ? 0 : traffic->second.total();
  }

  /// Core clock here over that there; instructions and caches answer after a number of its cycles.
  double clock_ratio(const Machine& here) const {
    const auto &from = here.device.max_core_hz, &to = onto_.device.max_core_hz;
    return gpu_ && from && to && *from > 0 && *to > 0 ? *from / *to : 1;
  }

  double ratio_of(std::string_view name) const {
    const Ceiling* const here = report_.machine.find(name);
    const Ceiling* const there = onto_.find(name);
    return here != nullptr && there != nullptr && is_plausible(there->value) ? here->value / there->value : 1;
  }

  /// Kernels and copies get shorter or longer. The host takes as long, unless its launch rate was measured or its speed
  /// is a what-if: where it launches too slowly, what kernels save becomes idle time.
  ProjectedStep step_of(const Projection& rows) const {
    const Steps& steps = *report_.profile->steps;
    ProjectedStep step;
    step.devices = std::max<std::size_t>(1, steps.devices.size());
    const double each = static_cast<double>(std::max<std::int64_t>(1, steps.count)) * static_cast<double>(step.devices);
    double launching = 0;
    for (const WallTime& wall : steps.devices) {
      step.kernels_s += wall.kernels_s / each;
      step.copies_s += wall.copies_s / each;
      step.here_s += wall.wall_s / each;
      launching += wall.idle_launching_s / each;
    }
    step.idle_s = std::max(0.0, step.here_s - step.kernels_s - step.copies_s);
    launching = std::min(launching, step.idle_s);
    const double idle_there = (launching * ratio_of("launch.stream") + step.idle_s - launching) / options_.host;
    const double idle = options_.no_gaps ? 0 : idle_there;
    const double copies = step.copies_s * ratio_of("pcie.h2d") * options_.batch;
    const auto kernels = [&](double there_s) {
      return rows.here_s > 0 ? step.kernels_s * there_s / rows.here_s : step.kernels_s;
    };
    const auto whole = [&](double there_s) { return kernels(there_s) + copies + idle; };
    const double host_bound = step.here_s > 0 ? std::min(1.0, idle / step.here_s) : 0;
    const double by_host = step.idle_s > 0 ? step.here_s * idle_there / step.idle_s : 0;
    const auto with_host = [&](double time, double share) { return time + std::max(0.0, by_host - time) * share; };
    step.kernels_there_s = kernels(rows.there.seconds);
    step.there.low = whole(rows.there.low);
    step.there.seconds = with_host(whole(rows.there.seconds), options_.no_gaps ? 0 : host_bound);
    step.there.high = with_host(whole(rows.there.high), options_.no_gaps ? 0 : std::min(1.0, 2 * host_bound));
    return step;
  }

  const Report& report_;
  const Machine onto_;
  ProjectionOptions options_;
  std::set<Pipe> pipes_;
  bool gpu_;
};

/// FLOP/byte there over those here.
double intensity_ratio(const Work& here, const ProjectedRow& row) {
  double flops = 0;
  for (const auto& [pipe, count] : row.flops_there) flops += count;
  const double before = here.total_flops();
  const bool known = before > 0 && flops > 0 && row.bytes_here > 0 && row.bytes_there > 0;
  return known ? flops / before * row.bytes_here / row.bytes_there : 1;
}

}  // namespace

Projection project(const Report& report, const Machine& onto, const ProjectionOptions& options) {
  return Projector(report, onto, options).project();
}

Report projected_report(const Report& report, const Projection& projection, const Machine& onto) {
  Report there = report;
  there.machine = onto;
  for (Point& point : there.points) {
    point.status = PointStatus::skipped;
    point.time.reset();
  }
  for (const ProjectedRow& row : projection.rows) {
    Point& point = there.points[row.point];
    if (!row.is_projected()) {
      point.reason = row.why_not.empty() ? row.why_range : row.why_not;
      continue;
    }
    point.status = PointStatus::ok;
    point.time = summarize({&row.there.seconds, 1});
    point.time->ci95 = {row.there.low, row.there.high};
    if (point.profiled && row.here_s > 0) point.profiled->total_s *= row.there.seconds / row.here_s;
    const double intensity = point.bound.arithmetic_intensity * intensity_ratio(point.work, row);
    if (!point.work.flops.empty()) point.work.flops = row.flops_there;
    point.bound = bound_of(point.work, onto);
    point.bound.arithmetic_intensity = intensity;
  }
  return there;
}

}  // namespace roofline
