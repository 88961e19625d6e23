#include "profile/shared_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/find.hpp"
#include "profile/collective_sums.hpp"
#include "profile/rows.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

/// Of the steps.
constexpr double kLeast = 0.1;

/// A process and a device that is no rank of its own.
using Place = std::pair<int, int>;

/// What a process does on another rank's GPU.
struct ForeignWork {
  std::vector<Span> kernels;
  std::map<std::string, double> lines;
  double seconds = 0;
};

class SharedGpusOfJob {
 public:
  SharedGpusOfJob(const Job& job, const Recording& recording, const RankSteps& of_ranks, const std::vector<Span>& steps)
      : job_(job), recording_(recording), of_ranks_(of_ranks), steps_(steps) {
    for (std::size_t i = 0; i < job.ranks.size(); ++i) {
      ranks_[{job.ranks[i].process, job.ranks[i].device}] = static_cast<int>(i);
      by_process_.emplace(job.ranks[i].process, static_cast<int>(i));
      if (job.ranks[i].device >= 0) by_device_.emplace(job.ranks[i].device, static_cast<int>(i));
    }
  }

  std::vector<SharedGpu> find() {
    collect();
    std::vector<SharedGpu> found;
    for (auto& [where, work] : work_) {
      SharedGpu shared = shared_of(where, work);
      const double least = kLeast * of_ranks_.total_s();
      const double saved = shared.share * seconds(total_length(shared.idle));
      if (shared.kernels_s >= least && shared.other_s >= least && saved >= least) found.push_back(std::move(shared));
    }
    return found;
  }

 private:
  void collect() {
    Within within(steps_);
    for (const Activity& activity : recording_.activities) {
      const Place where = {activity.process, activity.device};
      if (activity.what != ActivityKind::kernel || ranks_.contains(where) || !within(activity.start)) continue;
      const auto owner = by_device_.find(activity.device);
      if (owner == by_device_.end() || !by_process_.contains(activity.process)) continue;
      ForeignWork& work = work_[where];
      const double time = seconds(activity.end - activity.start);
      work.kernels.push_back({activity.start, activity.end});
      work.lines[line_of_group(recording_, activity.group)] += time;
      work.seconds += time;
    }
  }

  SharedGpu shared_of(const Place& where, ForeignWork& work) const {
    SharedGpu shared;
    shared.rank = by_process_.at(where.first);
    shared.other = by_device_.at(where.second);
    shared.own_device = job_.ranks[static_cast<std::size_t>(shared.rank)].device;
    shared.device = where.second;
    shared.kernels_s = work.seconds;
    const double own_s = of_ranks_.parts[static_cast<std::size_t>(shared.rank)].compute_s;
    shared.other_s = of_ranks_.parts[static_cast<std::size_t>(shared.other)].compute_s;
    shared.idle = idle_of(shared, covered(std::move(work.kernels)));
    // With equal work both GPUs would take the mean of their times: each of them saves half of the difference.
    const double idle_s = seconds(total_length(shared.idle));
    shared.share = idle_s > 0 ? std::clamp((shared.other_s - own_s) / idle_s, 0.0, 1.0) : 0;
    shared.kernels_line = key_of_largest(work.lines);
    shared.line = line_of_copies(where.first, shared);
    if (shared.line.empty()) shared.line = shared.kernels_line;
    return shared;
  }

  /// Time of the steps in which the rank's own GPU does nothing.
  std::vector<Span> idle_of(const SharedGpu& shared, const std::vector<Span>& kernels) const {
    const RankTimeline& own = job_.timelines[static_cast<std::size_t>(shared.rank)];
    std::vector<Span> busy = own.compute;
    busy.insert(busy.end(), own.copies.begin(), own.copies.end());
    for (const CollectiveKernel& kernel : own.collectives) busy.push_back(kernel.span);
    return uncovered(common(kernels, steps_), covered(std::move(busy)));
  }

  /// The line of most bytes between the rank's two GPUs: it chooses the device.
  std::string line_of_copies(int process, const SharedGpu& shared) const {
    std::map<std::string, double> lines;
    Within within(steps_);
    for (const Activity& activity : recording_.activities) {
      if (activity.what != ActivityKind::copy || activity.process != process || !within(activity.start)) continue;
      const ProcessTrace& trace = recording_.traces[static_cast<std::size_t>(process)];
      const spool::Copy& copy = trace.copies[activity.index];
      const bool both = activity.device == shared.device || activity.device == shared.own_device;
      if (copy.peer == copy.device || !both) continue;
      lines[line_text(trace, trace.place(recording_.place(activity).id).line)] += static_cast<double>(copy.bytes);
    }
    return key_of_largest(lines);
  }

  const Job& job_;
  const Recording& recording_;
  const RankSteps& of_ranks_;
  const std::vector<Span>& steps_;
  std::map<Place, int> ranks_;
  std::map<int, int> by_process_, by_device_;
  std::map<Place, ForeignWork> work_;
};

/// Takes that much from the parts of a device, from each in proportion.
void take(std::vector<IdlePart>& parts, int device, double& wanted) {
  double all = 0;
  for (const IdlePart& part : parts) all += part.device == device ? part.seconds : 0;
  wanted = std::min(wanted, all);
  for (IdlePart& part : parts) {
    if (part.device == device && all > 0) part.seconds *= 1 - wanted / all;
  }
}

}  // namespace

std::vector<SharedGpu> shared_gpus(const Job& job, const Recording& recording, const RankSteps& of_ranks,
                                   const std::vector<Span>& steps) {
  return SharedGpusOfJob(job, recording, of_ranks, steps).find();
}

void name_shared_gpus(std::vector<IdlePart>& parts, const std::vector<SharedGpu>& shared, const Job& job,
                      const RankSteps& of_ranks, const std::vector<Span>& of) {
  const double steps = static_cast<double>(std::max<std::size_t>(1, of_ranks.step_s.size()));
  for (const SharedGpu& one : shared) {
    double wanted = one.share * seconds(total_length(common(one.idle, of)));
    take(parts, one.own_device, wanted);
    const int rank = job.ranks[static_cast<std::size_t>(one.rank)].rank;
    const int other = job.ranks[static_cast<std::size_t>(one.other)].rank;
    IdlePart part;
    part.device = one.own_device;
    part.cause = SavingCause::shared_gpu;
    part.seconds = wanted;
    part.line = one.line;
    part.evidence = fmt::format("rank {} runs kernels of {} per step on the GPU of rank {}, whose own take {}", rank,
                                duration(one.kernels_s / steps), other, duration(one.other_s / steps));
    if (!one.kernels_line.empty()) part.evidence += "; most of them are launched at " + one.kernels_line;
    std::erase_if(parts, [](const IdlePart& left) { return !(left.seconds > 0); });
    if (wanted > 0) parts.push_back(std::move(part));
  }
}

}  // namespace roofline
