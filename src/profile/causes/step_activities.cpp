#include "profile/causes/step_activities.hpp"

#include <algorithm>

#include "model/find.hpp"
#include "profile/rows.hpp"

namespace roofline {
StepActivities::StepActivities(const Recording& of, std::vector<Span> spans) : recording(of), steps(std::move(spans)) {
  total_s = seconds(total_length(steps));
  std::size_t step = 0;
  for (const Activity& activity : recording.activities) {
    while (step < steps.size() && steps[step].end <= activity.start) ++step;
    if (step == steps.size()) break;
    if (activity.start >= steps[step].start && !activity.counted) add(activity, step);
  }
  find_alone();
}

void StepActivities::add(const Activity& activity, std::size_t step) {
  StepActivity entry;
  entry.activity = &activity;
  entry.step = step;
  // An activity that extends into the next step belongs to both.
  const Span span = {activity.start, activity.end};
  for (std::size_t i = step; i < steps.size() && steps[i].start < span.end; ++i) {
    entry.seconds += seconds(std::min(span.end, steps[i].end) - std::max(span.start, steps[i].start));
  }
  const ProcessTrace& of = recording.traces[static_cast<std::size_t>(activity.process)];
  if (activity.what == ActivityKind::kernel) {
    const spool::Kernel& kernel = of.kernels[activity.index];
    entry.kind = of.kind(kernel.kind != 0 ? kernel.kind : activity.launch != nullptr ? activity.launch->kind : 0);
    entry.symbol = of.text(entry.kind.name);
    kernel_s += entry.seconds;
  }
  entry.place = recording.place(activity);
  all.push_back(entry);
}

void StepActivities::find_alone() {
  std::vector<std::vector<Span>> kernels(recording.devices.size());
  for (const StepActivity& entry : all) {
    const Activity& activity = *entry.activity;
    if (activity.what != ActivityKind::kernel) continue;
    kernels[static_cast<std::size_t>(activity.device)].push_back({activity.start, activity.end});
  }
  for (std::vector<Span>& spans : kernels) spans = covered(std::move(spans));
  std::vector<std::uint64_t> copied_until(recording.devices.size(), 0);
  for (StepActivity& entry : all) {
    const Activity& activity = *entry.activity;
    if (activity.what == ActivityKind::kernel) continue;
    const auto device = static_cast<std::size_t>(activity.device);
    Span own = {std::max(activity.start, copied_until[device]), activity.end};
    copied_until[device] = std::max(copied_until[device], activity.end);
    if (own.start >= own.end) continue;
    // Kernels that can overlap it.
    const std::vector<Span>& by = kernels[device];
    const auto first = std::lower_bound(by.begin(), by.end(), own.start,
                                        [](const Span& span, std::uint64_t time) { return span.end <= time; });
    std::uint64_t hidden = 0;
    for (auto span = first; span != by.end() && span->start < own.end; ++span) {
      hidden += std::min(span->end, own.end) - std::max(span->start, own.start);
    }
    entry.alone_s = std::min(entry.seconds, seconds(own.length() - hidden));
  }
}

const ProcessTrace& StepActivities::trace(const StepActivity& of) const {
  return recording.traces[static_cast<std::size_t>(of.activity->process)];
}

std::string StepActivities::line(const StepActivity& of) const { return line_text(trace(of), of.place.line); }

std::uint32_t StepActivities::thread(const StepActivity& of) {
  if (of.activity->launch != nullptr) return of.activity->launch->thread;
  return of.activity->call != nullptr ? of.activity->call->thread : 0;
}

void FaultyActivities::add(const StepActivities& in, const StepActivity& activity, double of) {
  seconds += of;
  ++count;
  in_step.resize(in.steps.size());
  in_step[activity.step] = true;
  if (const std::string line = in.line(activity); !line.empty()) lines[line] += of;
  if (activity.activity->group >= 0) groups[activity.activity->group] += of;
}

double FaultyActivities::share_of_steps() const {
  if (in_step.empty()) return 0;
  return static_cast<double>(std::count(in_step.begin(), in_step.end(), true)) / static_cast<double>(in_step.size());
}

std::string FaultyActivities::line() const { return key_of_largest(lines); }
int FaultyActivities::group() const { return key_of_largest(groups, -1); }

}  // namespace roofline
