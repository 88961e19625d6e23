#include "profile/slow_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "measure/statistics.hpp"
#include "model/collective.hpp"
#include "model/find.hpp"
#include "profile/collective_sums.hpp"
#include "text/parse.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

struct NvLink {
  std::string_view name;  ///< in the device's name, lower case
  double gigabytes_per_s;
};

/// Half of what data sheets state for both ways. V100-SXM2 boards connect some pairs by a single link. Boards of
/// kWithoutNvLink have bridges at most, and parts of a GPU (MIG) no NVLink.
constexpr NvLink kNvLinks[] = {{"b300", 900},      {"b200", 900},    {"h200", 450},     {"h100", 450},
                               {"h800", 200},      {"h20", 450},     {"a100-sxm", 300}, {"a800-sxm", 200},
                               {"v100-sxm3", 150}, {"v100-sxm2", 25}};
constexpr std::string_view kWithoutNvLink[] = {"pcie", "nvl", "mig", "gh200"};

/// Bytes over the link. Smaller messages are bound by latency: an all-reduce of 4 MB reaches 24 % of an H200's NVLink.
constexpr double kLargeMessage = 16 << 20;
/// Of the link. Between two H200s, all-reduces of 49 MiB reach 6 % of NVLink through host memory, and those of 64 MiB
/// 40 % over NVLink, beside kernels that use all of the GPU. PCIe 5.0 has 12 % of NVLink's bandwidth.
constexpr double kSmallPart = 0.15;

/// Collectives that are alike.
using LinkKey = std::tuple<spool::CollectiveKind, std::size_t, double>;  // kind, ranks, bytes

struct LinkUse {
  std::vector<double> transfers;
  double bus_bytes = 0;  ///< of one of them
  double link = 0;       ///< bytes per second
  bool slow = false;

  double bytes_per_s() const { return bus_bytes / median(transfers); }
};

/// True if that value keeps NCCL from using NVLink, or all of it.
bool restricts_nvlink(std::string_view name, std::string_view value) {
  constexpr int kFewChannels = 2;  // one channel carries some 20 GB/s
  const auto number = parsed_number<int>(value);
  if (name == "NCCL_P2P_DISABLE") return number.value_or(0) != 0;
  if (name == "NCCL_P2P_LEVEL") return lower_case(value) == "loc" || number == 0;
  if (name == "NCCL_MAX_NCHANNELS" || name == "NCCL_MAX_CTAS") return number && *number > 0 && *number <= kFewChannels;
  return false;
}

/// NVLink's bandwidth between the GPUs of all ranks; std::nullopt if one of them has none, or is on another node.
std::optional<double> link_of(const Job& job, const Recording& recording) {
  std::set<std::string_view> hosts;
  std::optional<double> link;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const ProcessTrace& trace = *job.traces[i];
    if (trace.rank) hosts.insert(trace.text(trace.rank->host));
    if (job.ranks[i].device < 0) continue;
    const auto own = nvlink_bandwidth(recording.devices[static_cast<std::size_t>(job.ranks[i].device)].name);
    if (!own) return std::nullopt;
    link = std::min(link.value_or(*own), *own);
  }
  return hosts.size() <= 1 ? link : std::nullopt;
}

class LinkUses {
 public:
  LinkUses(const Job& job, const Recording& recording, const std::vector<Span>& steps, const Machine& machine,
           double link)
      : job_(job), recording_(recording), steps_(steps), machine_(machine), link_(link) {}

  std::optional<SlowLink> find() {
    constexpr double kNearlyAll = 0.8;
    collect();
    double all = 0, slow = 0;
    for (auto& [key, use] : uses_) {
      std::sort(use.transfers.begin(), use.transfers.end());
      const double fast_s = use.transfers[use.transfers.size() / 4];
      const double bytes = use.bus_bytes * static_cast<double>(use.transfers.size());
      use.slow = use.bus_bytes < kSmallPart * use.link * fast_s;
      all += bytes;
      slow += use.slow ? bytes : 0;
    }
    if (!(slow > 0) || slow < kNearlyAll * all) return std::nullopt;
    return sum();
  }

 private:
  LinkKey key_of(const MatchedCollective& collective) const {
    return {job_.kernel(collective.arrivals.front()).kind, collective.arrivals.size(), job_.bytes(collective)};
  }

  void collect() {
    Within within(steps_);
    for (const MatchedCollective& collective : job_.matched) {
      const LinkKey key = key_of(collective);
      const auto& [kind, ranks, bytes] = key;
      const auto factor = bus_factor(collective_name(kind), static_cast<std::int64_t>(ranks));
      if (!within(collective.start) || !factor || *factor * bytes < kLargeMessage) continue;
      LinkUse& use = uses_[key];
      use.bus_bytes = *factor * bytes;
      use.link = link_for(kind);
      use.transfers.push_back(collective.transfer_s());
    }
  }

  /// NCCL's measured roof where it is lower.
  double link_for(spool::CollectiveKind kind) const {
    const Ceiling* const roof = machine_.find(fmt::format("nccl.{}", collective_name(kind)));
    return roof != nullptr && roof->value > 0 ? std::min(link_, roof->value) : link_;
  }

  SlowLink sum() const {
    std::map<LinkKey, double> exposed;
    std::map<std::string, double> lines;
    SlowLink found;
    for (const MatchedCollective& collective : job_.matched) {
      const auto use = uses_.find(key_of(collective));
      if (use == uses_.end() || !use->second.slow) continue;
      for (const RankArrival& arrival : collective.arrivals) {
        const double time = exposed_s(collective, arrival);
        const double needed = use->second.bus_bytes / use->second.link / collective.transfer_s();
        exposed[use->first] += time;
        lines[line_of_group(recording_, job_.kernel(arrival).group)] += time;
        found.exposed_s += time;
        found.saved_s += time * std::max(0.0, 1 - needed);
      }
    }
    const LinkKey most = key_of_largest(exposed);
    found.name = collective_name(std::get<0>(most));
    found.bytes = std::get<2>(most);
    found.bus_bytes_per_s = uses_.at(most).bytes_per_s();
    found.link_bytes_per_s = uses_.at(most).link;
    found.line = key_of_largest(lines);
    for (const auto& [name, value] : job_.traces.front()->variables) {
      if (restricts_nvlink(name, value)) std::tie(found.variable, found.value) = std::pair(name, value);
    }
    return found;
  }

  double exposed_s(const MatchedCollective& collective, const RankArrival& arrival) const {
    const Span& span = job_.kernel(arrival).span;
    const std::vector<Span>& compute = job_.timelines[static_cast<std::size_t>(arrival.rank)].compute;
    return seconds(uncovered_length({std::max(span.start, collective.start), span.end}, steps_, compute));
  }

  const Job& job_;
  const Recording& recording_;
  const std::vector<Span>& steps_;
  const Machine& machine_;
  double link_;
  std::map<LinkKey, LinkUse> uses_;
};

}  // namespace

std::optional<double> nvlink_bandwidth(std::string_view gpu) {
  constexpr double kGigabyte = 1e9;
  const std::string name = lower_case(gpu);
  const auto in_name = [&name](std::string_view part) { return name.find(part) != std::string::npos; };
  if (std::ranges::any_of(kWithoutNvLink, in_name)) return std::nullopt;
  const auto* const found = std::ranges::find_if(kNvLinks, [&](const NvLink& link) { return in_name(link.name); });
  return found == std::end(kNvLinks) ? std::nullopt : std::optional(kGigabyte * found->gigabytes_per_s);
}

std::optional<SlowLink> slow_link(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                  const Machine& machine) {
  const std::optional<double> link = link_of(job, recording);
  return link ? LinkUses(job, recording, steps, machine, *link).find() : std::nullopt;
}

}  // namespace roofline
