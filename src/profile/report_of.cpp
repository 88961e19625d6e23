// Traces → report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <numeric>
#include <utility>

#include "profile/backward_lines.hpp"
#include "profile/checkpoint_calls.hpp"
#include "profile/cpu/cpu_rows.hpp"
#include "profile/cpu/slow_code.hpp"
#include "profile/graph_kernels.hpp"
#include "profile/host_memory.hpp"
#include "profile/host_sums.hpp"
#include "profile/idle_causes.hpp"
#include "profile/instructions.hpp"
#include "profile/intervals.hpp"
#include "profile/job_traces.hpp"
#include "profile/memory.hpp"
#include "profile/memory_savings.hpp"
#include "profile/mpi/mpi_ranks.hpp"
#include "profile/phases.hpp"
#include "profile/profile.hpp"
#include "profile/rank_savings.hpp"
#include "profile/ranks.hpp"
#include "profile/recording.hpp"
#include "profile/replicated_updates.hpp"
#include "profile/row_times.hpp"
#include "profile/rows.hpp"
#include "profile/savings.hpp"
#include "profile/shared_gpu.hpp"
#include "profile/source_text.hpp"
#include "profile/step_sums.hpp"
#include "profile/steps.hpp"
#include "profile/sums.hpp"
#include "profile/timeline.hpp"
#include "profile/wall_time.hpp"
#include "report/profile_findings.hpp"
#include "text/format.hpp"
#include "text/text.hpp"

namespace roofline {
namespace {

/// Why nothing was counted, from the injected library if it gave a reason.
std::string why_no_counters(const std::vector<ProcessTrace>& traces, bool wanted, bool ran) {
  if (!wanted) return "counters were not requested (--no-counters)";
  bool metrics = false;
  for (const ProcessTrace& trace : traces) {
    metrics |= !trace.metrics.empty();
    for (const auto& [kind, model] : trace.models) metrics |= model.source == WorkSource::counted;
    for (const ProcessTrace::Note& note : trace.notes) {
      if (note.code == spool::NoteCode::not_counted) return note.text;
    }
  }
  if (metrics) return {};
  for (const ProcessTrace& trace : traces) {
    if (!trace.times_by.empty()) return "the file of " + trace.times_by + " has no counters of FLOPs and bytes";
  }
  return ran ? "the program ended before its counters were read: run it for longer"
             : "this recording contains no counters: the program ended before they were read, or was run without them";
}

ProfiledProcess process_of(const ProcessTrace& trace) {
  ProfiledProcess process;
  process.pid = trace.process.pid;
  process.command = fmt::format("{}", fmt::join(trace.command, " "));
  process.launches = static_cast<std::int64_t>(trace.tally.launches);
  process.kernels = static_cast<std::int64_t>(trace.kernels.size());
  process.dropped = static_cast<std::int64_t>(trace.tally.dropped);
  process.without_time = static_cast<std::int64_t>(trace.tally.without_time);
  process.torn = trace.torn && (trace.unread_bytes > 0 || !note_time(trace, spool::NoteCode::window_ended));
  for (const ProcessTrace::Note& note : trace.notes) {
    if (note.code != spool::NoteCode::recording && !note.text.empty()) process.notes.push_back(note.text);
  }
  return process;
}

/// Before there are rows.
Profile profile_of(const Recording& recording, const ProgramFacts& facts, const Machine& machine) {
  Profile profile;
  profile.program = facts.program;
  if (profile.program.empty() && !recording.traces.empty()) profile.program = recording.traces.front().command;
  profile.folder = facts.folder;
  profile.untraced_s = facts.untraced_s;
  if (facts.run) {
    if (!facts.run->stopped) {
      profile.exit_status = facts.run->exit_status;
      profile.signal = facts.run->signal;
    }
    profile.traced_s = seconds(facts.run->end - facts.run->start);
  }
  profile.wall_s = seconds(recording.end - recording.start);
  for (const ProcessTrace& trace : recording.traces) {
    if (trace.counts_only) continue;
    profile.processes.push_back(process_of(trace));
    profile.counting_s += seconds(trace.tally.counting);
  }
  profile.recorded_share = recorded_share(recording);
  profile.devices = wall_times(recording);
  profile.kernel_s = kernel_seconds(recording);
  profile.calls = sum_calls(recording);
  profile.copies = sum_copies(recording, machine);
  profile.ranges = sum_ranges(recording);
  profile.modules = sum_modules(recording);
  profile.lines = sum_lines(recording, facts.folder);
  double lines = 0, modules = 0;
  for (const LineSum& line : profile.lines) lines += line.total_s;
  for (const TreeSum& module : profile.modules) modules += module.parent < 0 ? module.total_s : 0;
  profile.without_line_s = std::max(0.0, profile.kernel_s - lines);
  profile.without_module_s = std::max(0.0, profile.kernel_s - modules);
  return profile;
}

/// Sums over rows, which are still those of the recording's groups. A graph's kernels have their time in their rows and
/// their counts in the graph's.
void add_row_sums(Profile& profile, const std::vector<Point>& points) {
  for (const Point& point : points) {
    const ProfiledKind& kind = *point.profiled;
    if (kind.in_graph) continue;
    if (kind.complete) profile.counted_s += kind.total_s;
    if (!point.time || !std::isfinite(point.bound.attainable_time_s)) continue;
    profile.roofed_s += kind.total_s;
    profile.at_roof_s += point.bound.attainable_time_s * static_cast<double>(kind.launches);
  }
  profile.counted_s = std::min(profile.counted_s, profile.kernel_s);
}

/// Cost of each row per step.
void add_step_costs(std::vector<Point>& points, const RowTimes& rows, std::int64_t steps) {
  for (const auto& [where, time] : rows) {
    std::optional<StepCost>& cost = points[static_cast<std::size_t>(where.first)].profiled->step;
    if (!cost) cost.emplace();
    cost->launches += time.launches / static_cast<double>(steps);
    cost->seconds += time.kernel_s / static_cast<double>(steps);
  }
}

/// The end of the last step that was timed while nothing was recorded; 0: there is none.
std::uint64_t last_mark(const Recording& recording) {
  std::uint64_t last = 0;
  for (const ProcessTrace& trace : recording.traces) {
    for (const spool::Marks& marks : trace.marks) last = std::max(last, marks.end);
  }
  return last;
}

/// True if the program did not end well; of a recording alone, whether its last second has a request that failed.
bool has_failed(const ProgramFacts& facts, const Profile& profile) {
  if (facts.run) return !facts.run->stopped && (facts.run->exit_status != 0 || facts.run->signal);
  return std::any_of(profile.memory.devices.begin(), profile.memory.devices.end(), [&](const GpuMemory& memory) {
    return memory.out_of_memory && memory.out_of_memory->time_s > profile.wall_s - 1;
  });
}

/// Findings about memory. They precede all savings of time if the program ends by them.
void add_memory(Profile& profile, const Recording& recording, const FoundSteps& found, const ProgramFacts& facts) {
  const double step_s = profile.steps ? profile.steps->untouched_s.value_or(profile.steps->median_s) : 0;
  profile.memory.devices = device_memory(recording, found, step_s);
  if (facts.host) {
    SteadySpan steady{.step_s = step_s};
    std::vector<Span> counting;
    if (!found.all.empty()) {
      steady.span = {found.all.front().span.start, std::max(found.all.back().span.end, last_mark(recording))};
      counting = covered(counting_spans(recording, found.process));
    }
    for (const Activity& activity : recording.activities) {
      const bool inside = !steady.span || (activity.start >= steady.span->start && activity.start < steady.span->end);
      const auto process = static_cast<std::size_t>(activity.process);
      if (inside) ++steady.traced[recording.traces[process].process.pid];
    }
    profile.memory.host = host_memory(*facts.host, ProgramClock(recording.start, std::move(counting)), steady);
  }
  MemorySavings found_savings = memory_savings(profile.memory, framework_of(recording), has_failed(facts, profile));
  std::vector<Saving>& savings = profile.savings;
  savings.insert(savings.begin(), found_savings.first.begin(), found_savings.first.end());
  savings.insert(savings.end(), found_savings.last.begin(), found_savings.last.end());
}

/// The ranks of a job within its steps, and what they lose.
struct JobFindings {
  RankSteps steps;
  std::optional<LateFinding> late;
  SmallMessages small;
  std::vector<SharedGpu> shared;
  RankSavings savings;
};

std::optional<JobFindings> add_ranks(Profile& profile, const std::optional<Job>& job, const Recording& recording,
                                     const std::vector<Span>& spans, const RowTimes& rows,
                                     const std::vector<Point>& points, const Machine& machine, const IdleParts& idle,
                                     const HostSamples& samples) {
  if (!job || spans.empty() || !profile.steps) return std::nullopt;
  JobFindings found;
  found.steps = rank_steps(job->timelines, job->matched, spans);
  found.small = small_messages(*job, recording, spans, machine);
  std::vector<IdlePart> parts = idle(spans);
  name_small_messages(parts, found.small);
  found.late = late_finding(*job, found.steps, recording, spans, parts, found.small);
  add_rank_parts(*job, found.steps, recording, rows, points, *profile.steps);
  profile.ranks = ranks_report(*job, found.steps, recording, spans, machine);
  const CommunicationKinds kinds = communication_kinds(*job, recording, spans, machine);
  found.shared = shared_gpus(*job, recording, found.steps, spans);
  found.savings =
      rank_savings(*job, found.steps, found.late, found.small, kinds, slow_link(*job, recording, spans, machine),
                   *profile.ranks, rows, framework_of(recording));
  if (auto updates = replicated_updates(*job, recording, samples, spans, framework_of(recording))) {
    found.savings.claims.push_back(std::move(*updates));
  }
  return found;
}

/// Steps, savings and the timeline; savings need the rows with their bounds.
void add_steps(Profile& profile, const Recording& recording, std::vector<Point>& points, const ProgramFacts& facts,
               const Machine& machine, const std::optional<Job>& job, const FoundSteps& found) {
  add_roofs(profile.devices, row_times(recording), points);
  profile.why_no_steps = found.why_none;
  const RowTimes rows = row_times(recording, found.steady());
  static const HostSamples kNone;
  const HostSamples& samples = facts.host ? *facts.host : kNone;
  profile.steps = sum_steps(recording, found, rows, points, samples);
  if (profile.steps) add_step_costs(points, rows, profile.steps->count);
  const std::vector<Span> steady = found.steady();
  const IdleParts idle = [&](const std::vector<Span>& spans) {
    std::vector<IdlePart> parts = idle_parts(recording, spans, samples);
    if (job) name_barriers(parts, recording);
    name_hooks(parts, recording);
    return parts;
  };
  std::optional<JobFindings> ranks = add_ranks(profile, job, recording, steady, rows, points, machine, idle, samples);
  const IdleParts idle_of_ranks = [&](const std::vector<Span>& spans) {
    std::vector<IdlePart> parts = idle(spans);
    if (ranks) name_small_messages(parts, ranks->small);
    if (ranks && ranks->late) take_out_late(parts, *ranks->late, ranks->steps, steady, spans);
    if (ranks) name_shared_gpus(parts, ranks->shared, *job, ranks->steps, spans);
    return parts;
  };
  SourceTexts sources(facts.source);
  profile.savings = savings_of(recording, found, points, rows, machine, profile, idle_of_ranks,
                               ranks ? std::move(ranks->savings) : RankSavings(), facts.source ? &sources : nullptr);
  name_checkpoint_calls(profile.savings, samples);
  profile.timeline = timeline_of(recording, found, samples);
  add_memory(profile, recording, found, facts);
}

/// Rows by total time, largest first, with all that refers to them.
void sort_rows(Report& report) {
  std::vector<Point>& points = report.points;
  std::vector<int> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&points](int a, int b) {
    return points[static_cast<std::size_t>(a)].profiled->total_s >
           points[static_cast<std::size_t>(b)].profiled->total_s;
  });
  std::vector<int> place(points.size());
  std::vector<Point> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    sorted.push_back(std::move(points[static_cast<std::size_t>(order[i])]));
  }
  points = std::move(sorted);
  const auto moved = [&place](int& point) {
    if (point >= 0) point = place[static_cast<std::size_t>(point)];
  };
  for (Saving& saving : report.profile->savings) moved(saving.point);
  if (!report.profile->timeline) return;
  for (Lane& lane : report.profile->timeline->lanes) {
    for (Slice& slice : lane.slices) moved(slice.point);
  }
}

/// CUPTI 13.0 can crash programs that launch CUDA graphs of XLA (docs/evidence/profile-counting.md).
void add_note_of_crash(Report& report, const Recording& recording) {
  const int signal = report.profile->signal.value_or(0);
  if (signal != SIGSEGV && signal != SIGBUS && signal != SIGABRT) return;
  const bool graphs = std::ranges::any_of(recording.groups, [](const LaunchGroup& group) { return group.graph(); });
  if (!graphs || framework_of(recording) != Framework::jax) return;
  report.notes.emplace_back(
      "the profiler may have caused the crash: CUPTI can fail with CUDA graphs of XLA; "
      "XLA_FLAGS=--xla_gpu_enable_command_buffer= runs the program without graphs");
}

/// Dropped records and the profiler's overhead are findings, not notes.
void add_notes(Report& report, const std::vector<DefectiveSpool>& defective, bool gpu) {
  const Profile& profile = *report.profile;
  std::vector<std::string>& notes = report.notes;
  // A spool that was left out is a process that opened the driver.
  if (gpu && report.points.empty() && !(profile.processes.empty() && !defective.empty())) {
    notes.emplace_back(
        profile.processes.empty()
            ? "the program never used a GPU: no process opened the CUDA driver with the profiler loaded (a cleared "
              "environment or a container without the driver looks the same)"
            : "the program opened the CUDA driver but ran no kernel during the recording");
  }
  // For imports and emulated programs, the completeness list reports this.
  if (gpu && !profile.counters && !profile.why_no_counters.empty() && !report.points.empty() && !profile.emulated) {
    notes.push_back("no counters: " + profile.why_no_counters);
  }
  for (std::string& note : notes_of(defective)) notes.push_back(std::move(note));
}

/// The samples of its kernel, which rows of one kernel share. No counter of the standard set counts special functions:
/// they are the samples' share of its instructions.
void take_samples(Point& row, const KernelSamples& samples, const Machine& machine) {
  const SampledKernel* const kernel = samples.find(row.profiled->full_name);
  if (kernel == nullptr) return;
  row.profiled->sampled = sampled_kind(*kernel);
  constexpr double kWarp = 32;
  const auto instructions = row.counters ? row.counters->find("warp.instructions") : std::nullopt;
  if (!instructions || row.work.operations().empty() || !(row.profiled->sampled->special > 0)) return;
  row.work.uncounted[Pipe::sfu] = kWarp * *instructions * row.profiled->sampled->special;
  row.bound = bound_of(row.work, machine);
}

/// Rows of the recording's groups, each under the roofs of its own GPU model; those of a model without roofs have none.
void add_rows(Report& report, const Recording& recording, const std::string& why_not_counted) {
  std::vector<std::string_view> names;
  for (const SeenDevice& device : recording.devices) names.emplace_back(device.name);
  const std::vector<const Machine*> roofs = roofs_of_devices(names, report.machine, report.other_machines);
  const std::string main_name = clean_line(report.machine.device.name);
  Machine without_roofs;
  without_roofs.device = report.machine.device;
  const std::vector<int> numbers = device_numbers(recording);
  std::map<std::string, std::int64_t> rows, own;  ///< without roofs, and with those of their model, by its name
  for (const LaunchGroup& group : recording.groups) {
    const auto device = static_cast<std::size_t>(group.device);
    const Machine* machine = roofs[device];
    const bool others = machine != &report.machine && machine != nullptr && !machine->ceilings.empty();
    if (machine == nullptr) machine = &without_roofs;
    Point row = row_of(group, recording, *machine, why_not_counted);
    take_samples(row, report.profile->instructions, *machine);
    row.profiled->device = numbers[device];
    if (machine != &report.machine) {
      const std::string name = names[device].empty() ? "an unnamed GPU" : clean_line(names[device]);
      ++(others ? own : rows)[name];
      if (!row.profiled->sources.empty()) {
        row.profiled->sources +=
            others ? fmt::format("; roofs of {}", name)
                   : fmt::format("; no roofs: it ran on {}, the roofs are those of {}", name, main_name);
      }
    }
    report.points.push_back(std::move(row));
  }
  for (const auto& [name, number] : rows) {
    report.notes.push_back(fmt::format("{} no roofs: {} ran on {}, the roofs are those of {}",
                                       counted_noun(number, "row has", "rows have"), number == 1 ? "it" : "they", name,
                                       main_name));
  }
  for (const auto& [name, number] : own) {
    report.notes.push_back(fmt::format("{} on {} and {} under its roofs; the chart has those of {}",
                                       counted_noun(number, "row ran", "rows ran"), name, number == 1 ? "is" : "are",
                                       main_name));
  }
}

/// Note about rows that were merged; empty if there are none.
std::string about_folded(const Recording& recording, double kernel_s) {
  std::int64_t folded = 0;
  double time = 0;
  for (const LaunchGroup& group : recording.groups) {
    folded += group.folded;
    if (group.folded > 0) time += group.total_s;
  }
  if (folded == 0) return {};
  return fmt::format(
      "{} launch signatures with the least time share the row \"other kernels\": {} of the kernel time. A report has "
      "at most {} rows of its own.",
      count(folded), percent(kernel_s > 0 ? time / kernel_s : 0), count(static_cast<std::int64_t>(kReportRows)));
}

}  // namespace

Report report_of(const std::vector<ProcessTrace>& traces, const ProgramFacts& facts, const Machine& machine) {
  Recording recording(traces);
  // A program's time is all of its time, also before it opened the driver; a window's is the window's.
  if (facts.run && !facts.window) {
    recording.start = facts.run->start;
    recording.end = std::max(recording.end, facts.run->end);
  } else if (traces.empty() && facts.host) {
    recording.start = facts.host->start;
    recording.end = facts.host->end;
  }
  if (facts.host) recording.backward_lines = backward_lines(recording, *facts.host);
  const FoundSteps found = find_undisturbed_steps(recording, facts.step_range);
  Report report;
  report.machine = machine;
  report.other_machines = facts.other_machines;
  report.profile = profile_of(recording, facts, machine);
  Profile& profile = *report.profile;
  if (facts.host) {
    const bool part = facts.window && !traces.empty();
    profile.host = host_profile(part ? cut(*facts.host, recording.start, recording.end) : *facts.host);
    if (!facts.gpu) profile.host->slow_code = slow_code(facts.host->code);
  }
  profile.why_no_counters = why_no_counters(traces, facts.counters_wanted, facts.run.has_value());
  for (const LaunchGroup& group : recording.groups) profile.counters |= !group.values.empty();
  profile.instructions = facts.instructions;
  add_rows(report, recording, profile.why_no_counters);
  if (facts.counted && facts.host) {
    const std::int64_t signal = facts.run ? facts.run->signal.value_or(0) : 0;
    add_cpu_rows(report, *facts.counted, facts.host->code, {.seconds = facts.emulated_s, .signal = signal});
    profile.counters = profile.emulated->complete;
    profile.why_no_counters = profile.emulated->ended;
  }
  if (profile.counters) profile.why_no_counters.clear();
  // With many ranks, only some are whole; the job is matched with all of them, of which these come first.
  std::vector<ProcessTrace> ranks;
  std::optional<Recording> of_ranks;
  if (!facts.condensed.empty()) {
    ranks = traces;
    ranks.insert(ranks.end(), facts.condensed.begin(), facts.condensed.end());
    of_ranks.emplace(ranks);
  }
  std::optional<Job> job = job_of(of_ranks ? *of_ranks : recording);
  if (job && of_ranks) {
    refer_to(recording, *of_ranks, *job);
    report.notes.push_back(about_whole_ranks(*job));
  }
  if (job) add_collective_roofs(*job, machine, report.points);
  make_labels_unique(report.points);
  name_graph_kernels(recording, report.points);
  add_row_sums(profile, report.points);
  add_steps(profile, recording, report.points, facts, machine, job, found);
  number_devices(profile, device_numbers(recording));
  add_mpi_ranks(report, facts.mpi);
  if (profile.emulated) profile.why_no_steps.clear();  // its rows are of the whole run
  sort_rows(report);
  add_notes(report, facts.defective_spools, facts.gpu);
  add_note_of_crash(report, recording);
  if (std::string note = about_folded(recording, profile.kernel_s); !note.empty()) {
    report.notes.push_back(std::move(note));
  }
  report.cancelled = facts.run && facts.run->interrupted;
  return report;
}

}  // namespace roofline
