// Rules on loops of CPU programs, counted under emulation.
#include "report/diagnosis/rules/rule_terms.hpp"

namespace roofline::rule_parts {
namespace {

/// A memory-bound loop below this share of its roof waits for something else than bytes.
constexpr double kBusyLevel = 0.4;
/// Fraction of the scalar rate of two FMAs per cycle. A dependency chain with a latency of four cycles reaches 0.125.
constexpr double kChainRate = 0.15;
constexpr std::string_view kLibraryLoop =
    "Library code. Options: call it less often, for more data per call, or use another one.";
constexpr std::string_view kFlush =
    "Flush them to zero (-ffast-math, or _MM_SET_FLUSH_ZERO_MODE in each thread), or rescale the data.";
constexpr std::string_view kNoLoopAction =
    "No action: the counts do not show the cause. `perf stat -d` may, on a CPU with counters.";
constexpr std::string_view kInstructionTables = "instruction tables of Agner Fog";

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kLoopThreadRules[] = {
    // Loops of a program that was counted under emulation. Threads and unused bytes come before the roof that is reached
    // in spite of them.
    {"mismatched-loop", kCpu, {above("loop.mismatch", 10)},
     "Counts and time are not of the same work: {loop.mismatch} instructions per cycle are more than a CPU can "
     "execute.",
     "Measure again with a run of several seconds that always does the same work.", kMeasured, RuleKind::measure},
    {"uneven-loop", kCpu, {above("loop.busiest", kUneven), above("loop.together", 1.1)},
     "The busiest thread runs the loop for {loop.busiest} the mean time of its threads.",
     "Give threads equal work: smaller chunks, scheduled dynamically (schedule(dynamic, n)).", kMeasured},
    {"serial-part", kCpu,
     {below("loop.together", 1.3), above("loop.program_threads", 1.7), above("loop.parallel_saving", 0.05),
      is("library", false)},
     "It runs on {loop.together} of {loop.program_threads} threads at a time.",
     "Divide its iterations over the threads (#pragma omp parallel for), or overlap it with other work.", kMeasured},
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
};

constexpr Rule kPartialLoopRules[] = {
    // The emulated run ended early: without FLOPs and bytes there is no roof, but counts of one part of the run still tell
    // about each other.
    {"partly-counted-strided-loop", kCpu,
     {is("loop.partial"), above("loop.stride", 127), above("loop.other", 0.5), above("loop.misses", 0.15),
      below("loop.line_use", 0.6)},
     "Consecutive accesses are {loop.stride} apart: {loop.misses} of them miss L1, and {loop.line_use} of each cache line is "
     "used (of the part of the run that was counted).",
     "Let the innermost loop run over adjacent elements: exchange the loops, change the layout, or block both (tiles).",
     kMeasured, RuleKind::cause, kLibraryLoop},
    {"partly-counted-shared-loop", kCpu,
     {is("loop.partial"), above("loop.falsely_shared", 0.05), above("loop.together", 1.3)},
     "{loop.falsely_shared} of its accesses go to cache lines in which other threads write other bytes (false sharing; of "
     "the part of the run that was counted).",
     "Sum in a local variable and store once, or pad each thread's data to a cache line of its own (alignas(64)).",
     kMeasured, RuleKind::cause, kLibraryLoop},
    {"partly-counted-dividing-loop", kCpu, {is("loop.partial"), above("loop.divide_share", 0.5)},
     "Divisions and roots need {loop.divide_share} of the cycles that its instructions need at least (of the part of the "
     "run that was counted).",
     "Multiply by the reciprocal where a divisor repeats; else divide less often.", kInstructionTables, RuleKind::cause,
     kLibraryLoop},
};

constexpr Rule kLoopRules[] = {
    {"strided-loop", kCpu,
     {kUnderRoof, above("loop.stride", 127), above("loop.other", 0.5), above("loop.misses", 0.15),
      below("loop.line_use", 0.6)},
     "Consecutive accesses are {loop.stride} apart: {loop.misses} of them miss L1, and {loop.line_use} of each cache line is "
     "used.",
     "Let the innermost loop run over adjacent elements: exchange the loops, change the layout, or block both (tiles).",
     kMeasured, RuleKind::cause, kLibraryLoop},
    // Page walks of dependent loads are serialised, too; larger pages do not remove the dependency.
    {"load-chain-loop", kCpu, {kUnderRoof, above("loop.load_chain_need", 0.25), is("loop.busy", false)},
     "Each load's address comes from the load before: these loads take at least {loop.load_chain_need:least} of the time, one "
     "after the other.",
     "Follow several chains at the same time (interleave them in one loop), or store what belongs together in arrays, in "
     "the order of use.",
     kInstructionTables, RuleKind::cause, kLibraryLoop},
    {"page-walk-loop", kCpu,
     {kUnderRoof, above("loop.walks", 0.1), above("loop.misses", 0.1), is("loop.busy", false)},
     "{loop.walks} of its accesses need a page walk: they touch more 4 KiB pages than the TLB holds (modelled).",
     "Use huge pages (GLIBC_TUNABLES=glibc.malloc.hugetlb=1, madvise with MADV_HUGEPAGE); sort or block the accesses.",
     kMeasured, RuleKind::cause, kLibraryLoop},
    {"irregular-loop", kCpu,
     {is("loop.beyond_l1"), below("loop.line_use", 0.5), above("loop.other", 0.3), above("loop.misses", 0.05),
      below("roof.fraction", kBusyLevel), is("loop.busy", false)},
     "{loop.other} of its accesses jump to another cache line and use {loop.line_use} of it: load latency limits it.",
     "Sort or block the accesses, keep several independent loads in flight, or prefetch (__builtin_prefetch).",
     kMeasured, RuleKind::cause, kLibraryLoop},
    {"integer-dividing-loop", kCpu, {kUnderRoof, above("loop.integer_divides_need", 0.35)},
     "Integer divisions and remainders need at least {loop.integer_divides_need:least} of its time.",
     "Divide by constants or powers of two, compare instead of %, or multiply by a reciprocal; use 32-bit integers.",
     kInstructionTables, RuleKind::cause, kLibraryLoop},
    {"dividing-loop", kCpu, {kUnderRoof, above("loop.divides_need", 0.5)},
     "Divisions and roots need at least {loop.divides_need:least} of its time.",
     "Multiply by the reciprocal where a divisor repeats; else use approximations (-mrecip, rsqrt).",
     kInstructionTables, RuleKind::cause, kLibraryLoop},
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
     "{loop.mispredicted} of its branches are mispredicted (modelled): at least {loop.mispredictions_need:least} of its time.",
     "Compute both values and select one without a branch, or sort or partition the data first; -O3 or a profile "
     "(-fprofile-use) may do it.",
     kMeasured, RuleKind::cause, kLibraryLoop},
    // Where other threads write the same lines, each takes ten times as long: a lower bound.
    {"atomic-loop", kCpu, {kUnderRoof, above("loop.atomics_need", 0.2)},
     "Atomic operations need at least {loop.atomics_need:least} of its time, more where threads share their cache lines.",
     "Count in a local variable of each thread and add it once at the end; else spread counters over cache lines.",
     kInstructionTables, RuleKind::cause, kLibraryLoop},
    {"converting-loop", kCpu, {kUnderRoof, above("loop.conversions_need", 0.2)},
     "Conversions between single and double precision need at least {loop.conversions_need:least} of its time.",
     "If single precision is meant, write constants with an f (0.5f) and call sqrtf and the like; else convert once.",
     kInstructionTables, RuleKind::cause, kLibraryLoop},
    // The latencies are the least of any CPU: others need twice the time.
    {"chain-loop", kCpu, {kUnderRoof, above("loop.chain_need", 0.35)},
     "Each iteration needs the previous result: this dependency chain takes at least {loop.chain_need:least} of the time.",
     "A sum: keep several partial sums (-ffast-math, #pragma omp simd reduction). A recurrence: compute several at once.",
     kInstructionTables, RuleKind::cause, kLibraryLoop},
    // Also if the loop waits for nothing: its pipes are busy with a part of the work that they could do.
    {"narrow-vectors-loop", kCpu,
     {kUnderRoof, above("loop.width_need", 0.75), below("loop.width", 0.75), below("loop.scalar_share", 0.5),
      below("loop.memory_need", 0.6)},
     "Its vectors are narrower than the CPU's ({loop.width} of their width): at that width its pipes are "
     "{loop.width_need} busy.",
     "Compile it for the widest vectors (-march=native -mprefer-vector-width=512), or write its intrinsics for them.",
     kMeasured, RuleKind::cause, kLibraryLoop},
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
    // What is not counted may be anything: no cause, and no action that presumes one.
    {"unexplained-loop", kCpu, {is("loop.counted"), below("roof.fraction", 0.6)},
     "{roof.missing} unexplained, at {loop.instructions} instructions per cycle: none of the counts explains it.",
     kNoLoopAction, kMeasured, RuleKind::unexplained},
    {"unexplained-rest-loop", kCpu, {kUnderRoof, kCounted, is("loop.counted")},
     "{roof.missing} unexplained: the {pipe} is {compute.utilization} busy, {level} {levels.utilization}.", kNoLoopAction,
     kMeasured, RuleKind::unexplained},
};
// clang-format on

}  // namespace

std::span<const Rule> loop_thread_rules() { return kLoopThreadRules; }
std::span<const Rule> partial_loop_rules() { return kPartialLoopRules; }
std::span<const Rule> loop_rules() { return kLoopRules; }

}  // namespace roofline::rule_parts
