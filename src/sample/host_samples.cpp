#include "sample/host_samples.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace roofline {
namespace {

struct StateNames {
  std::string_view id, text;
};
constexpr std::array<StateNames, kThreadStates.size()> kStateNames = {{{"running", "running"},
                                                                       {"runnable", "waits for a CPU"},
                                                                       {"gil", "waits for the GIL"},
                                                                       {"lock", "waits for a lock"},
                                                                       {"read", "waits for a pipe"},
                                                                       {"network", "waits for a socket"},
                                                                       {"request", "waits for requests"},
                                                                       {"poll", "polls"},
                                                                       {"disk", "waits for a disk"},
                                                                       {"sleep", "sleeps"},
                                                                       {"child", "waits for a process"},
                                                                       {"gpu", "waits for the GPU"},
                                                                       {"other", "waits"}}};

}  // namespace

std::string_view to_string(ThreadState state) { return kStateNames[static_cast<std::size_t>(state)].text; }
std::string_view id_of(ThreadState state) { return kStateNames[static_cast<std::size_t>(state)].id; }

std::optional<ThreadState> parse_thread_state(std::string_view id) {
  for (const ThreadState state : kThreadStates) {
    if (id_of(state) == id) return state;
  }
  return std::nullopt;
}

void append(HostSamples& to, HostSamples from) {
  const auto stacks = static_cast<int>(to.stacks.size()), threads = static_cast<int>(to.threads.size());
  const auto moved = [](int index, int by) { return index < 0 ? index : index + by; };
  // Places that both have are one.
  const auto key_of = [](const HostFrame& frame) {
    return std::tuple(frame.function, frame.file, frame.line, frame.python, frame.own);
  };
  std::map<std::tuple<std::string, std::string, int, bool, bool>, int> known;
  for (std::size_t i = 0; i < to.frames.size(); ++i) known.try_emplace(key_of(to.frames[i]), static_cast<int>(i));
  std::vector<int> frames;
  for (HostFrame& frame : from.frames) {
    const auto [place, is_new] = known.try_emplace(key_of(frame), static_cast<int>(to.frames.size()));
    if (is_new) to.frames.push_back(std::move(frame));
    frames.push_back(place->second);
  }
  for (std::vector<int>& stack : from.stacks) {
    for (int& frame : stack) frame = frames[static_cast<std::size_t>(frame)];
    to.stacks.push_back(std::move(stack));
  }
  for (HostThread& thread : from.threads) to.threads.push_back(std::move(thread));
  to.usage.user_s += from.usage.user_s;
  to.usage.system_s += from.usage.system_s;
  to.usage.page_faults += from.usage.page_faults;
  to.usage.sleeps += from.usage.sleeps;
  for (HostSample sample : from.samples) {
    sample.thread += threads;
    sample.stack = moved(sample.stack, stacks);
    sample.gil_holder = moved(sample.gil_holder, threads);
    to.samples.push_back(sample);
  }
  for (HostMemoryRise rise : from.rises) {
    rise.thread += threads;
    rise.stack = moved(rise.stack, stacks);
    to.rises.push_back(rise);
  }
  to.memory.insert(to.memory.end(), from.memory.begin(), from.memory.end());
  const auto by_time = [](const auto& a, const auto& b) { return a.time < b.time; };
  std::ranges::stable_sort(to.samples, by_time);
  std::ranges::stable_sort(to.memory, by_time);
  std::ranges::stable_sort(to.rises, by_time);
  to.cost_s += from.cost_s;
  to.start = std::min(to.start, from.start);
  to.end = std::max(to.end, from.end);
  if (to.why_no_native.empty()) to.why_no_native = from.why_no_native;
}

}  // namespace roofline
