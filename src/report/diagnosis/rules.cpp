// The table. A threshold's source is named beside it: "field" means the rules of thumb that Nsight Compute's guide, the
// CUDA Best Practices Guide and the roofline literature share; "measured" means that this machine's own roofs decide.
#include "report/diagnosis/rules.hpp"

#include <array>

#include "model/contention.hpp"
#include "report/roof_share.hpp"

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
constexpr std::string_view kStatistics = "the interval of its median (docs/method.md)";

constexpr double kAtRoof = 0.9;
constexpr Condition kUnderRoof = {"roof.fraction", kBelow, kAtRoof};
constexpr Condition kCounted = {"counted", kIs, 1};
constexpr Condition kNotCounted = {"counted", kIs, 0};
constexpr Condition kMemoryBound = {"memory.bound", kIs, 1};
constexpr Condition kComputeBound = {"compute.bound", kIs, 1};

// What the machine did decides before anything that the kernel did, unless it is at its roof all the same.
constexpr std::array kDisturbed = {Condition{"time.lost", kAbove, 0.005}, kUnderRoof};
constexpr std::array kSlowMachine = {Condition{"pace", kBelow, kSlowReference}, kUnderRoof};
constexpr std::array kAtPace = {Condition{"roof.at_pace", kAbove, kAtRoof}, Condition{"pace", kBelow, 0.95},
                                kUnderRoof};
// Then how well the row is known: nobody is told to stop by a figure that nobody knows.
constexpr std::array kDrifting = {Condition{"drifting", kIs, 1}};
constexpr std::array kNoInterval = {Condition{"interval.known", kIs, 0}, Condition{"samples.close", kIs, 0}};
constexpr std::array kWideInterval = {Condition{"interval.width", kAbove, kWidestInterval}};
constexpr std::array kNotCold = {Condition{"not_cold", kIs, 1}};
constexpr std::array kAboveRoof = {Condition{"above_roof", kIs, 1}};
constexpr std::array kSuspectRoof = {Condition{"roof.suspect", kIs, 1}, Condition{"roof.fraction", kAbove, kAtRoof}};
constexpr std::array kSuspectNote = {Condition{"roof.suspect", kIs, 1}, kUnderRoof};
constexpr std::array kRoofless = {Condition{"roof.known", kIs, 0}};
// Collectives, alone or with their product. How fast a size can be is what the calibration's own sweep says of it.
constexpr Condition kAlone = {"product", kIs, 0};
constexpr Condition kWithProduct = {"product", kIs, 1};
constexpr double kAsCalibrated = 0.85;
constexpr std::array kAtLatency = {Condition{"network.latency.bound", kIs, 1},
                                   Condition{"roof.fraction", kAbove, kAtRoof},
                                   Condition{"roof.fraction", kBelow, 1.1}};
constexpr std::array kAtLink = {Condition{"network.bound", kIs, 1}, Condition{"roof.fraction", kAbove, kAtRoof},
                                Condition{"roof.fraction", kBelow, 1.1}};
constexpr std::array kMessageSize = {kUnderRoof, kAlone, Condition{"network.of_size", kAbove, kAsCalibrated}};
constexpr std::array kBelowLink = {kUnderRoof, kAlone, Condition{"network.of_size", kBelow, kAsCalibrated}};
constexpr std::array kExchangeLatency = {kUnderRoof, kWithProduct, Condition{"network.need", kAbove, 0.2},
                                         Condition{"network.latency.part", kAbove, 0.5}};
// Of two that run at the same time, their times alone are more than that of both.
constexpr std::array kTakeTurns = {kUnderRoof, kWithProduct, Condition{"overlap.gain", kAbove, 0.1},
                                   Condition{"apart.share", kAbove, 0.7}, Condition{"apart.share", kBelow, 1.1}};
constexpr std::array kCollectiveUnknown = {kUnderRoof, kAlone};
constexpr std::array kProductUnknown = {kUnderRoof, kWithProduct};
// The floor is that of empty kernels in a row. A kernel that reads and writes a little takes twice that on an H200.
constexpr std::array kLaunchBound = {Condition{"launch.share", kAbove, 0.35}};
constexpr std::array kTransferBound = {Condition{"transfer.share", kAbove, 0.5}};
// Well above its roof is a finding of another kind: a cache served it, or the model counts too much.
constexpr std::array kGoodEnough = {Condition{"roof.fraction", kAbove, kAtRoof},
                                    Condition{"roof.fraction", kBelow, 1.1}};
constexpr std::array kThrottled = {Condition{"clock.share", kBelow, 0.9}, kComputeBound};
constexpr std::array kNoTensor = {Condition{"matrix.work", kIs, 1}, Condition{"tensor.executed", kIs, 0}};
constexpr std::array kMmaSync = {Condition{"wgmma.share", kBelow, 0.5}, Condition{"wgmma.available", kIs, 1}};
constexpr std::array kTensorIdle = {Condition{"matrix.work", kIs, 1}, Condition{"tensor.executed", kIs, 1},
                                    Condition{"tensor.active", kBelow, 0.5}};
constexpr std::array kTensorGaps = {kUnderRoof, kComputeBound, Condition{"matrix.work", kIs, 1},
                                    Condition{"tensor.active", kAbove, 0.5}, Condition{"tensor.active", kBelow, 0.96}};
// The cycles are full and the seconds are not: what is missing is cycles a second.
constexpr std::array kClockUnknown = {Condition{"tensor.active", kAbove, 0.8}, kUnderRoof, kComputeBound,
                                      Condition{"clock.explains", kAbove, 0.5}, Condition{"clock.known", kIs, 0}};
// SMs without a block, or without a full one, only matter where they are a good part of what is missing.
constexpr Condition kIdleSms = {"blocks.explains", kAbove, 0.25};
constexpr std::array kFewBlocks = {Condition{"blocks.per_sm", kBelow, 1}, kIdleSms};
constexpr std::array kSmallGrid = {kUnderRoof, kMemoryBound, Condition{"grid.fill", kBelow, 0.75},
                                   Condition{"occupancy", kBelow, 0.6}};
constexpr std::array kTail = {Condition{"waves", kAbove, 1}, Condition{"waves", kBelow, 6},
                              Condition{"tail.idle", kAbove, 0.15}, Condition{"tail.explains", kAbove, 0.33}};
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
constexpr Condition kMemoryMatters = {"levels.utilization", kAbove, 0.3};
constexpr std::array kLoads = {Condition{"load.excess", kAbove, 1.5}, Condition{"load.sectors", kAbove, 2},
                               Condition{"load.share", kAbove, 0.2}, kMemoryMatters};
// Each sector takes its turn in the queue of loads, however few bytes cross a level for it.
constexpr std::array kScattered = {Condition{"load.excess", kAbove, 4}, Condition{"load.sectors", kAbove, 8},
                                   Condition{"load.share", kAbove, 0.2}, Condition{"levels.utilization", kAbove, 0.1},
                                   Condition{"levels.utilization", kBelow, 0.3}};
constexpr std::array kStores = {Condition{"store.excess", kAbove, 1.5}, Condition{"store.sectors", kAbove, 2},
                                Condition{"store.share", kAbove, 0.2}, kMemoryMatters};
constexpr std::array kSpills = {Condition{"local.share", kAbove, 0.05}, Condition{"levels.utilization", kAbove, 0.05}};
constexpr std::array kConflicts = {Condition{"shared.excess", kAbove, 1.3}, Condition{"shared.share", kAbove, 0.2},
                                   kMemoryMatters};
// Bytes too many are a loss where the memory that they cross is what the others wait for.
constexpr Condition kDramLimits = {"memory.utilization", kAbove, 0.5};
constexpr std::array kL2Misses = {Condition{"l2.hit_rate", kBelow, 0.2}, Condition{"dram.over_model", kAbove, 1.5},
                                  kDramLimits};
constexpr std::array kDramExcess = {Condition{"dram.over_model", kAbove, 1.25}, Condition{"l2.hit_rate", kAbove, 0.2},
                                    kDramLimits};
constexpr std::array kByDesign = {Condition{"traffic.by_design", kAbove, 1.1}, Condition{"design.need", kAbove, 0.5}};
constexpr std::array kL2Passes = {Condition{"l2.over_model", kAbove, 2}, Condition{"dram.over_model", kBelow, 1.25},
                                  Condition{"l2.utilization", kAbove, 0.4}, kMemoryBound};
constexpr std::array kFromCache = {Condition{"dram.over_model", kBelow, 0.8}, kMemoryBound};
constexpr std::array kExtraFlops = {Condition{"flops.over_model", kAbove, 1.1}, kComputeBound};
// Beside a pipe that is to be busy all the time, a level that has to be busy for most of it has no room to be late.
// Tensor cores are fed by copies that run by themselves.
constexpr std::array kLevelBeside = {kUnderRoof,
                                     kComputeBound,
                                     kCounted,
                                     Condition{"levels.utilization", kAbove, 0.4},
                                     Condition{"compute.utilization", kAbove, 0.4},
                                     Condition{"level.need", kAbove, 0.6},
                                     Condition{"tensor.executed", kIs, 0}};
constexpr std::array kSecondPipe = {kUnderRoof, kComputeBound, Condition{"compute.utilization", kAbove, 0.4},
                                    Condition{"second.need", kAbove, 0.4}, Condition{"second.explains", kAbove, 0.33}};
constexpr std::array kArithmeticBeside = {kUnderRoof, kMemoryBound, Condition{"arithmetic.need", kAbove, 0.5},
                                          Condition{"arithmetic.explains", kAbove, 0.33}};
constexpr std::array kFewWarps = {kUnderRoof,
                                  kComputeBound,
                                  Condition{"compute.utilization", kAbove, 0.4},
                                  Condition{"warps.per_sm", kBelow, 12},
                                  Condition{"levels.utilization", kBelow, 0.5},
                                  Condition{"tensor.executed", kIs, 0},
                                  Condition{"waves", kAbove, 0.99}};
constexpr std::array kIssueBound = {kUnderRoof, kComputeBound, Condition{"issue.active", kAbove, 0.8},
                                    Condition{"tensor.executed", kIs, 0}};
constexpr std::array kNarrowLoads = {kUnderRoof,
                                     kMemoryBound,
                                     Condition{"load.width", kBelow, 12},
                                     Condition{"load.share", kAbove, 0.2},
                                     Condition{"memory.utilization", kBelow, 0.85},
                                     Condition{"memory.utilization", kAbove, 0.15}};
constexpr std::array kMemoryStalls = {Condition{"stall.long_scoreboard.share", kAbove, 0.5}};
constexpr std::array kSharedStalls = {Condition{"stall.shared.share", kAbove, 0.3}};
constexpr std::array kBarrierStalls = {Condition{"stall.barrier.share", kAbove, 0.2}};
constexpr std::array kQueueStalls = {Condition{"stall.lsu.share", kAbove, 0.3}};
constexpr std::array kPipeStalls = {Condition{"stall.math_pipe.share", kAbove, 0.3}};
constexpr std::array kFetchStalls = {Condition{"stall.no_instruction.share", kAbove, 0.2}};
constexpr std::array kNotSelected = {Condition{"stall.not_selected.share", kAbove, 0.3}};
constexpr std::array kDependencyStalls = {Condition{"stall.wait.share", kAbove, 0.4}};
constexpr std::array kPoorMemory = {kMemoryBound, Condition{"levels.utilization", kBelow, 0.2}, kCounted};
constexpr std::array kPoorCompute = {kComputeBound, Condition{"compute.utilization", kBelow, 0.5},
                                     Condition{"memory.utilization", kAbove, 0.6}};
// Two that are busy for more than all of the time together are busy at the same time, and wait for each other.
constexpr std::array kLatency = {Condition{"compute.utilization", kBelow, 0.6},
                                 Condition{"levels.utilization", kBelow, 0.6}, Condition{"busy.sum", kBelow, 1},
                                 kCounted};
// Of a CPU. Half as fast as the roof of arithmetic, it may be one thread of two; a quarter, one lane of four.
constexpr std::array kNoVectors = {kUnderRoof, kComputeBound, Condition{"scalar", kBelow, 1.2},
                                   Condition{"lanes", kAbove, 1}};
constexpr std::array kOneCore = {kUnderRoof, kComputeBound, Condition{"one_core", kBelow, 1.05},
                                 Condition{"one_core", kAbove, 0.6}, Condition{"threads.of", kAbove, 3}};
constexpr std::array kShortVectors = {kUnderRoof, kComputeBound, Condition{"flops.per_instruction", kBelow, 1}};
constexpr std::array kCacheBlocks = {kUnderRoof, kComputeBound, Condition{"cache.multiple", kAbove, 0.5}, kNotCounted};
constexpr std::array kFitsCache = {kUnderRoof, kComputeBound, Condition{"cache.multiple", kBelow, 0.5}, kNotCounted};
constexpr std::array kOrdinaryStores = {kUnderRoof,
                                        kMemoryBound,
                                        Condition{"writes", kAbove, 0.25},
                                        Condition{"regular.share", kAbove, 0.85},
                                        Condition{"regular.share", kBelow, 1.05},
                                        Condition{"regular.of_roof", kBelow, 0.85}};
constexpr std::array kManyNodes = {kUnderRoof, kMemoryBound, Condition{"numa.nodes", kAbove, 1},
                                   Condition{"numa.remote", kBelow, 0.9}};
constexpr std::array kSmallPages = {kUnderRoof, kMemoryBound, Condition{"pages.small", kIs, 1}};
constexpr std::array kFewThreads = {Condition{"threads.share", kBelow, 0.9}};
constexpr std::array kUnexplained = {kUnderRoof, kCounted};
constexpr std::array kUnexplainedMemory = {kUnderRoof, kCounted, kMemoryBound};
constexpr std::array kUncounted = {kUnderRoof, kNotCounted};
constexpr std::array kUnknown = {kUnderRoof};
constexpr std::array kUncountedCompute = {kUnderRoof, kNotCounted, kComputeBound};
constexpr std::array kUncountedMemory = {kUnderRoof, kNotCounted, kMemoryBound};

constexpr std::string_view kLibraryKernel =
    "The code is a library's: give it shapes that fill its tiles and all SMs, or try another of the library's "
    "algorithms or a newer version.";
constexpr std::string_view kLibraryStream =
    "The code is a library's: fuse it with its neighbours (torch.compile, an epilogue), or lay the data out so that it "
    "is not needed.";

constexpr Rule kRules[] = {
    {"disturbed", kAny, kDisturbed,
     "Others, or a limiter, had up to {time.lost} of the processor's time while it was timed, and no quieter moment "
     "came.",
     "Time it when the machine is quiet: till then nothing can be said of the kernel.", kMeasured, Tells::measure},
    {"slow-machine", kCpu, kSlowMachine,
     "The machine itself ran at {pace} of its roofs beside this (copying at {pace.copy}, arithmetic at "
     "{pace.arithmetic}), and the system gives no reason: a neighbour on the same host, power or heat.",
     "Time it when the machine is quiet, or calibrate again if it stays so: till then nothing can be said of the "
     "kernel.",
     kMeasured, Tells::measure},
    {"at-the-pace", kCpu, kAtPace,
     "It reaches {roof.fraction} of its roof, and {roof.at_pace} of what the calibration's own probe reached beside "
     "it.",
     "Time it when the machine is quiet: what holds it back now is the machine.", kMeasured, Tells::measure},
    {"throttled", kGpu, kThrottled,
     "The SM clock was {clock}, {clock.share} of the highest: power or heat held it down.",
     "Compare it with others at that clock only; fewer bytes moved and less recomputation save power.", kMeasured,
     Tells::note},
    {"throttled", kCpu, kThrottled,
     "The core clock was {clock}, {clock.share} of the highest: power, heat or wide vectors held it down.",
     "Compare it with others at that clock only; fewer bytes moved and less recomputation save power.", kMeasured,
     Tells::note},
    {"few-threads", kCpu, kFewThreads,
     "It ran on {threads.of} threads, as its roofs were measured, and the machine has {cores} cores.",
     "Give both all cores (--threads).", kMeasured, Tells::note},
    {"from-cache", kGpu, kFromCache,
     "DRAM moves only {dram.over_model} the bytes of the model: the rest stays in cache.",
     "Hold it against L2's roof, or time it with inputs that do not fit.", kMeasured, Tells::note},
    {"from-cache", kCpu, kFromCache,
     "DRAM moves only {dram.over_model} the bytes of the model: the rest stays in cache.",
     "Hold it against the roof of the last cache level, or time it with inputs that do not fit.", kMeasured,
     Tells::note},
    {"drifting", kAny, kDrifting,
     "Its time was still moving when sampling ended: between {time.q05} and {time.q95}, which is no one time.",
     "Time it again for longer (--max-time), when clock and neighbours have settled.", kStatistics, Tells::measure},
    {"no-interval", kAny, kNoInterval,
     "Its median has no interval, for its samples ({samples}) are worth {samples.effective} independent ones: they lie "
     "between {time.q05} and {time.q95}.",
     "Time it again for longer (--max-time), when clock and neighbours have settled.", kStatistics, Tells::measure},
    {"wide-interval", kAny, kWideInterval,
     "Its median is only known within an interval that is {interval.width} of it wide.",
     "Time it again for longer (--max-time), when clock and neighbours have settled.", kStatistics, Tells::measure},
    {"not-cold", kAny, kNotCold, "It was to find nothing in a cache, and is faster than main memory can be.",
     "Time it with a larger problem, or hot (--cache hot) and against the cache's roof.", kMeasured, Tells::measure},
    {"above-roof", kAny, kAboveRoof,
     "It reaches {roof.fraction} of its roof, which no interval explains: the roof, or the count of its work, is "
     "wrong.",
     "Calibrate again; if it stays so, its work is counted too high.", kMeasured, Tells::measure},
    {"suspect-roof", kAny, kSuspectRoof,
     "It reaches {roof.fraction} of a roof that failed its audit: how far the true one is, is not known.",
     "Calibrate again on a quiet machine, then look at it.", kMeasured, Tells::measure},
    {"roofless", kAny, kRoofless, "No roof of this machine limits it: there is nothing to hold it against.",
     "Count its work (--counters), or calibrate what it runs on.", kMeasured, Tells::roofless},
    {"at-latency", kGpu, kAtLatency, "It reaches {roof.fraction} of its roof, which is its collective's latency.",
     "Only fewer of them are faster: join several messages into one (from {network.enough} on latency is less than a "
     "tenth); for what stays small, one-shot kernels over peer memory have fewer steps than NCCL.",
     kMeasured, Tells::at_roof},
    {"at-link", kGpu, kAtLink, "It reaches {roof.fraction} of what the links carry: {network.bus}.",
     "Send less, or hide it: a smaller type, reduce_scatter and all_gather around work that can be spread in place of "
     "all_reduce (sequence parallelism), gradients added up over several steps, or work that does not wait for it "
     "meanwhile.",
     kMeasured, Tells::at_roof},
    {"below-link", kGpu, kBelowLink,
     "It moves {network.bus}, {network.of_size} of what its size gave when the machine was calibrated.",
     "See what NCCL chose (NCCL_DEBUG=INFO): P2P over NVLink and not PCIe, its algorithm, protocol and channels, with "
     "NCCL_P2P_DISABLE, NCCL_ALGO, NCCL_PROTO and NCCL_MAX_NCHANNELS unset; then whether something else uses the "
     "links.",
     kMeasured},
    {"message-size", kGpu, kMessageSize,
     "Its size holds it: {network.message} gave no more when the machine was calibrated, and latency is "
     "{network.latency.share} of the time.",
     "Send fewer and larger ones: several messages in one (buckets, flattened tensors; from {network.enough} on "
     "latency is less than a tenth). What has to be small is faster in a CUDA graph, and by one-shot kernels over "
     "peer memory.",
     kMeasured},
    {"exchange-latency", kGpu, kExchangeLatency,
     "{network.need} of the time is its collective's, and more than half of that is latency "
     "({network.latency.share} of the time).",
     "Exchange less often or in fewer steps: one-shot all_reduce over peer memory, fused with the norm that "
     "follows; one exchange a layer where the model allows it; more tokens at once.",
     kMeasured},
    {"takes-turns", kGpu, kTakeTurns,
     "Product and collective take turns: alone they need {product.share} and {network.need} of the time.",
     "Let them overlap, for at most {overlap.gain} of the time: cut the product along its rows and send each piece "
     "while the next one is multiplied, NCCL on a stream of its own and on few SMs (NCCL_MAX_CTAS); or take a "
     "product that does so (async tensor parallelism, Transformer Engine, cuBLASMp).",
     kMeasured},
    {"launch-bound", kGpu, kLaunchBound, "{launch.share} of the time is the floor of its kernel launches.",
     "Fuse kernels, or run many of them from one graph; a larger problem hides the launch.", kMeasured},
    {"launch-bound", kCpu, kLaunchBound, "{launch.share} of the time is what starting and joining its threads takes.",
     "Do more in one go: fuse it with its neighbours or give it a larger problem; where it is this small, fewer "
     "threads start sooner.",
     kMeasured},
    {"transfer-bound", kGpu, kTransferBound,
     "{transfer.share} of the time is what its bytes need on the link to the host.",
     "Keep the data on the device, overlap the copy with work, or use page-locked memory.", kMeasured},
    {"good-enough", kAny, kGoodEnough, "It reaches {roof.fraction} of its roof.",
     "Stop here: only less work makes it faster (fusion with a neighbour, a smaller type, fewer bytes).", kField,
     Tells::at_roof},
    {"suspect-roof-below", kAny, kSuspectNote,
     "Its roof failed its audit: what is missing to it is known roughly only.", "Calibrate again on a quiet machine.",
     kMeasured, Tells::note},
    {"no-tensor-cores", kGpu, kNoTensor, "It is a matrix product, and the tensor cores did nothing.",
     "Use mma or wgmma, or a library: on this machine they are {tensor.gain} faster than this pipe.", kMeasured},
    {"mma-sync", kGpu, kMmaSync,
     "Its tensor work goes through mma.sync ({wgmma.share} through wgmma), which does not reach the chip's full "
     "rate.",
     "Use wgmma with operands in shared memory (CUTLASS 3, or Triton for sm_90).", kMeasured, Tells::cause,
     "The code is a library's, and older than the chip: use a newer version, or one of its kernels for sm_90."},
    {"too-few-blocks", kGpu, kFewBlocks, "A grid of {blocks} leaves some of the {sms} SMs without a block.",
     "Split the work finer (split-K, shorter rows a block), or give it a larger problem.", kBestPractices, Tells::cause,
     "The grid follows the problem: give it a larger one, or several in one call."},
    {"small-grid", kGpu, kSmallGrid,
     "The grid fills {grid.fill} of the block slots ({occupancy} occupancy): too few loads are under way to keep "
     "memory busy.",
     "Start more or larger blocks, or give each thread several loads before it uses the first.", kBestPractices,
     Tells::cause, "The grid follows the problem: give it a larger one, or several in one call."},
    {"spills", kGpu, kSpills,
     "Local memory (spilled registers, arrays indexed at run time) is {local.share} of its L1 traffic.",
     "Keep arrays in registers by unrolling, or allow more registers a thread.", kNsight, Tells::cause, kLibraryKernel},
    {"uncoalesced-loads", kGpu, kLoads,
     "Loads fetch {load.excess} the bytes that threads ask for ({load.sectors} sectors a request).",
     "Let neighbouring threads read neighbouring addresses; stage strided data through shared memory.", kBestPractices,
     Tells::cause, kLibraryStream},
    {"scattered-loads", kGpu, kScattered,
     "Loads take {load.sectors} sectors a request, {load.excess} the bytes that threads ask for: each waits for as "
     "many turns.",
     "Let neighbouring threads read neighbouring addresses; stage strided data through shared memory.", kBestPractices,
     Tells::cause, kLibraryStream},
    {"uncoalesced-stores", kGpu, kStores,
     "Stores touch {store.excess} the bytes that threads write ({store.sectors} sectors a request).",
     "Let neighbouring threads write neighbouring addresses; transpose in shared memory first.", kBestPractices,
     Tells::cause, kLibraryStream},
    {"bank-conflicts", kGpu, kConflicts, "Bank conflicts make shared memory take {shared.excess} the wavefronts.",
     "Pad or swizzle the shared tile so that a warp's addresses fall into different banks.", kNsight, Tells::cause,
     kLibraryKernel},
    {"l2-misses", kGpu, kL2Misses,
     "L2 has {l2.hit_rate} of what is asked of it, and DRAM moves {dram.over_model} the bytes that it has to.",
     "Order the work so that blocks that run together share their data (tile the loops, swizzle the block order).",
     kField, Tells::cause, kLibraryKernel},
    {"extra-dram-traffic", kGpu, kDramExcess,
     "DRAM moves {dram.over_model} the bytes that it has to, and is busy {memory.utilization} of the time.",
     "Look for passes over the data that could be fused, partial lines, and intermediate results in memory.", kMeasured,
     Tells::cause, kLibraryStream},
    {"traffic-by-design", kGpu, kByDesign, "By its design it moves {traffic.by_design} the bytes that it has to.",
     "Keep intermediate results in registers or shared memory, as the fused implementations do.", kMeasured},
    {"traffic-by-design", kCpu, kByDesign, "By its design it moves {traffic.by_design} the bytes that it has to.",
     "Keep intermediate results in registers or in a cache, a block at a time, as the fused implementations do.",
     kMeasured},
    {"several-passes", kGpu, kL2Passes,
     "L2 delivers {l2.over_model} the bytes that memory has to: each input is read about that often.",
     "Keep a row in registers or shared memory instead of reading it again.", kMeasured, Tells::cause, kLibraryKernel},
    {"extra-flops", kAny, kExtraFlops, "It executes {flops.over_model} the FLOPs of the model.",
     "Look for padding, recomputation, and masked work that could be skipped.", kMeasured},
    {"no-vectors", kCpu, kNoVectors,
     "It is about as fast as arithmetic one element at a time can be ({scalar} of that), and a vector has {lanes}.",
     "See whether the compiler vectorised the inner loop (-fopt-info-vec): unit stride, no aliasing, sums that may "
     "be reordered; else write it with vectors.",
     kMeasured},
    {"short-vectors", kCpu, kShortVectors,
     "It does {flops.per_instruction} FLOPs an instruction: most of its instructions are no whole vectors of "
     "arithmetic.",
     "Use vectors of the full length and keep sums in registers: fewer loads, shuffles and addresses for each "
     "product.",
     kField},
    {"one-core", kCpu, kOneCore,
     "It is as fast as one core alone can be ({one_core} of that), with {threads.of} threads.",
     "See whether all threads have work, and as much of it: smaller pieces, shared out as threads get free.",
     kMeasured},
    {"tail", kGpu, kTail, "{waves} waves of blocks: in the last one {tail.idle} of the block slots are empty.",
     "Choose a grid that fills whole waves, make blocks smaller, or let a persistent grid share out the work.", kNsight,
     Tells::cause, "The grid follows the problem: choose sizes that fill whole waves, or larger ones."},
    {"second-pipe", kGpu, kSecondPipe,
     "Beside the products, work on the {second} alone takes {second.need} of the time that the roof allows, and is "
     "not fully hidden under them.",
     "Let the one run under the other: groups of warps that take turns (softmax of one under the products of the "
     "next), or part of the exponentials as polynomials on the FP32 pipe.",
     kMeasured, Tells::cause, "The code is a library's: try another of its algorithms, or a newer version."},
    {"tensor-idle", kGpu, kTensorIdle, "The tensor cores work in {tensor.active} of the cycles.",
     "Feed them better: asynchronous copies (TMA) into more stages, larger tiles, loads and products in different "
     "warps.",
     kField, Tells::cause, kLibraryKernel},
    {"clock-below-roof", kGpu, kClockUnknown,
     "The tensor cores work in {tensor.active} of the cycles: most of what is missing is clock, which power must "
     "have held below that of the roof.",
     "Leave its code: fewer operations, a smaller type or a higher power limit make it faster.", kMeasured},
    {"tensor-gaps", kGpu, kTensorGaps,
     "The tensor cores stand still in {tensor.gap} of the cycles: while tiles begin and end, or wait for their "
     "operands.",
     "Let one tile end under the products of the next (groups of warps that take turns), and keep another stage of "
     "copies under way.",
     kMeasured, Tells::cause, kLibraryKernel},
    {"level-beside", kGpu, kLevelBeside,
     "Traffic from {level} alone takes {level.need} of the time that the {pipe}'s roof allows, and the products "
     "wait for it: the {pipe} is busy {compute.utilization} of the time, {level} {levels.utilization}.",
     "Do more with each byte that is loaded from there: more results a thread (larger register tiles), wider loads, "
     "operands kept in registers.",
     kMeasured, Tells::cause, kLibraryKernel},
    {"issue-bound", kGpu, kIssueBound,
     "Schedulers issue in {issue.active} of the cycles, and the {pipe} has work in {compute.utilization}: other "
     "instructions take its slots.",
     "Fewer instructions beside the arithmetic: addresses computed once, wider loads, loops unrolled.", kNsight,
     Tells::cause, kLibraryKernel},
    {"few-warps", kGpu, kFewWarps,
     "The {pipe} is busy {compute.utilization} of the time and no level of memory more than {levels.utilization}: "
     "with {registers} registers a thread there are {warps.per_sm} warps an SM, too few to fill the gaps.",
     "Put fewer instructions between the products (wider loads from shared memory, addresses computed once) and run "
     "loads further ahead; --counters full tells full issue slots from waiting.",
     kField, Tells::cause, kLibraryKernel},
    {"occupancy-registers", kGpu, kOccupancyRegisters,
     "{occupancy} occupancy; {registers} registers a thread keep more blocks from an SM.",
     "Lower the registers (__launch_bounds__, smaller tiles a thread), if latency and not arithmetic is what it "
     "waits for.",
     kField, Tells::cause, kLibraryKernel},
    {"occupancy-shared-memory", kGpu, kOccupancyShared,
     "{occupancy} occupancy; {shared} of shared memory a block keep more blocks from an SM.",
     "Use fewer stages or smaller tiles, or let one block hold more warps.", kField, Tells::cause, kLibraryKernel},
    {"occupancy-blocks", kGpu, kOccupancyBlocks,
     "{occupancy} occupancy; blocks of {threads} threads are too small to fill an SM.", "Use more threads a block.",
     kField, Tells::cause, kLibraryKernel},
    {"occupancy-uneven", kGpu, kOccupancyUneven,
     "{occupancy} occupancy was reached, {occupancy.of_possible} of what would fit: warps end at different times, "
     "or sooner than new ones start.",
     "Balance the work between warps and blocks; where blocks are very short, let each do more.", kNsight, Tells::cause,
     kLibraryKernel},
    {"narrow-loads", kGpu, kNarrowLoads,
     "A thread loads {load.width} bytes at once, and DRAM is busy {memory.utilization} of the time: too few bytes "
     "are under way.",
     "Load 16 bytes a thread at once, or several times before the first is used.", kBestPractices, Tells::cause,
     kLibraryStream},
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
     "Occupancy is not the problem; fewer warps with more registers each may be faster.", kNsight, Tells::note},
    {"memory-before-compute", kGpu, kPoorCompute,
     "The model calls it compute-bound, but memory is used to {memory.utilization} and its pipe to "
     "{compute.utilization}.",
     "It moves more than it should: look for reuse that is lost.", kField, Tells::cause, kLibraryKernel},
    {"memory-before-compute", kCpu, kPoorCompute,
     "The model calls it compute-bound, but memory is used to {memory.utilization} and its pipe to "
     "{compute.utilization}.",
     "It moves more than it should: block the loops for the caches, so that what was loaded is used again there.",
     kField},
    {"ordinary-stores", kCpu, kOrdinaryStores,
     "It moves as much as ordinary stores allow ({regular.share} of that; {regular.of_roof} of the copy roof): each "
     "line is read before it is overwritten.",
     "Write results that nobody reads soon with streaming (non-temporal) stores, whole lines at a time.", kMeasured},
    {"numa", kCpu, kManyNodes,
     "The machine has {numa.nodes} NUMA nodes, and another node's memory gives {numa.remote} of one's own bandwidth.",
     "Let each thread be the first to write the memory that it works on later, and pin the threads.", kMeasured},
    {"small-pages", kCpu, kSmallPages,
     "Its buffers lie in small pages: the system grants no huge ones, and each new page costs a walk of the tables.",
     "Allow huge pages (transparent_hugepage set to madvise or always, and madvise in the program).", kMeasured},
    {"arithmetic-beside", kAny, kArithmeticBeside,
     "Beside the bytes, work on the {second} alone takes {arithmetic.need} of the time that the roof allows, and is "
     "not fully hidden under them.",
     "Make the arithmetic cheaper (fewer conversions, cheaper exponentials and divisions), or let loads run further "
     "ahead of it.",
     kMeasured},
    {"poor-memory", kGpu, kPoorMemory,
     "Memory-bound, and no level of memory is used to more than {levels.utilization}.",
     "Have more loads under way: more threads, wider loads, several of them before the first is used.", kField,
     Tells::otherwise, kLibraryStream},
    {"poor-memory", kCpu, kPoorMemory,
     "Memory-bound, and no level of memory is used to more than {levels.utilization}.",
     "Look first at how it walks memory (whole vectors side by side, few streams, few pages) and at whether all "
     "threads have work.",
     kField, Tells::otherwise},
    {"latency", kGpu, kLatency,
     "Neither a pipe ({compute.utilization}) nor a level of memory ({levels.utilization}) is busy: latency.",
     "More parallelism: more warps, more loads in flight, more independent work a thread.", kNsight, Tells::otherwise,
     kLibraryStream},
    {"latency", kCpu, kLatency,
     "Neither a pipe ({compute.utilization}) nor a level of memory ({levels.utilization}) is busy: latency.",
     "More independent work in each thread (several vector accumulators, loads ahead of their use), and work for "
     "every thread.",
     kField, Tells::otherwise},
    {"collective-unexplained", kGpu, kCollectiveUnknown,
     "It moves {network.bus}, and the links carry {network.roof}. What its size can reach with as many ranks was not "
     "measured.",
     "Calibrate with as many GPUs (--only '*nccl*'): the sweep tells a small message from a slow link.", kMeasured,
     Tells::unexplained},
    {"product-unexplained", kGpu, kProductUnknown,
     "Product and collective alone need {product.share} and {network.need} of the time: one of them is slower than "
     "that.",
     "Time them apart: a gemm of a rank's part, and the collective of that size.", kMeasured, Tells::unexplained},
    {"unexplained-memory", kGpu, kUnexplainedMemory,
     "No counter explains the missing {roof.missing}: {level} is busy {levels.utilization} of the time, the {pipe} "
     "{compute.utilization}, at {occupancy} occupancy.",
     "Have more bytes under way: wider loads, several of them before the first is used; --counters full (ncu: --set "
     "full) "
     "tells what warps wait for.",
     kMeasured, Tells::unexplained, kLibraryStream},
    {"unexplained", kGpu, kUnexplained,
     "No counter explains the missing {roof.missing}: busiest are the {pipe}, {compute.utilization} of the time, and "
     "{level}, {levels.utilization}.",
     "Compare it with a library's kernel of the same shape, or count stalls too (--counters full; ncu: --set full).",
     kMeasured, Tells::unexplained, kLibraryKernel},
    {"unexplained", kCpu, kUnexplained,
     "No counter explains the missing {roof.missing}: busiest are the {pipe}, {compute.utilization} of the time, and "
     "{level}, {levels.utilization}.",
     "Compare it with a library's kernel of the same shape.", kMeasured, Tells::unexplained},
    {"uncounted-compute", kGpu, kUncountedCompute,
     "By the model the {pipe} has work for {compute.utilization} of the time and main memory for {memory.utilization}. "
     "Nothing was counted that tells why.",
     "Count (--counters; of an import add an ncu report): the model alone can't tell waiting from traffic between "
     "caches.",
     kMeasured, Tells::unexplained},
    {"uncounted-memory", kGpu, kUncountedMemory,
     "By the model main memory has work for {memory.utilization} of the time, and arithmetic for "
     "{compute.utilization}. Nothing was counted that tells why.",
     "Count (--counters; of an import add an ncu report): the model alone can't tell loads that wait from bytes too "
     "many.",
     kMeasured, Tells::unexplained},
    {"cache-blocks", kCpu, kCacheBlocks,
     "By the model arithmetic fills {compute.utilization} of the time and main memory {memory.utilization}. With "
     "{working_set}, {cache.multiple} the last cache, all depends on using again what a cache holds, and caches were "
     "not counted.",
     "Block the loops for each cache (a tile of sums in registers, its operands in the first two levels, packed side "
     "by side), then see that every thread has as many blocks.",
     kMeasured, Tells::unexplained},
    {"instruction-mix", kCpu, kFitsCache,
     "By the model arithmetic fills {compute.utilization} of the time, and {working_set} fit into the last cache: "
     "loads, "
     "conversions, dependent sums or idle threads have the rest. Nothing was counted that tells which.",
     "Look at the inner loop first: whole vectors, some ten independent sums, operands loaded once; then at whether "
     "every thread has work.",
     kMeasured, Tells::unexplained},
    {"uncounted-memory", kCpu, kUncountedMemory,
     "By the model main memory has work for {memory.utilization} of the time, and arithmetic for "
     "{compute.utilization}. Nothing was counted that tells why.",
     "Look at how it walks memory: whole vectors side by side, few streams at once, prefetched, as many bytes for each "
     "thread.",
     kMeasured, Tells::unexplained},
    {"uncounted", kAny, kUncounted,
     "{roof.missing} are missing to its roof; by the model arithmetic has work for {compute.utilization} of the time. "
     "Nothing was counted that tells why.",
     "Count (--counters), where this machine allows it.", kMeasured, Tells::unexplained},
    {"unknown", kAny, kUnknown, "{roof.missing} are missing to its roof, and nothing is known that tells why.",
     "Count (--counters), where this machine allows it.", kMeasured, Tells::unexplained},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace roofline
