// Thread samples by thread and time, and the reason why the thread did not launch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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

/// Properties of the activity that ends a gap, as far as the cause depends on them.
struct NextWork {
  bool input_copy = false;  ///< a copy from the host, of a size typical for inputs
  bool full_speed = false;  ///< launches follow each other so closely that the thread did little else
};

struct SampledCause {
  SavingCause cause = SavingCause::unknown_idle;
  HostPlace place;
  CauseDetail detail = CauseDetail::none;
};

/// Worker processes or threads that prepare inputs.
struct WorkerActivity {
  int workers = 0;
  double busy = 0;    ///< fraction of the time in which they prepare an item while the launching thread waits for one
  double on_cpu = 0;  ///< of the same time; includes `ready`
  double ready = 0;   ///< runnable, but no CPU was free
  HostPlace place;    ///< most frequent place; empty: not seen
  /// What workers that are started in the loop do before they deliver their first item; empty: none are.
  std::string beginnings;
};

/// A thread that runs while another one waits for a lock.
struct LockHolder {
  std::string thread;  ///< its name
  HostPlace place;     ///< most frequent place in the program
  double share = 0;    ///< fraction of the waits in which it is in that function
};

class ThreadSamples {
 public:
  ThreadSamples(const HostSamples& samples, const Recording& recording);

  bool empty() const { return samples_.samples.empty(); }
  std::uint64_t period() const { return period_; }  ///< ns between two samples of a thread
  /// True if autograd's anomaly mode is on.
  bool traces_anomalies() const { return traces_anomalies_; }
  /// Index of the thread; -1: never sampled.
  int thread(std::int64_t pid, std::int64_t tid) const;
  /// Samples of the thread within the time, in order; indices into HostSamples::samples.
  std::span<const int> within(int thread, const Span& time) const;

  /// Seconds that a sample represents within a time range that contains it.
  double weight(int index, const Span& time) const;
  const HostSample& sample(int index) const { return samples_.samples[static_cast<std::size_t>(index)]; }
  StackView stack(int index) const { return {samples_, sample(index).stack}; }
  SampledCause cause_of(int sample, const NextWork& next) const;
  /// True if the profiler was active in the sample's thread, or in the main thread while this one waited.
  bool is_profiler(int sample) const;
  /// True for PyTorch's threads of backward passes, which prepare no input data.
  bool is_autograd(int thread) const;
  /// Lines of the program ("train.py:10") at which most samples are in collectives of Python objects.
  std::set<std::string, std::less<>> lines_of_objects() const;
  /// Finds the lines of the program at which communicators are made, connected or destroyed in several of these steps
  /// (sorted, disjoint). cause_of() returns this cause at these lines only.
  void find_communicators(const std::vector<Span>& steps);
  /// Seconds of the samples at each of these lines ("train.py:10"): doing so, and all.
  const auto& communicator_lines() const { return communicator_lines_; }
  /// True for one of these lines at which the host mostly does so.
  bool is_of_communicators(std::string_view line) const;
  /// True for threads of a library that executes collectives of tensors in host memory.
  bool does_cpu_collectives(int thread) const;
  /// What another thread of the process runs while this one waits for a lock; std::nullopt if none runs most of that
  /// time, or it runs no code of the program.
  std::optional<LockHolder> lock_holder(int thread) const;
  /// Workers of the thread's process.
  const WorkerActivity& workers(int thread) const;
  const HostThread& about(int thread) const { return samples_.threads[static_cast<std::size_t>(thread)]; }

 private:
  double seconds_of(int index) const;
  /// The sample that represents that time, else the nearest within two periods; -1: none.
  int nearest(int thread, std::uint64_t time) const;
  /// A launching thread of the same process that runs while this one waits for a lock (autograd); -1: none.
  int running_for(int sample) const;
  /// Sample of the process's main thread at that time; -1: none.
  int main_beside(int sample) const;
  /// True if its thread is in a compiler, or has no program code while the main thread compiles.
  bool compiles(int sample) const;
  /// Place in the program's code: of its thread, or of the main thread if its thread has none.
  HostPlace place_in_program(int sample) const;
  bool awaits_queue(int sample) const;
  SampledCause wait_for_workers(int sample) const;
  SampledCause compilation(int sample) const;
  SampledCause ran(int sample, const NextWork& next) const;
  HostPlace holder_of_gil(int sample) const;
  /// Behind a line of the same function that reads an array back, or called from the first lines behind it.
  bool works_on_results(const HostPlace& place, const StackView& frames) const;
  void find_readbacks(const ProcessTrace& trace);
  bool descends(std::int64_t process, std::int64_t from) const;
  struct Worker {
    int thread = 0;
    bool feeds = false;  ///< by a thread that it starts with its first item
    Span life;
    std::uint64_t delivered = 0;  ///< time of the first item
  };
  void find_workers();
  /// Its first item as its own threads show it, at the latest its end.
  Worker worker_of(int thread) const;
  /// Waits that last because workers of that process, started in the loop, have not delivered an item yet.
  void find_beginnings(std::int64_t pid, std::vector<Worker> workers, const std::vector<int>& waits);
  std::string describe_beginnings(const std::vector<Worker>& workers) const;

  const HostSamples& samples_;
  bool traces_anomalies_ = false;
  std::uint64_t period_ = 0;
  std::vector<std::vector<int>> by_thread_;
  std::map<std::pair<std::int64_t, std::int64_t>, int> threads_;
  std::map<std::int64_t, std::int64_t> parents_;        ///< parent of each process
  std::map<std::int64_t, std::vector<int>> launching_;  ///< launching threads and the main thread, by process
  std::set<std::pair<std::string, int>> launching_lines_;
  struct FunctionLines {
    std::set<int> readbacks;  ///< of arrays
    std::set<int> work;       ///< launches and copies
  };
  std::map<std::pair<std::string, std::string>, FunctionLines> lines_;  ///< by file and function
  std::map<std::int64_t, WorkerActivity> workers_;                      ///< by process
  std::map<std::int64_t, std::vector<std::uint64_t>> launches_;         ///< their times, by process
  std::set<int> waits_for_beginning_;                                   ///< samples
  struct LineSeconds {
    double communicators = 0, all = 0;
  };
  std::map<std::string, LineSeconds, std::less<>> communicator_lines_;
};

}  // namespace roofline
