// Work stealing over a range: each worker starts on its own static range of chunks, and workers that finish early steal
// from the others. A slow or preempted core then costs the region its share of the throughput, not its whole range at
// the end.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace roofline {

/// The range of worker `worker` of `workers` in [0, count) under a static schedule; bounds are multiples of `grain`.
std::pair<std::int64_t, std::int64_t> static_partition(std::int64_t count, std::int64_t grain, int worker, int workers);

/// Splits [begin, end) at multiples of `width` and calls work(row, first, last) for each part, with `first` and `last`
/// relative to the start of the row.
template <typename Work>
void for_rows(std::int64_t begin, std::int64_t end, std::int64_t width, Work&& work) {
  while (begin < end) {
    const std::int64_t row = begin / width;
    const std::int64_t last = std::min(end, (row + 1) * width);
    work(row, begin - row * width, last - row * width);
    begin = last;
  }
}

/// Every reset gives a worker the same range again, so that its data stays in that worker's caches and NUMA node.
class WorkQueue {
 public:
  explicit WorkQueue(int workers);

  /// Fills the queue with [0, count), at most 2^48 - 1, partitioned as by static_partition(). Called by one thread,
  /// before the region that pops. Chunks have `min_chunk` elements or more, except at the end of a worker's range.
  void reset(std::int64_t count, std::int64_t grain, std::int64_t min_chunk);

  /// The next chunk for a worker: a sixteenth of its own range, or, if that is empty, stolen from the worker with the
  /// most left. Bounds are multiples of `grain`, or `count`; empty if no worker has any left.
  std::pair<std::int64_t, std::int64_t> pop(int worker);

  /// Calls work(begin, end) for each chunk that the worker pops, until the queue is empty.
  template <typename Work>
  void drain(int worker, Work&& work) {
    for (auto chunk = pop(worker); chunk.first != chunk.second; chunk = pop(worker)) work(chunk.first, chunk.second);
  }

 private:
  /// Grains popped from a worker's range, with the generation (the reset) in the upper bits: a reset need not write all
  /// counters, and a range can be stolen from a worker that has not woken up yet.
  struct alignas(64) Range {
    std::atomic<std::uint64_t> popped{0};
  };

  int workers() const { return static_cast<int>(ranges_.size()); }
  std::pair<std::int64_t, std::int64_t> range(int worker) const {
    return static_partition(grains_, 1, worker, workers());
  }
  std::int64_t popped(std::uint64_t state) const;
  std::int64_t left(int worker) const;
  /// Pops size(grains left) grains of a worker's range; empty when the range is.
  template <typename Size>
  std::pair<std::int64_t, std::int64_t> pop_from(int worker, Size size);
  std::pair<std::int64_t, std::int64_t> steal();

  std::vector<Range> ranges_;
  std::uint64_t generation_ = 0;
  std::int64_t count_ = 0, grain_ = 1, grains_ = 0, min_chunk_ = 1;
};

}  // namespace roofline
