// Rules on sampled instructions of GPU kernels.
#include "report/diagnosis/rules/rule_terms.hpp"

namespace roofline::rule_parts {
namespace {

/// Bank conflicts would be seen by their own rule.
constexpr Condition kSharedNotCounted = is("shared.counted", false);
constexpr std::string_view kCombineAtomics =
    "Combine values in registers (shuffles) and shared memory first, then one atomic per block; spread the addresses.";
constexpr std::string_view kLibraryAtomics =
    "Library kernel. Options: sort by index and reduce segments, count (bincount), multiply by a one-hot matrix, "
    "or more rows to add to.";
constexpr std::string_view kLibraryDouble =
    "If single precision is enough: arrays in fp32 (dtype float32; NumPy's default is float64).";

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kSampleRules[] = {
    // Samples of instructions: they need no roof, and say at which line.
    {"local-memory-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.local_memory.share", 0.2)},
     "Warps spend {wait.local_memory.share} of their time waiting for local memory: spilled registers, or an array "
     "that is indexed at run time.",
     "Index arrays with constants (unrolled loops) or keep them in shared memory. To avoid spills: smaller tiles, more "
     "threads for each (num_warps in Triton), or more registers per thread (__launch_bounds__, -maxrregcount).",
     kSampled, RuleKind::cause, {}, "wait.local_memory.share"},
    {"global-atomic-waits", kGpu,
     {kNotAtRoof, above("wait.global_atomic.share", 0.1), above("atomic.explains", 0.25)},
     "Warps spend {atomic.explains} of their time waiting for atomic operations on global memory.",
     kCombineAtomics,
     kSampled, RuleKind::cause, kLibraryAtomics, "atomic.explains"},
    {"shared-atomic-waits", kGpu,
     {kNotAtRoof, kOwnKernel, above("wait.shared_atomic.share", 0.1), above("shared_atomic.explains", 0.25)},
     "Warps spend {shared_atomic.explains} of their time waiting for atomic operations on shared memory.",
     "Give each warp, or each lane, counters of its own and add them up at the end; combine equal keys in a warp first. "
     "Additions of floats are loops, which lanes with the same address repeat: integers are faster.",
     kSampled, RuleKind::cause, {}, "shared_atomic.explains"},
    {"fence-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.fence.share", 0.15)},
     "Warps spend {wait.fence.share} of their time waiting for memory fences.",
     "Use one fence after the last store, of the smallest scope that works (__threadfence_block), or none.", kSampled,
     RuleKind::cause, {}, "wait.fence.share"},
    {"constant-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.constant.share", 0.25)},
     "Warps spend {constant.explains} of their time waiting for constant memory: reads of different addresses "
     "within a warp are serialised.",
     "Put tables that lanes index differently into shared or global memory.", kSampled, RuleKind::cause, {}, "constant.explains"},
    {"double-among-single", kGpu, {kNotAtRoof, kOwnKernel, is("fp64.mixed"), above("wait.double.share", 0.3)},
     "Computes in double precision between values of single precision: conversions, divisions and FP64 operations take "
     "{wait.double.share} of its warps' time.",
     "If single precision is intended: float literals and functions (0.5f, sqrtf, logf, cospif; __logf where its accuracy "
     "is enough). Triton and PyTorch: inputs in float32, not float64 (.to(tl.float32) on load).",
     kSampled, RuleKind::cause, {}, "wait.double.share"},
    {"division-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.division.share", 0.3)},
     "Warps spend {wait.division.share} of their time in divisions, remainders, or subroutines that emulate an "
     "instruction.",
     "Divide once outside the loop, by a constant or a power of two; multiply by a reciprocal; index in 32 bits.",
     kSampled, RuleKind::cause, {}, "wait.division.share"},
    {"slow-trigonometry", kGpu, {kNotAtRoof, kOwnKernel, above("wait.reduction.share", 0.2)},
     "Warps spend {wait.reduction.share} of their time in the slow path of sinf, cosf, sincosf or tanf, for arguments above "
     "105,615.",
     "Reduce the argument first: keep the phase in turns, subtract whole turns (an unsigned integer phase wraps by itself), "
     "then sincospif. Without that, __sincosf and -use_fast_math are fast but inaccurate.",
     kSampled, RuleKind::cause, {}, "wait.reduction.share"},
    {"trigonometry-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.trigonometry.share", 0.3)},
     "Warps spend {wait.trigonometry.share} of their time computing sines and cosines in software (sinf, cosf, tl.sin, "
     "tl.cos).",
     "Compute those that several blocks or launches share once, in a kernel before, and load them from a table. Others: "
     "sincosf for both of one argument; for small arguments __sincosf (Triton: libdevice.fast_sinf, fast_cosf).",
     kSampled, RuleKind::cause, {}, "wait.trigonometry.share"},
    {"random-init", kGpu,
     {kNotAtRoof, kOwnKernel, above("wait.random_init.share", 0.25), above("launches", 1)},
     "Warps spend {wait.random_init.share} of their time initialising random number generators (curand_init), in each "
     "launch.",
     "Initialise the states once in a set-up kernel, and keep them in memory; or use Philox "
     "(curandStatePhilox4_32_10_t), whose initialisation is cheap.",
     kSampled, RuleKind::cause, {}, "wait.random_init.share"},
    {"exchange-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.exchange.share", 0.3)},
     "Warps spend {wait.exchange.share} of their time exchanging values between lanes (shuffles), as in a sort or scan.",
     "Combine values in each thread first, and exchange only the results. For the k largest values, select instead of "
     "sorting (Triton: tl.topk instead of tl.sort, or k rounds of tl.max).",
     kSampled, RuleKind::cause, {}, "wait.exchange.share"},
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
    // A full queue and few accesses: each takes many wavefronts.
    {"bank-conflict-waits", kGpu,
     {kNotAtRoof, kOwnKernel, kSharedNotCounted, above("shared.queue", 0.25), below("shared.least", 0.3)},
     "Warps spend {wait.shared.share} of their time waiting for shared memory. Without bank conflicts its accesses keep it "
     "busy for at most {shared.least} of the time.",
     "Pad or swizzle the shared tile so that a warp's accesses hit different banks (a row length of 33 instead of 32).",
     kSampled, RuleKind::cause, {}, "wait.shared.share"},
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
    {"fetch-waits", kGpu, {kNotAtRoof, kOwnKernel, above("fetch.explains", 0.3)},
     "Warps spend {fetch.explains} of their time waiting for instructions: the code of its loops does not fit into the "
     "instruction caches.",
     "Shorten the loops' code: less unrolling (#pragma unroll 4), a loop instead of copies of the code, rare branches in "
     "functions of their own (__noinline__).",
     kSampled, RuleKind::cause, {}, "fetch.explains"},
    // Loads through registers: warps wait for them before each product.
    {"product-waits-for-loads", kGpu,
     {kNotAtRoof, kOwnKernel, above("wait.global_load.share", 0.25), above("tensor.active", 0.05),
      below("tensor.active", 0.6), above("feed.explains", 0.4), below("levels.utilization", 0.6)},
     "Loads and products take turns: warps wait for loads, their stores to shared memory and barriers {feed.explains} of "
     "their time, tensor cores are active in {tensor.active} of cycles.",
     "Load the next tiles during a product: cp.async or TMA into 3 or 4 stages (Triton: num_stages=3).", kSampled,
     RuleKind::cause, {}, "feed.explains"},
    // Tensor cores read what TMA and cp.async have written without a fence; what threads have stored needs one.
    {"rewritten-operands", kGpu,
     {kNotAtRoof, kOwnKernel, is("tensor.executed"), below("tensor.active", 0.6), above("wait.fence.share", 0.05),
      above("wait.shared.share", 0.1)},
     "Threads write the operands to shared memory before each product: tensor cores are active in {tensor.active} of "
     "cycles.",
     "Load operands straight into shared memory and multiply them in the type that they are stored in (Triton: tl.dot "
     "without .to() of its operands; TMA, cp.async).",
     kSampled, RuleKind::cause, {}, "operands.waits"},
    // A warp costs the same with one thread as with 32. If memory limits the kernel, empty lanes cost nothing.
    {"ragged-block", kGpu,
     {kNotAtRoof, kOwnKernel, above("lanes.empty", 0.2), below("levels.utilization", 0.5), above("blocks.per_sm", 1)},
     "Blocks of {threads} threads fill {lanes.filled} of the lanes of their warps.",
     "Use a multiple of 32 threads per block: several items per block, or a flat index over items and their parts.",
     kBestPractices, RuleKind::cause, {}, "lanes.empty"},
    // One thread, or one warp, works between two barriers.
    {"serial-section", kGpu,
     {kNotAtRoof, kOwnKernel, above("wait.barrier.share", 0.25), below("lanes.active", 16), below("lanes.empty", 0.2)},
     "Warps spend {wait.barrier.share} of their time at barriers, and {lanes.active} of a warp's 32 threads are active per "
     "instruction: one thread works while its block waits.",
     "Let all threads do this part: scan or reduce by warp shuffles, then one warp over the warps' results "
     "(cub::BlockScan, cub::BlockReduce).",
     kSampled, RuleKind::cause, {}, "wait.barrier.share"},
    {"barrier-waits", kGpu, {kNotAtRoof, kOwnKernel, above("wait.barrier.share", 0.25)},
     "Warps spend {wait.barrier.share} of their time at barriers, waiting for late warps of the block.",
     "Give all warps of a block equal work between barriers; __syncwarp() where only threads of one warp exchange data; "
     "else smaller blocks, or several blocks per SM.", kSampled,
     RuleKind::cause, {}, "wait.barrier.share"},
    // As `tail`, for kernels whose counters were not read.
    {"last-wave", kGpu, {kNotAtRoof, kOwnKernel, is("roof.known", false), above("waves", 1), above("tail.explains", 0.33)},
     "{waves} waves of blocks: the last one leaves {tail.idle} of the block slots idle.",
     "Choose a grid of whole waves, smaller blocks, or a persistent kernel with a tile scheduler.", kNsight,
     RuleKind::cause, {}, "tail.explains"},
    // Warps do not wait for an atomic addition whose result is unused. Instead, loads wait behind it in the memory queue.
    {"atomic-queues", kGpu,
     {is("atomics.sampled"), above("atomic.share", 0.15), below("roof.fraction", 0.3), below("levels.utilization", 0.3)},
     "Atomic operations ({atomic.share} of its L1 traffic) at few addresses are serialised, and loads wait behind them.",
     kCombineAtomics,
     kSampled, RuleKind::cause, kLibraryAtomics},
    // The other warps leave, so that none waits at a barrier. With all threads active before it, the counted lanes leave
    // less than a quarter of a warp.
    {"serial-end", kGpu,
     {kUnderRoof, kOwnKernel, above("behind.share", 0.3), below("behind.lanes", 8), below("levels.utilization", 0.5),
      below("lanes.empty", 0.2)},
     "{behind.share} of the instructions are behind a barrier, where fewer than 8 of a warp's 32 threads are active: a few "
     "threads finish the work of their block.",
     "Let all threads do this part: reduce or scan by warp shuffles, then one warp over the warps' results "
     "(cub::BlockReduce, cub::BlockScan).",
     kSampled, RuleKind::cause, {}, "lanes.explains"},
    // Functions of double precision are long, and have branches. Without samples nothing tells how long they take.
    {"double-functions", kGpu,
     {kUnderRoof, kOwnKernel, is("fp64.mixed"), above("fp64.operations", 0.8), above("fp64.busy", 0.1),
      below("fp64.busy", 0.3)},
     "Computes in double precision: {fp64.operations} of its floating-point operations.",
     "If single precision is enough: float variables and accumulators, constants with an f (0.5f), functions of float "
     "(tanhf, expf).",
     kMeasured},
    // Divergent branches of a warp are serialised. If memory limits the kernel, idle lanes cost nothing.
    {"divergence", kGpu,
     {kUnderRoof, kOwnKernel, below("lanes.active", 22), below("levels.utilization", 0.5), above("blocks.per_sm", 1)},
     "{lanes.active} of a warp's 32 threads are active per instruction: divergent branches, or threads without work.",
     "Let all threads of a warp take the same branch: group elements by kind, or compute both values without a branch.",
     kBestPractices, RuleKind::cause, {}, "lanes.explains"},
    // Kernels without such samples.
    {"atomic-adds", kGpu, {is("adds_by_index"), above("atomic.share", 0.3), below("roof.fraction", 0.3)},
     "Atomic additions at given indices ({atomic.share} of its L1 traffic) are serialised where indices are equal.",
     "Combine values in registers and shared memory first, then one atomic per block.", kField, RuleKind::cause,
     kLibraryAtomics},
    {"double-precision", kGpu, {is("fp64.mixed"), above("fp64.busy", 0.3), above("fp64.needless", 0.15)},
     "Computes in double precision (FP64 pipe {fp64.busy} busy); single precision is {fp64.rate} as fast on this GPU.",
     "If single precision is enough: float variables and accumulators (Triton: tl.float32), constants with an f (0.5f).",
     kMeasured, RuleKind::cause, kLibraryDouble},
};
// clang-format on

}  // namespace

std::span<const Rule> sample_rules() { return kSampleRules; }

}  // namespace roofline::rule_parts
