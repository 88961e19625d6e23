#include "profile/collectives.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "measure/statistics.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using spool::CollectiveKind;

/// A kernel with a known call: the identity of its collective, and its position.
struct NumberedKernel {
  std::uint64_t communicator = 0;
  CollectiveKind kind = CollectiveKind::other;
  std::uint64_t sequence = 0;
  RankArrival arrival;

  auto of() const { return std::tuple(communicator, kind, sequence); }
};

const CollectiveKernel& kernel_of(const std::vector<RankTimeline>& ranks, const RankArrival& arrival) {
  return ranks[static_cast<std::size_t>(arrival.rank)].collectives[arrival.kernel];
}

MatchedCollective matched_of(const std::vector<RankTimeline>& ranks, std::vector<RankArrival> arrivals) {
  MatchedCollective matched;
  for (const RankArrival& arrival : arrivals) {
    const Span& span = kernel_of(ranks, arrival).span;
    if (span.start >= matched.start) {
      matched.start = span.start;
      matched.last = arrival.rank;
    }
    matched.end = std::max(matched.end, span.end);
  }
  matched.arrivals = std::move(arrivals);
  return matched;
}

void match_by_calls(const std::vector<RankTimeline>& ranks, std::vector<MatchedCollective>& matched) {
  std::vector<NumberedKernel> kernels;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (std::size_t i = 0; i < ranks[rank].collectives.size(); ++i) {
      const CollectiveKernel& kernel = ranks[rank].collectives[i];
      if (kernel.communicator == 0 || kernel.exchange) continue;
      kernels.push_back({kernel.communicator, kernel.kind, kernel.sequence, {static_cast<int>(rank), i}});
    }
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const NumberedKernel& a, const NumberedKernel& b) { return a.of() < b.of(); });
  std::map<std::uint64_t, std::set<int>> members;  // of each communicator
  for (const NumberedKernel& kernel : kernels) members[kernel.communicator].insert(kernel.arrival.rank);
  for (auto begin = kernels.begin(); begin != kernels.end();) {
    const auto end = std::find_if(begin, kernels.end(), [&](const auto& other) { return other.of() != begin->of(); });
    std::vector<RankArrival> arrivals;
    std::size_t expected = 0;
    for (auto kernel = begin; kernel != end; ++kernel) {
      expected = std::max<std::size_t>(expected, kernel_of(ranks, kernel->arrival).ranks);
      // Twice from one rank: a torn or false recording.
      if (arrivals.empty() || arrivals.back().rank != kernel->arrival.rank) arrivals.push_back(kernel->arrival);
    }
    if (expected == 0) expected = members[begin->communicator].size();
    if (arrivals.size() > 1 && arrivals.size() == expected) matched.push_back(matched_of(ranks, std::move(arrivals)));
    begin = end;
  }
}

/// The exchanges of one communicator: which kernel of each rank has a number.
struct Exchanges {
  std::map<std::uint64_t, std::vector<RankArrival>> by_number;
  std::map<int, std::size_t> counts;  ///< by rank
  std::size_t ranks = 0;              ///< of the communicator; 0: unknown
};

/// True if each kernel ran at a time at which all did.
bool all_meet(const std::vector<RankTimeline>& ranks, const MatchedCollective& exchange) {
  return std::all_of(exchange.arrivals.begin(), exchange.arrivals.end(),
                     [&](const RankArrival& arrival) { return kernel_of(ranks, arrival).span.end > exchange.start; });
}

/// The exchanges of each communicator.
std::map<std::uint64_t, Exchanges> exchanges_by_communicator(const std::vector<RankTimeline>& ranks) {
  std::map<std::uint64_t, Exchanges> communicators;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (std::size_t i = 0; i < ranks[rank].collectives.size(); ++i) {
      const CollectiveKernel& kernel = ranks[rank].collectives[i];
      if (kernel.communicator == 0 || !kernel.exchange) continue;
      Exchanges& of = communicators[kernel.communicator];
      std::vector<RankArrival>& arrivals = of.by_number[kernel.sequence];
      // Twice from one rank: a torn or false recording.
      if (!arrivals.empty() && arrivals.back().rank == static_cast<int>(rank)) continue;
      arrivals.push_back({static_cast<int>(rank), i});
      ++of.counts[static_cast<int>(rank)];
      of.ranks = std::max<std::size_t>(of.ranks, kernel.ranks);
    }
  }
  return communicators;
}

/// Of the rank with most exchanges, those whose numbers lie between the first and the last that all ranks recorded: a
/// rank whose counters are read longer records more of them.
std::size_t most_among_common(const Exchanges& of) {
  std::uint64_t first = UINT64_MAX, last = 0;
  for (const auto& [number, arrivals] : of.by_number) {
    if (arrivals.size() != of.counts.size()) continue;
    first = std::min(first, number);
    last = std::max(last, number);
  }
  std::map<int, std::size_t> counts;
  for (const auto& [number, arrivals] : of.by_number) {
    if (number < first || number > last) continue;
    for (const RankArrival& arrival : arrivals) ++counts[arrival.rank];
  }
  std::size_t most = 0;
  for (const auto& [rank, count] : counts) most = std::max(most, count);
  return most;
}

/// Of these exchanges of two ranks, the number of those between whose kernels the earlier rank began few others: sends
/// may end before the other rank comes to receive, but with other numbers the ranks drift apart.
std::size_t in_pace(const std::vector<RankTimeline>& ranks, const Exchanges& of,
                    const std::vector<MatchedCollective>& found) {
  constexpr std::size_t kInFlight = 4, kFewOf = 10;
  std::map<int, std::vector<std::uint64_t>> starts;
  for (const auto& [number, arrivals] : of.by_number) {
    for (const RankArrival& arrival : arrivals) starts[arrival.rank].push_back(kernel_of(ranks, arrival).span.start);
  }
  for (auto& [rank, of_rank] : starts) std::sort(of_rank.begin(), of_rank.end());
  const auto most = static_cast<std::ptrdiff_t>(std::max(kInFlight, found.size() / kFewOf));
  return static_cast<std::size_t>(std::ranges::count_if(found, [&](const MatchedCollective& exchange) {
    return std::ranges::all_of(exchange.arrivals, [&](const RankArrival& arrival) {
      const std::vector<std::uint64_t>& own = starts.at(arrival.rank);
      const auto from = std::upper_bound(own.begin(), own.end(), kernel_of(ranks, arrival).span.start);
      return std::upper_bound(from, own.end(), exchange.start) - from <= most;
    });
  }));
}

/// Between two ranks, each exchange has one kernel on both: all of them are known to be matched if both ranks have as
/// many, and others if the ranks keep pace. More ranks exchange in an all-to-all, where none can end
/// before all have started; pipeline stages have other numbers of exchanges, or end at different times.
void match_exchanges(const std::vector<RankTimeline>& ranks, std::vector<MatchedCollective>& matched) {
  constexpr double kNearlyAll = 0.9;
  const auto nearly_all = [](std::size_t some, std::size_t all) {
    return static_cast<double>(some) >= kNearlyAll * static_cast<double>(all);
  };
  for (auto& [hash, of] : exchanges_by_communicator(ranks)) {
    const std::size_t expected = of.ranks != 0 ? of.ranks : of.counts.size();
    if (expected < 2 || of.counts.size() != expected) continue;
    std::vector<MatchedCollective> found;
    std::size_t meet = 0, most = 0;
    for (const auto& [rank, count] : of.counts) most = std::max(most, count);
    for (const auto& [number, arrivals] : of.by_number) {
      if (arrivals.size() != expected) continue;
      found.push_back(matched_of(ranks, arrivals));
      meet += all_meet(ranks, found.back()) ? 1 : 0;
    }
    const bool all = nearly_all(expected == 2 ? found.size() : meet, most);
    const bool of_pair = expected == 2 && nearly_all(in_pace(ranks, of, found), most_among_common(of));
    if (all || of_pair) matched.insert(matched.end(), found.begin(), found.end());
  }
}

/// Kernels of one kind on one rank, by start.
struct TimedKernels {
  int rank = 0;
  const std::vector<CollectiveKernel>* all = nullptr;
  std::vector<std::size_t> indices;

  const Span& span(std::size_t i) const { return (*all)[indices[i]].span; }
};

/// For each kernel of `a`, the kernel of `b` in the same collective; `none` if there is none. Both ranks run their
/// collectives in the same order, and each ends only after both have started.
std::vector<std::size_t> pair_by_time(const TimedKernels& a, const TimedKernels& b, std::size_t none) {
  constexpr std::uint64_t kEndsTogether = 100'000;  // ns
  std::vector<std::size_t> pairs(a.indices.size(), none);
  for (std::size_t i = 0, j = 0; i < a.indices.size() && j < b.indices.size();) {
    const Span &here = a.span(i), &there = b.span(j);
    const std::uint64_t both = overlap(here, there).length();
    if (both == 0) {
      ++(here.end <= there.start ? i : j);
    } else if (i + 1 < a.indices.size() && overlap(a.span(i + 1), there).length() > both) {
      ++i;
    } else if (j + 1 < b.indices.size() && overlap(here, b.span(j + 1)).length() > both) {
      ++j;
    } else {
      const std::uint64_t apart = std::max(here.end, there.end) - std::min(here.end, there.end);
      if (apart <= kEndsTogether + std::min(here.length(), there.length()) / 2) pairs[i] = j;
      ++i;
      ++j;
    }
  }
  return pairs;
}

void match_by_times(const std::vector<RankTimeline>& ranks, std::vector<MatchedCollective>& matched) {
  std::map<CollectiveKind, std::vector<TimedKernels>> kinds;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<CollectiveKernel>& all = ranks[rank].collectives;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].communicator != 0 || all[i].kind == CollectiveKind::send_recv) continue;
      std::vector<TimedKernels>& of_kind = kinds[all[i].kind];
      if (of_kind.empty() || of_kind.back().rank != static_cast<int>(rank)) {
        of_kind.push_back({static_cast<int>(rank), &all, {}});
      }
      of_kind.back().indices.push_back(i);
    }
  }
  for (const auto& [kind, of_ranks] : kinds) {
    if (of_ranks.size() < 2) continue;
    const auto most = std::max_element(of_ranks.begin(), of_ranks.end(), [](const auto& a, const auto& b) {
      return a.indices.size() < b.indices.size();
    });
    const std::size_t none = SIZE_MAX;
    std::vector<std::vector<RankArrival>> arrivals(most->indices.size());
    for (const TimedKernels& other : of_ranks) {
      const bool self = &other == &*most;
      const std::vector<std::size_t> pairs = self ? std::vector<std::size_t>() : pair_by_time(*most, other, none);
      for (std::size_t i = 0; i < arrivals.size(); ++i) {
        const std::size_t pair = self ? i : pairs[i];
        if (pair != none) arrivals[i].push_back({other.rank, other.indices[pair]});
      }
    }
    for (std::vector<RankArrival>& of : arrivals) {
      if (of.size() == of_ranks.size()) matched.push_back(matched_of(ranks, std::move(of)));
    }
  }
}

struct NamedCollective {
  CollectiveKind kind;
  std::string_view name, symbol;
};
constexpr auto kNamedCollectives = std::to_array<NamedCollective>({
    {CollectiveKind::all_reduce, "all_reduce", "AllReduce"},
    {CollectiveKind::all_gather, "all_gather", "AllGather"},
    {CollectiveKind::reduce_scatter, "reduce_scatter", "ReduceScatter"},
    {CollectiveKind::broadcast, "broadcast", "Broadcast"},
    {CollectiveKind::all_to_all, "all_to_all", "AllToAll"},
    {CollectiveKind::send_recv, "send_recv", "SendRecv"},
    {CollectiveKind::reduce, "reduce", "Reduce"},
});

}  // namespace

std::vector<MatchedCollective> match_collectives(const std::vector<RankTimeline>& ranks) {
  std::vector<MatchedCollective> matched;
  match_by_calls(ranks, matched);
  match_exchanges(ranks, matched);
  match_by_times(ranks, matched);
  std::stable_sort(matched.begin(), matched.end(),
                   [](const MatchedCollective& a, const MatchedCollective& b) { return a.start < b.start; });
  return matched;
}

CollectiveKind kind_of_collective(std::string_view symbol) {
  for (const NamedCollective& known : kNamedCollectives) {
    if (symbol.find(known.symbol) != std::string_view::npos) return known.kind;
  }
  return contains_any(symbol, {"all_reduce", "allreduce", "cross_device_reduce"}) ? CollectiveKind::all_reduce
                                                                                  : CollectiveKind::other;
}

std::string_view collective_name(CollectiveKind kind) {
  const auto* const found = std::find_if(kNamedCollectives.begin(), kNamedCollectives.end(),
                                         [kind](const NamedCollective& known) { return known.kind == kind; });
  return found != kNamedCollectives.end() ? found->name : "other";
}

std::vector<std::int64_t> clock_offsets(const std::vector<RankTimeline>& ranks,
                                        const std::vector<MatchedCollective>& matched,
                                        const std::vector<int>& host_of) {
  std::map<int, std::vector<double>> later, exchanged;
  for (const MatchedCollective& collective : matched) {
    std::map<int, std::uint64_t> ends;  // by host: of its last rank
    for (const RankArrival& arrival : collective.arrivals) {
      std::uint64_t& end = ends[host_of[static_cast<std::size_t>(arrival.rank)]];
      end = std::max(end, kernel_of(ranks, arrival).span.end);
    }
    const auto first = ends.find(0);
    if (first == ends.end()) continue;
    auto& of = kernel_of(ranks, collective.arrivals.front()).exchange ? exchanged : later;
    for (const auto& [host, end] : ends) {
      of[host].push_back(static_cast<double>(static_cast<std::int64_t>(end - first->second)));
    }
  }
  std::vector<std::int64_t> offsets;
  for (const int host : host_of) {
    if (static_cast<std::size_t>(host) >= offsets.size()) offsets.resize(static_cast<std::size_t>(host) + 1);
  }
  later.merge(exchanged);  // a small message may have been sent long before it is received
  for (auto& [host, differences] : later) {
    offsets[static_cast<std::size_t>(host)] = static_cast<std::int64_t>(median(std::move(differences)));
  }
  return offsets;
}

}  // namespace roofline
