#include "profile/host_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "profile/host_sums.hpp"
#include "profile/idle/stack_frames.hpp"
#include "profile/memory_curve.hpp"
#include "profile/memory_growth.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostHostMemories = 8, kMostRisingLines = 8;
/// Less than that may be the interpreter's, a cache's or the profiler's.
constexpr double kLeastHostGrowth = 200e6;
/// Share of a process without steps, from its start, in which it loads.
constexpr double kPartOfStartUp = 0.25;
/// Per traced kernel, at most: CUPTI 13 on an H200 kept 305 for a kernel in a graph.
constexpr double kBytesOfRecord = 400;

class MemoryOfProcess {
 public:
  MemoryOfProcess(const HostSamples& samples, const ProgramClock& clock, const SteadySpan& steady, std::int64_t pid)
      : samples_(samples), clock_(clock), steady_(steady.span), step_s_(steady.step_s) {
    memory_.pid = pid;
    if (const auto traced = steady.traced.find(pid); traced != steady.traced.end())
      trace_bytes_ = kBytesOfRecord * static_cast<double>(traced->second);
    memory_.capacity = static_cast<double>(samples.memory_bytes);
    for (const HostThread& thread : samples.threads) {
      if (thread.pid == pid && memory_.command.empty()) memory_.command = thread.command;
    }
  }

  void add(const HostMemorySample& sample) {
    const auto resident = static_cast<double>(sample.resident);
    const double own = resident - static_cast<double>(std::min(sample.shared, sample.resident));
    memory_.peak = std::max(memory_.peak, resident);
    memory_.curve.push_back({clock_.wall_s(sample.time), own, resident});
    own_.push_back({clock_.own_s(sample.time), own});
  }

  HostMemory take() {
    find_growth();
    memory_.curve = thinned(memory_.curve);
    return std::move(memory_);
  }

 private:
  void find_growth() {
    if (own_.empty()) return;
    // A process that ends gives its memory back.
    std::size_t last = own_.size() - 1;
    while (last > 0 && own_[last].bytes < own_[last - 1].bytes) --last;
    double begin_s = own_.front().time_s, end_s = own_[last].time_s;
    begin_s += kPartOfStartUp * (end_s - begin_s);
    if (steady_) {
      begin_s = std::max(own_.front().time_s, clock_.own_s(steady_->start));
      end_s = std::min(end_s, clock_.own_s(steady_->end));
    }
    const auto trend = growth_of(own_, begin_s, end_s, step_s_);
    if (!trend || !(trend->bytes_per_s > 0)) return;
    if (trend->bytes - trace_bytes_ - code_bytes(begin_s, end_s) < kLeastHostGrowth) return;
    MemoryGrowth growth = {.bytes = trend->bytes, .seconds = trend->seconds, .bytes_per_s = trend->bytes_per_s};
    if (step_s_ > 0) growth.bytes_per_step = trend->bytes_per_s * step_s_;
    if (memory_.capacity > 0) {
      const double left = std::max(0.0, memory_.capacity - memory_.peak);
      growth.seconds_until_full = left / trend->bytes_per_s;
      if (step_s_ > 0) growth.steps_until_full = *growth.seconds_until_full / step_s_;
    }
    growth.kept = rising_lines(begin_s, end_s, trend->bytes / std::max(1e-9, trend->bytes_per_s));
    memory_.growth = std::move(growth);
  }

  template <typename Use>
  void for_rises(double begin_s, double end_s, Use&& use) const {
    for (const HostMemoryRise& rise : samples_.rises) {
      const double time_s = clock_.own_s(rise.time);
      if (samples_.threads[static_cast<std::size_t>(rise.thread)].pid != memory_.pid) continue;
      if (time_s >= begin_s && time_s <= end_s) use(rise);
    }
  }

  /// What compilers, and the GPU's libraries on their own account, took: code of kernels, which a program has enough of
  /// once it has run with all its shapes.
  double code_bytes(double begin_s, double end_s) const {
    double bytes = 0;
    for_rises(begin_s, end_s, [&](const HostMemoryRise& rise) {
      const StackView stack(samples_, rise.stack);
      const bool of_library = !stack.in_program() && stack.in_gpu_library();
      if (stack.compiles() || of_library) bytes += static_cast<double>(rise.bytes);
    });
    return bytes;
  }

  /// Lines at which memory became more than ever before; bytes of a step where there are steps.
  std::vector<MemoryHolder> rising_lines(double begin_s, double end_s, double grown_s) const {
    std::map<int, MemoryHolder> by_frame;
    for_rises(begin_s, end_s, [&](const HostMemoryRise& rise) {
      const int frame = charged_frame(samples_, samples_.stacks[static_cast<std::size_t>(rise.stack)]);
      if (frame < 0) return;
      MemoryHolder& holder = by_frame[frame];
      holder.line = place_text(samples_.frames[static_cast<std::size_t>(frame)]);
      ++holder.blocks;
      holder.bytes += static_cast<double>(rise.bytes);
    });
    std::vector<MemoryHolder> holders;
    for (auto& [frame, holder] : by_frame) {
      if (step_s_ > 0) holder.bytes *= step_s_ / std::max(grown_s, step_s_);
      holders.push_back(std::move(holder));
    }
    std::stable_sort(holders.begin(), holders.end(),
                     [](const MemoryHolder& a, const MemoryHolder& b) { return a.bytes > b.bytes; });
    if (holders.size() > kMostRisingLines) holders.resize(kMostRisingLines);
    return holders;
  }

  const HostSamples& samples_;
  const ProgramClock& clock_;
  std::optional<Span> steady_;
  double step_s_;
  double trace_bytes_ = 0;  ///< that the records of the trace may take
  std::vector<LeastMemory> own_;
  HostMemory memory_;
};

}  // namespace

std::vector<HostMemory> host_memory(const HostSamples& samples, const ProgramClock& clock, const SteadySpan& steady) {
  std::map<std::int64_t, MemoryOfProcess> processes;
  for (const HostMemorySample& sample : samples.memory) {
    processes.try_emplace(sample.pid, samples, clock, steady, sample.pid).first->second.add(sample);
  }
  std::vector<HostMemory> all;
  all.reserve(processes.size());
  for (auto& [pid, process] : processes) all.push_back(process.take());
  std::stable_sort(all.begin(), all.end(), [](const HostMemory& a, const HostMemory& b) { return a.peak > b.peak; });
  if (all.size() > kMostHostMemories) all.resize(kMostHostMemories);
  return all;
}

}  // namespace roofline
