#include "report/rank_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "text/format.hpp"

namespace roofline {

std::string scaling_text(const Report& report) {
  if (!report.profile || !report.profile->ranks || !(report.profile->ranks->step_s > 0)) return {};
  const Ranks& ranks = *report.profile->ranks;
  constexpr double kSmall = 0.005;  // of a step
  std::string text = fmt::format("{} ranks: {} of {} of {} is compute ({}).", count(ranks.size),
                                 percent(ranks.efficiency()), ranks.whole_run ? "their run" : "a step",
                                 duration(ranks.step_s), duration(ranks.mean(&RankSum::compute_s)));
  if (ranks.ranks.size() < static_cast<std::size_t>(ranks.size)) {
    text += fmt::format(" {} of them were recorded.", count(static_cast<std::int64_t>(ranks.ranks.size())));
  }
  struct Cost {
    double seconds;
    const char* name;
  };
  auto costs = std::to_array<Cost>({
      {ranks.mean(&RankSum::waiting_s), "waiting for later ranks"},
      {ranks.mean(&RankSum::transfer_s), ranks.whole_run ? "other time in MPI" : "communication without overlap"},
      {ranks.mean(&RankSum::copies_s), "copies"},
      {ranks.mean(&RankSum::idle_s), "idle time"},
  });
  std::stable_sort(costs.begin(), costs.end(), [](const Cost& a, const Cost& b) { return a.seconds > b.seconds; });
  std::vector<std::string> parts;
  for (const Cost& cost : costs) {
    if (cost.seconds < kSmall * ranks.step_s) continue;
    parts.push_back(fmt::format("{} {} ({})", cost.name, duration(cost.seconds), percent(cost.seconds / ranks.step_s)));
  }
  if (!parts.empty()) text += fmt::format(" The rest, per rank on average: {}.", fmt::join(parts, ", "));
  return text;
}

std::string matching_text(const Report& report) {
  if (!report.profile || !report.profile->ranks) return {};
  const Ranks& ranks = *report.profile->ranks;
  constexpr double kAll = 0.99;
  if (ranks.matched_share >= kAll) return {};
  return fmt::format("{} of the collectives' time was matched with all ranks, by {}; the rest counts as communication.",
                     percent(ranks.matched_share),
                     ranks.matching == RankMatching::calls ? "call numbers" : "kernel times");
}

std::vector<RankSum> shown_ranks(const Ranks& ranks, std::size_t most) {
  std::vector<RankSum> shown = ranks.ranks;
  if (shown.size() > most) {
    std::stable_sort(shown.begin(), shown.end(), [](const RankSum& a, const RankSum& b) {
      return std::pair(-a.caused_wait_s, a.waiting_s) < std::pair(-b.caused_wait_s, b.waiting_s);
    });
    shown.resize(most);
  }
  std::stable_sort(shown.begin(), shown.end(), [](const RankSum& a, const RankSum& b) { return a.rank < b.rank; });
  return shown;
}

}  // namespace roofline
