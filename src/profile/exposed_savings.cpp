#include "profile/exposed_savings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "model/find.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

using spool::CollectiveKind;

/// Minimum fraction of the time of all ranks for a finding on exposed communication.
constexpr double kLeastExposed = 0.05;

CauseDetail exposed_detail(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::send_recv:
      return CauseDetail::exposed_transfers;
    case CollectiveKind::all_gather:
      return CauseDetail::exposed_gathers;
    case CollectiveKind::reduce_scatter:
      return CauseDetail::exposed_scatters;
    case CollectiveKind::broadcast:
      return CauseDetail::exposed_broadcasts;
    case CollectiveKind::all_to_all:
      return CauseDetail::exposed_all_to_alls;
    default:
      return CauseDetail::none;
  }
}

class ExposedSavings {
 public:
  ExposedSavings(const Job& job, const RankSteps& steps, const CommunicationKinds& kinds, const Ranks& report,
                 Framework framework)
      : steps_(steps),
        kinds_(kinds),
        report_(report),
        framework_(framework),
        ranks_(static_cast<double>(job.ranks.size())) {
    count_ = static_cast<double>(std::max<std::size_t>(1, steps.step_s.size()));
  }

  std::vector<SavingClaim> find(const std::optional<SlowLink>& slow, double small_s) {
    exposed_s_ = ranks_ * (mean_of(&RankParts::transfer_s) - small_s) - kinds_.stages_unmatched_s;
    if (steps_.matched_s <= 0) return {};
    if (slow) add_slow_link(*slow);
    add_gathered_shards();
    add_gathered_heads();
    add_rest();
    return std::move(found_);
  }

 private:
  double mean_of(double RankParts::*part) const {
    double sum = 0;
    for (const RankParts& of : steps_.parts) sum += of.*part;
    return sum / static_cast<double>(std::max<std::size_t>(1, steps_.parts.size()));
  }
  double all_s() const { return steps_.total_s() * ranks_; }

  /// Takes that much of what is left; false if it is too little for a finding.
  bool take(double& seconds) {
    seconds = std::min(seconds, exposed_s_);
    if (seconds < kLeastExposed * all_s()) return false;
    exposed_s_ -= seconds;
    return true;
  }

  void add(Saving saving, CauseDetail detail) {
    saving.action = action_against(saving.cause, framework_, detail);
    found_.push_back({.saving = std::move(saving)});
  }

  void add_slow_link(const SlowLink& slow) {
    Saving saving;
    saving.cause = SavingCause::slow_link;
    saving.seconds = slow.saved_s;
    if (!take(saving.seconds)) return;
    saving.line = slow.line;
    saving.what = fmt::format("{}: {} at {} of {}", what_is_lost(saving.cause), slow.name,
                              si(slow.bus_bytes_per_s, "B/s"), si(slow.link_bytes_per_s, "B/s"));
    saving.evidence = fmt::format(
        "{} of {} has a bus bandwidth of {}, {} of what NVLink has each way; {} per step without overlap", slow.name,
        binary_bytes(slow.bytes), si(slow.bus_bytes_per_s, "B/s"),
        percent(slow.bus_bytes_per_s / slow.link_bytes_per_s), duration(slow.exposed_s / (count_ * ranks_)));
    if (!slow.variable.empty()) {
      saving.evidence += fmt::format("; {}={} was set when NCCL started", slow.variable, slow.value);
    }
    add(std::move(saving), CauseDetail::none);
    if (!slow.variable.empty()) {
      found_.back().saving.action =
          fmt::format("Remove {} from the environment: NCCL then uses NVLink.", slow.variable);
    }
  }

  /// Whole tensors that are gathered outside of the model, after the update.
  void add_gathered_shards() {
    const auto gathers = kinds_.kinds.find(CollectiveKind::all_gather);
    if (gathers == kinds_.kinds.end()) return;
    Saving saving;
    saving.cause = SavingCause::exposed_communication;
    saving.seconds = gathers->second.transfer_of(CollectiveOrigin::after_update);
    if (!take(saving.seconds)) return;
    saving.line = line_of(CollectiveOrigin::after_update);
    saving.what = of_step(CauseDetail::gathered_shards, saving.seconds);
    saving.evidence = fmt::format("{} per step in all-gathers between the update and the next forward pass",
                                  duration(saving.seconds / (count_ * ranks_)));
    remove(CollectiveOrigin::after_update);
    add(std::move(saving), CauseDetail::gathered_shards);
  }

  /// Queries, keys and values that are gathered although each rank could keep its heads.
  void add_gathered_heads() {
    if (!kinds_.heads.nearly_all() || kinds_.kinds.count(CollectiveKind::all_gather) == 0) return;
    Saving saving;
    saving.cause = SavingCause::exposed_communication;
    saving.seconds = kinds_.kinds.at(CollectiveKind::all_gather).transfer_of(CollectiveOrigin::forward);
    if (!take(saving.seconds)) return;
    saving.line = line_of(CollectiveOrigin::forward);
    saving.what = what_is_lost(saving.cause, CauseDetail::gathered_heads);
    saving.evidence = fmt::format(
        "three all-gathers of equal size before each attention, {} per step; then each rank computes it for all heads, "
        "{} per step",
        duration(saving.seconds / (count_ * ranks_)), duration(kinds_.heads.gathered_s() / (count_ * ranks_)));
    remove(CollectiveOrigin::forward);
    add(std::move(saving), CauseDetail::gathered_heads);
    // Each rank needs the attention of its own heads only.
    for (const auto& [row, time] : kinds_.heads.rows) found_.back().kernels.emplace_back(row, time * (1 - 1 / ranks_));
  }

  std::string line_of(CollectiveOrigin origin) const {
    return key_of_largest(kinds_.kinds.at(CollectiveKind::all_gather).origins.at(origin).lines);
  }

  std::string of_step(CauseDetail detail, double seconds) const {
    return fmt::format("{}: {} of a step", what_is_lost(SavingCause::exposed_communication, detail),
                       percent(seconds / all_s()));
  }

  /// All-gathers of that origin, which a saving covers.
  void remove(CollectiveOrigin origin) {
    CommunicationKind& of = kinds_.kinds.at(CollectiveKind::all_gather);
    for (const auto& [line, time] : of.origins.at(origin).lines) covered_lines_.insert(line);
    of.remove(origin);
  }

  /// Limited to what kernels without overlapping communication could hide.
  void add_rest() {
    const double exposed = exposed_s_ / ranks_;
    const double free = mean_of(&RankParts::compute_s) - mean_of(&RankParts::overlapped_s);
    const double hidden = std::min(exposed, std::max(0.0, free));
    const auto* const kind = kinds_.largest();
    if (kind == nullptr || hidden < kLeastExposed * steps_.total_s()) return;
    Saving saving;
    saving.cause = SavingCause::exposed_communication;
    saving.line = key_of_largest(kind->second.lines);
    saving.seconds = hidden * ranks_;
    saving.what = fmt::format("Communication without overlap: {} of a step", percent(exposed / steps_.total_s()));
    saving.evidence = fmt::format("{} per step, {} more overlapped by kernels", duration(exposed / count_),
                                  duration(mean_of(&RankParts::overlapped_s) / count_));
    describe_largest(saving, kind->first);
    const bool unit = !shards_whole_model() && one_unit_of_layers();
    const bool whole = unit || shards_whole_model();
    if (unit) saving.evidence += evidence_of_unit();
    if (whole && saving.line.empty()) saving.line = line_of_shards();
    CauseDetail detail = whole               ? CauseDetail::whole_shards
                         : of_split_layers() ? CauseDetail::split_layers
                                             : exposed_detail(kind->first);
    if (kinds_.micro_batches > 1) {
      detail = reduce_once(saving);
    } else if (!whole && covered_lines_.empty()) {
      detail = send_less(saving, detail);
    }
    add(std::move(saving), detail);
  }

  /// The collective of that kind with most exposed time.
  void describe_largest(Saving& saving, CollectiveKind kind) const {
    const std::string_view name = collective_name(kind);
    const CollectiveSum* largest = nullptr;
    for (const CollectiveSum& sum : report_.collectives) {
      if (sum.name != name || covered_lines_.contains(sum.line)) continue;
      if (largest == nullptr || sum.exposed_s > largest->exposed_s) largest = &sum;
    }
    saving.evidence += fmt::format("; mostly {}", name);
    if (largest == nullptr) return;
    if (!largest->line.empty()) saving.line = largest->line;
    if (largest->bytes > 0) saving.evidence += " of " + binary_bytes(largest->bytes);
    if (largest->attainable_s > 0 && largest->transfer_s > 0) {
      saving.evidence += fmt::format(" at {} of its roof", percent(largest->attainable_s / largest->transfer_s));
    }
  }

  /// True if most of it is of layers whose matrices are split between the ranks: they reduce activations within the
  /// forward pass, and gather them.
  bool of_split_layers() const {
    double all = 0;
    for (const auto& [kind, of] : kinds_.kinds) all += of.transfer_s;
    const double reduced =
        kinds_.transfer_s({CollectiveKind::all_reduce, CollectiveKind::reduce_scatter}, CollectiveOrigin::forward);
    const double gathered = kinds_.transfer_s({CollectiveKind::all_gather}, CollectiveOrigin::forward);
    return reduced > kLeastExposed * all && reduced + gathered > 0.5 * all;
  }

  /// True if each step gathers all parameters once (twice: backward gathers them again) and scatters all gradients
  /// once, and no kernel runs meanwhile, as where only the root module is sharded.
  bool shards_whole_model() const {
    constexpr double kMostOverlapped = 0.1;
    const auto calls = [this](CollectiveKind kind) {
      const auto found = kinds_.kinds.find(kind);
      return found == kinds_.kinds.end() ? 0 : found->second.calls / (count_ * ranks_);
    };
    const auto about = [](double value, double least, double most) {
      return value > least - 0.1 && value < most + 0.1;
    };
    return about(calls(CollectiveKind::all_gather), 1, 2) && about(calls(CollectiveKind::reduce_scatter), 1, 1) &&
           mean_of(&RankParts::overlapped_s) <= kMostOverlapped * mean_of(&RankParts::transfer_s);
  }

  /// The collectives of that kind that are one call of largest size, and their share of its bytes.
  struct LargestUnit {
    const CollectiveSum* sum = nullptr;
    double share = 0;
    double calls = 0;  ///< of all sizes, per rank and step
  };

  LargestUnit largest_unit(CollectiveKind kind) const {
    LargestUnit unit;
    double bytes = 0;
    for (const CollectiveSum& sum : report_.collectives) {
      if (sum.name != collective_name(kind)) continue;
      bytes += sum.bytes * sum.calls;
      unit.calls += sum.calls;
      if (unit.sum == nullptr || sum.bytes > unit.sum->bytes) unit.sum = &sum;
    }
    if (unit.sum != nullptr && bytes > 0) unit.share = unit.sum->bytes * unit.sum->calls / bytes;
    return unit;
  }

  /// True if one unit of shards has most bytes of a step, nothing overlaps its collectives, and there are far more
  /// layers than units: the layers are not units of their own. A large embedding beside such layers is none of that.
  bool one_unit_of_layers() const {
    constexpr double kMost = 0.6, kMostlyExposed = 0.5, kOnce = 1.1, kFew = 0.5;
    for (const auto& [kind, most_calls] :
         {std::pair(CollectiveKind::reduce_scatter, kOnce), std::pair(CollectiveKind::all_gather, 2 * kOnce)}) {
      const LargestUnit unit = largest_unit(kind);
      if (unit.sum == nullptr || unit.share < kMost || unit.sum->calls > most_calls) return false;
      if (unit.sum->exposed_s < kMostlyExposed * unit.sum->calls * unit.sum->transfer_s) return false;
      if (kind == CollectiveKind::reduce_scatter && unit.calls > kFew * static_cast<double>(kinds_.layers)) {
        return false;
      }
    }
    return true;
  }

  std::string evidence_of_unit() const {
    const LargestUnit unit = largest_unit(CollectiveKind::reduce_scatter);
    return fmt::format("; one reduce_scatter per step has {} of the bytes, although the model has {} layers",
                       percent(unit.share), count(kinds_.layers));
  }

  /// The line that gathers most; that of the scatter is unknown where autograd's thread launches it.
  std::string line_of_shards() const { return key_of_largest(kinds_.kinds.at(CollectiveKind::all_gather).lines); }

  /// Of exposed communication that sends more than it needs to. Returns the new detail.
  CauseDetail send_less(Saving& saving, CauseDetail otherwise) const {
    constexpr double kNearlyAll = 0.8, kMost = 0.5, kGoodPart = 0.4, kWidened = 0.5;
    const CollectiveNeighbours& neighbours = kinds_.neighbours;
    CauseDetail detail = otherwise;
    if (neighbours.widened >= kNearlyAll) {
      detail = CauseDetail::widened_messages;
      saving.seconds = kWidened * exposed_s_;
    } else if (neighbours.used_narrow >= kNearlyAll) {
      detail = CauseDetail::wide_messages;
      saving.seconds = kWidened * exposed_s_;
    } else if (neighbours.unread >= kNearlyAll) {
      detail = CauseDetail::unread_rows;
      saving.seconds = neighbours.unread * exposed_s_;
      saving.evidence += fmt::format("; the next kernel reads {} of it", percent(1 - neighbours.unread));
    } else if (neighbours.reducible >= kGoodPart) {
      detail = CauseDetail::reduced_late;
      saving.seconds = neighbours.reducible * exposed_s_;
      saving.evidence += fmt::format("; {} of the bytes are reduced right after they arrive, or copies of fewer",
                                     percent(neighbours.reducible));
    } else if (neighbours.zeros >= kMost) {
      detail = CauseDetail::unused_gradients;
      saving.seconds = neighbours.zeros * exposed_s_;
      saving.evidence +=
          fmt::format("; {} of the bytes are zeros of the gradient of an embedding", percent(neighbours.zeros));
      if (!kinds_.table_line.empty()) saving.line = kinds_.table_line;
    } else {
      return otherwise;
    }
    saving.what = of_step(detail, exposed_s_);
    return detail;
  }

  /// Of exposed communication that reduces the gradients of each micro-batch.
  CauseDetail reduce_once(Saving& saving) const {
    const auto batches = static_cast<double>(kinds_.micro_batches);
    saving.seconds = exposed_s_ * (1 - 1 / batches);
    saving.what = fmt::format("Gradients are reduced {} times per step, once in each micro-batch: {} of a step",
                              count(kinds_.micro_batches), percent(exposed_s_ / all_s()));
    return CauseDetail::micro_batches;
  }

  const RankSteps& steps_;
  CommunicationKinds kinds_;  ///< without what savings cover
  const Ranks& report_;
  Framework framework_;
  double ranks_ = 1, count_ = 1;
  double exposed_s_ = 0;                 ///< of all ranks in all steps, without what savings cover
  std::set<std::string> covered_lines_;  ///< of collectives that savings cover
  std::vector<SavingClaim> found_;
};

}  // namespace

std::vector<SavingClaim> exposed_savings(const Job& job, const RankSteps& steps, const CommunicationKinds& kinds,
                                         const std::optional<SlowLink>& slow, const Ranks& report, double small_s,
                                         Framework framework) {
  return ExposedSavings(job, steps, kinds, report, framework).find(slow, small_s);
}

}  // namespace roofline
