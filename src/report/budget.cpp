// Figures shown side by side are rounded together, so that they add up as shown.
#include "report/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "model/nan.hpp"
#include "report/time_scale.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Rounds the shares to whole steps that add up to the whole.
void round_shares(Budget& budget) {
  const TimeScale scale(budget.wall_s);
  budget.step_s = scale.digit_s();
  budget.steps = std::llround(budget.wall_s / budget.step_s);
  std::vector<double> seconds;
  for (const WallShare& share : budget.shares) seconds.push_back(share.seconds);
  const std::vector<std::int64_t> steps = scale.round_together(seconds);
  for (std::size_t i = 0; i < steps.size(); ++i) budget.shares[i].steps = steps[i];
}

/// Kernel time of a GPU, the part of it with a roof, and the attainable time of that part.
struct KernelTime {
  double all = 0, roofed = 0, at_roof = 0;
};

KernelTime kernel_time(const Report& report, const WallTime& wall) {
  const Profile& profile = *report.profile;
  KernelTime time = {wall.kernel_s, wall.roofed_s, wall.at_roof_s};
  // A file of an earlier version has these sums only once.
  const bool of_run = profile.devices.size() == 1 && &wall == profile.devices.data();
  if (of_run) time = {profile.kernel_s, profile.roofed_s, profile.at_roof_s};
  time.all = positive_or_zero(time.all);
  time.roofed = std::min(positive_or_zero(time.roofed), time.all);
  time.at_roof = std::min(positive_or_zero(time.at_roof), time.roofed);
  return time;
}

using Parts = std::array<double, kWallParts>;
double& of(Parts& parts, WallPart part) { return parts.at(static_cast<std::size_t>(part)); }

/// Parts of one of `count` steps, or of a whole run.
Parts parts_of(const Report& report, const WallTime& wall, std::int64_t count) {
  Parts parts = {};
  const KernelTime time = kernel_time(report, wall);
  of(parts, WallPart::rank_wait) = std::min(positive_or_zero(wall.rank_wait_s), positive_or_zero(wall.kernels_s));
  of(parts, WallPart::communication) = std::min(positive_or_zero(wall.communication_s),
                                                positive_or_zero(wall.kernels_s) - of(parts, WallPart::rank_wait));
  const double kernels =
      positive_or_zero(wall.kernels_s) - of(parts, WallPart::rank_wait) - of(parts, WallPart::communication);
  // Concurrent kernels share the time that they run in.
  const double once = time.all > 0 ? kernels / time.all : 0;
  of(parts, WallPart::at_roof) = time.at_roof * once;
  of(parts, WallPart::beyond) = (time.roofed - time.at_roof) * once;
  of(parts, WallPart::no_roof) = std::max(0.0, kernels - time.roofed * once);
  if (of(parts, WallPart::no_roof) < 1e-9 * kernels) of(parts, WallPart::no_roof) = 0;
  of(parts, WallPart::copies) = positive_or_zero(wall.copies_s);
  of(parts, WallPart::launching) = positive_or_zero(wall.idle_launching_s);
  of(parts, WallPart::waiting) = positive_or_zero(wall.idle_waiting_s);
  of(parts, WallPart::elsewhere) = positive_or_zero(wall.idle_elsewhere_s);
  of(parts, WallPart::idle_unknown) = positive_or_zero(wall.idle_unknown_s);
  of(parts, WallPart::before) = positive_or_zero(wall.before_s);
  of(parts, WallPart::after) = positive_or_zero(wall.after_s);
  of(parts, WallPart::counting) = positive_or_zero(wall.counting_s);
  const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
  const double left = positive_or_zero(wall.wall_s) - positive_or_zero(wall.recording_s) - sum;
  if (left > 1e-6 * sum) of(parts, WallPart::unknown) = left;
  for (double& part : parts) part /= static_cast<double>(count);
  return parts;
}

Budget budget_of(std::string device, const Parts& parts) {
  Budget budget;
  budget.device = std::move(device);
  budget.wall_s = std::accumulate(parts.begin(), parts.end(), 0.0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts.at(i) > 0) budget.shares.push_back({static_cast<WallPart>(i), parts.at(i), 0});
  }
  round_shares(budget);
  return budget;
}

std::vector<Budget> budgets_of(const Report& report, const std::vector<WallTime>& devices, std::int64_t count) {
  std::vector<Budget> all;
  for (const WallTime& wall : devices) {
    const std::string name = shorten(clean_line(wall.device_name), 40);
    all.push_back(budget_of(fmt::format("GPU {}{}{}", wall.device, name.empty() ? "" : " \u00b7 ", name),
                            parts_of(report, wall, count)));
  }
  return all;
}

/// For a suite: one launch of each timed kernel.
Parts parts_of_suite(const Report& report) {
  Parts parts = {};
  for (const Point& point : report.points) {
    if (point.status != PointStatus::ok || !point.time) continue;
    const double time = positive_or_zero(point.time->median), fraction = point.fraction_of_roof();
    of(parts, WallPart::at_roof) += std::isfinite(fraction) ? time * std::min(1.0, fraction) : 0;
    of(parts, WallPart::beyond) += std::isfinite(fraction) ? time * std::max(0.0, 1 - fraction) : 0;
    of(parts, WallPart::no_roof) += std::isfinite(fraction) ? 0 : time;
  }
  return parts;
}

}  // namespace

std::string_view to_string(WallPart part) {
  static constexpr std::array<std::string_view, kWallParts> kWords = {
      "at_roof",      "below_roof",     "no_roof",      "copies", "rank_wait", "communication", "idle_launching",
      "idle_waiting", "idle_elsewhere", "idle_unknown", "before", "after",     "counting",      "unaccounted"};
  return kWords.at(static_cast<std::size_t>(part));
}

double Budget::roofed_share() const {
  const double roofed = seconds(WallPart::at_roof) + seconds(WallPart::beyond);
  const double all = roofed + seconds(WallPart::no_roof);
  return all > 0 ? roofed / all : 0;
}

std::string_view name_of(WallPart part) {
  static constexpr std::array<std::string_view, kWallParts> kNames = {
      "kernels at their roof",         "kernels below their roof",
      "kernels without a known roof",  "copies",
      "waiting for other ranks",       "communication without overlap",
      "idle: host launching",          "idle: host in a CUDA call",
      "idle: host busy outside CUDA",  "idle: cause not recorded",
      "before the first GPU activity", "after the last GPU activity",
      "profiler overhead (counters)",  "unaccounted"};
  return kNames.at(static_cast<std::size_t>(part));
}

double Budget::seconds(WallPart part) const {
  for (const WallShare& share : shares)
    if (share.part == part) return share.seconds;
  return 0;
}

std::int64_t Budget::steps_of(WallPart part) const {
  for (const WallShare& share : shares)
    if (share.part == part) return share.steps;
  return 0;
}

std::string Budget::text(std::int64_t shown) const { return TimeScale(wall_s).text(shown); }

std::string Budget::text(const WallShare& share) const {
  return share.steps == 0 && share.seconds > 0 ? "<" + text(std::int64_t{1}) : text(share.steps);
}

std::vector<Budget> run_budgets(const Report& report) {
  if (report.profile) return budgets_of(report, report.profile->devices, 1);
  const Parts parts = parts_of_suite(report);
  return std::accumulate(parts.begin(), parts.end(), 0.0) > 0 ? std::vector{budget_of({}, parts)}
                                                              : std::vector<Budget>{};
}

std::vector<Budget> budgets(const Report& report) {
  if (!report.profile || !report.profile->steps) return run_budgets(report);
  const Steps& steps = *report.profile->steps;
  return budgets_of(report, steps.devices, steps.count);
}

std::optional<Budget> whole_budget(const Report& report) {
  if (!report.profile) return std::nullopt;
  const Profile& profile = *report.profile;
  const std::vector<WallTime>& devices = profile.steps ? profile.steps->devices : profile.devices;
  if (devices.empty()) return std::nullopt;
  if (devices.size() == 1) return budgets(report).front();
  Parts sum = {};
  for (const WallTime& wall : devices) {
    const Parts parts = parts_of(report, wall, profile.steps ? profile.steps->count : 1);
    for (std::size_t i = 0; i < parts.size(); ++i) sum.at(i) += parts.at(i);
  }
  return budget_of(fmt::format("{} GPUs together", devices.size()), sum);
}

}  // namespace roofline
