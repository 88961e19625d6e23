#include "project/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "project/projection.hpp"

namespace roofline {
namespace {

/// Power of the device while a roof limits it, measured in its sustained run.
std::optional<double> watts_at(const Machine& machine, const std::string& roof) {
  const Ceiling* const sustained = machine.find(roof, Regime::sustained);
  return sustained == nullptr ? std::nullopt : sustained->power.watts;
}

/// Adds parts of a time, each with its power.
class EnergySum {
 public:
  explicit EnergySum(const Machine& machine) : limit_(power_limit(machine.device)) {}

  void add(double seconds, std::optional<double> watts) {
    if (!(seconds > 0)) return;
    if (!watts) limited_s_ += seconds;
    joules_ += seconds * watts.value_or(limit_.value_or(0));
  }

  std::optional<Energy> sum() const {
    if ((limited_s_ > 0 && !limit_) || !(joules_ > 0)) return std::nullopt;
    return Energy{joules_, limited_s_ > 0};
  }

 private:
  std::optional<double> limit_;
  double joules_ = 0, limited_s_ = 0;
};

}  // namespace

std::optional<double> power_limit(const DeviceInfo& device) {
  const std::string* const text = find_attribute(device.attributes, AttributeKey::power_limit);
  if (text == nullptr) return std::nullopt;
  double watts = 0;
  std::from_chars(text->data(), text->data() + text->size(), watts);
  return watts > 0 && std::isfinite(watts) ? std::optional(watts) : std::nullopt;
}

void set_power_limit_attribute(DeviceInfo& device, double watts) {
  std::erase_if(device.attributes, [](const Attribute& of) { return of.is(AttributeKey::power_limit); });
  device.attributes.emplace_back(AttributeKey::power_limit, fmt::format("{:.0f} W", watts));
}

std::optional<Energy> energy_of(const Projection& projection, const Machine& machine) {
  if (!projection.runs_there()) return std::nullopt;
  EnergySum sum(machine);
  // Of a step, the kernels' share of its time; overlapping kernels share it.
  const double kernels_s = projection.step ? projection.step->kernels_there_s : projection.there.seconds;
  const double scale = projection.there.seconds > 0 ? kernels_s / projection.there.seconds : 0;
  for (const ProjectedRow& row : projection.rows) {
    if (!row.why_not.empty()) continue;
    sum.add(row.there.seconds * row.weight * scale, watts_at(machine, row.limit_there));
  }
  if (projection.step) sum.add(projection.step->there.seconds - kernels_s, machine.idle_watts);
  std::optional<Energy> energy = sum.sum();
  if (energy && projection.step) energy->joules *= static_cast<double>(projection.step->devices);
  return energy;
}

}  // namespace roofline
