// The table. A threshold's source is named beside it: "field" means the rules of thumb that Nsight Compute's guide, the
// CUDA Best Practices Guide and the roofline literature share; "measured" means that this machine's own roofs decide.
#include "report/diagnosis/rules.hpp"

#include <array>

#include "model/disturbance.hpp"

namespace roofline {
namespace {

constexpr auto kBelow = Relation::below;
constexpr auto kAbove = Relation::above;
constexpr auto kIs = Relation::is;

constexpr std::optional<DeviceKind> kAny;
constexpr std::optional<DeviceKind> kGpu = DeviceKind::cuda;
constexpr std::optional<DeviceKind> kCpu = DeviceKind::cpu;

constexpr std::string_view kNsight = "Nsight Compute, Kernel Profiling Guide";
constexpr std::string_view kBestPractices = "CUDA C++ Best Practices Guide";
constexpr std::string_view kField = "rule of thumb of the field";
constexpr std::string_view kMeasured = "this machine's own roofs";

// What the machine did decides before anything that the kernel did, unless it is at its roof all the same.
constexpr std::array kDisturbed = {Condition{"time.lost", kAbove, 0.005}, Condition{"roof.fraction", kBelow, 0.9}};
constexpr std::array kSlowMachine = {Condition{"pace", kBelow, kSlowPace}, Condition{"roof.fraction", kBelow, 0.9}};
constexpr std::array kAtPace = {Condition{"roof.at_pace", kAbove, 0.9}, Condition{"roof.fraction", kBelow, 0.9}};
// The floor is that of empty kernels in a row. A kernel that reads and writes a little takes twice that on an H200.
constexpr std::array kLaunchBound = {Condition{"launch.share", kAbove, 0.35}};
constexpr std::array kTransferBound = {Condition{"transfer.share", kAbove, 0.5}};
// Well above its roof is a finding of another kind: a cache served it, or the model counts too much.
constexpr std::array kGoodEnough = {Condition{"roof.fraction", kAbove, 0.9}, Condition{"roof.fraction", kBelow, 1.1}};
constexpr std::array kThrottled = {Condition{"clock.share", kBelow, 0.9}, Condition{"compute.bound", kIs, 1}};
constexpr std::array kNoTensor = {Condition{"matrix.work", kIs, 1}, Condition{"tensor.executed", kIs, 0}};
constexpr std::array kMmaSync = {Condition{"wgmma.share", kBelow, 0.5}, Condition{"wgmma.available", kIs, 1}};
constexpr std::array kTensorIdle = {Condition{"matrix.work", kIs, 1}, Condition{"tensor.executed", kIs, 1},
                                    Condition{"tensor.active", kBelow, 0.5}};
constexpr std::array kFewBlocks = {Condition{"blocks.per_sm", kBelow, 1}};
constexpr std::array kTail = {Condition{"waves", kAbove, 1}, Condition{"waves", kBelow, 6},
                              Condition{"tail.idle", kAbove, 0.15}};
// With less than one wave there are no more blocks to hold.
constexpr std::array kOccupancyRegisters = {Condition{"occupancy", kBelow, 0.25}, Condition{"limit.registers", kIs, 1},
                                            Condition{"waves", kAbove, 0.99},
                                            Condition{"both.utilization", kBelow, 0.6}};
constexpr std::array kOccupancyShared = {Condition{"occupancy", kBelow, 0.25}, Condition{"limit.shared", kIs, 1},
                                         Condition{"waves", kAbove, 0.99}, Condition{"both.utilization", kBelow, 0.6}};
// As many blocks of one warp as an SM takes fill half of it, on every chip so far.
constexpr std::array kOccupancyBlocks = {Condition{"occupancy", kBelow, 0.55}, Condition{"limit.blocks", kIs, 1},
                                         Condition{"waves", kAbove, 0.99}, Condition{"both.utilization", kBelow, 0.6}};
constexpr std::array kOccupancyUneven = {Condition{"occupancy", kBelow, 0.5},
                                         Condition{"occupancy.of_possible", kBelow, 0.6},
                                         Condition{"both.utilization", kBelow, 0.6}};
// A load of one address for all threads has one sector of which it uses little; no other order would help it. And
// where no level of memory is busy, how it is accessed doesn't matter.
constexpr Condition kMemoryMatters = {"levels.utilization", kAbove, 0.05};
constexpr std::array kLoads = {Condition{"load.excess", kAbove, 1.5}, Condition{"load.sectors", kAbove, 2},
                               Condition{"load.share", kAbove, 0.2}, kMemoryMatters};
constexpr std::array kStores = {Condition{"store.excess", kAbove, 1.5}, Condition{"store.sectors", kAbove, 2},
                                Condition{"store.share", kAbove, 0.2}, kMemoryMatters};
constexpr std::array kSpills = {Condition{"local.share", kAbove, 0.05}, kMemoryMatters};
constexpr std::array kConflicts = {Condition{"shared.excess", kAbove, 1.3}, Condition{"shared.share", kAbove, 0.2},
                                   kMemoryMatters};
constexpr std::array kL2Misses = {Condition{"l2.hit_rate", kBelow, 0.2}, Condition{"dram.over_model", kAbove, 1.5},
                                  Condition{"memory.utilization", kAbove, 0.2}};
constexpr std::array kDramExcess = {Condition{"dram.over_model", kAbove, 1.25}, Condition{"l2.hit_rate", kAbove, 0.2},
                                    Condition{"memory.utilization", kAbove, 0.2}};
constexpr std::array kByDesign = {Condition{"traffic.by_design", kAbove, 1.1}};
constexpr std::array kL2Passes = {Condition{"l2.over_model", kAbove, 2}, Condition{"dram.over_model", kBelow, 1.25},
                                  Condition{"memory.bound", kIs, 1}};
constexpr std::array kFromCache = {Condition{"dram.over_model", kBelow, 0.8}, Condition{"memory.bound", kIs, 1}};
constexpr std::array kExtraFlops = {Condition{"flops.over_model", kAbove, 1.1}, Condition{"compute.bound", kIs, 1}};
constexpr std::array kMemoryStalls = {Condition{"stall.long_scoreboard.share", kAbove, 0.5}};
constexpr std::array kSharedStalls = {Condition{"stall.shared.share", kAbove, 0.3}};
constexpr std::array kBarrierStalls = {Condition{"stall.barrier.share", kAbove, 0.2}};
constexpr std::array kQueueStalls = {Condition{"stall.lsu.share", kAbove, 0.3}};
constexpr std::array kPipeStalls = {Condition{"stall.math_pipe.share", kAbove, 0.3}};
constexpr std::array kFetchStalls = {Condition{"stall.no_instruction.share", kAbove, 0.2}};
constexpr std::array kNotSelected = {Condition{"stall.not_selected.share", kAbove, 0.3}};
constexpr std::array kDependencyStalls = {Condition{"stall.wait.share", kAbove, 0.4}};
constexpr std::array kPoorMemory = {Condition{"memory.bound", kIs, 1}, Condition{"levels.utilization", kBelow, 0.2}};
constexpr std::array kPoorCompute = {Condition{"compute.bound", kIs, 1}, Condition{"compute.utilization", kBelow, 0.5},
                                     Condition{"memory.utilization", kAbove, 0.6}};
constexpr std::array kLatency = {Condition{"compute.utilization", kBelow, 0.6},
                                 Condition{"levels.utilization", kBelow, 0.6}};

constexpr Rule kRules[] = {
    {"disturbed", kAny, kDisturbed,
     "Others, or a limiter, had up to {time.lost} of the processor's time while it was timed, and no quieter moment "
     "came.",
     "Time it when the machine is quiet: till then nothing can be said of the kernel.", kMeasured, true},
    {"slow-machine", kCpu, kSlowMachine,
     "The machine itself ran at {pace} of its roofs beside this (copying at {pace.copy}, arithmetic at "
     "{pace.arithmetic}), and the system gives no reason: a neighbour on the same host, power or heat.",
     "Time it when the machine is quiet, or calibrate again if it stays so: till then nothing can be said of the "
     "kernel.",
     kMeasured, true},
    {"at-the-pace", kCpu, kAtPace,
     "It reaches {roof.fraction} of its roof, and {roof.at_pace} of what the calibration's own probe reached beside "
     "it.",
     "Time it when the machine is quiet: what holds it back now is the machine.", kMeasured, true},
    {"launch-bound", kGpu, kLaunchBound, "{launch.share} of the time is the floor of its kernel launches.",
     "Fuse kernels, or run many of them from one graph; a larger problem hides the launch.", kMeasured},
    {"launch-bound", kCpu, kLaunchBound, "{launch.share} of the time is what starting and joining its threads takes.",
     "Do more in one go: fuse it with its neighbours or give it a larger problem; where it is this small, fewer "
     "threads "
     "start sooner.",
     kMeasured},
    {"transfer-bound", kGpu, kTransferBound,
     "{transfer.share} of the time is what its bytes need on the link to the host.",
     "Keep the data on the device, overlap the copy with work, or use page-locked memory.", kMeasured},
    {"throttled", kGpu, kThrottled,
     "The SM clock was {clock}, {clock.share} of the highest: power or heat held it down.",
     "Compare it with others at that clock only; fewer bytes moved and less recomputation save power.", kMeasured},
    {"throttled", kCpu, kThrottled,
     "The core clock was {clock}, {clock.share} of the highest: power, heat or wide vectors held it down.",
     "Compare it with others at that clock only; fewer bytes moved and less recomputation save power.", kMeasured},
    {"from-cache", kGpu, kFromCache,
     "DRAM moves only {dram.over_model} of the compulsory bytes: the rest stays in cache.",
     "Hold it against L2's roof, or time it with inputs that do not fit.", kMeasured},
    {"from-cache", kCpu, kFromCache,
     "DRAM moves only {dram.over_model} of the compulsory bytes: the rest stays in cache.",
     "Hold it against the roof of the last cache level, or time it with inputs that do not fit.", kMeasured},
    {"good-enough", kAny, kGoodEnough, "It reaches {roof.fraction} of its roof.",
     "Stop here: only less work makes it faster (fusion with a neighbour, a smaller type, fewer bytes).", kField, true},
    {"no-tensor-cores", kGpu, kNoTensor, "It is a matrix product, and the tensor cores did nothing.",
     "Use mma or wgmma, or a library: on this machine they are {tensor.gain} faster than this pipe.", kMeasured},
    {"mma-sync", kGpu, kMmaSync,
     "Its tensor work goes through mma.sync ({wgmma.share} through wgmma), which does not reach the chip's full rate.",
     "Use wgmma with operands in shared memory (CUTLASS 3, or Triton for sm_90).", kMeasured},
    {"tensor-idle", kGpu, kTensorIdle, "The tensor cores work in {tensor.active} of the cycles.",
     "Feed them better: asynchronous copies (TMA) into more stages, larger tiles, loads and products in different "
     "warps.",
     kField},
    {"too-few-blocks", kGpu, kFewBlocks, "{blocks} blocks for {sms} SMs: some SMs have nothing to do.",
     "Split the work finer (split-K, shorter rows a block), or give it a larger problem.", kBestPractices},
    {"tail", kGpu, kTail, "{waves} waves of blocks: in the last one {tail.idle} of the block slots are empty.",
     "Choose a grid that fills whole waves, make blocks smaller, or let a persistent grid share out the work.",
     kNsight},
    {"occupancy-registers", kGpu, kOccupancyRegisters,
     "{occupancy} occupancy; {registers} registers a thread keep more blocks from an SM.",
     "Lower the registers (__launch_bounds__, smaller tiles a thread), if latency and not arithmetic is what it waits "
     "for.",
     kField},
    {"occupancy-shared-memory", kGpu, kOccupancyShared,
     "{occupancy} occupancy; {shared} of shared memory a block keep more blocks from an SM.",
     "Use fewer stages or smaller tiles, or let one block hold more warps.", kField},
    {"occupancy-blocks", kGpu, kOccupancyBlocks,
     "{occupancy} occupancy; blocks of {threads} threads are too small to fill an SM.", "Use more threads a block.",
     kField},
    {"occupancy-uneven", kGpu, kOccupancyUneven,
     "{occupancy} occupancy was reached, {occupancy.of_possible} of what would fit: warps end at different times, or "
     "sooner than new ones start.",
     "Balance the work between warps and blocks; where blocks are very short, let each do more.", kNsight},
    {"uncoalesced-loads", kGpu, kLoads,
     "Loads fetch {load.excess} the bytes that threads ask for ({load.sectors} sectors a request).",
     "Let neighbouring threads read neighbouring addresses; stage strided data through shared memory.", kBestPractices},
    {"uncoalesced-stores", kGpu, kStores,
     "Stores touch {store.excess} the bytes that threads write ({store.sectors} sectors a request).",
     "Let neighbouring threads write neighbouring addresses; transpose in shared memory first.", kBestPractices},
    {"spills", kGpu, kSpills,
     "Local memory (spilled registers, arrays indexed at run time) is {local.share} of its L1 traffic.",
     "Keep arrays in registers by unrolling, or allow more registers a thread.", kNsight},
    {"bank-conflicts", kGpu, kConflicts, "Bank conflicts make shared memory take {shared.excess} the wavefronts.",
     "Pad or swizzle the shared tile so that a warp's addresses fall into different banks.", kNsight},
    {"l2-misses", kGpu, kL2Misses,
     "L2 has {l2.hit_rate} of what is asked of it, and DRAM moves {dram.over_model} the compulsory bytes.",
     "Order the work so that blocks that run together share their data (tile the loops, swizzle the block order).",
     kField},
    {"extra-dram-traffic", kGpu, kDramExcess, "DRAM moves {dram.over_model} the compulsory bytes.",
     "Look for passes over the data that could be fused, partial lines, and intermediate results in memory.",
     kMeasured},
    {"traffic-by-design", kGpu, kByDesign, "By its design it moves {traffic.by_design} its compulsory traffic.",
     "Keep intermediate results in registers or shared memory, as the fused rungs do.", kMeasured},
    {"traffic-by-design", kCpu, kByDesign, "By its design it moves {traffic.by_design} its compulsory traffic.",
     "Keep intermediate results in registers or in a cache, a block at a time, as the fused rungs do.", kMeasured},
    {"several-passes", kGpu, kL2Passes,
     "L2 delivers {l2.over_model} the compulsory bytes: each input is read about that often.",
     "Keep a row in registers or shared memory instead of reading it again.", kMeasured},
    {"extra-flops", kAny, kExtraFlops, "It executes {flops.over_model} the FLOPs of the model.",
     "Look for padding, recomputation, and masked work that could be skipped.", kMeasured},
    {"memory-stalls", kGpu, kMemoryStalls,
     "Warps wait for global memory in {stall.long_scoreboard.share} of their stalls.",
     "Have more loads in flight: unroll, wider loads, asynchronous copies, more warps.", kField},
    {"shared-stalls", kGpu, kSharedStalls,
     "Warps wait for shared memory or special functions in {stall.shared.share} of their stalls.",
     "Fewer and wider shared accesses, no conflicts, cheaper special functions.", kNsight},
    {"barrier-stalls", kGpu, kBarrierStalls, "Warps wait at barriers in {stall.barrier.share} of their stalls.",
     "Fewer barriers, smaller blocks, or warp-level exchange instead of block-level.", kNsight},
    {"queue-stalls", kGpu, kQueueStalls, "Warps wait for the load/store queue in {stall.lsu.share} of their stalls.",
     "Fewer and wider loads and stores.", kNsight},
    {"pipe-stalls", kGpu, kPipeStalls, "Warps wait for an arithmetic pipe in {stall.math_pipe.share} of their stalls.",
     "It is the pipe that limits: move work to another one, or do less of it.", kNsight},
    {"fetch-stalls", kGpu, kFetchStalls, "Warps wait for instructions in {stall.no_instruction.share} of their stalls.",
     "The code is too large or the grid too small: unroll less.", kNsight},
    {"dependency-stalls", kGpu, kDependencyStalls,
     "Warps wait for the result just computed in {stall.wait.share} of their stalls.",
     "More independent work a thread (several accumulators), or more warps.", kNsight},
    {"ready-warps", kGpu, kNotSelected,
     "Warps are ready and not chosen in {stall.not_selected.share} of their stalls: there are enough.",
     "Occupancy is not the problem; fewer warps with more registers each may be faster.", kNsight},
    {"poor-memory", kGpu, kPoorMemory,
     "Memory-bound, and no level of memory is used to more than {levels.utilization}.",
     "Look at the access pattern and at the parallelism before anything else.", kField},
    {"poor-memory", kCpu, kPoorMemory,
     "Memory-bound, and no level of memory is used to more than {levels.utilization}.",
     "Look first at how it walks memory (whole vectors side by side, few streams, few pages) and at whether all "
     "threads "
     "have work.",
     kField},
    {"memory-before-compute", kGpu, kPoorCompute,
     "The model calls it compute-bound, but memory is used to {memory.utilization} and its pipe to "
     "{compute.utilization}.",
     "It moves more than it should: look for reuse that is lost.", kField},
    {"memory-before-compute", kCpu, kPoorCompute,
     "The model calls it compute-bound, but memory is used to {memory.utilization} and its pipe to "
     "{compute.utilization}.",
     "It moves more than it should: block the loops for the caches, so that what was loaded is used again there.",
     kField},
    {"latency", kGpu, kLatency,
     "Neither a pipe ({compute.utilization}) nor a level of memory ({levels.utilization}) is busy: latency.",
     "More parallelism: more warps, more loads in flight, more independent work a thread.", kNsight},
    {"latency", kCpu, kLatency,
     "Neither a pipe ({compute.utilization}) nor a level of memory ({levels.utilization}) is busy: latency.",
     "More independent work in each thread (several vector accumulators, loads ahead of their use), and work for every "
     "thread.",
     kField},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace roofline
