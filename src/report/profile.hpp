// Data that `roofline profile` adds to a report: a program's wall time by use, sums, and potential savings. Plain data.
// Rows of the report are launch signatures; sums refer to them by index.
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

/// Source of a row's time. replayed: a profiler ran each launch in isolation, several times; averaged: mean of traced
/// launches; sampled: samples of a CPU program's threads.
enum class TimeSource : std::uint8_t { traced, replayed, averaged, sampled };
/// Source of a row's FLOPs and bytes. modelled: from shapes, with compulsory bytes as a lower bound; stated: by the
/// kernel author; emulated: FLOPs and L1 bytes counted under emulation, other levels from a cache model.
enum class WorkSource : std::uint8_t { none, counted, modelled, stated, emulated };
std::string_view to_string(TimeSource source);
std::string_view to_string(WorkSource source);  ///< empty for none
std::optional<TimeSource> parse_time_source(std::string_view text);
std::optional<WorkSource> parse_work_source(std::string_view text);

/// Cost of a launch signature in a steady step: means over the uncounted steps, summed over all GPUs.
struct StepCost {
  double launches = 0;  ///< a launch partly within the steps counts in part
  double seconds = 0;
};

/// A kernel of a CUDA graph.
struct GraphKernel {
  std::string name;  ///< "attend_kernel, model.py:72 attend"
  double share = 0;  ///< of the kernel time of the graph's launches
};

/// A launch signature, one row of the report; the point has its times.
struct ProfiledKind {
  std::string full_name;  ///< demangled, with its parameters
  std::int64_t launches = 0;
  double total_s = 0;
  std::array<std::int64_t, 3> grid = {}, block = {}, cluster = {};
  int device = 0;
  std::string range;      ///< NVTX path of the launch, "step/forward"; empty: none
  std::string module;     ///< "blocks.3.attn.qkv"; empty: none
  std::string line;       ///< "model.py:10 forward"; empty: unknown
  std::string operation;  ///< autograd node, if backward launched it
  bool backward = false;
  bool in_graph = false;  ///< kernel of a graph: its time is traced, its counts are part of the graph's
  bool graph = false;     ///< a whole graph, launched by one call
  std::vector<GraphKernel> graph_kernels = {};  ///< of a whole graph: up to three with the most time
  std::int64_t counted = 0;                     ///< launches with counters, over all groups
  bool complete = false;                        ///< every group has counts
  std::string not_counted;                      ///< why counts are missing or incomplete; empty if complete
  std::string mixed;                            ///< why its launches seem to do different work; empty: they do not
  TimeSource time_source = TimeSource::traced;
  WorkSource work_source = WorkSource::none;
  std::string why_above_roof = {};          ///< imported rows: why it is above its roof; empty: it is not
  std::string sources;                      ///< imported rows: which tool gave which figure; empty for own recordings
  std::optional<StepCost> step = {};        ///< std::nullopt if it is in no step, and in files of earlier versions
  std::optional<CpuLoop> loop = {};         ///< rows of a CPU program
  std::optional<SampledKind> sampled = {};  ///< std::nullopt if its instructions were not sampled
};

/// Wall time of one GPU by use; the parts add up to `wall_s`.
struct WallTime {
  int device = 0;
  std::string device_name;
  double wall_s = 0;
  double before_s = 0;          ///< until the first activity
  double kernels_s = 0;         ///< at least one kernel runs
  double rank_wait_s = 0;       ///< steps only, part of kernels_s: only collectives run, waiting for another rank
  double communication_s = 0;   ///< steps only, part of kernels_s: only collectives run, transferring data
  double copies_s = 0;          ///< copies or memsets run, but no kernel
  double counting_s = 0;        ///< idle while the profiler reads counters
  double recording_s = 0;       ///< steps only: idle time added by the recording; not part of the idle times below
  double idle_launching_s = 0;  ///< idle, host in a launching call
  double idle_waiting_s = 0;    ///< idle, host in another CUDA call: waiting, allocating or loading modules
  double idle_elsewhere_s = 0;  ///< idle, host outside CUDA
  double idle_unknown_s = 0;    ///< idle, the recording has no host launches; 0 in files of earlier versions
  double after_s = 0;           ///< after the last activity
  // Sums over the kernels of the device, which may overlap, like those of Profile over all GPUs. Collectives are
  // excluded if they have parts of their own.
  double kernel_s = 0, roofed_s = 0, at_roof_s = 0;
};

struct CallSum {
  std::string name;
  std::int64_t calls = 0;
  double total_s = 0, median_s = 0, max_s = 0;
};

/// Kind of memory that a copy reads or writes.
enum class CopyMemory : std::uint8_t { unknown, pageable, pinned, device, array, managed, unified };

/// Direction of a copy; `other`: between other kinds of memory (arrays, managed memory). Includes memset.
enum class CopyDirection : std::uint8_t {
  host_to_device,
  device_to_host,
  device_to_device,
  device_to_peer,
  host_to_host,
  memset,
  other
};

/// `from` is set for host_to_device and other, `to` for device_to_host and other; otherwise `unknown`.
struct CopyPath {
  CopyDirection direction = CopyDirection::other;
  CopyMemory from = CopyMemory::unknown, to = CopyMemory::unknown;

  /// Kind of the host memory; unknown if neither side is the host.
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
  std::string roof = {};  ///< limiting roof; empty: not measured
  double roof_bytes_per_s = 0;
  std::string line = {};  ///< "train.py:31 main", line with most of the time; empty: unknown
};

/// A node of the tree of NVTX ranges or modules. Parents precede their children; times include the children's.
struct TreeSum {
  std::string name;  ///< last part of its path
  int parent = -1;   ///< index of the parent; -1: a root
  std::int64_t launches = 0;
  double total_s = 0;     ///< time of kernels launched in it
  double backward_s = 0;  ///< part of total_s launched by autograd for forward work in it
  double self_s = 0;      ///< part of total_s not in a child
  double wall_s = 0;      ///< host time in it; 0 if not recorded (modules)
};

struct LineSum {
  std::string file, function;
  int number = 0;
  std::int64_t launches = 0;
  double total_s = 0;
  double backward_s = 0;  ///< part of total_s launched by autograd for this line
};

/// `memory` saves no time: the program runs out of memory, or memory is wasted.
enum class SavingKind : std::uint8_t { idle, copies, kernel, fusion, traffic, memory, communication };

/// Causes of lost time.
enum class SavingCause : std::uint8_t {
  data_loading,           ///< input is prepared in the process that launches
  few_workers,            ///< input is prepared by too few processes or threads
  pageable_copy,          ///< copies from or to pageable memory
  repeated_copy,          ///< the same data is copied in every step
  repeated_cast,          ///< unchanged data is converted in every step
  item_sync,              ///< a value is read back: .item(), .cpu() and similar
  synchronize,            ///< a synchronisation without reading a value
  logging_sync,           ///< printing or logging reads values back
  profiler_on,            ///< a profiler started by the program itself
  gil,                    ///< another thread held Python's interpreter lock
  tiny_kernels,           ///< kernels shorter than their launches
  unfused_attention,      ///< products and a softmax between them as separate kernels
  masked_attention,       ///< fused attention with a tensor as its mask, which skips nothing
  unfused_optimizer,      ///< parameters are updated one by one, in separate kernels
  allocation,             ///< memory is allocated or freed in the loop
  recompilation,          ///< code is compiled again during steady steps
  checkpointing,          ///< the forward pass is repeated in backward
  no_tf32,                ///< products in fp32 on the plain pipe
  double_precision,       ///< products in fp64
  unaligned_product,      ///< products with dimensions for which tensor cores are slow
  indexed_sum,            ///< sums by index that sort their indices first
  full_sort,              ///< a full sort, of which little is used
  unused_results,         ///< products of which little is used
  one_hot,                ///< indices are expanded to one-hot vectors, which a product multiplies
  padding,                ///< batches whose rows are padded: kernels compute on values that count for nothing
  fft_length,             ///< Fourier transforms of a length with a large prime factor
  layout_copy,            ///< copies that only change the layout of tensors
  small_batch,            ///< grids smaller than the GPU
  wait_disk,              ///< the launching thread waited for a file
  wait_network,           ///< the launching thread waited for a socket
  wait_queue,             ///< the launching thread waited for a pipe, a queue or another process
  wait_lock,              ///< the launching thread waited for another thread
  sleep,                  ///< the launching thread slept
  slow_steps,             ///< some steps are much slower than the others
  host_python,            ///< the launching thread ran this Python code
  host_native,            ///< the launching thread ran this native code
  module_load,            ///< modules were loaded
  launch_rate,            ///< launches are slower than their kernels, for no more specific reason
  fusion,                 ///< consecutive memory-bound kernels
  kernel,                 ///< a kernel below its roof
  memory_growth,          ///< memory in use grows from step to step
  fragmentation,          ///< much memory is reserved for little that is allocated
  out_of_memory,          ///< a request for memory failed
  host_memory_growth,     ///< memory of the host grows from step to step
  copies,                 ///< copies without overlap
  between_kernels,        ///< gaps of the GPU between kernels that were already queued
  late_stream,            ///< a stream waited for another one
  late_rank,              ///< a rank arrives last at the collectives because its host delays it
  slow_gpu,               ///< a rank arrives last because the same kernels take longer on its GPU
  unequal_work,           ///< a rank arrives last because it has more work
  serial_part,            ///< a rank arrives last because it alone does this work
  uneven_ranks,           ///< different ranks arrive last in turn
  uneven_hosts,           ///< the same, because their hosts launch at different times
  barrier,                ///< the host waits for all ranks in the loop
  exposed_communication,  ///< collectives without overlap
  small_messages,         ///< many collectives dominated by latency
  slow_link,              ///< collectives that do not use the fast link between the GPUs
  shared_gpu,             ///< a rank runs kernels on another rank's GPU, while its own is idle
  communication_hook,     ///< kernels of a hook that changes gradients before they are reduced
  new_communicators,      ///< communicators of ranks are made in the loop
  unknown_idle            ///< idle time without evidence of its cause
};
std::string_view to_string(SavingCause cause);  ///< "data_loading"
std::optional<SavingCause> parse_saving_cause(std::string_view text);

/// A potential saving and the action for it.
struct Saving {
  SavingKind kind = SavingKind::kernel;
  SavingCause cause = SavingCause::kernel;
  std::string line;      ///< "train.py:31 load_batch", the line that causes it; empty: unknown
  bool one_off = false;  ///< a single event, not part of every step
  double seconds = 0;    ///< upper bound, in wall time
  std::string what;      ///< "softmax_kernel at 31 % of its roof"
  std::string evidence;  ///< figures that support it
  std::string action;    ///< one action
  int point = -1;        ///< affected row; -1: none
  bool general = false;  ///< of a host's code of which no more is known than its line; not in files
};

/// Contents of a lane.
enum class LaneKind : std::uint8_t {
  stream,  ///< kernels, copies and memsets of a GPU's stream
  idle,    ///< idle times of a GPU, by cause
  calls,   ///< CUDA calls of a host thread
  samples  ///< activity of a host thread, from samples
};
std::string_view to_string(LaneKind kind);
std::optional<LaneKind> parse_lane_kind(std::string_view text);

/// A bar of the timeline.
struct Slice {
  double start_s = 0, end_s = 0;          ///< seconds from the start of the timeline
  int point = -1;                         ///< row of a kernel, or of what a call launches; -1: none
  std::string text = {};                  ///< for bars without a row: "copy, host to device"
  std::string line = {};                  ///< "train.py:31 load_batch"; empty: unknown, or that of its row
  std::optional<ThreadState> state = {};  ///< for samples, and for calls that wait for the GPU
  std::optional<SavingCause> cause = {};  ///< for idle time
  /// Number and total time of several short bars merged into one, which is named after those with the most time. 0: one
  /// bar.
  std::int64_t merged = 0;
  double busy_s = 0;
};
struct Lane {
  std::string name;  ///< "GPU 0, stream 7", "thread 4711"
  LaneKind kind = LaneKind::stream;
  std::vector<Slice> slices;

  bool host() const { return kind == LaneKind::calls || kind == LaneKind::samples; }
};
/// A typical step; without steps, the window with the most GPU work.
struct Timeline {
  double start_s = 0;  ///< seconds from the start of the recording
  double length_s = 0;
  std::vector<Lane> lanes;
  std::optional<std::int64_t> step = {};  ///< 0-based index among the steady steps; std::nullopt for a window
  std::int64_t hidden_threads = 0;        ///< sampled threads without a lane
};

struct ProfiledProcess {
  std::int64_t pid = 0;
  std::string command;
  std::int64_t launches = 0;  ///< seen
  std::int64_t kernels = 0;   ///< recorded
  std::int64_t dropped = 0;
  std::int64_t without_time = 0;
  bool torn = false;  ///< the process did not close its recording, or the spool is truncated: the last records are lost
  std::vector<std::string> notes;  ///< messages from the injected library
};

/// How steps were found: repetition of launches, NVTX ranges, or optimizer updates.
enum class StepSource : std::uint8_t { repetition, range, optimizer };
std::string_view to_string(StepSource source);
std::optional<StepSource> parse_step_source(std::string_view text);

/// Activities before the first step, seen from the host.
enum class StartUpPart : std::uint8_t {
  before_cuda,  ///< before it opens the CUDA driver: imports, reading files
  counting,     ///< profiler overhead
  loading,      ///< CUDA modules
  allocating,   ///< memory of the GPU
  compiling,    ///< compilation, from host samples, including the associated kernel tuning
  gpu,          ///< a GPU works while the host does none of these: initialisation, autotuning
  host          ///< everything else: Python, data; compilation if the host was not sampled
};
inline constexpr std::size_t kStartUpParts = 7;
std::string_view to_string(StartUpPart part);
std::optional<StartUpPart> parse_start_up_part(std::string_view text);

struct StartUpShare {
  StartUpPart part = StartUpPart::host;
  double seconds = 0;
};

struct SlowStep {
  std::int64_t number = 0;  ///< 0-based index among the steady steps
  double seconds = 0;
  std::string different;  ///< what it did more than a typical step; empty: nothing recorded
  bool apart = false;     ///< contains a single event far longer than any step: excluded from all figures
};

enum class BetweenWork {
  launched,          ///< work for the GPU, such as an evaluation
  saving,            ///< the program's state: checkpoints
  compiling,         ///< code for the GPU
  starting_workers,  ///< processes that prepare data, until their first item
  computing          ///< other code of the program, such as an evaluation on the host
};
std::string_view to_string(BetweenWork work);
std::optional<BetweenWork> parse_between_work(std::string_view text);

/// Recurring work between steps.
struct WorkBetweenSteps {
  BetweenWork work = BetweenWork::launched;
  double seconds = 0;  ///< without the profiler's time
  double share = 0;    ///< of the time from the first step to the last, without the profiler's
  std::int64_t times = 0;
  std::string line;    ///< that launches most of what no step launches, or does the host's work
  std::string action;  ///< against the host's work; empty for launched work
};

/// The steady, uncounted steps of a program: repetitions between start-up and end, without single events that took far
/// longer.
struct Steps {
  StepSource source = StepSource::repetition;
  std::int64_t count = 0;                      ///< number of uncounted steps, which all figures cover
  double median_s = 0, low_s = 0, high_s = 0;  ///< per step; 5th and 95th percentile
  Interval ci95 = {};                          ///< interval of the median
  double total_s = 0;                          ///< total of these steps, the whole of which savings are parts
  Interval mean_ci95 = {};                     ///< interval of total_s / count
  double start_up_s = 0, tear_down_s = 0;      ///< before the first and after the last of all steps
  std::vector<StartUpShare> start_up;          ///< parts of start_up_s, which they sum to, largest first
  double at_roof_s = 0;                        ///< per step: its kernels at their roofs; 0: unknown
  double launches = 0;                         ///< per step
  std::optional<double> untouched_s;           ///< median step outside the recording
  Interval untouched_ci95 = {};                ///< interval of that median
  std::vector<WallTime> devices;               ///< over these steps; the parts of each add up to total_s
  std::optional<WorkBetweenSteps> between;     ///< in none of the other figures
  std::vector<SlowStep> slow;
};

struct Profile {
  std::vector<std::string> program;  ///< argv
  std::string folder;                ///< working directory
  std::optional<int> exit_status;
  std::optional<int> signal;  ///< signal that ended it
  std::vector<ProfiledProcess> processes;

  std::optional<Steps> steps;
  std::string why_no_steps;          ///< empty if there are steps
  double wall_s = 0;                 ///< wall time of the recording
  std::optional<double> untraced_s;  ///< wall time of the program without the profiler
  std::optional<double> traced_s;    ///< wall time with the profiler, from start to end
  double counting_s = 0;             ///< part of wall_s spent on counting
  /// Fraction of wall_s in which everything was recorded. Below 1, rows and sums cover a sample of the steps, not the
  /// whole run.
  double recorded_share = 1;
  std::vector<WallTime> devices;
  double at_roof_s = 0;   ///< sum of attainable times, over the rows that have one
  double roofed_s = 0;    ///< time of those rows; all other rows have no roof
  double kernel_s = 0;    ///< sum of kernel times
  double counted_s = 0;   ///< part of kernel_s with all counter groups
  bool counters = false;  ///< requested and permitted
  std::string why_no_counters;

  std::vector<Saving> savings;  ///< largest first
  std::vector<CallSum> calls;
  std::vector<CopySum> copies;
  std::vector<TreeSum> ranges, modules;
  std::vector<LineSum> lines;
  double without_line_s = 0, without_module_s = 0;  ///< parts of kernel_s outside `lines` and root `modules`
  std::optional<Timeline> timeline;
  std::optional<HostProfile> host = {};  ///< std::nullopt if the host was not sampled
  MemoryProfile memory = {};
  std::optional<Ranks> ranks = {};           ///< set for several processes with collectives and steps
  KernelSamples instructions = {};           ///< GPU kernels
  std::optional<EmulatedRun> emulated = {};  ///< set for a CPU program with counted instructions
};

/// Slowdown caused by the profiler, without the time spent counting, as a fraction; std::nullopt if not measured.
std::optional<double> inflation(const Profile& profile);

}  // namespace roofline
