// Order of the measurements: a sweep that others depend on, rounds of the roofs, one visit to each reference, the
// sweeps, rounds of what has not converged, and at the end, in reserved time, the sustained ceilings.
#include "calibrate/rounds_worker.hpp"

#include <algorithm>

#include "calibrate/probe_bench.hpp"
#include "device/cpu/cpu_device.hpp"
#include "host/host.hpp"
#include "host/interrupt.hpp"
#include "model/error.hpp"

namespace roofline {
namespace {

bool is_sustained(const Probe& probe, const Effort& effort) {
  return probe.sustained && !effort.quick && effort.sustain_s > 0;
}

/// For a sustained ceiling: warm-up for half of the time, and sampling for at most 0.6 of it.
double load_s(const Effort& effort) { return 1.1 * effort.sustain_s; }

/// Reserved time for one: includes creating the case, and a preceding visit that ends late under load.
double kept_s(const Effort& effort) { return load_s(effort) + 0.6; }

/// Shares of the whole time: for roofs only, and at most for sustained ceilings.
constexpr double kForRoofs = 0.5, kForSustained = 0.3;

/// Share of the whole time for the first sweep, whose large sets take long to create on a busy machine.
constexpr double kForFirstSweep = 0.3;

/// Sustained ceilings for which there is time to measure again.
constexpr std::int64_t kSpareLoads = 2;

/// Roofs come first, because rows are compared with them; those in place are last, because no built-in kernel writes in
/// place and a short time may not suffice for all.
int priority_of(const Probe& probe) {
  if (probe.role == Role::reference) return 2;
  return probe.pattern && is_in_place(*probe.pattern) ? 1 : 0;
}

/// Probes slowed by the same causes: those of one memory level, those of all pipes, launches.
bool alike(const Probe& a, const Probe& b) { return a.kind == b.kind && a.level == b.level; }

}  // namespace

RoundsWorker::RoundsWorker(const CalibrateOptions& options, const std::vector<const Probe*>& probes,
                           const std::set<std::string>& lost, double begin_s)
    : options_(options),
      lost_(lost),
      time_s_(options.effort.time_s.value_or(default_time_s(options.effort, probes))),
      least_s_(begin_s + time_s_ / 3),
      end_s_(begin_s + time_s_) {
  std::vector<const Probe*> ordered = probes;
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const Probe* a, const Probe* b) { return priority_of(*a) < priority_of(*b); });
  for (const Probe* probe : ordered) (probe->sweep ? sweeps_ : members_).emplace_back().probe = probe;
  const auto roofs = std::count_if(members_.begin(), members_.end(),
                                   [](const Member& member) { return member.probe->role == Role::roof; });
  rounds_.emplace(static_cast<std::size_t>(roofs), members_.size(),
                  RoundTimes{.roofs_end_s = begin_s + kForRoofs * time_s_,
                             .end_s = rounds_end_s(),
                             .whole_first_visits = !options.effort.time_s});
}

AfterJob RoundsWorker::run(const Send& send) {
  const MessageWriter writer(send);
  const std::optional<Step> step = next();
  if (!step) {
    finish(writer);
    return AfterJob::nothing_left;
  }
  Member& member = *step->member;
  writer.current(member.probe->name, visited(), rounds_->completed());
  try {
    (this->*step->work)(member, writer);
  } catch (const DeviceError& error) {
    writer.unusable(error.what(), error.hint());
    return AfterJob::nothing_left;
  } catch (const std::exception& error) {
    const bool measured = member.rounds && member.rounds->measured(0);
    if (!measured) writer.outcome(member.probe->name, std::string(error.what()));
    member.over = true;
  }
  return AfterJob::next;
}

std::optional<RoundsWorker::Step> RoundsWorker::next() {
  const double now = wall_seconds();
  const auto pending = [this](const Member& member) { return !member.over && !member.stretched && !lost(member); };
  const auto next_sweep = std::find_if(sweeps_.begin(), sweeps_.end(), pending);
  if (!device_) {
    const auto member = std::find_if(members_.begin(), members_.end(), pending);
    if (member != members_.end()) return Step{&RoundsWorker::open, &*member};
    if (next_sweep != sweeps_.end()) return Step{&RoundsWorker::open, &*next_sweep};
    return std::nullopt;
  }
  const bool sweeps_left = next_sweep != sweeps_.end() && now < rounds_end_s();
  if (sweeps_left) {
    const auto first = std::find_if(sweeps_.begin(), sweeps_.end(),
                                    [&](const Member& member) { return pending(member) && comes_first(member); });
    if (first != sweeps_.end()) return Step{&RoundsWorker::sweep, &*first};
  }
  const bool visits_first = !sweeps_left || !rounds_->visited_all();
  if (visits_first) {
    if (const auto index = rounds_->next(now, [&](std::size_t member) { return converged(members_[member], now); })) {
      in_first_visits_ = rounds_->in_first_visits();
      return Step{&RoundsWorker::visit, &members_[*index]};
    }
  }
  if (sweeps_left) return Step{&RoundsWorker::sweep, &*next_sweep};
  in_first_visits_ = false;
  for (Member& member : members_) {
    if (pending(member) && is_sustained(*member.probe, options_.effort) && member.rounds && member.rounds->best()) {
      return Step{&RoundsWorker::sustain, &member};
    }
  }
  // A result slowed by a neighbour rather than a limiter is measured again while there is time.
  Member* slowest = nullptr;
  for (Member& member : members_) {
    const bool slowed = !member.over && !lost(member) && member.in_a_cycle && *member.in_a_cycle < 1 - kSameInACycle;
    if (slowed && (slowest == nullptr || *member.in_a_cycle < *slowest->in_a_cycle)) slowest = &member;
  }
  if (slowest == nullptr || now + load_s(options_.effort) > end_s_) return std::nullopt;
  return Step{&RoundsWorker::sustain, slowest};
}

void RoundsWorker::open(Member&, const MessageWriter& writer) {
  const DeviceChoice& choice = options_.device;
  device_ = open_device(choice.kind, choice.index, choice.options);
  writer.device(device_->info());
  const auto watts = options_.effort.quick ? std::nullopt : measure_idle_watts(*device_);
  if (watts) writer.idle_watts(*watts);
}

void RoundsWorker::visit(Member& member, const MessageWriter& writer) {
  const Probe& probe = *member.probe;
  if (!member.rounds) {
    if (const auto reason = probe.unsupported ? probe.unsupported(*device_) : std::nullopt) {
      member.over = true;
      rounds_->end_at(rounds_end_s());  // its reserved time is available for others
      return writer.outcome(probe.name, *reason);
    }
    member.rounds.emplace(probe, *device_, options_.effort, [this] { return stopped(); });
  }
  member.rounds->visit(slowed_share(member));
  send_ceiling(member, writer);
}

void RoundsWorker::send_ceiling(Member& member, const MessageWriter& writer) const {
  if (const auto measured = member.rounds->measured(slowed_share(member))) {
    writer.outcome(member.probe->name, *measured);
  } else if (!interrupted()) {
    member.over = true;
    const std::string reason = member.rounds->failure();
    if (reason == Unmeasured::kCancelled) return writer.no_time(member.probe->name);
    writer.outcome(member.probe->name, reason);
  }
}

void RoundsWorker::sweep(Member& member, const MessageWriter& writer) {
  const bool decides = comes_first(member);
  const double first_end_s = wall_seconds() + kForFirstSweep * time_s_;
  const auto late = [&] { return decides && wall_seconds() > first_end_s; };
  const ProbeOutcome outcome =
      measure_probe(*member.probe, *device_, options_.effort, [&] { return stopped() || late(); });
  if (interrupted()) return;
  if (decides && late() && std::holds_alternative<std::string>(outcome)) {
    member.deferred = true;
    return;
  }
  member.stretched = true;
  const auto* curve = std::get_if<Sweep>(&outcome);
  if (decides && curve != nullptr && !curve->boundaries.empty())
    as_cpu(*device_).set_measured_cache_bytes(curve->boundaries.back());
  const bool cut = stopped() && std::holds_alternative<std::string>(outcome);
  if (cut) return writer.no_time(member.probe->name);
  writer.outcome(member.probe->name, outcome);
}

void RoundsWorker::sustain(Member& member, const MessageWriter& writer) {
  member.stretched = true;
  const Probe& probe = *member.probe;
  if (options_.effort.time_s && wall_seconds() + load_s(options_.effort) > end_s_) {
    return writer.no_time(probe.name + Unmeasured::kSustained);
  }
  const Ceiling burst = member.rounds->measured(slowed_share(member)).value().ceiling;
  const auto ceiling = measure_sustained(
      probe, *device_, options_.effort, [] { return interrupted(); }, member.rounds->best().value(), burst);
  if (!ceiling) return member.in_a_cycle.reset();
  const double in_a_cycle = share_in_a_cycle(*ceiling, burst);
  if (member.in_a_cycle && !(in_a_cycle > *member.in_a_cycle)) return;
  member.in_a_cycle = in_a_cycle;
  writer.sustained(probe.name, *ceiling);
}

/// All ceilings once more, because the share of slowed rounds is only known now; and what the time did not suffice
/// for.
void RoundsWorker::finish(const MessageWriter& writer) {
  for (Member& member : members_) {
    if (member.over || lost(member)) continue;
    if (member.rounds) {
      send_ceiling(member, writer);
    } else {
      writer.no_time(member.probe->name);
    }
  }
  for (const Member& member : sweeps_) {
    if (!member.stretched && !lost(member)) writer.no_time(member.probe->name);
  }
}

/// By the user, or because what is left of the time is kept for sustained ceilings. A default time ends neither the
/// first round nor the first sustained ceilings: on a busy machine with large caches it was over before there was one.
bool RoundsWorker::stopped() const {
  const bool finishing = in_first_visits_ && !options_.effort.time_s;
  return interrupted() || (wall_seconds() >= rounds_end_s() && !finishing);
}

double RoundsWorker::slowed_share(const Member& member) const {
  Slowdowns slowdowns;
  for (const Member& other : members_) {
    if (other.rounds && alike(*other.probe, *member.probe)) other.rounds->add_to(slowdowns);
  }
  return slowdowns.slowed_share();
}

/// Reserves the time of the sustained ceilings, including repetitions.
double RoundsWorker::rounds_end_s() const {
  const auto sustained = std::count_if(members_.begin(), members_.end(), [this](const Member& member) {
    return is_sustained(*member.probe, options_.effort) && !member.over && !lost(member);
  });
  const std::int64_t loads = sustained == 0 ? 0 : sustained + kSpareLoads;
  return end_s_ - std::min(static_cast<double>(loads) * kept_s(options_.effort), kForSustained * time_s_);
}

/// True if another visit would change nothing. Probes that the same causes slow settle together: each of them alone
/// would end at its first fast round, and the share of slowed rounds would be too uncertain (1.8 % of simulated
/// ceilings were silently low, RoundsEvidence). Before a third of the time nothing has converged, because a transient
/// of a few seconds must not determine a result.
bool RoundsWorker::converged(const Member& member, double now_s) const {
  if (member.over || lost(member)) return true;
  if (now_s < least_s_) return false;
  const double slowed = slowed_share(member);  // of all that count
  return std::all_of(members_.begin(), members_.end(), [&](const Member& other) {
    const bool counts = alike(*other.probe, *member.probe) && (other.rounds || other.probe->role == member.probe->role);
    if (!counts || other.over || lost(other)) return true;
    return other.rounds && other.rounds->converged(slowed);
  });
}

/// True if other probes' working sets depend on this sweep.
bool RoundsWorker::comes_first(const Member& member) const {
  return !member.deferred && member.probe->comes_first && member.probe->comes_first(*device_);
}

/// How many probes have been visited.
std::int64_t RoundsWorker::visited() const {
  const auto count = [this](const std::vector<Member>& members) {
    return std::count_if(members.begin(), members.end(), [this](const Member& member) {
      return member.over || lost(member) || member.rounds || member.stretched;
    });
  };
  return count(members_) + count(sweeps_);
}

}  // namespace roofline
