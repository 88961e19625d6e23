// Processes of a job of several ranks in simulated time, as spools and samples, and the report on them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host_samples_builder.hpp"
#include "profile/profile.hpp"
#include "spool_builder.hpp"

namespace roofline {

inline constexpr std::uint64_t kJobMicrosecond = 1000, kJobMillisecond = 1000 * kJobMicrosecond;

/// Two processes of a job. In each step a rank's host prepares a batch, then launches kernels and an all-reduce.
class JobOfRanks {
 public:
  struct Rank {
    Rank(int number, const std::string& model)
        : spool(100 + static_cast<std::uint32_t>(number), static_cast<std::uint8_t>(7 + number), model) {
      const auto place = [&](std::uint32_t line, const std::string& function) {
        return spool.place({.line = spool.line("/home/user/project/train.py", line, function)});
      };
      compute = spool.kind("large_kernel", place(10, "step"));
      update = spool.kind("multi_tensor_apply_kernel", place(40, "update"));
      collective_place = place(30, "reduce");
      collective = spool.kind("ncclDevKernel_AllReduce_Sum_f32_RING_LL", collective_place);
      exchange = spool.kind("ncclDevKernel_SendRecv", place(50, "exchange"));
      broadcast = spool.kind("ncclDevKernel_Broadcast_RING_LL", place(60, "forward"));
    }
    SpoolBuilder spool;
    spool::Id compute = 0, collective = 0, collective_place = 0, update = 0, exchange = 0, broadcast = 0;
    int thread = 0, prepares = 0, launches = 0;
    std::uint64_t host = kJobMillisecond, gpu = kJobMillisecond;
    std::uint64_t prepare = 2 * kJobMillisecond;  ///< of the host, before it launches
    std::uint64_t launch_time = 6 * kJobMicrosecond;
    std::uint64_t copied = 0;     ///< from pageable memory, before its kernels
    std::vector<int> loop = {};   ///< stacks that its samples take turns at, in place of `prepares`; -1: none is taken
    std::uint64_t exchanges = 0;  ///< so far
    int kernels = 10;
    std::uint64_t kernel = kJobMillisecond;
  };

  explicit JobOfRanks(int ranks = 2, bool with_calls = true, const std::vector<std::uint32_t>& cpus = {},
                      const std::string& gpu = "NVIDIA Test")
      : with_calls_(with_calls) {
    for (int number = 0; number < ranks; ++number) {
      all.push_back(std::make_unique<Rank>(number, gpu));
      Rank& rank = *all.back();
      const auto pid = static_cast<std::uint32_t>(100 + number);
      rank.spool.on_thread(pid);
      rank.thread = samples.thread(pid, pid, "python");
      rank.prepares = samples.stack({HostSamplesBuilder::own("train.py", 19, "prepare_batch")});
      rank.launches = samples.stack({HostSamplesBuilder::own("train.py", 10, "step")});
      if (!with_calls) continue;
      rank.spool.add(spool::Type::rank,
                     spool::Rank{static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number),
                                 static_cast<std::uint32_t>(ranks), rank.spool.text("torchrun"),
                                 rank.spool.text("node"), cpus.empty() ? 0 : cpus[static_cast<std::size_t>(number)]});
      rank.spool.add(spool::Type::communicator, spool::Communicator{99, 1, static_cast<std::uint32_t>(number),
                                                                    static_cast<std::uint32_t>(ranks), 0});
    }
  }

  std::vector<std::unique_ptr<Rank>> all;
  HostSamplesBuilder samples;
  std::uint64_t transfer = kJobMillisecond, bytes = 64 << 20;
  int collectives = 1;   ///< of a step
  bool barrier = false;  ///< before each step
  bool between = false;  ///< a collective after each kernel
  std::function<void(JobOfRanks&)> before_step = [](JobOfRanks&) {};
  std::function<void(JobOfRanks&)> step = {};  ///< in place of all of that, but the update at its end

  void run(int steps = 40) {
    for (int i = 0; i < steps; ++i) {
      before_step(*this);
      step ? step(*this) : usual_step();
      for (auto& rank : all) {
        launch(*rank, rank->update, 20 * kJobMicrosecond);
        rank->host = rank->gpu;  // it waits for the loss
      }
    }
  }

  void compute(Rank& rank) {
    prepare(rank);
    for (int i = 0; i < rank.kernels; ++i) launch(rank, rank.compute, rank.kernel);
  }

  static void launch(Rank& rank, spool::Id kind, std::uint64_t length) {
    const std::uint64_t start = std::max(rank.host + 7 * kJobMicrosecond, rank.gpu + kJobMicrosecond);
    rank.spool.launch(kind, rank.host, rank.host + 5 * kJobMicrosecond, start, start + length);
    rank.host += rank.launch_time;
    rank.gpu = start + length;
  }

  /// One call or group of `calls` of those ranks; empty: of all.
  void collect(spool::CollectiveKind kind = spool::CollectiveKind::all_reduce, std::uint32_t calls = 1,
               const std::vector<std::size_t>& of = {}) {
    std::vector<Rank*> ranks;
    for (const std::size_t rank : of) ranks.push_back(all[rank].get());
    for (std::size_t i = 0; of.empty() && i < all.size(); ++i) ranks.push_back(all[i].get());
    const bool exchange = kind == spool::CollectiveKind::send_recv;
    std::uint64_t start = 0;
    const auto begins = [](const Rank& rank) {
      return std::max(rank.host + 7 * kJobMicrosecond, rank.gpu + 2 * kJobMicrosecond);
    };
    for (const Rank* rank : ranks) start = std::max(start, begins(*rank));
    for (Rank* rank : ranks) {
      const spool::Id kernel = exchange                                   ? rank->exchange
                               : kind == spool::CollectiveKind::broadcast ? rank->broadcast
                                                                          : rank->collective;
      const std::uint64_t own = begins(*rank);
      const std::uint32_t correlation =
          rank->spool.launch(kernel, rank->host, rank->host + 5 * kJobMicrosecond, own, start + transfer, 0, 20);
      if (with_calls_) {
        spool::Collective call = {};
        call.start = rank->host;
        call.end = rank->host + 5 * kJobMicrosecond;
        call.sequence = exchange ? rank->exchanges : collectives_;
        call.bytes = bytes;
        call.communicator = 1;
        call.kind = kind;
        call.calls = calls;
        call.correlation = correlation;
        rank->spool.add(spool::Type::collective, call);
      }
      rank->host += rank->launch_time;
      rank->gpu = start + transfer;
      rank->exchanges += exchange ? 1 : 0;
    }
    collectives_ += exchange ? 0 : 1;
  }

  /// The host's work before it launches.
  void prepare(Rank& rank) {
    for (std::uint64_t time = rank.host + kJobMillisecond / 2; time < rank.host + rank.prepare;
         time += kJobMillisecond) {
      const std::size_t turn = time / kJobMillisecond;
      const int stack = rank.loop.empty() ? rank.prepares : rank.loop[turn % rank.loop.size()];
      if (stack >= 0) samples.sample(rank.thread, time, ThreadState::running, stack);
    }
    rank.host += rank.prepare;
    if (rank.copied > 0) copy(rank);
  }

  Report report(const Machine& machine = {}) {
    const std::filesystem::path folder =
        std::filesystem::path(testing::TempDir()) /
        (std::string("ranks_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i]->spool.end(all[i]->gpu + kJobMillisecond);
      all[i]->spool.write(folder / (std::to_string(i) + ".1.spool"));
    }
    std::vector<DefectiveSpool> defective;
    traces_ = read_spools(folder, defective);
    std::filesystem::remove_all(folder);
    ProgramFacts facts;
    facts.host = samples.take();
    return report_of(traces_, facts, machine);
  }

 private:
  void usual_step() {
    if (barrier) wait_for_all();
    for (auto& rank : all) compute(*rank);
    for (int i = 0; between && i < 20; ++i) {
      for (auto& rank : all) launch(*rank, rank->compute, rank->kernel);
      collect();
    }
    for (int i = 0; i < collectives; ++i) collect();
  }

  static void copy(Rank& rank) {
    const spool::Id place = rank.spool.place({.line = rank.spool.line("/home/user/project/train.py", 20, "load")});
    const std::uint64_t start = std::max(rank.host + 7 * kJobMicrosecond, rank.gpu + kJobMicrosecond);
    rank.gpu = start + rank.copied;
    rank.spool.copy(64 << 20, spool::Memory::pageable, spool::Memory::device, rank.host, start, rank.gpu, place);
    rank.host = rank.gpu;  // until the driver has read the memory
  }

  void wait_for_all() {
    const std::uint64_t usual = std::exchange(bytes, 4), time = std::exchange(transfer, 10 * kJobMicrosecond);
    collect();
    bytes = usual;
    transfer = time;
    for (auto& rank : all) {
      const std::uint64_t end = rank->gpu + 5 * kJobMicrosecond;
      rank->spool.call("cuStreamSynchronize", spool::CallKind::synchronise, rank->host, end, rank->collective_place);
      rank->host = end;
    }
  }

  bool with_calls_;
  std::uint64_t collectives_ = 0;  ///< so far
  std::vector<ProcessTrace> traces_;
};

inline std::vector<SavingCause> causes_in(const Report& report) {
  std::vector<SavingCause> causes;
  for (const Saving& saving : report.profile->savings) causes.push_back(saving.cause);
  return causes;
}

/// The first saving of that cause; an empty one where there is none.
inline Saving saving_of(const Report& report, SavingCause cause) {
  for (const Saving& saving : report.profile->savings) {
    if (saving.cause == cause) return saving;
  }
  return {};
}

inline double seconds_in(const Report& report, SavingCause cause) {
  double seconds = 0;
  for (const Saving& saving : report.profile->savings) seconds += saving.cause == cause ? saving.seconds : 0;
  return seconds;
}

inline double waiting_of(const Report& report) {
  double waiting = 0;
  for (const RankSum& rank : report.profile->ranks->ranks) waiting += rank.waiting_s;
  return waiting * static_cast<double>(report.profile->steps->count);
}

}  // namespace roofline
