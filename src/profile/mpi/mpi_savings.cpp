// Losses of the ranks of a CPU job to each other, and remedies.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/find.hpp"
#include "profile/mpi/mpi_ranks.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Minimum fractions of the run for findings on alternating waits and communication.
constexpr double kLeastUneven = 0.05, kLeastSmall = 0.05, kLeastTransfer = 0.1;

constexpr const char* kBalance =
    "Give every rank the same work: parts of the domain of equal cost (METIS, Zoltan), or tasks from a shared queue.";
constexpr const char* kDivide =
    "Divide this work among the ranks (MPI-IO: MPI_File_write_all; MPI_Scatter), or overlap it: MPI_Ibcast, "
    "MPI_Ibarrier.";
constexpr const char* kNoCpu =
    "Start no more ranks than cores, and bind each to its own: mpirun --bind-to core, srun --cpu-bind=cores.";
constexpr const char* kFile =
    "Write through MPI-IO (MPI_File_write_all), from another thread, or less often; keep temporary files off the "
    "network.";
constexpr const char* kWait = "Remove this wait, or let another thread wait while the rank computes.";
constexpr const char* kTurns =
    "Balance each iteration, bind every rank to its own core, and synchronise less often (nonblocking collectives).";
constexpr const char* kMerge =
    "Combine messages: one MPI_Allreduce of an array, one message per neighbour (derived types, "
    "MPI_Neighbor_alltoall).";
constexpr const char* kOverlap =
    "Overlap it: post MPI_Irecv and MPI_Isend first, compute the interior, then MPI_Waitall; or larger parts per rank.";

std::string ranks_text(const std::vector<MpiProcess>& processes, const std::vector<int>& indices) {
  std::vector<int> numbers;
  for (const int index : indices) numbers.push_back(processes[static_cast<std::size_t>(index)].rank);
  std::ranges::sort(numbers);
  if (numbers.size() == 1) return fmt::format("rank {}", numbers.front());
  constexpr std::size_t kNamed = 4;
  const auto named = numbers.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, numbers.size()));
  const std::string more = numbers.size() > kNamed ? fmt::format(" and {} more", numbers.size() - kNamed) : "";
  return fmt::format("ranks {}{}", fmt::join(numbers.begin(), named, ", "), more);
}

Saving saving_of(SavingCause cause, const std::string& line = {}) {
  Saving saving;
  saving.kind = SavingKind::communication;
  saving.cause = cause;
  saving.line = line;
  return saving;
}

class MpiSavings {
 public:
  MpiSavings(const std::vector<MpiProcess>& processes, const MpiWaits& waits) : processes_(processes), waits_(waits) {
    const auto ranks = static_cast<double>(processes.size());
    for (std::size_t i = 0; i < processes.size(); ++i) {
      run_s_ += processes[i].seconds() / ranks;
      waiting_s_ += waits.parts[i].waiting_s / ranks;
      transfer_s_ += waits.parts[i].transfer_s / ranks;
      compute_s_ += waits.parts[i].compute_s / ranks;
      for (const MpiSite& site : processes[i].sites) {
        messages_ += static_cast<double>(site.messages) / ranks;
        small_ += static_cast<double>(site.small) / ranks;
        bytes_ += site.bytes / ranks;
      }
    }
  }

  std::vector<Saving> find() {
    if (const std::optional<LateMpiRanks> late = late_mpi_ranks(processes_, waits_)) add_late(*late);
    add_uneven();
    if (!add_small_messages()) add_transfer();
    std::ranges::stable_sort(savings_, [](const Saving& a, const Saving& b) { return a.seconds > b.seconds; });
    return std::move(savings_);
  }

 private:
  void add_late(const LateMpiRanks& late) {
    const MpiParts& parts = waits_.parts[static_cast<std::size_t>(late.processes.front())];
    const MpiParts& typical = waits_.parts[static_cast<std::size_t>(late.typical)];
    const std::string who = ranks_text(processes_, late.processes);
    const std::string other = fmt::format("rank {}", processes_[static_cast<std::size_t>(late.typical)].rank);
    const double excess = parts.compute_s - typical.compute_s;
    Saving saving = saving_of(SavingCause::unequal_work);
    saving.seconds = late.saved_s;
    saving.what = fmt::format("The others wait for {}, which spends {} outside MPI; {} spends {}", who,
                              duration(parts.compute_s), other, duration(typical.compute_s));
    saving.action = kBalance;
    constexpr double kMost = 0.5, kHardly = 0.1;
    if (late.extra && late.extra->seconds - late.extra->other_s > kMost * excess) {
      const MpiExtra& extra = *late.extra;
      saving.line = place_text(extra.place);
      if (!is_well_sampled(late.typical)) {
        saving.evidence = fmt::format("at this line {} spends {}; {} has too few samples to compare; ", who,
                                      duration(extra.seconds), other);
      } else if (late.processes.size() == 1 && extra.other_s < kHardly * extra.seconds) {
        saving.cause = SavingCause::serial_part;
        saving.what = fmt::format("Only {} works at this line, for {}; the others wait", who, duration(extra.seconds));
        saving.action = kDivide;
      } else {
        saving.evidence = fmt::format("at this line {} spends {}, {} {}; ", who, duration(extra.seconds), other,
                                      duration(extra.other_s));
      }
      add_wait(saving, who, extra, ready_per_running(processes_[static_cast<std::size_t>(late.typical)]));
    }
    if (saving.cause == SavingCause::unequal_work && !late.steady) return;
    saving.evidence += fmt::format("in MPI {} {}, {} {}", who, duration(parts.waiting_s + parts.transfer_s), other,
                                   duration(typical.waiting_s + typical.transfer_s));
    if (waits_.matched > 0 && late.processes.size() == 1) {
      saving.evidence += fmt::format("; last at {} of {} collectives",
                                     percent(parts.last / static_cast<double>(waits_.matched)), count(waits_.matched));
    }
    waiting_s_ -= late.saved_s;
    savings_.push_back(std::move(saving));
  }

  /// False where the samples of a rank are of a part of its computation only: none at a line then says little about it.
  bool is_well_sampled(int process) const {
    constexpr double kLeastSampled = 0.7;
    double sampled = 0;
    for (const MpiCompute& compute : processes_[static_cast<std::size_t>(process)].compute) {
      sampled += compute.times.total();
    }
    return sampled >= kLeastSampled * waits_.parts[static_cast<std::size_t>(process)].compute_s;
  }

  /// Time ready without a CPU for each second on one, outside MPI: other load slows all ranks in proportion.
  static double ready_per_running(const MpiProcess& process) {
    double ready = 0, running = 0;
    for (const MpiCompute& compute : process.compute) {
      ready += compute.times.of(ThreadState::runnable);
      running += compute.times.of(ThreadState::running);
    }
    return running > 0 ? ready / running : 0;
  }

  /// Set if the rank is late because it does not run.
  static void add_wait(Saving& saving, const std::string& who, const MpiExtra& extra, double usually_ready) {
    constexpr double kMost = 0.5;
    const double more = extra.seconds - extra.other_s;
    const double ready = extra.times.of(ThreadState::runnable) - usually_ready * extra.times.on_cpu();
    HostTimes waits = extra.times;
    waits.of(ThreadState::running) = waits.of(ThreadState::runnable) = 0;
    const double waited = waits.total() - (extra.other.off_cpu() - extra.other.of(ThreadState::runnable));
    const bool no_cpu = ready > kMost * more;
    if (!no_cpu && !(waited > kMost * more)) return;
    const ThreadState state = no_cpu ? ThreadState::runnable : waits.main_wait();
    saving.cause = SavingCause::late_rank;
    saving.what = fmt::format("The others wait for {}, which {} for {}", who,
                              no_cpu ? "is runnable without a CPU" : to_string(state), duration(extra.times.of(state)));
    saving.action = no_cpu ? kNoCpu : state == ThreadState::disk ? kFile : kWait;
  }

  /// Waiting that is for no rank in particular.
  void add_uneven() {
    if (waiting_s_ < kLeastUneven * run_s_) return;
    double ready = 0, sampled = 0;
    for (const MpiProcess& process : processes_) {
      for (const MpiCompute& compute : process.compute) {
        ready += compute.times.of(ThreadState::runnable);
        sampled += compute.times.total();
      }
    }
    Saving saving = saving_of(SavingCause::uneven_ranks);
    saving.seconds = waiting_s_;
    saving.what = "Ranks take turns arriving last";
    saving.evidence = fmt::format("{} of the run, not for one rank in particular", percent(waiting_s_ / run_s_));
    saving.action = kTurns;
    constexpr double kCrowded = 0.1;
    if (sampled > 0 && ready > kCrowded * sampled) {
      saving.evidence +=
          fmt::format("; outside MPI, ranks are runnable without a CPU for {} of the time", percent(ready / sampled));
      saving.action = kNoCpu;
    }
    savings_.push_back(std::move(saving));
  }

  bool add_small_messages() {
    constexpr double kMany = 1000, kMostlySmall = 0.8, kSlowLink = 1e9, kMostEach = 200e-6;
    if (messages_ < kMany || small_ < kMostlySmall * messages_) return false;
    const double saved = transfer_s_ - bytes_ / kSlowLink;
    if (saved < kLeastSmall * run_s_ || transfer_s_ > kMostEach * messages_) return false;
    std::map<std::pair<std::string, std::string>, double> sites;
    for (const MpiProcess& process : processes_) {
      for (const MpiSite& site : process.sites) {
        if (site.small == 0) continue;
        sites[{site.function, site.place.function.empty() ? "" : place_text(site.place)}] +=
            static_cast<double>(site.small);
      }
    }
    const auto most = key_of_largest(sites);
    Saving saving = saving_of(SavingCause::small_messages, most.second);
    saving.seconds = saved;
    saving.what = fmt::format("{} messages of {} each on a rank, most of them {}", count(std::llround(messages_)),
                              binary_bytes(bytes_ / messages_), most.first);
    saving.evidence = fmt::format("{} per message in MPI without waiting, {} of the run",
                                  duration(transfer_s_ / messages_), percent(transfer_s_ / run_s_));
    saving.action = kMerge;
    savings_.push_back(std::move(saving));
    return true;
  }

  /// Limited to what computation could hide.
  void add_transfer() {
    const double hidden = std::min(transfer_s_, compute_s_);
    if (hidden < kLeastTransfer * run_s_) return;
    std::map<std::pair<std::string, std::string>, double> sites;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      for (std::size_t j = 0; j < processes_[i].sites.size(); ++j) {
        const MpiSite& site = processes_[i].sites[j];
        sites[{site.function, site.place.function.empty() ? "" : place_text(site.place)}] +=
            site.seconds - waits_.site_waiting_s[i][j];
      }
    }
    const auto most = key_of_largest(sites);
    Saving saving = saving_of(SavingCause::exposed_communication, most.second);
    saving.seconds = hidden;
    saving.what = fmt::format("Communication without overlap: {} of the run", percent(transfer_s_ / run_s_));
    saving.evidence = fmt::format("{} per rank on average, most of it {}", duration(transfer_s_), most.first);
    saving.action = kOverlap;
    savings_.push_back(std::move(saving));
  }

  const std::vector<MpiProcess>& processes_;
  const MpiWaits& waits_;
  double run_s_ = 0, waiting_s_ = 0, transfer_s_ = 0, compute_s_ = 0;  ///< of a mean rank
  double messages_ = 0, small_ = 0, bytes_ = 0;                        ///< likewise
  std::vector<Saving> savings_;
};

}  // namespace

std::vector<Saving> mpi_savings(const std::vector<MpiProcess>& processes, const MpiWaits& waits) {
  return MpiSavings(processes, waits).find();
}

}  // namespace roofline
