#include "profile/host_sums.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "profile/host_moments.hpp"
#include "profile/idle/stack_frames.hpp"
#include "profile/intervals.hpp"
#include "sample/kernel_frame.hpp"

namespace roofline {
namespace {

/// How many entries of each list a report keeps.
constexpr std::size_t kMostLines = 500, kMostFunctions = 500, kMostThreads = 1000, kMostProcesses = 1000;
constexpr std::size_t kMostStacks = 4000;

const HostFrame kUnknownPlace = {.function = "[unknown]", .file = {}, .line = 0, .python = false, .own = false};

class HostSums {
 public:
  explicit HostSums(const HostSamples& samples) : samples_(samples) {
    for (const std::vector<int>& stack : samples.stacks) charged_.push_back(charged_frame(samples, stack));
    for (int i = 0; i < static_cast<int>(samples.stacks.size()); ++i) {
      const StackView frames(samples, i);
      awaits_work_.push_back(frames.awaits_team() || frames.awaits_backward());
    }
  }

  HostProfile profile() {
    HostProfile host;
    host.wall_s = seconds(samples_.end - samples_.start);
    host.rate_hz = samples_.rate_hz;
    host.cost_s = samples_.cost_s;
    host.usage = samples_.usage;
    host.samples = static_cast<std::int64_t>(samples_.samples.size());
    host.why_none = samples_.why_none;
    host.why_no_native = samples_.why_no_native;
    for (const HostSample& sample : samples_.samples) add(host, sample);
    host.thread_count = static_cast<std::int64_t>(threads_.size());
    const std::map<int, int> line_index = put_lines(host);
    put_functions(host);
    const std::map<int, int> thread_index = put_threads(host, line_index);
    put_processes(host);
    put_stacks(host, thread_index);
    host.alone = host_alone(samples_, charged_, host.lines, line_index);
    host.idle = host_idle(samples_, charged_, line_index);
    return host;
  }

 private:
  using ByPlace = std::map<int, double>;  ///< seconds by the frame that they are charged to; -1: unknown
  struct OfThread {
    HostTimes times;
    ByPlace on_cpu, off_cpu;
  };

  /// Threads of a pool that have nothing to do sleep on a futex, as those do that wait for a lock.
  ThreadState state_of(const HostSample& sample) const {
    const bool idle =
        sample.state == ThreadState::lock && sample.stack >= 0 && awaits_work_[static_cast<std::size_t>(sample.stack)];
    return idle ? ThreadState::other : sample.state;
  }

  void add(HostProfile& host, const HostSample& sample) {
    const double seconds = sample.seconds;
    const ThreadState state = state_of(sample);
    const int place = sample.stack < 0 ? -1 : charged_[static_cast<std::size_t>(sample.stack)];
    host.times.of(state) += seconds;
    lines_[place].of(state) += seconds;
    OfThread& thread = threads_[sample.thread];
    thread.times.of(state) += seconds;
    (state == ThreadState::running ? thread.on_cpu : thread.off_cpu)[place] += seconds;
    stacks_[{sample.thread, sample.stack, state}] += seconds;
    stack_times_[sample.stack].of(state) += seconds;
  }

  const HostFrame& frame(int index) const {
    return index < 0 ? kUnknownPlace : samples_.frames[static_cast<std::size_t>(index)];
  }

  /// Indices into the list by the frame that is charged.
  std::map<int, int> put_lines(HostProfile& host) const {
    std::vector<std::pair<int, HostTimes>> sorted(lines_.begin(), lines_.end());
    sort_by_time(sorted, [](const auto& entry) -> const HostTimes& { return entry.second; });
    std::map<int, int> index;
    for (const auto& [place, times] : sorted) {
      if (host.lines.size() == kMostLines) break;
      index[place] = static_cast<int>(host.lines.size());
      host.lines.push_back({frame(place), times, {}});
    }
    return index;
  }

  void put_functions(HostProfile& host) const {
    using Name = std::tuple<std::string_view, std::string_view, bool>;
    std::map<Name, HostFunctionSum> functions;
    std::vector<HostFunctionSum*> known(samples_.frames.size() + 1, nullptr);  // by frame + 1: -1 is not known
    const auto sum_of = [&](int index) -> HostFunctionSum& {
      HostFunctionSum*& sum = known[static_cast<std::size_t>(index) + 1];
      if (sum != nullptr) return *sum;
      const HostFrame& one = frame(index);
      sum = &functions[{one.function, one.file, one.python}];
      sum->place = one;
      sum->place.line = 0;
      return *sum;
    };
    for (const auto& [stack, times] : stack_times_) {
      static const std::vector<int> none = {-1};
      const std::vector<int>& frames = stack < 0 ? none : samples_.stacks[static_cast<std::size_t>(stack)];
      HostFunctionSum& self = sum_of(frames.front());
      for (const ThreadState state : kThreadStates) self.times.of(state) += times.of(state);
      std::set<const HostFunctionSum*> seen;  // recursion counts once
      for (const int index : frames) {
        HostFunctionSum& sum = sum_of(index);
        if (seen.insert(&sum).second) sum.inclusive_cpu_s += times.on_cpu();
      }
    }
    for (auto& [name, sum] : functions) host.functions.push_back(std::move(sum));
    std::ranges::stable_sort(host.functions, [](const HostFunctionSum& a, const HostFunctionSum& b) {
      return std::pair(a.times.on_cpu(), a.inclusive_cpu_s) > std::pair(b.times.on_cpu(), b.inclusive_cpu_s);
    });
    host.functions.resize(std::min(host.functions.size(), kMostFunctions));
  }

  std::map<int, int> put_threads(HostProfile& host, const std::map<int, int>& lines) const {
    std::vector<std::pair<int, const OfThread*>> sorted;
    for (const auto& [thread, sums] : threads_) sorted.emplace_back(thread, &sums);
    sort_by_time(sorted, [](const auto& entry) -> const HostTimes& { return entry.second->times; });
    std::map<int, int> index;
    for (const auto& [thread, sums] : sorted) {
      if (host.threads.size() == kMostThreads) break;
      index[thread] = static_cast<int>(host.threads.size());
      HostThreadSum sum = {.thread = samples_.threads[static_cast<std::size_t>(thread)], .times = sums->times};
      std::tie(sum.hottest_line, sum.hottest_s) = largest(sums->on_cpu, lines);
      std::tie(sum.longest_wait, sum.longest_wait_s) = largest(sums->off_cpu, lines);
      host.threads.push_back(std::move(sum));
    }
    return index;
  }

  /// The known place with the most time, as an index of the report's lines.
  static std::pair<int, double> largest(const ByPlace& places, const std::map<int, int>& lines) {
    std::pair<int, double> found = {-1, 0};
    for (const auto& [place, seconds] : places) {
      const auto line = lines.find(place);
      if (place >= 0 && line != lines.end() && seconds > found.second) found = {line->second, seconds};
    }
    return found;
  }

  void put_processes(HostProfile& host) const {
    std::map<std::int64_t, HostProcessSum> processes;
    for (const auto& [index, sums] : threads_) {
      const HostThread& thread = samples_.threads[static_cast<std::size_t>(index)];
      HostProcessSum& process = processes[thread.pid];
      process.pid = thread.pid;
      process.parent = thread.parent;
      process.command = thread.command;
      ++process.threads;
      for (const ThreadState state : kThreadStates) process.times.of(state) += sums.times.of(state);
    }
    for (auto& [pid, process] : processes) host.processes.push_back(std::move(process));
    host.process_count = static_cast<std::int64_t>(host.processes.size());
    sort_by_time(host.processes, [](const HostProcessSum& process) -> const HostTimes& { return process.times; });
    host.processes.resize(std::min(host.processes.size(), kMostProcesses));
  }

  void put_stacks(HostProfile& host, const std::map<int, int>& threads) const {
    std::vector<std::pair<double, std::tuple<int, int, ThreadState>>> sorted;
    for (const auto& [key, seconds] : stacks_) {
      if (threads.contains(std::get<0>(key))) sorted.emplace_back(seconds, key);
    }
    std::ranges::sort(sorted, std::greater());
    sorted.resize(std::min(sorted.size(), kMostStacks));
    std::map<int, int> frames;
    for (const auto& [seconds, key] : sorted) {
      const auto& [thread, stack, state] = key;
      HostStackSum sum = {.thread = threads.at(thread), .frames = {}, .state = state, .seconds = seconds};
      static const std::vector<int> none;
      const std::vector<int>& own = stack < 0 ? none : samples_.stacks[static_cast<std::size_t>(stack)];
      for (auto index = own.rbegin(); index != own.rend(); ++index) {
        const auto [place, is_new] = frames.try_emplace(*index, static_cast<int>(host.frames.size()));
        if (is_new) host.frames.push_back(frame(*index));
        sum.frames.push_back(place->second);
      }
      host.stacks.push_back(std::move(sum));
    }
  }

  /// Busy threads with their places, by the time of the samples: threads are sampled together.
  struct Moment {
    std::map<int, int> place_of;  ///< by thread; -1: unknown
    double seconds = 0;
  };

  void put_alone(HostProfile& host, const std::map<int, int>& lines) const {
    std::map<std::uint64_t, Moment> moments;
    for (const HostSample& sample : samples_.samples) {
      if (sample.state != ThreadState::running && sample.state != ThreadState::runnable) continue;
      Moment& moment = moments[sample.time];
      const int place = sample.stack < 0 ? -1 : charged_[static_cast<std::size_t>(sample.stack)];
      moment.place_of[sample.thread] = place;
      moment.seconds = std::max(moment.seconds, static_cast<double>(sample.seconds));
    }
    constexpr double kOften = 0.05;
    std::map<std::size_t, double> by_threads;
    ByPlace alone;
    std::map<std::string_view, double> together;  // by function
    double busy_s = 0;
    for (const auto& [time, moment] : moments) {
      by_threads[moment.place_of.size()] += moment.seconds;
      busy_s += moment.seconds;
      for (const auto& [thread, place] : moment.place_of) {
        if (moment.place_of.size() == 1)
          alone[place] += moment.seconds;
        else
          together[frame(place).function] += moment.seconds;
      }
    }
    double at_least = 0;
    for (auto entry = by_threads.rbegin(); entry != by_threads.rend(); ++entry) {
      at_least += entry->second;
      if (at_least < kOften * busy_s) continue;
      host.alone.at_once = static_cast<std::int64_t>(entry->first);
      break;
    }
    host.alone.seconds = by_threads[1];
    std::tie(host.alone.line, std::ignore) = largest(alone, lines);
    if (host.alone.line < 0) return;
    const std::string& function = host.lines[static_cast<std::size_t>(host.alone.line)].place.function;
    for (const auto& [place, seconds] : alone) host.alone.line_s += frame(place).function == function ? seconds : 0;
    host.alone.others_s = together[function];
  }

  /// On a CPU first, then by all of the time.
  template <typename Entries, typename Times>
  static void sort_by_time(Entries& entries, const Times& times_of) {
    std::ranges::stable_sort(entries, [&](const auto& a, const auto& b) {
      const HostTimes &left = times_of(a), &right = times_of(b);
      return std::pair(left.on_cpu(), left.total()) > std::pair(right.on_cpu(), right.total());
    });
  }

  const HostSamples& samples_;
  std::vector<int> charged_;       ///< by stack
  std::vector<bool> awaits_work_;  ///< by stack: of a pool's thread between two tasks, or of who waits for that pool
  std::map<int, HostTimes> lines_;
  std::map<int, OfThread> threads_;
  std::map<int, HostTimes> stack_times_;
  std::map<std::tuple<int, int, ThreadState>, double> stacks_;
};

}  // namespace

int charged_frame(const HostSamples& samples, const std::vector<int>& stack) {
  const auto frame = [&](int index) -> const HostFrame& { return samples.frames[static_cast<std::size_t>(index)]; };
  const auto with_line =
      std::ranges::find_if(stack, [&](int index) { return frame(index).own && frame(index).line > 0; });
  if (with_line != stack.end()) return *with_line;
  const auto own = std::ranges::find_if(stack, [&](int index) { return frame(index).own; });
  if (own != stack.end()) return *own;
  const bool kernel = stack.size() > 1 && is_kernel(frame(stack.front()));
  return stack.empty() ? -1 : stack[kernel ? 1 : 0];
}

HostSamples cut(HostSamples samples, std::uint64_t start, std::uint64_t end) {
  std::erase_if(samples.samples, [&](const HostSample& sample) { return sample.time < start || sample.time > end; });
  std::erase_if(samples.code.samples,
                [&](const CodeSample& sample) { return sample.time < start || sample.time > end; });
  samples.start = std::clamp(samples.start, std::min(start, end), end);
  samples.end = std::clamp(samples.end, samples.start, end);
  return samples;
}

HostSamples after_warmup(HostSamples samples, double warmup_s, std::uint64_t start, std::uint64_t end) {
  const bool had_samples = !samples.samples.empty();
  HostSamples rest = cut(std::move(samples), start + static_cast<std::uint64_t>(warmup_s * 1e9), end);
  if (had_samples && rest.samples.empty()) rest.why_none = "the program ended before --warmup had passed";
  return rest;
}

HostProfile host_profile(const HostSamples& samples) { return HostSums(samples).profile(); }

}  // namespace roofline
