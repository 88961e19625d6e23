#include "profile/wall_time.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>

#include "profile/phases.hpp"

namespace roofline {
namespace {

/// Host activity of some processes.
struct HostActivity {
  std::vector<Span> counting, launching, waiting;
  bool recorded = true;  ///< launches of all of them
};

HostActivity host_activity(const Recording& recording, const std::set<int>& processes) {
  HostActivity times;
  for (const int process : processes) {
    const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(process)];
    for (const spool::Launch& launch : trace.launches) {
      if ((launch.flags & spool::kCounted) == 0) times.launching.push_back({launch.start, launch.end});
    }
    times.recorded &= has_host_launches(trace);
    const std::vector<Span> counting = counting_spans(recording, process);
    times.counting.insert(times.counting.end(), counting.begin(), counting.end());
    for (const spool::Call& call : trace.calls) {
      (gives_work(call.kind) ? times.launching : times.waiting).push_back({call.start, call.end});
    }
  }
  times.counting = covered(std::move(times.counting));
  times.launching = covered(std::move(times.launching));
  times.waiting = covered(std::move(times.waiting));
  return times;
}

/// Activity of a device within a time.
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
void divide_idle(WallTime& wall, std::vector<Span> idle, const HostActivity& host) {
  const auto take = [&idle](const std::vector<Span>& by) {
    const double taken = seconds(total_length(common(idle, by)));
    idle = uncovered(idle, by);
    return taken;
  };
  wall.counting_s = take(host.counting);
  wall.idle_launching_s = take(host.launching);
  wall.idle_waiting_s = take(host.waiting);
  (host.recorded ? wall.idle_elsewhere_s : wall.idle_unknown_s) = seconds(total_length(idle));
}

std::set<int> used_devices(const Recording& recording) {
  std::set<int> used;
  for (const Activity& activity : recording.activities) used.insert(activity.device);
  return used;
}

/// Without `steps`, covers the whole recording, including the times before the first and after the last activity.
WallTime wall_time_of(const Recording& recording, int device, const std::vector<Span>& steps) {
  WallTime wall = {.device = device, .device_name = recording.devices[static_cast<std::size_t>(device)].name};
  const std::vector<Span> within = steps.empty() ? recorded(recording) : steps;
  wall.wall_s = seconds(total_length(within));
  const DeviceTimes times = device_times(recording, device, within);
  wall.kernels_s = seconds(total_length(times.kernels));
  wall.copies_s = seconds(total_length(times.transfers));
  if (!steps.empty()) {
    divide_idle(wall, uncovered(within, times.busy), host_activity(recording, times.processes));
    return wall;
  }
  if (times.busy.empty()) {
    wall.before_s = wall.wall_s;
    return wall;
  }
  const Span active = {times.busy.front().start, times.busy.back().end};
  wall.before_s = seconds(total_length(common(within, {{recording.start, active.start}})));
  wall.after_s = seconds(total_length(common(within, {{active.end, recording.end}})));
  divide_idle(wall, uncovered(common(within, {active}), times.busy), host_activity(recording, times.processes));
  return wall;
}

}  // namespace

std::vector<int> device_numbers(const Recording& recording) {
  std::vector<int> numbers(recording.devices.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const std::set<int> used = used_devices(recording);
  std::set<std::uint32_t> ordinals;
  for (const int device : used) ordinals.insert(recording.devices[static_cast<std::size_t>(device)].about.index);
  if (ordinals.size() < used.size()) return numbers;
  for (const int device : used) {
    numbers[static_cast<std::size_t>(device)] =
        static_cast<int>(recording.devices[static_cast<std::size_t>(device)].about.index);
  }
  return numbers;
}

void number_devices(Profile& profile, const std::vector<int>& numbers) {
  const auto renumber = [&numbers](auto& list) {
    for (auto& entry : list) {
      const auto position = static_cast<std::size_t>(entry.device);
      if (entry.device >= 0 && position < numbers.size()) entry.device = numbers[position];
    }
  };
  renumber(profile.devices);
  renumber(profile.memory.devices);
  if (profile.steps) renumber(profile.steps->devices);
  if (profile.ranks) renumber(profile.ranks->ranks);
}

std::vector<WallTime> wall_times(const Recording& recording, const std::vector<Span>& steps) {
  std::vector<WallTime> walls;
  for (const int device : used_devices(recording)) walls.push_back(wall_time_of(recording, device, steps));
  return walls;
}

std::vector<Span> counting_spans(const Recording& recording, int process) {
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(process)];
  std::vector<Span> spans = profiler_spans(trace);
  if (!recording.sampling_disturbs) return spans;
  for (const spool::InstructionPhase& phase : trace.instruction_phases) spans.push_back({phase.start, phase.end});
  return covered(std::move(spans));
}

std::vector<Span> profiler_spans(const ProcessTrace& trace) {
  std::vector<Span> spans;
  for (const spool::Launch& launch : trace.launches) {
    if ((launch.flags & spool::kCounted) != 0) spans.push_back({launch.start, launch.end});
  }
  for (const spool::Overhead& overhead : trace.overheads) {
    const std::string_view what = trace.text(overhead.what);
    const bool ours = what == spool::kCountingOverhead || what == spool::kInstructionsOverhead;
    if (ours) spans.push_back({overhead.start, overhead.end});
  }
  return covered(std::move(spans));
}

std::vector<Span> active_spans(const Recording& recording) {
  std::vector<Span> active, counting;
  std::set<int> processes;
  for (const Activity& activity : recording.activities) processes.insert(activity.process);
  counting = host_activity(recording, processes).counting;
  std::uint64_t first = recording.end, last = recording.start;
  for (const Activity& activity : recording.activities) {
    first = std::min(first, std::max(activity.start, recording.start));
    last = std::max(last, std::min(activity.end, recording.end));
  }
  if (first < last) active = common(recorded(recording), uncovered({{first, last}}, counting));
  return active;
}

}  // namespace roofline
