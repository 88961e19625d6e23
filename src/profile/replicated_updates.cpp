#include "profile/replicated_updates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "model/find.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/collective_sums.hpp"
#include "text/format.hpp"
#include "text/source_place.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

using Functions = std::set<std::string, std::less<>>;

/// Functions of the program ("train.py orthogonalize") that are mostly seen below an optimizer's step.
Functions functions_of_optimizer(const HostSamples& samples) {
  constexpr double kMostly = 0.5;
  std::map<std::string, std::pair<int, int>> seen;  // samples below an optimizer's step, and all
  for (const HostSample& sample : samples.samples) {
    if (sample.stack < 0) continue;
    Functions inner;
    bool in_optimizer = false;
    const std::vector<int>& stack = samples.stacks[static_cast<std::size_t>(sample.stack)];
    for (const int index : stack) {
      const HostFrame& frame = samples.frames[static_cast<std::size_t>(index)];
      in_optimizer = frame.python && contains_any(frame.file, {"torch/optim/"});
      if (in_optimizer) break;
      if (!frame.python || !frame.own) continue;
      inner.insert(fmt::format("{} {}", last_path_part(frame.file), without_class(frame.function)));
    }
    for (const std::string& function : inner) {
      auto& [below, all] = seen[function];
      below += in_optimizer ? 1 : 0;
      ++all;
    }
  }
  Functions functions;
  for (const auto& [function, of] : seen) {
    if (of.first > kMostly * of.second) functions.insert(function);
  }
  return functions;
}

/// What one rank launches in these functions, in all steps.
struct UpdateWork {
  double seconds = 0, products = 0, product_s = 0;
  std::map<int, double> rows = {};           ///< seconds by group
  std::map<std::string, double> lines = {};  ///< seconds of products
  bool communicates = false;
};

UpdateWork update_work(const Recording& recording, const RankWork& work, const Functions& functions) {
  UpdateWork sum;
  for (const auto& [index, of] : work) {
    const LaunchGroup& group = recording.groups[static_cast<std::size_t>(index)];
    const std::string line = line_of_group(recording, index);
    if (!functions.contains(function_of_place(line))) continue;
    sum.communicates |= is_collective(group.symbol);
    sum.seconds += of.seconds;
    sum.rows[index] += of.seconds;
    if (!is_product(group.symbol)) continue;
    sum.products += of.launches;
    sum.product_s += of.seconds;
    sum.lines[line] += of.seconds;
  }
  return sum;
}

/// The gradients of all ranks are summed on each of them.
bool reduces_gradients(const Job& job) {
  bool reduced = false, scattered = false;
  for (const RankTimeline& timeline : job.timelines) {
    for (const CollectiveKernel& kernel : timeline.collectives) {
      reduced |= kernel.kind == spool::CollectiveKind::all_reduce;
      scattered |= kernel.kind == spool::CollectiveKind::reduce_scatter;
    }
  }
  return reduced && !scattered;
}

bool are_alike(const std::vector<UpdateWork>& ranks) {
  constexpr double kAlike = 0.1;
  const UpdateWork& first = ranks.front();
  return std::ranges::all_of(ranks, [&](const UpdateWork& of) {
    return std::abs(of.seconds - first.seconds) <= kAlike * first.seconds &&
           std::abs(of.products - first.products) <= kAlike * first.products;
  });
}

}  // namespace

std::optional<SavingClaim> replicated_updates(const Job& job, const Recording& recording, const HostSamples& samples,
                                              const std::vector<Span>& steps, Framework framework) {
  constexpr double kLeast = 0.05;         // of the steps
  constexpr double kLeastProducts = 0.3;  // of the update: others are limited by memory, and cheap
  const auto count = static_cast<double>(std::max<std::size_t>(1, steps.size()));
  const auto number = static_cast<double>(job.ranks.size());
  if (job.ranks.size() < 2 || !reduces_gradients(job)) return std::nullopt;
  const Functions functions = functions_of_optimizer(samples);
  std::vector<UpdateWork> ranks;
  for (const RankWork& work : rank_work(job, recording, steps)) {
    ranks.push_back(update_work(recording, work, functions));
    const UpdateWork& of = ranks.back();
    if (of.communicates || !(of.product_s > 0) || of.product_s < kLeastProducts * of.seconds) return std::nullopt;
  }
  if (!are_alike(ranks)) return std::nullopt;
  const UpdateWork& first = ranks.front();
  const double saved = 1 - 1 / number;
  if (saved * first.seconds < kLeast * seconds(total_length(steps))) return std::nullopt;
  constexpr CauseDetail detail = CauseDetail::replicated_updates;
  SavingClaim claim;
  claim.detail = detail;
  Saving& saving = claim.saving;
  saving.kind = SavingKind::kernel;
  saving.cause = SavingCause::unfused_optimizer;
  saving.what = what_is_lost(saving.cause, detail);
  saving.action = action_against(saving.cause, framework, detail);
  saving.line = key_of_largest(first.lines);
  saving.point = key_of_largest(first.rows);
  saving.evidence =
      fmt::format("{} below optimizer.step() on each of {} ranks, {} per step with the kernels beside them",
                  counted_noun(std::llround(first.products), "matrix product", "matrix products"), job.ranks.size(),
                  duration(first.seconds / count));
  for (const UpdateWork& of : ranks) {
    saving.seconds += saved * of.seconds;
    for (const auto& [row, time] : of.rows) claim.rows.emplace_back(row, saved * time);
  }
  return claim;
}

}  // namespace roofline
