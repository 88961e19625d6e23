#include "profile/backward_lines.hpp"

#include <cstdint>
#include <map>

#include "model/find.hpp"
#include "profile/idle/stack_frames.hpp"

namespace roofline {

std::vector<std::string> backward_lines(const Recording& recording, const HostSamples& samples) {
  std::map<std::int64_t, std::map<std::string, double>> lines;  // samples, by process id
  for (const HostSample& sample : samples.samples) {
    if (sample.thread < 0 || static_cast<std::size_t>(sample.thread) >= samples.threads.size()) continue;
    const HostThread& thread = samples.threads[static_cast<std::size_t>(sample.thread)];
    const StackView frames(samples, sample.stack);
    if (thread.main && frames.in_program() && frames.in_backward()) ++lines[thread.pid][frames.place().text()];
  }
  std::vector<std::string> of_processes;
  for (const ProcessTrace& trace : recording.traces) {
    const auto found = lines.find(trace.process.pid);
    of_processes.push_back(found == lines.end() ? std::string() : key_of_largest(found->second));
  }
  return of_processes;
}

}  // namespace roofline
