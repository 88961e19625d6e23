#include "profile/idle/host_calls.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace roofline {
namespace {

bool in_host_memory(spool::Memory memory) {
  return memory == spool::Memory::pageable || memory == spool::Memory::pinned;
}

SavingCause cause_of_copy_wait(const spool::Copy& copy) {
  if (in_host_memory(copy.to) && !in_host_memory(copy.from)) return SavingCause::item_sync;
  if (copy.from == spool::Memory::pageable) return SavingCause::pageable_copy;
  return copy.from == spool::Memory::pinned ? SavingCause::copies : SavingCause::synchronize;
}

/// Places whose copies to the host are arrays, on average: values, masks and indices of a few rows are smaller.
std::set<spool::Id> places_of_arrays(const ProcessTrace& trace) {
  constexpr double kArray = 64 << 10;                     // bytes
  std::map<spool::Id, std::pair<double, double>> places;  // bytes and copies
  for (const spool::Copy& copy : trace.copies) {
    if (!in_host_memory(copy.to) || in_host_memory(copy.from)) continue;
    places[copy.place].first += static_cast<double>(copy.bytes);
    ++places[copy.place].second;
  }
  std::set<spool::Id> arrays;
  for (const auto& [place, of] : places) {
    if (of.first >= kArray * of.second) arrays.insert(place);
  }
  return arrays;
}

}  // namespace

HostCalls::HostCalls(const ProcessTrace& trace) {
  std::unordered_map<std::uint32_t, const spool::Copy*> copies;
  for (const spool::Copy& copy : trace.copies) copies[copy.correlation] = &copy;
  const std::set<spool::Id> arrays = places_of_arrays(trace);
  std::unordered_map<spool::Id, CauseDetail> details;
  const auto detail_of = [&](spool::Id name) {
    const auto [found, is_new] = details.try_emplace(name);
    if (is_new) found->second = detail_of_call(trace.text(name));
    return found->second;
  };
  for (const spool::Launch& launch : trace.launches) {
    threads_[launch.thread].push_back(
        {.span = {launch.start, launch.end}, .kind = spool::CallKind::launch, .place = trace.kind(launch.kind).place});
  }
  for (const spool::Call& call : trace.calls) {
    HostCall made = {.span = {call.start, call.end}, .kind = call.kind, .place = call.place, .name = call.name};
    made.detail = detail_of(call.name);
    if (call.kind == spool::CallKind::copy) {
      const auto found = copies.find(call.correlation);
      if (found != copies.end()) made.copy = found->second;
    }
    threads_[call.thread].push_back(made);
  }
  for (auto& [thread, calls] : threads_) {
    std::stable_sort(calls.begin(), calls.end(),
                     [](const HostCall& a, const HostCall& b) { return a.span.start < b.span.start; });
    for (std::size_t i = 0; i < calls.size(); ++i) {
      // Memory of a stream's pool is freed in the order of the stream.
      if (!trace.text(calls[i].name).ends_with("Async") || calls[i].copy != nullptr) {
        calls[i].waited = cause_of_wait(calls, i);
      }
      if (calls[i].waited == SavingCause::copies) calls[i].detail = CauseDetail::waited_copies;
      if (calls[i].waited == SavingCause::item_sync && arrays.contains(calls[i].place)) {
        calls[i].detail = CauseDetail::read_arrays;
      }
    }
  }
  for (const spool::Overhead& overhead : trace.overheads) {
    const std::string_view what = trace.text(overhead.what);
    const Span span = {overhead.start, overhead.end};
    if (what == spool::kModuleLoading || what == spool::kLazyLoading || what == spool::kDriverCompilation) {
      loading_.push_back(span);
    }
  }
  loading_ = covered(std::move(loading_));
}

std::optional<SavingCause> HostCalls::cause_of_wait(const std::vector<HostCall>& calls, std::size_t index) {
  const HostCall& call = calls[index];
  if (call.kind == spool::CallKind::release) return SavingCause::allocation;
  if (call.kind == spool::CallKind::copy) {
    // A call that returned before its transfer ended did not wait.
    const bool ended = call.copy != nullptr && call.copy->end != 0 && call.span.end >= call.copy->end;
    return ended ? std::optional(cause_of_copy_wait(*call.copy)) : std::nullopt;
  }
  if (call.kind != spool::CallKind::synchronise) return std::nullopt;
  std::size_t before = index;
  while (before > 0 && calls[before - 1].kind == spool::CallKind::event) --before;
  // A copy and the wait for it are one operation of a framework. What is given to the GPU in between ends that.
  if (before > 0 && calls[before - 1].copy != nullptr) return cause_of_copy_wait(*calls[before - 1].copy);
  // So are a wait and the release of memory that it makes possible.
  if (index + 1 < calls.size() && calls[index + 1].kind == spool::CallKind::release &&
      calls[index + 1].place == call.place) {
    return SavingCause::allocation;
  }
  return SavingCause::synchronize;
}

std::span<const HostCall> HostCalls::within(std::uint32_t thread, const Span& time) const {
  const auto found = threads_.find(thread);
  if (found == threads_.end() || time.start >= time.end) return {};
  const std::vector<HostCall>& calls = found->second;
  // Calls of a thread do not overlap, so their ends are also sorted.
  const auto first = std::lower_bound(calls.begin(), calls.end(), time.start,
                                      [](const HostCall& call, std::uint64_t at) { return call.span.end <= at; });
  const auto last = std::lower_bound(first, calls.end(), time.end,
                                     [](const HostCall& call, std::uint64_t at) { return call.span.start < at; });
  return {first, last};
}

const HostCall* HostCalls::waiting_at(std::uint32_t thread, std::uint64_t time) const {
  for (const HostCall& call : within(thread, {time, time + 1})) {
    if (call.waited) return &call;
  }
  return nullptr;
}

}  // namespace roofline
