#include "profile/host_moments.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "profile/idle/stack_frames.hpp"
#include "report/function_purpose.hpp"

namespace roofline {
namespace {

/// Seconds by the frame that they are charged to; -1: not known.
using ByPlace = std::map<int, double>;

bool is_ready(const HostSample& sample) { return on_cpu(sample.state); }

/// By stack: whether its thread waits for work or for the others of its team, even if it spins. Its own code comes
/// first where it runs in that.
std::vector<bool> stacks_that_wait(const HostSamples& samples) {
  std::vector<bool> waits(samples.stacks.size(), false), of_team;
  for (const HostFrame& frame : samples.frames) of_team.push_back(purpose_of(frame) == FunctionPurpose::team);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    for (const int index : samples.stacks[i]) {
      const HostFrame& frame = samples.frames[static_cast<std::size_t>(index)];
      if (frame.own) break;
      waits[i] = waits[i] || of_team[static_cast<std::size_t>(index)];
    }
  }
  return waits;
}

/// The threads with samples of one time: threads are sampled together.
struct Moment {
  std::map<int, int> busy;  ///< on a CPU or ready, and not waiting for a team: their places
  std::vector<const HostSample*> waiting;
  double seconds = 0;
  bool imports = false;  ///< a thread imports modules
};

std::map<std::uint64_t, Moment> moments_of(const HostSamples& samples, const std::vector<int>& charged) {
  const std::vector<bool> waits = stacks_that_wait(samples);
  std::vector<bool> imports(samples.stacks.size());
  for (std::size_t i = 0; i < imports.size(); ++i) imports[i] = StackView(samples, static_cast<int>(i)).imports();
  std::map<std::uint64_t, Moment> moments;
  for (const HostSample& sample : samples.samples) {
    Moment& moment = moments[sample.time];
    const auto stack = static_cast<std::size_t>(sample.stack);
    if (!is_ready(sample)) {
      moment.waiting.push_back(&sample);
    } else if (sample.stack < 0 || !waits[stack]) {
      moment.busy[sample.thread] = sample.stack < 0 ? -1 : charged[stack];
      moment.imports |= sample.stack >= 0 && imports[stack];
      moment.seconds = std::max(moment.seconds, static_cast<double>(sample.seconds));
    }
  }
  return moments;
}

/// The known place with the most time, as an index of the report's lines; -1: none.
int largest(const ByPlace& places, const std::map<int, int>& index_of) {
  int found = -1;
  double most = 0;
  for (const auto& [place, seconds] : places) {
    const auto line = index_of.find(place);
    if (place < 0 || line == index_of.end() || seconds <= most) continue;
    found = line->second;
    most = seconds;
  }
  return found;
}

/// What a thread waits for where the wait is known by itself. Locks and pipes are waits for something else that waits.
bool is_a_cause(ThreadState state) {
  return state == ThreadState::sleep || state == ThreadState::disk || state == ThreadState::network ||
         state == ThreadState::request;
}

}  // namespace

HostAlone host_alone(const HostSamples& samples, const std::vector<int>& charged, const std::vector<HostLineSum>& lines,
                     const std::map<int, int>& index_of) {
  HostAlone sums;
  constexpr double kOften = 0.05;
  std::map<std::size_t, double> by_threads;
  ByPlace alone;
  std::map<std::string_view, double> together;  // by function
  const auto function_of = [&](int place) -> std::string_view {
    return place < 0 ? std::string_view() : samples.frames[static_cast<std::size_t>(place)].function;
  };
  double busy_s = 0;
  for (const auto& [time, moment] : moments_of(samples, charged)) {
    if (moment.busy.empty()) continue;
    // The start of an interpreter can be divided among no threads.
    if (moment.busy.size() == 1 && moment.imports) continue;
    by_threads[moment.busy.size()] += moment.seconds;
    busy_s += moment.seconds;
    for (const auto& [thread, place] : moment.busy) {
      if (moment.busy.size() == 1) {
        alone[place] += moment.seconds;
      } else {
        together[function_of(place)] += moment.seconds;
      }
    }
  }
  double at_least = 0;
  for (auto entry = by_threads.rbegin(); entry != by_threads.rend(); ++entry) {
    at_least += entry->second;
    if (at_least < kOften * busy_s) continue;
    sums.at_once = static_cast<std::int64_t>(entry->first);
    break;
  }
  sums.seconds = by_threads[1];
  sums.line = largest(alone, index_of);
  if (sums.line < 0) return sums;
  const std::string& function = lines[static_cast<std::size_t>(sums.line)].place.function;
  for (const auto& [place, seconds] : alone) sums.line_s += function_of(place) == function ? seconds : 0;
  sums.others_s = together[function];
  return sums;
}

HostIdle host_idle(const HostSamples& samples, const std::vector<int>& charged, const std::map<int, int>& index_of) {
  std::array<ByPlace, kThreadStates.size()> waits;
  std::map<int, const HostSample*> last;  // the wait of each thread in the idle time that has not ended yet
  double idle_s = 0;
  std::uint64_t before = samples.start;
  HostIdle sums;
  for (const auto& [time, moment] : moments_of(samples, charged)) {
    for (const HostSample* sample : moment.waiting) last[sample->thread] = sample;
    if (moment.busy.empty()) {
      idle_s += static_cast<double>(time - before) * 1e-9;
    } else {
      // The thread that runs next is the one whose wait the others waited for.
      for (const auto& [thread, place] : moment.busy) {
        const auto wait = last.find(thread);
        if (wait == last.end() || idle_s <= 0) continue;
        const HostSample& sample = *wait->second;
        const int of = sample.stack < 0 ? -1 : charged[static_cast<std::size_t>(sample.stack)];
        waits.at(static_cast<std::size_t>(sample.state))[of] += idle_s / static_cast<double>(moment.busy.size());
      }
      sums.seconds += idle_s;
      idle_s = 0;
      last.clear();
    }
    before = time;
  }
  sums.seconds += idle_s;
  for (const ThreadState state : kThreadStates) {
    double seconds = 0;
    for (const auto& [place, of_place] : waits.at(static_cast<std::size_t>(state))) seconds += of_place;
    if (!is_a_cause(state) || seconds <= sums.state_s) continue;
    sums.state = state;
    sums.state_s = seconds;
    sums.line = largest(waits.at(static_cast<std::size_t>(state)), index_of);
  }
  return sums;
}

}  // namespace roofline
