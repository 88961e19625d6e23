// Which thread runs while another one waits for a lock.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/find.hpp"
#include "profile/idle/gap_evidence.hpp"
#include "profile/idle/thread_samples.hpp"

namespace roofline {

std::optional<LockHolder> ThreadSamples::lock_holder(int thread) const {
  constexpr double kMostly = 0.7;
  if (thread < 0) return std::nullopt;
  std::vector<Span> waits;
  for (const int index : by_thread_[static_cast<std::size_t>(thread)]) {
    if (sample(index).state != ThreadState::lock || cause_of(index, {}).cause != SavingCause::wait_lock) continue;
    waits.push_back(span_of(sample(index)));
  }
  if (waits.empty()) return std::nullopt;
  waits = covered(std::move(waits));
  std::map<std::pair<int, std::string>, double> functions;  // of other threads, by thread and function
  std::map<std::pair<int, std::string>, std::map<HostPlace, double>> places;
  for (std::size_t other = 0; other < by_thread_.size(); ++other) {
    if (static_cast<int>(other) == thread || samples_.threads[other].pid != about(thread).pid) continue;
    for (const int index : by_thread_[other]) {
      const ThreadState state = sample(index).state;
      const StackView frames = stack(index);
      if (!(on_cpu(state) || state == ThreadState::gil) || !frames.in_program()) continue;
      const double time_s = seconds(total_length(parts_within(span_of(sample(index)), waits)));
      const HostPlace place = frames.place();
      const std::pair function(static_cast<int>(other), function_at(place));
      functions[function] += time_s;
      places[function][place] += time_s;
    }
  }
  const double waits_s = seconds(total_length(waits));
  const auto most = largest_entry(functions);
  if (most == functions.end() || most->second < kMostly * waits_s) return std::nullopt;
  return LockHolder{about(most->first.first).name, key_of_largest(places.at(most->first)),
                    std::min(1.0, most->second / waits_s)};
}

}  // namespace roofline
