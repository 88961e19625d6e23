// Rules that apply only where no cause is known.
#include "report/diagnosis/rules/rule_terms.hpp"

namespace roofline::rule_parts {
namespace {

constexpr std::string_view kCheckStated = "Count (--counters) to check the stated work.";
/// Loops of programs have rules of their own.
constexpr Condition kOfSuite = is("loop.counted", false);

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kFallbackRules[] = {
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
    // The pipe that limits it is busy, and so are the issue slots and pipes of the rest.
    {"arithmetic-limited", kGpu,
     {kUnderRoof, kOwnKernel, kComputeBound, kNoTensorWork, is("warps.ready"), above("wait.issue.share", 0.5),
      above("compute.utilization", 0.5)},
     "Arithmetic limits it: warps spend {wait.issue.share} of their time issuing, or ready and waiting for a slot or a "
     "pipe. Schedulers issue in {issue.active} of cycles.",
     "No action in the kernel code: only fewer or cheaper operations per result make it faster.", kSampled,
     RuleKind::unexplained},
    // The same of kernels whose instructions were not sampled.
    {"busy-instructions", kGpu,
     {kUnderRoof, kOwnKernel, kNoTensorWork, is("issue.busy"), below("levels.utilization", 0.6),
      below("issue.arithmetic", 0.7)},
     "Instructions limit it: schedulers issue in {issue.active} of cycles, and {issue.arithmetic} of the instructions "
     "are floating-point arithmetic.",
     "Execute fewer instructions for each result: no division or remainder by a variable (shift, or multiply by an "
     "inverse), 32-bit indices, values computed once outside of loops.",
     kMeasured, RuleKind::fallback},
    {"busy-arithmetic", kGpu,
     {kUnderRoof, kOwnKernel, kComputeBound, kNoTensorWork, is("issue.busy"), below("levels.utilization", 0.6),
      above("issue.arithmetic", 0.7)},
     "Arithmetic limits it: schedulers issue in {issue.active} of cycles, and {issue.arithmetic} of the instructions are "
     "floating-point arithmetic.",
     "No action in the kernel code: only fewer or cheaper operations per result make it faster.", kMeasured,
     RuleKind::unexplained},
    {"poor-memory", kGpu, {kMemoryBound, below("levels.utilization", 0.2), kCounted, is("issue.busy", false)},
     "Memory-bound, but the busiest memory level is only {levels.utilization} busy.",
     "Keep more loads in flight: more threads, wider loads, several before the first use.", kField, RuleKind::fallback,
     kLibraryStream},
    {"poor-memory", kCpu, {kMemoryBound, kFromMemory, kOfSuite, below("levels.utilization", 0.2), kCounted},
     "Memory-bound, but the busiest memory level is only {levels.utilization} busy: too few bytes are in flight.",
     "Count what the loads wait for (perf stat: cache and TLB misses of each level) before changing the code.", kField,
     RuleKind::fallback},
    // With shares that add up to more than 1, both overlap, and neither latency nor idle units are the cause.
    {"latency", kGpu,
     {below("compute.utilization", 0.6), below("levels.utilization", 0.6), below("busy.sum", 1), kCounted,
      is("warps.ready", false), is("issue.busy", false)},
     "Latency limits it: the busiest pipe is {compute.utilization} busy, the busiest memory level {levels.utilization}.",
     "Increase parallelism: more warps, more loads in flight, more independent work per thread.", kNsight,
     RuleKind::fallback, kLibraryStream},
    {"latency", kCpu,
     {below("compute.utilization", 0.6), below("levels.utilization", 0.6), below("busy.sum", 1), kCounted, kOfSuite},
     "Latency limits it: the busiest pipe is {compute.utilization} busy, the busiest memory level {levels.utilization}.",
     "Increase parallelism: several accumulators per thread, prefetched loads, work for every thread.", kField,
     RuleKind::fallback},
    {"collective-unexplained", kGpu, {kUnderRoof, kAlone},
     "Bus bandwidth {network.bus}; the link roof is {network.roof}. This size and rank count were not calibrated.",
     "Calibrate with as many GPUs (--only '*nccl*'): the sweep separates small messages from slow links.", kMeasured,
     RuleKind::unexplained},
    {"product-unexplained", kGpu, {kUnderRoof, kWithProduct},
     "Alone, product and collective need {product.share} and {network.need} of the time: at least one runs slower here.",
     "Time them separately: a gemm of one rank's part, and the collective of that size.", kMeasured,
     RuleKind::unexplained},
    // Little's law: 16 bytes for each thread of 48 warps are 24 KiB in flight per SM, which is what 0.7 us of latency need
    // at 4.6 TB/s on 132 SMs.
    {"unexplained-stream", kGpu,
     {kUnderRoof, kCounted, kMemoryBound, kFromMemory, above("load.width", 12), above("memory.utilization", 0.8),
      above("occupancy", 0.75)},
     "{roof.missing} unexplained by the counters: {level} {levels.utilization} busy, loads of {load.width} per thread, "
     "{occupancy} occupancy.",
     "No action in the kernel code: its loads are wide and its warps many. Fewer bytes make it faster (fusion, a smaller "
     "type).",
     kMeasured, RuleKind::unexplained, kLibraryStream},
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
     "{roof.missing} unexplained: according to the work model, arithmetic is {compute.utilization} busy. Nothing was counted.",
     "Count (--counters), if this machine allows it.", kMeasured, RuleKind::unexplained},
    {"unknown", kAny, {kUnderRoof}, "{roof.missing} unexplained: there are neither counts nor a roof for its pipe.",
     "Count (--counters), if this machine allows it.", kMeasured, RuleKind::unexplained},
};
// clang-format on

}  // namespace

std::span<const Rule> fallback_rules() { return kFallbackRules; }

}  // namespace roofline::rule_parts
