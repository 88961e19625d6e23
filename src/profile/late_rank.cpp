#include "profile/late_rank.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/find.hpp"
#include "profile/collective_sums.hpp"
#include "profile/lone_work.hpp"
#include "profile/rows.hpp"
#include "text/parse.hpp"

namespace roofline {
namespace {

/// Groups idle parts by place. Samples show one host loop at several lines, and as Python and native code, so adjacent
/// lines form one place. Other parts are grouped by cause and line.
class IdlePlaces {
 public:
  explicit IdlePlaces(const std::vector<IdlePart>& parts) {
    for (const IdlePart& part : parts) {
      if (const auto code = host_code(part)) lines_[code->first].insert(code->second);
    }
  }

  std::string of(const IdlePart& part) const {
    const auto code = host_code(part);
    if (!code) return fmt::format("{}:{}:{}", static_cast<int>(part.cause), static_cast<int>(part.detail), part.line);
    int first = code->second;
    const auto lines = lines_.find(code->first);
    while (lines != lines_.end() && lines->second.contains(first - 1)) --first;
    return fmt::format("{}:{}", code->first, first);
  }

 private:
  /// "data.py:14 load" → "data.py load" and 14.
  static std::optional<std::pair<std::string, int>> host_code(const IdlePart& part) {
    if (part.cause != SavingCause::host_python && part.cause != SavingCause::host_native) return std::nullopt;
    const std::size_t space = part.line.find(' '), colon = part.line.rfind(':', space);
    if (space == std::string::npos || colon == std::string::npos) return std::nullopt;
    const auto line = parsed_number<int>(std::string_view(part.line).substr(colon + 1, space - colon - 1));
    if (!line) return std::nullopt;
    return std::pair(part.line.substr(0, colon) + part.line.substr(space), *line);
  }

  std::map<std::string, std::set<int>> lines_;  ///< of host code, by function
};

/// Excess idle time of a rank over another one, by place.
std::map<std::string, double> excess_of(const std::vector<IdlePart>& parts, const IdlePlaces& places, int device,
                                        int other) {
  std::map<std::string, double> excess;
  for (const IdlePart& part : parts) {
    if (part.device == device) excess[places.of(part)] += part.seconds;
    if (part.device == other) excess[places.of(part)] -= part.seconds;
  }
  std::erase_if(excess, [](const auto& entry) { return !(entry.second > 0); });
  return excess;
}

/// The largest part at the place that a rank idles for most beyond another one, with all of that place's time.
std::optional<IdlePart> largest_excess(const std::vector<IdlePart>& parts, int device, int other) {
  const IdlePlaces places(parts);
  const std::map<std::string, double> excess = excess_of(parts, places, device, other);
  const std::string most = key_of_largest(excess);
  std::optional<IdlePart> largest;
  for (const IdlePart& part : parts) {
    if (part.device != device || places.of(part) != most) continue;
    if (!largest || part.seconds > largest->seconds) largest = part;
  }
  if (!largest || excess.empty()) return std::nullopt;
  largest->seconds = excess.at(most);
  return largest;
}

/// The known line with the largest excess, unless its share of all that the late rank has more of is small.
std::optional<LineDifference> line_of_most(const std::vector<LineDifference>& lines, double least) {
  const auto known = std::ranges::find_if(lines, [](const LineDifference& of) { return !of.line.empty(); });
  const bool found = known != lines.end() && known->more() > 0 && share_of_more(lines, *known) >= least;
  return found ? std::optional(*known) : std::nullopt;
}

/// The line with more work on the late rank, and the part of the step that it belongs to.
void name_work(LateFinding& finding, const Job& job, const Recording& recording, const std::vector<RankWork>& work) {
  // Of launches, which are many and alike, one line must have most to tell anything.
  constexpr double kLeastTime = 0.1, kLeastLaunches = 0.5;
  const int rank = finding.cause.rank, other = finding.cause.other;
  const bool by_time = finding.cause.reason == LateReason::unequal_work;
  const std::vector<LineDifference> lines =
      line_differences(recording, work[static_cast<std::size_t>(rank)], work[static_cast<std::size_t>(other)], by_time);
  if (!finding.lone) {
    const auto most = line_of_most(lines, by_time ? kLeastTime : kLeastLaunches);
    finding.line = most ? most->line : std::string();
  }
  if (!by_time) return;
  for (const LineDifference& of : lines) {
    if (of.line.empty() || !(of.more() > 0)) continue;
    if (of.line == finding.line) finding.line_share = share_of_more(lines, of);
    finding.more_lines.push_back(of);
  }
  if (!finding.lone) finding.detail = detail_of_unequal_work(job, recording, work, rank, other);
}

/// The line whose copies take the late rank longest.
void name_copies(LateFinding& finding, const Recording& recording, const std::vector<Span>& spans) {
  std::map<std::pair<std::string, bool>, double> copied;  // by line, and whether its memory is pageable
  Within within(spans);
  for (const Activity& activity : recording.activities) {
    if (activity.what != ActivityKind::copy || activity.device != finding.devices.front()) continue;
    if (!within(activity.start)) continue;
    const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(activity.process)];
    const spool::Copy& copy = trace.copies[activity.index];
    const bool pageable = copy.from == spool::Memory::pageable || copy.to == spool::Memory::pageable;
    const std::string line = line_text(trace, trace.place(recording.place(activity).id).line);
    copied[{line, pageable}] += seconds(activity.end - activity.start);
  }
  std::tie(finding.line, finding.pageable) = key_of_largest(copied);
}

/// True if the host is late for its own reason: for a good part of the time it does something other than launching and
/// waiting.
bool has_time_of_its_own(const LateFinding& finding) {
  constexpr double kGoodPart = 0.3;
  if (!finding.idle || finding.idle->seconds < kGoodPart * finding.late.late_s) return false;
  switch (finding.idle->cause) {
    case SavingCause::tiny_kernels:
    case SavingCause::launch_rate:
    case SavingCause::small_messages:
    case SavingCause::between_kernels:
    case SavingCause::late_stream:
    case SavingCause::unknown_idle:
    case SavingCause::item_sync:
    case SavingCause::synchronize:
      return false;
    default:
      return true;
  }
}

/// True if it keeps a CPU busy: fewer CPUs make it slower.
bool needs_cpus(const std::optional<IdlePart>& idle) {
  if (!idle) return true;
  switch (idle->cause) {
    case SavingCause::sleep:
    case SavingCause::wait_disk:
    case SavingCause::wait_network:
    case SavingCause::allocation:
    case SavingCause::module_load:
      return false;
    default:
      return true;
  }
}

void compare_cpus(const Job& job, LateFinding& finding) {
  constexpr double kFewer = 0.75;
  const auto cpus_of = [&](int rank) {
    const auto& of = job.traces[static_cast<std::size_t>(rank)]->rank;
    return of ? static_cast<int>(std::min<std::uint32_t>(of->cpus, 1 << 20)) : 0;
  };
  const int cpus = cpus_of(finding.cause.rank), others = cpus_of(finding.cause.other);
  if (cpus <= 0 || cpus > kFewer * others || !needs_cpus(finding.idle)) return;
  finding.cpus = cpus;
  finding.other_cpus = others;
}

}  // namespace

std::optional<LateFinding> late_finding(const Job& job, const RankSteps& steps, const Recording& recording,
                                        const std::vector<Span>& spans, const std::vector<IdlePart>& parts,
                                        const SmallMessages& small) {
  const std::optional<LateRanks> late = possible_late_ranks(steps);
  if (!late) return std::nullopt;
  const std::vector<RankWork> work = rank_work(job, recording, spans);
  LateFinding finding = {*late, cause_of_late_rank(steps, *late, work)};
  const LateReason reason = finding.cause.reason;
  if (late->seldom && reason == LateReason::slow_gpu) return std::nullopt;
  for (const int rank : late->ranks) finding.devices.push_back(job.ranks[static_cast<std::size_t>(rank)].device);
  finding.typical_device = job.ranks[static_cast<std::size_t>(finding.cause.other)].device;
  if (reason == LateReason::host || reason == LateReason::more_launches) {
    finding.idle = largest_excess(parts, finding.devices.front(), finding.typical_device);
  }
  if (reason == LateReason::unequal_work || reason == LateReason::more_launches) {
    finding.line = line_of_lone_work(job, recording, spans, work, finding.cause.rank, finding.cause.other);
    finding.lone = !finding.line.empty();
    finding.outside_model = works_outside_model(recording, work[static_cast<std::size_t>(finding.cause.rank)],
                                                work[static_cast<std::size_t>(finding.cause.other)]);
    // Unequal work of few steps is chance, unless one rank alone does it.
    if (late->seldom && !finding.lone) return std::nullopt;
    name_work(finding, job, recording, work);
  }
  if (reason == LateReason::copies) name_copies(finding, recording, spans);
  if (reason == LateReason::host) {
    // Each small collective makes the ranks' hosts wait for each other, whichever of them is a little slower.
    if ((late->seldom || small.explain_waiting(steps)) && !has_time_of_its_own(finding)) return std::nullopt;
    compare_cpus(job, finding);
  }
  return finding;
}

void take_out_late(std::vector<IdlePart>& parts, const LateFinding& finding, const RankSteps& steps,
                   const std::vector<Span>& all, const std::vector<Span>& of) {
  if (!finding.idle) return;
  const IdlePlaces places(parts);
  const std::string first = places.of(*finding.idle);
  for (std::size_t i = 0; i < finding.late.ranks.size(); ++i) {
    const std::vector<float>& late = steps.late[static_cast<std::size_t>(finding.late.ranks[i])];
    double left = 0;
    for (std::size_t step = 0; step < all.size(); ++step) {
      if (!common({all[step]}, of).empty()) left += late[step];
    }
    // The named place, then what else the rank has more of than the typical one.
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [place, more] : excess_of(parts, places, finding.devices[i], finding.typical_device)) {
      order.emplace_back(more, place);
    }
    std::sort(order.begin(), order.end(), [&first](const auto& a, const auto& b) {
      return std::pair(a.second == first, a.first) > std::pair(b.second == first, b.first);
    });
    for (auto& [more, place] : order) {
      for (IdlePart& part : parts) {
        if (part.device != finding.devices[i] || places.of(part) != place) continue;
        const double taken = std::min({left, more, part.seconds});
        part.seconds -= taken;
        more -= taken;
        left -= taken;
      }
    }
  }
  std::erase_if(parts, [](const IdlePart& part) { return !(part.seconds > 0); });
}

}  // namespace roofline
