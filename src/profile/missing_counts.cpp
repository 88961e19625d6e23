#include "profile/missing_counts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

namespace roofline {
namespace {

/// Another run is worth it below this share, and if the last one raised it by this much.
constexpr double kEnough = 0.8, kGain = 0.05;
constexpr std::uint64_t kShortRun = 15'000'000'000;  // ns

using Signature = std::tuple<std::string, std::array<std::uint32_t, 3>, std::array<std::uint32_t, 3>>;

Signature signature_of(const ProcessTrace& trace, spool::Id id) {
  const spool::Kind& kind = trace.kind(id);
  Signature signature{std::string(trace.text(kind.name)), {}, {}};
  std::copy_n(kind.grid, 3, std::get<1>(signature).begin());
  std::copy_n(kind.block, 3, std::get<2>(signature).begin());
  return signature;
}

bool is_refused(const ProcessTrace& trace) {
  return std::any_of(trace.notes.begin(), trace.notes.end(),
                     [](const ProcessTrace::Note& note) { return note.code == spool::NoteCode::not_counted; });
}

}  // namespace

std::optional<double> counted_share(const std::vector<ProcessTrace>& traces) {
  std::map<Signature, double> times;
  std::map<Signature, std::set<std::uint32_t>> groups_of;
  std::set<std::uint32_t> groups;
  for (const ProcessTrace& trace : traces) {
    if (is_refused(trace)) return std::nullopt;
    for (const spool::Metric& metric : trace.metrics) {
      if (metric.name != 0) groups.insert(metric.group);
    }
    for (const ProcessTrace::Counts& counts : trace.counts) {
      groups_of[signature_of(trace, counts.about.kind)].insert(counts.about.group);
    }
    if (trace.counts_only) continue;
    std::unordered_map<std::uint32_t, spool::Id> launched;
    for (const spool::Launch& launch : trace.launches) launched.emplace(launch.correlation, launch.kind);
    for (const spool::Kernel& kernel : trace.kernels) {
      const auto launch = launched.find(kernel.correlation);
      if (kernel.graph != 0 || kernel.end <= kernel.start || launch == launched.end()) continue;
      if ((trace.kind(launch->second).flags & spool::kUncountable) != 0) continue;
      times[signature_of(trace, launch->second)] += static_cast<double>(kernel.end - kernel.start);
    }
  }
  double all = 0, counted = 0;
  for (const auto& [signature, time] : times) {
    all += time;
    const auto found = groups_of.find(signature);
    if (found != groups_of.end() && found->second.size() >= groups.size()) counted += time;
  }
  if (!(all > 0)) return std::nullopt;
  return counted / all;
}

bool is_short(const ProgramRun& run) {
  return run.exit_status == 0 && !run.interrupted && !run.stopped && run.end - run.start <= kShortRun;
}

bool RunsForCounts::another(bool repeatable, const std::vector<ProcessTrace>& traces) {
  ++made_;
  if (!repeatable || made_ == kMost) return false;
  const std::optional<double> share = counted_share(traces);
  if (!share || *share >= kEnough) return false;
  const bool in_vain = made_ > 1 && *share < share_ + kGain;
  share_ = *share;
  return !in_vain;
}

}  // namespace roofline
