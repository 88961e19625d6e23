// The spool: what the library inside a profiled program writes, one file a process, and what `roofline profile` reads.
//
// A file is a sequence of records, each a Header, a struct of this file, and for some a tail of bytes; sizes are
// multiples of 8. It only grows, by whole writes, so that it is readable however the process ends: a record cut off at
// the end is no error. What is named by an id (texts, ranges, lines, places, kinds) is defined before its
// first use; id 0 is "none". Times are nanoseconds of CLOCK_MONOTONIC, on the host and on the GPU.
#pragma once

#include <cstdint>

namespace roofline::spool {

inline constexpr std::uint64_t kMagic = 0x314c4f4f50534652;  ///< "RFSPOOL1", the first 8 bytes of a file
/// A file is <folder>/<pid>.<start in ns>.spool. This variable names the folder; without it the library is inactive.
inline constexpr const char* kFolderVariable = "ROOFLINE_SPOOL";

/// Options that the parent passes to the library as environment variables; an absent one means the default.
inline constexpr const char* kWarmupVariable = "ROOFLINE_WARMUP_S";         ///< 0; from the first launch on
inline constexpr const char* kWindowVariable = "ROOFLINE_WINDOW_S";         ///< unlimited
inline constexpr const char* kCountTimeVariable = "ROOFLINE_COUNT_TIME_S";  ///< seconds that counting may cost; 0: none
inline constexpr const char* kRunVariable = "ROOFLINE_RUN";                 ///< "2/3": this is the second of three runs
inline constexpr const char* kPythonVariable = "ROOFLINE_PYTHON";           ///< "off": no lines, no modules
inline constexpr const char* kSpoolLimitVariable = "ROOFLINE_SPOOL_LIMIT";  ///< bytes a file; 1 GiB
/// "on": instructions are sampled in phases of a sampled recording; if there are more runs, for which those count.
inline constexpr const char* kInstructionsVariable = "ROOFLINE_INSTRUCTIONS";
/// "sample": the start-up and some steps, unless there is a window. Anything else: everything.
inline constexpr const char* kRecordVariable = "ROOFLINE_RECORD";

/// A file of this name in the folder lists what to count, a line each: id, scale, and the chip's names of it, best
/// first, separated by spaces ("dram.read_bytes 1 dram__bytes_read.sum dram__bytes_op_read.sum"). The library makes
/// groups of one pass from it, in this order.
inline constexpr const char* kMetricsFile = "metrics";
/// Extension of a recording: one file per process.
inline constexpr const char* kExtension = ".spool";
/// Code of the GPU whose instructions were sampled: one file for each module, which a GpuModule names.
inline constexpr const char* kCubinExtension = ".cubin";
/// When a file of this name appears in the folder, recording ends as at the end of a window.
inline constexpr const char* kStopFile = "stop";

enum class Type : std::uint16_t {
  process = 1,
  note,
  text,
  device,
  context,
  range,
  line,
  place,
  kind,
  launch,
  kernel,
  copy,
  fill,
  call,
  range_time,
  overhead,
  metric,
  counts,
  uncounted,
  tally,
  thread,
  copy_source,
  marker,
  marks,
  code_file,
  code,
  allocation,
  memory_use,
  rank,
  communicator,
  collective,
  gpu_module,
  stall_reason,
  instruction_samples,
  instruction_phase,
  variable,
};

struct Header {
  std::uint32_t size;  ///< of the record with this header and its tail, a multiple of 8
  Type type;
  std::uint16_t reserved;
};

using Id = std::uint32_t;

/// First record.
struct Process {
  std::uint64_t start;      ///< when the library was loaded
  std::uint64_t wall_zero;  ///< CLOCK_REALTIME minus CLOCK_MONOTONIC, ns
  std::uint32_t pid, parent_pid;
  std::uint32_t cupti_version;   ///< as cuptiGetVersion has it; 0: not found
  std::uint32_t driver_version;  ///< as cuDriverGetVersion has it
  // Tail: the command line, arguments separated by '\0'.
};

/// A message for the user, or the beginning or end of recording.
enum class NoteCode : std::uint32_t {
  recording = 1,  ///< trace is on: the sign of life
  not_traced,     ///< why nothing is recorded in this process
  not_counted,    ///< why nothing is counted in this process
  window_began,
  window_ended,
  spool_full,
  counting_ended,  ///< all kinds have their counts, or why the rest has not
  python,          ///< what of Python could be used: lines, modules
  remark,
  recording_ended,  ///< of a sampled recording: what is launched from here on is not recorded
  recording_began,  ///< what is launched from here on is recorded again
};
struct Note {
  std::uint64_t time;
  NoteCode code;
  std::uint32_t reserved;
  // Tail: the text.
};

struct Text {
  Id id;
  std::uint32_t length;
  // Tail: `length` bytes of UTF-8, padded with zeros.
};

struct Device {
  std::uint32_t index;  ///< as the process numbers it
  Id name;
  Id chip;  ///< as CUPTI names it ("GH100"); 0 if it was not queried
  std::uint32_t sms;
  std::uint8_t uuid[16];
  std::uint32_t compute_major, compute_minor;
  std::uint32_t threads_per_sm, blocks_per_sm, registers_per_sm, registers_per_block;
  std::uint32_t shared_per_sm, shared_per_block;
  std::uint32_t warps_per_sm, reserved;
  std::uint64_t memory_bytes;  ///< 0: unknown; absent in older recordings
};
/// Bytes of a device in recordings without the size of its memory.
inline constexpr std::uint32_t kDeviceWithoutMemory = 72;

struct Context {
  std::uint32_t id, device;
};

/// A node of the tree of NVTX ranges.
struct Range {
  Id id, parent;
  Id name, domain;  ///< texts; domain 0 is the default one
};

/// A line of the program's own Python code.
struct Line {
  Id id, file, function;
  std::uint32_t number;
};

/// Where launches come from.
struct Place {
  Id id;
  Id range;                ///< innermost push/pop range of the launching thread
  Id line;                 ///< of a backward launch: the line of its forward
  Id module;               ///< text: the module's path ("blocks.3.attn.qkv"); of a backward launch: of its forward
  std::uint32_t backward;  ///< 1 where autograd launched it
  Id operation;            ///< text: autograd's node ("AddmmBackward0"); 0 in forward
  Id code;                 ///< where `line` is 0: the call in the program's native code; absent in older recordings
  Id reserved;
};
/// Bytes of a place in recordings without native code.
inline constexpr std::uint32_t kPlaceWithoutCode = 24;

/// A program or library that native code is in.
struct CodeFile {
  Id id;
  Id path;      ///< text: as the process sees it
  Id build_id;  ///< text: hexadecimal digits; 0: it has none
  std::uint32_t reserved;
};

/// A call of CUDA in the program's native code.
struct Code {
  Id id, file;            ///< `file`: of a CodeFile
  std::uint64_t address;  ///< as the file is linked, of the last byte of the call
};

/// What launches of one signature share: the function, its geometry, its scalar parameters, the place.
struct Kind {
  Id id;
  Id name;  ///< text: the function's symbol, mangled
  std::uint32_t grid[3], block[3], cluster[3];
  std::uint32_t dynamic_shared;  ///< bytes
  std::uint64_t scalars;         ///< hash of the parameters that are no pointers; 0 where they are not known or vary
  Id place;
  std::uint32_t flags;  ///< KindFlag
};
enum KindFlag : std::uint32_t {
  kInGraph = 1,  ///< a kernel of a graph; its place is that of its capture
  kGraph = 2,    ///< a whole graph: `name` describes it ("graph of 42 kernels")
  /// Its scalar parameters vary, and were left out. The first few launches of such a family are kinds of their own,
  /// which have name, geometry and place in common with this one.
  kMerged = 4,
  kCooperative = 8,
  kUncountable = 16,  ///< on the list of what must not be serialised
  kColdCaches = 32    ///< of imported files: the tool flushes the caches before each launch
};

/// A launch by the host, of a kernel or of a graph.
struct Launch {
  std::uint64_t start, end;  ///< of the driver's call
  std::uint32_t correlation;
  Id kind;
  std::uint32_t thread;
  std::uint32_t flags;  ///< LaunchFlag
};
enum LaunchFlag : std::uint32_t {
  kCounted = 1,   ///< counters were read around it: its time is not the program's
  kCaptured = 2,  ///< into a graph; nothing ran
  /// Copies or converts memory that it copied before and that no launch, copy or memset has used since.
  kSameInput = 4,
};

/// A kernel that ran. `kind` is set for kernels of graphs; others have that of the launch with the same correlation.
struct Kernel {
  std::uint64_t start, end;  ///< 0: unknown
  std::uint32_t correlation;
  Id kind;
  std::uint32_t device, context, stream;
  std::uint32_t graph;  ///< 0: of no graph
  std::uint64_t graph_node;
  std::uint32_t registers;      ///< of a thread
  std::uint32_t static_shared;  ///< bytes of a block
  std::uint32_t local_bytes;    ///< of a thread
  std::uint32_t
      flags;  ///< LaunchFlag, of a kernel in a graph: kSameInput, if it had it when the graph was launched last
};

/// Kinds of memory that copies go between. `migrating`: the host's side of unified memory that the driver moves by
/// itself. `host`: host memory of unknown kind, from another tool's file.
enum class Memory : std::uint8_t { unknown, pageable, pinned, device, array, managed, migrating, host };

struct Copy {
  std::uint64_t start, end;
  std::uint64_t bytes;
  std::uint32_t correlation;
  std::uint32_t device, context, stream;
  std::uint32_t peer;  ///< destination's device, of a copy between two; else `device`
  Memory from, to;
  std::uint8_t asynchronous, reserved;
  std::uint32_t graph;
  Id place;  ///< of the call
};

/// A memset.
struct Fill {
  std::uint64_t start, end;
  std::uint64_t bytes;
  std::uint32_t correlation;
  std::uint32_t device, context, stream;
  std::uint32_t graph;
  Id place;
};

enum class CallKind : std::uint32_t {
  other,
  launch,
  graph_launch,
  copy,
  fill,
  synchronise,
  allocate,
  release,
  load,
  event
};

/// A call of the driver that is worth summing; launches are not in here.
struct Call {
  std::uint64_t start, end;
  std::uint32_t correlation;
  Id name;  ///< text: "cuStreamSynchronize"
  CallKind kind;
  std::uint32_t thread;
  Id place;
  std::uint32_t reserved;
};

/// A push/pop range that has ended.
struct RangeTime {
  std::uint64_t start, end;
  Id range;
  std::uint32_t thread;
};

/// `what` of time that the program waited for our counters.
inline constexpr const char* kCountingOverhead = "reading counters";

/// `what` of time in which instructions were sampled: launches take longer then.
inline constexpr const char* kInstructionsOverhead = "sampling instructions";

/// `what` of time in which the driver loaded or compiled code on its first use.
inline constexpr const char* kModuleLoading = "module loading";
inline constexpr const char* kLazyLoading = "lazy function loading";
inline constexpr const char* kDriverCompilation = "compilation by the driver";

/// Overhead of CUPTI or the driver, by CUPTI's name: "lazy function loading", "buffer flush".
struct Overhead {
  std::uint64_t start, end;
  Id what;
  std::uint32_t reserved;
};

/// A quantity of the metrics file, as this chip has it. Groups are numbered from 0 on.
struct Metric {
  std::uint32_t index;  ///< into Counts's values of its group
  std::uint32_t group;
  Id quantity;  ///< text: "dram.read_bytes"
  Id name;      ///< text: the chip's; 0 where it has none, and then `group` and `index` mean nothing
};

/// One counted launch of a kind.
struct Counts {
  Id kind;
  std::uint32_t group;
  std::uint32_t correlation;
  std::uint32_t values;  ///< how many follow
  // Tail: that many doubles, scaled to the quantity's unit; NaN if the chip gave none.
};

/// A kind that will have no counts, and why; also where only some of its groups are missing.
struct Uncounted {
  Id kind, reason;
};

/// Sums since the beginning, written a few times per second and at the end.
struct Tally {
  std::uint64_t time;
  std::uint64_t launches;      ///< of kernels and graphs seen by the callbacks, captured ones left out
  std::uint64_t kernels;       ///< records of kernels written
  std::uint64_t dropped;       ///< records that CUPTI dropped
  std::uint64_t without_time;  ///< kernels without timestamps
  std::uint64_t counting;      ///< ns that counting has cost the program
  std::uint64_t last;          ///< 1: the process has ended in order
};

struct Thread {
  std::uint32_t id;  ///< as in other records: the system's
  Id name;
};

/// The host memory that a copy of at least 1 KiB to a device reads, at the time of the call.
struct CopySource {
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t digest;  ///< of all bytes up to 16 KiB, of larger sources of 32 cache lines; 0: no information
  std::uint32_t correlation;
  std::uint32_t padding;  ///< thousandths of its values that pad its rows (padding.hpp); 0: none, or unknown
};

/// `call` of a marker that is a launch of a graph.
inline constexpr const char* kGraphLaunchCall = "cuGraphLaunch";

/// A call of the driver, or launches of one function with one grid and block, that is followed while nothing is
/// recorded because it occurs in every step.
struct Marker {
  Id id;
  Id kind;  ///< that has this function, grid and block; 0: not a launch of a kernel
  Id call;  ///< text: "cuMemcpyHtoDAsync"; 0: a launch
  std::uint32_t reserved;
};

/// The interval between two marks while nothing is recorded.
struct Marks {
  std::uint64_t start, end;
  Id marker;
  std::uint32_t marks;      ///< in the interval, the one at `end` included
  std::uint32_t callbacks;  ///< that CUPTI made in the interval to find them
  std::uint32_t reserved;
};

/// The allocator of memory, and the memory's place.
enum class MemoryPool : std::uint8_t {
  torch,    ///< PyTorch's caching allocator: memory of a GPU, out of what it has reserved
  device,   ///< CUDA: memory of a GPU, what caching allocators reserve included
  managed,  ///< CUDA: unified memory
  pinned    ///< CUDA: page-locked memory of the host
};
inline constexpr std::uint8_t kMemoryPools = 4;

enum class MemoryEvent : std::uint8_t {
  allocated,
  freed,  ///< what an earlier Allocation has; also while nothing is recorded
  failed  ///< out of memory; `bytes` were requested
};

/// Memory that is allocated while everything is recorded, its end, and each request that fails.
struct Allocation {
  std::uint64_t time;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t allocated, reserved;  ///< of this pool on this device, afterwards
  std::uint32_t device, thread;
  Id place;  ///< of PyTorch's allocator: of the next launch or copy of the thread, which is the same operation's
  MemoryPool pool;
  MemoryEvent event;
  std::uint16_t unused;
};

/// Memory in use in an interval, also while nothing is recorded.
struct MemoryUse {
  std::uint64_t start, end;
  std::uint64_t allocated, reserved;  ///< at the end
  std::uint64_t least_allocated, most_allocated, most_reserved;
  std::uint32_t device;
  MemoryPool pool;
  std::uint8_t unused[3];
};

/// Which process of a job this is, by the environment that its launcher gave it. Absent without a launcher.
struct Rank {
  std::uint32_t rank, local_rank;
  std::uint32_t ranks;  ///< of the job; 0: unknown
  Id launcher;          ///< text: "torchrun"
  Id host;              ///< text: the node's name
  std::uint32_t cpus;   ///< that the process may run on when it begins to use the GPU; 0: unknown
};

/// A communicator of NCCL in this process.
struct Communicator {
  std::uint64_t hash;  ///< the same in all of its ranks, and no other communicator's; 0: made before calls were seen
  Id id;
  std::uint32_t rank, ranks;  ///< this process's number in it, and the number of all; `ranks` 0: unknown
  std::uint32_t reserved;
};

/// A variable of the environment that sets how NCCL transfers data, when the process made its first communicator.
struct Variable {
  Id name, value;  ///< texts
};

enum class CollectiveKind : std::uint32_t {
  other,
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  send_recv
};

/// A call of NCCL, or several calls of one kind in a group, which become one kernel.
struct Collective {
  std::uint64_t start, end;  ///< from the call to the launch of its kernel; of a group: to the group's end
  std::uint64_t sequence;    ///< of this kind of matching in its communicator, from the program's start on
  std::uint64_t bytes;       ///< of this rank's larger buffer, all calls together
  Id communicator;
  CollectiveKind kind;
  std::uint32_t calls;
  std::uint32_t correlation;  ///< of the launch of its kernel; 0: none was recorded
  std::uint32_t thread;
  std::uint32_t flags;  ///< CollectiveFlag
};
enum CollectiveFlag : std::uint32_t {
  kGrouped = 1,  ///< called within ncclGroupStart and ncclGroupEnd
  kShared = 2,   ///< its kernel does other collectives of the group, too
};

/// GPU code that was loaded, in its own file in the folder.
struct GpuModule {
  std::uint64_t code;  ///< CUPTI's checksum of it, by which samples name it
  Id file;             ///< text: the file's name
  std::uint32_t reserved;
};

/// The reason for a warp's state, by CUPTI's name ("smsp__pcsamp_warps_issue_stalled_wait").
struct StallReason {
  std::uint32_t index;
  Id name;
};

/// How often warps were found at an instruction in a phase, for one reason.
struct InstructionSamples {
  std::uint64_t code;    ///< of a GpuModule, or of one that was not kept
  std::uint64_t offset;  ///< bytes from the start of the function
  std::uint64_t samples;
  Id function;           ///< text: its symbol, mangled
  std::uint32_t reason;  ///< index of a StallReason
};

/// A time in which instructions were sampled, on one GPU.
struct InstructionPhase {
  std::uint64_t start, end;
  std::uint64_t samples;    ///< all that the GPU took
  std::uint64_t dropped;    ///< of them, by the GPU for lack of room
  std::uint64_t elsewhere;  ///< of them, in code of which nothing is known
  std::uint32_t device;     ///< as the process numbers it
  std::uint32_t period;     ///< cycles from sample to sample of an SM
};

template <typename... Record>
constexpr bool keep_alignment() {
  return ((sizeof(Record) % 8 == 0) && ...);
}
static_assert(keep_alignment<Header, Process, Note, Text, Device, Context, Range, Line, Place, Kind, Launch, Kernel,
                             Copy, Fill, Call, RangeTime, Overhead, Metric, Counts, Uncounted, Tally, Thread,
                             CopySource, Marker, Marks, CodeFile, Code, Allocation, MemoryUse, Rank, Communicator,
                             Collective, GpuModule, StallReason, InstructionSamples, InstructionPhase, Variable>());

}  // namespace roofline::spool
