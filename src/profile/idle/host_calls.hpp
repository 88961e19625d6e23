// What the threads of a process asked of the driver, in order, and which of it waited for the GPU.
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
  spool::Id place = 0, name = 0;  ///< name: text; 0 of a launch
  const spool::Copy* copy = nullptr;
  /// It returned when the GPU had done what it was given before; why the program waited for that.
  std::optional<SavingCause> waited = {};
  CauseDetail detail = CauseDetail::none;  ///< of that wait, or of what the call creates
};

class HostCalls {
 public:
  explicit HostCalls(const ProcessTrace& trace);

  /// Calls of a thread that overlap the time, in order.
  std::span<const HostCall> within(std::uint32_t thread, const Span& time) const;
  /// The call of the thread that waited for the GPU at that moment; null if none did.
  const HostCall* waiting_at(std::uint32_t thread, std::uint64_t time) const;
  /// Loading of code by the driver within its calls; sorted and disjoint.
  const std::vector<Span>& loading() const { return loading_; }

 private:
  static std::optional<SavingCause> cause_of_wait(const std::vector<HostCall>& calls, std::size_t index);

  std::map<std::uint32_t, std::vector<HostCall>> threads_;  ///< by start
  std::vector<Span> loading_;
};

}  // namespace roofline
