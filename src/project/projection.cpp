#include "project/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "measure/summary.hpp"
#include "model/bound.hpp"
#include "report/roofs.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// How the times of a kernel's resources add up to its own: as a norm of that power. 1 is one after the other, infinity
/// is all at once. Fitted with the rest of the model to rows of an H100 and an H200 (docs/evidence/projection.md).
struct Model {
  double power = 3;
  /// Seconds of a GPU's kernel that no roof changes: its first blocks start, its last ones end.
  double fixed_s = 4e-6;
  double fixed_scale = 1;
  /// Share of the waiting time that shrinks with the time of main memory, for a kernel that waits for nothing else.
  double waits = 0.3;
};

/// What bounds the projected time: resources that add up and waits that shrink, or resources that overlap and waits
/// that stay.
constexpr std::array kVariants = {Model{1, 4e-6, 0.8, 0.9}, Model{1, 4e-6, 1.2, 0},   Model{3, 4e-6, 0.8, 0.9},
                                  Model{3, 4e-6, 1.2, 0},   Model{6, 4e-6, 0.8, 0.9}, Model{6, 4e-6, 1.2, 0}};
constexpr double kMargin = 0.03;

/// Work of a row: by its model, with what was counted in its place.
Work work_of(const Point& point) {
  Work work = point.work;
  if (!point.counters) return work;
  const Counters& counters = *point.counters;
  if (const auto traffic = counted_traffic(counters)) work.bytes[Level::hbm] = *traffic;
  if (const auto l2 = counted_bytes(counters, Level::l2)) work.bytes[Level::l2] = unsplit_traffic(*l2);
  if (work.flops.empty()) work.flops = counted_flops(counters);
  return work;
}

/// A resource on both machines.
struct Resource {
  std::string name, name_there;
  double here_s = 0, ratio = 1;  ///< its time there is here_s * ratio
  bool memory = false;           ///< main memory
  bool known_there = true;       ///< false: it has no roof there, and is assumed to be as fast as here
};

bool is_main_memory(std::string_view ceiling) { return ceiling.starts_with("hbm.") || ceiling.starts_with("dram."); }

const ResourceTime* same_resource(const Bound& bound, const ResourceTime& as) {
  const std::string_view name = as.ceiling;
  const std::string_view level = name.substr(0, name.find('.'));
  const ResourceTime* best = nullptr;
  for (const ResourceTime& resource : bound.resources) {
    if (resource.kind != as.kind || !std::isfinite(resource.time_s)) continue;
    if (resource.ceiling == name) return &resource;
    if (as.kind == CeilingKind::bandwidth && resource.ceiling.starts_with(level) && best == nullptr) best = &resource;
    if (as.kind != CeilingKind::bandwidth && resource.amount == as.amount && best == nullptr) best = &resource;
  }
  return best;
}

/// The share of the time in which tensor cores work, where it was counted and no operations were.
std::optional<Resource> tensor_time(const Point& point, const Machine& here, const Machine& there) {
  const auto active = point.counters ? point.counters->find("tensor.active") : std::nullopt;
  if (!active || !(*active > 0)) return std::nullopt;
  const Ceiling* const from = here.compute(Pipe::tensor_bf16);
  const Ceiling* const to = there.compute(Pipe::tensor_bf16);
  const double ratio = from != nullptr && to != nullptr ? from->value / to->value : 1;
  return Resource{"tensor cores", "tensor cores", *active * point.time->median, ratio, false};
}

struct Resources {
  std::vector<Resource> list;
  std::string missing;  ///< a pipe or level that has no roof there
};

Resources resources_of(const Point& point, const Work& work, const Machine& here, const Machine& there) {
  Resources resources;
  const Bound from = bound_of(work, here), to = bound_of(work, there);
  for (const ResourceTime& resource : from.resources) {
    if (!std::isfinite(resource.time_s) || !(resource.time_s > 0)) continue;
    const ResourceTime* const other = same_resource(to, resource);
    constexpr double kMinor = 0.5;  // of the time: its own time there matters little
    if (other == nullptr && resource.time_s >= kMinor * point.time->median) {
      // A unit that is not there says more than a level of memory whose speed is not known.
      if (resources.missing.empty() || resource.kind == CeilingKind::compute) resources.missing = resource.ceiling;
      continue;
    }
    const bool known = other != nullptr;
    resources.list.push_back({resource.ceiling, known ? other->ceiling : resource.ceiling, resource.time_s,
                              known ? other->time_s / resource.time_s : 1, is_main_memory(resource.ceiling), known});
  }
  const bool has_compute = std::any_of(from.resources.begin(), from.resources.end(), [](const ResourceTime& resource) {
    return resource.kind == CeilingKind::compute && resource.time_s > 0;
  });
  if (!has_compute) {
    if (auto tensor = tensor_time(point, here, there)) resources.list.push_back(*std::move(tensor));
  }
  return resources;
}

/// A kernel's time in parts: what no roof changes, its resources, and the rest, which waits.
struct Parts {
  double fixed_s = 0, body_s = 0, waits_s = 0;
  std::vector<double> resources_s;
};

Parts parts_of(double time_s, const std::vector<Resource>& resources, const Model& model, bool gpu) {
  Parts parts;
  parts.fixed_s = gpu ? std::min(model.fixed_s, time_s / 2) : 0;
  parts.body_s = time_s - parts.fixed_s;
  double sum = 0;
  for (const Resource& resource : resources) {
    parts.resources_s.push_back(std::min(resource.here_s, parts.body_s));
    sum += std::pow(parts.resources_s.back() / parts.body_s, model.power);
  }
  if (sum <= 1) {
    parts.waits_s = parts.body_s * std::pow(1 - sum, 1 / model.power);
  } else {
    for (double& part : parts.resources_s) part /= std::pow(sum, 1 / model.power);
  }
  return parts;
}

double time_there(double time_s, const std::vector<Resource>& resources, const Model& model, bool gpu) {
  const Parts parts = parts_of(time_s, resources, model, gpu);
  double shorter = 0;  // of the waits
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (resources[i].memory) shorter = (1 - resources[i].ratio) * std::min(1.0, parts.resources_s[i] / time_s);
  }
  double sum = std::pow(parts.waits_s * (1 - model.waits * shorter) / parts.body_s, model.power);
  for (std::size_t i = 0; i < resources.size(); ++i) {
    sum += std::pow(parts.resources_s[i] * resources[i].ratio / parts.body_s, model.power);
  }
  return parts.fixed_s * model.fixed_scale + parts.body_s * std::pow(sum, 1 / model.power);
}

/// The resource that takes most of a time; "latency" where it takes less than half of it.
std::string limit_of(const std::vector<Resource>& resources, double time_s, bool there) {
  constexpr double kMost = 0.5;
  std::string limit = "latency";
  double most = kMost * time_s;
  for (const Resource& resource : resources) {
    const double time = resource.here_s * (there ? resource.ratio : 1);
    if (time <= most || (there && !resource.known_there)) continue;
    most = time;
    limit = there ? resource.name_there : resource.name;
  }
  return limit;
}

/// The least and the largest ratio of a time there to one here that any roof of both has, 1 among them.
std::pair<double, double> ratios_of(const Machine& here, const Machine& there) {
  double low = 1, high = 1;
  for (const Ceiling& ceiling : here.ceilings) {
    if (ceiling.kind != CeilingKind::bandwidth && ceiling.kind != CeilingKind::compute) continue;
    if (ceiling.regime != Regime::burst || ceiling.role != Role::roof || !is_plausible(ceiling.value)) continue;
    const Ceiling* const other = there.find(ceiling.name);
    if (other == nullptr || !is_plausible(other->value)) continue;
    low = std::min(low, ceiling.value / other->value);
    high = std::max(high, ceiling.value / other->value);
  }
  return {low, high};
}

/// True if a data sheet is of the same chip, with other memory: an H100 and an H200.
bool is_same_chip(const Machine& sheet, const Machine& here) {
  constexpr double kSame = 0.05;
  const auto about = [](double a, double b) { return a > 0 && std::abs(a - b) <= kSame * a; };
  const auto l2_of = [](const Machine& machine) {
    const auto found = std::find_if(machine.device.caches.begin(), machine.device.caches.end(),
                                    [](const auto& cache) { return cache.level == Level::l2; });
    return found == machine.device.caches.end() ? 0.0 : static_cast<double>(found->bytes);
  };
  const auto limit_of_pipe = [](const Machine& machine, Pipe pipe) {
    const Ceiling* const ceiling = machine.compute(pipe);
    return ceiling != nullptr && ceiling->limit ? ceiling->limit->value : 0.0;
  };
  return about(l2_of(sheet), l2_of(here)) &&
         std::ranges::all_of(std::array{Pipe::fp32, Pipe::tensor_bf16},
                             [&](Pipe pipe) { return about(limit_of_pipe(sheet, pipe), limit_of_pipe(here, pipe)); });
}

/// Sheets have no rates of L2: those of the same chip are as here.
void add_l2_of_same_chip(Machine& machine, const Machine& here) {
  if (not_measured(machine).empty() || !is_same_chip(machine, here)) return;
  for (const Ceiling& ceiling : here.ceilings) {
    if (ceiling.level == Level::l2 && machine.find(ceiling.name, ceiling.regime) == nullptr) {
      machine.ceilings.push_back(ceiling);
    }
  }
}

/// A data sheet promises what no kernel reaches: its limits as far as they are reached here.
Machine as_reached_here(Machine machine, const Machine& here) {
  add_l2_of_same_chip(machine, here);
  for (Ceiling& ceiling : machine.ceilings) {
    const Ceiling* const own = here.find(ceiling.name, ceiling.regime);
    if (!ceiling.is_data_sheet_limit() || own == nullptr || own->is_data_sheet_limit() || !own->limit) continue;
    const double reached = own->value / own->limit->value;
    if (reached > 0 && reached < 1) ceiling.value *= reached;
  }
  return machine;
}

class Projector {
 public:
  Projector(const Report& report, const Machine& onto, const ProjectionOptions& options)
      : report_(report),
        onto_(as_reached_here(onto, report.machine)),
        options_(options),
        gpu_(onto.device.kind == DeviceKind::cuda) {}

  Projection project() {
    Projection result;
    result.machine = onto_.device.name;
    result.measured = not_measured(onto_).empty();
    for (std::size_t i = 0; i < report_.points.size(); ++i) {
      const Point& point = report_.points[i];
      if (!point.time || !(point.time->median > 0) || ran_on_other_model(report_, point)) continue;
      const double weight = weight_of(point);
      if (!(weight > 0)) continue;
      result.rows.push_back(row_of(i, weight));
      const ProjectedRow& row = result.rows.back();
      result.here_s += row.here_s * weight;
      result.there.add(row.there.times(weight));
      if (row.why_range.empty()) result.projected_share += row.here_s * weight;
    }
    if (result.here_s > 0) result.projected_share /= result.here_s;
    if (report_.profile && report_.profile->steps) result.step = step_of(result);
    return result;
  }

 private:
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
    const double time_s = point.time->median;
    const Work work = work_of(point);
    const Resources resources = resources_of(point, work, here, onto_);
    ProjectedRow row;
    row.point = index;
    row.here_s = time_s;
    row.weight = weight;
    const bool known = std::any_of(resources.list.begin(), resources.list.end(),
                                   [&](const Resource& of) { return of.here_s > 0.02 * time_s; }) ||
                       !work.bytes.empty();
    if (!known || !resources.missing.empty()) {
      row.why_range = resources.missing.empty() ? "its FLOPs and bytes are not known"
                                                : fmt::format("{} has no roof there", resources.missing);
      const auto [low, high] = ratios_of(here, onto_);
      row.there = {time_s * (low + high) / 2, time_s * low, time_s * high};
      return row;
    }
    const Model model;
    row.limit_here = limit_of(resources.list, time_s, false);
    if (options_.at_roofs) {
      double least = 0;
      for (const Resource& resource : resources.list) least = std::max(least, resource.here_s * resource.ratio);
      row.there = {least, least, least};
      row.limit_there = limit_of(resources.list, least, true);
      return row;
    }
    row.there.seconds = time_there(time_s, resources.list, model, gpu_);
    row.limit_there = limit_of(resources.list, row.there.seconds, true);
    row.there.low = row.there.high = row.there.seconds;
    for (const Model& variant : kVariants) {
      const double time = time_there(time_s, resources.list, variant, gpu_);
      row.there.low = std::min(row.there.low, time);
      row.there.high = std::max(row.there.high, time);
    }
    row.there.low *= 1 - kMargin;
    row.there.high *= 1 + kMargin;
    return row;
  }

  double ratio_of(std::string_view name) const {
    const Ceiling* const here = report_.machine.find(name);
    const Ceiling* const there = onto_.find(name);
    return here != nullptr && there != nullptr && is_plausible(there->value) ? here->value / there->value : 1;
  }

  /// Kernels and copies get shorter or longer; the host takes as long, so that where it launches too slowly, what
  /// kernels save becomes idle time.
  ProjectedStep step_of(const Projection& rows) const {
    const Steps& steps = *report_.profile->steps;
    ProjectedStep step;
    const double count = static_cast<double>(std::max<std::int64_t>(1, steps.count));
    const auto devices = static_cast<double>(std::max<std::size_t>(1, steps.devices.size()));
    for (const WallTime& wall : steps.devices) {
      step.kernels_s += wall.kernels_s / count / devices;
      step.copies_s += wall.copies_s / count / devices;
      step.here_s += wall.wall_s / count / devices;
    }
    step.idle_s = std::max(0.0, step.here_s - step.kernels_s - step.copies_s);
    const double idle = options_.no_gaps ? 0 : step.idle_s;
    const double copies = step.copies_s * ratio_of("pcie.h2d");
    const auto whole = [&](double kernels_there) {
      const double kernels = rows.here_s > 0 ? step.kernels_s * kernels_there / rows.here_s : step.kernels_s;
      return kernels + copies + idle;
    };
    const double host_bound = step.here_s > 0 ? idle / step.here_s : 0;
    const auto with_host = [&](double time, double share) { return time + std::max(0.0, step.here_s - time) * share; };
    step.there.low = whole(rows.there.low);
    step.there.seconds = with_host(whole(rows.there.seconds), options_.no_gaps ? 0 : host_bound);
    step.there.high = with_host(whole(rows.there.high), options_.no_gaps ? 0 : std::min(1.0, 2 * host_bound));
    return step;
  }

  const Report& report_;
  const Machine onto_;
  ProjectionOptions options_;
  bool gpu_;
};

}  // namespace

void ProjectedTime::add(const ProjectedTime& other) {
  seconds += other.seconds;
  low += other.low;
  high += other.high;
}

ProjectedTime ProjectedTime::times(double factor) const { return {seconds * factor, low * factor, high * factor}; }

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
    if (!row.why_range.empty()) {
      point.reason = row.why_range;
      continue;
    }
    point.status = PointStatus::ok;
    point.time = summarize({&row.there.seconds, 1});
    point.time->ci95 = {row.there.low, row.there.high};
    if (point.profiled && row.here_s > 0) point.profiled->total_s *= row.there.seconds / row.here_s;
    const double intensity = point.bound.arithmetic_intensity;
    point.bound = bound_of(point.work, onto);
    point.bound.arithmetic_intensity = intensity;
  }
  return there;
}

std::size_t scale_ceilings(Machine& machine, std::string_view glob, double factor) {
  std::size_t scaled = 0;
  for (Ceiling& ceiling : machine.ceilings) {
    if (!matches_glob(ceiling.name, glob)) continue;
    ceiling.value *= factor;
    ceiling.ci95 = {ceiling.ci95.low * factor, ceiling.ci95.high * factor};
    ++scaled;
  }
  return scaled;
}

}  // namespace roofline
