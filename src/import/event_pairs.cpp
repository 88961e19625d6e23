#include "import/event_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

namespace roofline {
namespace {

/// In ns, to order events by; std::nullopt if it is none.
std::optional<std::int64_t> time_of(const ChromeEvent& event) {
  constexpr double kMost = 4e15;  // µs; clean_times.hpp
  if (event.time_ns) return event.time_ns;
  if (!(std::abs(event.time_us) < kMost)) return std::nullopt;  // NaN is none
  return std::llround(event.time_us * 1e3);
}

}  // namespace

void EventPairs::add(ChromeEvent& event) {
  const bool is_end = event.phase == "E";
  const auto time = is_end || event.phase == "B" ? time_of(event) : std::nullopt;
  if (!time) return take_(event);
  const auto thread = threads_
                          .try_emplace({event.process, event.process_name, event.thread, event.thread_name},
                                       static_cast<std::uint32_t>(threads_.size()))
                          .first->second;
  Half half = {.time_ns = *time, .thread = thread, .is_end = is_end, .event = event};
  half.event.arguments.resize(half.event.argument_count);  // the others belong to earlier events
  waiting_.push_back(std::move(half));
  if (waiting_.size() < next_pairing_) return;
  constexpr std::size_t kMost = std::size_t{1} << 22;
  pair();
  if (waiting_.size() > kMost) source_.fail("more than 4 million begin and end events without a partner");
  next_pairing_ = std::max(next_pairing_, 2 * waiting_.size());
}

void EventPairs::finish() {
  pair();
  for (Half& half : waiting_) take_(half.event);
  waiting_.clear();
}

void EventPairs::join(ChromeEvent& begin, ChromeEvent& end) {
  begin.phase = "X";
  begin.duration_us = end.time_us - begin.time_us;
  if (begin.time_ns && end.time_ns) begin.duration_ns = *end.time_ns - *begin.time_ns;
  std::move(end.arguments.begin(), end.arguments.end(), std::back_inserter(begin.arguments));
  begin.argument_count = begin.arguments.size();
}

void count_left_out(const ChromeEvent& event, TimeDefects& defects) {
  const std::string_view name = event.name.empty() ? std::string_view("an end without a name") : event.name;
  if (event.is_unpaired()) defects.unpaired.add(name);
  if (event.is_asynchronous()) defects.asynchronous.add(name);
}

/// Leaves those without a partner in `waiting_`: it may follow.
void EventPairs::pair() {
  std::stable_sort(waiting_.begin(), waiting_.end(), [](const Half& a, const Half& b) {
    return std::tie(a.thread, a.time_ns) < std::tie(b.thread, b.time_ns);
  });
  std::vector<Half> left;
  std::vector<Half*> open;
  const auto leave_open = [&] {
    for (Half* const begin : open) left.push_back(std::move(*begin));
    open.clear();
  };
  for (Half& half : waiting_) {
    if (!open.empty() && open.back()->thread != half.thread) leave_open();
    if (!half.is_end) {
      open.push_back(&half);
      continue;
    }
    constexpr std::ptrdiff_t kDeepest = 4096;
    const auto end = open.rbegin() + std::min(kDeepest, open.rend() - open.rbegin());
    const auto begin = std::find_if(open.rbegin(), end, [&](const Half* candidate) {
      return half.event.name.empty() || half.event.name == candidate->event.name;
    });
    if (begin == end) {
      left.push_back(std::move(half));
      continue;
    }
    join((*begin)->event, half.event);
    take_((*begin)->event);
    open.erase(std::next(begin).base());
  }
  leave_open();
  waiting_ = std::move(left);
}

}  // namespace roofline
