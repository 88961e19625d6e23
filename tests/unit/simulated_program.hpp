// A host thread and a GPU in simulated time: a spool, samples of the host and the steps, whose causes are known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "host_samples_builder.hpp"
#include "profile/intervals.hpp"
#include "spool_builder.hpp"

namespace roofline {

class SimulatedProgram {
 public:
  static constexpr std::uint64_t kUs = 1000, kMs = 1000 * kUs;
  static constexpr std::uint64_t kLaunch = 4 * kUs;   ///< a call that launches
  static constexpr std::uint64_t kLatency = 2 * kUs;  ///< from the call's end to the kernel's start
  static constexpr std::uint32_t kPid = 100;

  SimulatedProgram() : main_(samples_.thread(kPid, 1, "python")) {}

  SpoolBuilder& spool() { return spool_; }
  HostSamplesBuilder& samples() { return samples_; }
  int main_thread() const { return main_; }
  std::uint64_t now() const { return now_; }

  spool::Id place(const std::string& file, std::uint32_t line, const std::string& function, bool backward = false,
                  const std::string& module = {}) {
    return spool_.place(
        {.line = spool_.line("/home/user/project/" + file, line, function), .module = module, .backward = backward});
  }

  /// The next activity of the GPU begins a step.
  void step() { begins_step_ = true; }

  std::uint64_t launch(spool::Id kind, std::uint64_t length, std::uint32_t stream = 7, std::uint32_t flags = 0) {
    const std::uint64_t call = now_;
    now_ += kLaunch;
    const std::uint64_t start = run(length);
    spool_.launch(kind, call, now_, start, start + length, flags, stream);
    return start;
  }

  struct Node {
    spool::Id kind = 0;
    std::uint64_t length = 0;
    std::uint32_t flags = 0;
  };
  /// One launch of a graph of these kernels.
  void graph(spool::Id kind, const std::vector<Node>& nodes) {
    const std::uint64_t call = now_;
    now_ += kLaunch;
    const std::uint32_t correlation = spool_.launch_graph(kind, call, now_);
    for (const Node& node : nodes) {
      const std::uint64_t start = run(node.length);
      spool_.kernel(node.kind, correlation, start, start + node.length, 1, 7, node.flags);
    }
  }

  /// The GPU's memory reaches the host: a copy and the wait for it.
  void item(spool::Id place, std::uint64_t bytes = 4) {
    const std::uint64_t call = now_;
    now_ += kLaunch;
    const std::uint64_t start = run(2 * kUs);
    spool_.copy(bytes, spool::Memory::device, spool::Memory::pageable, call, start, start + 2 * kUs, place);
    wait("cuStreamSynchronize", place);
  }

  /// From the host: asynchronous, or with a wait as frameworks do it.
  void copy_in(std::uint64_t bytes, spool::Memory from, std::uint64_t length, spool::Id place, bool waits,
               std::uint64_t digest = 0, std::uint32_t padding = 0) {
    const std::uint64_t call = now_;
    now_ += kLaunch;
    const std::uint64_t start = run(length);
    if (digest != 0) {
      spool_.copy_of(digest, bytes, from, call, start, start + length, place, padding);
    } else {
      spool_.copy(bytes, from, spool::Memory::device, call, start, start + length, place);
    }
    if (waits) wait("cuStreamSynchronize", place);
  }

  void fill(std::uint64_t bytes, std::uint64_t length) {
    const std::uint64_t call = now_;
    now_ += kLaunch;
    const std::uint64_t start = run(length);
    spool_.fill(bytes, call, start, start + length);
  }

  /// Until the GPU has ended.
  void wait(const std::string& call, spool::Id place) {
    const std::uint64_t start = now_;
    now_ = std::max(now_ + 2 * kUs, gpu_ + 5 * kUs);
    spool_.call(call, spool::CallKind::synchronise, start, now_, place);
    segments_.push_back({start, now_, ThreadState::gpu, -1});
  }

  void call(const std::string& name, spool::CallKind kind, std::uint64_t length, spool::Id place) {
    spool_.call(name, kind, now_, now_ + length, place);
    now_ += length;
  }

  /// The main thread does that.
  void host(std::uint64_t length, ThreadState state, int stack, int gil_holder = -1) {
    segments_.push_back({now_, now_ + length, state, stack, gil_holder});
    now_ += length;
  }
  /// Another thread did that all the time.
  void other(int thread, ThreadState state, int stack) { others_.push_back({thread, state, stack}); }

  /// Steps that have both ends.
  std::vector<Span> steps() const {
    std::vector<Span> spans;
    for (std::size_t i = 1; i < step_starts_.size(); ++i) spans.push_back({step_starts_[i - 1], step_starts_[i]});
    return spans;
  }

  /// Of all threads at the same moments.
  HostSamples take_samples(std::uint64_t period = 10 * kMs) {
    std::size_t segment = 0;
    for (std::uint64_t time = period / 3; time < now_; time += period) {
      while (segment < segments_.size() && segments_[segment].end <= time) ++segment;
      if (segment < segments_.size() && segments_[segment].start <= time) {
        const Segment& of = segments_[segment];
        samples_.sample(main_, time, of.state, of.stack, of.gil_holder);
      }
      for (const Other& other : others_) samples_.sample(other.thread, time, other.state, other.stack);
    }
    return samples_.take();
  }

  double gpu_idle_s(const std::vector<Span>& within) const {
    return seconds(total_length(uncovered(within, covered(busy_))));
  }

 private:
  struct Segment {
    std::uint64_t start, end;
    ThreadState state;
    int stack;
    int gil_holder = -1;
  };
  struct Other {
    int thread;
    ThreadState state;
    int stack;
  };

  std::uint64_t run(std::uint64_t length) {
    const std::uint64_t start = std::max(now_ + kLatency, gpu_ + kUs);
    gpu_ = start + length;
    busy_.push_back({start, gpu_});
    if (begins_step_) step_starts_.push_back(start);
    begins_step_ = false;
    return start;
  }

  SpoolBuilder spool_{kPid};
  HostSamplesBuilder samples_;
  int main_;
  std::uint64_t now_ = kMs, gpu_ = 0;
  bool begins_step_ = false;
  std::vector<std::uint64_t> step_starts_;
  std::vector<Segment> segments_;
  std::vector<Other> others_;
  std::vector<Span> busy_;
};

}  // namespace roofline
