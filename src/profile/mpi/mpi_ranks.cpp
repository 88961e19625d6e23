#include "profile/mpi/mpi_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "measure/statistics.hpp"

namespace roofline {
namespace {

double mean_seconds(const std::vector<MpiProcess>& processes) {
  double sum = 0;
  for (const MpiProcess& process : processes) sum += process.seconds();
  return processes.empty() ? 0 : sum / static_cast<double>(processes.size());
}

/// Time by function, with the line that has most of it.
struct FunctionTime {
  HostFrame place;
  double longest = 0;  ///< at the line of `place`
  HostTimes times;
};
using Functions = std::map<std::pair<std::string, std::string>, FunctionTime>;

Functions functions_of(const MpiProcess& process) {
  Functions functions;
  for (const MpiCompute& compute : process.compute) {
    FunctionTime& to = functions[{compute.place.file, compute.place.function}];
    for (const ThreadState state : kThreadStates) to.times.of(state) += compute.times.of(state);
    if (compute.times.total() <= to.longest) continue;
    to.longest = compute.times.total();
    to.place = compute.place;
  }
  return functions;
}

/// The function that takes a late rank longer than a typical one, by the most.
std::optional<MpiExtra> extra_of(const MpiProcess& late, const MpiProcess& typical) {
  const Functions here = functions_of(late), there = functions_of(typical);
  std::optional<MpiExtra> extra;
  for (const auto& [name, time] : here) {
    const auto other = there.find(name);
    const HostTimes none;
    const HostTimes& of_other = other == there.end() ? none : other->second.times;
    MpiExtra found = {time.place, time.times.total(), of_other.total(), time.times, of_other};
    if (!extra || found.seconds - found.other_s > extra->seconds - extra->other_s) extra = found;
  }
  if (extra && !(extra->seconds > extra->other_s)) return std::nullopt;
  return extra;
}

/// True if a rank comes later to the collectives than another by more than such a difference has by chance, the rank
/// having been chosen for it among all of them. Where they meet too rarely to tell: true.
bool steadily_later(const std::vector<MpiProcess>& processes, const std::vector<std::int64_t>& offsets,
                    std::size_t late, std::size_t other) {
  constexpr std::size_t kFewest = 4;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> starts;
  for (const MpiCollective& collective : processes[other].collectives) {
    starts[{collective.communicator, collective.number}] = static_cast<std::int64_t>(collective.start) + offsets[other];
  }
  std::vector<double> later;
  for (const MpiCollective& collective : processes[late].collectives) {
    const auto found = starts.find({collective.communicator, collective.number});
    if (found == starts.end()) continue;
    later.push_back(static_cast<double>(static_cast<std::int64_t>(collective.start) + offsets[late] - found->second));
  }
  if (later.size() < kFewest) return true;
  const auto n = static_cast<double>(later.size());
  double sum = 0, squares = 0;
  for (const double ns : later) sum += ns;
  for (const double ns : later) squares += (ns - sum / n) * (ns - sum / n);
  const double independent = effective_samples(std::ssize(later), lag1_autocorrelation(later));
  // The latest of n equal ranks is expected at sqrt(2 ln n) standard errors; two more are beyond chance.
  const double most_by_chance = std::sqrt(2 * std::log(static_cast<double>(processes.size()))) + 2;
  return sum / n > most_by_chance * std::sqrt(squares / (n - 1) / independent);
}

/// Sites of all ranks at one place.
class SiteSums {
 public:
  SiteSums(const std::vector<MpiProcess>& processes, const MpiWaits& waits) {
    for (std::size_t i = 0; i < processes.size(); ++i) {
      for (std::size_t site = 0; site < processes[i].sites.size(); ++site) {
        add(processes[i], processes[i].sites[site], waits.site_waiting_s[i][site]);
      }
      for (const MpiCollective& collective : processes[i].collectives) {
        Sum& sum = sums_[key_of(processes[i].sites[collective.site])];
        sum.ranks = std::max(sum.ranks, static_cast<int>(collective.ranks));
      }
    }
  }

  std::vector<CollectiveSum> list(double ranks) const {
    std::vector<CollectiveSum> list;
    for (const auto& [key, sum] : sums_) {
      CollectiveSum to;
      to.name = key.first;
      to.line = key.second;
      to.ranks = sum.ranks;
      to.calls = sum.calls / ranks;
      to.bytes = sum.messages > 0 ? sum.bytes / sum.messages : 0;
      to.waiting_s = sum.waiting_s / ranks;
      to.exposed_s = std::max(0.0, sum.seconds - sum.waiting_s) / ranks;
      to.transfer_s = sum.calls > 0 ? to.exposed_s / to.calls : 0;
      list.push_back(std::move(to));
    }
    std::ranges::stable_sort(list, [](const CollectiveSum& a, const CollectiveSum& b) {
      return a.waiting_s + a.exposed_s > b.waiting_s + b.exposed_s;
    });
    constexpr std::size_t kMost = 40;
    list.resize(std::min(list.size(), kMost));
    return list;
  }

 private:
  struct Sum {
    double calls = 0, messages = 0, bytes = 0, seconds = 0, waiting_s = 0;
    int ranks = 0;
  };

  static std::pair<std::string, std::string> key_of(const MpiSite& site) {
    return {site.function, site.place.function.empty() ? std::string() : place_text(site.place)};
  }

  void add(const MpiProcess& process, const MpiSite& site, double waiting_s) {
    Sum& sum = sums_[key_of(site)];
    sum.calls += static_cast<double>(site.calls);
    sum.messages += static_cast<double>(site.messages);
    sum.bytes += site.bytes;
    sum.seconds += site.seconds;
    sum.waiting_s += waiting_s;
    if (site.kind == MpiKind::other) sum.ranks = process.ranks;
  }

  std::map<std::pair<std::string, std::string>, Sum> sums_;
};

}  // namespace

std::optional<LateMpiRanks> late_mpi_ranks(const std::vector<MpiProcess>& processes, const MpiWaits& waits) {
  constexpr double kLeast = 0.03;  // of the run
  if (processes.size() < 2) return std::nullopt;
  std::vector<int> order(processes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto compute = [&](int process) { return waits.parts[static_cast<std::size_t>(process)].compute_s; };
  std::ranges::stable_sort(order, [&](int a, int b) { return compute(a) > compute(b); });
  LateMpiRanks late;
  late.typical = order[order.size() / 2];
  const double most = compute(order.front()), typical = compute(late.typical);
  if (most - typical < kLeast * mean_seconds(processes)) return std::nullopt;
  for (const int process : order) {
    if (compute(process) >= (most + typical) / 2) late.processes.push_back(process);
  }
  double computing = 0, waiting = 0;
  for (const MpiParts& parts : waits.parts) {
    computing += parts.compute_s;
    waiting += parts.waiting_s;
  }
  const auto ranks = static_cast<double>(processes.size());
  late.saved_s = std::min(most - computing / ranks, waiting / ranks);
  if (late.saved_s < kLeast / 2 * mean_seconds(processes)) return std::nullopt;
  late.steady = steadily_later(processes, waits.offsets, static_cast<std::size_t>(late.processes.front()),
                               static_cast<std::size_t>(late.typical));
  late.extra = extra_of(processes[static_cast<std::size_t>(late.processes.front())],
                        processes[static_cast<std::size_t>(late.typical)]);
  return late;
}

Ranks mpi_ranks(const std::vector<MpiProcess>& processes, const MpiWaits& waits) {
  Ranks report;
  report.whole_run = true;
  if (!processes.empty()) report.launcher = processes.front().launcher;
  report.matching = RankMatching::calls;
  report.step_s = mean_seconds(processes);
  report.matched_share = waits.collectives_s > 0 ? waits.matched_s / waits.collectives_s : 1;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const MpiParts& parts = waits.parts[i];
    RankSum sum;
    sum.rank = processes[i].rank;
    sum.pid = processes[i].pid;
    sum.host = processes[i].host;
    sum.compute_s = parts.compute_s;
    sum.waiting_s = parts.waiting_s;
    sum.transfer_s = parts.transfer_s;
    sum.caused_wait_s = parts.caused_wait_s / static_cast<double>(std::max<std::size_t>(1, processes.size() - 1));
    sum.last_share = waits.matched > 0 ? parts.last / static_cast<double>(waits.matched) : 0;
    report.size = std::max(report.size, processes[i].ranks);
    report.ranks.push_back(std::move(sum));
  }
  report.collectives = SiteSums(processes, waits).list(static_cast<double>(processes.size()));
  return report;
}

}  // namespace roofline
