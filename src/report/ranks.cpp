#include "report/ranks.hpp"

#include <array>

#include "model/collective.hpp"
#include "model/spelling.hpp"

namespace roofline {
namespace {

constexpr std::array<std::string_view, 2> kRankMatchings = {"calls", "times"};

}  // namespace

std::string_view to_string(RankMatching matching) { return spell(kRankMatchings, matching); }
std::optional<RankMatching> parse_rank_matching(std::string_view text) {
  return unspell<RankMatching>(kRankMatchings, text);
}

double CollectiveSum::bus_bytes_per_s() const {
  const std::optional<double> factor = bus_factor(name, ranks);
  return factor && transfer_s > 0 ? *factor * bytes / transfer_s : 0;
}

double Ranks::mean(double RankSum::*part) const {
  double sum = 0;
  for (const RankSum& rank : ranks) sum += rank.*part;
  return ranks.empty() ? 0 : sum / static_cast<double>(ranks.size());
}

double Ranks::efficiency() const { return step_s > 0 ? mean(&RankSum::compute_s) / step_s : 0; }

}  // namespace roofline
