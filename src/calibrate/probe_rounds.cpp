// Visits to the variants of a probe and to twice the work of the best one, and the resulting ceiling.
#include "calibrate/probe_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "calibrate/probe_bench.hpp"
#include "calibrate/probe_ceiling.hpp"
#include "host/host.hpp"
#include "measure/audit.hpp"
#include "model/error.hpp"
#include "model/nan.hpp"

namespace roofline {
namespace {

/// A variant behind the best one is dropped if the chance that all its visits were slowed is at most this. It is
/// larger than for a ceiling, because an error only costs the difference between two variants.
constexpr double kVariantDoubt = 0.05;

/// Data of a case without its buffers, which are reused by the next one.
ProbeCase facts_of(const ProbeCase& made) {
  ProbeCase facts = made;
  facts.run = {};
  facts.batch = {};
  facts.verify = {};
  facts.operands = {};
  facts.clock = {};
  facts.code = {};
  return facts;
}

}  // namespace

ProbeRounds::ProbeRounds(const Probe& probe, Device& device, const Effort& effort, std::function<bool()> cancelled)
    : probe_(probe), device_(device), effort_(effort), cancelled_(std::move(cancelled)) {}

void ProbeRounds::visit(double slowed_share) {
  const double begin_s = wall_seconds();
  for (std::size_t i = 0; (i < variants_.size() || !tried_all_) && !cancelled_(); ++i) {
    if (i == variants_.size()) {
      Series next;
      next.variant = static_cast<int>(i);
      tried_all_ = !visit(next);
      if (!tried_all_) variants_.push_back(std::move(next));
    } else if (!given_up(variants_[i], slowed_share)) {
      visit(variants_[i]);
    }
  }
  const Series* best = leader();
  if (probe_.scalable && best != nullptr && best->plateau.rounds > 1 && !cancelled_()) {
    if (!twice_ || twice_->variant != best->variant) {
      twice_ = Series();
      twice_->variant = best->variant;
      twice_->scale = 2;
    }
    if (!reached(*twice_, slowed_share) && !visit(*twice_)) {
      throw Error(fmt::format("{} cannot run twice the work", probe_.name));
    }
  }
  took_s_ += wall_seconds() - begin_s;
}

/// Creates and samples the case; false if there is no such case.
bool ProbeRounds::visit(Series& series) {
  const ProbeBench bench{probe_, device_, cancelled_};
  const std::optional<ProbeCase> made =
      probe_.make(device_, ProbeRequest{.quick = effort_.quick, .scale = series.scale}, series.variant);
  if (!made) return false;
  const bool first = series.facts.amount == 0;
  if (first) {
    series.facts = facts_of(*made);
    series.wrong = first_run(bench, *made);
  }
  if (series.wrong) return true;
  StopAtLeast rule;
  const auto contention = device_.watch_contention();
  Samples samples = sample_case(bench, *made, visit_options(effort_), rule);
  contention_ += contention();
  if (first) {
    if (made->verify) series.wrong = made->verify();
    series.checks = audit_case(probe_, device_, *made);
    if (made->verify) series.checks.insert(series.checks.begin(), audit_result(series.wrong));
  }
  // A case created with less memory than the first one may have slightly less work.
  for (double& seconds : samples.seconds) seconds *= series.facts.amount / made->amount;
  if (samples.summary.stop == StopReason::cancelled || samples.seconds.empty()) return true;
  series.rounds.push_back({std::move(samples.seconds), std::move(samples.clock_hz), std::move(samples.work_clock_hz)});
  series.plateau = fast_plateau(series.rounds);
  return true;
}

double ProbeRounds::least_s(const Series& series) const {
  const FastPlateau& plateau = series.plateau;
  const std::optional<double>& clock_hz = plateau.work_clock_hz ? plateau.work_clock_hz : plateau.clock_hz;
  const std::optional<Limit> limit = probe_.limit && clock_hz ? probe_.limit(device_, clock_hz) : std::nullopt;
  return limit && limit->value > 0 ? series.facts.amount / limit->value : kNaN;
}

bool ProbeRounds::reached(const Series& series, double slowed_share) const {
  return series.plateau.reached(slowed_share, least_s(series));
}

bool ProbeRounds::given_up(const Series& variant, double slowed_share) const {
  const Series* best = leader();
  if (variant.wrong) return true;
  if (best == nullptr || best == &variant || variant.plateau.rounds < 2) return false;
  return best->plateau.at_limit(least_s(*best)) || variant.plateau.chance_of_missing(slowed_share) <= kVariantDoubt;
}

const ProbeRounds::Series* ProbeRounds::leader() const {
  const Series* best = nullptr;
  for (const Series& series : variants_) {
    if (series.wrong || series.plateau.rounds == 0) continue;
    if (best == nullptr || series.rate() > best->rate()) best = &series;
  }
  return best;
}

std::optional<int> ProbeRounds::best() const {
  const Series* best = leader();
  return best == nullptr ? std::nullopt : std::optional(best->variant);
}

bool ProbeRounds::converged(double slowed_share) const {
  const Series* best = leader();
  if (best == nullptr) return tried_all_;
  const bool alone = std::all_of(variants_.begin(), variants_.end(), [&](const Series& series) {
    return &series == best || given_up(series, slowed_share);
  });
  const bool doubled = !probe_.scalable || (twice_ && (twice_->wrong || reached(*twice_, slowed_share)));
  return alone && doubled && reached(*best, slowed_share);
}

Check ProbeRounds::audit_doubled(const Series& once, double slowed_share) const {
  if (twice_ && twice_->wrong) return audit_result("with twice the work: " + *twice_->wrong);
  const FastPlateau none;
  const bool same = twice_ && twice_->variant == once.variant;
  const bool both = same && reached(once, slowed_share) && reached(*twice_, slowed_share);
  const bool in_cycles = probe_.kind == CeilingKind::compute;
  const Check after = audit_doubling(once.plateau, same ? twice_->plateau : none, both, in_cycles);
  if (!same || !once.plateau.work_clock_hz || !twice_->plateau.work_clock_hz) return after;
  FastPlateau first = once.plateau, second = twice_->plateau;
  first.clock_hz = first.work_clock_hz;  // wide vectors lower the clock only while they run
  second.clock_hz = second.work_clock_hz;
  Check in_work = audit_doubling(first, second, both, in_cycles);
  if (in_work.status != CheckStatus::fail) return in_work;
  if (after.status != CheckStatus::fail) return after;
  // Interruptions make the clock in the work too low: the truth is between both.
  const auto ratio = [](const FastPlateau& one, const FastPlateau& two) {
    return two.seconds * two.clock_hz.value_or(1) / (one.seconds * one.clock_hz.value_or(1));
  };
  const double by_work = ratio(first, second), by_after = ratio(once.plateau, twice_->plateau);
  if (std::min(by_work, by_after) < 2 && std::max(by_work, by_after) > 2) {
    in_work.status = CheckStatus::not_run;
    in_work.detail += fmt::format("; undecided: {:.4g} x by the clock right after", by_after);
  }
  return in_work;
}

std::optional<MeasuredProbe> ProbeRounds::measured(double slowed_share) const {
  const Series* best = leader();
  if (best == nullptr) return std::nullopt;
  const FastPlateau& plateau = best->plateau;
  MeasuredProbe measured{.ceiling = ceiling_of(probe_, device_, best->facts, plateau.seconds, plateau.ci95,
                                               {plateau.clock_hz, plateau.work_clock_hz}),
                         .sustained = std::nullopt,
                         .intensity = arithmetic_intensity(best->facts.work, main_memory(probe_.device)),
                         .pipe = dominant_pipe(best->facts.work)};
  Ceiling& ceiling = measured.ceiling;
  ceiling.median_rate = best->facts.amount / plateau.median_s;
  ceiling.rounds = plateau.rounds;
  ceiling.agreeing_rounds = plateau.agreeing;
  ceiling.samples = plateau.samples;
  ceiling.stop = std::string(to_string(reached(*best, slowed_share) ? StopReason::converged : StopReason::time_limit));
  ceiling.took_s = took_s_;
  if (is_significant(contention_)) ceiling.contention = contention_;
  const double least = least_s(*best);
  auto& checks = ceiling.audit.checks;
  // If its samples give no such interval, it is between the value and the clock-derived limit.
  if (plateau.at_limit(least) && audit_interval(ceiling.value, ceiling.ci95).status != CheckStatus::pass) {
    ceiling.ci95 = {ceiling.value, std::max(ceiling.value, best->facts.amount / least)};
  }
  checks = {audit_interval(ceiling.value, ceiling.ci95), audit_plateau(plateau, slowed_share, least),
            audit_limit_of(probe_, ceiling)};
  checks.insert(checks.end(), best->checks.begin(), best->checks.end());
  if (probe_.scalable) checks.push_back(audit_doubled(*best, slowed_share));
  settle_noise_checks(ceiling);
  return measured;
}

std::string ProbeRounds::failure() const {
  for (const Series& series : variants_) {
    if (series.wrong) return fmt::format("{}: wrong result: {}", series.facts.variant, *series.wrong);
  }
  if (variants_.empty()) return cancelled_() ? Unmeasured::kCancelled : "no variant of this probe runs on this device";
  return cancelled_() ? Unmeasured::kCancelled : "no valid time measured";
}

void ProbeRounds::add_to(Slowdowns& slowdowns) const {
  for (const Series& series : variants_) slowdowns.add(series.plateau);
  if (twice_) slowdowns.add(twice_->plateau);
}

}  // namespace roofline
