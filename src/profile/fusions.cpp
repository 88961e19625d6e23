#include "profile/fusions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "profile/causes/kernel_names.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Length of the repeating part, or of the whole chain without repetition.
std::size_t period_of(const std::vector<int>& chain) {
  for (std::size_t period = 1; period < chain.size(); ++period) {
    if (std::equal(chain.begin() + static_cast<std::ptrdiff_t>(period), chain.end(), chain.begin())) return period;
  }
  return chain.size();
}

/// "reduce_kernel → elementwise_kernel (16×) → … 3 more → layer_norm_kernel", without template arguments.
std::string chain_text(const std::vector<std::string>& names) {
  constexpr std::size_t kMostLinks = 5;
  std::vector<std::pair<std::string, std::size_t>> links;
  for (const std::string& name : names) {
    const std::string plain = name.substr(0, name.find('<'));
    if (links.empty() || links.back().first != plain) links.emplace_back(plain, 0);
    ++links.back().second;
  }
  std::vector<std::string> texts;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& [name, times] = links[i];
    if (links.size() > kMostLinks && i >= kMostLinks - 1 && i + 1 < links.size()) {
      left_out += times;
      continue;
    }
    if (left_out > 0) texts.push_back(fmt::format("… {} more", left_out));
    texts.push_back(times == 1 ? name : fmt::format("{} ({}×)", name, times));
  }
  return fmt::format("{}", fmt::join(texts, " → "));
}

class FusionFinder {
 public:
  FusionFinder(const Recording& recording, const std::vector<Point>& points, const Machine& machine)
      : recording_(recording), points_(points), machine_(machine) {}

  std::vector<SavingClaim> find(const std::vector<Span>& spans, Framework framework) {
    std::map<std::tuple<int, int, std::uint32_t>, std::vector<int>> running;
    std::map<std::vector<int>, std::int64_t> chains;
    const auto close = [&chains](std::vector<int>& chain) {
      const std::size_t period = period_of(chain);
      if (period > 1)
        chains[{chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(period)}] +=
            static_cast<std::int64_t>(chain.size() / period);
      chain.clear();
    };
    constexpr std::size_t kLongest = 24;
    Within within(spans);
    for (const Activity& activity : recording_.activities) {
      if (!within(activity.start)) continue;
      std::vector<int>& chain = running[{activity.process, activity.device, activity.stream}];
      const bool streams = activity.what == ActivityKind::kernel && streaming(activity.group) != nullptr;
      if (!streams || chain.size() == kLongest) close(chain);
      if (streams) chain.push_back(activity.group);
    }
    for (auto& [stream, chain] : running) close(chain);
    std::vector<SavingClaim> claims;
    for (const auto& [chain, times] : chains) claims.push_back(claim_of(chain, times, framework));
    return claims;
  }

 private:
  /// A kernel that only moves memory, not a product on tensor cores. Launches for parts of tensor lists pass nothing
  /// on.
  const Point* streaming(int group) const {
    if (group < 0 || is_of_tensor_lists(recording_.groups[static_cast<std::size_t>(group)].symbol)) return nullptr;
    const Point& point = points_[static_cast<std::size_t>(group)];
    const bool streams =
        point.bound.label == BoundLabel::memory && level_of(point.bound.limiting_ceiling) == Level::hbm;
    const bool product = std::any_of(point.work.flops.begin(), point.work.flops.end(),
                                     [](const auto& work) { return is_tensor(work.first) && work.second > 0; });
    return streams && !product && point.work.bytes.contains(Level::hbm) ? &point : nullptr;
  }

  /// Upper bound: everything that one wrote, the next read.
  double handed_over(int before, int after) const {
    const Traffic& wrote = streaming(before)->work.bytes.at(Level::hbm);
    return 2 * std::min(wrote.write, streaming(after)->work.bytes.at(Level::hbm).read);
  }

  SavingClaim claim_of(const std::vector<int>& chain, std::int64_t times, Framework framework) const {
    const std::optional<MixRoof> roof = machine_.bandwidth(Level::hbm, {.read = 1, .write = 1});
    const double rate = roof && roof->value > 0 ? roof->value : std::nan("");
    const auto often = static_cast<double>(times);
    SavingClaim claim;
    double saved_bytes = 0;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      names.push_back(streaming(chain[i])->workload.op);
      if (i == 0) continue;
      const double handed = handed_over(chain[i - 1], chain[i]);
      saved_bytes += handed;
      if (!(rate > 0)) continue;
      claim.saving.seconds += often * handed / rate;
      for (const int row : {chain[i - 1], chain[i]}) claim.rows.emplace_back(row, often * handed / rate / 2);
    }
    claim.saving.kind = SavingKind::fusion;
    claim.saving.cause = SavingCause::fusion;
    claim.saving.point = chain.front();
    claim.saving.line = streaming(chain.front())->profiled->line;
    claim.saving.what = fmt::format("{} kernels in sequence, all memory-bound: {}", chain.size(), chain_text(names));
    claim.saving.evidence =
        fmt::format("{} times; fusion saves {} of traffic each time", count(times), si(saved_bytes, "B"));
    claim.saving.action = action_against(SavingCause::fusion, framework);
    return claim;
  }

  const Recording& recording_;
  const std::vector<Point>& points_;
  const Machine& machine_;
};

}  // namespace

std::vector<SavingClaim> fusions_of(const Recording& recording, const std::vector<Point>& points,
                                    const Machine& machine, const std::vector<Span>& spans, Framework framework) {
  return FusionFinder(recording, points, machine).find(spans, framework);
}

}  // namespace roofline
