#include "profile/memory.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>
#include <utility>

#include "profile/memory_blocks.hpp"
#include "profile/memory_curve.hpp"
#include "profile/memory_growth.hpp"
#include "profile/program_clock.hpp"
#include "profile/rows.hpp"
#include "profile/wall_time.hpp"

namespace roofline {
namespace {

constexpr std::size_t kMostHolders = 25;
constexpr std::size_t kMostDeviceMemories = 64;
/// A recorded moment with that much of the peak explains it.
constexpr double kNearPeak = 0.8;
/// The last recorded steps may still hold memory that they will free.
constexpr std::size_t kStepsInFlight = 3;

/// The memory of one process on one device, by one source.
class MemoryOfDevice {
 public:
  MemoryOfDevice(const Recording& recording, const FoundSteps& found, double step_s, int process, std::uint32_t device)
      : recording_(recording),
        found_(found),
        step_s_(step_s),
        trace_(recording.traces[static_cast<std::size_t>(process)]),
        process_(process),
        device_(device),
        clock_(recording.start, covered(profiler_spans(trace_))) {
    const auto of_torch = [&](const auto& record) {
      return record.device == device && record.pool == spool::MemoryPool::torch;
    };
    const bool torch = std::any_of(trace_.memory_uses.begin(), trace_.memory_uses.end(), of_torch) ||
                       std::any_of(trace_.allocations.begin(), trace_.allocations.end(), of_torch);
    memory_.source = torch ? MemorySource::torch : MemorySource::cuda;
  }

  GpuMemory take() {
    memory_.pid = trace_.process.pid;
    describe_device();
    blocks_ = blocks_of(trace_, [this](const spool::Allocation& record) { return is_wanted(record); });
    find_curve();
    explain_peak();
    find_steps();
    find_growth();
    find_failures();
    find_reserving_lines();
    return std::move(memory_);
  }

 private:
  template <typename Record>
  bool is_wanted(const Record& record) const {
    if (record.device != device_ || record.pool == spool::MemoryPool::pinned) return false;
    return (record.pool == spool::MemoryPool::torch) == (memory_.source == MemorySource::torch);
  }

  void describe_device() {
    memory_.device = static_cast<int>(device_);
    for (const spool::Device& about : trace_.devices) {
      if (about.index != device_) continue;
      memory_.capacity = static_cast<double>(about.memory_bytes);
      for (std::size_t i = 0; i < recording_.devices.size(); ++i) {
        if (std::memcmp(recording_.devices[i].about.uuid, about.uuid, sizeof about.uuid) == 0) {
          memory_.device = static_cast<int>(i);
        }
      }
    }
  }

  /// The largest values, bucket by bucket.
  void find_curve() {
    std::vector<MemoryPoint> points;
    const auto add = [&](std::uint64_t time, std::uint64_t allocated, std::uint64_t reserved) {
      points.push_back({clock_.wall_s(time), static_cast<double>(allocated), static_cast<double>(reserved)});
      if (points.back().allocated > memory_.peak_allocated) {
        memory_.peak_allocated = points.back().allocated;
        memory_.peak_s = points.back().time_s;
        peak_ = time;
      }
      memory_.peak_reserved = std::max(memory_.peak_reserved, points.back().reserved);
    };
    double cuda = 0;
    for (const spool::MemoryUse& use : trace_.memory_uses) {
      if (is_wanted(use)) add(use.end, use.most_allocated, use.most_reserved);
      const bool cudas = use.device == device_ && use.pool == spool::MemoryPool::device;
      if (cudas) cuda = std::max(cuda, static_cast<double>(use.most_allocated));
    }
    for (const spool::Allocation& record : trace_.allocations) {
      if (is_wanted(record)) add(record.time, record.allocated, record.reserved);
    }
    if (memory_.source == MemorySource::torch) memory_.outside = std::max(0.0, cuda - memory_.peak_reserved);
    std::stable_sort(points.begin(), points.end(),
                     [](const MemoryPoint& a, const MemoryPoint& b) { return a.time_s < b.time_s; });
    memory_.curve = thinned(points);
  }

  static std::vector<MemoryHolder> largest(std::vector<MemoryHolder> holders) {
    if (holders.size() > kMostHolders) holders.resize(kMostHolders);
    return holders;
  }

  /// Explains the peak, or the recorded time with the most memory in use if that is about as much.
  void explain_peak() {
    std::uint64_t at = peak_;
    double most = 0;
    for (const spool::Allocation& record : trace_.allocations) {
      const bool recorded = is_wanted(record) && record.event == spool::MemoryEvent::allocated;
      if (!recorded || !(static_cast<double>(record.allocated) > most)) continue;
      most = static_cast<double>(record.allocated);
      at = record.time;
    }
    if (most < kNearPeak * memory_.peak_allocated) {
      at = peak_;
      most = memory_.peak_allocated;
    }
    memory_.explained_s = clock_.wall_s(at);
    memory_.explained = most;
    memory_.at_peak = largest(holders_of(trace_, in_use(blocks_, at)));
  }

  bool has_steps() const { return found_.process == process_ && !found_.all.empty(); }

  /// End of the last step, including unrecorded ones.
  std::uint64_t steady_end() const {
    std::uint64_t end = has_steps() ? found_.all.back().span.end : 0;
    if (!has_steps()) {
      for (const Activity& activity : recording_.activities) {
        if (activity.process == process_) end = std::max(end, activity.end);
      }
    }
    for (const spool::Marks& marks : trace_.marks) end = std::max(end, marks.end);
    return std::min(end, recording_.end);
  }

  void find_steps() {
    const std::uint64_t end = steady_end();
    for (const spool::MemoryUse& use : trace_.memory_uses) {
      if (!is_wanted(use) || (use.end > end && memory_.allocated > 0)) continue;
      memory_.allocated = static_cast<double>(use.most_allocated);
      memory_.reserved = static_cast<double>(use.most_reserved);
    }
    if (!has_steps()) return;
    const auto steps = static_cast<double>(found_.all.size());
    std::vector<MemoryBlock> of_steps;
    std::vector<Span> spans;
    for (const Step& step : found_.all) spans.push_back(step.span);
    spans = covered(std::move(spans));
    Within within(spans);
    std::copy_if(blocks_.begin(), blocks_.end(), std::back_inserter(of_steps),
                 [&](const MemoryBlock& block) { return within(block.allocated); });
    memory_.per_step = largest(holders_of(trace_, of_steps));
    for (MemoryHolder& holder : memory_.per_step) holder.bytes /= steps;
  }

  /// The host allocates, and it may be many steps ahead of the GPU.
  std::uint64_t end_of_host() const {
    std::uint64_t last = 0;
    for (const spool::Launch& launch : trace_.launches) last = std::max(last, launch.end);
    for (const spool::Marks& marks : trace_.marks) last = std::max(last, marks.end);
    const std::uint64_t end = steady_end();
    return last != 0 ? std::min(last, end) : end;
  }

  void find_growth() {
    std::uint64_t begin = recording_.start, end = end_of_host();
    if (has_steps()) {
      begin = found_.all.front().span.start;
    } else {
      for (const Activity& activity : recording_.activities) {
        if (activity.process != process_) continue;
        begin = activity.start;
        break;
      }
      if (end > begin) begin += (end - begin) / 4;  // what comes first is start-up
      constexpr double kLongEnough = 4;             // else it may still load its data
      if (end < begin || seconds(end - begin) < kLongEnough) return;
    }
    std::vector<LeastMemory> least;
    for (const spool::MemoryUse& use : trace_.memory_uses) {
      if (!is_wanted(use) || use.end > end) continue;
      least.push_back({clock_.own_s(use.start), static_cast<double>(use.least_allocated)});
      least.push_back({clock_.own_s(use.end), static_cast<double>(use.allocated)});
    }
    // Finer than the samples, where recorded: enough for a program that runs for less than a second.
    for (const spool::Allocation& record : trace_.allocations) {
      if (!is_wanted(record)) continue;
      least.push_back({clock_.own_s(record.time), static_cast<double>(record.allocated)});
    }
    const double step_s = has_steps() ? step_s_ : 0, begin_s = clock_.own_s(begin), end_s = clock_.own_s(end);
    // Within a few steps, a cache that fills up also grows.
    constexpr double kEnough_s = 2, kEnoughSteps = 200;
    if (end_s - begin_s < std::min(kEnough_s, kEnoughSteps * step_s)) return;
    const auto trend = growth_of(least, begin_s, end_s, step_s);
    if (!trend || !(trend->bytes_per_s > 0)) return;
    MemoryGrowth growth = {.bytes = trend->bytes, .seconds = trend->seconds, .bytes_per_s = trend->bytes_per_s};
    growth.kept = kept_lines(steady_end());
    if (step_s > 0) growth.bytes_per_step = bytes_per_step(growth.kept, trend->bytes_per_s * step_s);
    // PyTorch frees what it has reserved before it fails.
    if (memory_.capacity > 0) {
      const double left = std::max(0.0, memory_.capacity - memory_.outside - memory_.allocated);
      growth.seconds_until_full = left / trend->bytes_per_s;
      if (growth.bytes_per_step) growth.steps_until_full = left / *growth.bytes_per_step;
    }
    memory_.growth = std::move(growth);
  }

  /// From the blocks that remain per step, if these are the growth. This is exact, while the rate uses a clock without
  /// waits for counters, during which steps also allocate.
  static double bytes_per_step(const std::vector<MemoryHolder>& kept, double by_pace) {
    const double sum = bytes_of(kept);
    return sum > by_pace / 2 && sum < 2 * by_pace ? sum : by_pace;
  }

  /// Remaining blocks, per step if there are steps, else over the whole time.
  std::vector<MemoryHolder> kept_lines(std::uint64_t until) const {
    Span within = {recording_.start, until};
    double steps = 1;
    if (has_steps()) {
      const std::size_t all = found_.all.size();
      const std::size_t looked_at = all > 2 * kStepsInFlight ? all - kStepsInFlight : all;
      within = {found_.all.front().span.start, found_.all[looked_at - 1].span.end};
      // Steps that lie apart are parts of the recording; what is between them was not recorded.
      steps = static_cast<double>(looked_at);
    }
    std::vector<MemoryHolder> holders = largest(holders_of(trace_, kept(blocks_, within, until)));
    for (MemoryHolder& holder : holders) holder.bytes /= steps;
    return holders;
  }

  void find_failures() {
    for (const spool::Allocation& record : trace_.allocations) {
      if (record.event != spool::MemoryEvent::failed || !is_wanted(record)) continue;
      ++memory_.failures;
      memory_.out_of_memory = {.time_s = clock_.wall_s(record.time),
                               .requested = static_cast<double>(record.bytes),
                               .allocated = static_cast<double>(record.allocated),
                               .reserved = static_cast<double>(record.reserved),
                               .line = line_text(trace_, trace_.place(record.place).line)};
    }
  }

  void find_reserving_lines() {
    memory_.in_graphs = std::any_of(trace_.launches.begin(), trace_.launches.end(), [&](const spool::Launch& launch) {
      return (trace_.kind(launch.kind).flags & spool::kGraph) != 0;
    });
    if (memory_.source != MemorySource::torch) return;
    memory_.reserved_by =
        largest(holders_of(trace_, blocks_of(trace_, [this](const spool::Allocation& record) {
                             return record.device == device_ && record.pool == spool::MemoryPool::device;
                           })));
  }

  const Recording& recording_;
  const FoundSteps& found_;
  double step_s_;
  const ProcessTrace& trace_;
  int process_;
  std::uint32_t device_;
  ProgramClock clock_;
  std::vector<MemoryBlock> blocks_;
  std::uint64_t peak_ = 0;
  GpuMemory memory_;
};

}  // namespace

std::vector<GpuMemory> device_memory(const Recording& recording, const FoundSteps& found, double step_s) {
  std::vector<GpuMemory> all;
  for (std::size_t process = 0; process < recording.traces.size(); ++process) {
    const ProcessTrace& trace = recording.traces[process];
    if (trace.counts_only) continue;
    std::set<std::uint32_t> devices;
    for (const spool::MemoryUse& use : trace.memory_uses) {
      if (use.pool != spool::MemoryPool::pinned) devices.insert(use.device);
    }
    for (const spool::Allocation& record : trace.allocations) {
      if (record.pool != spool::MemoryPool::pinned) devices.insert(record.device);
    }
    for (const std::uint32_t device : devices) {
      all.push_back(MemoryOfDevice(recording, found, step_s, static_cast<int>(process), device).take());
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const GpuMemory& a, const GpuMemory& b) { return a.peak_reserved > b.peak_reserved; });
  if (all.size() > kMostDeviceMemories) all.resize(kMostDeviceMemories);
  return all;
}

}  // namespace roofline
