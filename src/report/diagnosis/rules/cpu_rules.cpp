// Rules on counted CPU rows.
#include "report/diagnosis/rules/rule_terms.hpp"

namespace roofline::rule_parts {
namespace {

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kCpuRateRules[] = {
    // Half of the arithmetic roof may be one of two threads, a quarter one of four lanes.
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
};

constexpr Rule kCpuMemoryRules[] = {
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
};
// clang-format on

}  // namespace

std::span<const Rule> cpu_rate_rules() { return kCpuRateRules; }
std::span<const Rule> cpu_memory_rules() { return kCpuMemoryRules; }

}  // namespace roofline::rule_parts
