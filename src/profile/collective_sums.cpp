#include "profile/collective_sums.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "measure/statistics.hpp"
#include "model/collective.hpp"
#include "model/find.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/rows.hpp"

namespace roofline {
namespace {

class CollectiveSums {
 public:
  CollectiveSums(const Job& job, const std::vector<Span>& steps) : job_(job), steps_(steps) {}

  std::vector<CollectiveSum> sum(const Recording& recording, const Machine& machine) {
    Within within(steps_);
    for (const MatchedCollective& collective : job_.matched) {
      if (within(collective.start)) add(collective);
    }
    std::vector<CollectiveSum> sums;
    for (auto& [of, entry] : entries_) sums.push_back(sum_of(of, entry, recording, machine));
    std::stable_sort(sums.begin(), sums.end(), [](const CollectiveSum& a, const CollectiveSum& b) {
      return a.waiting_s + a.exposed_s > b.waiting_s + b.exposed_s;
    });
    constexpr std::size_t kMost = 40;
    if (sums.size() > kMost) sums.resize(kMost);
    return sums;
  }

 private:
  struct Key {
    spool::CollectiveKind kind = spool::CollectiveKind::other;
    std::size_t ranks = 0;
    double bytes = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    std::vector<double> transfers;
    double waiting_s = 0, exposed_s = 0, kernels = 0, bytes = 0;
    std::map<int, std::int64_t> groups;
  };

  /// Exchanges of one kind have other sizes each time: those of up to twice the size are one entry.
  static double size_class(const CollectiveKernel& kernel, double bytes) {
    return kernel.exchange && bytes > 0 ? std::exp2(std::floor(std::log2(bytes))) : bytes;
  }

  void add(const MatchedCollective& collective) {
    const CollectiveKernel& first = job_.kernel(collective.arrivals.front());
    const double bytes = job_.bytes(collective);
    Entry& entry = entries_[{first.kind, collective.arrivals.size(), size_class(first, bytes)}];
    entry.transfers.push_back(collective.transfer_s());
    entry.bytes += bytes;
    for (const RankArrival& arrival : collective.arrivals) {
      const CollectiveKernel& kernel = job_.kernel(arrival);
      const std::vector<Span>& compute = job_.timelines[static_cast<std::size_t>(arrival.rank)].compute;
      const Span waiting = {kernel.span.start, std::min(kernel.span.end, collective.start)};
      const Span transfer = {std::max(kernel.span.start, collective.start), kernel.span.end};
      entry.waiting_s += seconds(uncovered_length(waiting, compute));
      entry.exposed_s += seconds(uncovered_length(transfer, compute));
      ++entry.kernels;
      ++entry.groups[kernel.group];
    }
  }

  CollectiveSum sum_of(const Key& of, Entry& entry, const Recording& recording, const Machine& machine) const {
    const double of_rank = static_cast<double>(steps_.size()) * static_cast<double>(job_.ranks.size());
    CollectiveSum sum;
    sum.name = collective_name(of.kind);
    sum.ranks = static_cast<int>(of.ranks);
    sum.bytes = std::round(entry.bytes / static_cast<double>(entry.transfers.size()));
    sum.calls = entry.kernels / of_rank;
    sum.waiting_s = entry.waiting_s / of_rank;
    sum.exposed_s = entry.exposed_s / of_rank;
    sum.transfer_s = median(std::move(entry.transfers));
    const auto group = largest_entry(entry.groups);
    if (group != entry.groups.end()) sum.line = line_of_group(recording, group->first);
    if (const auto bound = bound_of_collective(sum.name, sum.ranks, sum.bytes, machine)) {
      sum.roof = bound->limiting_ceiling;
      sum.attainable_s = bound->attainable_time_s;
    }
    return sum;
  }

  const Job& job_;
  const std::vector<Span>& steps_;
  std::map<Key, Entry> entries_;
};

}  // namespace

std::optional<Work> work_of_collective(std::string_view name, int ranks, double bytes) {
  const std::optional<double> factor = bus_factor(name, ranks);
  if (!factor || !(bytes > 0)) return std::nullopt;
  Work work;
  work.launches = 0;
  work.collective = Collective{std::string(name), ranks};
  work.bytes[Level::network] = {.read = *factor * bytes, .write = 0};
  return work;
}

std::optional<Bound> bound_of_collective(std::string_view name, int ranks, double bytes, const Machine& machine) {
  const std::optional<Work> work = work_of_collective(name, ranks, bytes);
  if (!work) return std::nullopt;
  Bound bound = bound_of(*work, machine);
  return std::isfinite(bound.attainable_time_s) ? std::optional(std::move(bound)) : std::nullopt;
}

std::string line_of_group(const Recording& recording, int group) {
  if (group < 0) return {};
  const LaunchGroup& launch = recording.groups[static_cast<std::size_t>(group)];
  const auto process = static_cast<std::size_t>(launch.process);
  const ProcessTrace& trace = recording.traces[process];
  const bool by_hook = is_collective(launch.symbol) && trace.place(launch.kind.place).backward != 0;
  if (by_hook && process < recording.backward_lines.size() && !recording.backward_lines[process].empty()) {
    return recording.backward_lines[process];
  }
  return line_text(trace, trace.place(launch.kind.place).line);
}

std::vector<CollectiveSum> collective_sums(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                           const Machine& machine) {
  return CollectiveSums(job, steps).sum(recording, machine);
}

}  // namespace roofline
