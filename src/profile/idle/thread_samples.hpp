// Samples of a program's threads, found by thread and time, and what each says about why its thread did not launch.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profile/idle/stack_frames.hpp"
#include "profile/intervals.hpp"
#include "profile/recording.hpp"
#include "report/profile.hpp"
#include "sample/host_samples.hpp"

namespace roofline {

/// What ends an idle time, as far as its cause depends on it.
struct NextWork {
  bool input_copy = false;  ///< a copy from the host, of a size that inputs have
  bool full_speed = false;  ///< launches follow each other so closely that the thread did little else
};

struct SampledCause {
  SavingCause cause = SavingCause::unknown_idle;
  HostPlace place;
  CauseDetail detail = CauseDetail::none;
};

/// The processes or threads that make a program's inputs.
struct WorkerActivity {
  int workers = 0;
  double busy = 0;  ///< share of their time in which they make an item, while the launching thread waits for one
  double on_cpu = 0;
  HostPlace place;  ///< where they are most often; unknown: not seen
};

class ThreadSamples {
 public:
  ThreadSamples(const HostSamples& samples, const Recording& recording);

  bool empty() const { return samples_.samples.empty(); }
  std::uint64_t period() const { return period_; }  ///< ns between two samples of a thread
  /// Whether autograd's anomaly mode is on.
  bool traces_anomalies() const { return traces_anomalies_; }
  /// Index of the thread; -1: never sampled.
  int thread(std::int64_t pid, std::int64_t tid) const;
  /// Its samples within the time, in order; indices into HostSamples::samples.
  std::span<const int> within(int thread, const Span& time) const;

  /// Seconds that a sample stands for within a time that it was taken in.
  double weight(int index, const Span& time) const;
  const HostSample& sample(int index) const { return samples_.samples[static_cast<std::size_t>(index)]; }
  StackView stack(int index) const { return {samples_, sample(index).stack}; }
  SampledCause cause_of(int sample, const NextWork& next) const;
  /// Whether the profiler was at work in its thread, or in the main one while this one waited.
  bool is_profiler(int sample) const;
  /// Whether it is a thread of a library that does collectives of tensors in host memory.
  bool does_cpu_collectives(int thread) const;
  /// Of the process of that thread.
  const WorkerActivity& workers(int thread) const;
  const HostThread& about(int thread) const { return samples_.threads[static_cast<std::size_t>(thread)]; }

 private:
  double seconds_of(int index) const;
  /// The sample of a thread that stands for that moment, else the next to it, at most two periods away; -1: none.
  int nearest(int thread, std::uint64_t time) const;
  /// A thread that launches work of the same process and runs while this one waits for a lock: autograd's; -1: none.
  int running_for(int sample) const;
  /// Of the main thread of its process at that moment; -1: none.
  int main_beside(int sample) const;
  /// Its thread is in a compiler, or has no code of the program and the main thread is.
  bool compiles(int sample) const;
  /// In the program's code: its own place, or that of the main thread where its thread has none.
  HostPlace place_in_program(int sample) const;
  bool awaits_queue(int sample) const;
  SampledCause wait_for_workers(int sample) const;
  SampledCause compilation(int sample) const;
  SampledCause ran(int sample, const NextWork& next) const;
  HostPlace holder_of_gil(int sample) const;
  bool descends(std::int64_t process, std::int64_t from) const;
  void find_workers();

  const HostSamples& samples_;
  bool traces_anomalies_ = false;
  std::uint64_t period_ = 0;
  std::vector<std::vector<int>> by_thread_;
  std::map<std::pair<std::int64_t, std::int64_t>, int> threads_;
  std::map<std::int64_t, std::int64_t> parents_;        ///< of processes
  std::map<std::int64_t, std::vector<int>> launching_;  ///< threads that launch, and the main one, by process
  std::set<std::pair<std::string, int>> launching_lines_;
  std::map<std::int64_t, WorkerActivity> workers_;  ///< by process
};

}  // namespace roofline
