#include "profile/idle/idle_gaps.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "profile/wall_time.hpp"

namespace roofline {
namespace {

constexpr std::uint64_t kMicrosecond = 1000, kMillisecond = 1'000'000;

/// Work that the host submitted to a GPU.
struct Handover {
  Span call;
  std::uint32_t thread = 0;
};

std::optional<Handover> handover_of(const Activity& activity) {
  if (activity.launch != nullptr)
    return Handover{{activity.launch->start, activity.launch->end}, activity.launch->thread};
  if (activity.call != nullptr) return Handover{{activity.call->start, activity.call->end}, activity.call->thread};
  return std::nullopt;
}

/// How much earlier the host would have launched without its last GPU wait, minus idle time already attributed to that
/// wait.
struct Delay {
  const HostCall* wait = nullptr;  ///< null: none, and no time
  double seconds = 0;

  /// Lays as much of that idle time to the wait as is left.
  double take(double idle_s) {
    const double late = std::min(idle_s, seconds);
    seconds -= late;
    return late;
  }
};

/// Divides one idle time by what the host did.
class GapSplit {
 public:
  /// `begin`: of the first step.
  GapSplit(const Recording& recording, const HostCalls& calls, IdleGap& gap, const Span& idle, std::uint64_t begin)
      : trace_(recording.traces[static_cast<std::size_t>(gap.process)]),
        place_(recording.place(*gap.next).id),
        calls_(calls),
        gap_(gap),
        idle_(idle),
        begin_(begin),
        left_(gap.seconds) {}

  /// The launch had been made before the GPU ran dry: it is the GPU that is late. `other_gpu`: one of the program's was
  /// working meanwhile.
  void queued(const Activity& before, const Handover& next, bool other_gpu) {
    if (const HostCall* const function = host_function_before(next)) {
      take({SavingCause::late_stream, left_, function->place, function->name, CauseDetail::host_function});
      return;
    }
    // Streams wait for activities, and go on some microseconds after their end. Programs that share a GPU take turns of
    // milliseconds.
    constexpr std::uint64_t kLongestWait = 200 * kMicrosecond;
    if (idle_.length() > kLongestWait && !other_gpu) {
      take({SavingCause::unknown_idle, left_, place_, 0, CauseDetail::queued_work});
      return;
    }
    constexpr std::uint64_t kBetweenKernels = 20 * kMicrosecond, kBetweenStreams = 3 * kMicrosecond;
    const bool other_stream = before.stream != gap_.next->stream || before.process != gap_.next->process;
    const bool waits = idle_.length() > (other_stream ? kBetweenStreams : kBetweenKernels);
    take({waits ? SavingCause::late_stream : SavingCause::between_kernels, left_, place_, 0});
  }

  /// `previous`: what the host gave to the GPU before. `delay`: of the last wait; changed.
  void host_bound(const Handover& next, const Handover* previous, Delay& delay) {
    const std::uint64_t ready = std::max(next.call.start, idle_.start);
    // Parts of its length within the steps before and after the launch.
    const double whole = static_cast<double>(idle_.length());
    const double before = gap_.seconds * static_cast<double>(ready - idle_.start) / whole;
    threads_ = {next.thread};
    if (previous != nullptr && previous->thread != next.thread) threads_.push_back(previous->thread);
    for (const std::uint32_t thread : threads_) {
      const HostCall* const wait = calls_.waiting_at(thread, idle_.start);
      // A wait that began after the launch did not delay it.
      if (gap_.wait == nullptr && wait != nullptr && wait->span.start < next.call.start) gap_.wait = wait;
    }
    tail({ready, idle_.end}, gap_.seconds - before);
    std::uint64_t from = previous != nullptr ? std::min(previous->call.end, idle_.start) : idle_.start;
    double host = before;
    if (gap_.wait != nullptr) {
      from = std::min(std::max(gap_.wait->span.end, idle_.start), ready);
      const double waiting = std::min(host, seconds(from - idle_.start) * gap_.seconds / seconds(idle_.length()));
      take(of_wait(*gap_.wait, waiting));
      host -= waiting;
      // A wait before the steps, as after a warm-up, is none of theirs.
      const bool in_steps = gap_.wait->span.end > begin_;
      delay = {gap_.wait, in_steps ? std::max(0.0, seconds(gap_.wait->span.length()) - waiting) : 0};
    }
    gap_.host = {from, ready};
    calls_in_host(host, delay);
    if (gap_.wait == nullptr) give_launches_to(delay);
  }

 private:
  /// The call by which the same thread put a host function into a stream, if nothing was submitted to the GPU between
  /// that call and the launch. Null if there is none.
  const HostCall* host_function_before(const Handover& next) const {
    constexpr std::uint64_t kBefore = 10 * kMillisecond;
    const std::uint64_t from = next.call.start > kBefore ? next.call.start - kBefore : 0;
    const std::span<const HostCall> calls = calls_.within(next.thread, {from, next.call.start});
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      if (call->span.start >= next.call.start || call->kind == spool::CallKind::event) continue;
      return trace_.text(call->name).starts_with("cuLaunchHostFunc") ? &*call : nullptr;
    }
    return nullptr;
  }

  static KnownPart of_wait(const HostCall& wait, double time) {
    return {*wait.waited, time, wait.place, wait.name, wait.detail};
  }

  void take(const KnownPart& part) {
    const double of = std::clamp(part.seconds, 0.0, left_);
    left_ -= of;
    if (!(of > 0)) return;
    gap_.known.push_back(part);
    gap_.known.back().seconds = of;
  }

  /// Launches that would have been made ahead without the wait before.
  void give_launches_to(Delay& delay) {
    const auto give = [&](double& time) {
      const double late = delay.take(time);
      time -= late;
      return late;
    };
    std::vector<double> given;
    for (KnownPart& part : gap_.known) {
      if (part.cause == SavingCause::launch_rate) given.push_back(give(part.seconds));
    }
    if (gap_.work.full_speed) given.push_back(give(gap_.rest_s));
    for (const double late : given) {
      if (late > 0) gap_.known.push_back(of_wait(*delay.wait, late));
    }
  }

  /// From the launch to the start of the launched activity.
  void tail(const Span& span, double share) {
    constexpr std::uint64_t kStaging = 20 * kMicrosecond;  // a launch and its way to the GPU take less
    if (span.length() == 0) return;
    const double loading = share * static_cast<double>(total_length(parts_within(span, calls_.loading()))) /
                           static_cast<double>(span.length());
    take({SavingCause::module_load, loading, place_, 0});
    const bool staged = gap_.next->what == ActivityKind::copy && span.length() > kStaging &&
                        trace_.copies[gap_.next->index].from == spool::Memory::pageable;
    if (staged) {
      take({SavingCause::pageable_copy, share - loading, place_, 0});
    } else if (gap_.wait != nullptr) {  // without the wait it would have been launched ahead
      take(of_wait(*gap_.wait, share - loading));
    } else {
      take({SavingCause::launch_rate, share - loading, place_, 0});
    }
  }

  struct Capture {
    const HostCall* instantiate = nullptr;  ///< null: none
    Span span;                              ///< within gap_.host
  };
  /// From the first launch that a graph is captured from until the graph is instantiated. Launches that are executed
  /// would have ended the gap.
  Capture capture_by(std::uint32_t thread) const {
    Capture capture;
    std::optional<std::uint64_t> first;
    for (const HostCall& call : calls_.within(thread, gap_.host)) {
      if (call.kind == spool::CallKind::launch && !first) first = call.span.start;
      if (call.detail != CauseDetail::graphs || call.span.start >= gap_.host.end) continue;
      capture = {&call, overlap({first.value_or(call.span.start), call.span.end}, gap_.host)};
    }
    return capture;
  }

  /// `host`: seconds before the launch that what is in gap_.host explains.
  void calls_in_host(double host, Delay& delay) {
    const std::uint64_t length = gap_.host.length();
    if (length == 0) {
      take({SavingCause::launch_rate, host, place_, 0});
      return;
    }
    const double scale = host / static_cast<double>(length);
    std::uint64_t explained = 0;
    std::int64_t launches = 1;
    const auto explain = [&](SavingCause cause, std::uint64_t time, const HostCall& call, spool::Id name) {
      time = std::min(time, length - explained);
      explained += time;
      take({cause, static_cast<double>(time) * scale, call.place, name, call.detail});
    };
    for (const std::uint32_t thread : threads_) {
      const Capture capture = capture_by(thread);
      if (capture.instantiate != nullptr) {
        explain(SavingCause::allocation, capture.span.length(), *capture.instantiate, capture.instantiate->name);
      }
      for (const HostCall& call : calls_.within(thread, gap_.host)) {
        if (&call == gap_.wait || call.span.start >= gap_.host.end) continue;
        if (capture.instantiate != nullptr && overlap(call.span, capture.span).length() > 0) continue;
        const std::uint64_t time = overlap(call.span, gap_.host).length();
        switch (call.kind) {
          case spool::CallKind::load:
            gap_.loads_code |= call.detail != CauseDetail::graphs;
            explain(call.detail == CauseDetail::graphs ? SavingCause::allocation : SavingCause::module_load, time, call,
                    call.name);
            break;
          case spool::CallKind::launch:
          case spool::CallKind::graph_launch:
            ++launches;
            explain(SavingCause::launch_rate, time, call, 0);
            break;
          case spool::CallKind::allocate:
          case spool::CallKind::release:
            explain(SavingCause::allocation, time, call, call.name);
            break;
          case spool::CallKind::other:
            if (call.detail != CauseDetail::none) explain(SavingCause::allocation, time, call, call.name);
            break;
          case spool::CallKind::event:
            break;
          default:
            explain(call.waited.value_or(SavingCause::launch_rate), time, call, call.name);
            break;
        }
      }
    }
    double rest = static_cast<double>(length - explained) * scale;
    if (gap_.wait != nullptr) {
      // Without the wait, this host work would have overlapped the earlier GPU work.
      const double late = delay.take(rest);
      KnownPart part = of_wait(*gap_.wait, late);
      part.work_delayed = true;
      take(part);
      rest -= late;
    }
    constexpr std::uint64_t kForOneLaunch = kMillisecond;
    gap_.launch_interval_s = seconds(length) / static_cast<double>(launches);
    gap_.work.full_speed = length <= kForOneLaunch * static_cast<std::uint64_t>(launches);
    gap_.rest_s = std::clamp(rest, 0.0, left_);
  }

  const ProcessTrace& trace_;
  spool::Id place_;
  const HostCalls& calls_;
  IdleGap& gap_;
  Span idle_;
  std::uint64_t begin_;
  double left_;
  std::vector<std::uint32_t> threads_;
};

/// Submissions of each host to each GPU, by time.
using Handovers = std::map<std::pair<int, int>, std::vector<Handover>>;  // by process and device

Handovers handovers_of(const Recording& recording) {
  Handovers handovers;
  for (const Activity& activity : recording.activities) {
    if (const auto handover = handover_of(activity)) {
      handovers[{activity.process, activity.device}].push_back(*handover);
    }
  }
  for (auto& [where, list] : handovers) {
    std::sort(list.begin(), list.end(),
              [](const Handover& a, const Handover& b) { return a.call.start < b.call.start; });
  }
  return handovers;
}

bool copies_input(const Recording& recording, const Activity& activity) {
  constexpr std::uint64_t kLeast = 1024;  // less is a number, not a batch
  if (activity.what != ActivityKind::copy) return false;
  const spool::Copy& copy = recording.traces[static_cast<std::size_t>(activity.process)].copies[activity.index];
  const bool from_host = copy.from == spool::Memory::pageable || copy.from == spool::Memory::pinned;
  return from_host && copy.to == spool::Memory::device && copy.bytes >= kLeast;
}

}  // namespace

std::vector<IdleGap> idle_gaps(const Recording& recording, const std::vector<HostCalls>& calls,
                               const std::vector<Span>& steps) {
  struct DeviceState {
    const Activity* last = nullptr;  ///< that ended last
    Delay delay = {};
  };
  const Handovers handovers = handovers_of(recording);
  std::vector<DeviceState> devices(recording.devices.size());
  std::vector<std::vector<Span>> counting;
  for (std::size_t i = 0; i < recording.traces.size(); ++i) {
    counting.push_back(counting_spans(recording, static_cast<int>(i)));
  }
  std::vector<IdleGap> gaps;
  for (const Activity& next : recording.activities) {
    DeviceState& device = devices[static_cast<std::size_t>(next.device)];
    const std::uint64_t until = device.last != nullptr ? device.last->end : next.start;
    if (device.last != nullptr && next.start > until) {
      const Span idle = {until, next.start};
      const HostCalls& host = calls[static_cast<std::size_t>(next.process)];
      const std::vector<Span> in_steps =
          uncovered(parts_within(idle, steps), parts_within(idle, counting[static_cast<std::size_t>(next.process)]));
      IdleGap gap;
      gap.device = next.device;
      gap.process = next.process;
      gap.next = &next;
      gap.seconds = seconds(total_length(in_steps));
      gap.work.input_copy = copies_input(recording, next);
      const auto handover = handover_of(next);
      if (gap.seconds > 0 && !next.counted) {
        GapSplit split(recording, host, gap, idle, steps.empty() ? 0 : steps.front().start);
        if (!handover) {
          gap.host = idle;
          gap.rest_s = gap.seconds;
        } else if (handover->call.start < idle.start && handover->call.end + 5 * kMicrosecond < idle.start) {
          gap.thread = handover->thread;
          const bool other_gpu = std::ranges::any_of(devices, [&](const DeviceState& other) {
            return other.last != nullptr && other.last != device.last && other.last->end > idle.start;
          });
          split.queued(*device.last, *handover, other_gpu);
        } else {
          gap.thread = handover->thread;
          const std::vector<Handover>& given = handovers.at({next.process, next.device});
          auto at = std::lower_bound(given.begin(), given.end(), handover->call.start,
                                     [](const Handover& a, std::uint64_t time) { return a.call.start < time; });
          split.host_bound(*handover, at == given.begin() ? nullptr : &*std::prev(at), device.delay);
        }
        gaps.push_back(std::move(gap));
      }
    }
    if (next.end > until || device.last == nullptr) device.last = &next;
  }
  return gaps;
}

}  // namespace roofline
