#include "profile/memory_savings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "text/format.hpp"

namespace roofline {
namespace {

/// Growth that takes longer to fill the memory is not urgent.
constexpr double kSoon_s = 24 * 3600;
/// Host memory whose limit is not known is shown first from that growth on.
constexpr double kMuchHostGrowth = 200e6;
/// Less growth on a GPU may still level off: bytes, and the part of the GPU's memory.
constexpr double kMuchGrowth = 512e6, kMuchGrowthOfGpu = 0.005;
/// Reserved over allocated, each at its largest; and the unused part of the GPU's memory, or bytes if unknown.
constexpr double kMuchReserved = 1.5, kMuchUnused = 0.1, kMuchUnusedBytes = 4e9;
/// Several times as much reserved as allocated is stated on large GPUs, too: other programs there lack these bytes.
constexpr double kSeveralTimes = 3, kSeveralUnusedBytes = 8e9;
/// Fraction of the GPU's memory from which unused memory is more important than time.
constexpr double kLargeUnused = 0.2;
constexpr std::size_t kNamedHolders = 3;

std::string bytes_text(double bytes) { return si(bytes, "B"); }

/// "model.py:10 forward 67.1 MB; …"
std::string named(const std::vector<MemoryHolder>& holders) {
  std::string text;
  std::size_t named = 0;
  for (const MemoryHolder& holder : holders) {
    if (holder.line.empty() && holder.module.empty()) continue;
    if (named++ == kNamedHolders) break;
    const std::string& where = holder.line.empty() ? holder.module : holder.line;
    text += fmt::format("{}{}{} {}", text.empty() ? "" : ", ", where, holder.backward ? " (backward)" : "",
                        bytes_text(holder.bytes));
  }
  return text;
}

/// The line with the most, if it is a good part of all of these.
std::string line_of(const std::vector<MemoryHolder>& holders) {
  constexpr double kGoodPart = 0.2;
  const double all = bytes_of(holders);
  for (const MemoryHolder& holder : holders) {
    if (!holder.line.empty()) return holder.bytes >= kGoodPart * all ? holder.line : "";
  }
  return {};
}

Saving finding(SavingCause cause, std::string what, std::string evidence, std::string line, std::string action) {
  return {.kind = SavingKind::memory,
          .cause = cause,
          .line = std::move(line),
          .what = std::move(what),
          .evidence = std::move(evidence),
          .action = std::move(action)};
}

std::string growth_rate(const MemoryGrowth& growth) {
  return growth.bytes_per_step ? fmt::format("{} per step", bytes_text(*growth.bytes_per_step))
                               : fmt::format("{} per second", bytes_text(growth.bytes_per_s));
}

/// ": 80 GB are full after 1,130 steps"; empty if unknown.
std::string until_full(const MemoryGrowth& growth, double capacity) {
  if (!growth.seconds_until_full || !(capacity > 0)) return {};
  constexpr double kMostSteps = 1e9;
  const bool by_steps = growth.steps_until_full && *growth.steps_until_full < kMostSteps;
  return fmt::format(
      ": {} are full after {}", bytes_text(capacity),
      by_steps ? count(std::llround(*growth.steps_until_full)) + " more steps" : duration(*growth.seconds_until_full));
}

std::string growth_evidence(const MemoryGrowth& growth, std::string_view where) {
  std::string text = fmt::format("{} more in {}", bytes_text(growth.bytes), duration(growth.seconds));
  if (const std::string lines = named(growth.kept); !lines.empty()) {
    text += fmt::format("; {}{}: {}", where, growth.bytes_per_step ? ", in each step" : "", lines);
  }
  return text;
}

/// The one whose memory grows fastest; null where none does.
template <typename Memory>
const Memory* fastest_growing(const std::vector<Memory>& list) {
  const Memory* most = nullptr;
  for (const Memory& memory : list) {
    if (!memory.growth) continue;
    if (most == nullptr || memory.growth->bytes_per_s > most->growth->bytes_per_s) most = &memory;
  }
  return most;
}

double unused(const GpuMemory& memory) { return memory.peak_reserved - memory.peak_allocated; }

bool is_fragmented(const GpuMemory& memory) {
  const bool several = memory.peak_reserved >= kSeveralTimes * memory.peak_allocated;
  double least = memory.capacity > 0 ? kMuchUnused * memory.capacity : kMuchUnusedBytes;
  if (several) least = std::min(least, kSeveralUnusedBytes);
  return memory.source == MemorySource::torch && !memory.in_graphs && unused(memory) >= least &&
         memory.peak_reserved >= kMuchReserved * memory.peak_allocated;
}

class MemoryFinder {
 public:
  MemoryFinder(const MemoryProfile& memory, Framework framework, bool failed)
      : memory_(memory), framework_(framework), failed_(failed) {}

  MemorySavings find() {
    add_growth();
    add_failure();
    add_fragmentation();
    add_host_growth();
    return std::move(found_);
  }

 private:
  Framework framework_of(const GpuMemory& memory) const {
    return memory.source == MemorySource::torch ? Framework::torch : framework_;
  }

  void add_growth() {
    const GpuMemory* const most = fastest_growing(memory_.devices);
    if (most == nullptr) return;
    const MemoryGrowth& growth = *most->growth;
    const bool soon = !growth.seconds_until_full || *growth.seconds_until_full < kSoon_s;
    const bool much = growth.bytes >= std::max(kMuchGrowth, kMuchGrowthOfGpu * most->capacity);
    Saving saving =
        finding(SavingCause::memory_growth,
                fmt::format("GPU memory grows by {}{}", growth_rate(growth), until_full(growth, most->capacity)),
                growth_evidence(growth, "not freed"), line_of(growth.kept),
                action_against(SavingCause::memory_growth, framework_of(*most)));
    (soon && much ? found_.first : found_.last).push_back(std::move(saving));
  }

  /// Programs that try how much memory there is go on.
  void add_failure() {
    if (!failed_) return;
    const GpuMemory* last = nullptr;
    for (const GpuMemory& memory : memory_.devices) {
      if (!memory.out_of_memory) continue;
      if (last == nullptr || memory.out_of_memory->time_s > last->out_of_memory->time_s) last = &memory;
    }
    if (last == nullptr) return;
    const OutOfMemory& failure = *last->out_of_memory;
    const bool reserved = failure.reserved - failure.allocated > failure.requested;
    const SavingCause remedy = last->growth ? SavingCause::memory_growth
                               : reserved   ? SavingCause::fragmentation
                                            : SavingCause::out_of_memory;
    std::string evidence =
        fmt::format("{} allocated, {} reserved", bytes_text(failure.allocated), bytes_text(failure.reserved));
    if (last->capacity > 0) evidence += fmt::format(" of {}", bytes_text(last->capacity));
    if (const std::string lines = named(last->at_peak); !lines.empty()) evidence += "; at the peak: " + lines;
    found_.first.push_back(finding(SavingCause::out_of_memory,
                                   fmt::format("Out of GPU memory: {} requested", bytes_text(failure.requested)),
                                   std::move(evidence), failure.line, action_against(remedy, framework_of(*last))));
  }

  void add_fragmentation() {
    const GpuMemory* most = nullptr;
    for (const GpuMemory& memory : memory_.devices) {
      if (is_fragmented(memory) && (most == nullptr || unused(memory) > unused(*most))) most = &memory;
    }
    if (most == nullptr) return;
    const bool large = most->capacity > 0 && unused(*most) >= kLargeUnused * most->capacity;
    std::string evidence = fmt::format("at most {} allocated at a time", bytes_text(most->peak_allocated));
    if (const std::string lines = named(most->reserved_by); !lines.empty()) evidence += "; reserved at " + lines;
    Saving saving = finding(SavingCause::fragmentation,
                            fmt::format("GPU memory is fragmented: {} reserved for {}", bytes_text(most->peak_reserved),
                                        bytes_text(most->peak_allocated)),
                            std::move(evidence), line_of(most->reserved_by),
                            action_against(SavingCause::fragmentation, Framework::torch));
    (large ? found_.first : found_.last).push_back(std::move(saving));
  }

  void add_host_growth() {
    const HostMemory* const most = fastest_growing(memory_.host);
    if (most == nullptr) return;
    const MemoryGrowth& growth = *most->growth;
    const bool soon =
        growth.seconds_until_full ? *growth.seconds_until_full < kSoon_s : growth.bytes >= kMuchHostGrowth;
    Saving saving = finding(SavingCause::host_memory_growth,
                            fmt::format("Host memory of process {} grows by {}{}", most->pid, growth_rate(growth),
                                        until_full(growth, most->capacity)),
                            growth_evidence(growth, "rises"), line_of(growth.kept),
                            action_against(SavingCause::host_memory_growth, framework_));
    (soon ? found_.first : found_.last).push_back(std::move(saving));
  }

  const MemoryProfile& memory_;
  Framework framework_;
  bool failed_;
  MemorySavings found_;
};

}  // namespace

MemorySavings memory_savings(const MemoryProfile& memory, Framework framework, bool failed) {
  return MemoryFinder(memory, framework, failed).find();
}

}  // namespace roofline
