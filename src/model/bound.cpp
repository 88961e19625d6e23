// The bound rule. Times, not rates, are compared, so that any number of resources fits in one rule.
#include "model/bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/nan.hpp"
#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 6> kLabels = {"memory",        "compute",  "latency",
                                                     "communication", "balanced", "unknown"};

/// The time of `amount` at a ceiling; a missing ceiling gives NaN under the resource's own name.
ResourceTime time_at(const Ceiling* ceiling, std::string_view resource, CeilingKind kind, double amount) {
  ResourceTime result{.ceiling = std::string(resource),
                      .kind = kind,
                      .amount = amount,
                      .time_s = kNaN,
                      .ci95 = {},
                      .regime = Regime::burst,
                      .at_clock_hz = {}};
  if (ceiling == nullptr || !(ceiling->value > 0)) return result;
  result.ceiling = ceiling->name;
  result.regime = ceiling->regime;
  result.time_s = amount / ceiling->value;
  // A rate's upper end is a time's lower end. A ceiling without an interval counts as exact.
  result.ci95 = quotient({amount, amount}, ceiling->ci95.or_exact(ceiling->value));
  return result;
}

/// Clocks that differ by less than this are equal: readings of one clock scatter by about 0.1 %.
constexpr double kSameClock = 0.01;

/// The time on a pipe at the kernel's clock, on so many threads.
ResourceTime pipe_time(const Machine& machine, Pipe pipe, double operations, std::optional<double> core_hz,
                       std::int64_t threads) {
  const Ceiling* ceiling = machine.compute_at(pipe, core_hz, threads);
  ResourceTime time = time_at(ceiling, to_string(pipe), CeilingKind::compute, operations);
  if (ceiling == nullptr || !core_hz || !ceiling->clocks.core_hz) return time;
  const double slower = *ceiling->clocks.core_hz / *core_hz;
  if (std::abs(slower - 1) <= kSameClock) return time;
  time.time_s *= slower;
  time.ci95 = {time.ci95.low * slower, time.ci95.high * slower};
  time.at_clock_hz = core_hz;
  return time;
}

/// A resource, and the label of a kernel that it limits.
struct Resource {
  ResourceTime time;
  BoundLabel label = BoundLabel::unknown;
};

/// The latency of a collective, a lower bound of its time for any size. std::nullopt without a line.
std::optional<ResourceTime> latency_time(const Machine& machine, const Collective& collective) {
  const LatencyLine* line = machine.line(collective);
  if (line == nullptr || !(line->latency_s > 0)) return std::nullopt;
  return ResourceTime{.ceiling = "nccl." + collective.name + ".latency",
                      .kind = CeilingKind::latency,
                      .amount = 1,
                      .time_s = line->latency_s,
                      .ci95 = line->latency_ci95,
                      .regime = Regime::burst,
                      .at_clock_hz = {}};
}

ResourceTime traffic_time(const Work& work, const Machine& machine, Level level, const Traffic& traffic) {
  const bool network = level == Level::network && work.collective;
  if (level == main_memory(machine.device.kind)) level = work.cache.value_or(level);
  const auto time_under = [&](const Ceiling* ceiling) {
    return time_at(ceiling, to_string(level), CeilingKind::bandwidth, traffic.total());
  };
  if (network) return time_under(machine.network(*work.collective));
  const std::optional<MixRoof> roof = machine.bandwidth(level, traffic, work.threads);
  if (!roof) return time_under(nullptr);
  Ceiling mixed = *roof->nearest;
  mixed.value = roof->value;
  mixed.ci95 = roof->ci95;
  ResourceTime time = time_under(&mixed);
  if (roof->other != nullptr) time.mixed_with = roof->other->name;
  return time;
}

std::vector<Resource> resources_of(const Work& work, const Machine& machine, std::optional<double> core_hz) {
  std::vector<Resource> resources;
  for (const auto& [pipe, count] : work.operations()) {
    if (count > 0) resources.push_back({pipe_time(machine, pipe, count, core_hz, work.threads), BoundLabel::compute});
  }
  for (const auto& [level, traffic] : work.bytes) {
    if (!(traffic.total() > 0)) continue;
    const BoundLabel label = level == Level::network ? BoundLabel::communication : BoundLabel::memory;
    resources.push_back({traffic_time(work, machine, level, traffic), label});
  }
  if (const auto latency = work.collective ? latency_time(machine, *work.collective) : std::nullopt) {
    resources.push_back({*latency, BoundLabel::latency});
  }
  if (work.launches > 0) {
    const auto launches = static_cast<double>(work.launches);
    resources.push_back({time_at(machine.launch(), "launch", CeilingKind::overhead, launches), BoundLabel::latency});
  }
  std::stable_sort(resources.begin(), resources.end(), [](const Resource& a, const Resource& b) {
    if (std::isnan(a.time.time_s) || std::isnan(b.time.time_s))
      return !std::isnan(a.time.time_s) && std::isnan(b.time.time_s);
    return a.time.time_s > b.time.time_s;
  });
  return resources;
}

/// The pipe of most operations, and main memory or the cache that serves it, are the two roofs of a kernel. The first
/// of them that has no ceiling; null if both have one. A CPU has no roof of its integer unit: rules on integer work say
/// so (report/diagnosis).
const ResourceTime* missing_of(const std::vector<ResourceTime>& resources, const std::string& memory) {
  const ResourceTime* pipe = nullptr;
  for (const ResourceTime& one : resources) {
    const bool is_larger = one.kind == CeilingKind::compute && (pipe == nullptr || one.amount > pipe->amount);
    if (is_larger && one.ceiling != to_string(Pipe::int32)) pipe = &one;
  }
  if (pipe != nullptr && std::isnan(pipe->time_s)) return pipe;
  const auto missing = std::ranges::find_if(resources, [&](const ResourceTime& one) {
    return one.kind == CeilingKind::bandwidth && one.ceiling == memory && std::isnan(one.time_s);
  });
  return missing == resources.end() ? nullptr : &*missing;
}

BoundLabel label_of(const std::vector<Resource>& resources) {
  if (resources.empty() || std::isnan(resources[0].time.time_s)) return BoundLabel::unknown;
  if (resources.size() > 1 && !std::isnan(resources[1].time.time_s)) {
    const bool overlap = resources[1].time.ci95.high >= resources[0].time.ci95.low;
    if (overlap && resources[0].label != resources[1].label) return BoundLabel::balanced;
  }
  return resources[0].label;
}

/// The pipe's ceiling over the memory ceiling, for the pipe with most of the counted FLOPs.
double ridge_of(const Work& work, const Machine& machine, Level memory) {
  const std::optional<Pipe> dominant = dominant_pipe(work);
  const auto traffic = work.bytes.find(memory);
  if (!dominant || traffic == work.bytes.end()) return kNaN;
  const Ceiling* pipe = machine.compute_at(*dominant, std::nullopt);
  const std::optional<MixRoof> bandwidth = machine.bandwidth(memory, traffic->second);
  return pipe == nullptr || !bandwidth ? kNaN : pipe->value / bandwidth->value;
}

}  // namespace

std::string_view to_string(BoundLabel label) { return spell(kLabels, label); }
std::optional<BoundLabel> parse_bound_label(std::string_view text) { return unspell<BoundLabel>(kLabels, text); }

Bound bound_of(const Work& work, const Machine& machine, std::optional<double> core_hz) {
  const Level memory = main_memory(machine.device.kind);
  Bound bound;
  const std::vector<Resource> resources = resources_of(work, machine, core_hz);
  for (const Resource& resource : resources) bound.resources.push_back(resource.time);
  bound.label = label_of(resources);
  const std::string level(to_string(work.cache.value_or(memory)));
  if (!work.collective && missing_of(bound.resources, level) != nullptr) bound.label = BoundLabel::unknown;
  bound.arithmetic_intensity = arithmetic_intensity(work, memory);
  bound.ridge = ridge_of(work, machine, memory);
  bound.attainable_time_s = kNaN;
  if (bound.label != BoundLabel::unknown) {
    const ResourceTime& limiting = bound.resources.front();
    bound.limiting_ceiling = limiting.ceiling;
    bound.attainable_time_s = limiting.time_s;
    bound.regime = limiting.regime;
    const auto any = [&](auto holds) {
      const auto of = [&](const std::string& name) {
        const Ceiling* ceiling = machine.find(name, limiting.regime);
        return ceiling != nullptr && holds(*ceiling);
      };
      return of(limiting.ceiling) || (limiting.mixed_with && of(*limiting.mixed_with));
    };
    bound.suspect = any([](const Ceiling& ceiling) { return ceiling.suspect(); });
    bound.provisional = !bound.suspect && any([](const Ceiling& ceiling) { return ceiling.provisional(); });
  }
  return bound;
}

std::string missing_roof(const Bound& bound) {
  if (bound.label != BoundLabel::unknown) return {};
  if (std::ranges::all_of(bound.resources, [](const ResourceTime& one) { return std::isnan(one.time_s); })) return {};
  const auto memory = std::ranges::find_if(bound.resources, [](const ResourceTime& one) {
    return one.kind == CeilingKind::bandwidth && std::isnan(one.time_s);
  });
  const ResourceTime* missing =
      missing_of(bound.resources, memory == bound.resources.end() ? std::string() : memory->ceiling);
  return missing == nullptr ? std::string() : missing->ceiling;
}

double fraction_of_roof(const Bound& bound, double measured_time_s) {
  return measured_time_s > 0 ? bound.attainable_time_s / measured_time_s : kNaN;
}

}  // namespace roofline
