// Rules on CPU rows that ran again with one change.
#include "report/diagnosis/rules/rule_terms.hpp"

namespace roofline::rule_parts {
namespace {

constexpr std::string_view kExperiment = "re-run of this row with one change (docs/method.md)";
/// A core that needs this much of the time by itself, with its data in L2, leaves memory little to hide.
constexpr double kCoreLimits = 0.85;
/// The instructions matter if the core itself takes most of the time.
constexpr Condition kCoreTime = above("experiment.in_cache.share", 0.6);
/// Ratio of CPU times; SMT siblings and shared caches cost less than that.
constexpr double kSharing = 2;
/// Visits to a cache line until all of it was used: four elements of fp32 in each.
constexpr double kRevisited = 4;

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kExperimentRules[] = {
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
     "Let the compiler vectorise the inner loop (restrict, unit stride, no calls). For a recurrence, compute several "
     "independent ones at once.",
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
    // Arithmetic without a roof: the share of time that it needs is unknown.
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
};
// clang-format on

}  // namespace

std::span<const Rule> experiment_rules() { return kExperimentRules; }

}  // namespace roofline::rule_parts
