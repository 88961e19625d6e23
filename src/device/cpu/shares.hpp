// Work that is dealt out in equal shares, and taken over by whoever is done with its own: a worker whose core is slow,
// or lent to somebody else for a while, costs all of them its share of the time instead of its whole.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace roofline {

/// The range of worker `worker` of `workers` in [0, count), borders at multiples of `grain`.
std::pair<std::int64_t, std::int64_t> share_of(std::int64_t count, std::int64_t grain, int worker, int workers);

/// Cuts [begin, end) where rows of `width` end, and calls work(row, first, last) for each part: where it lies in its
/// row.
template <typename Work>
void for_rows(std::int64_t begin, std::int64_t end, std::int64_t width, Work&& work) {
  while (begin < end) {
    const std::int64_t row = begin / width;
    const std::int64_t last = std::min(end, (row + 1) * width);
    work(row, begin - row * width, last - row * width);
    begin = last;
  }
}

/// Everybody begins with the same share each time, so that it stays where that worker's caches and memory are.
class Shares {
 public:
  explicit Shares(int workers);

  /// Deals out [0, count), at most 2^48 - 1, anew: shares as share_of() has them. Called by one thread, before the
  /// region in which they are taken. Nobody takes less than `least` at a time, but for the end of a share.
  void deal(std::int64_t count, std::int64_t grain, std::int64_t least);

  /// The next piece for a worker: of its own share, a sixteenth of it at a time, then of the one that has most left.
  /// Borders are multiples of `grain`, or `count`; empty when nothing is left.
  std::pair<std::int64_t, std::int64_t> take(int worker);

  /// Calls work(begin, end) for every piece that a worker gets, until nothing is left.
  template <typename Work>
  void take_all(int worker, Work&& work) {
    for (auto piece = take(worker); piece.first != piece.second; piece = take(worker)) work(piece.first, piece.second);
  }

 private:
  /// What has been taken of a share, in grains, with the deal that it belongs to in the upper bits: shares need not be
  /// set back, and can be taken over from a worker that has not woken up.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> taken{0};
  };

  int workers() const { return static_cast<int>(shares_.size()); }
  std::pair<std::int64_t, std::int64_t> share(int worker) const { return share_of(grains_, 1, worker, workers()); }
  std::int64_t taken(std::uint64_t state) const;
  std::int64_t left(int worker) const;
  /// Takes piece(grains left) grains of a share, if there are any.
  template <typename Piece>
  std::pair<std::int64_t, std::int64_t> take_of(int worker, Piece piece);

  std::vector<Share> shares_;
  std::uint64_t deal_ = 0;
  std::int64_t count_ = 0, grain_ = 1, grains_ = 0, least_ = 1;
};

}  // namespace roofline
