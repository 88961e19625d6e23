#include "profile/collective_neighbours.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "measure/statistics.hpp"
#include "profile/causes/kernel_names.hpp"

namespace roofline {
namespace {

class NeighboursOfJob {
 public:
  NeighboursOfJob(const Job& job, const Recording& recording, const std::vector<Span>& steps, const Machine& machine)
      : job_(job), recording_(recording), steps_(steps) {
    if (const Ceiling* const read = machine.find("hbm.read")) read_rate_ = read->value;
    const std::vector<bool> groups = collective_groups(recording);
    for (const Activity& activity : recording.activities) {
      if (activity.what != ActivityKind::kernel || activity.group < 0 || is_of_collectives(activity, groups)) continue;
      kernels_[{activity.process, activity.device}].push_back(&activity);
    }
  }

  CollectiveNeighbours find(spool::CollectiveKind kind) {
    using spool::CollectiveKind;
    const bool data = kind == CollectiveKind::all_to_all || kind == CollectiveKind::all_gather;
    double bytes = 0;
    CollectiveNeighbours sums;
    for (std::size_t rank = 0; rank < job_.timelines.size(); ++rank) {
      const auto of_rank = kernels_.find({job_.ranks[rank].process, job_.ranks[rank].device});
      if (of_rank == kernels_.end()) continue;
      for (const CollectiveKernel& kernel : job_.timelines[rank].collectives) {
        if (kernel.kind != kind || kernel.bytes == 0 || span_at(steps_, kernel.span.start) == steps_.size()) continue;
        const auto [before, after] = around(of_rank->second, kernel.span);
        const auto of_kernel = static_cast<double>(kernel.bytes);
        bytes += of_kernel;
        if (before == nullptr || after == nullptr) continue;
        const bool widens = is_widening(symbol(*before)), narrows = is_narrowing(symbol(*after));
        if (widens && narrows) sums.widened += of_kernel;
        if (data && (widens || narrows)) sums.used_narrow += of_kernel;
        if (data) sums.reducible += reducible(of_rank->second, kernel.span, of_kernel);
        sums.unread += unread_by(*after, of_kernel);
        sums.zeros += zeros_before(of_rank->second, kernel.span, of_kernel, sums.table);
      }
    }
    if (!(bytes > 0)) return {};
    for (double* const share : {&sums.widened, &sums.used_narrow, &sums.unread, &sums.reducible, &sums.zeros}) {
      *share /= bytes;
    }
    return sums;
  }

 private:
  static std::vector<const Activity*>::const_iterator first_from(const std::vector<const Activity*>& kernels,
                                                                 std::uint64_t time) {
    return std::lower_bound(kernels.begin(), kernels.end(), time,
                            [](const Activity* kernel, std::uint64_t at) { return kernel->start < at; });
  }

  /// The kernel that started last before the collective, and the first after it; null: none.
  static std::pair<const Activity*, const Activity*> around(const std::vector<const Activity*>& kernels,
                                                            const Span& span) {
    const auto next = first_from(kernels, span.start), after = first_from(kernels, span.end);
    return {next == kernels.begin() ? nullptr : *std::prev(next), after == kernels.end() ? nullptr : *after};
  }

  std::string_view symbol(const Activity& kernel) const {
    return recording_.groups[static_cast<std::size_t>(kernel.group)].symbol;
  }

  /// Bytes of the collective that a fill has written and the gradient of an embedding has not, whose kernels directly
  /// precede it. `table`: that kernel's group.
  double zeros_before(const std::vector<const Activity*>& kernels, const Span& span, double bytes, int& table) const {
    constexpr std::ptrdiff_t kBefore = 32;  // kernels: indices are sorted and rows divided before they are summed
    const auto end = first_from(kernels, span.start);
    double filled = 0, written = 0;
    int gradient = -1;
    for (auto at = end; at != kernels.begin() && end - at < kBefore;) {
      const Activity& kernel = **--at;
      if (is_dense_embedding_gradient(symbol(kernel))) {
        written = std::max(written, written_by(kernel));
        gradient = kernel.group;
      } else if (gradient >= 0 && is_fill(symbol(kernel))) {
        filled += written_by(kernel);
      } else if (filled > 0) {
        break;
      }
    }
    if (!(written > 0) || filled <= written) return 0;
    table = gradient;
    return std::min(bytes, filled - written);
  }

  /// Median of what was counted; 0: nothing.
  double counted(const Activity& kernel, const char* quantity) const {
    const LaunchGroup& group = recording_.groups[static_cast<std::size_t>(kernel.group)];
    const auto values = group.values.find(quantity);
    return values == group.values.end() ? 0 : median(values->second);
  }
  double written_by(const Activity& kernel) const { return counted(kernel, "dram.write_bytes"); }
  double read_by(const Activity& kernel) const { return counted(kernel, "dram.read_bytes"); }

  /// Bytes of the collective that would not have been sent, had they been reduced before or expanded behind it. Kernels
  /// that copy or convert all of them may be in between.
  double reducible(const std::vector<const Activity*>& kernels, const Span& span, double bytes) const {
    constexpr std::ptrdiff_t kFew = 4;
    constexpr double kMost = 0.5, kFourth = 0.25, kSome = 1e-3;
    const auto after = first_from(kernels, span.end), before = first_from(kernels, span.start);
    for (auto at = after; at != kernels.end() && at - after < kFew; ++at) {
      const double read = read_by(**at), written = written_by(**at);
      if (read < kMost * bytes || is_product(symbol(**at))) break;
      if (written <= kFourth * bytes && is_reduction(symbol(**at))) return bytes - written;
    }
    for (auto at = before; at != kernels.begin() && before - at < kFew;) {
      const Activity& kernel = **--at;
      const double read = read_by(kernel), written = written_by(kernel);
      if (written < kMost * bytes || is_product(symbol(kernel)) || is_fill(symbol(kernel))) break;
      if (read <= kFourth * bytes && read >= kSome * bytes) return bytes - read;
    }
    return 0;
  }

  /// What it reads at most is counted, or follows from its time.
  double unread_by(const Activity& kernel, double bytes) const {
    const LaunchGroup& group = recording_.groups[static_cast<std::size_t>(kernel.group)];
    if (!gathers_rows(group.symbol)) return 0;
    const auto counted = group.values.find("dram.read_bytes");
    if (counted != group.values.end()) return std::max(0.0, bytes - median(counted->second));
    return read_rate_ > 0 ? std::max(0.0, bytes - read_rate_ * seconds(kernel.end - kernel.start)) : 0;
  }

  const Job& job_;
  const Recording& recording_;
  const std::vector<Span>& steps_;
  double read_rate_ = 0;                                                 ///< bytes per second
  std::map<std::pair<int, int>, std::vector<const Activity*>> kernels_;  ///< by process and device, by start
};

/// What a rank ran since its last attention.
struct SinceAttention {
  std::vector<std::uint64_t> gathered;  ///< bytes
  bool product = false;                 ///< after the last all-gather
  std::size_t next = 0;                 ///< the rank's next collective

  /// All-gathers up to that time.
  void take_gathers(const std::vector<CollectiveKernel>& collectives, std::uint64_t time) {
    for (; next < collectives.size() && collectives[next].span.start <= time; ++next) {
      if (collectives[next].kind != spool::CollectiveKind::all_gather) continue;
      gathered.push_back(collectives[next].bytes);
      product = false;
    }
  }

  /// Queries, keys and values were gathered, and no product made others of them. Gathers of parts of the sequence are
  /// of keys and values only.
  bool gathers_heads() const {
    constexpr std::size_t kTensors = 3;
    if (gathered.size() < kTensors || product) return false;
    const std::uint64_t bytes = gathered.back();
    return std::all_of(gathered.end() - kTensors, gathered.end(), [&](std::uint64_t of) { return of == bytes; });
  }
};

}  // namespace

void GatheredHeads::add(const Activity& attention, bool gathers) {
  ++attentions;
  if (!gathers) return;
  ++gathered;
  rows[attention.group] += seconds(attention.end - attention.start);
}

double GatheredHeads::gathered_s() const {
  double sum = 0;
  for (const auto& [group, time] : rows) sum += time;
  return sum;
}

GatheredHeads gathered_heads(const Job& job, const Recording& recording, const std::vector<Span>& steps) {
  GatheredHeads heads;
  std::map<std::pair<int, int>, std::size_t> ranks;
  for (std::size_t i = 0; i < job.ranks.size(); ++i) ranks[{job.ranks[i].process, job.ranks[i].device}] = i;
  std::vector<SinceAttention> since(job.ranks.size());
  Within within(steps);
  for (const Activity& activity : recording.activities) {
    const auto rank = ranks.find({activity.process, activity.device});
    if (rank == ranks.end() || activity.what != ActivityKind::kernel || activity.group < 0) continue;
    SinceAttention& of = since[rank->second];
    of.take_gathers(job.timelines[rank->second].collectives, activity.start);
    const std::string_view symbol = recording.groups[static_cast<std::size_t>(activity.group)].symbol;
    if (!is_attention_forward(symbol)) {
      of.product |= !is_collective(symbol) && is_product(symbol);
      continue;
    }
    if (within(activity.start)) heads.add(activity, of.gathers_heads());
    of.gathered.clear();
  }
  return heads;
}

CollectiveNeighbours collective_neighbours(const Job& job, const Recording& recording, const std::vector<Span>& steps,
                                           spool::CollectiveKind kind, const Machine& machine) {
  return NeighboursOfJob(job, recording, steps, machine).find(kind);
}

}  // namespace roofline
