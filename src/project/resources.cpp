#include "project/resources.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/bound.hpp"
#include "report/roofs.hpp"

namespace roofline {
namespace {

bool is_main_memory(std::string_view ceiling) { return ceiling.starts_with("hbm.") || ceiling.starts_with("dram."); }

bool is_on_sms(const ResourceTime& resource) {
  const std::string& name = resource.ceiling;
  return resource.kind == CeilingKind::compute || name.starts_with("l1.") || name.starts_with("shared.");
}

/// Work of one row on two machines, whose resources are paired.
struct Pairing {
  const Work& here;
  const Work& there;
  const Bound bound;

  /// Operations there over those here.
  double growth() const {
    const double before = here.total_flops();
    return before > 0 ? there.total_flops() / before : 1;
  }
};

bool same_amount(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(a); }

const ResourceTime* same_resource(const Pairing& other, const ResourceTime& as) {
  const std::string_view name = as.ceiling;
  const std::string_view level = name.substr(0, name.find('.'));
  const ResourceTime* best = nullptr;
  for (const ResourceTime& resource : other.bound.resources) {
    if (resource.kind != as.kind || !std::isfinite(resource.time_s)) continue;
    if (resource.ceiling == name) return &resource;
    if (best != nullptr) continue;
    const double growth = as.kind == CeilingKind::compute ? other.growth() : 1;
    const bool in_other_cache = other.here.cache != other.there.cache && resource.amount == as.amount;
    const bool alike = as.kind == CeilingKind::bandwidth ? resource.ceiling.starts_with(level) || in_other_cache
                                                         : same_amount(resource.amount, as.amount * growth);
    if (alike) best = &resource;
  }
  return best;
}

/// Its time there, at the clock that the row had here: burst or sustained, or the same share of it.
double time_there_of(const ResourceTime& resource, const ResourceTime& other, const Machine& here,
                     const Machine& there) {
  if (resource.kind != CeilingKind::compute) return other.time_s;
  const Ceiling* const sustained = there.find(other.ceiling, Regime::sustained);
  const bool is_sustained = resource.regime == Regime::sustained && sustained != nullptr && sustained->value > 0;
  const double time = is_sustained ? other.amount / sustained->value : other.time_s;
  const Ceiling* const roof = here.find(resource.ceiling, resource.regime);
  if (!resource.at_clock_hz || roof == nullptr) return time;
  return time * resource.time_s * roof->value / resource.amount;
}

/// The share of the time in which tensor cores work, where it was counted and no operations were.
std::optional<Resource> tensor_time(const Point& point, const Machine& here, const Machine& there, double batch) {
  const auto active = point.counters ? point.counters->find("tensor.active") : std::nullopt;
  if (!active || !(*active > 0)) return std::nullopt;
  const Ceiling* const from = here.compute(Pipe::tensor_bf16);
  const Ceiling* const to = there.compute(Pipe::tensor_bf16);
  const double ratio = from != nullptr && to != nullptr ? from->value / to->value : 1;
  return Resource{"tensor cores", "tensor cores", *active * point.time->median, ratio * batch, false, true};
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

}  // namespace

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

Resources resources_of(const Point& point, const RowWork& work, std::size_t variant, const Machine& here,
                       const Machine& there) {
  Resources resources;
  const Bound from = bound_of(work.here, here, point.time->clock_hz);
  const Pairing pair{work.here, work.there.at(variant), bound_of(work.there.at(variant), there)};
  for (const ResourceTime& resource : from.resources) {
    if (!std::isfinite(resource.time_s) || !(resource.time_s > 0)) continue;
    const ResourceTime* const other = same_resource(pair, resource);
    constexpr double kMinor = 0.5;  // of the time: its own time there matters little
    if (other == nullptr && resource.time_s >= kMinor * point.time->median) {
      // A unit that is not there says more than a level of memory whose speed is not known.
      if (resources.missing.empty() || resource.kind == CeilingKind::compute) resources.missing = resource.ceiling;
      continue;
    }
    const bool known = other != nullptr;
    resources.list.push_back({.name = resource.ceiling,
                              .name_there = known ? other->ceiling : resource.ceiling,
                              .here_s = resource.time_s,
                              .ratio = known ? time_there_of(resource, *other, here, there) / resource.time_s : 1,
                              .memory = is_main_memory(resource.ceiling),
                              .on_sms = is_on_sms(resource),
                              .known_there = known});
  }
  const bool has_compute = std::any_of(from.resources.begin(), from.resources.end(), [](const ResourceTime& resource) {
    return resource.kind == CeilingKind::compute && resource.time_s > 0;
  });
  if (!has_compute) {
    if (auto tensor = tensor_time(point, here, there, work.batch)) resources.list.push_back(*std::move(tensor));
  }
  return resources;
}

std::set<Pipe> pipes_of(const Report& report) {
  std::set<Pipe> pipes = {Pipe::fp32};
  for (const Point& point : report.points) {
    for (const auto& [pipe, count] : point.work.flops) {
      if (count > 0) pipes.insert(pipe);
    }
  }
  return pipes;
}

std::pair<double, double> ratios_of(const Machine& here, const Machine& there, const std::set<Pipe>& pipes) {
  double low = 1, high = 1;
  for (const Ceiling& ceiling : here.ceilings) {
    const bool used = ceiling.pipe ? pipes.contains(*ceiling.pipe) : ceiling.kind == CeilingKind::bandwidth;
    if (!used || ceiling.kind == CeilingKind::overhead) continue;
    if (ceiling.regime != Regime::burst || ceiling.role != Role::roof || !is_plausible(ceiling.value)) continue;
    const Ceiling* const other = there.find(ceiling.name);
    if (other == nullptr || !is_plausible(other->value)) continue;
    low = std::min(low, ceiling.value / other->value);
    high = std::max(high, ceiling.value / other->value);
  }
  return {low, high};
}

}  // namespace roofline
