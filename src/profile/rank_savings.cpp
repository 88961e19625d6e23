#include "profile/rank_savings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "model/find.hpp"
#include "profile/causes/kernel_names.hpp"
#include "profile/rows.hpp"
#include "profile/slow_steps.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Minimum fraction of the time of all ranks for a finding on exposed communication.
constexpr double kLeastExposed = 0.05;

/// Maximum fraction of the steps for work that is not part of every step.
constexpr double kSeldom = 0.2;

std::string names_of(const Job& job, const std::vector<int>& ranks) {
  std::vector<int> numbers;
  numbers.reserve(ranks.size());
  for (const int rank : ranks) numbers.push_back(job.ranks[static_cast<std::size_t>(rank)].rank);
  std::sort(numbers.begin(), numbers.end());
  if (numbers.size() == 1) return fmt::format("Rank {} arrives", numbers.front());
  constexpr std::size_t kNamed = 4;
  const auto named = numbers.begin() + static_cast<std::ptrdiff_t>(std::min(kNamed, numbers.size()));
  const std::string more = numbers.size() > kNamed ? fmt::format(" and {} more", numbers.size() - kNamed) : "";
  return fmt::format("Ranks {}{} arrive", fmt::join(numbers.begin(), named, ", "), more);
}

CauseDetail exposed_detail(spool::CollectiveKind kind) {
  switch (kind) {
    case spool::CollectiveKind::send_recv:
      return CauseDetail::exposed_transfers;
    case spool::CollectiveKind::all_gather:
      return CauseDetail::exposed_gathers;
    case spool::CollectiveKind::reduce_scatter:
      return CauseDetail::exposed_scatters;
    case spool::CollectiveKind::broadcast:
      return CauseDetail::exposed_broadcasts;
    case spool::CollectiveKind::all_to_all:
      return CauseDetail::exposed_all_to_alls;
    default:
      return CauseDetail::none;
  }
}

class RankClaims {
 public:
  RankClaims(const Job& job, const RankSteps& steps, const CommunicationKinds& kinds, const Ranks& report,
             const RowTimes& rows, Framework framework)
      : job_(job), steps_(steps), kinds_(kinds), report_(report), framework_(framework) {
    count_ = static_cast<double>(std::max<std::size_t>(1, steps.step_s.size()));
    const auto rows_of = std::ranges::count_if(job.ranks, [](const JobRank& rank) { return rank.device >= 0; });
    share_ = static_cast<double>(rows_of) / static_cast<double>(job.ranks.size());
    std::set<int> groups;
    for (const RankTimeline& timeline : job.timelines) {
      for (const CollectiveKernel& kernel : timeline.collectives) groups.insert(kernel.group);
    }
    for (const auto& [where, time] : rows) {
      if (groups.contains(where.first)) rows_[where.first] += time.kernel_s;
    }
  }

  RankSavings savings(const std::optional<LateFinding>& late, const SmallMessages& small) {
    if (late) add_late(*late);
    add_pipeline(late);
    add_uneven(late, small);
    add_small_messages(late, small);
    add_exposed();
    const bool copies = late && late->cause.reason == LateReason::copies;
    return {std::move(claims_), copies ? late->late.late_s : 0};
  }

 private:
  double mean_of(double RankParts::*part) const {
    double sum = 0;
    for (const RankParts& of : steps_.parts) sum += of.*part;
    return sum / static_cast<double>(std::max<std::size_t>(1, steps_.parts.size()));
  }

  /// A claim on the time of the collectives' rows.
  void add(Saving saving) {
    saving.kind = SavingKind::communication;
    saving.seconds *= share_;
    SavingClaim claim{.saving = std::move(saving), .rows = {}};
    const double all =
        std::accumulate(rows_.begin(), rows_.end(), 0.0, [](double sum, const auto& row) { return sum + row.second; });
    for (const auto& [row, time] : rows_) claim.rows.emplace_back(row, claim.saving.seconds * time / all);
    claims_.push_back(std::move(claim));
  }

  /// Smallest number of steps that contain most of the lateness.
  std::int64_t fewest_steps(const LateRanks& late) const {
    constexpr double kMost = 0.8;
    std::vector<double> times(steps_.step_s.size(), 0);
    for (const int rank : late.ranks) {
      const std::vector<float>& of = steps_.late[static_cast<std::size_t>(rank)];
      for (std::size_t step = 0; step < of.size(); ++step) times[step] += of[step];
    }
    std::sort(times.begin(), times.end(), std::greater<>());
    const double all = std::accumulate(times.begin(), times.end(), 0.0);
    double sum = 0;
    std::int64_t few = 0;
    while (few < static_cast<std::int64_t>(times.size()) && sum < kMost * all)
      sum += times[static_cast<std::size_t>(few++)];
    return few;
  }

  void add_late(const LateFinding& finding) {
    const LateRanks& late = finding.late;
    const LateCause& cause = finding.cause;
    const int rank = job_.ranks[static_cast<std::size_t>(cause.rank)].rank;
    const int other = job_.ranks[static_cast<std::size_t>(cause.other)].rank;
    Saving saving;
    const bool unequal = cause.reason == LateReason::unequal_work || cause.reason == LateReason::more_launches;
    saving.cause = cause.reason == LateReason::slow_gpu ? SavingCause::slow_gpu
                   : unequal                            ? SavingCause::unequal_work
                                                        : SavingCause::late_rank;
    saving.seconds = late.waited_s;
    // Work of only a few steps can be postponed, or done by another thread.
    const std::int64_t few = fewest_steps(late);
    const bool seldom = static_cast<double>(few) <= kSeldom * count_;
    const std::int64_t in = seldom ? few : late.steps;
    const std::string in_steps = in == static_cast<std::int64_t>(steps_.step_s.size())
                                     ? "every step"
                                     : fmt::format("{} of {} steps", in, steps_.step_s.size());
    const double late_steps = seldom ? static_cast<double>(few) : count_;
    std::string reason;
    saving.action = action_against(saving.cause, framework_);
    if (cause.reason == LateReason::slow_gpu) {
      reason = fmt::format("The same kernels take {} as long on its GPU", factor(cause.slower));
    } else if (cause.reason == LateReason::unequal_work) {
      reason = fmt::format("Its kernels take {} per step, those of rank {} {}", duration(cause.compute_s / count_),
                           other, duration(cause.other_s / count_));
      saving.line = finding.line;
    } else if (cause.reason == LateReason::more_launches) {
      reason = fmt::format("It launches {} kernels per step, rank {} {}", count(std::llround(cause.launches / count_)),
                           other, count(std::llround(cause.other_launches / count_)));
      saving.line = finding.line;
    } else if (cause.reason == LateReason::copies) {
      const SavingCause copies = finding.pageable ? SavingCause::pageable_copy : SavingCause::copies;
      reason = what_is_lost(copies);
      saving.line = finding.line;
      saving.action = action_against(copies, framework_);
    } else if (finding.idle && finding.idle->cause != SavingCause::unknown_idle) {
      reason = what_is_lost(finding.idle->cause, finding.idle->detail);
      saving.line = finding.idle->line;
      const bool postpone = seldom && of_rare_work(finding.idle->cause) && finding.idle->detail == CauseDetail::none;
      saving.action = postpone ? action_against(SavingCause::slow_steps, framework_)
                               : action_against(finding.idle->cause, framework_, finding.idle->detail);
    }
    if (finding.lone) {
      reason += "; no other rank runs this line";
      saving.action = action_against(saving.cause, framework_, CauseDetail::lone_work);
    }
    if (finding.cpus > 0) {
      const std::string fewer = fmt::format("It may run on {} CPU{}, rank {} on {}", finding.cpus,
                                            finding.cpus == 1 ? "" : "s", other, finding.other_cpus);
      reason = reason.empty() ? fewer : fewer + ". " + reason;
      saving.action = action_against(saving.cause, framework_, CauseDetail::fewer_cpus);
    }
    if (unequal && stages_wait_most()) {
      saving.action = action_against(SavingCause::uneven_ranks, framework_, CauseDetail::pipeline_stages);
    } else if (unequal && kinds_.waiting_s(spool::CollectiveKind::all_to_all) > 0.5 * steps_.waited_s()) {
      saving.action = action_against(saving.cause, framework_, CauseDetail::unequal_tokens);
    }
    saving.what = fmt::format("{} last in {}, {} after the others{}", names_of(job_, late.ranks), in_steps,
                              duration(late.late_s / late_steps), reason.empty() ? "" : ". " + reason);
    saving.evidence = fmt::format("{} of {} steps with waiting; the other ranks wait {} of a step", late.steps,
                                  late.waiting, percent(late.late_s / steps_.total_s()));
    if (cause.reason == LateReason::host) {
      saving.evidence += fmt::format("; kernels take {} per step on rank {}, {} on rank {}",
                                     duration(cause.compute_s / count_), rank, duration(cause.other_s / count_), other);
      if (finding.idle && !finding.idle->evidence.empty()) saving.evidence += "; " + finding.idle->evidence;
    } else if (cause.reason == LateReason::copies) {
      const auto copies_of = [this](int of) { return steps_.parts[static_cast<std::size_t>(of)].copies_s / count_; };
      saving.evidence += fmt::format("; copies take {} per step on rank {}, {} on rank {}",
                                     duration(copies_of(cause.rank)), rank, duration(copies_of(cause.other)), other);
    } else {
      saving.evidence +=
          fmt::format("; {} launches per step on rank {}, {} on rank {}", count(std::llround(cause.launches / count_)),
                      rank, count(std::llround(cause.other_launches / count_)), other);
    }
    add(std::move(saving));
  }

  /// True if most waiting of ranks is that of pipeline stages for each other.
  bool stages_wait_most() const { return kinds_.stages_wait_s > 0.5 * (steps_.waited_s() + kinds_.stages_unmatched_s); }

  /// Waiting of pipeline stages that is for none in particular.
  void add_pipeline(const std::optional<LateFinding>& late) {
    constexpr double kLeast = 0.05;
    const auto ranks = static_cast<double>(job_.ranks.size());
    const double all = kinds_.stages_wait_s;
    const double waited = late && stages_wait_most() ? std::max(0.0, all - late->late.waited_s) : all;
    if (waited < kLeast * steps_.total_s() * ranks) return;
    Saving saving;
    saving.cause = SavingCause::uneven_ranks;
    saving.line = key_of_largest(kinds_.stage_lines);
    saving.seconds = waited;
    saving.what = what_is_lost(saving.cause, CauseDetail::pipeline_stages);
    saving.evidence = fmt::format(
        "in sends and receives, a rank waits {} per step ({}) on average for its peer; the transfer takes {} "
        "more",
        duration(waited / (count_ * ranks)), percent(waited / (steps_.total_s() * ranks)),
        duration(kinds_.stages_transfer_s / (count_ * ranks)));
    saving.action = action_against(saving.cause, framework_, CauseDetail::pipeline_stages);
    stages_s_ = waited;
    add(std::move(saving));
  }

  /// Waiting that is for no rank in particular.
  void add_uneven(const std::optional<LateFinding>& late, const SmallMessages& small) {
    constexpr double kLeast = 0.05;
    if (small.explain_waiting(steps_)) return;
    const double all = steps_.waited_s();
    const double waited = all - (late ? late->late.waited_s : 0) - std::max(0.0, stages_s_ - kinds_.stages_unmatched_s);
    double lateness = steps_.late_s() - (late ? late->late.late_s : 0);
    if (all > 0) lateness = std::min(lateness, steps_.late_s() * std::max(0.0, waited) / all);
    if (lateness < kLeast * steps_.total_s()) return;
    // Hosts that launch at different times are slow in other ways, which are causes of their own.
    const bool of_hosts = steps_.late_by_compute_s < 0.5 * steps_.late_s();
    Saving saving;
    saving.cause = of_hosts ? SavingCause::uneven_hosts : SavingCause::uneven_ranks;
    if (of_hosts) saving.line = kinds_.line_of_waiting();
    saving.seconds = waited;
    saving.what = what_is_lost(saving.cause);
    saving.evidence = fmt::format("{} per step, {}, waiting for ranks that take turns arriving last",
                                  duration(lateness / count_), percent(lateness / steps_.total_s()));
    saving.action = action_against(saving.cause, framework_);
    add(std::move(saving));
  }

  void add_small_messages(const std::optional<LateFinding>& late, const SmallMessages& small) {
    const CauseDetail detail = small.mergeable       ? CauseDetail::none
                               : small.of_batch_norm ? CauseDetail::batch_norm_messages
                                                     : CauseDetail::dependent_messages;
    const double waited = !late && small.explain_waiting(steps_) ? small.waited_s : 0;
    const double saved = small.exposed_s - small.at_roof_s + waited;
    const double per_step = small.calls / (count_ * static_cast<double>(job_.ranks.size()));
    if (!small.many || saved < kLeastExposed * steps_.total_s() * static_cast<double>(job_.ranks.size())) {
      return;
    }
    Saving saving;
    saving.cause = SavingCause::small_messages;
    saving.line = key_of_largest(small.lines);
    saving.seconds = saved;
    saving.what = fmt::format("{} small collectives per step, {}", count(std::llround(per_step)),
                              small.mergeable ? "one after the other" : "each between kernels that need it");
    saving.evidence = fmt::format("{} and {} each, on average, without overlap",
                                  binary_bytes(small.bytes / small.calls), duration(small.exposed_s / small.calls));
    if (waited > 0) {
      saving.evidence += fmt::format("; in them a rank waits {} per step for the others",
                                     duration(waited / (count_ * static_cast<double>(job_.ranks.size()))));
    }
    saving.action = action_against(saving.cause, framework_, detail);
    small_s_ = (saved - waited) / static_cast<double>(job_.ranks.size());
    add(std::move(saving));
  }

  /// Limited to what kernels without overlapping communication could hide.
  void add_exposed() {
    const auto ranks = static_cast<double>(job_.ranks.size());
    const double exposed = mean_of(&RankParts::transfer_s) - small_s_ - kinds_.stages_unmatched_s / ranks;
    const double free = mean_of(&RankParts::compute_s) - mean_of(&RankParts::overlapped_s);
    const double hidden = std::min(exposed, std::max(0.0, free));
    const auto* const kind = kinds_.largest();
    if (steps_.matched_s <= 0 || kind == nullptr || hidden < kLeastExposed * steps_.total_s()) return;
    const std::string_view name = collective_name(kind->first);
    const auto most = [name](const CollectiveSum& a, const CollectiveSum& b) {
      return std::pair(a.name == name, a.exposed_s) < std::pair(b.name == name, b.exposed_s);
    };
    const auto largest = std::max_element(report_.collectives.begin(), report_.collectives.end(), most);
    Saving saving;
    saving.cause = SavingCause::exposed_communication;
    saving.line = key_of_largest(kind->second.lines);
    saving.seconds = hidden * ranks;
    saving.what = fmt::format("Communication without overlap: {} of a step", percent(exposed / steps_.total_s()));
    saving.evidence = fmt::format("{} per step, {} more overlapped by kernels", duration(exposed / count_),
                                  duration(mean_of(&RankParts::overlapped_s) / count_));
    saving.evidence += fmt::format("; mostly {}", name);
    if (largest != report_.collectives.end() && largest->name == name) {
      if (!largest->line.empty()) saving.line = largest->line;
      if (largest->bytes > 0) saving.evidence += " of " + binary_bytes(largest->bytes);
      if (largest->attainable_s > 0 && largest->transfer_s > 0) {
        saving.evidence += fmt::format(" at {} of its roof", percent(largest->attainable_s / largest->transfer_s));
      }
    }
    const bool whole = shards_whole_model();
    if (whole && saving.line.empty()) saving.line = line_of_shards();
    saving.action =
        action_against(saving.cause, framework_, whole ? CauseDetail::whole_shards : exposed_detail(kind->first));
    if (kinds_.micro_batches > 1) {
      reduce_once(saving, exposed * ranks);
    } else if (!whole) {
      send_less(saving, exposed * ranks);
    }
    add(std::move(saving));
  }

  /// True if each step gathers all parameters once (twice: backward gathers them again) and scatters all gradients
  /// once, and no kernel runs meanwhile, as where only the root module is sharded.
  bool shards_whole_model() const {
    constexpr double kMostOverlapped = 0.1;
    const auto calls = [this](spool::CollectiveKind kind) {
      const auto found = kinds_.kinds.find(kind);
      return found == kinds_.kinds.end() ? 0 : found->second.calls / (count_ * static_cast<double>(job_.ranks.size()));
    };
    const auto about = [](double value, double least, double most) {
      return value > least - 0.1 && value < most + 0.1;
    };
    return about(calls(spool::CollectiveKind::all_gather), 1, 2) &&
           about(calls(spool::CollectiveKind::reduce_scatter), 1, 1) &&
           mean_of(&RankParts::overlapped_s) <= kMostOverlapped * mean_of(&RankParts::transfer_s);
  }

  /// The line that gathers most; that of the scatter is unknown where autograd's thread launches it.
  std::string line_of_shards() const {
    return key_of_largest(kinds_.kinds.at(spool::CollectiveKind::all_gather).lines);
  }

  /// Of exposed communication that sends more than it needs to.
  void send_less(Saving& saving, double exposed_s) const {
    constexpr double kNearlyAll = 0.8, kWidened = 0.5;
    const CollectiveNeighbours& neighbours = kinds_.neighbours;
    CauseDetail detail = CauseDetail::none;
    if (neighbours.widened >= kNearlyAll) {
      detail = CauseDetail::widened_messages;
      saving.seconds = kWidened * exposed_s;
    } else if (neighbours.unread >= kNearlyAll) {
      detail = CauseDetail::unread_rows;
      saving.seconds = neighbours.unread * exposed_s;
      saving.evidence += fmt::format("; the next kernel reads {} of it", percent(1 - neighbours.unread));
    }
    if (detail == CauseDetail::none) return;
    saving.what = fmt::format("{}: {} of a step", what_is_lost(saving.cause, detail),
                              percent(exposed_s / (steps_.total_s() * static_cast<double>(job_.ranks.size()))));
    saving.action = action_against(saving.cause, framework_, detail);
  }

  /// Of exposed communication that reduces the gradients of each micro-batch.
  void reduce_once(Saving& saving, double exposed_s) const {
    const auto batches = static_cast<double>(kinds_.micro_batches);
    saving.seconds = exposed_s * (1 - 1 / batches);
    saving.what = fmt::format("Gradients are reduced {} times per step, once in each micro-batch: {} of a step",
                              count(kinds_.micro_batches), percent(exposed_s / (steps_.total_s() * job_.ranks.size())));
    saving.action = action_against(saving.cause, framework_, CauseDetail::micro_batches);
  }

  const Job& job_;
  const RankSteps& steps_;
  const CommunicationKinds& kinds_;
  const Ranks& report_;
  Framework framework_;
  double count_ = 1;
  double share_ = 1;            ///< of the ranks: those whose rows there are
  double small_s_ = 0;          ///< of a rank in all steps, claimed for small messages
  double stages_s_ = 0;         ///< of all ranks in all steps, claimed for a pipeline
  std::map<int, double> rows_;  ///< seconds of collectives by group
  std::vector<SavingClaim> claims_;
};

/// The groups of launches with collectives of one element, as a barrier is.
std::set<int> groups_of_barriers(const Recording& recording) {
  constexpr std::uint64_t kOneElement = 16;  // bytes
  std::vector<std::set<std::uint32_t>> small;
  for (const ProcessTrace& trace : recording.traces) {
    auto& of_process = small.emplace_back();
    for (const spool::Collective& collective : trace.collectives) {
      if (collective.bytes <= kOneElement) of_process.insert(collective.correlation);
    }
  }
  std::set<int> groups;
  for (const Activity& activity : recording.activities) {
    const bool launched = activity.launch != nullptr && activity.launch->correlation != 0;
    if (launched && small[static_cast<std::size_t>(activity.process)].contains(activity.launch->correlation)) {
      groups.insert(activity.group);
    }
  }
  return groups;
}

/// Lines that launch such collectives, or any whose bytes are not known; not through autograd, which launches them in
/// all of a backward pass.
std::set<std::string> barrier_lines(const Recording& recording) {
  std::set<std::string> lines;
  const std::set<int> of_barriers = groups_of_barriers(recording);
  for (std::size_t i = 0; i < recording.groups.size(); ++i) {
    const LaunchGroup& group = recording.groups[i];
    const bool known = !recording.traces[static_cast<std::size_t>(group.process)].collectives.empty();
    if (known && !of_barriers.contains(static_cast<int>(i))) continue;
    if (!is_collective(group.symbol)) continue;
    const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(group.process)];
    const spool::Place& place = trace.place(group.kind.place);
    if (place.backward == 0) lines.insert(line_text(trace, place.line));
  }
  lines.erase("");
  return lines;
}

}  // namespace

RankSavings rank_savings(const Job& job, const RankSteps& steps, const std::optional<LateFinding>& late,
                         const SmallMessages& small, const CommunicationKinds& kinds, const Ranks& report,
                         const RowTimes& rows, Framework framework) {
  return RankClaims(job, steps, kinds, report, rows, framework).savings(late, small);
}

void name_barriers(std::vector<IdlePart>& parts, const Recording& recording) {
  const std::set<std::string> lines = barrier_lines(recording);
  for (IdlePart& part : parts) {
    if (part.cause == SavingCause::synchronize && lines.contains(part.line)) part.cause = SavingCause::barrier;
  }
}

}  // namespace roofline
