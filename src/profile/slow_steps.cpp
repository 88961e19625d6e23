#include "profile/slow_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "measure/statistics.hpp"
#include "model/find.hpp"
#include "profile/actions.hpp"
#include "profile/idle_causes.hpp"
#include "profile/ranks.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostSlow = 5;

double length_of(const Step& step) { return seconds(step.span.length()); }

std::vector<double> sorted_lengths(const FoundSteps& found) {
  std::vector<double> lengths = steady_seconds(found.all);
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

/// Seconds by what they went to, of the GPUs and of the host; a call on the host and its work on a GPU overlap.
struct StepContent {
  std::map<std::string, double> gpu, calls;
};

/// Adds up what begins in each step.
class StepContents {
 public:
  StepContents(const Recording& recording, const FoundSteps& found)
      : recording_(recording), steps_(found.all), contents_(found.all.size()) {
    const std::vector<bool> collectives = collective_groups(recording);
    for (const Activity& activity : recording.activities) {
      static constexpr std::array<const char*, 3> kNames = {"kernels", "copies", "memsets"};
      // Waiting of a rank for others is not kernel work.
      if (StepContent* step = step_at(activity.start)) {
        step->gpu[is_of_collectives(activity, collectives) ? "collectives"
                                                           : kNames.at(static_cast<std::size_t>(activity.what))] +=
            seconds(activity.end - activity.start);
      }
    }
    const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(found.process)];
    for (const spool::Call& call : trace.calls) {
      if (StepContent* step = step_at(call.start)) {
        step->calls[std::string(trace.text(call.name))] += seconds(call.end - call.start);
      }
    }
  }

  const StepContent& operator[](std::size_t step) const { return contents_[step]; }

 private:
  StepContent* step_at(std::uint64_t time) {
    const auto after = std::upper_bound(steps_.begin(), steps_.end(), time,
                                        [](std::uint64_t at, const Step& step) { return at < step.span.start; });
    if (after == steps_.begin() || time >= std::prev(after)->span.end) return nullptr;
    return &contents_[static_cast<std::size_t>(std::prev(after) - steps_.begin())];
  }

  const Recording& recording_;
  const std::vector<Step>& steps_;
  std::vector<StepContent> contents_;
};

using Sums = std::map<std::string, double> StepContent::*;

/// The name with the largest excess, where that is a good part of what the step takes longer.
std::string largest_excess(const StepContent& slow, const StepContent& usual, Sums sums, double longer) {
  constexpr double kGoodPart = 0.3;
  std::string text;
  double most = kGoodPart * longer;
  for (const auto& [name, time] : slow.*sums) {
    const auto other = (usual.*sums).find(name);
    const double excess = time - (other == (usual.*sums).end() ? 0 : other->second);
    if (excess < most) continue;
    most = excess;
    text = fmt::format("{} {} longer", name, duration(excess));
  }
  return text;
}

/// The cause and line of the most idle time, where that is a good part of what the step takes longer.
std::string largest_cause(const std::vector<IdlePart>& parts, double longer) {
  constexpr double kGoodPart = 0.3;
  std::map<std::tuple<SavingCause, CauseDetail, std::string>, double> sums;
  for (const IdlePart& part : parts) sums[{part.cause, part.detail, part.line}] += part.seconds;
  const auto most = largest_entry(sums);
  if (most == sums.end() || most->second < kGoodPart * longer) return {};
  const auto& [cause, detail, line] = most->first;
  if (cause == SavingCause::unknown_idle) return {};
  return fmt::format("{}{}, {}", what_is_lost(cause, detail), line.empty() ? "" : fmt::format(" ({})", line),
                     duration(most->second));
}

}  // namespace

bool of_rare_work(SavingCause cause) {
  switch (cause) {
    case SavingCause::host_python:
    case SavingCause::host_native:
    case SavingCause::wait_disk:
    case SavingCause::wait_network:
    case SavingCause::wait_lock:
    case SavingCause::sleep:
    case SavingCause::item_sync:
    case SavingCause::logging_sync:
    case SavingCause::synchronize:
      return true;
    default:
      return false;
  }
}

std::vector<std::size_t> slow_steps(const FoundSteps& found) {
  constexpr double kFactor = 1.2, kScatters = 3;
  const std::vector<double> lengths = sorted_lengths(found);
  if (lengths.empty()) return {};
  const double low = quantile(lengths, 0.25), high = quantile(lengths, 0.75);
  const double limit = std::max(kFactor * quantile(lengths, 0.5), high + kScatters * (high - low));
  std::vector<std::size_t> slow;
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    if (!found.all[i].counted && length_of(found.all[i]) > limit) slow.push_back(i);
  }
  return slow;
}

std::vector<SlowStep> explain_slow_steps(const Recording& recording, const FoundSteps& found,
                                         const HostSamples& samples) {
  std::vector<std::size_t> slow = slow_steps(found);
  if (slow.empty()) return {};
  const std::set<std::size_t> is_slow(slow.begin(), slow.end());
  const StepContents contents(recording, found);
  StepContent usual;
  double usual_s = 0, usual_count = 0;
  for (std::size_t i = 0; i < found.all.size(); ++i) {
    if (found.all[i].counted || is_slow.contains(i)) continue;
    ++usual_count;
    usual_s += length_of(found.all[i]);
    for (const Sums sums : {&StepContent::gpu, &StepContent::calls}) {
      for (const auto& [name, time] : contents[i].*sums) (usual.*sums)[name] += time;
    }
  }
  if (usual_count == 0) return {};
  for (const Sums sums : {&StepContent::gpu, &StepContent::calls}) {
    for (auto& [name, time] : usual.*sums) time /= usual_count;
  }
  std::stable_sort(slow.begin(), slow.end(),
                   [&](std::size_t a, std::size_t b) { return length_of(found.all[a]) > length_of(found.all[b]); });
  if (slow.size() > kMostSlow) slow.resize(kMostSlow);
  std::vector<SlowStep> explained;
  for (const std::size_t i : slow) {
    const double longer = length_of(found.all[i]) - usual_s / usual_count;
    const bool apart = found.all[i].apart;
    std::string different = apart ? largest_cause(idle_parts(recording, {found.all[i].span}, samples), longer) : "";
    if (different.empty()) different = largest_excess(contents[i], usual, &StepContent::gpu, longer);
    if (different.empty()) different = largest_excess(contents[i], usual, &StepContent::calls, longer);
    if (different.empty()) {
      const bool known = has_host_launches(recording.traces[static_cast<std::size_t>(found.process)]);
      different = fmt::format("GPU idle {} longer{}", duration(longer), known ? ", host busy outside CUDA" : "");
    }
    explained.push_back({static_cast<std::int64_t>(i), length_of(found.all[i]), std::move(different), apart});
  }
  return explained;
}

}  // namespace roofline
