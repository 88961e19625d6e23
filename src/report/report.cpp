// A point's derived values: everything here follows from what the point stores.
#include "report/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "measure/audit.hpp"
#include "model/find.hpp"
#include "model/spelling.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 3> kStatusNames = {"ok", "skipped", "failed"};

/// The measured seconds per launch, or 0 if there are none to divide by.
double measured_time_s(const Point& point) { return point.time && point.time->median > 0 ? point.time->median : 0; }

}  // namespace

std::string_view device_name(const Report& report, const Point& point) {
  if (!report.profile || !point.profiled) return {};
  const WallTime* device = find_by(report.profile->devices, &WallTime::device, point.profiled->device);
  return device == nullptr ? std::string_view() : std::string_view(device->device_name);
}

const Machine& machine_of(const Report& report, const Point& point) {
  const std::string_view name = report.other_machines.empty() ? std::string_view() : device_name(report, point);
  if (name.empty() || name == report.machine.device.name) return report.machine;
  const auto own = std::find_if(report.other_machines.begin(), report.other_machines.end(),
                                [&](const Machine& machine) { return machine.device.name == name; });
  return own == report.other_machines.end() ? report.machine : *own;
}

bool ran_on_other_model(const Report& report, const Point& point) {
  if (!report.profile || !point.profiled || report.profile->devices.size() < 2) return false;
  const std::string& machine = report.machine.device.name;
  return find_by(report.profile->devices, &WallTime::device_name, machine) != nullptr &&
         device_name(report, point) != machine;
}

std::string_view to_string(PointStatus status) { return spell(kStatusNames, status); }
std::optional<PointStatus> parse_point_status(std::string_view text) {
  return unspell<PointStatus>(kStatusNames, text);
}

double Point::performance() const {
  const double seconds = measured_time_s(*this);
  return seconds > 0 ? work.total_flops() / seconds : 0;
}

double Point::bandwidth(Level level) const {
  const double seconds = measured_time_s(*this);
  const auto traffic = work.bytes.find(level);
  return seconds > 0 && traffic != work.bytes.end() ? traffic->second.total() / seconds : 0;
}

const PairedFraction* Point::paired_with_roof() const {
  const bool same = paired && time && bound.label != BoundLabel::unknown && paired->ceiling == bound.limiting_ceiling;
  return same ? &*paired : nullptr;
}

double Point::fraction_of_roof() const {
  if (const PairedFraction* pairs = paired_with_roof()) return pairs->fraction;
  const double seconds = measured_time_s(*this);
  if (!(seconds > 0) || bound.label == BoundLabel::unknown) return std::numeric_limits<double>::quiet_NaN();
  return roofline::fraction_of_roof(bound, seconds);
}

bool Point::above_roof() const {
  if (const PairedFraction* pairs = paired_with_roof()) {
    // Of a memory that others use, too, two loops get different shares (docs/evidence/paired-ratios.md).
    constexpr double kUnequalShares = 0.125;
    return pairs->ci95.low > (is_slowed(*this) ? 1 + kUnequalShares : 1);
  }
  if (!(fraction_of_roof() > 1)) return false;
  const auto limiting = std::find_if(bound.resources.begin(), bound.resources.end(),
                                     [this](const ResourceTime& r) { return r.ceiling == bound.limiting_ceiling; });
  // The slow end of the time's interval against the fast end of the roof's. A missing interval counts as exact.
  const double slowest = std::isfinite(time->ci95.high) ? time->ci95.high : time->median;
  const bool known = limiting != bound.resources.end() && std::isfinite(limiting->ci95.low);
  return slowest < (known ? limiting->ci95.low : bound.attainable_time_s);
}

bool Point::above_unconfirmed_roof() const {
  return above_roof() && paired_with_roof() == nullptr && (bound.suspect || bound.provisional);
}

bool partly_cached(const Point& point, const Machine& machine) {
  if (point.bound.label != BoundLabel::memory || !point.above_roof()) return false;
  const auto traffic = point.work.bytes.find(main_memory(machine.device.kind));
  if (point.profiled) {
    // What is modelled is as many bytes as main memory moves without a cache.
    constexpr double kExactness = 1.05;  // of roofs and times
    const WorkSource source = point.profiled->work_source;
    const bool modelled = source == WorkSource::modelled || source == WorkSource::stated;
    if (!modelled || traffic == point.work.bytes.end()) return false;
    const double from_memory = std::max(0.0, traffic->second.total() - machine.largest_cache_bytes());
    const double least_s = from_memory / traffic->second.total() * point.bound.attainable_time_s;
    return least_s <= kExactness * point.time->median;
  }
  if (point.workload.cache != CacheMode::hot || point.work.cache) return false;
  return traffic != point.work.bytes.end() && traffic->second.total() < kPastLastLevel * machine.largest_cache_bytes();
}

bool not_cold(const Point& point, const Machine& machine) {
  // A program's kernels may find their data in caches.
  if (point.workload.cache != CacheMode::cold || !point.time || point.profiled) return false;
  const Level memory = main_memory(machine.device.kind);
  double limit = 0;
  for (const Ceiling& ceiling : machine.ceilings) {
    if (ceiling.level == memory && ceiling.limit) limit = std::max(limit, ceiling.limit->value);
  }
  const double slowest = std::isfinite(point.time->ci95.high) ? point.time->ci95.high : point.time->median;
  const auto traffic = point.work.bytes.find(memory);
  return limit > 0 && traffic != point.work.bytes.end() && traffic->second.total() > limit * slowest;
}

}  // namespace roofline
