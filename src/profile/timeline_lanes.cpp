#include "profile/timeline_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "profile/actions.hpp"
#include "profile/host_sums.hpp"
#include "profile/idle/idle_gaps.hpp"
#include "profile/idle/thread_samples.hpp"
#include "profile/rows.hpp"
#include "profile/sums.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

const ProcessTrace& trace_of(const Recording& recording, int process) {
  return recording.traces[static_cast<std::size_t>(process)];
}

std::string gpu_name(const Recording& recording, int device) {
  return fmt::format("GPU {}", recording.devices[static_cast<std::size_t>(device)].about.index);
}

/// Sorted by start.
std::vector<Slice>& sorted(std::vector<Slice>& slices) {
  std::ranges::stable_sort(slices, {}, &Slice::start_s);
  return slices;
}

Slice slice_of(const Activity& activity, const Recording& recording, const Span& window) {
  Slice slice = slice_within(window, activity.start, activity.end);
  slice.point = activity.group;
  const ProcessTrace& trace = trace_of(recording, activity.process);
  if (activity.what == ActivityKind::copy) {
    const spool::Copy& copy = trace.copies[activity.index];
    slice.text = fmt::format("copy, {}, {}", to_string(copy_path(copy)), binary_bytes(static_cast<double>(copy.bytes)));
  } else if (activity.what == ActivityKind::fill) {
    slice.text = fmt::format("memset, {}", binary_bytes(static_cast<double>(trace.fills[activity.index].bytes)));
  }
  if (activity.what != ActivityKind::kernel) slice.line = line_text(trace, recording.place(activity).line);
  return slice;
}

/// What made a GPU wait.
struct GapCause {
  SavingCause cause = SavingCause::unknown_idle;
  std::string line;
  CauseDetail detail = CauseDetail::none;
};

class GapCauses {
 public:
  /// `steps`: what gaps without samples are compared with.
  GapCauses(const Recording& recording, const HostSamples& samples, const std::vector<Span>& steps)
      : recording_(recording), samples_(samples, recording), steps_(steps) {
    for (const ProcessTrace& trace : recording.traces) calls_.emplace_back(trace);
  }

  std::vector<IdleGap> gaps_in(const Span& window) const { return idle_gaps(recording_, calls_, {window}); }

  GapCause of(const IdleGap& gap) {
    const ProcessTrace& trace = trace_of(recording_, gap.process);
    const auto longest = std::ranges::max_element(gap.known, {}, &KnownPart::seconds);
    GapCause cause;
    if (longest != gap.known.end() && longest->seconds >= gap.rest_s) {
      cause.cause = longest->cause;
      cause.detail = longest->detail;
      if (longest->place != 0) cause.line = line_text(trace, trace.place(longest->place).line);
    } else {
      cause = sampled({&gap});
      if (cause.cause == SavingCause::unknown_idle) cause = sampled(alike(gap));
    }
    if (cause.line.empty()) cause.line = line_text(trace, recording_.place(*gap.next).line);
    return cause;
  }

 private:
  /// The cause shown by most samples of the launching thread within these gaps; unknown without samples.
  GapCause sampled(const std::vector<const IdleGap*>& gaps) const {
    GapCause best;
    std::map<std::pair<SavingCause, std::string>, double> causes;
    double most = 0;
    for (const IdleGap* gap : gaps) {
      if (gap->work.full_speed && most == 0) best.cause = SavingCause::launch_rate;
      const int thread = samples_.thread(trace_of(recording_, gap->process).process.pid, gap->thread);
      for (const int index : samples_.within(thread, gap->host)) {
        if (samples_.stack(index).in_profiler()) continue;
        const SampledCause cause = samples_.cause_of(index, gap->work);
        double& weight = causes[{cause.cause, cause.place.text()}];
        weight += samples_.weight(index, gap->host);
        if (weight <= most) continue;
        most = weight;
        best = {cause.cause, cause.place.text(), cause.detail};
      }
    }
    return best;
  }

  using Key = std::tuple<int, int, std::uint32_t, spool::Id>;  // process, device, thread, place of the next launch

  Key key_of(const IdleGap& gap) const { return {gap.process, gap.device, gap.thread, recording_.place(*gap.next).id}; }

  /// The gaps of all steps that end with the same launch after a like time of the host.
  std::vector<const IdleGap*> alike(const IdleGap& gap) {
    constexpr double kLike = 2;
    constexpr std::size_t kEnough = 1000;
    if (!all_) {
      all_.emplace();
      for (IdleGap& one : idle_gaps(recording_, calls_, steps_)) (*all_)[key_of(one)].push_back(std::move(one));
    }
    const double length = seconds(gap.host.length());
    std::vector<const IdleGap*> found;
    for (const IdleGap& other : (*all_)[key_of(gap)]) {
      const double of_other = seconds(other.host.length());
      if (of_other >= length / kLike && of_other <= length * kLike) found.push_back(&other);
      if (found.size() == kEnough) break;
    }
    return found;
  }

  const Recording& recording_;
  const ThreadSamples samples_;
  const std::vector<Span>& steps_;
  std::vector<HostCalls> calls_;
  std::optional<std::map<Key, std::vector<IdleGap>>> all_;  ///< of `steps_`; found when they are first asked for
};

/// Collects the lanes of host threads.
class Threads {
 public:
  Threads(const Recording& recording, const Span& window, const HostSamples& samples)
      : recording_(recording), window_(window), samples_(samples) {}

  void add_calls() {
    std::map<const spool::Launch*, int> rows;
    for (const Activity& activity : recording_.activities) {
      if (activity.launch != nullptr && activity.launch->start < window_.end) {
        rows[activity.launch] = activity.graph >= 0 ? activity.graph : activity.group;
      }
    }
    for (const ProcessTrace& trace : recording_.traces) {
      for (const spool::Launch& launch : trace.launches) {
        const bool graph = (trace.kind(launch.kind).flags & spool::kGraph) != 0;
        const auto row = rows.find(&launch);
        add_call(trace, launch.thread, launch.start, launch.end,
                 {.point = row == rows.end() ? -1 : row->second, .text = graph ? "graph launch" : "kernel launch"});
      }
      for (const spool::Call& call : trace.calls) {
        Slice slice = {.text = std::string(trace.text(call.name)),
                       .line = line_text(trace, trace.place(call.place).line)};
        if (call.kind == spool::CallKind::synchronise) slice.state = ThreadState::gpu;
        add_call(trace, call.thread, call.start, call.end, std::move(slice));
      }
    }
  }

  void add_samples() {
    for (auto& [key, thread] : threads_) sorted(thread.calls);
    for (const HostSample& sample : samples_.samples) {
      const HostThread& about = samples_.threads[static_cast<std::size_t>(sample.thread)];
      Slice slice = slice_within(window_, sample.time - std::min(sample.time, reach(sample)), sample.time);
      if (!(slice.end_s > slice.start_s)) continue;
      OfThread& thread = threads_[{about.pid, about.tid}];
      slice.start_s = std::max(slice.start_s, ran_until(thread, slice.end_s));
      if (!(slice.end_s > slice.start_s)) continue;
      if (thread.name.empty()) thread.name = about.name;
      slice.state = sample.state;
      slice.line = place_of(sample);
      thread.sampled = true;
      if (on_cpu(sample.state) || sample.state == ThreadState::gil) thread.ready_s += slice.end_s - slice.start_s;
      add_sample(thread.samples, std::move(slice));
    }
  }

  ThreadLanes take() {
    constexpr std::size_t kMostShownThreads = 10;
    std::vector<std::pair<const Key*, OfThread*>> busiest;
    ThreadLanes result;
    for (auto& [key, thread] : threads_) {
      if (thread.sampled) ++result.hidden;
      if (!thread.calls.empty() || thread.ready_s > 0) busiest.emplace_back(&key, &thread);
    }
    std::ranges::stable_sort(busiest, std::greater(), [](const auto& entry) {
      const auto& [key, thread] = entry;
      const bool main = !thread->calls.empty() && key->first == key->second;
      return std::tuple(main, thread->calls.size(), thread->ready_s);
    });
    busiest.resize(std::min(busiest.size(), kMostShownThreads));
    for (const auto& [key, thread] : busiest) {
      const std::string name = lane_name(*key, *thread);
      if (thread->sampled) --result.hidden;
      put(result.lanes, name + ": CUDA calls", LaneKind::calls, thread->calls);
      put(result.lanes, name + ": samples", LaneKind::samples, thread->samples);
    }
    return result;
  }

 private:
  using Key = std::pair<std::int64_t, std::int64_t>;  ///< pid, tid
  struct OfThread {
    std::string name;
    std::vector<Slice> calls, samples;
    double ready_s = 0;
    bool sampled = false;
  };

  static void put(std::vector<Lane>& lanes, std::string name, LaneKind kind, std::vector<Slice>& slices) {
    if (slices.empty()) return;
    lanes.push_back({.name = std::move(name), .kind = kind, .slices = std::move(sorted(slices))});
  }

  /// `slice` has all but its time.
  void add_call(const ProcessTrace& trace, std::uint32_t thread, std::uint64_t start, std::uint64_t end, Slice slice) {
    if (end <= window_.start || start >= window_.end) return;
    const Slice time = slice_within(window_, start, end);
    slice.start_s = time.start_s;
    slice.end_s = time.end_s;
    OfThread& of = threads_[{trace.process.pid, thread}];
    if (of.name.empty()) of.name = name_in(trace, thread);
    of.calls.push_back(std::move(slice));
  }

  /// Nanoseconds before it that a sample covers. A waiting thread has waited since it last ran.
  std::uint64_t reach(const HostSample& sample) const {
    constexpr double kRunning = 0.01;  // seconds: where it ran before that is not known
    double length = sample.seconds > 0 ? sample.seconds : samples_.rate_hz > 0 ? 1 / samples_.rate_hz : 0;
    if (sample.state == ThreadState::running) length = std::min(length, kRunning);
    return static_cast<std::uint64_t>(length * 1e9);
  }

  /// When the thread left the last call that ended before that time, during which it was not waiting.
  static double ran_until(const OfThread& thread, double moment) {
    double end = 0;
    for (auto call = std::ranges::upper_bound(thread.calls, moment, {}, &Slice::start_s);
         call != thread.calls.begin();) {
      --call;
      if (call->end_s > moment) continue;
      end = call->end_s;
      break;
    }
    return end;
  }

  /// Consecutive samples of one state and line are one bar.
  static void add_sample(std::vector<Slice>& slices, Slice slice) {
    constexpr double kNear = 1e-3;  // seconds: an interval ends where the next one begins, but for rounding and delays
    if (!slices.empty()) {
      Slice& last = slices.back();
      if (last.state == slice.state && last.line == slice.line && slice.start_s <= last.end_s + kNear) {
        last.end_s = std::max(last.end_s, slice.end_s);
        return;
      }
      slice.start_s = std::clamp(last.end_s, slice.start_s, slice.end_s);
    }
    slices.push_back(std::move(slice));
  }

  std::string place_of(const HostSample& sample) const {
    if (sample.stack < 0) return {};
    const int frame = charged_frame(samples_, samples_.stacks[static_cast<std::size_t>(sample.stack)]);
    return frame < 0 ? std::string() : place_text(samples_.frames[static_cast<std::size_t>(frame)]);
  }

  static std::string name_in(const ProcessTrace& trace, std::uint32_t id) {
    const auto found = std::ranges::find(trace.threads, id, &spool::Thread::id);
    return found == trace.threads.end() ? std::string() : std::string(trace.text(found->name));
  }

  static std::string lane_name(const Key& key, const OfThread& thread) {
    return fmt::format("thread {}{}", key.second, thread.name.empty() ? "" : fmt::format(" ({})", thread.name));
  }

  const Recording& recording_;
  const Span window_;
  const HostSamples& samples_;
  std::map<Key, OfThread> threads_;
};

}  // namespace

Slice slice_within(const Span& window, std::uint64_t start, std::uint64_t end) {
  const auto at = [&](std::uint64_t time) {
    return seconds(std::clamp(time, window.start, window.end) - window.start);
  };
  return {.start_s = at(start), .end_s = at(std::max(start, end))};
}

std::vector<Lane> stream_lanes(const Recording& recording, const Span& window) {
  std::map<std::tuple<int, int, std::uint32_t>, Lane> lanes;  // by device, process and stream
  for (const Activity& activity : recording.activities) {
    if (activity.end <= window.start || activity.start >= window.end) continue;
    Lane& lane = lanes[{activity.device, activity.process, activity.stream}];
    if (lane.name.empty()) {
      lane.name = gpu_name(recording, activity.device);
      if (activity.stream != kUnknownStream) lane.name += fmt::format(", stream {}", activity.stream);
      if (recording.traces.size() > 1) {
        lane.name += fmt::format(", process {}", trace_of(recording, activity.process).process.pid);
      }
    }
    lane.slices.push_back(slice_of(activity, recording, window));
  }
  std::vector<Lane> list;
  for (auto& [key, lane] : lanes) {
    sorted(lane.slices);
    list.push_back(std::move(lane));
  }
  return list;
}

std::vector<Lane> idle_lanes(const Recording& recording, const Span& window, const HostSamples& samples,
                             const std::vector<Span>& steps) {
  GapCauses of_gaps(recording, samples, steps);
  std::map<std::pair<int, std::uint64_t>, GapCause> causes;  // by device, and the time at which the gap ended
  for (const IdleGap& gap : of_gaps.gaps_in(window)) causes[{gap.device, gap.next->start}] = of_gaps.of(gap);
  std::vector<std::vector<Span>> busy(recording.devices.size());
  for (const Activity& activity : recording.activities) {
    busy[static_cast<std::size_t>(activity.device)].push_back({activity.start, activity.end});
  }
  std::vector<Lane> lanes;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (busy[i].empty()) continue;  // a GPU that the program does not use
    const int device = static_cast<int>(i);
    Lane lane = {.name = gpu_name(recording, device) + ": idle", .kind = LaneKind::idle, .slices = {}};
    for (const Span& idle : uncovered({window}, covered(std::move(busy[i])))) {
      Slice slice = slice_within(window, idle.start, idle.end);
      // A gap may end after the window.
      const auto found = causes.lower_bound({device, idle.end});
      const GapCause cause = found != causes.end() && found->first.first == device ? found->second : GapCause{};
      slice.cause = cause.cause;
      slice.text = what_is_lost(cause.cause, cause.detail);
      slice.line = cause.line;
      lane.slices.push_back(std::move(slice));
    }
    if (!lane.slices.empty()) lanes.push_back(std::move(lane));
  }
  return lanes;
}

ThreadLanes thread_lanes(const Recording& recording, const Span& window, const HostSamples& samples) {
  Threads threads(recording, window, samples);
  threads.add_calls();
  threads.add_samples();
  return threads.take();
}

}  // namespace roofline
