// Counts launches in the program's own threads, inside the callbacks around them.
//
// It must not hang the program. Most calls of CUPTI's profiler wait, without a limit, for all work of the context. They
// are made only while the context is idle and a gate keeps other threads from giving it work. Idleness and gate are
// awaited up to a limit, by polling. Work that does not end in time may depend on what the program does next: nothing
// is counted until it has ended. While a launch is counted in a user range the gate is open; threads that launch
// meanwhile wait briefly and continue, and the disturbed count is discarded. In a kernel range the gate stays closed,
// because CUPTI would count their launches too and lose a graph launch.
#include "inject/counting.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "inject/clock.hpp"
#include "inject/counter_groups.hpp"
#include "inject/counting_plan.hpp"
#include "inject/cupti_library.hpp"
#include "inject/gate.hpp"
#include "inject/range_session.hpp"
#include "inject/session.hpp"
#include "model/one_line.hpp"

namespace roofline::inject {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr double kDefaultBudget = 30;                      // s
constexpr std::uint64_t kFirstDrain = 200 * kMillisecond;  // what is queued may take that long to end, at first
constexpr std::uint64_t kLongestDrain = 3000 * kMillisecond;
constexpr std::uint64_t kLongestLaunch = 500 * kMillisecond;
constexpr std::uint64_t kLongestCall = 100 * kMillisecond;
constexpr std::uint64_t kSpin = kMillisecond / 10;
constexpr std::chrono::milliseconds kPatience{100};        // of a launch, while another is counted
constexpr std::chrono::seconds kLongPatience{2};           // of what must not happen while one is counted
constexpr std::uint64_t kFirstPause = 500 * kMillisecond;  // after the GPU was not seen idle; doubles each time
constexpr int kMostAttempts = 5;
constexpr std::uint64_t kLongUnended = 10'000 * kMillisecond;
constexpr const char* kNeverIdle =
    "the GPU was never idle: kernels wait for the host or other work, or run as long as the program";
constexpr std::uint32_t kMostGroups = 64;

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

std::uint32_t first_group() {
  const char* const text = std::getenv(spool::kFirstGroupVariable);
  return text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : 0;
}

class Counting {
 public:
  explicit Counting(Session& session) : process_(session), plan_(budget(), first_group()) {
    std::ifstream file(session.folder + "/" + spool::kMetricsFile);
    quantities_ = read_quantities(file);
    off_ = unused_ = quantities_.empty() || plan_.over();
  }

  bool asks() const { return !off_.load(std::memory_order_relaxed) && !held_.load(std::memory_order_relaxed); }
  bool enters(const LaunchSite& site);
  void exits(const LaunchSite& site, bool launched);
  bool work_begins();
  void work_ends() { gate_.leave(); }
  void capture_begins();
  void capture_ends();
  void context_destroyed(CUcontext context);
  bool hold();
  void resume();
  CountingState state();
  void finish();
  std::uint64_t cost() const { return cost_.load(std::memory_order_relaxed); }

 private:
  /// All GPUs of one name.
  struct Chip {
    Chip(const CuptiProfiler& profiler, const std::string& name, std::vector<std::uint8_t> availability,
         const std::vector<Quantity>& quantities)
        : groups(profiler, name, std::move(availability), quantities) {}
    CounterGroups groups;
    GroupRange range;
  };
  struct Context {
    Chip* chip = nullptr;  ///< nullptr: nothing can be counted, or is yet
    CUevent event = nullptr;
    bool prepared = false;
  };
  /// A counted launch whose values are not read yet.
  struct Sample {
    spool::Id kind = 0;  ///< 0: to be thrown away
    std::uint32_t correlation = 0;
  };
  /// What did not end in time.
  struct Unended {
    CUevent event = nullptr;
    CUcontext context = nullptr;
    std::uint64_t since = 0;
    bool counted = false;  ///< a range is still open around it
  };
  /// Opens the gate in the end, whatever happens.
  struct Opening {
    Counting* counting;
    ~Opening() {
      if (counting != nullptr) counting->open_gate();
    }
  };

  const Context* context_of(const LaunchSite& site);
  void make_event(CUcontext handle, Context& context);
  void prepare(CUcontext handle, Context& context);
  Chip& chip_of(const std::string& name, std::vector<std::uint8_t> availability);
  bool begin(const LaunchSite& site, std::uint64_t start);
  void change(const Configuration& configuration, const Context& context, std::uint64_t& start);
  bool ends(CUcontext handle, CUevent event, std::uint64_t limit, bool interruptible);
  bool ends_within(CUcontext handle, CUevent event, std::uint64_t limit);
  bool quiet(CUcontext handle, bool counted = false);
  void open_gate();
  void postpone();
  bool earlier_work_ended();
  void collect();
  bool stop_session();
  void refuse(CUcontext context, const std::string& reason);
  void note_once(const std::string& reason);
  void note_progress(const char* more);
  void publish_cost() { cost_.store(plan_.cost(), std::memory_order_relaxed); }

  Session& process_;

  bool unused_ = false;  ///< never on
  std::atomic<bool> off_ = false;
  std::atomic<bool> held_ = false;
  std::atomic<bool> resting_ = false;  ///< held or off, and no session is open: launches need not pass the gate
  std::atomic<int> captures_ = 0;
  std::atomic<bool> overlapped_ = false;  ///< other work was launched while one launch was counted
  Gate gate_;
  std::atomic<std::uint64_t> cost_ = 0;

  std::timed_mutex mutex_;  // held from enters() to exits() of a counted launch; everything below is behind it
  CountingPlan plan_;
  std::optional<CuptiProfiler> profiler_;
  std::optional<DriverEvents> driver_;
  std::vector<Quantity> quantities_;
  std::map<std::string, std::unique_ptr<Chip>> chips_;
  std::map<CUcontext, Context> contexts_;
  std::set<std::string> reasons_;                                   ///< already reported
  std::set<CUgraphExec> graphs_;                                    ///< launched before
  std::unordered_map<spool::Id, std::set<spool::Id>> kinds_alike_;  ///< by the first of them
  std::uint32_t groups_ = 0;

  std::unique_ptr<RangeSession> session_;
  CUcontext session_context_ = nullptr;
  std::uint32_t session_group_ = 0;
  std::vector<Sample> samples_;
  std::optional<Unended> unended_;
  std::uint64_t drain_limit_ = kFirstDrain;
  bool quiet_ = false;        ///< the gate is closed, and the contexts concerned have nothing to do
  int attempts_ = 0;          ///< in vain, one after the other, to find it so
  std::uint64_t resume_ = 0;  ///< the next one's time

  std::uint64_t entered_ = 0, launched_ = 0;  ///< of the launch that is being counted
};

bool Counting::enters(const LaunchSite& site) {
  if (!asks() || captures_.load() > 0) return false;
  std::unique_lock lock(mutex_, std::defer_lock);
  // A capture is announced before it waits for the lock, and so is seen here, or waits until the launch is counted.
  if (!lock.try_lock_for(kPatience) || !asks() || captures_.load() > 0) return false;
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
  if (session_->range() == CountedRange::kernel) opening.counting = nullptr;
  static_cast<void>(lock.release());
  return true;
}

bool Counting::work_begins() {
  if (unused_ || resting_.load(std::memory_order_acquire)) return false;
  gate_.enter();
  overlapped_ = true;
  return true;
}

/// The launch is to be counted, and all is ready for it.
bool Counting::begin(const LaunchSite& site, std::uint64_t start) {
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
    if (context == nullptr || context->chip == nullptr || now() < resume_) return false;
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
    if (plan_.idle(start) && stop_session() && plan_.summary().unfinished == 0) note_progress("");
    return false;
  }
  CUcontext current = nullptr;
  if (driver_->current_context(&current) != CUDA_SUCCESS || current != site.context) return false;

  const bool changes = chosen != plan_.current();
  if (!quiet(site.context)) {
    if (captures_.load() > 0) return false;
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

/// A session for this configuration instead of the present one.
void Counting::change(const Configuration& configuration, const Context& context, std::uint64_t& start) {
  collect();
  session_.reset();
  const std::uint32_t number = configuration.group - context.chip->range.first;
  const CounterGroup& group = context.chip->groups.groups()[number];
  session_context_ = reinterpret_cast<CUcontext>(configuration.context);
  session_group_ = configuration.group;
  session_ = std::make_unique<RangeSession>(*profiler_, context.chip->groups, group, session_context_);
  const std::uint64_t end = now();
  plan_.began(configuration, end - start);
  start = end;
}

void Counting::exits(const LaunchSite& site, bool launched) {
  const std::unique_lock lock(mutex_, std::adopt_lock);
  const Opening opening{this};
  try {
    const Context& context = contexts_.at(site.context);
    const bool user = session_->range() == CountedRange::user;
    if (!ends_within(site.context, context.event, user ? kLongestLaunch : kLongestDrain)) {
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
const Counting::Context* Counting::context_of(const LaunchSite& site) {
  Context& context = contexts_[site.context];
  if (context.prepared) return &context;
  const std::uint64_t start = now();
  if (start < resume_) return nullptr;
  try {
    make_event(site.context, context);
    context.prepared = quiet(site.context);
    if (context.prepared) prepare(site.context, context);
  } catch (const Error& error) {
    context.prepared = true;
    refuse(site.context, one_line(error));
  }
  plan_.spent(now() - start);
  publish_cost();
  return context.prepared ? &context : nullptr;
}

void Counting::make_event(CUcontext handle, Context& context) {
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

void Counting::prepare(CUcontext handle, Context& context) {
  if (!profiler_) {
    profiler_.emplace(cupti().handle());
    profiler_->require();
  }
  CUdevice device = 0;
  if (driver_->context_device(&device) != CUDA_SUCCESS) throw Error("a context without a device");
  const std::string chip = profiler_->chip_name(device);
  profiler_->require_support(device);
  context.chip = &chip_of(chip, profiler_->availability(handle));
}

Counting::Chip& Counting::chip_of(const std::string& name, std::vector<std::uint8_t> availability) {
  std::unique_ptr<Chip>& chip = chips_[name];
  if (chip) return *chip;
  auto made = std::make_unique<Chip>(*profiler_, name, std::move(availability), quantities_);
  const std::vector<CounterGroup>& groups = made->groups.groups();
  if (groups.empty() || groups_ + groups.size() > kMostGroups) {
    throw Error("the " + name + " has none of the requested counters");
  }
  made->range.first = groups_;
  made->range.count = static_cast<std::uint32_t>(groups.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    if (groups[group].instrumented) made->range.instrumented |= std::uint64_t{1} << (groups_ + group);
  }
  for (std::size_t quantity = 0; quantity < quantities_.size(); ++quantity) {
    const CounterGroups::Place& place = made->groups.places()[quantity];
    process_.spool.write(spool::Type::metric,
                         spool::Metric{place.index, groups_ + place.group,
                                       process_.spool.text(quantities_[quantity].id), process_.spool.text(place.name)});
  }
  groups_ += made->range.count;
  chip = std::move(made);
  return *chip;
}

/// True if all that the context has to do ends in time. `interruptible`: a capture that is to begin ends the wait.
bool Counting::ends(CUcontext handle, CUevent event, std::uint64_t limit, bool interruptible) {
  const auto interrupted = [&] { return interruptible && captures_.load() > 0; };
  if (interrupted()) return false;  // even this would break a capture
  const std::uint64_t since = now();
  if (const CUresult status = driver_->context_record(handle, event); status != CUDA_SUCCESS) {
    throw Error("the driver can't report when a GPU is idle (CUDA error " + std::to_string(static_cast<int>(status)) +
                ")");
  }
  while (driver_->event_query(event) == CUDA_ERROR_NOT_READY) {
    if (interrupted()) return false;
    const std::uint64_t waited = now() - since;
    if (waited > limit) return false;
    if (waited < kSpin) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  return true;
}

/// True if a counted launch has ended and nothing is left of what other threads launched meanwhile. The gate is closed.
bool Counting::ends_within(CUcontext handle, CUevent event, std::uint64_t limit) {
  const std::uint64_t since = now();
  quiet_ = false;
  quiet_ = ends(handle, event, limit, false) && gate_.close(limit) && ends(handle, event, limit, false);
  if (!quiet_) unended_ = Unended{event, handle, since, true};
  return quiet_;
}

/// True if this context, and the session's, have nothing to do. If so, the gate is closed, and it stays like that.
/// `counted`: a range is still open.
bool Counting::quiet(CUcontext handle, bool counted) {
  quiet_ = false;
  if (captures_.load() > 0) return false;
  const std::uint64_t since = now();
  CUcontext asked = handle;
  const auto idle = [&](CUcontext context) {
    asked = context;
    return ends(context, contexts_.at(context).event, drain_limit_, true);
  };
  // With the gate open at first: what is under way may need what other threads launch.
  const bool ended = idle(handle);
  const bool closed = ended && gate_.close(drain_limit_);
  quiet_ = closed && idle(handle) && (!session_ || session_context_ == handle || idle(session_context_));
  if (quiet_) {
    attempts_ = 0;
    return true;
  }
  open_gate();
  if (captures_.load() > 0) return false;
  if (!ended || closed) unended_ = Unended{contexts_.at(asked).event, asked, since, counted};
  postpone();
  return false;
}

void Counting::open_gate() {
  quiet_ = false;
  gate_.open();
}

/// The GPU is not idle: other attempts follow at growing distances.
void Counting::postpone() {
  resume_ = now() + (kFirstPause << attempts_);
  if (++attempts_ < kMostAttempts || off_) return;
  off_ = true;
  note_once(kNeverIdle);
}

/// True if what did not end in time has ended since.
bool Counting::earlier_work_ended() {
  if (!unended_) return true;
  if (captures_.load() > 0) return false;
  const std::uint64_t time = now();
  if (driver_->event_query(unended_->event) == CUDA_ERROR_NOT_READY) {
    if (time - unended_->since > kLongUnended) note_once(kNeverIdle);
    return false;
  }
  if (unended_->counted) {
    if (time < resume_ || !quiet(unended_->context, true)) return false;
    unended_.reset();
    samples_.push_back({});
    session_->end();
    collect();
  } else {
    // A program whose queue is long is waited for accordingly.
    drain_limit_ = std::clamp(2 * (time - unended_->since), drain_limit_, kLongestDrain);
    unended_.reset();
  }
  return true;
}

/// Reads the values of what was counted, and writes them down.
void Counting::collect() {
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
bool Counting::stop_session() {
  if (!session_) return true;
  const std::uint64_t start = now();
  const Opening opening{this};
  try {
    if (!earlier_work_ended() || !quiet(session_context_)) return false;
    collect();
    session_.reset();
    plan_.released();
    plan_.spent(now() - start);
    publish_cost();
  } catch (const Error& error) {
    refuse(session_context_, one_line(error));
  }
  return true;
}

void Counting::refuse(CUcontext context, const std::string& reason) {
  if (session_context_ == context) {
    // The profiler would wait for what is still under way.
    if (!quiet_) static_cast<void>(session_.release());
    session_.reset();
    samples_.clear();
  }
  if (unended_ && unended_->context == context) unended_.reset();
  contexts_[context].chip = nullptr;
  plan_.lost(reinterpret_cast<std::uintptr_t>(context));
  publish_cost();
  note_once(reason);
}

void Counting::note_once(const std::string& reason) {
  if (reasons_.insert(reason).second) process_.spool.note(spool::NoteCode::not_counted, reason);
}

void Counting::note_progress(const char* more) {
  if (chips_.empty()) return;
  const CountingPlan::Summary summary = plan_.summary();
  std::string text = std::to_string(summary.complete) + " of " + std::to_string(summary.kinds) +
                     " launch signatures were counted completely in " + seconds(plan_.cost());
  if (*more != '\0') text += std::string("; ") + more;
  process_.spool.note(spool::NoteCode::counting_ended, text);
}

void Counting::capture_begins() {
  ++captures_;
  // A launch that is being counted is waited for: its end would break the capture.
  const std::unique_lock lock(mutex_, kLongPatience);
  if (lock) return;
  gate_.enter();
  gate_.leave();
}

void Counting::capture_ends() {
  if (--captures_ < 0) captures_ = 0;
}

void Counting::context_destroyed(CUcontext context) {
  const std::unique_lock lock(mutex_, kLongPatience);
  if (!lock) return;
  if (session_ && session_context_ == context && !stop_session()) {
    // What runs there ends with the context, if it does: the profiler is not asked to wait for it.
    static_cast<void>(session_.release());
    samples_.clear();
    plan_.lost(reinterpret_cast<std::uintptr_t>(context));
  }
  if (unended_ && unended_->context == context) unended_.reset();
  contexts_.erase(context);
}

bool Counting::hold() {
  held_ = true;
  if (unused_ || resting_) return true;
  const std::unique_lock lock(mutex_, kLongPatience);
  if (!lock) return false;
  // Attempts to find the GPU idle are spaced out, because counting ends after kMostAttempts failures.
  if (session_ && (now() < resume_ || !stop_session())) return false;
  resting_ = true;
  return true;
}

void Counting::resume() {
  if (unused_ || off_) return;
  const std::unique_lock lock(mutex_, kLongPatience);
  if (!lock) return;
  resting_ = false;
  // By then, calls that began while the gate was not needed have returned.
  resume_ = std::max(resume_, now() + kLongestCall);
  plan_.resumed(now());
  held_ = false;
}

CountingState Counting::state() {
  if (unused_ || off_) return {true, false};
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return {false, true};
  if (plan_.over()) return {true, false};
  const CountingPlan::Summary summary = plan_.summary();
  return {plan_.rests(now()), summary.missing(), summary.cost_left};
}

void Counting::finish() {
  off_ = true;
  const std::unique_lock lock(mutex_, kLongPatience);
  if (!lock) return;
  resume_ = 0;
  if (!stop_session()) static_cast<void>(session_.release());
  resting_ = true;
  if (chips_.empty()) {
    if (attempts_ > 0) note_once(kNeverIdle);
    return;
  }
  const std::vector<CountingPlan::Missing> missing = plan_.missing();
  for (const CountingPlan::Missing& alike : missing) {
    const spool::Id reason = process_.spool.text(alike.reason);
    for (const spool::Id kind : kinds_alike_[alike.kind]) {
      process_.spool.write(spool::Type::uncounted, spool::Uncounted{kind, reason});
    }
  }
  note_progress(unended_ || attempts_ > 0 ? "the others were not counted because earlier work did not end" : "");
}

/// Never freed: threads may be in it when the process ends. nullptr: none of this process yet.
std::atomic<Counting*> instance;
std::atomic<Session*> instance_session;

/// Created at the first launch, and again in a child of fork() that initializes CUDA itself.
Counting* counting() {
  Session* const current = session();
  if (instance_session.load(std::memory_order_acquire) == current) return instance.load(std::memory_order_relaxed);
  static std::mutex making;
  const std::lock_guard lock(making);
  if (instance_session.load() != current) {
    instance = current != nullptr ? new Counting(*current) : nullptr;
    instance_session.store(current, std::memory_order_release);
  }
  return instance;
}

}  // namespace

bool counting_asks() {
  const Counting* const counter = counting();
  return counter != nullptr && counter->asks();
}

bool counting_enters(const LaunchSite& site) {
  Counting* const counter = counting();
  return counter != nullptr && counter->enters(site);
}

void counting_exits(const LaunchSite& site, bool launched) { instance.load()->exits(site, launched); }

bool counting_work_begins() {
  Counting* const counter = counting();
  return counter != nullptr && counter->work_begins();
}

void counting_work_ends() { instance.load()->work_ends(); }

void counting_capture_begins() {
  if (Counting* const counter = counting()) counter->capture_begins();
}

void counting_capture_ends() {
  if (Counting* const counter = counting()) counter->capture_ends();
}

void counting_context_destroyed(CUcontext context) {
  if (Counting* const counter = instance.load()) counter->context_destroyed(context);
}

bool counting_holds() {
  Counting* const counter = counting();
  return counter == nullptr || counter->hold();
}

void counting_resumes() {
  if (Counting* const counter = counting()) counter->resume();
}

CountingState counting_state() {
  Counting* const counter = counting();
  return counter != nullptr ? counter->state() : CountingState();
}

void counting_finish() {
  if (Counting* const counter = instance.load()) counter->finish();
}

std::uint64_t counting_cost() {
  const Counting* const counter = instance.load();
  return counter != nullptr ? counter->cost() : 0;
}

}  // namespace roofline::inject
