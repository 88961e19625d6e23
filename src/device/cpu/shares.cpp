// Shares are counters that only grow: owners and those who help them take from the front alike.
#include "device/cpu/shares.hpp"

namespace roofline {
namespace {

constexpr int kTakenBits = 48;
constexpr std::uint64_t kTaken = (std::uint64_t{1} << kTakenBits) - 1;
constexpr std::int64_t kPieces = 16;  ///< of a share: one is with a slow worker when all others are done

std::int64_t in_units(std::int64_t count, std::int64_t unit) { return (count + unit - 1) / unit; }

}  // namespace

std::pair<std::int64_t, std::int64_t> share_of(std::int64_t count, std::int64_t grain, int worker, int workers) {
  const std::int64_t step = std::max<std::int64_t>(grain, 1);
  const std::int64_t grains = in_units(count, step);
  const std::int64_t each = grains / workers;
  const std::int64_t more = grains % workers;  // the first `more` workers take one grain more
  const std::int64_t first = worker * each + std::min<std::int64_t>(worker, more);
  const std::int64_t last = first + each + (worker < more ? 1 : 0);
  return {std::min(first * step, count), std::min(last * step, count)};
}

Shares::Shares(int workers) : shares_(static_cast<std::size_t>(workers)) {}

void Shares::deal(std::int64_t count, std::int64_t grain, std::int64_t least) {
  if (++deal_ == std::uint64_t{1} << (64 - kTakenBits)) {  // its number was used before, and empty shares know it still
    for (Share& share : shares_) share.taken.store(0, std::memory_order_relaxed);
    deal_ = 1;
  }
  count_ = count;
  grain_ = std::max<std::int64_t>(grain, 1);
  grains_ = in_units(count, grain_);
  least_ = std::max<std::int64_t>(in_units(least, grain_), 1);
}

std::int64_t Shares::taken(std::uint64_t state) const {
  return state >> kTakenBits == deal_ ? static_cast<std::int64_t>(state & kTaken) : 0;
}

std::int64_t Shares::left(int worker) const {
  const auto [begin, end] = share(worker);
  return end - begin - taken(shares_[static_cast<std::size_t>(worker)].taken.load(std::memory_order_relaxed));
}

template <typename Piece>
std::pair<std::int64_t, std::int64_t> Shares::take_of(int worker, Piece piece) {
  const auto [begin, end] = share(worker);
  std::atomic<std::uint64_t>& counter = shares_[static_cast<std::size_t>(worker)].taken;
  std::uint64_t state = counter.load(std::memory_order_relaxed);
  for (;;) {
    const std::int64_t first = begin + taken(state);
    if (first >= end) return {count_, count_};
    const std::int64_t last = std::min(end, first + std::max(least_, piece(end - first)));
    const std::uint64_t after = deal_ << kTakenBits | static_cast<std::uint64_t>(last - begin);
    if (counter.compare_exchange_weak(state, after, std::memory_order_relaxed)) {
      return {first * grain_, std::min(last * grain_, count_)};
    }
  }
}

std::pair<std::int64_t, std::int64_t> Shares::take(int worker) {
  const std::int64_t sixteenth = grains_ / workers() / kPieces;
  auto piece = take_of(worker, [&](std::int64_t) { return sixteenth; });
  while (piece.first == piece.second) {
    int richest = 0;
    for (int other = 1; other < workers(); ++other) {
      if (left(other) > left(richest)) richest = other;
    }
    if (left(richest) <= 0) break;
    // All of the others may come to help.
    piece = take_of(richest, [&](std::int64_t left) { return left / workers(); });
  }
  return piece;
}

}  // namespace roofline
