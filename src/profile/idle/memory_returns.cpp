#include "profile/idle/memory_returns.hpp"

#include "model/find.hpp"
#include "profile/actions.hpp"
#include "profile/cause_detail.hpp"

namespace roofline {
namespace {

struct CallCounts {
  std::map<spool::Id, double> allocated, freed;  ///< calls, by place
};

CallCounts count_calls(const ProcessTrace& trace, const std::vector<Span>& steps) {
  CallCounts counts;
  for (const spool::Call& call : trace.calls) {
    const bool allocates = call.kind == spool::CallKind::allocate;
    if (!allocates && call.kind != spool::CallKind::release) continue;
    if (span_at(steps, call.start) >= steps.size()) continue;
    if (detail_of_call(trace.text(call.name)) != CauseDetail::none) continue;
    ++(allocates ? counts.allocated : counts.freed)[call.place];
  }
  return counts;
}

double sum(const std::map<spool::Id, double>& counts) {
  double total = 0;
  for (const auto& [place, calls] : counts) total += calls;
  return total;
}

}  // namespace

MemoryReturns::MemoryReturns(const Recording& recording, const std::vector<Span>& steps) {
  constexpr double kMostly = 0.5;  // of the allocations: the rest may be growth
  const Framework framework = framework_of(recording);
  // Without a framework's allocator each free is a decision of its own.
  if (framework != Framework::torch && framework != Framework::cupy) return;
  for (std::size_t i = 0; i < recording.traces.size(); ++i) {
    const auto process = static_cast<int>(i);
    const CallCounts counts = count_calls(recording.traces[i], steps);
    const auto largest = largest_entry(counts.freed);
    const double freed = sum(counts.freed);
    if (largest == counts.freed.end() || largest->first == 0 || largest->second < kMostly * freed) continue;
    // An allocator that runs out of memory frees at the line that allocates next.
    const auto allocated_there = counts.allocated.find(largest->first);
    if (allocated_there != counts.allocated.end() && allocated_there->second >= kMostly * largest->second) continue;
    if (largest->second < static_cast<double>(steps.size()) || freed < kMostly * sum(counts.allocated)) continue;
    returns_[process] = largest->first;
    for (const auto& [place, calls] : counts.allocated) places_.emplace(process, place);
    for (const auto& [place, calls] : counts.freed) places_.emplace(process, place);
  }
}

spool::Id MemoryReturns::place(int process) const {
  const auto found = returns_.find(process);
  return found == returns_.end() ? 0 : found->second;
}

}  // namespace roofline
