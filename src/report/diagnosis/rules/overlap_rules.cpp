// Rules on GPU units that idle or do not overlap: waves, tensor cores, occupancy, stalls.
#include "report/diagnosis/rules/rule_terms.hpp"

namespace roofline::rule_parts {
namespace {

/// With less than one wave, there are no more blocks for an SM.
constexpr Condition kFullWave = above("waves", 0.99);

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kOverlapRules[] = {
    {"fp32-products", kGpu, {kOwnKernel, is("products.fp32"), above("products.busy", 0.3), above("products.needless", 0.15)},
     "Multiply-adds as in a matrix product run on the FP32 pipe ({products.busy} busy); tensor cores are idle.",
     "If it is a matrix product, use tensor cores: TF32 is {products.rate} as fast (Triton: tl.dot with "
     "input_precision=\"tf32\", or bf16 inputs; CUDA: mma, cuBLAS).",
     kMeasured},
    {"uneven-blocks", kGpu, {kUnderRoof, above("blocks.uneven", 0.2), above("uneven.explains", 0.25)},
     "{blocks} blocks do not divide evenly among {sms} {gpu.units}, so some finish early: "
     "average activity is {sm.active.share} of the kernel time.",
     "Choose a multiple of {sms} blocks, or more and smaller ones.", kNsight, RuleKind::cause, kLibraryGrid},
    {"idle-sms", kGpu, {kUnderRoof, kFullWave, below("sm.active.share", 0.5)},
     "The {gpu.units} are active {sm.active.share} of its time on average: a few blocks take much longer than the others.",
     "Give blocks equal work: split the long ones, or let blocks fetch work from a shared counter.", kMeasured,
     RuleKind::cause, kLibraryGrid, "sm.idle.share"},
    {"tail", kGpu, {above("waves", 1), below("waves", 6), above("tail.idle", 0.15), above("tail.explains", 0.33)},
     "{waves} waves of blocks: the last one leaves {tail.idle} of the block slots idle.",
     "Choose a grid of whole waves, smaller blocks, or a persistent kernel with a tile scheduler.", kNsight,
     RuleKind::cause, "Grid size follows the problem size: choose sizes that fill whole waves, or larger ones."},
    // The roof of a pipe counts multiply-adds as two operations. Other arithmetic fills as many issue slots.
    {"issue-full", kGpu,
     {kUnderRoof, kComputeBound, kNoTensorWork, above("issue.active", 0.8), above("issue.arithmetic", 0.85),
      above("sm.active.share", 0.9)},
     "Schedulers issue in {issue.active} of cycles, and {issue.arithmetic} of the instructions are floating-point "
     "arithmetic.",
     "No action in the kernel code: only fewer operations per result make it faster (another algorithm, half precision).",
     kMeasured, RuleKind::no_action},
    {"second-pipe", kGpu,
     {kUnderRoof, kComputeBound, is("matrix.work"), above("compute.utilization", 0.4), above("second.need", 0.4),
      above("second.explains", 0.33)},
     "The {second} alone needs {second.need} of the attainable time and does not fully overlap with the products.",
     "Overlap both: warp specialisation or ping-pong (softmax of one tile under the MMAs of the next), or exponentials "
     "as polynomials on the FP32 pipe.",
     kMeasured, RuleKind::cause, "Library kernel. Options: another algorithm, or a newer version."},
    {"pipes-in-turn", kGpu,
     {kUnderRoof, kComputeBound, is("matrix.work", false), above("compute.utilization", 0.3), above("second.need", 0.4),
      above("second.explains", 0.33)},
     "The {pipe} is {compute.utilization} busy; the {second} alone needs {second.need} of the attainable time and does "
     "not fully overlap with it.",
     "Give each thread more independent work (several elements, an unrolled loop), so that both pipes work at the same "
     "time; or use fewer special functions and divisions.",
     kMeasured, RuleKind::cause, "Library kernel. Options: another algorithm, or a newer version."},
    {"tensor-idle", kGpu, {is("matrix.work"), is("tensor.executed"), below("tensor.active", 0.5)},
     "Tensor cores are active in only {tensor.active} of cycles.",
     "Feed them faster: asynchronous copies (TMA) into more stages, larger tiles, producer and consumer warps.", kField,
     RuleKind::cause, kLibraryKernel},
    // All cycles are used: the gap to the roof is a lower clock.
    {"clock-below-roof", kGpu,
     {above("tensor.active", 0.8), kUnderRoof, kComputeBound, above("clock.explains", 0.5), is("clock.known", false)},
     "Tensor cores are active in {tensor.active} of cycles: most of the gap to the roof is a lower clock.",
     "No action in the kernel code. Fewer operations, a smaller type or a higher power limit would make it faster.", kMeasured,
     RuleKind::no_action},
    {"tensor-gaps", kGpu,
     {kUnderRoof, kComputeBound, is("matrix.work"), above("tensor.active", 0.5), below("tensor.active", 0.96)},
     "Tensor cores idle {tensor.gap} of cycles (tile prologue and epilogue, or waiting for operands).",
     "Overlap each tile's epilogue with the next tile's MMAs (warp specialisation, ping-pong); prefetch deeper.",
     kMeasured, RuleKind::cause, kLibraryKernel},
    // Both would be busy nearly all the time if they overlapped, and warps wait for loads.
    {"loads-in-turns", kGpu,
     {kUnderRoof, kOwnKernel, above("memory.utilization", 0.3), above("compute.utilization", 0.3),
      above("busy.sum", 0.8), above("load.explains", 0.2), kNoTensorWork},
     "Loads and arithmetic take turns: {level} is {levels.utilization} busy, the {pipe} {compute.utilization}, and warps "
     "wait for loads {load.explains} of their time.",
     "Load the next data during the arithmetic: cp.async or TMA in two or more stages, waiting for the older one only "
     "(cp.async.wait_group 1); or more blocks per SM.",
     kSampled, RuleKind::cause, {}, "load.explains"},
    // A level that is busy most of the time delays a pipe that should always be busy. Tensor cores are fed by
    // asynchronous copies.
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
     {kUnderRoof, below("block.seconds", 2.5e-6), below("occupancy", 0.6), below("occupancy.of_possible", 0.6),
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
     "Each thread loads {load.width} at a time and DRAM is {memory.utilization} busy: too few bytes in flight.",
     "Load 16 bytes per thread at a time, or issue several loads before the first use.", kBestPractices,
     RuleKind::cause, kLibraryStream, "load.explains"},
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
     "Move work to another pipe, or reduce the work on this one.", kNsight},
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
};
// clang-format on

}  // namespace

std::span<const Rule> overlap_rules() { return kOverlapRules; }

}  // namespace roofline::rule_parts
