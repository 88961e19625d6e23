// Counts launches in the program's own threads, inside the callbacks around them.
//
// It must not hang the program. Most calls of CUPTI's profiler wait, without a limit, for all work of the context. They
// are made only while the context is idle and a gate keeps other threads from giving it work. Idleness and gate are
// awaited up to a limit, by polling. Work that does not end in time may depend on what the program does next: nothing
// is counted until it has ended. While a launch is counted in a user range the gate is open; threads that launch
// meanwhile wait briefly and continue, and the disturbed count is discarded. In a kernel range the gate stays closed,
// because CUPTI would count their launches too and lose a graph launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "inject/counter_chips.hpp"
#include "inject/counting.hpp"
#include "inject/counting_plan.hpp"
#include "inject/gpu_claim.hpp"
#include "inject/idle_gpu.hpp"
#include "inject/range_session.hpp"
#include "inject/session.hpp"

namespace roofline::inject {

class LaunchCounter {
 public:
  explicit LaunchCounter(Session& session);

  bool asks() const { return !off_.load(std::memory_order_relaxed) && !held_.load(std::memory_order_relaxed); }
  bool enters(const LaunchSite& site);
  void exits(const LaunchSite& site, bool launched);
  bool work_begins();
  void work_ends() { idle_.gate().leave(); }
  void capture_begins();
  void capture_ends() { idle_.capture_ends(); }
  void context_destroyed(CUcontext context);
  bool hold();
  void resume();
  CountingState state();
  void finish();
  std::uint64_t cost() const { return cost_.load(std::memory_order_relaxed); }

 private:
  struct Context {
    CounterChip* chip = nullptr;  ///< nullptr: nothing can be counted, or is yet
    CUevent event = nullptr;
    bool prepared = false;
  };
  /// A counted launch whose values are not read yet.
  struct Sample {
    spool::Id kind = 0;  ///< 0: discarded
    std::uint32_t correlation = 0;
  };
  /// Opens the gate in the end, whatever happens.
  struct Opening {
    LaunchCounter* counter;
    ~Opening() {
      if (counter != nullptr) counter->idle_.open_gate();
    }
  };

  const Context* context_of(const LaunchSite& site);
  void make_event(CUcontext handle, Context& context);
  bool begin(const LaunchSite& site, std::uint64_t start);
  void change(const Configuration& configuration, const Context& context, std::uint64_t& start);
  IdleGpu::Awaited awaited(CUcontext handle) const { return {handle, contexts_.at(handle).event}; }
  bool claim_counters();
  bool await_idle(CUcontext handle, bool counted = false);
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
  std::atomic<bool> resting_ = false;     ///< held or off, and no session is open: launches need not pass the gate
  std::atomic<bool> overlapped_ = false;  ///< other work was launched while one launch was counted
  IdleGpu idle_;
  std::atomic<std::uint64_t> cost_ = 0;

  std::timed_mutex mutex_;  // held from enters() to exits() of a counted launch; everything below is behind it
  CountingPlan plan_;
  std::optional<DriverEvents> driver_;
  CounterChips chips_;
  std::map<CUcontext, Context> contexts_;
  std::set<std::string> reasons_;        ///< already reported
  CounterClaims claims_;                 ///< while a session is open or about to be
  std::uint64_t claimed_elsewhere_ = 0;  ///< since when another process has them; 0: none has
  std::set<CUgraphExec> graphs_;         ///< launched before
  std::unordered_map<spool::Id, std::set<spool::Id>> kinds_alike_;  ///< by the first of them

  std::unique_ptr<RangeSession> session_;
  CUcontext session_context_ = nullptr;
  std::uint32_t session_group_ = 0;
  std::vector<Sample> samples_;

  std::uint64_t entered_ = 0, launched_ = 0;  ///< of the launch that is being counted
};

}  // namespace roofline::inject
