#include "project/kernel_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

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

/// A kernel's time in parts: what no roof changes, its resources, and the rest, which waits.
struct Parts {
  double fixed_s = 0, body_s = 0, waits_s = 0;
  std::vector<double> resources_s;
};

Parts parts_of(const KernelTimes& kernel, const std::vector<Resource>& resources, const Model& model) {
  Parts parts;
  parts.fixed_s = kernel.gpu ? std::min(model.fixed_s, kernel.here_s / 2) : 0;
  parts.body_s = kernel.here_s - parts.fixed_s;
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

double time_by(const Model& model, const KernelTimes& kernel, const std::vector<Resource>& resources,
               const GridFactors& grid) {
  const Parts parts = parts_of(kernel, resources, model);
  double shorter = 0;  // of the waits
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (resources[i].memory) shorter = (1 - resources[i].ratio) * std::min(1.0, parts.resources_s[i] / kernel.here_s);
  }
  const double waits = parts.waits_s * (1 - model.waits * shorter) * grid.waits * kernel.clock;
  double sum = std::pow(waits / parts.body_s, model.power);
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const double ratio = resources[i].ratio * (resources[i].on_sms ? grid.pipes : 1);
    sum += std::pow(parts.resources_s[i] * ratio / parts.body_s, model.power);
  }
  return parts.fixed_s * model.fixed_scale + parts.body_s * std::pow(sum, 1 / model.power);
}

}  // namespace

void ProjectedTime::add(const ProjectedTime& other) {
  seconds += other.seconds;
  low += other.low;
  high += other.high;
}

ProjectedTime ProjectedTime::times(double factor) const { return {seconds * factor, low * factor, high * factor}; }

ProjectedTime time_there(const KernelTimes& kernel) {
  ProjectedTime time;
  time.seconds = time_by(Model{}, kernel, kernel.resources.front(), kernel.grid.whole);
  time.low = time.high = time.seconds;
  for (const auto& resources : kernel.resources) {
    for (const GridFactors& grid : {kernel.grid.whole, kernel.grid.even}) {
      for (const Model& variant : kVariants) {
        const double seconds = time_by(variant, kernel, resources, grid);
        time.low = std::min(time.low, seconds);
        time.high = std::max(time.high, seconds);
      }
    }
  }
  time.low *= 1 - kMargin;
  time.high *= 1 + kMargin;
  return time;
}

double time_at_roof_there(const KernelTimes& kernel) {
  double least = 0;
  for (const Resource& resource : kernel.resources.front()) least = std::max(least, resource.here_s * resource.ratio);
  return least;
}

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

}  // namespace roofline
