#include "report/wait_words.hpp"

#include <algorithm>

#include "report/function_purpose.hpp"
#include "sample/own_files.hpp"

namespace roofline {
namespace {

/// The frame that a line of the report is of: the innermost of the program's own code, else the innermost.
const HostFrame& charged(const HostProfile& host, const HostStackSum& stack) {
  const auto frame = [&](int index) -> const HostFrame& { return host.frames[static_cast<std::size_t>(index)]; };
  for (const bool with_line : {true, false}) {
    const auto found = std::find_if(stack.frames.rbegin(), stack.frames.rend(), [&](int index) {
      return frame(index).own && (!with_line || frame(index).line > 0);
    });
    if (found != stack.frames.rend()) return frame(*found);
  }
  return frame(stack.frames.back());
}

}  // namespace

WaitWords::WaitWords(const HostProfile& host) {
  for (const HostStackSum& stack : host.stacks) {
    const bool waits = stack.state == ThreadState::lock || stack.state == ThreadState::other;
    if (!waits || stack.frames.empty()) continue;
    const auto any = [&](const auto& test) {
      return std::ranges::any_of(stack.frames,
                                 [&](int index) { return test(host.frames[static_cast<std::size_t>(index)]); });
    };
    const bool joins = any([](const HostFrame& frame) { return purpose_of(frame) == FunctionPurpose::join; });
    const bool barrier = any([](const HostFrame& frame) { return is_openmp_runtime(frame.file); });
    for (Waits* const of : {&lines_[place_of(charged(host, stack))], &threads_[stack.thread]}) {
      if (barrier) of->barriers.of(stack.state) += stack.seconds;
      if (joins && !barrier) of->joins.of(stack.state) += stack.seconds;
    }
  }
}

std::string_view WaitWords::words(const Waits* waits, const HostTimes& times) {
  constexpr double kMostly = 0.5;
  const ThreadState state = times.main_wait();
  const double least = kMostly * times.of(state);
  if (waits != nullptr && least > 0 && waits->barriers.of(state) > least) return "waits at an OpenMP barrier";
  if (waits != nullptr && least > 0 && waits->joins.of(state) > least) return "waits for its threads to end";
  return to_string(state);
}

std::string_view WaitWords::of_line(const HostLineSum& line) const {
  const auto found = lines_.find(place_of(line.place));
  return words(found == lines_.end() ? nullptr : &found->second, line.times);
}

std::string_view WaitWords::of_thread(int index, const HostTimes& times) const {
  const auto found = threads_.find(index);
  return words(found == threads_.end() ? nullptr : &found->second, times);
}

}  // namespace roofline
