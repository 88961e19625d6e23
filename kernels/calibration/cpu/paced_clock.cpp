// Timed by each worker itself, all at the same time: their cores may have different clocks.
#include "kernels/calibration/cpu/paced_clock.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace roofline {
namespace {

// A loop that waits for its chain takes 9/8 of the time or more; interruptions and neighbours leave less than that.
constexpr double kDecides = 0.94;
constexpr int kTrials = 8;  // of each loop, in turns

}  // namespace

std::optional<std::size_t> deciding_pace(double plain_rate, std::span<const double> paced_rates) {
  for (std::size_t pace = 0; pace < paced_rates.size(); ++pace) {
    if (paced_rates[pace] <= kDecides * plain_rate) return pace;
  }
  return std::nullopt;
}

PacedClock::PacedClock(ThreadPool& pool, int threads, std::int64_t rounds, Run plain, std::vector<Paced> paced)
    : pool_(pool), threads_(threads), rounds_(rounds), plain_(std::move(plain)), paced_(std::move(paced)) {}

std::optional<double> PacedClock::hz() {
  if (!chosen_) choose();
  if (!pace_) return std::nullopt;
  return rate_of(paced_[*pace_].run) * paced_[*pace_].additions;
}

double PacedClock::rate_of(const Run& run) {
  std::vector<double> seconds(static_cast<std::size_t>(threads_));
  const auto time = [&](int worker) {
    if (worker >= threads_) return;
    double least = 0;
    for (int loop = 0; loop < 2; ++loop) {
      const auto start = std::chrono::steady_clock::now();
      run(worker, rounds_);
      const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      least = loop == 0 ? took : std::min(least, took);
    }
    seconds[static_cast<std::size_t>(worker)] = least;
  };
  const ThreadPool::PinnedCaller pinned(pool_);
  if (threads_ == 1) {
    time(0);
  } else {
    pool_.run(time);
  }
  const auto rate = [&](double sum, double least) { return sum + static_cast<double>(rounds_) / least; };
  return std::accumulate(seconds.begin(), seconds.end(), 0.0, rate) / threads_;
}

void PacedClock::choose() {
  chosen_ = true;
  double plain = 0;
  std::vector<double> paced(paced_.size());
  for (int trial = 0; trial < kTrials; ++trial) {
    plain = std::max(plain, rate_of(plain_));
    for (std::size_t i = 0; i < paced.size(); ++i) paced[i] = std::max(paced[i], rate_of(paced_[i].run));
  }
  pace_ = deciding_pace(plain, paced);
}

}  // namespace roofline
