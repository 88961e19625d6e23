// Rules on the precision of a row's time, and on the validity of its roof.
#include "model/contention.hpp"
#include "report/diagnosis/rules/rule_terms.hpp"
#include "report/roof_share.hpp"

namespace roofline::rule_parts {
namespace {

constexpr std::string_view kStatistics = "confidence interval of the median (docs/method.md)";
constexpr std::string_view kIdleMachine = "Re-run on an idle machine; this time does not characterise the kernel.";
constexpr std::string_view kTimeLonger =
    "Time it longer (--max-time) when the clock and the background load are stable.";
constexpr std::string_view kAtThatClock =
    "Compare it only with kernels at this clock. Moving fewer bytes and recomputing less save power.";
constexpr std::string_view kReplayAtFullClock = "Record it at the program's clock: ncu --clock-control none.";
constexpr std::string_view kLaterCalibration = "Calibrate again on an idle machine.";

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kMeasurementRules[] = {
    {"stated-work", kAny, {is("work.wrong")},
     "The work stated in the suite is wrong, so every % of roof is wrong too.",
     "Correct `work` in the suite; the finding \"The stated work is wrong\" has both numbers.", kMeasured, RuleKind::no_roof},
    // Unused threads come first: the row uses only part of the machine. Using them saves nothing if one core reaches
    // the roof of all, or if starting them takes longer than the row.
    {kSomeThreads, kCpu, {below("threads.used_share", 0.999), is("above_roof", false), above("threads.saving", 0.05)},
     "Ran on {threads.used} of {threads.of} threads:[ {roof.on_own_threads} of the roof of {threads.used},] "
     "{roof.on_all_threads} of the roof of {threads.of}.",
     "Use all threads (launch, threads: all) and pass the thread's index; threads: own for OpenMP or std::thread.",
     kMeasured},
    // Disturbances of the machine precede causes in the kernel, unless the kernel is at its roof anyway, or a change in
    // alternation with it shows the cause.
    {"disturbed", kAny, {above("time.lost", 0.005), kUnderRoof, is("experiment.proven", false)},
     "Other processes or a clock limiter took up to {time.lost:most} of processor time.", kIdleMachine, kMeasured,
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
    // ncu locks the clock to its base by default. What is at its roof at that clock has no other cause.
    {"replay-clock-limit", kGpu,
     {kComputeBound, kUnderRoof, below("replay.clock.share", kSameReplayClock), above("roof.at_replay_clock", kAtRoof)},
     "Ran at {replay.clock} while it was timed; the roof was measured at {roof.clock}. It reaches {roof.at_replay_clock} of the "
     "roof at its own clock.",
     kReplayAtFullClock, kMeasured, RuleKind::measure},
    {"replay-clock", kGpu, {kComputeBound, kUnderRoof, below("replay.clock.share", kSameReplayClock)},
     "Ran at {replay.clock} while it was timed; the roof was measured at {roof.clock}.", kReplayAtFullClock, kMeasured,
     RuleKind::note},
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
    {"above-separate-buffers", kCpu, {is("above_roof"), is("in_place.apart")},
     "Reaches {roof.fraction} of its roof: it writes where it reads, and its roof is of separate buffers.",
     "Calibrate again: this calibration has no roof of such accesses to that cache.", kMeasured, RuleKind::measure},
    {"above-paired-roof", kCpu, {is("above_roof"), is("paired")},
     "Reaches {roof.fraction} of its roof, timed in alternation with the roof's probe: the probe or the work model is "
     "wrong.",
     "Compare the probe's variant with a faster loop. Then check what its work model counts.", kMeasured,
     RuleKind::measure},
};

constexpr Rule kSuspectRoofRules[] = {
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
};

constexpr Rule kMissingRoofRules[] = {
    {"roofless", kAny, {is("roof.known", false)}, "No measured roof applies to this kernel.",
     "Count its work (--counters), or calibrate the resource that it uses.", kMeasured, RuleKind::no_roof},
};

constexpr Rule kAtRoofRules[] = {
    // At the roof of L2, fewer bytes from L2 make a kernel faster, and no other change does.
    {"rereads-from-l2", kGpu, {kOwnKernel, kMemoryBound, above("roof.fraction", 0.7), above("l2.rereads", 4), above("l2.needless", 0.2)},
     "L2 limits it ({roof.fraction} of its roof) and delivers at least {l2.rereads} the distinct bytes: blocks read the "
     "same inputs again.",
     "Tile it, so that each loaded value is used several times: a tile of results per block, with its inputs in shared "
     "memory or registers (Triton: tl.dot of two-dimensional blocks).",
     kMeasured},
    {"good-enough", kAny, {kNearRoof, kNotFarAbove}, "Reaches {roof.fraction} of its roof.",
     "No action: only less work makes it faster (fusion, a smaller type, fewer bytes).", kField, RuleKind::at_roof},
    {"suspect-roof-below", kAny, {is("roof.suspect"), kUnderRoof},
     "Its roof failed its audit: the distance to it is approximate.", kLaterCalibration, kMeasured, RuleKind::note},
};
// clang-format on

}  // namespace

std::span<const Rule> measurement_rules() { return kMeasurementRules; }
std::span<const Rule> suspect_roof_rules() { return kSuspectRoofRules; }
std::span<const Rule> missing_roof_rules() { return kMissingRoofRules; }
std::span<const Rule> at_roof_rules() { return kAtRoofRules; }

}  // namespace roofline::rule_parts
