// Waits for worker processes that are started in the loop and have not delivered their first item yet.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "measure/statistics.hpp"
#include "model/find.hpp"
#include "profile/idle/thread_samples.hpp"
#include "text/format.hpp"

namespace roofline {

ThreadSamples::Worker ThreadSamples::worker_of(int thread) const {
  const auto begin_of = [this](int index) {
    return sample(index).time - std::min(sample(index).time, static_cast<std::uint64_t>(1e9 * seconds_of(index)));
  };
  const std::vector<int>& all = by_thread_[static_cast<std::size_t>(thread)];
  Worker worker = {thread, false, {begin_of(all.front()), sample(all.back()).time}, sample(all.back()).time};
  for (std::size_t other = 0; other < by_thread_.size(); ++other) {
    const std::vector<int>& of_other = by_thread_[other];
    if (samples_.threads[other].pid != about(thread).pid || samples_.threads[other].main) continue;
    if (std::none_of(of_other.begin(), of_other.end(), [this](int i) { return stack(i).feeds_queue(); })) continue;
    worker.feeds = true;
    worker.delivered = std::min(worker.delivered, begin_of(of_other.front()));
  }
  return worker;
}

void ThreadSamples::find_beginnings(std::int64_t pid, std::vector<Worker> workers, const std::vector<int>& waits) {
  const std::vector<std::uint64_t>& launches = launches_[pid];
  const std::uint64_t launched = launches.empty() ? 0 : launches.front();
  std::erase_if(workers, [&](const Worker& of) { return of.life.end < launched; });
  const auto first_to_end = std::min_element(workers.begin(), workers.end(),
                                             [](const Worker& a, const Worker& b) { return a.life.end < b.life.end; });
  const bool restarts = std::any_of(workers.begin(), workers.end(),
                                    [&](const Worker& of) { return of.life.start > first_to_end->life.end; });
  if (!restarts) return;
  // Without a thread that feeds, the next launch after a wait is the latest time of the first item.
  for (Worker& of : workers) {
    const auto wait =
        std::find_if(waits.begin(), waits.end(), [&](int index) { return sample(index).time >= of.life.start; });
    if (of.feeds || wait == waits.end()) continue;
    const auto next = std::upper_bound(launches.begin(), launches.end(), sample(*wait).time);
    if (next != launches.end()) of.delivered = std::min(of.delivered, *next);
  }
  const auto begins_at = [&](const Worker& of, std::uint64_t time) {
    return of.life.start >= launched && time >= of.life.start && time <= of.delivered;
  };
  for (const int wait : waits) {
    const std::uint64_t time = sample(wait).time;
    std::ptrdiff_t begin = 0, work = 0;
    for (const Worker& of : workers) {
      if (begins_at(of, time)) {
        ++begin;
      } else if (time >= of.life.start && time <= of.life.end) {
        const int at = nearest(of.thread, time);
        if (at >= 0 && stack(at).works_for_loader()) ++work;
      }
    }
    if (begin > 0 && begin >= work) waits_for_beginning_.insert(wait);
  }
  std::erase_if(workers, [&](const Worker& of) { return of.life.start < launched; });
  workers_[pid].beginnings = describe_beginnings(workers);
}

std::string ThreadSamples::describe_beginnings(const std::vector<Worker>& workers) const {
  constexpr double kGoodPart = 0.3;
  std::vector<double> lengths;
  double all = 0;
  std::map<std::string, double> functions;
  std::map<std::string, std::map<std::string, double>> lines;
  for (const Worker& of : workers) {
    lengths.push_back(seconds(of.delivered - std::min(of.delivered, of.life.start)));
    for (const int index : within(of.thread, {of.life.start, of.delivered})) {
      const HostPlace place = stack(index).place_in_worker();
      const double time_s = seconds_of(index);
      all += time_s;
      if (!stack(index).works_for_loader() || !place.known()) continue;
      const std::string call = stack(index).call_in_worker();
      functions[place.file + place.function] += time_s;
      lines[place.file + place.function][place.text() + (call.empty() ? "" : " (" + call + ")")] += time_s;
    }
  }
  std::string text =
      fmt::format("{} workers started, median {} to the first item", lengths.size(), duration(median(lengths)));
  const auto most = largest_entry(functions);
  if (most == functions.end() || most->second < kGoodPart * all) return text;
  return text + fmt::format(", {} of it in {}", percent(most->second / all), key_of_largest(lines[most->first]));
}

}  // namespace roofline
