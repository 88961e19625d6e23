// The table of rules. Each has the source of its threshold; `kMeasured`: this machine's own roofs.
#include "report/diagnosis/rules.hpp"

#include "model/contention.hpp"
#include "report/roof_share.hpp"

namespace roofline {
namespace {

constexpr Condition below(std::string_view quantity, double threshold) {
  return {quantity, Relation::below, threshold};
}
constexpr Condition above(std::string_view quantity, double threshold) {
  return {quantity, Relation::above, threshold};
}
constexpr Condition is(std::string_view flag, bool value = true) { return {flag, Relation::is, value ? 1.0 : 0.0}; }

constexpr std::optional<DeviceKind> kAny;
constexpr std::optional<DeviceKind> kGpu = DeviceKind::cuda;
constexpr std::optional<DeviceKind> kCpu = DeviceKind::cpu;

constexpr std::string_view kNsight = "Nsight Compute, Kernel Profiling Guide";
constexpr std::string_view kBestPractices = "CUDA C++ Best Practices Guide";
constexpr std::string_view kField = "common rule of thumb";
constexpr std::string_view kMeasured = "measured roofs of this machine";
constexpr std::string_view kExperiment = "re-run of this row with one change (docs/method.md)";
constexpr std::string_view kCheckStated = "Count (--counters) to check what its author states.";
constexpr std::string_view kSampled = "samples of its instructions, while it ran in the program";
constexpr std::string_view kStatistics = "confidence interval of the median (docs/method.md)";

/// A kernel far above its roof is a finding of another kind: a cache served it, or the model counts too much.
constexpr double kFarAboveRoof = 1.1;
/// Fraction of the rate that the calibration's sweep reached for the same message size.
constexpr double kAsCalibrated = 0.85;

/// Also without a known roof; only for rows whose instructions were sampled.
constexpr Condition kNotAtRoof = is("roof.reached", false);
constexpr Condition kUnderRoof = below("roof.fraction", kAtRoof);
constexpr Condition kNearRoof = above("roof.fraction", kAtRoof);
constexpr Condition kNotFarAbove = below("roof.fraction", kFarAboveRoof);
constexpr Condition kCounted = is("counted");
constexpr Condition kNotCounted = is("counted", false);
/// Bank conflicts would be seen by their own rule.
constexpr Condition kSharedNotCounted = is("shared.counted", false);
constexpr Condition kMemoryBound = is("memory.bound");
constexpr Condition kComputeBound = is("compute.bound");
/// No cache holds the data of a hot row.
constexpr Condition kFromMemory = is("cached", false);
constexpr Condition kAlone = is("product", false);
constexpr Condition kWithProduct = is("product");
/// With less than one wave, there are no more blocks for an SM.
constexpr Condition kFullWave = above("waves", 0.99);
/// SMs without a block matter only where they are a good part of what is missing.
constexpr Condition kIdleSms = above("blocks.explains", 0.25);
/// The access pattern matters only if a memory level is busy.
constexpr Condition kMemoryMatters = above("levels.utilization", 0.3);
/// At the roof of main memory, excess bytes cost time only if they come from there.
constexpr Condition kExcessCosts = is("excess.costs");
/// Warps of a library's kernel wait by design: those that multiply for those that load.
constexpr Condition kOwnKernel = is("library", false);
/// Excess bytes cost time only where DRAM is what the other levels wait for.
constexpr Condition kDramLimits = above("memory.utilization", 0.5);
/// A core that needs this much of the time by itself, with its data in L2, leaves memory little to hide.
constexpr double kCoreLimits = 0.85;
/// The instructions matter if the core itself takes most of the time.
constexpr Condition kCoreTime = above("experiment.in_cache.share", 0.6);
/// The slowest thread's CPU time over the mean.
constexpr double kUneven = 1.25;
/// Ratio of CPU times; SMT siblings and shared caches cost less than that.
constexpr double kSharing = 2;
/// Visits to a cache line until all of it was used: four elements of fp32 in each.
constexpr double kRevisited = 4;
/// A memory-bound loop below this share of its roof waits for something else than bytes.
constexpr double kBusyLevel = 0.4;
/// Fraction of the scalar rate of two FMAs per cycle. A dependency chain with a latency of four cycles reaches 0.125.
constexpr double kChainRate = 0.15;
/// Loops of programs have rules of their own.
constexpr Condition kOfSuite = is("loop.counted", false);
constexpr Condition kNoTensorWork = is("tensor.executed", false);

constexpr std::string_view kIdleMachine = "Re-run on an idle machine; this time does not characterise the kernel.";
constexpr std::string_view kTimeLonger = "Time it longer (--max-time) once clock and other load have settled.";
constexpr std::string_view kAtThatClock =
    "Compare only kernels at this clock. Moving fewer bytes and recomputing less saves power.";
constexpr std::string_view kMeasureFirst =
    "Count (--counters) if this machine allows it, or let experiments run (without --no-experiments).";
constexpr std::string_view kLaterCalibration = "Calibrate again on an idle machine.";
constexpr std::string_view kCoalesce =
    "Let consecutive threads read consecutive addresses; stage strided data through shared memory.";
constexpr std::string_view kLibraryStream =
    "Library kernel. Options: fuse it with adjacent ops (torch.compile, cupy.fuse, an epilogue), or a layout that "
    "avoids it.";
constexpr std::string_view kCoalesceStores =
    "Let consecutive threads write consecutive addresses (an array per field, or a transpose in shared memory first).";
constexpr std::string_view kLibraryAtomics =
    "Library kernel. Options: sort by index and reduce segments, count (bincount), multiply by a one-hot matrix, "
    "or more rows to add to.";
constexpr std::string_view kLibraryDouble =
    "If single precision is enough: arrays in fp32 (.float(), torch.set_default_dtype; NumPy's are float64).";
constexpr std::string_view kLibraryLoop =
    "Library code. Options: call it less often, for more data per call, or use another one.";
constexpr std::string_view kFlush =
    "Flush them to zero (-ffast-math, or _MM_SET_FLUSH_ZERO_MODE in each thread), or rescale the data.";
constexpr std::string_view kLibraryGrid = "Grid size follows the problem size: batch more work per call.";

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kRules[] = {
    // Unused threads come first: the row uses only part of the machine. Using them saves nothing if one core reaches
    // the roof of all, or if starting them takes longer than the row.
    {kSomeThreads, kCpu, {below("threads.used_share", 0.999), is("above_roof", false), above("threads.saving", 0.05)},
     "Ran on {threads.used} of {threads.of} threads:[ {roof.on_own_threads} of their roof,] {roof.on_all_threads} of the "
     "roof of all threads.",
     "Use all threads (launch, threads: all) and pass the thread's index; threads: own for OpenMP or std::thread.",
     kMeasured},
    // Disturbances of the machine precede causes in the kernel, unless the kernel is at its roof anyway.
    {"disturbed", kAny, {above("time.lost", 0.005), kUnderRoof},
     "Other processes or a clock limiter took up to {time.lost} of processor time.", kIdleMachine, kMeasured,
     RuleKind::measure},
    {"slow-machine", kCpu, {below("pace", kSlowReference), kUnderRoof},
     "Background slowdown: the machine reached {pace} of its roofs (copy {pace.copy}, FMA {pace.arithmetic}). "
     "Cause unknown: another tenant, power or temperature.",
     "Re-run on an idle machine; calibrate again if the slowdown persists.", kMeasured, RuleKind::measure},
    {"at-the-pace", kCpu, {above("roof.at_pace", kAtRoof), below("pace", 0.95), kUnderRoof},
     "Reaches {roof.fraction} of its roof, and {roof.at_pace} of the rate of the reference probe beside it.",
     "Re-run on an idle machine: background slowdown limits this kernel.", kMeasured, RuleKind::measure},
    {"throttled", kGpu, {below("clock.share", 0.9), kComputeBound},
     "The SM clock was {clock}, {clock.share} of its maximum: power or temperature limited it.", kAtThatClock,
     kMeasured, RuleKind::note},
    {"throttled", kCpu, {below("clock.share", 0.9), kComputeBound},
     "The core clock was {clock}, {clock.share} of its maximum: power, temperature or wide vectors limited it.",
     kAtThatClock, kMeasured, RuleKind::note},
    {"few-threads", kCpu, {below("threads.share", 0.9)},
     "Kernel and roofs used {threads.of} threads; the machine has {cores} cores.",
     "Calibrate and run on all cores (--threads).", kMeasured, RuleKind::note},
    {"from-cache", kGpu, {below("dram.over_model", 0.8), kMemoryBound, kFromMemory},
     "DRAM moves {dram.over_model} the modelled bytes; caches serve the rest.",
     "Compare with the L2 roof, or use inputs larger than L2.", kMeasured, RuleKind::note},
    {"from-cache", kCpu, {below("dram.over_model", 0.8), kMemoryBound, kFromMemory},
     "DRAM moves {dram.over_model} the modelled bytes; caches serve the rest.",
     "Compare with the roof of the last cache level, or use larger inputs.", kMeasured, RuleKind::note},
    // Then the precision of the time: advice must not rest on an uncertain figure.
    {"drifting", kAny, {is("drifting")},
     "Not stationary: the time still changed when sampling ended (5 to 95 % quantile: {time.q05} to {time.q95}).",
     kTimeLonger, kStatistics, RuleKind::measure},
    {"no-interval", kAny, {is("interval.known", false), is("samples.close", false)},
     "No confidence interval: {samples} samples, effective sample size {samples.effective} (autocorrelated), "
     "5 to 95 % quantile {time.q05} to {time.q95}.",
     kTimeLonger, kStatistics, RuleKind::measure},
    {"wide-interval", kAny, {above("interval.width", kWidestInterval)},
     "The 95 % confidence interval spans {interval.width} of the median.", kTimeLonger, kStatistics,
     RuleKind::measure},
    {"not-cold", kAny, {is("not_cold")},
     "Working set partly cached: faster than main memory's peak bandwidth allows.",
     "Use a larger problem, or time it hot (--cache hot) against the cache's roof.", kMeasured, RuleKind::measure},
    {"partly-cached", kCpu, {is("partly_cached")},
     "Reaches {roof.fraction} of main memory's roof: caches serve a part of its working set ({cache.multiple} the last "
     "cache).",
     "Time it cold (cache: cold), or with a working set that fits a cache.", kMeasured, RuleKind::measure},
    {"partly-cached", kGpu, {is("partly_cached")},
     "Reaches {roof.fraction} of main memory's roof: the L2 cache holds part of the bytes that its model counts.",
     "No action: only less work makes it faster (fusion, a smaller type, fewer bytes).", kField, RuleKind::at_roof},
    {"above-paired-roof", kCpu, {is("above_roof"), is("paired")},
     "Reaches {roof.fraction} of its roof, timed in alternation with the roof's probe: the probe or the work model is "
     "wrong.",
     "Compare the probe's variant with a faster loop. Then check what its work model counts.", kMeasured,
     RuleKind::measure},
    // Excess traffic precedes the roof that it fills and the waits that it causes. A load of one address by all threads
    // uses little of its one sector, but no other order would improve it.
    {"uncoalesced-loads", kGpu,
     {above("load.excess", 1.5), above("load.sectors", 2), above("load.share", 0.2), kMemoryMatters, kExcessCosts},
     "Uncoalesced loads fetch {load.excess} the requested bytes ({load.sectors} sectors per request).", kCoalesce,
     kBestPractices, RuleKind::cause, kLibraryStream, "load.explains"},
    // Each sector takes a slot in the load queue, however few bytes cross a level for it.
    {"scattered-loads", kGpu, {above("load.excess", 4), above("load.sectors", 8), is("load.queue")},
     "Scattered loads take {load.sectors} sectors per request ({load.excess} the requested bytes).", kCoalesce,
     kBestPractices, RuleKind::cause, kLibraryStream, "load.explains"},
    {"uncoalesced-stores", kGpu,
     {above("store.excess", 1.5), above("store.sectors", 2), above("store.share", 0.2), kMemoryMatters, kExcessCosts},
     "Uncoalesced stores touch {store.excess} the written bytes ({store.sectors} sectors per request).", kCoalesceStores,
     kBestPractices, RuleKind::cause, kLibraryStream, "store.explains"},
    {"scattered-stores", kGpu, {above("store.excess", 4), above("store.sectors", 8), is("store.queue")},
     "Scattered stores take {store.sectors} sectors per request ({store.excess} the written bytes).", kCoalesceStores,
     kBestPractices, RuleKind::cause, kLibraryStream, "store.explains"},
    {"above-suspect-roof", kAny, {is("above_roof"), is("roof.suspect")},
     "Reaches {roof.fraction} of a roof that failed its audit: the true roof is higher.", kLaterCalibration, kMeasured,
     RuleKind::measure},
    {"above-provisional-roof", kAny, {is("above_roof"), is("roof.provisional")},
     "Reaches {roof.fraction} of a provisional roof: the true roof is higher.", kLaterCalibration, kMeasured,
     RuleKind::measure},
    {"above-roof", kAny, {is("above_roof")},
     "Reaches {roof.fraction} of its roof, beyond both intervals: the roof or the work model is wrong.",
     "Calibrate again. If it persists, the work model counts too much.", kMeasured, RuleKind::measure},
    {"suspect-roof", kAny, {is("roof.suspect"), kNearRoof},
     "Reaches {roof.fraction} of a roof that failed its audit; the true roof is not known.", kLaterCalibration,
     kMeasured, RuleKind::measure},
    // Samples of instructions: they need no roof, and say at which line.
    {"local-memory-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.local_memory.share", 0.2)},
     "Warps spend {wait.local_memory.share} of their time waiting for local memory: spilled registers, or an array "
     "that is indexed at run time.",
     "Index arrays with constants (unrolled loops) or keep them in shared memory. Against spills: smaller tiles, or more "
     "registers per thread (__launch_bounds__, -maxrregcount).",
     kSampled, RuleKind::cause, {}, "wait.local_memory.share"},
    {"global-atomic-waits", kGpu, {kNotAtRoof, above("wait.global_atomic.share", 0.25)},
     "Warps spend {wait.global_atomic.share} of their time waiting for atomic operations on global memory.",
     "Combine values in registers (shuffles) and shared memory first, then one atomic per block; spread the addresses.",
     kSampled, RuleKind::cause, kLibraryAtomics, "wait.global_atomic.share"},
    {"shared-atomic-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.shared_atomic.share", 0.25)},
     "Warps spend {wait.shared_atomic.share} of their time waiting for atomic operations on shared memory.",
     "Give each warp, or each lane, counters of its own and add them up at the end; combine equal keys in a warp first.",
     kSampled, RuleKind::cause, {}, "wait.shared_atomic.share"},
    {"fence-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.fence.share", 0.15)},
     "Warps spend {wait.fence.share} of their time waiting for memory fences.",
     "Use one fence after the last store, of the smallest scope that works (__threadfence_block), or none.", kSampled,
     RuleKind::cause, {}, "wait.fence.share"},
    {"constant-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.constant.share", 0.25)},
     "Warps spend {wait.constant.share} of their time waiting for constant memory: reads of different addresses "
     "within a warp are serialised.",
     "Put tables that lanes index differently into shared or global memory.", kSampled, RuleKind::cause, {}, "wait.constant.share"},
    {"double-among-single", kGpu, {kNotAtRoof, kOwnKernel, is("fp64.mixed"), above("wait.double.share", 0.3)},
     "Computes in double precision between values of single precision: conversions, divisions and FP64 operations take "
     "{wait.double.share} of its warps' time.",
     "If single precision is meant: constants with an f (0.5f) and functions of float.", kSampled, RuleKind::cause, {},
     "wait.double.share"},
    {"division-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.division.share", 0.3)},
     "Warps spend {wait.division.share} of their time in divisions, remainders, or functions that replace an "
     "instruction.",
     "Divide once outside the loop, by a constant or a power of two; multiply by a reciprocal; index in 32 bits.",
     kSampled, RuleKind::cause, {}, "wait.division.share"},
    {"fp64-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.fp64.share", 0.3)},
     "Warps spend {wait.fp64.share} of their time waiting for the double precision pipe.",
     "If single precision is meant: constants with an f (0.5f) and functions of float; else fewer FP64 operations.",
     kSampled, RuleKind::cause, {}, "wait.fp64.share"},
    {"special-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.special.share", 0.2)},
     "Warps spend {wait.special.share} of their time waiting for special functions (exponentials, reciprocals, "
     "roots).",
     "Compute them once per value, in half precision, or a part of them as polynomials on the FP32 pipe.", kSampled,
     RuleKind::cause, {}, "wait.special.share"},
    {"conversion-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.conversion.share", 0.2)},
     "Warps spend {wait.conversion.share} of their time waiting for conversions between integers, single and double "
     "precision.",
     "Convert once per value. A constant without an f (0.5) makes single precision arithmetic double: write 0.5f.",
     kSampled, RuleKind::cause, {}, "wait.conversion.share"},
    {"shared-memory-waits", kGpu, {kNotAtRoof, kOwnKernel, kSharedNotCounted, above("wait.shared.share", 0.4)},
     "Warps spend {wait.shared.share} of their time waiting for shared memory: bank conflicts, or many narrow "
     "accesses.",
     "Let the lanes of a warp access different banks (a row length of 33 instead of 32, or a swizzle); load 16 bytes at a "
     "time; keep values in registers.",
     kSampled, RuleKind::cause, {}, "wait.shared.share"},
    {"result-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.latency.share", 0.5), below("wait.ready.share", 0.1)},
     "Warps spend {wait.latency.share} of their time waiting for the preceding result or a constant: a chain of "
     "dependent instructions, with too few other warps.",
     "Use several independent accumulators per thread, and more warps per SM.", kSampled, RuleKind::cause, {},
     "wait.latency.share"},
    {"immediate-constant-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.immediate.share", 0.3)},
     "Warps spend {wait.immediate.share} of their time waiting for constants of instructions (kernel arguments, "
     "__constant__ data, literals) that miss the immediate constant cache.",
     "Keep a loop's constants in registers (fewer constants, less unrolling); more warps per SM hide the latency.", kSampled,
     RuleKind::cause, {}, "wait.immediate.share"},
    {"barrier-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.barrier.share", 0.25)},
     "Warps spend {wait.barrier.share} of their time at barriers, waiting for late warps of the block.",
     "Give all warps of a block equal work between barriers; else smaller blocks, or several blocks per SM.", kSampled,
     RuleKind::cause, {}, "wait.barrier.share"},
    // Warps do not wait for an atomic addition whose result is unused. Instead, loads wait behind it in the memory queue.
    {"atomic-queues", kGpu,
     {is("atomics.sampled"), above("atomic.share", 0.15), below("roof.fraction", 0.3), below("levels.utilization", 0.3)},
     "Atomic operations ({atomic.share} of its L1 traffic) at few addresses are serialised, and loads wait behind them.",
     "Combine values in registers (shuffles) and shared memory first, then one atomic per block; spread the addresses.",
     kSampled, RuleKind::cause, kLibraryAtomics},
    // Divergent branches of a warp are serialised. If memory limits the kernel, idle lanes cost nothing.
    {"divergence", kGpu,
     {kUnderRoof, kOwnKernel, below("lanes.active", 22), below("levels.utilization", 0.5), above("blocks.per_sm", 1)},
     "{lanes.active} of a warp's 32 threads are active per instruction: divergent branches, or threads without work.",
     "Let all threads of a warp take the same branch: group elements by kind, or compute both values without a branch.",
     kBestPractices},
    // Kernels whose samples don't say so.
    {"atomic-adds", kGpu, {is("adds_by_index"), above("atomic.share", 0.3), below("roof.fraction", 0.3)},
     "Atomic additions at given indices ({atomic.share} of its L1 traffic) are serialised where indices are equal.",
     "Combine values in registers and shared memory first, then one atomic per block.", kField, RuleKind::cause,
     kLibraryAtomics},
    {"double-precision", kGpu, {is("fp64.mixed"), above("fp64.busy", 0.3), above("fp64.needless", 0.15)},
     "Computes in double precision ({fp64.busy} busy); single precision is {fp64.rate} as fast on this GPU.",
     "If single precision is enough: float variables and accumulators (Triton: tl.float32), constants with an f (0.5f).",
     kMeasured, RuleKind::cause, kLibraryDouble},
    {"roofless", kAny, {is("roof.known", false)}, "No measured roof applies to this kernel.",
     "Count its work (--counters), or calibrate the resource that it uses.", kMeasured, RuleKind::no_roof},
    // Collectives, alone or with their product. The calibration's sweep gives the attainable rate of a message size.
    {"at-latency", kGpu, {is("network.latency.bound"), kNearRoof, kNotFarAbove},
     "Reaches {roof.fraction} of its roof, the latency of its collective.",
     "Merge messages: latency is below 10 % from {network.enough} on. Small ones: one-shot kernels over peer memory.",
     kMeasured, RuleKind::at_roof},
    {"at-link", kGpu, {is("network.bound"), kNearRoof, kNotFarAbove},
     "Reaches {roof.fraction} of the link roof ({network.bus} bus bandwidth).",
     "Send less or overlap it: a smaller type, reduce_scatter and all_gather (sequence parallelism), gradient "
     "accumulation.",
     kMeasured, RuleKind::at_roof},
    {"below-link", kGpu, {kUnderRoof, kAlone, below("network.of_size", kAsCalibrated)},
     "Bus bandwidth {network.bus}, {network.of_size} of the calibrated rate at this message size.",
     "Check NCCL's choices with NCCL_DEBUG=INFO: P2P over NVLink, algorithm, protocol, channels. Unset "
     "NCCL_P2P_DISABLE, NCCL_ALGO, NCCL_PROTO and NCCL_MAX_NCHANNELS. Then look for other traffic on the links.",
     kMeasured},
    {"message-size", kGpu, {kUnderRoof, kAlone, above("network.of_size", kAsCalibrated)},
     "The message size limits it: {network.message} was no faster in calibration; latency is "
     "{network.latency.share} of the time.",
     "Merge messages (buckets, flattened tensors): latency is below 10 % from {network.enough} on. Small ones: a "
     "CUDA graph, or one-shot kernels over peer memory.",
     kMeasured},
    {"exchange-latency", kGpu,
     {kUnderRoof, kWithProduct, above("network.need", 0.2), above("network.latency.part", 0.5)},
     "The collective takes {network.need} of the time, more than half of it latency ({network.latency.share}).",
     "Exchange less often: one-shot all_reduce over peer memory fused with the next norm, one exchange per layer, more "
     "tokens per step.",
     kMeasured},
    // If two activities overlap, their separate times add up to more than the total.
    {"takes-turns", kGpu,
     {kUnderRoof, kWithProduct, above("overlap.gain", 0.1), above("apart.share", 0.7), below("apart.share", 1.1)},
     "Product and collective do not overlap: alone they need {product.share} and {network.need} of the time.",
     "Overlap saves up to {overlap.gain}: split the product by rows, send chunks on another stream (NCCL_MAX_CTAS). "
     "Or use async tensor parallelism (Transformer Engine, cuBLASMp).",
     kMeasured},
    // The floor is that of empty kernels in a row. A kernel that reads and writes a little takes twice that on an H200.
    {"launch-bound", kGpu, {above("launch.share", 0.35)}, "Launch overhead is {launch.share} of the time.",
     "Fuse kernels, launch them as one CUDA graph, or increase the problem size.", kMeasured},
    {"launch-bound", kCpu, {above("launch.share", 0.35)},
     "Starting and joining threads takes {launch.share} of the time.",
     "Fuse it with adjacent ops, increase the problem size, or use fewer threads.", kMeasured},
    {"transfer-bound", kGpu, {above("transfer.share", 0.5)},
     "Transfers over PCIe or NVLink take {transfer.share} of the time.",
     "Keep the data on the device, overlap copies with kernels, or use pinned memory.", kMeasured},
    // Loops of a program that was counted under emulation. Threads and unused bytes come before the roof that is reached
    // in spite of them.
    {"serial-part", kCpu,
     {below("loop.together", 1.3), above("loop.program_threads", 1.7), above("loop.parallel_saving", 0.05)},
     "It runs on {loop.together} of {loop.program_threads} threads at a time.",
     "Divide its iterations over the threads (#pragma omp parallel for), or overlap it with other work.", kMeasured},
    {"uneven-loop", kCpu, {above("loop.busiest", kUneven), above("loop.together", 1.3)},
     "Its busiest thread runs it for {loop.busiest} the mean time of its threads.",
     "Give threads equal work: smaller chunks, scheduled dynamically (schedule(dynamic, n)).", kMeasured},
    {"falsely-shared-loop", kCpu, {kUnderRoof, above("loop.falsely_shared", 0.05), above("loop.together", 1.3)},
     "{loop.falsely_shared} of its accesses go to cache lines in which other threads write other bytes (false "
     "sharing).",
     "Sum in a local variable and store once, or pad each thread's data to a cache line of its own (alignas(64)).",
     kMeasured},
    {"partial-lines-loop", kCpu,
     {kMemoryBound, is("loop.beyond_l1"), below("loop.line_use", 0.5), above("roof.fraction", kBusyLevel)},
     "It uses {loop.line_use} of the bytes that it fetches, and reaches {roof.fraction} of its memory roof.",
     "Make consecutive accesses adjacent: another loop order, arrays of each field (SoA), or blocks (tiles).",
     kMeasured},
    {"good-enough", kAny, {kNearRoof, kNotFarAbove}, "Reaches {roof.fraction} of its roof.",
     "No action: only less work makes it faster (fusion, a smaller type, fewer bytes).", kField, RuleKind::at_roof},
    {"suspect-roof-below", kAny, {is("roof.suspect"), kUnderRoof},
     "Its roof failed its audit: the distance to it is approximate.", kLaterCalibration, kMeasured, RuleKind::note},
    {"no-tensor-cores", kGpu, {is("matrix.work"), kNoTensorWork},
     "Matrix product without tensor cores.",
     "Use mma or wgmma, or cuBLAS: the tensor roof is {tensor.gain} that of FP32.", kMeasured},
    {"small-triton-tiles", kGpu, {below("wgmma.share", 0.5), is("wgmma.available"), is("python.kernel")},
     "Uses mma.sync ({wgmma.share} through wgmma), which can't reach this chip's full rate.",
     "Larger tiles: Triton uses wgmma where BLOCK_M is a multiple of 64 and num_warps of 4 (128 × 128 × 64, "
     "num_warps=8, num_stages=3).",
     kMeasured},
    {"mma-sync", kGpu, {below("wgmma.share", 0.5), is("wgmma.available"), is("python.kernel", false)},
     "Uses mma.sync ({wgmma.share} through wgmma), which can't reach this chip's full rate.",
     "Use wgmma with operands in shared memory (CUTLASS 3, or Triton for sm_90).", kMeasured, RuleKind::cause,
     "Library kernel older than this chip. Options: a newer version, or its kernels for sm_90."},
    {"too-few-blocks", kGpu, {below("blocks.per_sm", 1), kIdleSms},
     "A grid of {blocks} blocks leaves some of the {sms} {gpu.units} idle.",
     "Split the work more finely (split-K, shorter rows per block), or increase the problem size.", kBestPractices,
     RuleKind::cause, kLibraryGrid},
    {"small-grid", kGpu, {kUnderRoof, kMemoryBound, below("grid.fill", 0.75), below("occupancy", 0.6)},
     "The grid fills {grid.fill} of the block slots ({occupancy} occupancy): too few loads in flight.",
     "Launch more or larger blocks, or issue several loads per thread before the first use.", kBestPractices,
     RuleKind::cause, kLibraryGrid},
    {"spills", kGpu, {above("local.share", 0.05), above("levels.utilization", 0.05)},
     "Local memory (spilled registers, dynamically indexed arrays) is {local.share} of L1 traffic.",
     "Unroll so that arrays stay in registers, or allow more registers per thread (__launch_bounds__).", kNsight,
     RuleKind::cause, kLibraryKernel},
    {"bank-conflicts", kGpu, {above("shared.excess", 1.3), above("shared.share", 0.2), kMemoryMatters},
     "Bank conflicts cause {shared.excess} the ideal shared memory wavefronts.",
     "Pad or swizzle the shared tile so that a warp's accesses hit different banks.", kNsight, RuleKind::cause,
     kLibraryKernel},
    // A sum that is kept in memory, because another pointer might point to it.
    {"repeated-stores", kGpu, {kUnderRoof, kOwnKernel, kMemoryBound, above("store.repeats", 3), above("store.share", 0.1)},
     "Stores write {store.repeats} the bytes that reach main memory: the same addresses are written again.",
     "Sum in a register and store once. __restrict__ tells the compiler that pointers do not overlap.", kMeasured},
    {"l2-misses", kGpu, {below("l2.hit_rate", 0.2), above("dram.over_model", 1.5), kDramLimits},
     "The L2 hit rate is {l2.hit_rate}, and DRAM moves {dram.over_model} the compulsory bytes.",
     "Improve L2 reuse: tile the loops, swizzle the block order so that concurrent blocks share data.", kField,
     RuleKind::cause, kLibraryKernel},
    {"extra-dram-traffic", kGpu, {above("dram.over_model", 1.25), above("l2.hit_rate", 0.2), kDramLimits},
     "DRAM moves {dram.over_model} the compulsory bytes and is {memory.utilization} busy.",
     "Remove extra passes, partially used sectors, and intermediate results in memory.", kMeasured, RuleKind::cause,
     kLibraryStream},
    {"traffic-by-design", kGpu, {above("traffic.by_design", 1.1), above("design.need", 0.5)},
     "The algorithm moves {traffic.by_design} the compulsory bytes.",
     "Keep intermediate results in registers or shared memory, like the fused implementations.", kMeasured},
    {"traffic-by-design", kCpu, {above("traffic.by_design", 1.1), above("design.need", 0.5)},
     "The algorithm moves {traffic.by_design} the compulsory bytes.",
     "Keep intermediate results in registers or a cache, block by block, like the fused implementations.", kMeasured},
    {"several-passes", kGpu,
     {above("l2.over_model", 2), below("dram.over_model", 1.25), above("l2.utilization", 0.4), kMemoryBound},
     "L2 delivers {l2.over_model} the compulsory bytes: inputs are read about that many times.",
     "Keep a row in registers or shared memory instead of reading it again.", kMeasured, RuleKind::cause,
     kLibraryKernel},
    {"extra-flops", kAny, {above("flops.over_model", 1.1), kComputeBound},
     "Executes {flops.over_model} the modelled FLOPs.",
     "Look for padding, recomputation, and masked work that could be skipped.", kMeasured},
    {"strided-loop", kCpu,
     {kUnderRoof, above("loop.stride", 127), above("loop.other", 0.5), above("loop.misses", 0.15),
      below("loop.line_use", 0.6)},
     "Consecutive accesses are {loop.stride} apart: {loop.misses} of them miss L1, and {loop.line_use} of each cache line is "
     "used.",
     "Let the innermost loop run over adjacent elements: exchange the loops, change the layout, or block both (tiles).",
     kMeasured, RuleKind::cause, kLibraryLoop},
    // The walks of loads that wait for each other wait as well, and larger pages leave the rest.
    {"load-chain-loop", kCpu, {kUnderRoof, above("loop.load_chain_need", 0.25)},
     "Each load's address comes from the load before: these loads take at least {loop.load_chain_need} of the time, one "
     "after the other.",
     "Follow several chains at the same time (interleave them in one loop), or store what belongs together in arrays, in "
     "the order of use.",
     "instruction tables of Agner Fog", RuleKind::cause, kLibraryLoop},
    {"page-walk-loop", kCpu, {kUnderRoof, above("loop.walks", 0.1), above("loop.misses", 0.1)},
     "{loop.walks} of its accesses need a page walk: they touch more 4 KiB pages than the TLB holds (modelled).",
     "Use huge pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1, madvise with MADV_HUGEPAGE); sort or block the accesses.",
     kMeasured, RuleKind::cause, kLibraryLoop},
    {"irregular-loop", kCpu,
     {is("loop.beyond_l1"), below("loop.line_use", 0.5), above("loop.other", 0.3), above("loop.misses", 0.05),
      below("roof.fraction", kBusyLevel)},
     "{loop.other} of its accesses jump to another cache line and use {loop.line_use} of it: load latency limits it.",
     "Sort or block the accesses, keep several independent loads in flight, or prefetch (__builtin_prefetch).",
     kMeasured, RuleKind::cause, kLibraryLoop},
    {"integer-dividing-loop", kCpu, {kUnderRoof, above("loop.integer_divides_need", 0.35)},
     "Integer divisions and remainders need at least {loop.integer_divides_need} of its time.",
     "Divide by constants or powers of two, compare instead of %, or multiply by a reciprocal; use 32-bit integers.",
     "instruction tables of Agner Fog", RuleKind::cause, kLibraryLoop},
    {"dividing-loop", kCpu, {kUnderRoof, above("loop.divides_need", 0.5)},
     "Divisions and roots need at least {loop.divides_need} of its time.",
     "Multiply by the reciprocal where a divisor repeats; else use approximations (-mrecip, rsqrt).",
     "instruction tables of Agner Fog", RuleKind::cause, kLibraryLoop},
    // The penalty is 100 to 200 cycles on most CPUs: loops in which it cannot matter have fewer cycles, or far more. Where
    // it is small, most results have to be subnormal.
    {"subnormal-loop", kCpu, {kUnderRoof, above("loop.subnormal_cycles", 20), below("loop.subnormal_cycles", 400)},
     "{loop.subnormals} of its products are subnormal (below 1e-38 in single, 1e-308 in double precision), at "
     "{loop.subnormal_cycles} cycles each: many CPUs compute these in microcode.",
     kFlush, kMeasured, RuleKind::cause, kLibraryLoop},
    {"subnormal-data-loop", kCpu, {kUnderRoof, above("loop.subnormals", 0.5), below("loop.memory_need", 0.6)},
     "{loop.subnormals} of its products are subnormal (below 1e-38 in single, 1e-308 in double precision), which CPUs "
     "compute more slowly.",
     kFlush, kMeasured, RuleKind::cause, kLibraryLoop},
    {"mispredicting-loop", kCpu, {kUnderRoof, above("loop.mispredictions_need", 0.25)},
     "{loop.mispredicted} of its branches are mispredicted (modelled): at least {loop.mispredictions_need} of its time.",
     "Compute both values and select one without a branch, or sort or partition the data first; -O3 or a profile "
     "(-fprofile-use) may do it.",
     kMeasured, RuleKind::cause, kLibraryLoop},
    // Where other threads write the same lines, each takes ten times as long: a lower bound.
    {"atomic-loop", kCpu, {kUnderRoof, above("loop.atomics_need", 0.2)},
     "Atomic operations need at least {loop.atomics_need} of its time, more where threads share their cache lines.",
     "Count in a local variable of each thread and add it once at the end; else spread counters over cache lines.",
     "instruction tables of Agner Fog", RuleKind::cause, kLibraryLoop},
    {"converting-loop", kCpu, {kUnderRoof, above("loop.conversions_need", 0.2)},
     "Conversions between single and double precision need at least {loop.conversions_need} of its time.",
     "If single precision is meant, write constants with an f (0.5f) and call sqrtf and the like; else convert once.",
     "instruction tables of Agner Fog", RuleKind::cause, kLibraryLoop},
    // The latencies are the least of any CPU: others need twice the time.
    {"chain-loop", kCpu, {kUnderRoof, above("loop.chain_need", 0.35)},
     "Each iteration needs the previous result: this dependency chain takes at least {loop.chain_need} of the time.",
     "A sum: keep several partial sums (-ffast-math, #pragma omp simd reduction). A recurrence: compute several at once.",
     "instruction tables of Agner Fog", RuleKind::cause, kLibraryLoop},
    {"small-copies-loop", kCpu, {kUnderRoof, below("loop.string_bytes", 128)},
     "It copies or sets {loop.string_bytes} at a time, with an instruction for large blocks (rep movs).",
     "Copy larger blocks, or give copies a constant size (memcpy(to, from, 16)), which the compiler turns into moves.",
     kField, RuleKind::cause, kLibraryLoop},
    {"calling-loop", kCpu,
     {kUnderRoof, above("loop.calls", 0.5), above("loop.scalar_share", 0.9), above("lanes", 1),
      below("loop.memory_need", 0.6)},
     "Calls of functions ({loop.calls} per iteration) keep its FLOPs scalar.",
     "Let the compiler inline them (define them in this file or a header, -flto) or call vector versions (#pragma omp "
     "declare simd).",
     kMeasured, RuleKind::cause, kLibraryLoop},
    {"scalar-loop", kCpu,
     {kUnderRoof, above("loop.scalar_share", 0.9), above("loop.scalar_rate", kChainRate), above("lanes", 1),
      below("loop.memory_need", 0.6)},
     "{loop.scalar_share} of its FLOPs are scalar; a vector holds {lanes} elements.",
     "Let the compiler vectorise it (-O3, restrict, unit stride, no calls; for sums -ffast-math). -fopt-info-vec-missed "
     "says why not.",
     kMeasured, RuleKind::cause, kLibraryLoop},
    // Compared with four to six instructions per cycle at best.
    {"instruction-loop", kCpu, {above("loop.instructions", 2.5), below("roof.fraction", 0.6)},
     "It executes {loop.instructions} instructions per cycle, few of them full-width arithmetic.",
     "Execute fewer instructions: vectorise (-O3, -march=native), inline, and hoist loop-invariant code.",
     kField, RuleKind::fallback, kLibraryLoop},
    {"waiting-loop", kCpu, {is("loop.counted"), below("roof.fraction", 0.6)},
     "{roof.missing} unexplained, at {loop.instructions} instructions per cycle. Not counted: latencies "
     "of loads.",
     "Avoid chains of dependent loads.",
     kMeasured, RuleKind::unexplained, kLibraryLoop},
    // Experiments with one change (docs/method.md, "Diagnosis by experiment"), for rows without counters. Changes that
    // help come first, then the result of the working set in L2.
    {"subnormals", kCpu, {kUnderRoof, above("experiment.subnormals.gain", 1.3)},
     "With subnormal numbers flushed to zero it is {experiment.subnormals.gain} as fast.",
     "Set FTZ and DAZ in each thread (_MM_SET_FLUSH_ZERO_MODE, _MM_SET_DENORMALS_ZERO_MODE), or rescale the data.",
     kExperiment},
    {"one-thread", kCpu, {kUnderRoof, above("threads.of", 1.5), below("experiment.thread.used", 1.05)},
     "One of {threads.of} threads does all the work.", "Split the work over all threads (launch: threads: all, or OpenMP).",
     kExperiment},
    {"late-thread", kCpu, {kUnderRoof, above("experiment.thread.slowest", kUneven)},
     "The slowest thread works {experiment.thread.slowest} as long as the mean: the others wait for it.",
     "Give all threads equal work: smaller chunks, scheduled dynamically.", kExperiment},
    {"false-sharing", kCpu, {kUnderRoof, above("experiment.thread.cost", kSharing)},
     "With all {threads.of} threads the work takes {experiment.thread.cost} the CPU time, with data in L2: they write to "
     "the same cache lines, or wait for a lock.",
     "Give each thread its own cache lines (alignas(64), local sums) and merge them at the end.", kExperiment},
    {"many-streams", kCpu, {kUnderRoof, above("experiment.staggered.gain", 1.15), above("buffers", 7)},
     "{buffers} buffers at one offset within a page compete for the same cache sets: staggered they are "
     "{experiment.staggered.gain} as fast.",
     "Stagger the arrays by an odd number of cache lines each, or split the loop into loops over fewer arrays.",
     kExperiment},
    {"aliasing", kCpu, {kUnderRoof, above("experiment.staggered.gain", 1.15)},
     "Loads wait for stores at the same offset within a page (4 KiB aliasing): with staggered buffers it is "
     "{experiment.staggered.gain} as fast.",
     "Place arrays at different offsets within a page: pad each by an odd number of cache lines.", kExperiment},
    {"split-lines", kCpu, {kUnderRoof, above("experiment.realigned.gain", 1.1)},
     "Accesses cross cache lines: with shifted buffers it is {experiment.realigned.gain} as fast.",
     "Align arrays and rows to 64 bytes (aligned_alloc, padded rows).", kExperiment},
    {"store-forwarding", kCpu, {kUnderRoof, kCoreTime, above("experiment.forwarding.gain", 1.3)},
     "Loads wait for several narrower stores to the same bytes (store forwarding fails): without those loads it is "
     "{experiment.forwarding.gain} as fast.",
     "Load with the width of the store, or combine the values in registers.", kExperiment},
    // Vectorised code with folded constants also gets faster; a dependent sum is not vectorised.
    {"dependent-sum", kCpu,
     {kUnderRoof, kCoreTime, above("experiment.reassociated.gain", 1.3), below("experiment.unvectorized.slowdown", 1.3)},
     "Each addition waits for the previous one: compiled with reordering allowed it is "
     "{experiment.reassociated.gain} as fast.",
     "Use several independent sums, or -fassociative-math -fno-signed-zeros -fno-trapping-math.", kExperiment},
    {"access-order", kCpu, {kUnderRoof, above("experiment.order.gain", 1.3)},
     "Its indices are scattered: with the same indices in ascending order it is {experiment.order.gain} as fast.",
     "Sort or bin the indices, or renumber what they point to (for sparse matrices e.g. reverse Cuthill-McKee).",
     kExperiment},
    {"page-walks", kCpu, {kUnderRoof, below("experiment.in_cache.share", 0.6), above("experiment.pages.slowdown", 1.3)},
     "Its accesses jump between pages: on 4 KiB pages it takes {experiment.pages.slowdown} the time, so TLB misses matter.",
     "Finish each page before the next one (change the loop order, block it), and use larger pages.", kExperiment},
    {"partial-lines", kCpu,
     {kMemoryBound, kFromMemory, kUnderRoof, below("experiment.in_cache.share", 0.6),
      above("experiment.lines.visits", kRevisited)},
     "It returns to each cache line {experiment.lines.visits} times, for different bytes each time.",
     "Change the loop order or the layout so that consecutive accesses are adjacent; else work in blocks (tiles).",
     kExperiment},
    {"grows-with-size", kCpu,
     {kUnderRoof, below("experiment.in_cache.share", 0.6), above("experiment.size.slowdown", 1.2)},
     "Twice the size takes {experiment.size.slowdown} the time per element: TLB or cache misses.",
     "Block the loops so that each page and cache line is used completely before the next.", kExperiment},
    {"integer-divisions", kCpu,
     {kUnderRoof, kCoreTime, is("integers"), above("experiment.divisions.gain", 1.3)},
     "Integer divisions or remainders limit it: with multiplications instead it is {experiment.divisions.gain} as "
     "fast.",
     "Divide by a constant or a power of two, which the compiler replaces; else multiply by a reciprocal that is computed "
     "once (libdivide).",
     kExperiment},
    {"divisions", kCpu, {kUnderRoof, kCoreTime, above("experiment.divisions.gain", 1.3)},
     "Divisions limit it: with multiplications instead it is {experiment.divisions.gain} as fast.",
     "Multiply by the reciprocal where a divisor repeats; else approximate it (rcpps and one Newton step).", kExperiment},
    // Code with vector intrinsics is equally fast without the vectoriser, but above the scalar rate.
    {"scalar-code", kCpu, {kUnderRoof, kCoreTime, below("experiment.unvectorized.slowdown", 1.1), below("scalar", 1.2)},
     "At scalar speed: compiled without vectorisation it takes {experiment.unvectorized.slowdown} the time.",
     "Let the compiler vectorise the inner loop (restrict, unit stride, no calls; -fopt-info-vec-missed says why not). Of a "
     "recurrence, compute several independent ones at once.",
     kExperiment},
    {"conversions", kCpu, {kUnderRoof, kCoreTime, above("experiment.type.slowdown", 1.15)},
     "In {experiment.cache} each element takes {experiment.type.slowdown} the time of an fp32 one: converting 16-bit elements costs more "
     "than it saves.",
     "Convert whole vectors (F16C, AVX512_FP16, AVX512_BF16), or keep data that stays in cache in fp32.", kExperiment},
    {"cache-or-threads", kCpu, {kUnderRoof, kComputeBound, below("experiment.in_cache.share", kCoreLimits)},
     "Instructions need {experiment.in_cache.share} of the time (on one thread with data in {experiment.cache}): cache misses or waiting "
     "threads take the rest.",
     "Block the loops for each cache (sums in registers, packed operands in L1 and L2), with equally many blocks per "
     "thread.",
     kExperiment},
    {"access-pattern", kCpu,
     {kMemoryBound, kFromMemory, below("experiment.in_cache.share", 0.6), below("experiment.explained", 0.85),
      below("roof.fraction", 0.3)},
     "In L2 the same loop is {experiment.in_cache.gain} as fast, yet main memory delivers {roof.fraction} of its roof: "
     "unused parts of cache lines, or loads that wait for each other.",
     "Use every byte of a line (contiguous order), independent loads and prefetching.", kExperiment},
    {"memory-limited", kCpu, {kUnderRoof, kMemoryBound, kFromMemory, below("experiment.in_cache.share", 0.6)},
     "In L2 the same loop is {experiment.in_cache.gain} as fast: main memory limits it, at {roof.fraction} of its roof.",
     "Prefetch further ahead; else move fewer bytes (fusion, a smaller type).",
     kExperiment},
    // Arithmetic, of which no roof says how much of the time it needs.
    {"integer-operations", kCpu,
     {kUnderRoof, kMemoryBound, is("integer.unmeasured"), is("cached.near", false),
      above("experiment.in_cache.share", 0.6)},
     "Instructions need {experiment.in_cache.share} of the time (on one thread with data in {experiment.cache}). It computes with "
     "integers, for which there is no measured roof.",
     "No action: without counters, it is unknown which instructions take the time.", kExperiment,
     RuleKind::unexplained},
    {"cache-limited", kCpu, {kUnderRoof, kMemoryBound, is("cached"), below("experiment.in_cache.share", 0.6)},
     "In {experiment.cache} the same loop is {experiment.in_cache.gain} as fast: {level} limits it, at {roof.fraction} of "
     "its roof.",
     "Block the loops so that data is used again while it is in {experiment.cache}; else move fewer bytes (fusion, a "
     "smaller type).",
     kExperiment},
    {"no-overlap", kCpu,
     {kUnderRoof, kMemoryBound, is("cached.near", false), below("experiment.in_cache.share", kCoreLimits)},
     "Instructions alone need {experiment.in_cache.share} of the time (in {experiment.cache}), the bytes {roof.fraction}: they do not "
     "fully overlap.",
     "Prefetch further ahead, and use cheaper arithmetic.", kExperiment},
    // For a row in L1, the experiment is the same run and shows nothing.
    {"core-bound", kCpu, {kUnderRoof, is("cached.near", false), above("experiment.in_cache.share", kCoreLimits)},
     "Instructions limit it: on one thread with data in {experiment.cache} the same work takes {experiment.in_cache.share} of the time.",
     "Check the inner loop: full-width vectors, about ten independent sums, each operand loaded once.", kExperiment},
    // Half as fast as the roof of arithmetic may be one thread of two; a quarter, one lane of four.
    {"no-vectors", kCpu, {kUnderRoof, kComputeBound, below("scalar", 1.2), above("lanes", 1)},
     "Runs at scalar speed ({scalar} of the scalar rate); a vector holds {lanes} elements.",
     "Check that the inner loop is vectorised (-fopt-info-vec): unit stride, no aliasing, sums that may be reordered. "
     "Otherwise use intrinsics.",
     kMeasured},
    {"short-vectors", kCpu, {kUnderRoof, kComputeBound, below("flops.per_instruction", 1)},
     "{flops.per_instruction} FLOPs per instruction: few instructions are full-width vector arithmetic.",
     "Use full-width vectors and keep sums in registers: fewer loads, shuffles and address computations.", kField},
    {"one-core", kCpu,
     {kUnderRoof, kComputeBound, below("one_core", 1.05), above("one_core", 0.6), above("threads.of", 3)},
     "As fast as a single core ({one_core} of its rate), with {threads.of} threads.",
     "Check that all threads get equal work: smaller chunks, scheduled dynamically.", kMeasured},
    {"fp32-products", kGpu, {kOwnKernel, is("products.fp32"), above("products.busy", 0.3), above("products.needless", 0.15)},
     "Multiply-adds as in a matrix product run on the FP32 pipe ({products.busy} busy); tensor cores are idle.",
     "If it is a matrix product, use tensor cores: TF32 is {products.rate} as fast (Triton: tl.dot with "
     "input_precision=\"tf32\", or bf16 inputs; CUDA: mma, cuBLAS).",
     kMeasured},
    {"idle-sms", kGpu, {kUnderRoof, kFullWave, below("sm.active.share", 0.5)},
     "The {gpu.units} are active {sm.active.share} of its time on average: a few blocks take much longer than the others.",
     "Give blocks equal work: split the long ones, or let blocks fetch work from a shared counter.", kMeasured,
     RuleKind::cause, kLibraryGrid},
    {"tail", kGpu, {above("waves", 1), below("waves", 6), above("tail.idle", 0.15), above("tail.explains", 0.33)},
     "{waves} waves of blocks: the last one leaves {tail.idle} of the block slots idle.",
     "Choose a grid of whole waves, smaller blocks, or a persistent kernel with a tile scheduler.", kNsight,
     RuleKind::cause, "Grid size follows the problem size: choose sizes that fill whole waves, or larger ones."},
    {"second-pipe", kGpu,
     {kUnderRoof, kComputeBound, above("compute.utilization", 0.4), above("second.need", 0.4),
      above("second.explains", 0.33)},
     "The {second} alone needs {second.need} of the attainable time and does not fully overlap with the products.",
     "Overlap both: warp specialisation or ping-pong (softmax of one tile under the MMAs of the next), or exponentials "
     "as polynomials on the FP32 pipe.",
     kMeasured, RuleKind::cause, "Library kernel. Options: another algorithm, or a newer version."},
    {"tensor-idle", kGpu, {is("matrix.work"), is("tensor.executed"), below("tensor.active", 0.5)},
     "Tensor cores are active in {tensor.active} of cycles.",
     "Feed them faster: asynchronous copies (TMA) into more stages, larger tiles, producer and consumer warps.", kField,
     RuleKind::cause, kLibraryKernel},
    // The cycles are full and the seconds are not: what is missing is cycles per second.
    {"clock-below-roof", kGpu,
     {above("tensor.active", 0.8), kUnderRoof, kComputeBound, above("clock.explains", 0.5), is("clock.known", false)},
     "Tensor cores are active in {tensor.active} of cycles: most of the gap to the roof is a lower clock.",
     "No code change: fewer operations, a smaller type or a higher power limit make it faster.", kMeasured,
     RuleKind::no_action},
    {"tensor-gaps", kGpu,
     {kUnderRoof, kComputeBound, is("matrix.work"), above("tensor.active", 0.5), below("tensor.active", 0.96)},
     "Tensor cores idle {tensor.gap} of cycles (tile prologue and epilogue, or waiting for operands).",
     "Overlap each tile's epilogue with the next tile's MMAs (warp specialisation, ping-pong); prefetch deeper.",
     kMeasured, RuleKind::cause, kLibraryKernel},
    // Beside a pipe that should always be busy, a level that is busy most of the time has no slack. Tensor cores are
    // fed by copies that run by themselves.
    {"level-beside", kGpu,
     {kUnderRoof, kComputeBound, kCounted, above("levels.utilization", 0.4), above("compute.utilization", 0.4),
      above("level.need", 0.6), kNoTensorWork},
     "Traffic from {level} alone needs {level.need} of the attainable time: the {pipe} is {compute.utilization} "
     "busy, {level} {levels.utilization}.",
     "Increase reuse per loaded byte: larger register tiles, wider loads, operands kept in registers.", kMeasured,
     RuleKind::cause, kLibraryKernel},
    {"issue-bound", kGpu, {kUnderRoof, kComputeBound, above("issue.active", 0.8), kNoTensorWork},
     "Schedulers issue in {issue.active} of cycles, but the {pipe} is {compute.utilization} busy: other instructions "
     "take issue slots.",
     "Reduce other instructions: hoist address computations, widen loads, unroll loops.", kNsight, RuleKind::cause,
     kLibraryKernel},
    {"few-warps", kGpu,
     {kUnderRoof, kComputeBound, above("compute.utilization", 0.4), below("warps.per_sm", 12),
      below("levels.utilization", 0.5), kNoTensorWork, kFullWave},
     "{warps.per_sm} warps per {gpu.unit} at {registers} registers per thread: too few to hide latency. The {pipe} is "
     "{compute.utilization} busy, memory {levels.utilization}.",
     "Reduce instructions between the products (wider loads from shared memory, hoisted addresses) and prefetch "
     "further ahead; --counters full separates issue limits from stalls.",
     kField, RuleKind::cause, kLibraryKernel},
    {"occupancy-registers", kGpu,
     {below("occupancy", 0.25), is("limit.registers"), kFullWave, below("both.utilization", 0.6)},
     "{occupancy} occupancy, limited by {registers} registers per thread"
     "[; {registers.next} allow {registers.occupancy}].",
     "Reduce registers (__launch_bounds__, smaller tiles per thread) if it waits for latency, not arithmetic.", kField,
     RuleKind::cause, kLibraryKernel},
    {"occupancy-shared-memory", kGpu,
     {below("occupancy", 0.25), is("limit.shared"), kFullWave, below("both.utilization", 0.6)},
     "{occupancy} occupancy, limited by {shared} of shared memory per block[; {shared.next} allow {shared.occupancy}].",
     "Use fewer stages, smaller tiles, or more warps per block.", kField, RuleKind::cause, kLibraryKernel},
    // On every chip so far, the maximum number of one-warp blocks fills half of an SM.
    {"occupancy-blocks", kGpu,
     {below("occupancy", 0.55), is("limit.blocks"), kFullWave, below("both.utilization", 0.6)},
     "{occupancy} occupancy: the blocks of {threads} threads are too small to fill the {gpu.units}.",
     "Use more threads per block[: with {threads.next} the occupancy can be {threads.occupancy}].", kField, RuleKind::cause, kLibraryKernel},
    {"short-blocks", kGpu,
     {kUnderRoof, below("block.seconds", 2.5e-6), below("occupancy", 0.5), below("occupancy.of_possible", 0.6),
      below("both.utilization", 0.6), above("waves", 6)},
     "A wave of blocks lasts {block.seconds}: starting blocks limits occupancy to {occupancy}.",
     "Let each block do more: several elements per thread, larger blocks (Triton: BLOCK), or a loop over tiles.",
     kMeasured, RuleKind::cause, kLibraryGrid},
    {"occupancy-uneven", kGpu,
     {below("occupancy", 0.5), below("occupancy.of_possible", 0.6), below("both.utilization", 0.6)},
     "{occupancy} achieved occupancy, {occupancy.of_possible} of the possible: uneven warps, or short blocks.",
     "Balance the work across warps and blocks; let very short blocks do more.", kNsight, RuleKind::cause,
     kLibraryKernel},
    {"narrow-loads", kGpu,
     {kUnderRoof, kMemoryBound, below("load.width", 12), above("load.share", 0.2), below("memory.utilization", 0.75),
      above("memory.utilization", 0.15)},
     "Each thread loads {load.width} bytes at a time and DRAM is {memory.utilization} busy: too few bytes in flight.",
     "Load 16 bytes per thread at a time, or issue several loads before the first use.", kBestPractices,
     RuleKind::cause, kLibraryStream},
    {"memory-stalls", kGpu, {above("stall.long_scoreboard.share", 0.5)},
     "{stall.long_scoreboard.share} of stalls wait for global memory (long scoreboard).",
     "Keep more loads in flight: unroll, wider loads, asynchronous copies, more warps.", kField},
    {"shared-stalls", kGpu, {above("stall.shared.share", 0.3)},
     "{stall.shared.share} of stalls wait for shared memory or special functions (MIO, short scoreboard).",
     "Use fewer and wider accesses to shared memory, avoid bank conflicts, use cheaper special functions.", kNsight},
    {"barrier-stalls", kGpu, {above("stall.barrier.share", 0.2)}, "{stall.barrier.share} of stalls wait at barriers.",
     "Use fewer barriers, smaller blocks, or warp-level instead of block-level exchange.", kNsight},
    {"queue-stalls", kGpu, {above("stall.lsu.share", 0.3)},
     "{stall.lsu.share} of stalls wait for the load/store queue.", "Use fewer and wider loads and stores.", kNsight},
    {"pipe-stalls", kGpu, {above("stall.math_pipe.share", 0.3)},
     "{stall.math_pipe.share} of stalls wait for an arithmetic pipe (math pipe throttle).",
     "The pipe limits it: move work to another pipe, or reduce it.", kNsight},
    {"fetch-stalls", kGpu, {above("stall.no_instruction.share", 0.2)},
     "{stall.no_instruction.share} of stalls wait for instructions.", "Unroll less, or launch a larger grid.", kNsight},
    {"dependency-stalls", kGpu, {above("stall.wait.share", 0.4)},
     "{stall.wait.share} of stalls wait for the preceding result (fixed latency).",
     "Use more independent work per thread (several accumulators), or more warps.", kNsight},
    {"ready-warps", kGpu, {above("stall.not_selected.share", 0.3)},
     "{stall.not_selected.share} of stalls are eligible warps that were not selected: there are enough warps.",
     "Occupancy does not limit it; fewer warps with more registers each may be faster.", kNsight, RuleKind::note},
    {"memory-before-compute", kGpu,
     {kComputeBound, below("compute.utilization", 0.5), above("memory.utilization", 0.6)},
     "Compute-bound by the model, but main memory is {memory.utilization} busy and the pipe {compute.utilization}.",
     "Reduce its traffic: look for lost reuse.", kField, RuleKind::cause, kLibraryKernel},
    {"memory-before-compute", kCpu,
     {kComputeBound, below("compute.utilization", 0.5), above("memory.utilization", 0.6)},
     "Compute-bound by the model, but main memory is {memory.utilization} busy and the pipe {compute.utilization}.",
     "Reduce its traffic: block the loops for the caches, so that loaded data is reused there.", kField},
    {"integer-uncounted", kCpu, {kUnderRoof, kMemoryBound, kNotCounted, is("integer.unmeasured")},
     "Its bytes alone need {roof.fraction} of the time. It computes with integers, for which there is no measured roof.",
     kMeasureFirst, kMeasured, RuleKind::unexplained},
    {"ordinary-stores", kCpu,
     {kUnderRoof, kMemoryBound, above("writes", 0.25), above("write_only.of_cache", 1), above("regular.share", 0.85),
      below("regular.share", 1.05), below("regular.of_roof", 0.85)},
     "Ordinary stores read each line before writing it. It reaches {regular.share} of their copy rate, which is "
     "{regular.of_roof} of the copy roof.",
     "Use non-temporal stores, whole lines at a time, for its outputs ({write_only.of_cache} the size of the last cache).",
     kMeasured},
    {"numa", kCpu, {kUnderRoof, kMemoryBound, kFromMemory, above("numa.nodes", 1), below("numa.remote", 0.9)},
     "{numa.nodes} NUMA nodes: remote memory has {numa.remote} of the local bandwidth.",
     "Let each thread first touch the memory that it uses later, and pin the threads.", kMeasured},
    {"small-pages", kCpu, {kUnderRoof, kMemoryBound, kFromMemory, is("pages.small")},
     "Its buffers use small pages: the system grants no huge pages, so TLB misses are frequent.",
     "Enable transparent huge pages (madvise or always) and call madvise(MADV_HUGEPAGE).", kMeasured},
    {"arithmetic-beside", kAny,
     {kUnderRoof, kMemoryBound, above("arithmetic.need", 0.5), above("arithmetic.explains", 0.33)},
     "The {second} alone needs {arithmetic.need} of the attainable time and does not fully overlap with the loads.",
     "Use cheaper arithmetic (fewer conversions, exponentials and divisions), or prefetch further ahead.", kMeasured},
    {"issue-limited", kGpu, {kUnderRoof, kNotAtRoof, kOwnKernel, above("wait.issue.share", 0.5), below("compute.utilization", 0.5)},
     "Instructions limit it: warps spend {wait.issue.share} of their time issuing, or ready and waiting for a slot "
     "or a pipe.",
     "Execute fewer instructions at this line: cheaper functions (a product instead of exp and log), values computed "
     "once, no divergent branches.",
     kSampled, RuleKind::fallback},
    {"poor-memory", kGpu, {kMemoryBound, below("levels.utilization", 0.2), kCounted},
     "Memory-bound, but no memory level is more than {levels.utilization} busy.",
     "Keep more loads in flight: more threads, wider loads, several before the first use.", kField, RuleKind::fallback,
     kLibraryStream},
    {"poor-memory", kCpu, {kMemoryBound, kFromMemory, kOfSuite, below("levels.utilization", 0.2), kCounted},
     "Memory-bound, but no memory level is more than {levels.utilization} busy: too few bytes are in flight.",
     "Count what the loads wait for (perf stat: cache and TLB misses of each level) before changing the code.", kField,
     RuleKind::fallback},
    // Two whose shares add up to more than the whole time overlap, and wait for each other.
    {"latency", kGpu,
     {below("compute.utilization", 0.6), below("levels.utilization", 0.6), below("busy.sum", 1), kCounted},
     "Latency limits it: neither a pipe ({compute.utilization}) nor a memory level ({levels.utilization}) is busy.",
     "Increase parallelism: more warps, more loads in flight, more independent work per thread.", kNsight,
     RuleKind::fallback, kLibraryStream},
    {"latency", kCpu,
     {below("compute.utilization", 0.6), below("levels.utilization", 0.6), below("busy.sum", 1), kCounted, kOfSuite},
     "Latency limits it: neither a pipe ({compute.utilization}) nor a memory level ({levels.utilization}) is busy.",
     "Increase parallelism: several accumulators per thread, prefetched loads, work for every thread.", kField,
     RuleKind::fallback},
    {"collective-unexplained", kGpu, {kUnderRoof, kAlone},
     "Bus bandwidth {network.bus}; the link roof is {network.roof}. This size and rank count were not calibrated.",
     "Calibrate with as many GPUs (--only '*nccl*'): the sweep separates small messages from slow links.", kMeasured,
     RuleKind::unexplained},
    {"product-unexplained", kGpu, {kUnderRoof, kWithProduct},
     "Product and collective alone need {product.share} and {network.need} of the time; one of them is slower here.",
     "Time them separately: a gemm of one rank's part, and the collective of that size.", kMeasured,
     RuleKind::unexplained},
    {"unexplained-memory", kGpu, {kUnderRoof, kCounted, kMemoryBound},
     "{roof.missing} unexplained by the counters: {level} {levels.utilization} busy, the {pipe} "
     "{compute.utilization}, {occupancy} occupancy.",
     "Keep more bytes in flight (wider loads, several before the first use). --counters full (ncu --set full) counts "
     "stalls.",
     kMeasured, RuleKind::unexplained, kLibraryStream},
    {"unexplained", kGpu, {kUnderRoof, kCounted},
     "{roof.missing} unexplained by the counters: the {pipe} is {compute.utilization} busy, {level} "
     "{levels.utilization}.",
     "Compare it with a library kernel of the same shape, or count stalls (--counters full, ncu --set full).",
     kMeasured, RuleKind::unexplained, kLibraryKernel},
    {"unexplained", kCpu, {kUnderRoof, kCounted},
     "{roof.missing} unexplained: the {pipe} is {compute.utilization} busy, {level} {levels.utilization}.",
     "Compare it with a library kernel of the same shape.", kMeasured, RuleKind::unexplained},
    {"stated-compute", kGpu, {kUnderRoof, kNotCounted, is("stated"), kComputeBound},
     "By its stated FLOPs, the {pipe} is {compute.utilization} busy. Nothing was counted.",
     kCheckStated, kMeasured, RuleKind::unexplained},
    {"stated-memory", kGpu, {kUnderRoof, kNotCounted, is("stated"), kMemoryBound, kFromMemory},
     "By its stated bytes, main memory is {memory.utilization} busy. Nothing was counted.",
     kCheckStated, kMeasured, RuleKind::unexplained},
    {"uncounted-compute", kGpu, {kUnderRoof, kNotCounted, kComputeBound},
     "By the model, the {pipe} is {compute.utilization} busy and main memory {memory.utilization}. Nothing was "
     "counted.",
     "Count (--counters) to separate stalls from cache traffic.", kMeasured,
     RuleKind::unexplained},
    {"uncounted-memory", kGpu, {kUnderRoof, kNotCounted, kMemoryBound, kFromMemory},
     "By the model, main memory is {memory.utilization} busy and arithmetic {compute.utilization}. Nothing was "
     "counted.",
     "Count (--counters) to separate load latency from excess bytes.", kMeasured,
     RuleKind::unexplained},
    {"uncounted-cache", kGpu, {kUnderRoof, kNotCounted, kMemoryBound, is("cached")},
     "Reaches {roof.fraction} of the roof of {level}, which holds its data. Nothing was counted.",
     "Count (--counters) to separate load latency from excess bytes.", kMeasured,
     RuleKind::unexplained},
    {"cache-blocks", kCpu, {kUnderRoof, kComputeBound, above("cache.multiple", 0.5), kNotCounted},
     "By the model, arithmetic is {compute.utilization} busy and main memory {memory.utilization}. The working set "
     "of {working_set} is {cache.multiple} the last cache; cache traffic was not counted.",
     kMeasureFirst, kMeasured, RuleKind::unexplained},
    {"instruction-mix", kCpu, {kUnderRoof, kComputeBound, below("cache.multiple", 0.5), kNotCounted},
     "By the model, arithmetic is {compute.utilization} busy; the working set of {working_set} fits into the last "
     "cache. The rest is unexplained: nothing was counted.",
     kMeasureFirst, kMeasured, RuleKind::unexplained},
    {"uncounted-memory", kCpu, {kUnderRoof, kNotCounted, kMemoryBound, kFromMemory},
     "Reaches {roof.fraction} of main memory's roof on {threads.used} of {threads.of} threads. Not measured: cache and TLB "
     "misses, stalls.",
     kMeasureFirst, kMeasured, RuleKind::unexplained},
    {"uncounted-cache", kCpu, {kUnderRoof, kNotCounted, kMemoryBound, is("cached")},
     "Reaches {roof.fraction} of the roof of {level}, which holds its data, on {threads.used} of {threads.of} threads. Not "
     "measured: cache misses, stalls.",
     kMeasureFirst, kMeasured, RuleKind::unexplained},
    {"uncounted", kAny, {kUnderRoof, kNotCounted},
     "{roof.missing} unexplained: by the model, arithmetic is {compute.utilization} busy. Nothing was counted.",
     "Count (--counters), if this machine allows it.", kMeasured, RuleKind::unexplained},
    {"unknown", kAny, {kUnderRoof}, "{roof.missing} unexplained: there are neither counts nor a roof for its pipe.",
     "Count (--counters), if this machine allows it.", kMeasured, RuleKind::unexplained},
};
// clang-format on

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace roofline
