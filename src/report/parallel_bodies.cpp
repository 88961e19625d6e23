#include "report/parallel_bodies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "model/find.hpp"
#include "report/host_cause_text.hpp"
#include "sample/own_files.hpp"
#include "text/format.hpp"
#include "text/parts.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

constexpr double kUnevenWork = 1.25;  ///< the busiest thread's CPU time over the mean
constexpr double kLeastSaved = 0.1;   ///< of wall time
constexpr double kWaitsForIt = 0.5;   ///< of what a thread works less than the busiest one

struct Body {
  std::map<int, double> work_s;  ///< by thread: CPU time in its code
  std::map<int, double> lines;   ///< of its code, by index of the frame
  std::map<int, double> starts;  ///< where the thread that starts the region calls it
};

class Bodies {
 public:
  explicit Bodies(const HostProfile& host) : host_(host) {
    for (const HostStackSum& stack : host.stacks) add(stack);
  }

  std::optional<HostCause> most_uneven() const {
    std::optional<HostCause> most;
    for (const auto& [function, body] : bodies_) {
      auto cause = cause_of(body);
      if (cause && (!most || cause->seconds > most->seconds)) most = std::move(cause);
    }
    return most;
  }

 private:
  const HostFrame& frame(int index) const { return host_.frames[static_cast<std::size_t>(index)]; }

  void add(const HostStackSum& stack) {
    const bool in_runtime = std::ranges::any_of(
        stack.frames, [&](int index) { return is_openmp_runtime(last_path_part(frame(index).file)); });
    const auto body = std::ranges::find_if(stack.frames.rbegin(), stack.frames.rend(),
                                           [&](int index) { return is_parallel_body(frame(index).function); });
    const bool inside = body != stack.frames.rend() && std::none_of(stack.frames.rbegin(), body, [&](int index) {
                          return is_openmp_runtime(last_path_part(frame(index).file));
                        });
    if (!inside) {
      // Threads that spin wait, too.
      if (in_runtime && stack.state != ThreadState::runnable) waits_s_[stack.thread] += stack.seconds;
      return;
    }
    if (stack.state != ThreadState::running) return;
    Body& of = bodies_[frame(*body).function];
    of.work_s[stack.thread] += stack.seconds;
    of.lines[*body] += stack.seconds;
    const auto outer = std::find_if(std::next(body), stack.frames.rend(),
                                    [&](int index) { return frame(index).own && frame(index).line > 0; });
    if (outer != stack.frames.rend()) of.starts[*outer] += stack.seconds;
  }

  /// Compilers give the call the line at which its function begins: the first line of the body behind that is nearer.
  std::string place_of(const Body& body) const {
    HostFrame place = frame(key_of_largest(body.starts.empty() ? body.lines : body.starts));
    int nearest = 0;
    for (const auto& [index, seconds] : body.lines) {
      const HostFrame& one = frame(index);
      const bool behind = one.file == place.file && one.line > place.line;
      if (behind && (nearest == 0 || one.line < nearest)) nearest = one.line;
    }
    if (!body.starts.empty() && nearest > 0) place.line = nearest;
    return short_place(place);
  }

  std::optional<HostCause> cause_of(const Body& body) const {
    if (body.work_s.size() < 2) return std::nullopt;
    double sum = 0, busiest = 0;
    for (const auto& [thread, seconds] : body.work_s) {
      sum += seconds;
      busiest = std::max(busiest, seconds);
    }
    const double mean = sum / static_cast<double>(body.work_s.size());
    const double saved = busiest - mean;
    if (busiest < kUnevenWork * mean || saved < kLeastSaved * host_.wall_s) return std::nullopt;
    // A thread that lacked a CPU took fewer chunks of a dynamic schedule: it does not wait for the others.
    for (const auto& [thread, seconds] : body.work_s) {
      const auto waits = waits_s_.find(thread);
      const double waited = waits == waits_s_.end() ? 0 : waits->second;
      if (seconds < mean && waited < kWaitsForIt * (busiest - seconds)) return std::nullopt;
    }
    const std::string line = place_of(body);
    std::string text = fmt::format(
        "The {} threads of the parallel region at {} have unequal work: the busiest computes for {}, the mean is {}.",
        body.work_s.size(), shorten(line, 80), duration(busiest), duration(mean));
    return HostCause{"unequal-work", saved, std::move(text),
                     "Give threads equal work: smaller chunks, scheduled dynamically (schedule(dynamic, n)).", line};
  }

  const HostProfile& host_;
  std::map<std::string, Body> bodies_;  ///< by function
  std::map<int, double> waits_s_;       ///< by thread, in the OpenMP library
};

}  // namespace

bool is_parallel_body(std::string_view function) { return contains_any(function, {"._omp_fn.", "omp_outlined"}); }

std::optional<HostCause> unequal_parallel_work(const HostProfile& host) { return Bodies(host).most_uneven(); }

}  // namespace roofline
