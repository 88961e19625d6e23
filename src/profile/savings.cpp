// Savings are claims on parts of the wall time; claims.hpp makes them disjoint.
#include "profile/savings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "profile/actions.hpp"
#include "profile/causes/causes.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/claims.hpp"
#include "profile/fusions.hpp"
#include "profile/graph_kernels.hpp"
#include "profile/sums.hpp"
#include "profile/wall_time.hpp"
#include "report/diagnosis/cause_lines.hpp"
#include "report/diagnosis/counted.hpp"
#include "report/diagnosis/diagnosis.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/source_place.hpp"

namespace roofline {
namespace {

class SavingFinder {
 public:
  SavingFinder(const Recording& recording, const FoundSteps& found, const std::vector<Point>& points,
               const RowTimes& rows, const Machine& machine, const Profile& profile, SourceTexts* sources)
      : recording_(recording),
        found_(found),
        spans_(found.steady()),
        points_(points),
        machine_(machine),
        profile_(profile),
        sources_(sources),
        devices_(profile.steps ? profile.steps->devices : profile.devices),
        framework_(framework_of(recording)),
        rows_(points.size()) {
    for (const auto& [where, time] : rows) {
      RowTime& row = rows_[static_cast<std::size_t>(where.first)];
      row.kernel_s += time.kernel_s;
      row.launches += time.launches;
    }
  }

  std::vector<Saving> find(const IdleParts& idle, RankSavings of_ranks) {
    add(std::move(of_ranks.claims));
    rank_copies_s_ = of_ranks.copies_s;
    if (inflation(profile_).value_or(0) <= kMostInflation) {
      add(without_recording(idle_savings(found_, active_spans(recording_), idle, framework_)));
    }
    add(causes_of(recording_, found_, points_, machine_, sources_));
    add_copies();
    advise_on_gathered_copies();
    add_kernels();
    add(fusions_of(recording_, points_, machine_, spans_, framework_));
    add_traffic();
    constexpr double kLeast = 1e-3;
    return disjoint_savings(std::move(claims_), limits(), kLeast * whole_s());
  }

 private:
  void add(std::vector<SavingClaim> claims) { std::move(claims.begin(), claims.end(), std::back_inserter(claims_)); }

  /// Claims on idle time, without the part added by the recording.
  std::vector<SavingClaim> without_recording(std::vector<SavingClaim> claims) const {
    double idle = 0, added = 0;
    for (const WallTime& wall : devices_) {
      idle += idle_seconds(wall);
      added += wall.recording_s;
    }
    if (added > 0) {
      for (SavingClaim& claim : claims) claim.saving.seconds *= idle / (idle + added);
    }
    return claims;
  }

  double whole_s() const { return profile_.steps ? profile_.steps->total_s : profile_.wall_s; }

  /// Time of the bar's parts available for claims. Concurrent kernels share their time.
  SavingLimits limits() const {
    SavingLimits limits;
    double kernel_s = 0;
    for (const WallTime& wall : devices_) {
      limits.idle_s += idle_seconds(wall);
      limits.copies_s += wall.copies_s;
      limits.communication_s += wall.rank_wait_s + wall.communication_s;
      limits.kernels_s += wall.kernels_s - wall.rank_wait_s - wall.communication_s;
      kernel_s += wall.kernel_s;
    }
    limits.copies_s = std::max(0.0, limits.copies_s - rank_copies_s_);
    const double once = kernel_s > limits.kernels_s ? limits.kernels_s / kernel_s : 1;
    for (const RowTime& row : rows_) limits.rows.push_back(row.kernel_s * once);
    return limits;
  }

  void add_copies() {
    double exposed = 0, copied = 0;
    for (const WallTime& wall : devices_) exposed += wall.copies_s;
    std::set<std::string> saves;  // lines
    for (const SavingClaim& claim : claims_) {
      if (claim.detail == CauseDetail::saved_state) saves.insert(claim.saving.line);
    }
    const std::vector<CopySum> copies = sum_copies(recording_, machine_, spans_);
    for (const CopySum& copy : copies) copied += copy.total_s;
    if (!(copied > 0)) return;
    for (const CopySum& copy : copies) {
      Saving saving;
      saving.kind = SavingKind::copies;
      saving.cause = copy.path.host() == CopyMemory::pageable ? SavingCause::pageable_copy : SavingCause::copies;
      saving.line = copy.line;
      saving.seconds = exposed * copy.total_s / copied;
      const double fraction = fraction_of_roof(copy);
      saving.what = fmt::format("Copies without overlap: {}", to_string(copy.path));
      const std::string number = counted_noun(copy.copies, "copy", "copies"), time = duration(copy.total_s);
      saving.evidence = copy.bytes > 0 ? fmt::format("{} of {} in {}, {}", number,
                                                     binary_bytes(copy.bytes / static_cast<double>(copy.copies)), time,
                                                     rate_text(copy))
                                       : fmt::format("{} in {}; their sizes were not recorded", number, time);
      if (std::isfinite(fraction)) saving.evidence += fmt::format(", {} of {}", percent(fraction), copy.roof);
      const bool saved = !copy.line.empty() && saves.contains(copy.line);
      saving.action = saved ? action_against(SavingCause::host_native, framework_, CauseDetail::saved_state)
                            : action_for_copies(copy, fraction, framework_);
      claims_.push_back({.saving = std::move(saving), .rows = {}, .general = true});
    }
  }

  /// Where the host gathers rows to copy them, the table belongs on the GPU: faster copies are the lesser remedy.
  void advise_on_gathered_copies() {
    std::set<std::string> gathers;  // functions
    for (const SavingClaim& claim : claims_) {
      const bool known = claim.detail == CauseDetail::host_gather && !claim.saving.line.empty();
      if (known) gathers.insert(function_of_place(claim.saving.line));
    }
    for (SavingClaim& claim : claims_) {
      const bool copies_in = claim.saving.cause == SavingCause::pageable_copy && claim.detail != CauseDetail::readback;
      if (copies_in && gathers.contains(function_of_place(claim.saving.line))) {
        claim.saving.action = action_against(SavingCause::data_loading, framework_, CauseDetail::host_gather);
      }
    }
  }

  /// What all kinds of savings of one row's kernel have in common.
  SavingClaim claim_on(SavingKind kind, std::size_t row, double seconds, Saving saving) const {
    saving.kind = kind;
    saving.cause = SavingCause::kernel;
    saving.seconds = seconds;
    saving.point = static_cast<int>(row);
    saving.line = points_[row].profiled->line;
    return {.saving = std::move(saving),
            .rows = {{static_cast<int>(row), seconds}},
            .general = kind == SavingKind::kernel,
            .graph = points_[row].profiled->graph};
  }

  /// For a row without a roof, only the waits of its warps can be saved, or idle SMs.
  std::optional<SavingClaim> wait_of(std::size_t i) const {
    const Point& point = points_[i];
    if (!point.time || !point.profiled || std::isfinite(point.bound.attainable_time_s)) return std::nullopt;
    if (is_of_library(point.profiled->full_name)) return std::nullopt;
    const std::vector<Advice> advice = advice_for(point, machine_);
    if (advice.empty() || advice.front().kind != RuleKind::cause) return std::nullopt;
    Saving saving;
    double saved = advice.front().most_saved;
    if (saved < 1) {
      saving.what = fmt::format("{} leaves SMs idle", point.workload.label);
    } else {
      const SampledWait* const wait = wait_behind(point, advice.front().rule);
      if (wait == nullptr) return std::nullopt;
      saved = wait->share;
      saving.what = fmt::format("{} waits for {}", point.workload.label, description_of(wait->what));
    }
    saving.evidence = advice.front().finding;
    saving.action = advice.front().next;
    return claim_on(SavingKind::kernel, i, saved * rows_[i].kernel_s, std::move(saving));
  }

  /// The time of a collective's row is its transfer; waiting for other ranks is unrelated to its roof.
  double taken(std::size_t i) const {
    return points_[i].work.collective ? points_[i].time->median * rows_[i].launches : rows_[i].kernel_s;
  }
  /// Time of a row beyond that at its roof.
  double gap(std::size_t i) const {
    return std::min(taken(i), rows_[i].kernel_s) - points_[i].bound.attainable_time_s * rows_[i].launches;
  }

  /// Claims on rows without a roof. Those of kernels in a graph are claims on the graph's row, together on no more than
  /// its gap to the roof. Returns their sums by the graph's row.
  std::map<int, double> add_waits() {
    const GraphKernelTimes graphs = graph_kernel_times(recording_);
    std::vector<SavingClaim> claims;
    std::map<int, double> of_graphs;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      std::optional<SavingClaim> claim = wait_of(i);
      if (!claim) continue;
      std::vector<std::pair<int, double>> parts;
      double kernel_s = 0;
      for (const auto& [graph, kernels] : graphs) {
        const auto time = kernels.find(static_cast<int>(i));
        if (time == kernels.end()) continue;
        parts.emplace_back(graph, time->second);
        kernel_s += time->second;
      }
      for (auto& [graph, part] : parts) of_graphs[graph] += part *= claim->saving.seconds / kernel_s;
      if (!parts.empty()) claim->rows = std::move(parts);
      claims.push_back(std::move(*claim));
    }
    std::map<int, double> scales;
    for (auto& [graph, sum] : of_graphs) {
      const auto row = static_cast<std::size_t>(graph);
      const bool roofed = points_[row].time && std::isfinite(points_[row].bound.attainable_time_s);
      const double most = roofed ? std::clamp(gap(row), 0.0, sum) : sum;
      scales[graph] = sum > 0 ? most / sum : 0;
      sum = most;
    }
    for (SavingClaim& claim : claims) {
      double seconds = 0;
      for (auto& [row, part] : claim.rows) {
        if (const auto scale = scales.find(row); scale != scales.end()) part *= scale->second;
        seconds += part;
      }
      claim.saving.seconds = seconds;
      claims_.push_back(std::move(claim));
    }
    return of_graphs;
  }

  void add_kernels() {
    const std::map<int, double> waits = add_waits();
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Point& point = points_[i];
      if (!point.time || !point.profiled || !std::isfinite(point.bound.attainable_time_s)) continue;
      Saving saving;
      saving.what = fmt::format("{} at {} of its roof", point.workload.label, percent(point.fraction_of_roof()));
      saving.evidence =
          fmt::format("{} launches of {}: {} in total, {} at {}", count(std::llround(rows_[i].launches)),
                      duration(point.time->median), duration(taken(i)),
                      duration(point.bound.attainable_time_s * rows_[i].launches), point.bound.limiting_ceiling);
      const std::vector<Advice> advice = advice_for(point, machine_);
      const Advice* const decides = deciding(advice);
      const double without_cause = decides != nullptr ? decides->saved_share * rows_[i].kernel_s : 0;
      const double most = decides != nullptr ? decides->most_saved * rows_[i].kernel_s : rows_[i].kernel_s;
      saving.action = advice.empty() ? action_against(SavingCause::kernel, framework_) : advice.front().next;
      if (!advice.empty()) saving.evidence += "; " + advice.front().finding;
      const auto of_kernels = waits.find(static_cast<int>(i));
      const double saved = std::min(most, std::max(gap(i), without_cause));
      claims_.push_back(claim_on(SavingKind::kernel, i, of_kernels == waits.end() ? saved : saved - of_kernels->second,
                                 std::move(saving)));
    }
  }

  /// The verdict's cause; null without one.
  static const Advice* deciding(const std::vector<Advice>& advice) {
    const auto decides =
        std::find_if(advice.begin(), advice.end(), [](const Advice& one) { return one.kind != RuleKind::note; });
    return decides == advice.end() ? nullptr : &*decides;
  }

  /// Kernels with uncoalesced accesses, where these are a good part of what L2 delivers: sectors that L1 has already do
  /// not come from there, and a product that fetches its matrices by the tensor memory accelerator still loads a factor
  /// of four bytes by itself.
  void add_traffic() {
    constexpr double kSector = 32;
    constexpr double kExcessTraffic = 2, kGoodPart = 0.1;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Point& point = points_[i];
      if (!point.counters || !point.profiled || point.bound.label != BoundLabel::memory) continue;
      const auto sectors = point.counters->sum({"global.load_sectors", "global.store_sectors"});
      const auto bytes = point.counters->sum({"global.load_bytes", "global.store_bytes"});
      const auto from_l2 = point.counters->find("l2.bytes");
      if (!sectors || !bytes || !(*bytes > 0) || !from_l2 || !(*from_l2 > 0)) continue;
      const double excess = *sectors * kSector / *bytes;
      const double needless =
          std::min({1 - 1 / excess, (*sectors * kSector - *bytes) / *from_l2, 1 - *bytes / *from_l2});
      if (excess < kExcessTraffic || needless < kGoodPart) continue;
      const std::vector<Advice> advice = advice_for(point, machine_);
      const Advice* const decides = deciding(advice);
      // The kernel's own saving has it, or is about something else.
      if (decides != nullptr && (decides->saved_share > 0 || decides->most_saved < 1)) continue;
      Saving saving;
      saving.what = fmt::format("{} moves {} the requested bytes", point.workload.label, factor(excess));
      saving.evidence = fmt::format("{} requested, {} moved in 32-byte sectors, {} launches", si(*bytes, "B"),
                                    si(*sectors * kSector, "B"), count(std::llround(rows_[i].launches)));
      saving.action = "Let consecutive threads access consecutive addresses; stage strided data through shared memory.";
      claims_.push_back(claim_on(SavingKind::traffic, i, rows_[i].kernel_s * needless, std::move(saving)));
    }
  }

  const Recording& recording_;
  const FoundSteps& found_;
  std::vector<Span> spans_;  ///< of the uncounted steps; empty: the whole recording
  const std::vector<Point>& points_;
  const Machine& machine_;
  const Profile& profile_;
  SourceTexts* sources_;  ///< null: unknown
  const std::vector<WallTime>& devices_;
  Framework framework_;
  std::vector<RowTime> rows_;  ///< of all devices
  // Every list of savings is added here before they are made disjoint. Of equal ones the earlier has precedence, so a
  // list with more specific causes is added before a more general one.
  std::vector<SavingClaim> claims_;
  double rank_copies_s_ = 0;
};

}  // namespace

std::vector<Saving> savings_of(const Recording& recording, const FoundSteps& found, const std::vector<Point>& points,
                               const RowTimes& rows, const Machine& machine, const Profile& profile,
                               const IdleParts& idle, RankSavings of_ranks, SourceTexts* sources) {
  return SavingFinder(recording, found, points, rows, machine, profile, sources).find(idle, std::move(of_ranks));
}

}  // namespace roofline
