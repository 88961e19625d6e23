#include "inject/sampling.hpp"

#include <algorithm>
#include <cstring>

#include "inject/clock.hpp"
#include "inject/counting.hpp"
#include "inject/instruction_sampling.hpp"
#include "inject/launch_arguments.hpp"
#include "inject/session.hpp"
#include "inject/subscription.hpp"
#include "inject/trace.hpp"

namespace roofline::inject {
namespace {

constexpr std::uint64_t kLatest = kSecond / 20;  ///< longest time between calls of tick()
/// A mark is lost if it has not come for this many of its intervals, and for a second.
constexpr std::uint64_t kLostIntervals = 20;
/// After this many records, a record combines twice as many marks, so that the marks of a day fit into a spool.
constexpr std::uint64_t kSingleMarks = 20'000;
constexpr std::uint64_t kMostDoublings = 12;

}  // namespace

Sampling::Sampling(Session& session) : session_(session), peers_(session.folder) {
  session.spool.observe([this](std::string_view records) { observe(records); });
}

// --- what the program does, from the records in its spool

void Sampling::observe(std::string_view records) {
  const std::lock_guard lock(observed_mutex_);
  const auto read = [&](auto& record, std::size_t at) {
    std::memcpy(&record, records.data() + at + sizeof(spool::Header), sizeof(record));
  };
  spool::Header header = {};
  for (std::size_t at = 0; at + sizeof(header) <= records.size(); at += header.size) {
    std::memcpy(&header, records.data() + at, sizeof(header));
    if (header.type == spool::Type::kind) {
      spool::Kind kind = {};
      read(kind, at);
      take(kind);
    } else if (header.type == spool::Type::launch) {
      spool::Launch launch = {};
      read(launch, at);
      const bool known = launch.kind < mark_of_kind_.size() && (launch.flags & spool::kCaptured) == 0;
      if (known) repetitions_.add(mark_of_kind_[launch.kind], launch.start);
    } else if (header.type == spool::Type::call) {
      spool::Call call = {};
      read(call, at);
      repetitions_.add({Mark::What::call, call.name}, call.start);
    }
  }
}

/// Kinds also differ by place and parameters, which would be expensive to compare at each launch.
void Sampling::take(const spool::Kind& kind) {
  if (kind.id >= mark_of_kind_.size()) mark_of_kind_.resize(kind.id + 1);
  if ((kind.flags & spool::kGraph) != 0) {
    mark_of_kind_[kind.id] = {Mark::What::graph_launch, 0};
    return;
  }
  Shape shape = {};
  shape.name = kind.name;
  std::memcpy(shape.grid, kind.grid, sizeof(shape.grid));
  std::memcpy(shape.block, kind.block, sizeof(shape.block));
  mark_of_kind_[kind.id] = {Mark::What::launch, shapes_.try_emplace(shape, kind.id).first->second};
}

// --- phases

std::uint64_t Sampling::tick(std::uint64_t time) {
  const Marker* const marker = marker_.load(std::memory_order_acquire);
  if (plan_.phase() != RunPhase::quiet || pausing_ || marker == nullptr || !marker->paced) return time + kLatest;
  const std::uint64_t again = look_again_.load();
  if (again > time) {
    if (looking_ && subscription().follow(marker->calls, false)) looking_ = false;
    return std::min(again, time + kLatest);
  }
  if (again != 0 && subscription().follow(marker->calls, true)) {
    looking_ = true;
    last_mark_ = time;
    look_again_ = 0;
  }
  // Callbacks are disabled here and not in the callback that sees the mark, which then needs no call of CUPTI.
  return time + std::clamp<std::uint64_t>(marker->interval / 8, kLatest / 250, kLatest);
}

void Sampling::begin(InstructionSampling* instructions) {
  session_.instructions = instructions;
  const RunOfSeveral run = run_of_several();
  const PhasePlan::Run first = run.of > 1 ? PhasePlan::Run::first : PhasePlan::Run::only;
  plan_.begin(instructions != nullptr, !peers_.alone(), run.number > 1 ? PhasePlan::Run::later : first);
  held_ = !counts(plan_.phase()) && counting_holds();
  follow_instructions(plan_.phase());
}

/// The GPU has its counters for one thing at a time: counting is held meanwhile.
void Sampling::follow_instructions(RunPhase phase) {
  InstructionSampling* const instructions = session_.instructions;
  if (instructions == nullptr) return;
  if (phase != RunPhase::instructions) {
    instructions->end();
  } else if (held_) {
    instructions->begin();
    instructions->collect();
  }
}

void Sampling::look(std::uint64_t time) {
  if (pausing_) return;
  const CountingState counting = counting_state();
  PhasePlan::Progress progress = {};
  progress.time = time;
  progress.launches = session_.launches;
  progress.counting_rests = counting.rests;
  progress.counts_missing = counting.missing;
  progress.counting_cost = counting_cost();
  progress.counting_left = counting.left;
  progress.may_count = counting.may;
  progress.marker_lost = lost(time);
  progress.no_instructions = session_.instructions != nullptr && session_.instructions->refused();
  progress.instructions_on = session_.instructions != nullptr && session_.instructions->on();
  progress.instructions_taken = progress.instructions_on && session_.instructions->taking();
  progress.in_job = !peers_.alone();
  progress.peers_missing = plan_.phase() == RunPhase::sample && !peers_.ready(time);
  const RunPhase before = plan_.phase();
  {
    const std::lock_guard lock(observed_mutex_);
    if (progress.peers_missing) repetitions_.restart();
    progress.launched = repetitions_.any();
    progress.repetitions = repetitions_.count();
    progress.repeated = repetitions_.length();
    progress.series = repetitions_.series();
    progress.in_row = repetitions_.in_row();
    progress.newcomer = repetitions_.newcomer();
  }
  const RunPhase phase = plan_.next(progress);
  if (phase != before) {
    // Counting changes rates, so the mark is chosen from uncounted steps.
    if (before == RunPhase::sample || before == RunPhase::refresh) chosen_ = choose();
    if (counts(phase)) counting_resumes();
    if (before == RunPhase::sample && !plan_.sampled()) peers_.leave();  // the next sample is to begin on all ranks
    held_ = false;
    if (phase == RunPhase::quiet) {
      end_recording();
    } else {
      const std::lock_guard lock(observed_mutex_);
      repetitions_.restart();
    }
    if (before == RunPhase::quiet) begin_recording();
  }
  if (!counts(phase) && !held_) held_ = counting_holds();
  follow_instructions(phase);
}

void Sampling::end_recording() {
  end_window(session_);
  if (session_.phase != Phase::draining) return;  // the whole recording has ended meanwhile
  pausing_ = true;
  session_.spool.write(spool::Type::note, spool::Note{session_.window_ended, spool::NoteCode::recording_ended, 0});
}

void Sampling::drained() {
  {
    const std::lock_guard lock(marks_mutex_);
    pacer_ = Pacer();
    start_ = marked_ = 0;
    pending_ = pending_callbacks_ = 0;
  }
  callbacks_ = 0;
  look_again_ = 0;
  looking_ = true;
  captured_ = false;
  last_mark_ = now();
  marker_ = chosen_;
  flush_activities(true);
  session_.phase = Phase::quiet;
  subscription().rest(chosen_ != nullptr ? chosen_->calls : std::vector<CUpti_CallbackId>());
  ++session_.epoch;
  if (capturing()) capture_begins();
  pausing_ = false;
}

void Sampling::end() {
  peers_.leave();
  finish();
}

void Sampling::finish() {
  const Marker* const marker = marker_.load(std::memory_order_acquire);
  const std::lock_guard lock(marks_mutex_);
  if (marker != nullptr && pending_ > 0) write_marks(*marker, start_, marked_, pending_);
}

void Sampling::begin_recording() {
  session_.kinds.inputs().forget();  // what ran meanwhile is not known
  finish();
  marker_ = nullptr;
  session_.first_correlation = 0;
  session_.end_correlation_known = false;
  ++session_.epoch;
  // A launch begins the recording, as it begins a window.
  Phase expected = Phase::quiet;
  if (!session_.phase.compare_exchange_strong(expected, Phase::warming)) return;
  subscription().record();
}

// --- marks

/// The mark for the next quiet phase; nullptr: none is suitable.
const Sampling::Marker* Sampling::choose() {
  std::optional<MarkerChoice> choice;
  {
    const std::lock_guard lock(observed_mutex_);
    choice = choose_marker(repetitions_.candidates(), repetitions_.launches_per_second());
  }
  if (!choice) return nullptr;
  const Mark mark = choice->candidate.mark;
  auto* const made = new Marker;
  made->paced = choice->paced;
  made->interval = choice->candidate.interval / choice->candidate.per_repetition;
  spool::Marker record = {};
  switch (mark.what) {
    case Mark::What::launch:
      made->kind = session_.kinds.of_id(mark.id);
      made->calls = subscription().calls_of(spool::CallKind::launch);
      record.kind = mark.id;
      break;
    case Mark::What::graph_launch:
      made->calls = subscription().calls_of(spool::CallKind::graph_launch);
      record.call = session_.spool.text(spool::kGraphLaunchCall);
      break;
    case Mark::What::call:
      made->calls = subscription().calls_named(mark.id);
      record.call = mark.id;
      break;
  }
  if (made->calls.empty() || (mark.what == Mark::What::launch && made->kind == nullptr)) {
    delete made;
    return nullptr;
  }
  const auto known = markers_.find(mark);
  made->id = known != markers_.end() ? known->second->id : static_cast<spool::Id>(markers_.size() + 1);
  record.id = made->id;
  if (known == markers_.end()) session_.spool.write(spool::Type::marker, record);
  return markers_[mark] = made;
}

bool Sampling::Marker::follows(CUpti_CallbackId call) const {
  return std::find(calls.begin(), calls.end(), call) != calls.end();
}

bool Sampling::Marker::is(const DriverCall& call, const CUpti_CallbackData& data) const {
  if (kind == nullptr) return true;
  const KernelLaunch launch = launch_arguments(call.arguments, data).kernel;
  return launch.function == kind->function.load(std::memory_order_relaxed) &&
         launch.geometry.grid == kind->geometry.grid && launch.geometry.block == kind->geometry.block;
}

bool Sampling::marks(CUpti_CallbackId id, const DriverCall& call, const CUpti_CallbackData& data) {
  const Marker* const marker = marker_.load(std::memory_order_acquire);
  if (marker == nullptr || !marker->follows(id)) return false;
  if (data.callbackSite == CUPTI_API_ENTER) {
    callbacks_.fetch_add(1, std::memory_order_relaxed);
    if (marker->is(call, data)) seen(*marker, now());
  }
  return !always_followed(call);  // which is followed for something else, too
}

void Sampling::seen(const Marker& marker, std::uint64_t time) {
  const std::lock_guard lock(marks_mutex_);
  if (look_again_ != 0) return;  // paused: the callbacks are about to be disabled
  if (time < marked_) return;    // another thread's later mark came here first
  const std::uint64_t before = marked_;
  marked_ = time;
  last_mark_ = time;
  pending_callbacks_ += callbacks_.exchange(0, std::memory_order_relaxed);
  if (!marker.paced) {
    if (before == 0) {
      start_ = time;
      pending_callbacks_ = 0;
      return;
    }
    ++pending_;
    const std::uint64_t together = std::uint64_t{1} << std::min(written_ / kSingleMarks, kMostDoublings);
    if (pending_ >= together) write_marks(marker, start_, time, pending_);
    return;
  }
  const Pacer::Seen step = pacer_.seen(time);
  if (step.step) {
    write_marks(marker, before, time, 1);
  } else {
    pending_callbacks_ = 0;
  }
  look_again_ = step.look_again;
}

void Sampling::write_marks(const Marker& marker, std::uint64_t start, std::uint64_t end, std::uint32_t marks) {
  session_.spool.write(spool::Type::marks, spool::Marks{start, end, marker.id, marks, pending_callbacks_, 0});
  ++written_;
  start_ = end;
  pending_ = pending_callbacks_ = 0;
}

bool Sampling::lost(std::uint64_t time) {
  if (plan_.phase() != RunPhase::quiet) return false;
  const Marker* const marker = marker_.load(std::memory_order_acquire);
  const std::uint64_t last = last_mark_;
  const bool looked_for = marker != nullptr && look_again_ == 0 && time > last;
  return captured_ || (looked_for && time - last > std::max(kSecond, kLostIntervals * marker->interval));
}

void Sampling::capture_begins() {
  if (session_.phase != Phase::quiet) return;
  captured_ = true;
  static_cast<void>(subscription().follow(subscription().launches(), true));
}

void Sampling::captures_end() {
  if (session_.phase != Phase::quiet) return;
  const Marker* const marker = marker_.load(std::memory_order_acquire);
  static_cast<void>(subscription().follow(subscription().launches(), false));
  if (marker != nullptr && look_again_ == 0) static_cast<void>(subscription().follow(marker->calls, true));
  const std::lock_guard lock(marks_mutex_);
  pacer_.interrupted();
}

}  // namespace roofline::inject
