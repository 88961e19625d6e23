// Ranks of a data-parallel job in simulated time, with a known fault or none: compute in parts, each followed by an
// all-reduce on a stream of its own that overlaps the next part.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "profile/collectives.hpp"
#include "profile/rank_steps.hpp"

namespace roofline {

enum class JobFault : std::uint8_t { none, slow_host, slow_gpu, unequal_work, rare_host, turns };

struct SimulatedJob {
  int ranks = 2, steps = 30;
  JobFault fault = JobFault::none;
  int faulty = 1;
  double amount = 0.3;  ///< of a step that the fault adds
  double noise = 0.01;  ///< of every time
  bool calls_known = true;
  unsigned seed = 1;

  std::vector<RankTimeline> timelines;
  std::vector<RankWork> work;
  std::vector<Span> spans;

  void run() {
    std::mt19937 random(seed);
    timelines.resize(static_cast<std::size_t>(ranks));
    work.resize(static_cast<std::size_t>(ranks));
    std::vector<double> gpu(static_cast<std::size_t>(ranks), 1e6), comm = gpu;  // ns
    for (int step = 0; step < steps; ++step) {
      const double begin = *std::max_element(gpu.begin(), gpu.end());
      const int late = fault == JobFault::turns ? std::uniform_int_distribution<int>(0, ranks - 1)(random) : faulty;
      for (int rank = 0; rank < ranks; ++rank)
        host(random, rank, rank == late, step, gpu[static_cast<std::size_t>(rank)]);
      for (int part = 0; part < kParts; ++part) {
        for (int rank = 0; rank < ranks; ++rank) {
          compute(random, rank, rank == late, part, gpu[static_cast<std::size_t>(rank)]);
        }
        reduce(random, step * kParts + part, gpu, comm);
      }
      // The optimizer needs the last gradients.
      for (std::size_t rank = 0; rank < gpu.size(); ++rank) gpu[rank] = std::max(gpu[rank], comm[rank]);
      spans.push_back({static_cast<std::uint64_t>(begin), 0});
      if (step > 0) spans[spans.size() - 2].end = spans.back().start;
    }
    spans.back().end = static_cast<std::uint64_t>(*std::max_element(gpu.begin(), gpu.end()));
    for (RankTimeline& timeline : timelines) timeline.compute = covered(std::move(timeline.compute));
  }

 private:
  static constexpr int kParts = 4, kKernels = 5;
  static constexpr double kKernel = 500e3, kTransfer = 400e3;
  static constexpr double kStep = kParts * kKernels * kKernel;

  double noisy(std::mt19937& random, double time) const {
    return time * std::max(0.2, 1 + std::normal_distribution<double>(0, noise)(random));
  }

  void host(std::mt19937& random, int, bool is_late, int step, double& time) const {
    time += noisy(random, 50e3) + std::exponential_distribution<double>(1 / 5e3)(random);
    const bool rare = fault == JobFault::rare_host && step % 5 == 4;
    const bool always = fault == JobFault::slow_host || fault == JobFault::turns;
    if (is_late && (always || rare)) time += noisy(random, amount * kStep * (rare ? 5 : 1));
  }

  void compute(std::mt19937& random, int rank, bool is_late, int part, double& time) {
    const bool more = is_late && fault == JobFault::unequal_work;
    const int kernels = more ? kKernels + std::max(1, static_cast<int>(std::lround(amount * kKernels))) : kKernels;
    for (int i = 0; i < kernels; ++i) {
      const double slower = is_late && fault == JobFault::slow_gpu ? 1 + amount : 1;
      const double length = noisy(random, kKernel * slower);
      const auto index = static_cast<std::size_t>(rank);
      timelines[index].compute.push_back({static_cast<std::uint64_t>(time), static_cast<std::uint64_t>(time + length)});
      SignatureWork& of = work[index][part * kKernels + i % kKernels];
      ++of.launches;
      of.seconds += length * 1e-9;
      time += length + noisy(random, 2e3);
    }
  }

  void reduce(std::mt19937& random, int number, const std::vector<double>& gpu, std::vector<double>& comm) {
    double start = 0;
    std::vector<double> arrivals;
    for (std::size_t rank = 0; rank < gpu.size(); ++rank) {
      arrivals.push_back(std::max(comm[rank], gpu[rank]) + noisy(random, 5e3));
      start = std::max(start, arrivals.back());
    }
    const double end = start + noisy(random, kTransfer);
    for (std::size_t rank = 0; rank < gpu.size(); ++rank) {
      CollectiveKernel kernel;
      comm[rank] = end + std::uniform_real_distribution<double>(0, 3e3)(random);
      kernel.span = {static_cast<std::uint64_t>(arrivals[rank]), static_cast<std::uint64_t>(comm[rank])};
      kernel.kind = spool::CollectiveKind::all_reduce;
      kernel.group = 1000;
      if (calls_known) {
        kernel.communicator = 77;
        kernel.sequence = static_cast<std::uint64_t>(number);
        kernel.bytes = 25 << 20;
        kernel.ranks = static_cast<std::uint32_t>(gpu.size());
      }
      timelines[rank].collectives.push_back(kernel);
    }
  }
};

}  // namespace roofline
