#include "profile/idle/eager_programs.hpp"

#include <map>

#include "profile/actions.hpp"

namespace roofline {
namespace {

/// The range of the compiled program around it; 0: none.
spool::Id program_around(const ProcessTrace& trace, spool::Id range) {
  for (; range != 0; range = trace.range(range).parent) {
    if (trace.text(trace.range(range).name).starts_with("XlaModule")) return range;
  }
  return 0;
}

}  // namespace

EagerPrograms::EagerPrograms(const StepActivities& activities) {
  constexpr double kOften = 32;   // executions in a step
  constexpr double kKernels = 2;  // launches of one execution
  if (framework_of(activities.recording) != Framework::jax || activities.steps.empty()) return;
  using Program = std::pair<int, spool::Id>;
  std::map<Program, double> launches, executions;
  for (const StepActivity& entry : activities.all) {
    if (entry.activity->what != ActivityKind::kernel) continue;
    const int process = entry.activity->process;
    const spool::Id program = program_around(activities.trace(entry), entry.place.range);
    if (program != 0) ++launches[{process, program}];
  }
  for (std::size_t i = 0; i < activities.recording.traces.size(); ++i) {
    for (const spool::RangeTime& time : activities.recording.traces[i].range_times) {
      const Program program = {static_cast<int>(i), time.range};
      if (launches.contains(program) && span_at(activities.steps, time.start) < activities.steps.size()) {
        ++executions[program];
      }
    }
  }
  std::map<int, double> small;  // executions
  for (const auto& [program, times] : executions) {
    if (launches[program] > kKernels * times) continue;
    programs_.insert(program);
    small[program.first] += times;
  }
  for (const auto& [process, times] : small) {
    if (times >= kOften * static_cast<double>(activities.steps.size())) processes_.insert(process);
  }
}

bool EagerPrograms::launched(const Recording& recording, const Activity& activity) const {
  if (!in_process(activity.process)) return false;
  const ProcessTrace& trace = recording.traces[static_cast<std::size_t>(activity.process)];
  return programs_.contains({activity.process, program_around(trace, recording.place(activity).range)});
}

}  // namespace roofline
