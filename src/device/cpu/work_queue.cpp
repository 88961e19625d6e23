// Ranges are counters that only grow: owners and thieves both pop from the front.
#include "device/cpu/work_queue.hpp"

namespace roofline {
namespace {

constexpr int kPoppedBits = 48;
constexpr std::uint64_t kPopped = (std::uint64_t{1} << kPoppedBits) - 1;
constexpr std::int64_t kChunksPerRange = 16;  ///< a slow worker holds one of them when all others are done

std::int64_t in_units(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit; }

}  // namespace

std::pair<std::int64_t, std::int64_t> static_partition(std::int64_t count, std::int64_t grain, int worker,
                                                       int workers) {
  const std::int64_t step = std::max<std::int64_t>(grain, 1);
  const std::int64_t grains = in_units(count, step);
  const std::int64_t each = grains / workers;
  const std::int64_t more = grains % workers;  // the first `more` workers get one grain more
  const std::int64_t first = worker * each + std::min<std::int64_t>(worker, more);
  const std::int64_t last = first + each + (worker < more ? 1 : 0);
  return {std::min(first * step, count), std::min(last * step, count)};
}

WorkQueue::WorkQueue(int workers) : ranges_(static_cast<std::size_t>(workers)) {}

void WorkQueue::reset(std::int64_t count, std::int64_t grain, std::int64_t min_chunk) {
  if (++generation_ == std::uint64_t{1} << (64 - kPoppedBits)) {  // wraps: counters may still hold the old number
    for (Range& range : ranges_) range.popped.store(0, std::memory_order_relaxed);
    generation_ = 1;
  }
  count_ = count;
  grain_ = std::max<std::int64_t>(grain, 1);
  grains_ = in_units(count, grain_);
  min_chunk_ = std::max<std::int64_t>(in_units(min_chunk, grain_), 1);
}

std::int64_t WorkQueue::popped(std::uint64_t state) const {
  return state >> kPoppedBits == generation_ ? static_cast<std::int64_t>(state & kPopped) : 0;
}

std::int64_t WorkQueue::left(int worker) const {
  const auto [begin, end] = range(worker);
  return end - begin - popped(ranges_[static_cast<std::size_t>(worker)].popped.load(std::memory_order_relaxed));
}

template <typename Size>
std::pair<std::int64_t, std::int64_t> WorkQueue::pop_from(int worker, Size size) {
  const auto [begin, end] = range(worker);
  std::atomic<std::uint64_t>& counter = ranges_[static_cast<std::size_t>(worker)].popped;
  std::uint64_t state = counter.load(std::memory_order_relaxed);
  for (;;) {
    const std::int64_t first = begin + popped(state);
    if (first >= end) return {count_, count_};
    const std::int64_t last = std::min(end, first + std::max(min_chunk_, size(end - first)));
    const std::uint64_t after = generation_ << kPoppedBits | static_cast<std::uint64_t>(last - begin);
    if (counter.compare_exchange_weak(state, after, std::memory_order_relaxed)) {
      return {first * grain_, std::min(last * grain_, count_)};
    }
  }
}

std::pair<std::int64_t, std::int64_t> WorkQueue::steal() {
  for (;;) {
    int victim = 0;
    for (int other = 1; other < workers(); ++other) {
      if (left(other) > left(victim)) victim = other;
    }
    if (left(victim) <= 0) return {count_, count_};
    // All other workers may steal from the same range.
    const auto chunk = pop_from(victim, [&](std::int64_t left) { return left / workers(); });
    if (chunk.first != chunk.second) return chunk;
  }
}

std::pair<std::int64_t, std::int64_t> WorkQueue::pop(int worker) {
  const std::int64_t size = grains_ / workers() / kChunksPerRange;
  const auto chunk = pop_from(worker, [&](std::int64_t) { return size; });
  return chunk.first != chunk.second ? chunk : steal();
}

}  // namespace roofline
