#include "profile/small_messages.hpp"

#include <algorithm>
#include <numeric>

#include "profile/rows.hpp"

namespace roofline {
namespace {

/// Collectives of up to this size take about as long as the smallest ones, and so many in a step are worth merging.
constexpr std::uint64_t kSmallMessage = 256 << 10;
constexpr double kManyMessages = 8;

}  // namespace

bool SmallMessages::explain_waiting(const RankSteps& steps) const {
  constexpr double kMost = 0.5;
  double all = 0;
  for (const std::vector<float>& of : steps.waited) all += std::accumulate(of.begin(), of.end(), 0.0);
  return many && waited_s > kMost * all;
}

SmallMessages small_messages(const Job& job, const Recording& recording, const std::vector<Span>& spans) {
  SmallMessages small;
  Within within(spans);
  for (const MatchedCollective& collective : job.matched) {
    if (!within(collective.start)) continue;
    for (const RankArrival& arrival : collective.arrivals) {
      const RankTimeline& timeline = job.timelines[static_cast<std::size_t>(arrival.rank)];
      const CollectiveKernel& kernel = timeline.collectives[arrival.kernel];
      if (arrival.kernel == 0 || kernel.bytes == 0 || kernel.bytes > kSmallMessage) continue;
      // One that needs the results of a kernel in between cannot be merged with the one before.
      const Span between = {timeline.collectives[arrival.kernel - 1].span.start, kernel.span.start};
      const std::vector<Span> computed = parts_within(between, timeline.compute);
      if (std::any_of(computed.begin(), computed.end(), [&](const Span& span) { return span.start > between.start; })) {
        continue;
      }
      const Span waiting = {kernel.span.start, std::min(kernel.span.end, collective.start)};
      if (waiting.start < waiting.end) small.waited_s += seconds(uncovered_length(waiting, timeline.compute));
      const Span transfer = {std::max(kernel.span.start, collective.start), kernel.span.end};
      if (transfer.start >= transfer.end) continue;
      const double exposed = seconds(uncovered_length(transfer, timeline.compute));
      ++small.calls;
      small.exposed_s += exposed;
      small.bytes += static_cast<double>(kernel.bytes);
      if (kernel.group < 0) continue;
      const LaunchGroup& group = recording.groups[static_cast<std::size_t>(kernel.group)];
      const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(group.process)];
      small.lines[line_text(trace, trace.place(group.kind.place).line)] += exposed;
    }
  }
  const double of_rank = static_cast<double>(spans.size()) * static_cast<double>(job.ranks.size());
  small.many = small.calls >= kManyMessages * of_rank;
  return small;
}

void name_small_messages(std::vector<IdlePart>& parts, const SmallMessages& small) {
  for (IdlePart& part : parts) {
    const bool launches = part.cause == SavingCause::tiny_kernels || part.cause == SavingCause::launch_rate;
    if (small.many && launches && small.lines.contains(part.line)) part.cause = SavingCause::small_messages;
  }
}

}  // namespace roofline
