#include "profile/mpi/mpi_waits.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "profile/intervals.hpp"

namespace roofline {
namespace {

struct Key {
  std::uint64_t communicator = 0, number = 0;
  bool operator==(const Key&) const = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>((key.communicator ^ key.number * kGolden) * kGolden);
  }
};

/// One collective with the ranks that have called it so far.
struct Meeting {
  std::int64_t last = std::numeric_limits<std::int64_t>::min();  ///< start of the last rank
  std::uint32_t rank = 0;                                        ///< index of that process
  std::uint32_t seen = 0, ranks = 0;
};
using Meetings = std::unordered_map<Key, Meeting, KeyHash>;

Key key_of(const MpiCollective& collective) { return {collective.communicator, collective.number}; }

Meetings meetings_of(const std::vector<MpiProcess>& processes, const std::vector<std::int64_t>& offsets) {
  Meetings meetings;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    for (const MpiCollective& collective : processes[i].collectives) {
      Meeting& meeting = meetings[key_of(collective)];
      const std::int64_t start = static_cast<std::int64_t>(collective.start) + offsets[i];
      ++meeting.seen;
      meeting.ranks = std::max(meeting.ranks, collective.ranks);
      if (start <= meeting.last) continue;
      meeting.last = start;
      meeting.rank = static_cast<std::uint32_t>(i);
    }
  }
  return meetings;
}

/// Seconds in calls other than blocking collectives.
double other_s(const MpiProcess& process) {
  double collectives = 0;
  for (const MpiSite& site : process.sites) collectives += site.kind == MpiKind::other ? 0 : site.seconds;
  return std::max(0.0, process.mpi_s - collectives);
}

/// Waiting by site, from that of the collectives that were matched (`known` seconds) to that of all.
void scale_to_all(const MpiProcess& process, const std::vector<double>& known, std::vector<double>& waiting) {
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (known[i] > 0) waiting[i] = std::min(process.sites[i].seconds, waiting[i] / known[i] * process.sites[i].seconds);
  }
}

}  // namespace

std::vector<std::int64_t> clock_offsets(const std::vector<MpiProcess>& processes) {
  std::vector<std::int64_t> offsets(processes.size(), 0);
  if (processes.empty()) return offsets;
  const auto ends = [](const MpiProcess& process, std::unordered_map<Key, std::uint64_t, KeyHash>& to) {
    for (const MpiCollective& collective : process.collectives) {
      const bool together = process.sites[collective.site].kind == MpiKind::collective;
      if (together) to[key_of(collective)] = collective.start + collective.ns;
    }
  };
  std::unordered_map<Key, std::uint64_t, KeyHash> first;
  ends(processes.front(), first);
  std::map<std::string, std::int64_t> of_host = {{processes.front().host, 0}};
  for (std::size_t i = 1; i < processes.size(); ++i) {
    const auto [known, is_new] = of_host.try_emplace(processes[i].host, 0);
    if (is_new) {
      std::unordered_map<Key, std::uint64_t, KeyHash> own;
      ends(processes[i], own);
      std::vector<std::int64_t> differences;
      for (const auto& [key, end] : own) {
        const auto other = first.find(key);
        if (other != first.end()) differences.push_back(static_cast<std::int64_t>(other->second - end));
      }
      const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
      std::nth_element(differences.begin(), middle, differences.end());
      if (differences.empty()) {
        of_host.erase(processes[i].host);  // another of its ranks may know
      } else {
        known->second = *middle;
      }
    }
    const auto offset = of_host.find(processes[i].host);
    offsets[i] = offset == of_host.end() ? 0 : offset->second;
  }
  return offsets;
}

MpiWaits mpi_waits(const std::vector<MpiProcess>& processes) {
  MpiWaits waits;
  waits.parts.resize(processes.size());
  waits.offsets = clock_offsets(processes);
  const std::vector<std::int64_t>& offsets = waits.offsets;
  const Meetings meetings = meetings_of(processes, offsets);
  for (const auto& [key, meeting] : meetings) {
    if (meeting.ranks < 2 || meeting.seen != meeting.ranks) continue;
    ++waits.matched;
    ++waits.parts[meeting.rank].last;
  }
  double least_other = std::numeric_limits<double>::infinity(), stride = 1;
  for (const MpiProcess& process : processes) {
    least_other = std::min(least_other, other_s(process));
    stride = std::max(stride, static_cast<double>(process.stride));
  }
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const MpiProcess& process = processes[i];
    std::vector<double> waiting(process.sites.size(), 0), known = waiting;
    for (const MpiCollective& collective : process.collectives) {
      const double whole = seconds(collective.ns);
      waits.collectives_s += whole;
      const Meeting& meeting = meetings.at(key_of(collective));
      if (meeting.ranks < 2 || meeting.seen != meeting.ranks) continue;
      waits.matched_s += whole;
      known[collective.site] += whole;
      const std::int64_t start = static_cast<std::int64_t>(collective.start) + offsets[i];
      const double waited = std::clamp(static_cast<double>(meeting.last - start) * 1e-9, 0.0, whole);
      waiting[collective.site] += waited;
      waits.parts[meeting.rank].caused_wait_s += waited * stride;
    }
    scale_to_all(process, known, waiting);
    MpiParts& parts = waits.parts[i];
    parts.compute_s = process.compute_s();
    for (const double seconds : waiting) parts.waiting_s += seconds;
    parts.waiting_s += other_s(process) - least_other;
    parts.waiting_s = std::min(parts.waiting_s, process.mpi_s);
    parts.transfer_s = process.mpi_s - parts.waiting_s;
    waits.site_waiting_s.push_back(std::move(waiting));
  }
  return waits;
}

}  // namespace roofline
