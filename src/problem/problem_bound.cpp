#include "problem/problem_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace roofline {
namespace {

/// The unit for products of a type that this machine's matrix units lack: the next wider type.
Pipe wider(Pipe pipe) {
  switch (pipe) {
    case Pipe::tensor_fp8:
      return Pipe::tensor_bf16;
    case Pipe::tensor_bf16:
      return Pipe::tensor_fp16;
    case Pipe::tensor_fp16:
      return Pipe::fp32;
    default:
      return pipe;
  }
}

/// Work on units that the machine has, and what was changed for that.
Work on_known_units(const Machine& machine, Work work, std::set<std::string>& changes) {
  work = on_units_of(machine, std::move(work));
  std::map<Pipe, double> flops;
  for (const auto& [pipe, count] : work.flops) {
    Pipe unit = pipe;
    while (machine.compute(unit) == nullptr && wider(unit) != unit) unit = wider(unit);
    if (machine.compute(unit) == nullptr) unit = pipe;
    if (unit != pipe) {
      changes.insert(fmt::format("{} has no roof of {}: its products are bounded by {}", machine.device.name,
                                 to_string(pipe), to_string(unit)));
    }
    flops[unit] += count;
  }
  work.flops = std::move(flops);
  return work;
}

double attainable(const Bound& bound) {
  return bound.limiting_ceiling.empty() ? std::nan("") : bound.attainable_time_s;
}

bool lacks_roof_of_messages(const Bound& bound) {
  return std::any_of(bound.resources.begin(), bound.resources.end(), [](const ResourceTime& resource) {
    return resource.ceiling == to_string(Level::network) && std::isnan(resource.time_s);
  });
}

/// NaN where messages have no roof: the time of their launch is no bound of them.
double attainable_with_messages(const Bound& bound) {
  return lacks_roof_of_messages(bound) ? std::nan("") : attainable(bound);
}

PhaseBound bound_phase(const ProblemPhase& phase, const Machine& machine, std::set<std::string>& changes) {
  PhaseBound out;
  out.name = phase.name;
  out.tokens = phase.tokens;
  for (const ProblemPart& part : phase.parts) {
    PartBound one;
    one.part = part;
    one.part.work = on_known_units(machine, part.work, changes);
    one.bound = bound_of(one.part.work, machine);
    one.time_s = part.times * attainable_with_messages(one.bound);
    if (!lacks_roof_of_messages(one.bound)) out.by_op_s += one.time_s;
    out.parts.push_back(std::move(one));
  }
  if (phase.messages) {
    const double time = attainable_with_messages(bound_of(*phase.messages, machine));
    if (std::isfinite(time)) {
      out.messages_s = time;
    } else {
      changes.insert(fmt::format(
          "{} has no roof of collectives: they have no time, and both times are those of one GPU's own work",
          machine.device.name));
    }
  }
  if (!phase.fused) {
    out.least_s = out.by_op_s;
    return out;
  }
  out.fused_work = on_known_units(machine, *phase.fused, changes);
  out.fused = bound_of(*out.fused_work, machine);
  out.least_s = std::max(attainable(*out.fused), out.messages_s.value_or(0));
  return out;
}

}  // namespace

Machine at_sustained_clocks(Machine machine) {
  for (Ceiling& ceiling : machine.ceilings) {
    if (ceiling.kind != CeilingKind::compute || ceiling.regime != Regime::burst) continue;
    const Ceiling* sustained = machine.find(ceiling.name, Regime::sustained);
    if (sustained == nullptr || !(sustained->value < ceiling.value)) continue;
    ceiling.value = sustained->value;
    ceiling.ci95 = sustained->ci95;
  }
  return machine;
}

ProblemBound bound_problem(const BoundProblem& problem, const Machine& machine) {
  ProblemBound out;
  out.name = problem.name;
  out.memory = problem.memory;
  out.cache_per_sequence = problem.cache_per_sequence;
  out.notes = problem.notes;
  std::set<std::string> changes;
  for (const ProblemPhase& phase : problem.phases) out.phases.push_back(bound_phase(phase, machine, changes));
  out.notes.insert(out.notes.end(), changes.begin(), changes.end());
  return out;
}

std::optional<Score> PartBound::score() const {
  return measured_s ? std::optional(score_of(time_s, *measured_s)) : std::nullopt;
}

std::vector<std::string> impossible_parts(const PhaseBound& phase) {
  std::vector<std::string> names;
  for (const PartBound& part : phase.parts) {
    const std::optional<Score> score = part.score();
    if (score && !score->possible) names.push_back(part.part.name);
  }
  return names;
}

Score score_of(double least_s, double measured_s) {
  constexpr double kTolerance = 1.02;  // of roofs, between runs and chips of a model
  const double share = least_s / measured_s;
  return {.share = share, .possible = !(share > kTolerance)};
}

}  // namespace roofline
