#include "import/kineto_origins.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace roofline::kineto {
namespace {

/// GPU events of one process and device, which one host process launched.
using GpuKey = std::pair<std::uint32_t, std::uint32_t>;

GpuKey key_of(const GpuEvent& event) { return {event.process, event.device}; }

class OriginFinder {
 public:
  explicit OriginFinder(const Events& events) : events_(events) {
    for (const std::uint32_t process : events.thread_processes) hosts_.insert(process);
    if (hosts_.size() > 1) find_owners();
  }

  Origins find() {
    Origins origins;
    origins.of.reserve(events_.gpu.size());
    for (const GpuEvent& event : events_.gpu) origins.of.push_back(origin_of(event, origins.ambiguous));
    return origins;
  }

 private:
  /// In that process.
  Origin origin_in(std::uint32_t process, const GpuEvent& event) const {
    if (const Call* call = events_.call_of(process, event.correlation)) return {.call = call};
    const Span* operation = events_.operation_of(process, event.external);
    const bool before = operation != nullptr && operation->start <= event.start;
    return {.call = nullptr, .operation = before ? operation : nullptr};
  }

  /// The processes that may have launched it: with a call, else an operator, of its number that began before it.
  std::vector<std::uint32_t> candidates(const GpuEvent& event) const {
    constexpr std::size_t kMost = 256;  // each event visits the processes; a hostile file could have many
    std::vector<std::uint32_t> with_call, with_operation;
    if (hosts_.size() > kMost) return {};
    for (const std::uint32_t process : hosts_) {
      const Origin origin = origin_in(process, event);
      if (origin.call != nullptr && origin.call->start <= event.start) with_call.push_back(process);
      if (origin.operation != nullptr) with_operation.push_back(process);
    }
    return with_call.empty() ? with_operation : with_call;
  }

  /// A device's owner is the process that most of its events fit; none where that is not one.
  void find_owners() {
    std::map<GpuKey, std::map<std::uint32_t, std::int64_t>> votes;
    for (const GpuEvent& event : events_.gpu) {
      for (const std::uint32_t process : candidates(event)) ++votes[key_of(event)][process];
      ++repeats_[{key_of(event), event.correlation}];
    }
    std::map<GpuKey, std::vector<std::uint32_t>> best;
    for (const auto& [key, processes] : votes) {
      std::int64_t most = 0;
      for (const auto& [process, count] : processes) most = std::max(most, count);
      for (const auto& [process, count] : processes) {
        if (count == most) best[key].push_back(process);
      }
    }
    std::set<std::uint32_t> taken;
    for (const auto& [key, processes] : best) {
      if (processes.size() > 1) continue;
      owners_[key] = processes.front();
      taken.insert(processes.front());
    }
    // If several match, the one without its own device: ranks do not share devices.
    for (auto& [key, processes] : best) {
      if (owners_.contains(key)) continue;
      std::erase_if(processes, [&](std::uint32_t process) { return taken.contains(process); });
      if (processes.size() == 1) owners_[key] = processes.front();
    }
  }

  Origin origin_of(const GpuEvent& event, std::int64_t& ambiguous) const {
    if (hosts_.empty()) return {};
    if (hosts_.size() == 1) return origin_in(*hosts_.begin(), event);
    if (!event.process_is_device && hosts_.contains(event.process)) return origin_in(event.process, event);
    const std::vector<std::uint32_t> fitting = candidates(event);
    const auto owner = owners_.find(key_of(event));
    // Events of several processes on one device repeat their numbers.
    const bool repeated = fitting.size() > 1 && repeats_.at({key_of(event), event.correlation}) > 1;
    if (owner != owners_.end() && !repeated) return origin_in(owner->second, event);
    if (fitting.size() == 1) return origin_in(fitting.front(), event);
    ambiguous += fitting.empty() ? 0 : 1;
    return {};
  }

  const Events& events_;
  std::set<std::uint32_t> hosts_;
  std::map<GpuKey, std::uint32_t> owners_;
  std::map<std::pair<GpuKey, std::int64_t>, std::int64_t> repeats_;  ///< events of that correlation
};

}  // namespace

Origins origins_of(const Events& events) { return OriginFinder(events).find(); }

}  // namespace roofline::kineto
