#include "profile/causes/causes.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "profile/causes/detectors.hpp"

namespace roofline {
namespace {

using Detector = std::vector<FoundCause> (*)(const CauseInputs&);

/// The more specific ones first: what one has claimed, the next leave out.
constexpr auto kDetectors = std::to_array<Detector>({
    find_communication_hooks, find_migrations,        find_repeated_copies,     find_small_copies,
    find_pageable_copies,     find_grown_tensors,     find_promotions,          find_repeated_casts,
    find_unfused_optimizers,  find_unfused_attention, find_masked_attention,    find_dense_embeddings,
    find_optimizer_passes,    find_checkpointing,     find_plain_fp32_products, find_double_precision_products,
    find_unaligned_products,  find_indexed_sums,      find_sparse_builds,       find_full_sorts,
    find_repeated_sorts,      find_unused_results,    find_one_hot_products,    find_unfavourable_transforms,
    find_channels_first,      find_layout_copies,     find_default_streams,     find_compiled_loops,
    find_small_grids,         find_padding,
});

/// The saving as a claim on the rows of its kernels, or of their graphs, on each by its part of their time.
SavingClaim claim_of(FoundCause found) {
  SavingClaim claim = {.saving = std::move(found.saving), .rows = {}};
  std::map<int, double> rows;
  double total_s = 0;
  for (const Activity* activity : found.activities) {
    if (activity->what != ActivityKind::kernel) continue;
    const double time = seconds(activity->end - activity->start);
    rows[activity->graph >= 0 ? activity->graph : activity->group] += time;  // counters are those of the whole graph
    total_s += time;
  }
  for (const auto& [row, time] : rows) claim.rows.emplace_back(row, claim.saving.seconds * time / total_s);
  return claim;
}

}  // namespace

std::vector<SavingClaim> causes_of(const Recording& recording, const FoundSteps& steps,
                                   const std::vector<Point>& points, const Machine& machine, SourceTexts* sources) {
  const StepActivities activities(recording, steps.steady());
  std::vector<SavingClaim> claims;
  if (activities.steps.empty()) return claims;
  CauseInputs inputs = {.steps = activities,
                        .points = points,
                        .machine = machine,
                        .framework = framework_of(recording),
                        .sources = sources};
  for (const Detector detector : kDetectors) {
    for (FoundCause& found : detector(inputs)) {
      if (found.saving.seconds < kLeastShareOfSteps * activities.total_s) continue;
      if (!found.in_part) inputs.claimed.insert(found.activities.begin(), found.activities.end());
      claims.push_back(claim_of(std::move(found)));
    }
  }
  std::stable_sort(claims.begin(), claims.end(),
                   [](const SavingClaim& a, const SavingClaim& b) { return a.saving.seconds > b.saving.seconds; });
  return claims;
}

}  // namespace roofline
