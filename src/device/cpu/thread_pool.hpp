// Worker threads pinned one to a core, for parallel regions with a dispatch cost of about a microsecond.
// The caller is worker 0. Not a task queue.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "device/cpu/work_queue.hpp"

namespace roofline {

class ThreadPool {
 public:
  /// One worker for each entry: the logical CPU that it is pinned to (negative: not pinned).
  explicit ThreadPool(const std::vector<int>& cpus);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const;

  /// Runs `work(worker)` on every worker and returns when all have finished. An exception thrown by a
  /// worker is rethrown here (the lowest worker's first). Throws Error when called from within a region.
  void run(const std::function<void(int worker)>& work);

  /// Splits [0, count) into one contiguous range for each worker, borders at multiples of `grain`, and
  /// runs `work(begin, end)` on those that are not empty: always the same worker on the same range.
  void for_range(std::int64_t count, std::int64_t grain,
                 const std::function<void(std::int64_t begin, std::int64_t end)>& work);

  /// The same ranges in chunks of `min_chunk` elements or more; workers that finish early steal chunks from the others.
  void for_chunks(std::int64_t count, std::int64_t grain, std::int64_t min_chunk,
                  const std::function<void(std::int64_t begin, std::int64_t end)>& work);

  /// Adds the CPU time of each worker in each region to `seconds`, one element per worker, until called with null.
  /// Costs two system calls per worker and region.
  void record_cpu_time(std::vector<double>* seconds);

  /// Pins the calling thread to worker 0's CPU for as long as it lives: while memory is first touched, and while
  /// launches are verified and timed. Not for longer, as threads that the caller starts inherit its pin.
  class PinnedCaller {
   public:
    explicit PinnedCaller(const ThreadPool& pool);
    ~PinnedCaller();
    PinnedCaller(const PinnedCaller&) = delete;
    PinnedCaller& operator=(const PinnedCaller&) = delete;

   private:
    struct Saved;
    std::unique_ptr<Saved> saved_;
    const ThreadPool& pool_;
  };

  /// Lets the calling thread run on the CPUs of all workers until the end of its PinnedCaller, so that threads which it
  /// starts may do so too. Nothing without a PinnedCaller. A system call the first time, nothing after that.
  void open_caller() const;

 private:
  /// run(), with something to be done first once no other region can start.
  template <typename Prepare>
  void run(const std::function<void(int worker)>& work, Prepare prepare);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace roofline
