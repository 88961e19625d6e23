// The core clock among a compute probe's own instructions, in Hz: wide vectors and tiles may run at another one than
// what follows them. The probe's loop runs with a chain of additions among its steps (pace.hpp), as many as make the
// loop wait for the chain and keep the pipes nearly as busy as the probe does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "device/cpu/thread_pool.hpp"

namespace roofline {

/// The first of the paces, given by the rounds per second of their loops and sorted by additions, that is slower than
/// the loop without additions because of its chain; nothing if none is.
std::optional<std::size_t> deciding_pace(double plain_rate, std::span<const double> paced_rates);

class PacedClock {
 public:
  /// Runs the rounds of a loop on the calling worker.
  using Run = std::function<void(int worker, std::int64_t rounds)>;
  struct Paced {
    double additions = 0;  ///< per round
    Run run;
  };

  /// Measures on the first `threads` workers of the pool at once, in loops of `rounds` rounds: some ten microseconds.
  PacedClock(ThreadPool& pool, int threads, std::int64_t rounds, Run plain, std::vector<Paced> paced);

  /// The mean clock of the workers' cores; nothing where no chain decides. The first call chooses the pace.
  std::optional<double> hz();

 private:
  /// Rounds per second of a worker, in the mean; the better of two loops each, as an interruption makes one look slow.
  double rate_of(const Run& run);
  void choose();

  ThreadPool& pool_;
  int threads_;
  std::int64_t rounds_;
  Run plain_;
  std::vector<Paced> paced_;
  bool chosen_ = false;
  std::optional<std::size_t> pace_;
};

}  // namespace roofline
