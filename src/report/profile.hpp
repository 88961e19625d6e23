// What `roofline profile` adds to a report: a program's wall time by use, sums, and potential savings. Plain data. Rows
// of the report are launch signatures; sums refer to them by index.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ceiling.hpp"
#include "report/cpu_loop.hpp"
#include "report/host_profile.hpp"
#include "report/kernel_samples.hpp"
#include "report/memory_profile.hpp"
#include "report/ranks.hpp"

namespace roofline {

/// Source of a row's time. replayed: a profiler ran each launch several times by itself; averaged: the mean of traced
/// launches; sampled: samples of a CPU program's threads.
enum class TimeSource : std::uint8_t { traced, replayed, averaged, sampled };
/// Source of a row's FLOPs and bytes. modelled: from shapes, with compulsory bytes as a lower bound; stated: by the
/// kernel author; emulated: FLOPs and bytes at L1 counted under emulation, other levels by a model of the caches.
enum class WorkSource : std::uint8_t { none, counted, modelled, stated, emulated };
std::string_view to_string(TimeSource source);
std::string_view to_string(WorkSource source);  ///< empty for none
std::optional<TimeSource> parse_time_source(std::string_view text);
std::optional<WorkSource> parse_work_source(std::string_view text);

/// What a launch signature costs in a steady step: means over the uncounted steps, of all GPUs together.
struct StepCost {
  double launches = 0;  ///< one that lies partly within steps counts in part
  double seconds = 0;
};

/// A launch signature, which is a row of the report; the point has its times.
struct ProfiledKind {
  std::string full_name;  ///< demangled, with its parameters
  std::int64_t launches = 0;
  double total_s = 0;
  std::array<std::int64_t, 3> grid = {}, block = {}, cluster = {};
  int device = 0;
  std::string range;      ///< NVTX path where it is launched, "step/forward"; empty: none
  std::string module;     ///< "blocks.3.attn.qkv"; empty: none
  std::string line;       ///< "model.py:10 forward"; empty: not known
  std::string operation;  ///< autograd's node where backward launched it
  bool backward = false;
  bool in_graph = false;     ///< a kernel of a graph: its time is traced, its counts are in the graph's total
  bool graph = false;        ///< a whole graph, launched by one call
  std::int64_t counted = 0;  ///< launches that counters were read of, all groups together
  bool complete = false;     ///< every group has counts
  std::string not_counted;   ///< why counts are missing, or not all there; empty when complete
  std::string mixed;         ///< why its launches seem to do different work; empty: they don't
  TimeSource time_source = TimeSource::traced;
  WorkSource work_source = WorkSource::none;
  std::string sources;                ///< of an imported row: which tool gave which figure; empty for own recordings
  std::optional<StepCost> step = {};  ///< nothing where it is in no step, and in files of earlier versions
  std::optional<CpuLoop> loop = {};   ///< of a CPU program's row
  std::optional<SampledKind> sampled = {};  ///< nothing where its instructions were not sampled
};

/// The wall time of one GPU by use; the parts add up to `wall_s`.
struct WallTime {
  int device = 0;
  std::string device_name;
  double wall_s = 0;
  double before_s = 0;          ///< until the first activity
  double kernels_s = 0;         ///< at least one kernel runs
  double rank_wait_s = 0;       ///< of that, in steps: collectives alone, which wait for another rank
  double communication_s = 0;   ///< of that, in steps: collectives alone, which transfer
  double copies_s = 0;          ///< copies or memsets run, and no kernel
  double counting_s = 0;        ///< idle while the profiler reads counters
  double recording_s = 0;       ///< of steps: idle time that recording added; not part of the idle times below
  double idle_launching_s = 0;  ///< idle, host in a launching call
  double idle_waiting_s = 0;    ///< idle, host in another CUDA call: it waits, allocates or loads modules
  double idle_elsewhere_s = 0;  ///< idle, host outside CUDA
  double idle_unknown_s = 0;    ///< idle, the recording has no launches of the host; 0 in files of earlier versions
  double after_s = 0;           ///< from the last activity on
  // Sums over its kernels, of which several may run side by side, as Profile has them of all GPUs. Without those of
  // collectives where these have parts of their own.
  double kernel_s = 0, roofed_s = 0, at_roof_s = 0;
};

struct CallSum {
  std::string name;
  std::int64_t calls = 0;
  double total_s = 0, median_s = 0, max_s = 0;
};

/// What kind of memory a copy reads or writes.
enum class CopyMemory : std::uint8_t { unknown, pageable, pinned, device, array, managed, unified };

/// Which way a copy goes; `other` is between memory of other kinds (arrays, managed memory). A memset is one, too.
enum class CopyDirection : std::uint8_t {
  host_to_device,
  device_to_host,
  device_to_device,
  device_to_peer,
  host_to_host,
  memset,
  other
};

/// `from` counts for host_to_device and other, `to` for device_to_host and other; else they are `unknown`.
struct CopyPath {
  CopyDirection direction = CopyDirection::other;
  CopyMemory from = CopyMemory::unknown, to = CopyMemory::unknown;

  /// The memory on the host's side; unknown where none is.
  CopyMemory host() const { return direction == CopyDirection::device_to_host ? to : from; }
  auto operator<=>(const CopyPath&) const = default;
};
std::string to_string(const CopyPath& path);  ///< "host to device, pageable"
std::optional<CopyPath> parse_copy_path(std::string_view text);

struct CopySum {
  CopyPath path;
  std::int64_t copies = 0;
  double bytes = 0;
  double total_s = 0;
  std::string roof = {};  ///< its limiting roof; empty: none was measured
  double roof_bytes_per_s = 0;
  std::string line = {};  ///< "train.py:31 main", where most of its time is from; empty: not known
};

/// A node of a tree: NVTX ranges, or modules. Parents stand before their children; times of a node hold its children's.
struct TreeSum {
  std::string name;  ///< the last part of its path
  int parent = -1;   ///< index of the parent; -1: a root
  std::int64_t launches = 0;
  double total_s = 0;     ///< of kernels launched in it
  double backward_s = 0;  ///< of that, launched by autograd for what ran forward in it
  double self_s = 0;      ///< of that, in no child
  double wall_s = 0;      ///< the host's time in it; 0 where it was not recorded (modules)
};

struct LineSum {
  std::string file, function;
  int number = 0;
  std::int64_t launches = 0;
  double total_s = 0;
  double backward_s = 0;  ///< of that, launched by autograd for this line
};

/// `memory`: no time, but a program that ends, or memory that could be used.
enum class SavingKind : std::uint8_t { idle, copies, kernel, fusion, traffic, memory, communication };

/// Why time is lost, by the field's names.
enum class SavingCause : std::uint8_t {
  data_loading,           ///< input is prepared in the process that launches
  few_workers,            ///< input is prepared by too few processes or threads
  pageable_copy,          ///< copies from or to pageable memory
  repeated_copy,          ///< the same data is copied in every step
  repeated_cast,          ///< unchanged data is converted in every step
  item_sync,              ///< .item(), .cpu() or the like: a value is read back
  synchronize,            ///< a synchronisation without a value
  logging_sync,           ///< printing or logging reads values back
  profiler_on,            ///< a profiler that the program starts itself
  gil,                    ///< another thread held Python's interpreter lock
  tiny_kernels,           ///< kernels shorter than their launches
  unfused_attention,      ///< products and a softmax between them as separate kernels
  unfused_optimizer,      ///< an update of parameters in a kernel for each
  allocation,             ///< memory is allocated or freed in the loop
  recompilation,          ///< code is compiled again in steady steps
  checkpointing,          ///< the forward pass is repeated in backward
  no_tf32,                ///< products in fp32 on the plain pipe
  double_precision,       ///< products in fp64
  unaligned_product,      ///< products of dimensions that tensor cores are slow with
  indexed_sum,            ///< sums by index that sort their indices first
  full_sort,              ///< sorting, of which little is used
  fft_length,             ///< Fourier transforms of a length with a large prime factor
  layout_copy,            ///< copies that only change the layout of tensors
  small_batch,            ///< grids smaller than the GPU
  wait_disk,              ///< the launching thread waited for a file
  wait_network,           ///< for a socket
  wait_queue,             ///< for a pipe, a queue or another process
  wait_lock,              ///< for another thread
  sleep,                  ///< it slept
  slow_steps,             ///< some steps are much slower than the others
  host_python,            ///< the launching thread ran this Python code
  host_native,            ///< the launching thread ran this native code
  module_load,            ///< modules were loaded
  launch_rate,            ///< launches are slower than their kernels, without a better name
  fusion,                 ///< consecutive memory-bound kernels
  kernel,                 ///< a kernel below its roof
  memory_growth,          ///< memory in use grows from step to step
  fragmentation,          ///< much memory is reserved for little that is allocated
  out_of_memory,          ///< a request for memory failed
  host_memory_growth,     ///< memory of the host grows from step to step
  copies,                 ///< copies without overlap
  between_kernels,        ///< the GPU's own time from a kernel to the next one that was already queued
  late_stream,            ///< a stream waited for another one
  late_rank,              ///< a rank of the job arrives last at the collectives: its host delays it
  slow_gpu,               ///< likewise: the same kernels take longer on its GPU
  unequal_work,           ///< likewise: it has more work than the others
  serial_part,            ///< likewise: it alone does this work, while the others wait
  uneven_ranks,           ///< ranks wait for each other, in turns
  barrier,                ///< the host waits for all ranks in the loop
  exposed_communication,  ///< collectives without overlap
  small_messages,         ///< many collectives whose time is latency
  unknown_idle            ///< idle time without evidence of its cause
};
std::string_view to_string(SavingCause cause);  ///< "data_loading"
std::optional<SavingCause> parse_saving_cause(std::string_view text);

/// A potential saving and the action for it.
struct Saving {
  SavingKind kind = SavingKind::kernel;
  SavingCause cause = SavingCause::kernel;
  std::string line;      ///< "train.py:31 load_batch", the line that causes it; empty: not known
  bool one_off = false;  ///< of a single event: not of every step
  double seconds = 0;    ///< of the wall time, upper bound
  std::string what;      ///< "softmax_kernel at 31 % of its roof"
  std::string evidence;  ///< figures that show it
  std::string action;    ///< one thing to do
  int point = -1;        ///< row that it concerns; -1: none
};

/// What the bars of a lane are.
enum class LaneKind : std::uint8_t {
  stream,  ///< kernels, copies and memsets of a GPU's stream
  idle,    ///< times in which a GPU ran nothing, by cause
  calls,   ///< calls of CUDA by a host thread
  samples  ///< what a host thread did, as sampled
};
std::string_view to_string(LaneKind kind);
std::optional<LaneKind> parse_lane_kind(std::string_view text);

/// A bar of the timeline.
struct Slice {
  double start_s = 0, end_s = 0;          ///< from the timeline's beginning
  int point = -1;                         ///< row of a kernel, or of what a call launches; -1: something else
  std::string text = {};                  ///< for what is no row: "copy, host to device"
  std::string line = {};                  ///< "train.py:31 load_batch"; empty: not known, or that of its row
  std::optional<ThreadState> state = {};  ///< of a sample; of a call that waits for the GPU
  std::optional<SavingCause> cause = {};  ///< of idle time
  /// Of several short bars as one, which is named after the bars with the most time: their number and time. 0: one bar.
  std::int64_t merged = 0;
  double busy_s = 0;
};
struct Lane {
  std::string name;  ///< "GPU 0, stream 7", "thread 4711"
  LaneKind kind = LaneKind::stream;
  std::vector<Slice> slices;

  bool host() const { return kind == LaneKind::calls || kind == LaneKind::samples; }
};
/// A typical step; of a program without steps the window with the most GPU work.
struct Timeline {
  double start_s = 0;  ///< from the beginning of the recording
  double length_s = 0;
  std::vector<Lane> lanes;
  std::optional<std::int64_t> step = {};  ///< from 0 on, of the steady steps; nothing for a window
  std::int64_t hidden_threads = 0;        ///< sampled threads without a lane
};

struct ProfiledProcess {
  std::int64_t pid = 0;
  std::string command;
  std::int64_t launches = 0;  ///< seen
  std::int64_t kernels = 0;   ///< recorded
  std::int64_t dropped = 0;
  std::int64_t without_time = 0;
  bool torn = false;               ///< it did not close its recording, or the spool is torn: the last records are lost
  std::vector<std::string> notes;  ///< messages of the injected library
};

/// How the steps of a program were found: by what repeats, by NVTX ranges, by the updates of an optimizer.
enum class StepSource : std::uint8_t { repetition, range, optimizer };
std::string_view to_string(StepSource source);
std::optional<StepSource> parse_step_source(std::string_view text);

/// What a program does before its first step, as seen from the host.
enum class StartUpPart : std::uint8_t {
  before_cuda,  ///< until it opens the CUDA driver: imports, reading files
  counting,     ///< profiler overhead
  loading,      ///< CUDA modules
  allocating,   ///< memory of the GPU
  compiling,    ///< of code, by samples of the host, with the tuning of kernels that belongs to it
  gpu,          ///< a GPU works and the host is in none of these: initialisation, autotuning
  host          ///< the rest: Python, data; compilation where the host was not sampled
};
inline constexpr std::size_t kStartUpParts = 7;
std::string_view to_string(StartUpPart part);
std::optional<StartUpPart> parse_start_up_part(std::string_view text);

struct StartUpShare {
  StartUpPart part = StartUpPart::host;
  double seconds = 0;
};

struct SlowStep {
  std::int64_t number = 0;  ///< from 0 on, of the steady steps
  double seconds = 0;
  std::string different;  ///< what it did more than a typical step; empty: nothing that was recorded
  bool apart = false;     ///< of a single event that took far longer than any step: no figure of the steps contains it
};

/// The steady, uncounted steps of a program: what repeats between its start-up and its end, without a single event that
/// took far longer.
struct Steps {
  StepSource source = StepSource::repetition;
  std::int64_t count = 0;                      ///< in which nothing was counted: those that all figures are of
  double median_s = 0, low_s = 0, high_s = 0;  ///< of a step; 5th and 95th percentile
  Interval ci95 = {};                          ///< of the median
  double total_s = 0;                          ///< of these steps: what the savings are parts of
  Interval mean_ci95 = {};                     ///< of total_s / count
  double start_up_s = 0, tear_down_s = 0;      ///< before the first and after the last of all steps
  std::vector<StartUpShare> start_up;          ///< parts of start_up_s, which they add up to, the largest first
  double at_roof_s = 0;                        ///< of a step: its kernels at their roofs; 0: not known
  double launches = 0;                         ///< of a step
  std::optional<double> untouched_s;           ///< median step while nothing was recorded
  Interval untouched_ci95 = {};                ///< of that median
  std::vector<WallTime> devices;               ///< of these steps; the parts of each add up to total_s
  std::vector<SlowStep> slow;
};

struct Profile {
  std::vector<std::string> program;  ///< argv
  std::string folder;                ///< working directory
  std::optional<int> exit_status;
  std::optional<int> signal;  ///< that ended it
  std::vector<ProfiledProcess> processes;

  std::optional<Steps> steps;
  std::string why_no_steps;          ///< empty where there are steps
  double wall_s = 0;                 ///< of the recording
  std::optional<double> untraced_s;  ///< wall time of the program without the profiler
  std::optional<double> traced_s;    ///< wall time with the profiler, from start to end
  double counting_s = 0;             ///< of wall_s, spent on counting
  /// Part of wall_s in which everything was recorded. Below 1, rows and sums are those of a sample of the steps, not
  /// totals of the run.
  double recorded_share = 1;
  std::vector<WallTime> devices;
  double at_roof_s = 0;   ///< sum of attainable times, over the rows that have one
  double roofed_s = 0;    ///< time of those rows: the rest has no roof
  double kernel_s = 0;    ///< sum of kernel times
  double counted_s = 0;   ///< of kernel_s, the part with all counter groups
  bool counters = false;  ///< requested and permitted
  std::string why_no_counters;

  std::vector<Saving> savings;  ///< largest first
  std::vector<CallSum> calls;
  std::vector<CopySum> copies;
  std::vector<TreeSum> ranges, modules;
  std::vector<LineSum> lines;
  double without_line_s = 0, without_module_s = 0;  ///< of kernel_s: what `lines` and roots of `modules` leave
  std::optional<Timeline> timeline;
  std::optional<HostProfile> host = {};  ///< nothing where the host was not sampled
  MemoryProfile memory = {};
  std::optional<Ranks> ranks = {};           ///< of several processes with collectives, with steps
  KernelSamples instructions = {};           ///< of GPU kernels
  std::optional<EmulatedRun> emulated = {};  ///< of a CPU program whose instructions were counted
};

/// Slowdown by the profiler without the time spent counting; nothing where it was not measured.
std::optional<double> inflation(const Profile& profile);

}  // namespace roofline
