// The core clock among a compute probe's own instructions, in Hz: wide vectors and tiles may run at another one than
// what follows them. The probe's loop runs with a chain of additions among its steps (pace.hpp), as many as make the
// loop wait for the chain and keep the pipes nearly as busy as the probe does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "device/cpu/thread_pool.hpp"

namespace roofline {

/// The first of the paces, given by the rounds per second of their loops and sorted by additions, that is slower than
/// the loop without additions because of its chain; std::nullopt if none is.
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

  /// The mean clock of the workers' cores; std::nullopt if no chain decides. The first call chooses the pace.
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

/// A loop of rounds on a worker's own data.
template <class Data>
struct PacedLoop {
  double additions = 0;  ///< per round
  std::function<void(std::int64_t rounds, Data& data)> run;
};

/// The clock of a probe (ProbeCase::clock) by its loop without additions and those with them, on as many copies of
/// `initial` as there are threads.
template <class Data>
std::function<std::optional<double>()> paced_clock(ThreadPool& pool, int threads, std::int64_t rounds,
                                                   const Data& initial, const PacedLoop<Data>& plain,
                                                   const std::vector<PacedLoop<Data>>& paced) {
  const auto data = std::make_shared<std::vector<Data>>(static_cast<std::size_t>(threads), initial);
  const auto on_workers = [&](const PacedLoop<Data>& loop) -> PacedClock::Run {
    return [data, run = loop.run](int worker, std::int64_t count) {
      run(count, (*data)[static_cast<std::size_t>(worker)]);
    };
  };
  std::vector<PacedClock::Paced> loops;
  for (const PacedLoop<Data>& loop : paced) loops.push_back({loop.additions, on_workers(loop)});
  const auto clock = std::make_shared<PacedClock>(pool, threads, rounds, on_workers(plain), std::move(loops));
  return [clock] { return clock->hz(); };
}

}  // namespace roofline
