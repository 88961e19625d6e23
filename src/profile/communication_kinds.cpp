#include "profile/communication_kinds.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "model/find.hpp"
#include "profile/collective_sums.hpp"
#include "profile/micro_batches.hpp"

namespace roofline {
namespace {

/// A single send or receive, as between pipeline stages.
bool of_stages(const CollectiveKernel& kernel) {
  return kernel.kind == spool::CollectiveKind::send_recv && kernel.calls <= 1;
}

class KindsOfJob {
 public:
  KindsOfJob(const Job& job, const Recording& recording, const std::vector<Span>& steps, const Machine& machine)
      : job_(job), recording_(recording), steps_(steps), machine_(machine), origins_(collective_origins(recording)) {}

  CommunicationKinds sum() {
    std::vector<std::vector<std::uint64_t>> begins;
    for (const RankTimeline& timeline : job_.timelines) begins.emplace_back(timeline.collectives.size());
    for (const MatchedCollective& collective : job_.matched) {
      for (const RankArrival& arrival : collective.arrivals) {
        begins[static_cast<std::size_t>(arrival.rank)][arrival.kernel] = collective.start;
      }
    }
    for (std::size_t rank = 0; rank < begins.size(); ++rank) {
      for (std::size_t i = 0; i < begins[rank].size(); ++i) {
        add(job_.timelines[rank], job_.timelines[rank].collectives[i], begins[rank][i]);
      }
    }
    result_.repeated_wait_s = repeated_wait_s();
    return std::move(result_);
  }

 private:
  /// Calls of one kind and size, by the program itself.
  struct OwnCalls {
    double calls = 0, waiting_s = 0;
  };

  double repeated_wait_s() const {
    constexpr double kSeveral = 1.9;  // of a rank and step: one may be partly in the first or the last step
    const double of_rank = static_cast<double>(steps_.size()) * static_cast<double>(job_.ranks.size());
    double waiting = 0;
    for (const auto& [size, of] : own_calls_) waiting += of.calls >= kSeveral * of_rank ? of.waiting_s : 0;
    return waiting;
  }

  /// `begin`: of its transfer; 0: it was not matched.
  void add(const RankTimeline& timeline, const CollectiveKernel& kernel, std::uint64_t begin) {
    const std::uint64_t from = begin == 0 ? kernel.span.start : std::clamp(begin, kernel.span.start, kernel.span.end);
    double waiting = exposed_s({kernel.span.start, from}, timeline);
    double transfer = exposed_s({from, kernel.span.end}, timeline);
    const auto origin = origins_.find(kernel.group);
    const CollectiveOrigin of_program = origin == origins_.end() ? CollectiveOrigin::other : origin->second;
    const bool own = of_program != CollectiveOrigin::forward && of_program != CollectiveOrigin::backward;
    if (own && kernel.bytes > 0 && kernel.bytes <= kLatencyBound &&
        span_at(steps_, kernel.span.start) < steps_.size()) {
      OwnCalls& calls = own_calls_[{kernel.kind, kernel.bytes}];
      ++calls.calls;
      calls.waiting_s += waiting;
    }
    if (!(waiting + transfer > 0)) return;
    const std::string line = line_of_group(recording_, kernel.group);
    if (of_stages(kernel)) {
      if (begin == 0) {
        waiting = std::max(0.0, transfer - most_transfer_s(kernel));
        transfer -= waiting;
        result_.stages_unmatched_s += waiting;
      }
      result_.stages_wait_s += waiting;
      result_.stages_transfer_s += transfer;
      result_.stage_lines[line] += waiting;
    }
    CommunicationKind& of = result_.kinds[kernel.kind];
    of.waiting_s += waiting;
    of.transfer_s += transfer;
    of.lines[line] += transfer;
    CommunicationPart& part = of.origins[of_program];
    part.transfer_s += transfer;
    part.lines[line] += transfer;
    of.waits[line] += waiting;
    ++of.calls;
  }

  double exposed_s(const Span& span, const RankTimeline& timeline) const {
    return seconds(uncovered_length(span, steps_, timeline.compute));
  }

  /// A send or receive that takes longer waits. All of its time where its roof or its bytes are not known.
  double most_transfer_s(const CollectiveKernel& kernel) {
    constexpr double kSlow = 4, kLatency = 50e-6;
    const auto [found, added] = attainable_.try_emplace(kernel.bytes);
    if (added) {
      const auto bytes = static_cast<double>(kernel.bytes);
      const auto bound = bound_of_collective(collective_name(kernel.kind), 2, bytes, machine_);
      if (bound) found->second = bound->attainable_time_s;
    }
    return found->second ? kSlow * *found->second + kLatency : seconds(kernel.span.length());
  }

  const Job& job_;
  const Recording& recording_;
  const std::vector<Span>& steps_;
  const Machine& machine_;
  std::map<std::pair<spool::CollectiveKind, std::uint64_t>, OwnCalls> own_calls_;  ///< small ones, by bytes
  std::map<int, CollectiveOrigin> origins_;                                        ///< by group
  std::map<std::uint64_t, std::optional<double>> attainable_;                      ///< by bytes
  CommunicationKinds result_;
};

/// "layers.12.mlp.up" → "layers." and "12"; empty: it has no number.
std::pair<std::string_view, std::string_view> numbered_part(std::string_view module) {
  for (std::size_t begin = 0; begin < module.size();) {
    const std::size_t end = std::min(module.find('.', begin), module.size());
    const std::string_view part = module.substr(begin, end - begin);
    if (!part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; })) {
      return {module.substr(0, begin), part};
    }
    begin = end + 1;
  }
  return {};
}

std::int64_t layers_of(const ProcessTrace& trace) {
  std::map<std::string_view, std::set<std::string_view>> numbers;
  for (const spool::Place& place : trace.places) {
    const auto [name, number] = numbered_part(trace.text(place.module));
    if (!number.empty()) numbers[name].insert(number);
  }
  std::size_t most = 0;
  for (const auto& [name, of] : numbers) most = std::max(most, of.size());
  return static_cast<std::int64_t>(most);
}

}  // namespace

double CommunicationKind::transfer_of(CollectiveOrigin origin) const {
  const auto found = origins.find(origin);
  return found == origins.end() ? 0 : found->second.transfer_s;
}

void CommunicationKind::remove(CollectiveOrigin origin) {
  const auto found = origins.find(origin);
  if (found == origins.end()) return;
  transfer_s = std::max(0.0, transfer_s - found->second.transfer_s);
  for (const auto& [line, time] : found->second.lines) lines[line] -= time;
  std::erase_if(lines, [](const auto& line) { return !(line.second > 0); });
  origins.erase(found);
}

double CommunicationKinds::transfer_s(std::initializer_list<spool::CollectiveKind> of, CollectiveOrigin origin) const {
  double sum = 0;
  for (const spool::CollectiveKind kind : of) {
    const auto found = kinds.find(kind);
    sum += found == kinds.end() ? 0 : found->second.transfer_of(origin);
  }
  return sum;
}

const std::pair<const spool::CollectiveKind, CommunicationKind>* CommunicationKinds::largest() const {
  const auto found = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.second.transfer_s < b.second.transfer_s;
  });
  return found == kinds.end() ? nullptr : &*found;
}

double CommunicationKinds::waiting_s() const {
  double sum = 0;
  for (const auto& [kind, of] : kinds) sum += of.waiting_s;
  return sum;
}

double CommunicationKinds::waiting_s(spool::CollectiveKind kind) const {
  const auto found = kinds.find(kind);
  return found == kinds.end() ? 0 : found->second.waiting_s;
}

std::string CommunicationKinds::line_of_waiting() const {
  std::map<std::string, double> lines;
  double all = 0;
  for (const auto& [kind, of] : kinds) {
    for (const auto& [line, time] : of.waits) {
      lines[line] += time;
      all += time;
    }
  }
  const std::string most = key_of_largest(lines);
  return all > 0 && lines.at(most) > 0.5 * all ? most : std::string();
}

CommunicationKinds communication_kinds(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                       const Machine& machine) {
  CommunicationKinds kinds = KindsOfJob(job, recording, steps, machine).sum();
  if (!job.traces.empty()) kinds.layers = layers_of(*job.traces.front());
  kinds.micro_batches = reduced_micro_batches(job, recording, steps);
  kinds.heads = gathered_heads(job, recording, steps);
  if (const auto* const most = kinds.largest()) {
    kinds.neighbours = collective_neighbours(job, recording, steps, most->first, machine);
    if (kinds.neighbours.table >= 0) kinds.table_line = line_of_group(recording, kinds.neighbours.table);
  }
  return kinds;
}

}  // namespace roofline
