#include <algorithm>

#include "report/diagnosis/quantity_groups.hpp"

namespace roofline {
namespace {

/// True if the interval allows a conclusion: at most as wide as a fifth of the ratio, or all of it far from no effect;
/// of a share of the row's time, at most as wide as a fifth of that time.
bool is_certain(const Experiment& experiment) {
  constexpr double kWidest = 0.2;
  // A smaller size that costs more per unit of work has costs of its own.
  constexpr double kComparable = 1.25;
  const bool share = experiment.kind == ExperimentKind::in_cache || experiment.kind == ExperimentKind::in_l1;
  if (share && experiment.ratio > kComparable) return false;
  const double whole = share ? std::max(1.0, experiment.ratio) : experiment.ratio;
  constexpr double kFar = 2;  // times as fast or as slow
  const Interval& interval = experiment.ci95;
  const bool far = !share && interval.known() && (interval.high * kFar < 1 || interval.low > kFar);
  return experiment.ratio > 0 && (far || !(interval.known() && interval.width() > kWidest * whole));
}

/// True if traced accesses jump between pages. Small pages are slower without jumps, too: prefetchers stop at a page's
/// end.
bool jumps_between_pages(const Point& point) {
  constexpr double kJumps = 0.1;
  return std::any_of(point.experiments.begin(), point.experiments.end(), [](const Experiment& experiment) {
    return experiment.kind == ExperimentKind::page_jumps && experiment.ratio >= kJumps;
  });
}

/// The ratio that other offsets of the buffers explain; at most 1. Whatever is compiled anew runs in other buffers.
double ratio_of_placement(const Point& point) {
  double ratio = 1;
  for (const Experiment& experiment : point.experiments) {
    if (experiment.kind == ExperimentKind::staggered && is_certain(experiment))
      ratio = std::min(ratio, experiment.ratio);
  }
  return ratio;
}

/// True if the core itself takes most of the row's time: what helps in L2 helps the row.
bool takes_core_time(const Point& point) {
  constexpr double kMost = 0.6;
  return std::any_of(point.experiments.begin(), point.experiments.end(), [](const Experiment& experiment) {
    return experiment.kind == ExperimentKind::in_cache && is_certain(experiment) && experiment.ratio > kMost;
  });
}

/// True if a change that removes a cause makes the row much faster, by all of its interval. The row and its change took
/// turns, so other load slowed both.
bool is_proven(const Point& point) {
  constexpr double kMuchFaster = 1.5;
  const bool of_core = takes_core_time(point);
  return std::any_of(point.experiments.begin(), point.experiments.end(), [&](const Experiment& experiment) {
    switch (experiment.kind) {
      case ExperimentKind::flushed_subnormals:
      case ExperimentKind::reassociated:
      case ExperimentKind::multiplied:
      case ExperimentKind::unforwarded:
        if (!of_core) return false;
        break;
      case ExperimentKind::staggered:
      case ExperimentKind::realigned:
      case ExperimentKind::ascending_indices:
        break;
      default:
        return false;
    }
    return experiment.ratio > 0 && experiment.ci95.known() && experiment.ci95.high * kMuchFaster < 1;
  });
}

}  // namespace

void add_experiments(QuantityCollector& out, const Point& point, const Machine& machine) {
  const auto threads = static_cast<double>(machine.device.units);
  const double placement = ratio_of_placement(point);
  out.flag_is("experiment.proven", is_proven(point));
  for (const Experiment& experiment : point.experiments) {
    const double ratio = experiment.ratio;
    if (!is_certain(experiment)) continue;
    switch (experiment.kind) {
      case ExperimentKind::in_cache:
      case ExperimentKind::in_l1:
        out.set("experiment.cache",
                static_cast<double>(experiment.kind == ExperimentKind::in_l1 ? Level::l1 : Level::l2));
        out.set("experiment.in_cache.share", ratio);
        out.set("experiment.in_cache.gain", 1 / ratio);
        out.set("experiment.explained", ratio + point.fraction_of_roof());
        break;
      case ExperimentKind::all_threads: {
        // A lower clock with all threads is not caused by the kernel: the FMA probe has it as well.
        const Ceiling* all = machine.find("fp32");
        const Ceiling* one = machine.find("fp32.one_core");
        const double slower = all != nullptr && one != nullptr ? threads * one->value / all->value : 1;
        out.set("experiment.thread.cost", ratio / std::max(1.0, slower));
        break;
      }
      case ExperimentKind::slowest_thread:
        out.set("experiment.thread.slowest", ratio);
        out.set("experiment.thread.used", threads / ratio);
        break;
      case ExperimentKind::double_size:
        out.set("experiment.size.slowdown", ratio);
        break;
      case ExperimentKind::other_type:
        out.set("experiment.type.slowdown", placement / ratio);
        break;
      case ExperimentKind::small_pages:
        if (jumps_between_pages(point)) out.set("experiment.pages.slowdown", ratio);
        break;
      case ExperimentKind::staggered:
        out.set("experiment.staggered.gain", 1 / ratio);
        out.set("buffers", static_cast<double>(experiment.count));
        break;
      case ExperimentKind::realigned:
        out.set("experiment.realigned.gain", 1 / ratio);
        break;
      case ExperimentKind::flushed_subnormals:
        out.set("experiment.subnormals.gain", 1 / ratio);
        break;
      case ExperimentKind::reassociated:
        out.set("experiment.reassociated.gain", placement / ratio);
        break;
      case ExperimentKind::unvectorized:
        out.set("experiment.unvectorized.slowdown", ratio);
        break;
      case ExperimentKind::multiplied:
        out.set("experiment.divisions.gain", placement / ratio);
        break;
      case ExperimentKind::unforwarded:
        out.set("experiment.forwarding.gain", placement / ratio);
        break;
      case ExperimentKind::line_visits:
        out.set("experiment.lines.visits", ratio);
        break;
      case ExperimentKind::ascending_indices:
        out.set("experiment.order.gain", 1 / ratio);
        break;
      case ExperimentKind::page_jumps:
        break;  // read by jumps_between_pages()
    }
  }
}

}  // namespace roofline
