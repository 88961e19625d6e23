#include "report/host_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "report/host_causes.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

std::string thread_words(const HostProfile& host, const HostThreadSum& sum) {
  const std::string name = clean_line(sum.thread.name);
  if (!sum.thread.main) return fmt::format("Thread {} ({})", sum.thread.tid, shorten(name, 24));
  return host.process_count > 1 ? fmt::format("The main thread of process {}", sum.thread.pid) : "The main thread";
}

/// The thread with the most time on a CPU; if none was on one, the thread that was sampled for the longest time.
const HostThreadSum* leading_thread(const HostProfile& host) {
  const auto busier = [](const HostThreadSum& a, const HostThreadSum& b) {
    return a.times.on_cpu() < b.times.on_cpu();
  };
  const auto found = std::ranges::max_element(host.threads, busier);
  return found == host.threads.end() ? nullptr : &*found;
}

/// Of a program of many short threads, none of which stands for it: " 150 threads had most of that, each 81 ms or less:
/// 24 % in log.cpp:29 record."; empty where one thread lasts.
std::string answer_of_short_threads(const HostProfile& host, const HostThreadSum& leading) {
  constexpr double kShort = 0.1;  // of the wall time
  constexpr std::int64_t kMany = 8;
  const std::int64_t others = host.thread_count - host.process_count;
  double longest_s = 0;
  for (const HostThreadSum& thread : host.threads) {
    if (!thread.thread.main) longest_s = std::max(longest_s, thread.times.total());
  }
  if (leading.thread.main || others < kMany || longest_s > kShort * host.wall_s) return {};
  const auto hottest = std::ranges::max_element(
      host.lines, {}, [](const HostLineSum& line) { return line.place.own ? line.times.on_cpu() : 0; });
  if (hottest == host.lines.end() || !(hottest->times.on_cpu() > 0)) return {};
  return fmt::format(" {} threads had most of that, each {} or less: {} in {}.", count(others), duration(longest_s),
                     percent(hottest->times.on_cpu() / host.times.on_cpu()), shorten(place_text(hottest->place), 80));
}

/// Advice for a thread that mostly waits in this state; may be empty.
std::string_view advice_on_wait(ThreadState state) {
  switch (state) {
    case ThreadState::gil:
      return "Threads of one Python interpreter take turns: divide the work among processes.";
    case ThreadState::lock:
      return "Hold the lock for a shorter time, or give each thread its own data.";
    case ThreadState::read:
    case ThreadState::child:
      return "If this is another program: start it less often, several at a time, or call a library instead.";
    case ThreadState::network:
      return "Send requests ahead, or several at a time (threads, asyncio).";
    case ThreadState::disk:
      return "Read ahead or write behind on another thread, in larger pieces; call fsync less often.";
    case ThreadState::sleep:
      return "Wait for the event itself instead of sleeping.";
    default:
      return {};
  }
}

/// Causes whose action is about the wait.
bool names_a_wait(std::string_view id) {
  static constexpr auto kIds =
      std::to_array<std::string_view>({"mutex", "sleep", "network", "disk", "file-sync", "process-starts",
                                       "thread-starts", "handovers", "gil", "process-messages"});
  return std::ranges::find(kIds, id) != kIds.end();
}

constexpr std::string_view kUnknownFunction = "[unknown]";  ///< as samples call it

const HostFrame* place_at(const HostProfile& host, int line) {
  return line < 0 ? nullptr : &host.lines.at(static_cast<std::size_t>(line)).place;
}

/// "38.8 % of that in solver.cpp:164 step.", or of the line's function, where that has much more.
std::string where_it_runs(const HostProfile& host, const HostThreadSum& thread) {
  const HostFrame& hottest = *place_at(host, thread.hottest_line);
  const double cpu_s = thread.times.on_cpu(), of_line = thread.hottest_s / cpu_s;
  double function_s = 0;
  for (const HostLineSum& line : host.lines) {
    if (line.place.function == hottest.function && line.place.file == hottest.file) function_s += line.times.on_cpu();
  }
  constexpr double kNearlyAll = 0.95, kMuchMore = 0.1;  // lines are sums over all threads
  const bool of_thread = cpu_s >= kNearlyAll * host.times.on_cpu();
  const double of_function = std::min(1.0, function_s / cpu_s);
  if (!of_thread || of_function < of_line + kMuchMore || hottest.line == 0) {
    return fmt::format("{} of that in {}.", percent(of_line), shorten(place_text(hottest), 80));
  }
  return fmt::format("{} of that in {}; its hottest line is {}:{} ({}).", percent(of_function),
                     shorten(clean_line(hottest.function), 80), clean_line(last_path_part(hottest.file)), hottest.line,
                     percent(of_line));
}

}  // namespace

double HostTimes::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

ThreadState HostTimes::main_wait() const {
  ThreadState longest = ThreadState::running;
  for (const ThreadState state : kThreadStates) {
    if (state == ThreadState::running || !(of(state) > 0)) continue;
    if (longest == ThreadState::running || of(state) > of(longest)) longest = state;
  }
  return longest;
}

std::string place_text(const HostFrame& frame) {
  const std::string_view file = last_path_part(frame.file);
  if (frame.line > 0) return clean_line(fmt::format("{}:{} {}", file, frame.line, frame.function));
  return clean_line(file.empty() ? frame.function : fmt::format("{} ({})", frame.function, file));
}

double longest_child_s(const HostProfile& host) {
  double longest = 0;
  for (const HostProcessSum& process : host.processes) {
    const auto parent = std::ranges::find(host.processes, process.parent, &HostProcessSum::pid);
    if (parent == host.processes.end() || process.threads == 0) continue;
    longest = std::max(longest, process.times.total() / static_cast<double>(process.threads));
  }
  return longest;
}

std::string host_answer(const HostProfile& host) {
  const HostThreadSum* const leading = leading_thread(host);
  if (leading == nullptr) return fmt::format("{} of wall time; no thread was sampled.", duration(host.wall_s));
  const double cpu_s = host.times.on_cpu();
  std::string text = fmt::format("{} of wall time, {} on CPUs.", duration(host.wall_s), duration(cpu_s));
  const std::string of_short = answer_of_short_threads(host, *leading);
  if (!of_short.empty()) return text + of_short;
  const double own_s = leading->times.total(), busy = own_s > 0 ? leading->times.on_cpu() / own_s : 0;
  const double ready = own_s > 0 ? leading->times.of(ThreadState::runnable) / own_s : 0;
  const HostFrame* const hottest = place_at(host, leading->hottest_line);
  const HostFrame* const wait = place_at(host, leading->longest_wait);
  constexpr double kMostly = 0.5, kCrowded = 0.1;
  const std::vector<HostCause> causes = host_causes(host, false);
  if (busy + ready >= kMostly && busy > 0 && hottest != nullptr) {
    const std::string words = thread_words(host, *leading);
    text += fmt::format(" {} is on a CPU for {} of its time, {}", words, percent(busy), where_it_runs(host, *leading));
    if (hottest->function == kUnknownFunction && !hottest->file.empty()) {
      text += fmt::format(" {} has no symbols: install its debug symbols, or compile it with -g.",
                          clean_line(last_path_part(hottest->file)));
    }
    if (ready > kCrowded)
      text += fmt::format(" It is runnable but waits for a CPU for {} of its time.", percent(ready));
    return text;
  }
  if (wait == nullptr) return text;
  const ThreadState state = leading->times.main_wait();
  const double share = leading->times.of(state) / own_s;
  const bool joins = state == ThreadState::lock && waits_for_threads(host);
  text +=
      fmt::format(" {} {} for {} of its time; its longest wait is in {}.", thread_words(host, *leading),
                  joins ? "waits for other threads" : to_string(state), percent(share), shorten(place_text(*wait), 80));
  const bool named =
      joins || std::ranges::any_of(causes, [](const HostCause& cause) { return names_a_wait(cause.id); });
  const std::string_view advice = share >= kMostly && !named ? advice_on_wait(state) : std::string_view();
  return advice.empty() ? text : fmt::format("{} {}", text, advice);
}

}  // namespace roofline
