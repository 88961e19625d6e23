#include "inject/launch_counter.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "inject/clock.hpp"
#include "model/one_line.hpp"

namespace roofline::inject {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr double kDefaultBudget = 30;  // s
constexpr std::uint64_t kLongestLaunch = 500 * kMillisecond;
constexpr std::uint64_t kLongestDriverCall = 100 * kMillisecond;
constexpr std::chrono::milliseconds kPatience{100};  // of a launch, while another is counted
constexpr std::chrono::seconds kLongPatience{2};     // of what must not happen while one is counted
constexpr std::uint64_t kLongUnended = 10'000 * kMillisecond;
constexpr std::uint64_t kClaimPause = 50 * kMillisecond;
constexpr std::uint64_t kLongClaimed = 2'000 * kMillisecond;
constexpr const char* kNeverIdle =
    "the GPU was never idle: kernels wait for the host or other work, or run as long as the program";

std::string seconds(std::uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", static_cast<double>(nanoseconds) * 1e-9);
  return text;
}

std::uint64_t budget() {
  const char* const text = std::getenv(spool::kCountTimeVariable);
  return static_cast<std::uint64_t>((text != nullptr ? std::max(std::strtod(text, nullptr), 0.0) : kDefaultBudget) *
                                    1e9);
}

}  // namespace

LaunchCounter::LaunchCounter(Session& session)
    : process_(session), plan_(budget(), run_of_several().number - 1), chips_(session) {
  off_ = unused_ = chips_.wants_nothing() || plan_.over();
}

bool LaunchCounter::enters(const LaunchSite& site) {
  if (!asks() || idle_.is_captured()) return false;
  std::unique_lock lock(mutex_, std::defer_lock);
  // A capture is announced before it waits for the lock, and so is seen here, or waits until the launch is counted.
  if (!lock.try_lock_for(kPatience) || !asks() || idle_.is_captured()) return false;
  const std::uint64_t start = now();
  Opening opening{this};
  bool counted = false;
  try {
    counted = begin(site, start);
  } catch (const Error& error) {
    plan_.spent(now() - start);
    refuse(site.context, one_line(error));
  }
  if (!counted) return false;
  if (session_->range() == CountedRange::kernel) opening.counter = nullptr;
  static_cast<void>(lock.release());
  return true;
}

bool LaunchCounter::work_begins() {
  if (unused_ || resting_.load(std::memory_order_acquire)) return false;
  idle_.gate().enter();
  overlapped_ = true;
  return true;
}

/// The launch is to be counted, and all is ready for it.
bool LaunchCounter::begin(const LaunchSite& site, std::uint64_t start) {
  CountingPlan::Launch launch;
  launch.context = reinterpret_cast<std::uintptr_t>(site.context);
  launch.kind = site.alike;
  launch.layer = site.kind;
  kinds_alike_[site.alike].insert(site.kind);
  launch.number = site.graph != nullptr && graphs_.insert(site.graph).second ? 1 : site.number;
  // Only graphs that are instantiated after CUPTI has changed the kernels would have its code; a cooperative kernel may
  // not fit on the GPU with it.
  launch.instrumentable = site.graph == nullptr && (site.flags & spool::kCooperative) == 0;
  launch.usual = site.usual;
  launch.uncountable = (site.flags & spool::kUncountable) != 0;
  launch.time = start;
  const Context* context = nullptr;
  if (launch.number >= 2) {
    if (!earlier_work_ended()) return false;
    context = context_of(site);
    if (context == nullptr || context->chip == nullptr || !idle_.may_try()) return false;
    launch.groups = context->chip->range;
    start = now();
  }
  const std::optional<Configuration> chosen = plan_.choose(launch);
  if (plan_.over()) {
    stop_session();
    note_progress("its time limit was reached");
    off_ = true;
    return false;
  }
  if (!chosen) {
    if (!session_) claims_.give();
    if (plan_.idle(start) && stop_session() && plan_.summary().unfinished == 0) note_progress("");
    return false;
  }
  CUcontext current = nullptr;
  if (driver_->current_context(&current) != CUDA_SUCCESS || current != site.context) return false;

  const bool changes = chosen != plan_.current();
  if (!claim_counters()) return false;
  if (!await_idle(site.context)) {
    if (idle_.is_captured()) return false;
    plan_.failed(site.alike, "work queued before it does not end within seconds", now() - start);
    publish_cost();
    return false;
  }
  // Until here the GPU did the program's own work.
  start = now();
  overlapped_ = false;
  if (changes) change(*chosen, *context, start);
  session_->start();
  if (changes) {
    plan_.began(*chosen, now() - start);
    start = now();
  }
  session_->begin();
  entered_ = start;
  launched_ = now();
  return true;
}

/// Counts this configuration from now on, in the present session if that can.
void LaunchCounter::change(const Configuration& configuration, const Context& context, std::uint64_t& start) {
  collect();
  const std::uint32_t number = configuration.group - context.chip->range.first;
  const CounterGroup& group = context.chip->groups.groups()[number];
  const auto next = reinterpret_cast<CUcontext>(configuration.context);
  session_group_ = configuration.group;
  if (!session_ || session_context_ != next || !session_->change(group)) {
    session_.reset();
    session_context_ = next;
    session_ = std::make_unique<RangeSession>(chips_.profiler(), context.chip->groups, group, next);
  }
  const std::uint64_t end = now();
  plan_.began(configuration, end - start);
  start = end;
}

void LaunchCounter::exits(const LaunchSite& site, bool launched) {
  const std::unique_lock lock(mutex_, std::adopt_lock);
  const Opening opening{this};
  try {
    const bool user = session_->range() == CountedRange::user;
    if (!idle_.await_launch(*driver_, awaited(site.context), user ? kLongestLaunch : kLongestDrain)) {
      plan_.failed(site.alike, "it does not end within 0.5 s while nothing else is launched", now() - entered_);
      publish_cost();
      return;
    }
    session_->end();
    const std::uint64_t duration = now() - launched_;
    const bool overlapped = overlapped_.load();
    samples_.push_back({overlapped || !launched ? 0 : site.kind, site.correlation});
    if (session_->full()) collect();
    const std::uint64_t end = now();
    const std::uint64_t cost = end - entered_ - std::min(site.usual, duration);  // without the launch's own time
    if (!launched) {
      plan_.spent(end - entered_);
    } else if (overlapped) {
      plan_.overlapped(site.alike, cost);
    } else {
      plan_.counted(site.alike, duration, cost, end);
    }
  } catch (const Error& error) {
    plan_.spent(now() - entered_);
    refuse(site.context, one_line(error));
  }
  publish_cost();
}

/// nullptr: what it takes to count in it must wait.
const LaunchCounter::Context* LaunchCounter::context_of(const LaunchSite& site) {
  Context& context = contexts_[site.context];
  if (context.prepared) return &context;
  if (!idle_.may_try() || !claim_counters()) return nullptr;
  const std::uint64_t start = now();
  try {
    make_event(site.context, context);
    context.prepared = await_idle(site.context);
    if (context.prepared) context.chip = &chips_.of(site.context, *driver_);
  } catch (const Error& error) {
    context.prepared = true;
    refuse(site.context, one_line(error));
  }
  plan_.spent(now() - start);
  publish_cost();
  return context.prepared ? &context : nullptr;
}

void LaunchCounter::make_event(CUcontext handle, Context& context) {
  if (context.event != nullptr) return;
  if (!driver_) {
    driver_.emplace(driver().handle());
    if (driver_->missing() != nullptr) throw Error(std::string(driver_->missing()) + " is missing: update the driver");
  }
  CUcontext current = nullptr;
  if (driver_->current_context(&current) != CUDA_SUCCESS || current != handle) {
    throw Error("a launch into a context that is not current in its thread");
  }
  if (driver_->event_create(&context.event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    throw Error("the driver can't create an event");
  }
}

/// True if this process has the counters of the present context's GPU, until the session ends.
bool LaunchCounter::claim_counters() {
  CUdevice device = 0;
  if (driver().context_device != nullptr) driver().context_device(&device);
  if (claims_.take(device)) {
    claimed_elsewhere_ = 0;
    return true;
  }
  const std::uint64_t time = now();
  if (claimed_elsewhere_ == 0) claimed_elsewhere_ = time;
  idle_.wait_until(time + kClaimPause);
  return false;
}

/// True if this context, and the session's, have nothing to do. `counted`: a range is still open.
bool LaunchCounter::await_idle(CUcontext handle, bool counted) {
  const IdleGpu::Awaited session = session_ ? awaited(session_context_) : IdleGpu::Awaited();
  if (idle_.await(*driver_, awaited(handle), session, counted)) return true;
  if (idle_.never_idle() && !off_) {
    off_ = true;
    note_once(kNeverIdle);
  }
  return false;
}

/// True if what did not end in time has ended since.
bool LaunchCounter::earlier_work_ended() {
  const std::optional<IdleGpu::Unended> unended = idle_.unended();
  if (!unended) return true;
  if (idle_.is_captured()) return false;
  const std::uint64_t time = now();
  if (driver_->event_query(unended->of.event) == CUDA_ERROR_NOT_READY) {
    if (time - unended->since > kLongUnended) note_once(kNeverIdle);
    return false;
  }
  if (unended->counted && (!idle_.may_try() || !await_idle(unended->of.context, true))) return false;
  idle_.unended_ended(time);
  if (!unended->counted) return true;
  samples_.push_back({});
  session_->end();
  collect();
  return true;
}

/// Reads the values of what was counted, and writes them down.
void LaunchCounter::collect() {
  if (!session_) return;
  const std::vector<std::vector<double>> values = session_->collect();
  for (std::size_t i = 0; i < std::min(values.size(), samples_.size()); ++i) {
    if (samples_[i].kind == 0) continue;
    const auto count = static_cast<std::uint32_t>(values[i].size());
    process_.spool.write(
        spool::Type::counts, spool::Counts{samples_[i].kind, session_group_, samples_[i].correlation, count},
        std::string_view(reinterpret_cast<const char*>(values[i].data()), values[i].size() * sizeof(double)));
  }
  samples_.clear();
}

/// The program runs at its own speed from here on. False: it can't be stopped now.
bool LaunchCounter::stop_session() {
  if (!session_) {
    claims_.give();
    return true;
  }
  const std::uint64_t start = now();
  const Opening opening{this};
  try {
    if (!earlier_work_ended() || !await_idle(session_context_)) return false;
    collect();
    session_.reset();
    claims_.give();
    plan_.released();
    plan_.spent(now() - start);
    publish_cost();
  } catch (const Error& error) {
    refuse(session_context_, one_line(error));
  }
  return true;
}

void LaunchCounter::refuse(CUcontext context, const std::string& reason) {
  bool left_open = false;
  if (session_context_ == context) {
    // The profiler would wait for what is still under way.
    left_open = !idle_.is_idle() && session_.release() != nullptr;
    session_.reset();
    samples_.clear();
  }
  if (!session_ && !left_open) claims_.give();
  idle_.forget(context);
  contexts_[context].chip = nullptr;
  plan_.lost(reinterpret_cast<std::uintptr_t>(context));
  publish_cost();
  note_once(reason);
}

void LaunchCounter::note_once(const std::string& reason) {
  if (reasons_.insert(reason).second) process_.spool.note(spool::NoteCode::not_counted, reason);
}

void LaunchCounter::note_progress(const char* more) {
  if (chips_.none()) return;
  const CountingPlan::Summary summary = plan_.summary();
  std::string text = std::to_string(summary.complete) + " of " + std::to_string(summary.kinds) +
                     " launch signatures were counted completely in " + seconds(plan_.cost());
  if (*more != '\0') text += std::string("; ") + more;
  process_.spool.note(spool::NoteCode::counting_ended, text);
}

void LaunchCounter::capture_begins() {
  idle_.capture_begins();
  // A launch that is being counted is waited for: its end would break the capture.
  const std::unique_lock lock(mutex_, kLongPatience);
  if (lock) return;
  idle_.gate().enter();
  idle_.gate().leave();
}

void LaunchCounter::context_destroyed(CUcontext context) {
  const std::unique_lock lock(mutex_, kLongPatience);
  if (!lock) return;
  if (session_ && session_context_ == context && !stop_session()) {
    // Its work ends with the context, if it does: the profiler must not wait for it.
    static_cast<void>(session_.release());
    samples_.clear();
    plan_.lost(reinterpret_cast<std::uintptr_t>(context));
  }
  if (!session_) claims_.give();
  idle_.forget(context);
  contexts_.erase(context);
}

bool LaunchCounter::hold() {
  held_ = true;
  if (unused_ || resting_) return true;
  const std::unique_lock lock(mutex_, kLongPatience);
  if (!lock) return false;
  // Attempts to find the GPU idle are spaced out, because counting ends after several failures.
  if ((session_ && !idle_.may_try()) || !stop_session()) return false;
  resting_ = true;
  return true;
}

void LaunchCounter::resume() {
  if (unused_ || off_) return;
  const std::unique_lock lock(mutex_, kLongPatience);
  if (!lock) return;
  resting_ = false;
  // By then, calls that began while the gate was not needed have returned.
  idle_.wait_until(now() + kLongestDriverCall);
  plan_.resumed(now());
  held_ = false;
}

CountingState LaunchCounter::state() {
  if (unused_ || off_) return {true, false};
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {.rests = false, .missing = true, .left = 0, .may = true};
  if (plan_.over()) return {true, false};
  if (claimed_elsewhere_ != 0 && now() - claimed_elsewhere_ > kLongClaimed) {
    return {.rests = true, .missing = true, .left = 0, .may = true};
  }
  const CountingPlan::Summary summary = plan_.summary();
  return {.rests = plan_.rests(now()), .missing = summary.missing(), .left = summary.cost_left, .may = true};
}

void LaunchCounter::finish() {
  off_ = true;
  const std::unique_lock lock(mutex_, kLongPatience);
  if (!lock) return;
  idle_.try_now();
  if (!stop_session()) static_cast<void>(session_.release());
  resting_ = true;
  if (claimed_elsewhere_ != 0) note_once(CounterClaims::kTaken);
  if (chips_.none()) {
    if (idle_.has_failed()) note_once(kNeverIdle);
    return;
  }
  const std::vector<CountingPlan::Missing> missing = plan_.missing();
  for (const CountingPlan::Missing& alike : missing) {
    const spool::Id reason = process_.spool.text(alike.reason);
    for (const spool::Id kind : kinds_alike_[alike.kind]) {
      process_.spool.write(spool::Type::uncounted, spool::Uncounted{kind, reason});
    }
  }
  note_progress(idle_.unended() || idle_.has_failed() ? "the others were not counted because earlier work did not end"
                                                      : "");
}

}  // namespace roofline::inject
