// Look-up of the ceiling for a piece of work.
#include "model/machine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "model/spelling.hpp"

namespace roofline {
namespace {

/// As a number for differences. Over a link a device reads what comes from the host, and writes what goes there.
double share_written(Pattern pattern) {
  if (pattern == Pattern::h2d) return 0;
  if (pattern == Pattern::d2h) return 1;
  return write_share(pattern).value_or(0.5);
}

constexpr std::array<std::string_view, 3> kSweepAxes = {"working_set", "threads", "message"};

/// A roof, or the reference of one core.
bool is_bandwidth_at(const Ceiling& ceiling, Level level, bool of_one_core = false) {
  const bool right =
      of_one_core ? ceiling.role == Role::reference && ceiling.name.ends_with(kOneCore) : ceiling.role == Role::roof;
  return right && ceiling.kind == CeilingKind::bandwidth && ceiling.regime == Regime::burst && ceiling.level == level &&
         ceiling.pattern.has_value();
}

/// Bytes of a level for so many of the threads (0: all); the workers are spread over its instances.
double capacity_of(const DeviceInfo& device, Level level, std::int64_t threads) {
  const bool all = threads == 0 || threads >= device.units;
  double bytes = 0;
  for (const CacheInfo& cache : device.caches) {
    if (cache.level != level) continue;
    if (all) {
      bytes += cache.bytes * static_cast<double>(cache.instances);
    } else {
      const std::int64_t used = (cache.instances * threads + device.units - 1) / device.units;
      bytes = std::max(bytes, cache.bytes * static_cast<double>(used));
    }
  }
  return bytes;
}

/// True if the pattern is a roof of traffic that is written in place, or of any other.
bool applies(Pattern pattern, bool in_place) {
  const bool one_direction = pattern == Pattern::read || pattern == Pattern::write;
  return is_in_place(pattern) == in_place || one_direction;
}

/// Rate, in time per byte, of a mix that is `part` of `other` and the rest of `one`.
double mixed_rate(double one, double other, double part) { return 1 / ((1 - part) / one + part / other); }

MixRoof measured_mix(const Ceiling& ceiling) { return {&ceiling, nullptr, ceiling.value, ceiling.ci95}; }

/// `part` of the way from `one` to `other`.
MixRoof mix_between(const Ceiling& one, const Ceiling& other, double part) {
  constexpr double kSameMix = 0.01;
  if (part < kSameMix) return measured_mix(one);
  if (part > 1 - kSameMix) return measured_mix(other);
  constexpr double kTie = 1e-9;
  const bool other_is_nearer = part > 0.5 + kTie || (part > 0.5 - kTie && other.value > one.value);
  MixRoof roof = other_is_nearer ? MixRoof{&other, &one} : MixRoof{&one, &other};
  roof.value = mixed_rate(one.value, other.value, part);
  const Interval first = one.ci95.or_exact(one.value), second = other.ci95.or_exact(other.value);
  roof.ci95 = {mixed_rate(first.low, second.low, part), mixed_rate(first.high, second.high, part)};
  return roof;
}

}  // namespace

std::string_view to_string(SweepAxis axis) { return spell(kSweepAxes, axis); }
std::optional<SweepAxis> parse_sweep_axis(std::string_view text) { return unspell<SweepAxis>(kSweepAxes, text); }

const Ceiling* Machine::find(std::string_view name, Regime regime) const {
  for (const Ceiling& ceiling : ceilings) {
    if (ceiling.name == name && ceiling.regime == regime) return &ceiling;
  }
  return nullptr;
}

const Ceiling* Machine::compute(Pipe pipe, Regime regime) const {
  for (const Ceiling& ceiling : ceilings) {
    const bool roof = ceiling.kind == CeilingKind::compute && ceiling.role == Role::roof;
    if (roof && ceiling.pipe == pipe && ceiling.regime == regime) return &ceiling;
  }
  return nullptr;
}

const Ceiling* Machine::compute_at(Pipe pipe, std::optional<double> core_hz, std::int64_t threads) const {
  if (is_one_of_several(threads)) {
    if (const Ceiling* one = find(std::string(to_string(pipe)) + std::string(kOneCore))) return one;
  }
  const Ceiling* burst = compute(pipe);
  const Ceiling* sustained = compute(pipe, Regime::sustained);
  if (burst == nullptr || sustained == nullptr) return burst != nullptr ? burst : sustained;
  if (!core_hz || !burst->clocks.core_hz || !sustained->clocks.core_hz) return burst;
  if (share_in_a_cycle(*sustained, *burst) < 1 - kSameInACycle) return burst;
  const auto distance = [](double a, double b) { return std::abs(std::log(a / b)); };
  constexpr double kSameClock = 0.01;
  constexpr double kDistinctClocks = 0.02;
  if (distance(*burst->clocks.core_hz, *sustained->clocks.core_hz) < kDistinctClocks) return burst;
  const double from_burst = distance(*core_hz, *burst->clocks.core_hz);
  return from_burst > kSameClock && distance(*core_hz, *sustained->clocks.core_hz) < from_burst ? sustained : burst;
}

Pipe Machine::unit_for(Pipe pipe) const {
  if (device.kind != DeviceKind::cpu) return pipe;
  while (compute(pipe) == nullptr && lesser_unit(pipe) != pipe) pipe = lesser_unit(pipe);
  return pipe;
}

std::optional<MixRoof> Machine::bandwidth(Level level, const Traffic& traffic, std::int64_t threads) const {
  const bool of_one_core = is_one_of_several(threads) &&
                           std::any_of(ceilings.begin(), ceilings.end(),
                                       [&](const Ceiling& ceiling) { return is_bandwidth_at(ceiling, level, true); });
  const double wanted = traffic.total() > 0 ? traffic.write / traffic.total() : 0;
  // Shares that differ by less than this are one mix: 1/3 is not exact in binary.
  constexpr double kSameShare = 1e-9;
  const bool in_place = traffic.in_place && std::any_of(ceilings.begin(), ceilings.end(), [&](const Ceiling& ceiling) {
                          return is_bandwidth_at(ceiling, level, of_one_core) && is_in_place(*ceiling.pattern);
                        });
  // The nearest on each side; a measured mix is on both.
  const Ceiling* below = nullptr;
  const Ceiling* above = nullptr;
  for (const Ceiling& ceiling : ceilings) {
    if (!is_bandwidth_at(ceiling, level, of_one_core) || !applies(*ceiling.pattern, in_place)) continue;
    const double share = share_written(*ceiling.pattern);
    const auto replaces = [&](const Ceiling* best) {
      if (best == nullptr) return true;
      const double nearer = std::abs(share_written(*best->pattern) - wanted) - std::abs(share - wanted);
      return nearer > kSameShare || (nearer >= -kSameShare && ceiling.value > best->value);
    };
    if (share <= wanted + kSameShare && replaces(below)) below = &ceiling;
    if (share >= wanted - kSameShare && replaces(above)) above = &ceiling;
  }
  if (below == nullptr && above == nullptr) return std::nullopt;
  if (below == nullptr || above == nullptr) return measured_mix(below != nullptr ? *below : *above);
  const double from = share_written(*below->pattern);
  const double distance = share_written(*above->pattern) - from;
  if (distance <= kSameShare) return measured_mix(*below);
  const MixRoof roof = mix_between(*below, *above, (wanted - from) / distance);
  const bool mixes = write_share(*below->pattern) && write_share(*above->pattern);
  return mixes ? roof : measured_mix(*roof.nearest);
}

const Ceiling* Machine::slope(Level level) const {
  const Ceiling* best = nullptr;
  for (const Ceiling& ceiling : ceilings) {
    if (is_bandwidth_at(ceiling, level) && (best == nullptr || ceiling.value > best->value)) best = &ceiling;
  }
  return best;
}

std::optional<Level> Machine::cache_for(double bytes, std::int64_t threads) const {
  std::optional<Level> measured;
  for (const Level level : {Level::l1, Level::l2, Level::l3}) {
    if (device.kind == DeviceKind::cuda && level != Level::l2) continue;  // a launch finds nothing in L1
    if (slope(level) != nullptr) measured = level;
    if (measured && bytes <= capacity_of(device, level, threads)) return measured;
  }
  return std::nullopt;
}

double Machine::largest_cache_bytes() const {
  double most = 0;
  for (const CacheInfo& cache : device.caches)
    most = std::max(most, cache.bytes * static_cast<double>(cache.instances));
  return most;
}

const Ceiling* Machine::network(const Collective& collective) const {
  const Ceiling* own = find("nccl." + collective.name);
  return own != nullptr ? own : slope(Level::network);
}

const LatencyLine* Machine::line(const Collective& collective) const {
  for (const Sweep& sweep : sweeps) {
    if (sweep.name != "sweep.nccl." + collective.name) continue;
    for (const LatencyLine& line : sweep.lines) {
      if (line.ranks == collective.ranks) return &line;
    }
  }
  return nullptr;
}

const Ceiling* Machine::launch() const {
  for (const std::string_view name : {"launch.graph", "launch.pool", "launch.stream"}) {
    if (const Ceiling* ceiling = find(name)) return ceiling;
  }
  return nullptr;
}

Work on_units_of(const Machine& machine, Work work) {
  for (std::map<Pipe, double>* operations : {&work.flops, &work.uncounted}) {
    std::map<Pipe, double> moved;
    for (const auto& [pipe, count] : *operations) moved[machine.unit_for(pipe)] += count;
    *operations = std::move(moved);
  }
  return work;
}

}  // namespace roofline
