// Driver calls of a process by thread, in order, and which of them waited for the GPU.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "profile/cause_detail.hpp"
#include "profile/intervals.hpp"
#include "profile/process_trace.hpp"
#include "report/profile.hpp"

namespace roofline {

struct HostCall {
  Span span;
  spool::CallKind kind = spool::CallKind::other;
  spool::Id place = 0, name = 0;  ///< text ids; name 0: a launch
  const spool::Copy* copy = nullptr;
  /// Set if the call returned only when the GPU had finished earlier work: why the program waited.
  std::optional<SavingCause> waited = {};
  CauseDetail detail = CauseDetail::none;  ///< detail of that wait, or of what the call creates
};

class HostCalls {
 public:
  explicit HostCalls(const ProcessTrace& trace);

  /// Calls of a thread that overlap the time, in order.
  std::span<const HostCall> within(std::uint32_t thread, const Span& time) const;
  /// The call in which the thread waited for the GPU at that time; null if none.
  const HostCall* waiting_at(std::uint32_t thread, std::uint64_t time) const;
  /// Code loading by the driver within the calls; sorted and disjoint.
  const std::vector<Span>& loading() const { return loading_; }

 private:
  static std::optional<SavingCause> cause_of_wait(const std::vector<HostCall>& calls, std::size_t index);

  std::map<std::uint32_t, std::vector<HostCall>> threads_;  ///< sorted by start
  std::vector<Span> loading_;
};

}  // namespace roofline
