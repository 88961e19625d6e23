// Rules on bytes and operations in excess of the model.
#include "report/diagnosis/rules/rule_terms.hpp"

namespace roofline::rule_parts {
namespace {

/// SMs without a block matter only where they are a good part of what is missing.
constexpr Condition kIdleSms = above("blocks.explains", 0.25);
/// The access pattern matters only if a memory level is busy.
constexpr Condition kMemoryMatters = above("levels.utilization", 0.3);
/// At the roof of main memory, excess bytes cost time only if they come from there.
constexpr Condition kExcessCosts = is("excess.costs");
/// Excess bytes cost time only where DRAM is what the other levels wait for.
constexpr Condition kDramLimits = above("memory.utilization", 0.5);
constexpr std::string_view kCoalesce =
    "Let consecutive threads read consecutive addresses; stage strided data through shared memory. Triton: a tile of "
    "128 bytes or more along the contiguous dimension.";
constexpr std::string_view kCoalesceStores =
    "Let consecutive threads write consecutive addresses (an array per field, or a transpose in shared memory first).";

// One entry per rule, not one line per member.
// clang-format off
constexpr Rule kSectorRules[] = {
    // Excess traffic precedes the roof that it fills and the waits that it causes. A load of one address by all threads
    // uses little of its one sector, but no other order would improve it.
    {"narrow-blocks", kGpu,
     {is("block.narrow"), above("load.excess", 1.5), above("load.sectors", 2), above("load.share", 0.2), kMemoryMatters,
      kExcessCosts},
     "Blocks have {block.x} threads along x: a warp spans several rows and fetches {load.excess} the requested bytes "
     "({load.sectors} sectors per request).",
     "Launch blocks of 32 or more threads along x: dim3(32, 8) or dim3(128, 2).", kBestPractices, RuleKind::cause,
     kLibraryStream, "load.explains"},
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
    // Reports of ncu have sectors and requests, but rarely the requested bytes.
    {"many-sector-loads", kGpu,
     {above("load.least_excess", 1.1), above("load.sectors", 2), is("load.much"), is("excess.matters")},
     "Scattered loads take {load.sectors} sectors per request: at least {load.least_excess} the requested bytes.",
     kCoalesce, kNsight, RuleKind::cause, kLibraryStream, "load.explains"},
    {"many-sector-stores", kGpu,
     {above("store.least_excess", 1.1), above("store.sectors", 2), is("store.much"), is("excess.matters")},
     "Scattered stores take {store.sectors} sectors per request: at least {store.least_excess} the written bytes.",
     kCoalesceStores, kNsight, RuleKind::cause, kLibraryStream, "store.explains"},
    {"excess-sectors", kGpu, {above("excess.over_dram", 0.3), is("excess.by_kind", false), is("excess.matters")},
     "Uncoalesced accesses touch {excess.bytes} in excess, {excess.over_dram} the bytes of DRAM.",
     "Let consecutive threads access consecutive addresses. ncu --set full tells loads from stores.", kNsight,
     RuleKind::cause, kLibraryStream},
};

constexpr Rule kExcessWorkRules[] = {
    {"no-tensor-cores", kGpu, {is("matrix.work"), kNoTensorWork},
     "Matrix product without tensor cores.",
     "Use mma or wgmma, or cuBLAS: the tensor roof is {tensor.gain} that of FP32.", kMeasured},
    {"widened-products", kGpu,
     {kOwnKernel, is("products.fp32"), is("products.widened"), above("products.needless", 0.15)},
     "Converts 16-bit matrices to fp32 and multiplies them on the FP32 pipe; tensor cores are idle.",
     "Multiply the 16-bit values on tensor cores, which add in fp32 (Triton: tl.dot without .to(tl.float32) of its "
     "operands; CUDA: mma, cuBLAS).",
     kMeasured},
    // A caller of a library's kernel can't change its tiles.
    {"small-tiles", kGpu,
     {kOwnKernel, is("matrix.work"), is("tensor.executed"), below("tensor.active", 0.5), above("levels.utilization", 0.4),
      below("memory.utilization", 0.5), above("operands.need", 2)},
     "Small tiles: operands are read again for few products. Tensor cores are active in {tensor.active} of cycles, "
     "{level} is {levels.utilization} busy.",
     "Larger tiles. Triton: BLOCK_M, BLOCK_N and BLOCK_K of 128 × 128 × 64 or more, num_warps=8, num_stages=3, chosen by "
     "triton.autotune. CUDA C++: more rows and columns per warp, in registers.",
     kMeasured},
    // Only near the rate that mma.sync can reach, wgmma is what is missing.
    {"mma-sync", kGpu, {below("wgmma.share", 0.5), is("wgmma.available"), above("tensor.active", 0.6)},
     "Uses mma.sync, which cannot reach this chip's full rate; {wgmma.share} of its tensor operations use wgmma.",
     "Use wgmma with operands in shared memory (CUTLASS 3; Triton: BLOCK_M a multiple of 64, num_warps of 4).", kMeasured,
     RuleKind::cause, "Library kernel older than this chip. Options: a newer version, or its kernels for sm_90."},
    {"too-few-blocks", kGpu, {below("blocks.per_sm", 1), kIdleSms},
     "Grid size {blocks}: too few blocks for {sms} {gpu.units}, so some are idle.",
     "Split the work more finely (split-K, shorter rows per block), or increase the problem size.", kBestPractices,
     RuleKind::cause, kLibraryGrid},
    // A sum that is kept in memory, because another pointer might point to it.
    {"repeated-stores", kGpu, {kUnderRoof, kOwnKernel, kMemoryBound, above("store.repeats", 3), above("store.share", 0.1)},
     "Stores write {store.repeats} the bytes that reach main memory or fit into L2: the same addresses are written again.",
     "Sum in a register and store once. __restrict__ tells the compiler that pointers do not overlap.", kMeasured},
    // Where samples show that warps wait more for something else, that rule comes first.
    {"small-grid", kGpu, {kUnderRoof, kMemoryBound, below("grid.fill", 0.75), below("occupancy", 0.6)},
     "The grid fills {grid.fill} of the block slots ({occupancy} occupancy): too few loads in flight.",
     "Launch more or larger blocks, or issue several loads per thread before the first use (pointers with __restrict__ "
     "let the compiler move loads above stores).",
     kBestPractices,
     RuleKind::cause, kLibraryGrid, "load.explains"},
    {"spills", kGpu, {above("local.share", 0.05), above("levels.utilization", 0.05)},
     "Local memory (spilled registers, dynamically indexed arrays) is {local.share} of L1 traffic.",
     "Unroll so that arrays stay in registers, or allow more registers per thread (__launch_bounds__).", kNsight,
     RuleKind::cause, kLibraryKernel},
    {"bank-conflicts", kGpu, {above("shared.excess", 1.3), above("shared.share", 0.2), kMemoryMatters},
     "Bank conflicts cause {shared.excess} the ideal shared memory wavefronts.",
     "Pad or swizzle the shared tile so that a warp's accesses hit different banks.", kNsight, RuleKind::cause,
     kLibraryKernel, "wait.shared.share"},
    // A public transpose with conflicts in 24 % of its cycles is 1 % faster without them: other warps fill them.
    {"bank-conflict-cycles", kGpu, {kUnderRoof, above("conflicts.share", 0.3)},
     "Bank conflicts of shared memory take {conflicts.share} of the cycles.",
     "Pad or swizzle the shared tile so that a warp's accesses hit different banks.", kNsight, RuleKind::cause,
     kLibraryKernel},
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
};
// clang-format on

}  // namespace

std::span<const Rule> sector_rules() { return kSectorRules; }
std::span<const Rule> excess_work_rules() { return kExcessWorkRules; }

}  // namespace roofline::rule_parts
