#include "profile/small_messages.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "measure/statistics.hpp"
#include "profile/collective_sums.hpp"
#include "report/saving_order.hpp"

namespace roofline {
namespace {

/// Collectives of up to this size take about as long as the smallest ones.
constexpr std::uint64_t kSmallMessage = 256 << 10;
/// So many in a step of each rank are worth merging, or are the cause of lost time.
constexpr double kManyToMerge = 8, kManyBetweenKernels = 16;

/// Collectives that are alike.
using MessageKey = std::tuple<spool::CollectiveKind, std::size_t, double>;  // kind, ranks, bytes

class MessagesOfJob {
 public:
  MessagesOfJob(const Job& job, const Recording& recording, const std::vector<Span>& spans, const Machine& machine)
      : job_(job), recording_(recording), spans_(spans), machine_(machine) {}

  SmallMessages find() {
    constexpr double kGoodPart = 0.25;  // there is one in forward, and one in backward
    constexpr double kSome = 0.1;
    find_sizes();
    Within within(spans_);
    for (const MatchedCollective& collective : job_.matched) {
      if (!within(collective.start)) continue;
      const auto size = sizes_.find(key_of(collective));
      if (size == sizes_.end() || !size->second.small) continue;
      for (const RankArrival& arrival : collective.arrivals) add(collective, arrival, size->second);
    }
    const double of_rank = static_cast<double>(spans_.size()) * static_cast<double>(job_.ranks.size());
    SmallMessages merged = sum_of(mergeable_), all = sum_of(all_);
    if (merged.calls >= all.calls / 2 || all.calls < kManyBetweenKernels * of_rank) {
      merged.many = merged.calls >= kManyToMerge * of_rank;
      return merged;
    }
    all.many = true;
    // No kernel overlaps a collective whose result it needs. Others can be postponed and merged.
    all.mergeable = beside_kernels_ > kSome * all.calls;
    all.of_batch_norm = merged_statistics() >= kGoodPart * all.calls;
    return all;
  }

 private:
  struct Size {
    std::vector<double> transfers;
    double at_roof_s = 0;
    bool small = false;
  };
  struct Sum {
    SmallMessages messages;
    std::map<std::size_t, std::vector<double>> waits;  ///< by step
  };

  MessageKey key_of(const MatchedCollective& collective) const {
    return {job_.kernel(collective.arrivals.front()).kind, collective.arrivals.size(), job_.bytes(collective)};
  }

  /// Launches that merge all ranks' statistics of a batch, which SyncBatchNorm does after each of its all-gathers.
  double merged_statistics() const {
    double launches = 0;
    Within within(spans_);
    for (const Activity& activity : recording_.activities) {
      if (activity.what != ActivityKind::kernel || activity.group < 0 || !within(activity.start)) continue;
      const LaunchGroup& group = recording_.groups[static_cast<std::size_t>(activity.group)];
      launches += group.symbol.find("batch_norm_reduce_statistics") != std::string::npos ? 1 : 0;
    }
    return launches;
  }

  void find_sizes() {
    Within within(spans_);
    for (const MatchedCollective& collective : job_.matched) {
      if (within(collective.start)) sizes_[key_of(collective)].transfers.push_back(collective.transfer_s());
    }
    for (auto& [key, size] : sizes_) classify(key, size);
  }

  /// If the roof is known, larger collectives are also small if they take much longer than at the roof.
  void classify(const MessageKey& key, Size& size) const {
    constexpr double kSlowLink = 10e9;  // bytes per second: merged messages are faster than that
    constexpr double kOfRoof = 0.35, kLatency = 60e-6;
    const auto& [kind, ranks, bytes] = key;
    if (!(bytes > 0)) return;
    const auto bound = bound_of_collective(collective_name(kind), static_cast<int>(ranks), bytes, machine_);
    const double transfer_s = median(std::move(size.transfers));
    const bool latency = bound && (bound->label == BoundLabel::latency ||
                                   (transfer_s <= kLatency && bound->attainable_time_s <= kOfRoof * transfer_s));
    size.small = bytes <= static_cast<double>(kSmallMessage) || latency;
    size.at_roof_s = bytes / kSlowLink;
    if (bound && bound->label != BoundLabel::latency) {
      size.at_roof_s = std::min(size.at_roof_s, bound->attainable_time_s);
    }
  }

  /// A collective that needs the results of a kernel in between cannot be merged with the previous one.
  static bool follows_directly(const RankTimeline& timeline, const RankArrival& arrival) {
    if (arrival.kernel == 0) return false;
    const Span between = {timeline.collectives[arrival.kernel - 1].span.start,
                          timeline.collectives[arrival.kernel].span.start};
    const std::vector<Span> computed = parts_within(between, timeline.compute);
    return std::none_of(computed.begin(), computed.end(), [&](const Span& span) { return span.start > between.start; });
  }

  void add(const MatchedCollective& collective, const RankArrival& arrival, const Size& size) {
    const RankTimeline& timeline = job_.timelines[static_cast<std::size_t>(arrival.rank)];
    const CollectiveKernel& kernel = timeline.collectives[arrival.kernel];
    const auto exposed = [&](const Span& span) { return seconds(uncovered_length(span, timeline.compute)); };
    const double waited = exposed({kernel.span.start, std::min(kernel.span.end, collective.start)});
    const double transfer = exposed({std::max(kernel.span.start, collective.start), kernel.span.end});
    const std::string line = line_of_group(recording_, kernel.group);
    const auto add_to = [&](Sum& sum) {
      sum.messages.waited_s += waited;
      sum.waits[span_at(spans_, collective.start)].push_back(waited);
      ++sum.messages.calls;
      sum.messages.exposed_s += transfer;
      sum.messages.at_roof_s += std::min(transfer, size.at_roof_s);
      sum.messages.bytes += static_cast<double>(kernel.bytes);
      if (kernel.group >= 0) sum.messages.lines[line] += transfer + waited;
    };
    add_to(all_);
    beside_kernels_ += parts_within(kernel.span, timeline.compute).empty() ? 0 : 1;
    if (follows_directly(timeline, arrival)) add_to(mergeable_);
  }

  /// A rank that is late makes others wait in the next collective only.
  static SmallMessages sum_of(Sum& sum) {
    constexpr std::size_t kFew = 10;  // one in so many
    for (auto& [step, waits] : sum.waits) {
      std::sort(waits.begin(), waits.end(), std::greater<>());
      const auto few = static_cast<std::ptrdiff_t>((waits.size() + kFew - 1) / kFew);
      sum.messages.spread_s += std::accumulate(waits.begin() + few, waits.end(), 0.0);
    }
    return std::move(sum.messages);
  }

  const Job& job_;
  const Recording& recording_;
  const std::vector<Span>& spans_;
  const Machine& machine_;
  std::map<MessageKey, Size> sizes_;
  Sum all_, mergeable_;
  double beside_kernels_ = 0;  ///< of all: while which another kernel ran
};

}  // namespace

bool SmallMessages::explain_waiting(const RankSteps& steps) const {
  constexpr double kMost = 0.5, kLeast = 0.05;
  const double time = steps.total_s() * static_cast<double>(steps.waited.size());
  return many && spread_s > kMost * steps.waited_s() && waited_s + exposed_s >= kLeast * time;
}

SmallMessages small_messages(const Job& job, const Recording& recording, const std::vector<Span>& spans,
                             const Machine& machine) {
  return MessagesOfJob(job, recording, spans, machine).find();
}

void name_small_messages(std::vector<IdlePart>& parts, const SmallMessages& small) {
  if (!small.many || !small.mergeable) return;
  for (IdlePart& part : parts) {
    if (of_launching(part.cause) && small.lines.contains(part.line)) part.cause = SavingCause::small_messages;
  }
}

}  // namespace roofline
