#include "profile/wall_time.hpp"

#include <algorithm>
#include <set>

#include "profile/phases.hpp"

namespace roofline {
namespace {

/// What the hosts of some processes were doing.
struct HostTimes {
  std::vector<Span> counting, launching, waiting;
};

HostTimes host_times(const Recording& recording, const std::set<int>& processes) {
  HostTimes times;
  for (const int process : processes) {
    const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(process)];
    for (const spool::Launch& launch : trace.launches) {
      const bool counted = (launch.flags & spool::kCounted) != 0;
      (counted ? times.counting : times.launching).push_back({launch.start, launch.end});
    }
    for (const spool::Overhead& overhead : trace.overheads) {
      if (trace.text(overhead.what) == spool::kCountingOverhead) {
        times.counting.push_back({overhead.start, overhead.end});
      }
    }
    for (const spool::Call& call : trace.calls) {
      const bool hands_over = call.kind == spool::CallKind::copy || call.kind == spool::CallKind::fill ||
                              call.kind == spool::CallKind::launch || call.kind == spool::CallKind::graph_launch;
      (hands_over ? times.launching : times.waiting).push_back({call.start, call.end});
    }
  }
  times.counting = covered(std::move(times.counting));
  times.launching = covered(std::move(times.launching));
  times.waiting = covered(std::move(times.waiting));
  return times;
}

/// What a device did within some time.
struct DeviceTimes {
  std::vector<Span> kernels, transfers, busy;  ///< transfers: while no kernel ran
  std::set<int> processes;                     ///< that used the device
};

DeviceTimes device_times(const Recording& recording, int device, const std::vector<Span>& within) {
  DeviceTimes times;
  for (const Activity& activity : recording.activities) {
    if (activity.device != device) continue;
    const bool kernel = activity.what == ActivityKind::kernel;
    (kernel ? times.kernels : times.transfers).push_back({activity.start, activity.end});
    times.processes.insert(activity.process);
  }
  times.kernels = common(covered(std::move(times.kernels)), within);
  times.transfers = uncovered(common(covered(std::move(times.transfers)), within), times.kernels);
  times.busy = times.kernels;
  times.busy.insert(times.busy.end(), times.transfers.begin(), times.transfers.end());
  times.busy = covered(std::move(times.busy));
  return times;
}

/// Divides idle time: each moment is of one kind, the first of these that covers it.
void divide_idle(WallTime& wall, std::vector<Span> idle, const HostTimes& host) {
  const auto take = [&idle](const std::vector<Span>& by) {
    const double taken = seconds(total_length(common(idle, by)));
    idle = uncovered(idle, by);
    return taken;
  };
  wall.counting_s = take(host.counting);
  wall.idle_launching_s = take(host.launching);
  wall.idle_waiting_s = take(host.waiting);
  wall.idle_elsewhere_s = seconds(total_length(idle));
}

std::set<int> used_devices(const Recording& recording) {
  std::set<int> used;
  for (const Activity& activity : recording.activities) used.insert(activity.device);
  return used;
}

/// All that was recorded where `steps` is empty, which has a time before the first activity and one after the last.
WallTime wall_time_of(const Recording& recording, int device, const std::vector<Span>& steps) {
  WallTime wall = {.device = device, .device_name = recording.devices[static_cast<std::size_t>(device)].name};
  const std::vector<Span> within = steps.empty() ? recorded(recording) : steps;
  wall.wall_s = seconds(total_length(within));
  const DeviceTimes times = device_times(recording, device, within);
  wall.kernels_s = seconds(total_length(times.kernels));
  wall.copies_s = seconds(total_length(times.transfers));
  if (!steps.empty()) {
    divide_idle(wall, uncovered(within, times.busy), host_times(recording, times.processes));
    return wall;
  }
  if (times.busy.empty()) {
    wall.before_s = wall.wall_s;
    return wall;
  }
  const Span active = {times.busy.front().start, times.busy.back().end};
  wall.before_s = seconds(total_length(common(within, {{recording.start, active.start}})));
  wall.after_s = seconds(total_length(common(within, {{active.end, recording.end}})));
  divide_idle(wall, uncovered(common(within, {active}), times.busy), host_times(recording, times.processes));
  return wall;
}

/// Something that holds a host up.
struct Wait {
  std::uint64_t start = 0, end = 0;
  GapCause cause = GapCause::synchronised;
  spool::Id call = 0, place = 0;
};

/// What holds up the host of a process, by when it ends.
class Waits {
 public:
  explicit Waits(const ProcessTrace& trace) {
    for (const spool::Call& call : trace.calls) {
      if (const auto cause = cause_of(call.kind))
        waits_.push_back({call.start, call.end, *cause, call.name, call.place});
    }
    for (const spool::Overhead& overhead : trace.overheads) {
      if (trace.text(overhead.what) != spool::kCountingOverhead) continue;
      waits_.push_back({overhead.start, overhead.end, GapCause::counted, overhead.what, 0});
    }
    std::sort(waits_.begin(), waits_.end(), [](const Wait& a, const Wait& b) { return a.end < b.end; });
  }

  /// `take` is called with each that ends within the span.
  template <typename Take>
  void for_each_in(const Span& span, Take&& take) const {
    auto wait = std::lower_bound(waits_.begin(), waits_.end(), span.start,
                                 [](const Wait& a, std::uint64_t time) { return a.end < time; });
    for (; wait != waits_.end() && wait->end <= span.end; ++wait) take(*wait);
  }

 private:
  static std::optional<GapCause> cause_of(spool::CallKind kind) {
    switch (kind) {
      case spool::CallKind::synchronise:
      case spool::CallKind::copy:  // one that ends after its transfer has
        return GapCause::synchronised;
      case spool::CallKind::allocate:
      case spool::CallKind::release:
        return GapCause::allocated;
      case spool::CallKind::load:
        return GapCause::loaded;
      default:
        return std::nullopt;
    }
  }

  std::vector<Wait> waits_;
};

/// The parts of a gap.
class Explanation {
 public:
  Explanation(const Recording& recording, const Activity& next, const Span& span) : next_(next), span_(span) {
    whole_ = {.span = span,
              .cause = GapCause::host,
              .device = next.device,
              .process = next.process,
              .place = recording.place(next).id,
              .call = 0};
  }

  void add_to(std::vector<Gap>& gaps, const Waits& waits) {
    const std::uint64_t handed_over = next_.launch != nullptr ? next_.launch->start
                                      : next_.call != nullptr ? next_.call->start
                                                              : span_.end;
    if (next_.counted || handed_over < span_.start) {
      whole_.cause = next_.counted ? GapCause::counted : GapCause::queued;
      gaps.push_back(whole_);
      return;
    }
    const Wait* waited = nullptr;
    std::uint64_t from = span_.start;
    waits.for_each_in({span_.start, handed_over}, [&](const Wait& wait) {
      if (wait.cause == GapCause::synchronised) {
        if (wait.start < span_.start) waited = &wait;
        return;
      }
      const Span held = {std::max(wait.start, from), wait.end};
      if (held.start >= held.end) return;
      if (held.start > from) gaps.push_back(part({from, held.start}, waited));
      gaps.push_back(whole_);
      gaps.back().span = held;
      gaps.back().cause = wait.cause;
      gaps.back().call = wait.call;
      if (wait.place != 0) gaps.back().place = wait.place;
      from = held.end;
    });
    if (span_.end > from) gaps.push_back(part({from, span_.end}, waited));
  }

 private:
  /// A part in which the host is outside of such calls.
  Gap part(const Span& span, const Wait* waited) const {
    constexpr std::uint64_t kHostAwayNs = 10'000'000;  // ns; longer than any launch takes to prepare
    Gap gap = whole_;
    gap.span = span;
    if (span.length() >= kHostAwayNs) {
      gap.cause = GapCause::away;
    } else if (waited != nullptr) {
      gap.cause = GapCause::synchronised;
      gap.call = waited->call;
      if (waited->place != 0) gap.place = waited->place;
    }
    return gap;
  }

  const Activity& next_;
  Span span_;
  Gap whole_;
};

}  // namespace

std::vector<WallTime> wall_times(const Recording& recording, const std::vector<Span>& steps) {
  std::vector<WallTime> walls;
  for (const int device : used_devices(recording)) walls.push_back(wall_time_of(recording, device, steps));
  return walls;
}

std::vector<Span> active_spans(const Recording& recording) {
  std::vector<Span> active, counting;
  std::set<int> processes;
  for (const Activity& activity : recording.activities) processes.insert(activity.process);
  counting = host_times(recording, processes).counting;
  std::uint64_t first = recording.end, last = recording.start;
  for (const Activity& activity : recording.activities) {
    first = std::min(first, std::max(activity.start, recording.start));
    last = std::max(last, std::min(activity.end, recording.end));
  }
  if (first < last) active = common(recorded(recording), uncovered({{first, last}}, counting));
  return active;
}

std::vector<Gap> gaps_of(const Recording& recording) {
  std::vector<Waits> waits;
  for (const ProcessTrace& trace : recording.traces) waits.emplace_back(trace);
  std::vector<std::uint64_t> busy_until(recording.devices.size(), 0);
  std::vector<Gap> gaps;
  for (const Activity& activity : recording.activities) {
    std::uint64_t& until = busy_until[static_cast<std::size_t>(activity.device)];
    if (until != 0 && activity.start > until) {
      Explanation(recording, activity, {until, activity.start})
          .add_to(gaps, waits[static_cast<std::size_t>(activity.process)]);
    }
    until = std::max(until, activity.end);
  }
  return gaps;
}

}  // namespace roofline
