// The vocabulary of quantities, and their values as text.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/diagnosis/quantities.hpp"
#include "report/gpu_units.hpp"
#include "report/titles.hpp"
#include "text/format.hpp"

namespace roofline {
namespace {

constexpr auto kFraction = QuantityUnit::fraction;
constexpr auto kFactor = QuantityUnit::factor;
constexpr auto kNumber = QuantityUnit::number;
constexpr auto kHertz = QuantityUnit::hertz;
constexpr auto kBytes = QuantityUnit::bytes;
constexpr auto kBandwidth = QuantityUnit::bandwidth;
constexpr auto kSeconds = QuantityUnit::seconds;
constexpr auto kFlag = QuantityUnit::flag;
constexpr auto kPipe = QuantityUnit::pipe;
constexpr auto kLevel = QuantityUnit::level;
constexpr auto kGpuUnit = QuantityUnit::gpu_unit;

constexpr QuantitySpec kSpecs[] = {
    {"interval.known", "interval known", kFlag, "the median has a 95 % confidence interval, or the fraction is paired"},
    {"interval.width", "95 % interval", kFraction,
     "width of the interval over the median: of the paired fraction, otherwise of the time"},
    {"drifting", "drifting", kFlag, "the time still changed when sampling ended"},
    {"samples", "samples", kNumber, "number of samples"},
    {"samples.effective", "effective sample size", kNumber, "independent samples that carry as much information"},
    {"samples.close", "samples close together", kFlag, "six or more, 90 % of them within 10 % of the median"},
    {"autocorrelation", "autocorrelation", kNumber, "correlation of neighbouring samples"},
    {"time.q05", "5 % quantile", kSeconds, "of the times"},
    {"time.q95", "95 % quantile", kSeconds, "of the times"},
    {"not_cold", "not cold", kFlag, "a cold row that is faster than main memory's peak bandwidth"},
    {"above_roof", "above its roof", kFlag, "by more than the intervals explain"},
    {"partly_cached", "partly cached", kFlag,
     "a hot row above main memory's roof, with a working set below 16 times the caches; a program's row whose modelled "
     "bytes the L2 cache can hold in part"},
    {"cached", "in a cache", kFlag, "a hot row whose limiting ceiling is that of the cache that holds its data"},
    {"cached.near", "in the nearest cache", kFlag,
     "the same, and no run with a smaller working set is in a nearer cache"},
    {"paired", "paired with its roof", kFlag, "timed in alternation with the probe of its limiting roof"},
    {"roof.known", "roof known", kFlag, "a ceiling limits it"},
    {"roof.suspect", "roof suspect", kFlag, "that ceiling failed its audit"},
    {"roof.provisional", "roof provisional", kFlag, "that ceiling is not confirmed, without a sign of a fault"},
    {"roof.on_own_threads", "of the roof of its threads", kFraction,
     "of the roof that was measured on as few threads as it ran on"},
    {"roof.on_all_threads", "of the roof of all threads", kFraction,
     "roof.fraction times the attainable time on all threads over that on threads.used"},
    {"roof.missing", "gap to the roof", kFraction, "1 - roof.fraction"},
    {"counted", "counted", kFlag, "the hardware counted its bytes or operations"},
    {"stated", "", kFlag, "the author of the program states its bytes or operations"},
    {"shared.counted", "bank conflicts counted", kFlag, "the hardware counted its bank conflicts"},
    {"library", "library kernel", kFlag, "its longest kernel belongs to a vendor's library or a framework"},
    {"roof.fraction", "of its roof", kFraction, "paired with its probe, otherwise attainable over measured time"},
    {"time.lost", "processor time lost", kFraction, "to other processes or a clock limiter, of the processor's time"},
    {"pace", "background speed", kFraction,
     "share of its roofs that the machine reached at the same time, by the copy and FMA reference probes"},
    {"roof.at_pace", "of its roof at that speed", kFraction, "roof.fraction over pace"},
    {"pace.copy", "copy probe", kFraction, "reference copy over main memory's copy roof, beside the row"},
    {"pace.arithmetic", "FMA probe", kFraction, "reference FMA over the fp32 roof, beside the row"},
    {"launch.share", "launch overhead", kFraction, "launches times the launch overhead, over the time"},
    {"transfer.share", "host link busy", kFraction, "time that its bytes need on PCIe or NVLink, over the time"},
    {"product", "with a product", kFlag, "a row with a collective that also computes"},
    {"network.bound", "communication-bound", kFlag, "its collective's bytes limit it"},
    {"network.latency.bound", "latency-bound", kFlag, "its collective's latency limits it"},
    {"network.message", "message size", kBytes, "a rank's larger buffer"},
    {"network.bus", "bus bandwidth", kBandwidth,
     "bus bandwidth of its collective over the whole time, as in "
     "nccl-tests"},
    {"network.roof", "link roof", kBandwidth, "bus bandwidth of its limiting roof"},
    {"network.share", "link busy", kFraction, "time that its bytes need at network.roof, over the time"},
    {"network.latency.share", "collective latency", kFraction, "of the time, by the line fitted for as many ranks"},
    {"network.enough", "", kBytes, "message size whose latency is a tenth of its time, by that line"},
    {"network.of_size", "of the calibrated rate", kFraction,
     "its rate over that of its size and ranks in the calibration's sweep"},
    {"network.need", "collective alone", kFraction,
     "time of its collective in that sweep, else its latency plus its bytes' time; over the time"},
    {"network.latency.part", "", kFraction, "latency over network.need"},
    {"product.share", "product alone", kFraction, "time that the other work needs at its roof, over the time"},
    {"apart.share", "both, one after the other", kFraction, "product.share plus network.need"},
    {"overlap.gain", "", kFraction, "the shorter of the two: what full overlap would hide"},
    {"memory.bound", "memory-bound", kFlag, "the bound is memory"},
    {"compute.bound", "compute-bound", kFlag, "the bound is compute"},
    {"clock.known", "clock known", kFlag, "its core clock was read"},
    {"clock.gain", "saved at the burst clock", kFraction,
     "share of its time saved if it ran at the burst ceiling's clock"},
    {"clock.explains", "", kFraction, "part of the gap to the roof that is beyond the tensor cores' idle cycles"},
    {"clock", "core clock", kHertz, "while it was timed"},
    {"clock.share", "of the maximum clock", kFraction, "clock over the highest core clock"},
    {"memory.utilization", "main memory busy", kFraction,
     "main memory's bytes per second over its highest roof; counted bytes where there are any"},
    {"levels.utilization", "busiest memory level", kFraction, "the same of the busiest level that is known"},
    {"compute.utilization", "busiest pipe", kFraction,
     "the busiest pipe's operations per second over its roof, the larger of modelled and counted"},
    {"pipe", "busiest pipe", kPipe, "the pipe that compute.utilization is of"},
    {"level", "busiest level", kLevel, "the level that levels.utilization is of"},
    {"level.need", "that level alone", kFraction,
     "time that the busiest level's bytes need at its roof, over the attainable time"},
    {"busy.sum", "", kFraction, "compute.utilization plus levels.utilization"},
    {"second.need", "second pipe alone", kFraction, "time that it needs at its roof, over the attainable time"},
    {"second.explains", "", kFraction, "of the gap to the roof, second.need without any overlap"},
    {"arithmetic.explains", "", kFraction, "the same of arithmetic.need"},
    {"second", "second pipe", kPipe, "the pipe that needs most time after the first"},
    {"arithmetic.need", "arithmetic alone", kFraction,
     "time that a memory-bound row's busiest pipe needs, over the attainable time"},
    {"both.utilization", "busiest pipe or level", kFraction,
     "the larger of levels.utilization and compute.utilization"},
    {"matrix.work", "matrix product", kFlag,
     "most modelled FLOPs are a matrix product in a type that tensor cores have"},
    {"tensor.executed", "on tensor cores", kFlag, "tensor operations were counted"},
    {"tensor.active", "tensor cores active", kFraction, "of cycles"},
    {"tensor.gain", "tensor over FP32 roof", kFactor, "roof of the tensor pipe over that of the fp32 pipe"},
    {"tensor.gap", "tensor cores idle", kFraction, "of cycles"},
    {"wgmma.share", "through wgmma", kFraction, "of the tensor operations"},
    {"wgmma.available", "has wgmma", kFlag, "the chip has wgmma"},
    {"blocks", "blocks", kNumber, "of the largest kernel's grid"},
    {"threads", "threads per block", kNumber, "of that kernel"},
    {"registers", "registers per thread", kNumber, "of that kernel"},
    {"shared", "shared memory per block", kBytes, "of that kernel"},
    {"registers.next", "fewer registers per thread", kNumber, "the most with which more blocks are resident"},
    {"registers.occupancy", "occupancy with them", kFraction, "possible, with nothing else changed"},
    {"shared.next", "less shared memory per block", kBytes, "the most with which more blocks are resident"},
    {"shared.occupancy", "occupancy with it", kFraction, "possible, with nothing else changed"},
    {"threads.next", "another block size", kNumber, "the one with the most resident warps"},
    {"threads.occupancy", "occupancy with it", kFraction, "possible, with nothing else changed"},
    {"gpu.unit", "", kGpuUnit, "what the vendor of the GPU calls an SM"},
    {"gpu.units", "", kGpuUnit, "what the vendor of the GPU calls SMs"},
    {"sms", "{gpu.units}", kNumber, "of the device"},
    {"blocks.per_sm", "blocks per {gpu.unit}", kNumber, "blocks of the grid over SMs"},
    {"waves", "waves of blocks", kNumber, "blocks over those that are resident at once"},
    {"tail.idle", "idle slots of the last wave", kFraction, "block slots that the last wave leaves empty"},
    {"tail.share", "idle slots of all waves", kFraction, "the same, of the block slots of all waves"},
    {"grid.fill", "block slots filled", kFraction, "of those resident at once, by the grid"},
    {"tail.explains", "", kFraction, "of the gap to the roof, tail.share"},
    {"blocks.explains", "", kFraction, "of the gap to the roof, the share of SMs without a block"},
    {"warps.per_sm", "warps per {gpu.unit}", kNumber, "resident, mean"},
    {"limit.registers", "limited by registers", kFlag, "registers limit the blocks per SM"},
    {"limit.shared", "limited by shared memory", kFlag, "shared memory limits the blocks per SM"},
    {"limit.blocks", "limited by blocks", kFlag, "the block slots limit the blocks per SM"},
    {"occupancy", "occupancy", kFraction, "achieved: resident warps over the maximum"},
    {"occupancy.of_possible", "of the possible occupancy", kFraction,
     "achieved over theoretical occupancy, or over what the grid fills where that is less"},
    {"load.excess", "fetched over requested bytes", kFactor, "bytes of the loads' sectors over the requested bytes"},
    {"load.share", "loads in L1 traffic", kFraction, "loads' sectors over all L1 traffic"},
    {"store.share", "stores in L1 traffic", kFraction, "stores' sectors over all L1 traffic"},
    {"store.excess", "touched over written bytes", kFactor, "bytes of the stores' sectors over the written bytes"},
    {"load.sectors", "sectors per load", kNumber, "per request of a warp"},
    {"store.sectors", "sectors per store", kNumber, "per request of a warp"},
    {"fp64.mixed", "double precision on other data", kFlag,
     "it loads less than 8 bytes per thread or also computes in fp32, and is no matrix product"},
    {"fp64.busy", "FP64 busy", kFraction, "its operations in double precision at their roof, over its time"},
    {"fp64.rate", "single over double precision", kFactor,
     "roofs: fp32 over fp64, of products TF32 over the fp64 tensor pipe"},
    {"fp64.needless", "time of double precision", kFraction, "share of its time saved at the single-precision roofs"},
    {"products.fp32", "product in fp32", kFlag,
     "nearly all FLOPs are multiply-adds in fp32 of operands in shared memory, each byte is used often"},
    {"products.busy", "FP32 pipe busy", kFraction, "its fp32 operations at their roof, over its time"},
    {"products.rate", "TF32 over fp32", kFactor, "roofs of the TF32 tensor pipe and the fp32 pipe"},
    {"products.needless", "time of fp32 products", kFraction, "share of its time saved at the TF32 roofs"},
    {"adds_by_index", "adds by index", kFlag, "a library's kernel that adds to places given by indices"},
    {"atomics.sampled", "waits for atomics", kFlag, "its samples show atomic operations on global memory"},
    {"python.kernel", "kernel written in Python", kFlag,
     "its instructions have lines of a Python file (Triton, Numba)"},
    {"wait.double.share", "double precision between single", kFraction,
     "of the samples of its warps: waits for conversions, FP64 operations and divisions"},
    {"atomic.share", "atomics in L1 traffic", kFraction,
     "share of L1's bytes that are neither loads nor stores; only for kernels that add by index"},
    {"lanes.active", "active threads per instruction", kNumber, "of the 32 in a warp, mean over all instructions"},
    {"store.repeats", "stored over written to DRAM", kFactor, "ratio of bytes; only if the written buffers exceed L2"},
    {"block.seconds", "time of a wave", kSeconds, "its time over its waves of blocks"},
    {"load.queue", "loads fill their queue", kFlag, "by their sectors, or by the waits for them"},
    {"store.queue", "stores fill their queue", kFlag, "by their sectors, or by the waits for them"},
    {"wait.others.share", "waits for memory and other warps", kFraction,
     "of the samples of its warps, atomic operations, barriers and fences included"},
    {"lanes.explains", "idle threads of a warp", kFraction,
     "of the time in which its warps do not wait for memory, atomics or each other"},
    {"load.explains", "waits for loads and dependent waits", kFraction, "of the samples of its warps"},
    {"atomic.explains", "waits for atomics", kFraction,
     "of the samples of its warps: for global memory, and at the same line for fences and other warps"},
    {"store.explains", "waits for stores", kFraction, "of the samples of its warps"},
    {"excess.costs", "excess bytes cost time", kFlag,
     "L2 delivers bytes that no thread asked for, or L1 is busy; at the roof: main memory moves such bytes"},
    {"dram.over_requested", "DRAM over requested bytes", kFactor,
     "counted DRAM bytes over those that loads and stores of global memory ask for"},
    {"traffic.needless", "needless bytes", kFraction, "of what L2 delivers, the part that no thread asked for"},
    {"load.width", "bytes per load and thread", kNumber, "mean, of global memory"},
    {"local.share", "local memory in L1 traffic", kFraction, "local memory's bytes over all L1 traffic"},
    {"shared.excess", "shared memory wavefronts over ideal", kFactor, "wavefronts over those without bank conflicts"},
    {"shared.share", "shared memory in L1 traffic", kFraction, "shared wavefronts over those and L1's"},
    {"l1.utilization", "L1 busy", kFraction, "counted L1 bytes over those its roof moves in the time"},
    {"l2.utilization", "L2 busy", kFraction, "bytes per second between SMs and L2 over its highest roof"},
    {"l2.hit_rate", "L2 hit rate", kFraction, "of sectors"},
    {"traffic.by_design", "algorithm's over compulsory bytes", kFactor,
     "compulsory bytes plus those that the implementation adds, over the former"},
    {"design.need", "the algorithm's bytes alone", kFraction,
     "time that those bytes need at main memory's highest roof, over the attainable time"},
    {"dram.over_model", "DRAM over compulsory bytes", kFactor, "counted DRAM bytes over compulsory bytes"},
    {"l2.over_model", "L2 over compulsory bytes", kFactor, "bytes between SMs and L2 over compulsory bytes"},
    {"flops.over_model", "executed over modelled FLOPs", kFactor, "of the dominant pipe"},
    {"issue.active", "issue slots busy", kFraction, "of a scheduler's cycles"},
    {"threads.of", "threads", kNumber, "worker threads of the run"},
    {"threads.used", "threads used", kNumber, "of them, those that it ran on"},
    {"threads.used_share", "threads used", kFraction, "threads.used over threads.of"},
    {"integers", "integers", kFlag, "the row's data type is an integer"},
    {"integer.unmeasured", "integer operations without a roof", kFlag,
     "it computes with integers, and no ceiling of a pipe limits it"},
    {"threads.saving", "saved by all threads", kFraction,
     "1 - attainable time on all threads over that on threads.used, by the roofs of both; at most 1 - "
     "threads.used_share"},
    {"cores", "physical cores", kNumber, "of the machine"},
    {"loop.together", "threads at the same time", kNumber, "in a loop of a CPU program, on average"},
    {"loop.program_threads", "threads of the program", kNumber, "at the same time, at most"},
    {"loop.parallel_saving", "saved by all threads", kFraction,
     "1 - loop.together over loop.program_threads, at most what the roofs of all threads allow"},
    {"loop.busiest", "busiest thread over the mean", kFactor, "of the threads that ran the loop"},
    {"loop.scalar_share", "scalar FLOPs", kFraction, "FLOPs of scalar instructions over all of the loop's"},
    {"loop.scalar_rate", "of the scalar rate", kFactor, "FLOPs over the roof of arithmetic for one lane of a vector"},
    {"loop.memory_need", "memory beyond L1", kFraction, "longest time of its bytes at a roof beyond L1 over its time"},
    {"loop.beyond_l1", "limited beyond L1", kFlag, "its limiting ceiling is neither a pipe nor L1"},
    {"loop.line_use", "cache line used", kFraction, "bytes loaded and stored over the lines that came into L1"},
    {"loop.other", "jumping accesses", kFraction, "accesses to neither the same line as before nor the next one"},
    {"loop.falsely_shared", "falsely shared accesses", kFraction,
     "accesses of instructions that stay in a line of which other threads write other bytes, over all accesses"},
    {"loop.counted", "counted loop", kFlag, "its instructions were counted under emulation"},
    {"loop.misses", "lines per access", kFraction, "lines that came into L1 over all accesses"},
    {"loop.walks", "page walks per access", kFraction,
     "accesses to pages that the modelled TLB does not hold, over all accesses"},
    {"loop.stride", "stride", kBytes, "between accesses to different cache lines, the most frequent one"},
    {"loop.calls", "calls per iteration", kNumber, "of functions"},
    {"loop.string_bytes", "bytes per copy", kBytes, "of instructions that repeat themselves (rep movs, rep stos)"},
    {"loop.instructions", "instructions per cycle", kNumber, "at the highest clock that the machine was seen at"},
    {"loop.integer_divides_need", "integer divisions", kFraction,
     "least time of its integer divisions and remainders over the time of its threads"},
    {"loop.divides_need", "divisions and roots", kFraction,
     "least time of its divisions and roots over the time of its threads"},
    {"loop.atomics_need", "atomic operations", kFraction,
     "least time of its atomic updates, of lines that no other core has, over the time of its threads"},
    {"loop.conversions_need", "conversions", kFraction,
     "least time of its conversions between single and double precision over the time of its threads"},
    {"loop.mispredicted", "mispredicted branches", kFraction, "of its branches, by the modelled predictor"},
    {"loop.mispredictions_need", "mispredictions", kFraction,
     "least time of its mispredicted branches over the time of its threads"},
    {"loop.subnormals", "subnormal results", kFraction, "of its floating-point products and quotients"},
    {"loop.subnormal_cycles", "cycles per subnormal result", kNumber,
     "time of its threads over its products and quotients with subnormal results"},
    {"loop.chain_need", "operations that wait for each other", kFraction,
     "least time of its longest chain from iteration to iteration over the time of its threads"},
    {"loop.load_chain_need", "loads that wait for each other", kFraction,
     "least time of its longest chain of loads, each of which has its address from the one before, over the time of "
     "its "
     "threads"},
    {"threads.share", "threads per core", kNumber, "worker threads over physical cores"},
    {"one_core", "of one core's rate", kFraction, "its FLOP/s over what one core alone reached"},
    {"scalar", "of the scalar rate", kFraction,
     "its FLOP/s over the roof divided by the elements that a vector pipe processes per cycle"},
    {"lanes", "elements per vector", kNumber, "of its type, at the instruction set in use"},
    {"flops.per_instruction", "FLOPs per instruction", kNumber, "of all counted instructions"},
    {"regular.share", "of the ordinary stores' rate", kFraction,
     "its bandwidth over that of a copy with ordinary stores"},
    {"regular.of_roof", "ordinary over non-temporal stores", kFraction,
     "share of the copy roof that a copy with ordinary stores reaches"},
    {"writes", "writes in its traffic", kFraction, "share of its compulsory bytes"},
    {"write_only.of_cache", "written only, over last cache", kFactor,
     "bytes of the buffers that are only written, over last_cache"},
    {"pages.small", "small pages", kFlag, "the system granted no huge pages to large buffers"},
    {"pages.of_roof", "copy in small pages", kFraction, "share of the copy roof that a copy in small pages reaches"},
    {"numa.nodes", "NUMA nodes", kNumber, "of the machine"},
    {"numa.remote", "remote over local bandwidth", kFraction, "of a NUMA node's memory"},
    {"working_set", "working set", kBytes, "bytes that a launch touches"},
    {"last_cache", "last cache", kBytes, "of all its instances"},
    {"cache.multiple", "working set over last cache", kFactor, "working_set over last_cache"},
    {"experiment.cache", "cache of the experiments", kLevel, "L2, or L1 for a row whose data is in L2"},
    {"experiment.in_cache.share", "instructions alone", kFraction,
     "time of the same work on data in experiment.cache, divided over the threads, over the row's time"},
    {"experiment.in_cache.gain", "speed-up in a nearer cache", kFactor, "1 over experiment.in_cache.share"},
    {"experiment.explained", "instructions plus roof", kFraction,
     "experiment.in_cache.share plus roof.fraction: below 1, even taking turns does not explain the time"},
    {"experiment.thread.cost", "CPU time with all threads over one", kFactor,
     "CPU time per unit of work with all threads over that of one thread, each with data in its L2, at the FMA probe's "
     "clock"},
    {"experiment.thread.slowest", "slowest over mean thread", kFactor, "CPU time in the kernel"},
    {"experiment.thread.used", "threads with work", kNumber, "threads over experiment.thread.slowest"},
    {"experiment.size.slowdown", "at twice the size", kFactor,
     "time per unit of work at twice the size over the row's"},
    {"experiment.type.slowdown", "over fp32", kFactor,
     "time per element over that of the same op in fp32, in experiment.cache"},
    {"experiment.pages.slowdown", "on 4 KiB pages", kFactor, "time on 4 KiB pages over that on huge pages"},
    {"experiment.staggered.gain", "speed-up with staggered buffers", kFactor,
     "with each buffer at another offset within a page"},
    {"experiment.realigned.gain", "speed-up with shifted buffers", kFactor,
     "with buffers shifted by less than a cache line"},
    {"experiment.order.gain", "speed-up with ascending indices", kFactor,
     "row's time over that with the same indices in ascending order"},
    {"experiment.subnormals.gain", "speed-up without subnormals", kFactor, "with subnormal numbers flushed to zero"},
    {"experiment.reassociated.gain", "speed-up with reordered sums", kFactor,
     "compiled so that sums may be reordered, in L2"},
    {"experiment.unvectorized.slowdown", "compiled without vectors", kFactor,
     "time when compiled without vectors over the row's, in L2"},
    {"experiment.divisions.gain", "speed-up without divisions", kFactor,
     "with divide instructions assembled as multiplications, in L2"},
    {"experiment.forwarding.gain", "speed-up without failed forwarding", kFactor,
     "with loads of what narrower stores wrote reading other memory, in L2"},
    {"experiment.lines.visits", "visits to a cache line", kNumber,
     "until all that is accessed of it was, by a trace of accesses; a visit ends after 16 other lines of the buffer"},
    {"experiment.pages.jumps", "accesses that enter a page", kFraction,
     "of the traced accesses, the last 8 pages of a buffer aside"},
    {"buffers", "buffers", kNumber, "tensors of a launch"},
    {"stall.long_scoreboard.share", "stalls on global memory", kFraction, "of all stalls"},
    {"stall.shared.share", "stalls on shared memory", kFraction,
     "on shared memory and special functions, of all stalls"},
    {"stall.barrier.share", "stalls at barriers", kFraction, "of all stalls"},
    {"stall.lsu.share", "stalls on the load/store queue", kFraction, "of all stalls"},
    {"stall.math_pipe.share", "stalls on a busy pipe", kFraction, "of all stalls"},
    {"stall.no_instruction.share", "stalls on instruction fetch", kFraction, "of all stalls"},
    {"stall.not_selected.share", "eligible, not selected", kFraction, "of all stalls"},
    {"stall.wait.share", "stalls on fixed latency", kFraction, "of all stalls"},
    {"sm.active.share", "{gpu.units} working", kFraction,
     "mean active cycles of the SMs over the cycles of its time at the highest clock; of kernels of 20 us or more"},
    {"roof.reached", "", kFlag, "roof.fraction is known and says that the kernel is at its roof"},
    {"wait.global_load.share", "waits for global loads", kFraction, "of the samples of its warps"},
    {"wait.global_store.share", "waits for global stores", kFraction, "of the samples of its warps"},
    {"wait.global_atomic.share", "waits for global atomics", kFraction, "of the samples of its warps"},
    {"wait.local_memory.share", "waits for local memory", kFraction, "of the samples of its warps"},
    {"wait.shared.share", "waits for shared memory", kFraction, "loads and stores, of the samples of its warps"},
    {"wait.shared_load.share", "waits for shared loads", kFraction, "of the samples of its warps"},
    {"wait.shared_store.share", "waits for shared stores", kFraction, "of the samples of its warps"},
    {"wait.shared_atomic.share", "waits for shared atomics", kFraction, "of the samples of its warps"},
    {"wait.constant.share", "waits for constants", kFraction, "of the samples of its warps"},
    {"wait.exchange.share", "waits for shuffles", kFraction, "of the samples of its warps"},
    {"wait.special.share", "waits for special functions", kFraction, "of the samples of its warps"},
    {"wait.conversion.share", "waits for conversions", kFraction, "of the samples of its warps"},
    {"wait.division.share", "time in divisions", kFraction, "of the samples of its warps"},
    {"wait.fp64.share", "waits for FP64", kFraction, "of the samples of its warps"},
    {"wait.result.share", "waits for the previous result", kFraction, "of the samples of its warps"},
    {"wait.barrier.share", "waits at barriers", kFraction, "of the samples of its warps"},
    {"wait.fence.share", "waits for fences", kFraction, "of the samples of its warps"},
    {"wait.code.share", "waits for instructions", kFraction, "of the samples of its warps"},
    {"wait.immediate.share", "waits for immediate constants", kFraction, "of the samples of its warps"},
    {"wait.latency.share", "waits for results and constants", kFraction, "of the samples of its warps"},
    {"wait.issuing.share", "issued", kFraction, "of the samples of its warps"},
    {"wait.arithmetic.share", "waits for a busy pipe", kFraction, "of the samples of its warps"},
    {"wait.issue.share", "issued, ready or before a busy pipe", kFraction, "of the samples of its warps"},
    {"wait.ready.share", "ready, not chosen", kFraction, "of the samples of its warps"},
};

/// "FP32 pipe", "BF16 tensor cores", "special function pipe".
std::string pipe_name(double value) {
  const auto pipe = static_cast<Pipe>(value);
  if (pipe == Pipe::sfu) return "special function pipe";
  return title_of_pipe(to_string(pipe)) + " pipe";
}

std::string level_name(double value) { return title_of(static_cast<Level>(value)); }

}  // namespace

const QuantitySpec* find_quantity(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kSpecs), std::end(kSpecs), [&](const QuantitySpec& spec) { return spec.name == name; });
  return found == std::end(kSpecs) ? nullptr : found;
}

std::string occupancy_text(double share) { return share > 1 ? "full" : percent(share); }

std::string quantity_text(std::string_view name, double value) {
  if (name == "occupancy") return occupancy_text(value);
  const QuantitySpec* spec = find_quantity(name);
  switch (spec == nullptr ? kNumber : spec->unit) {
    case kFraction:
      return percent(value);
    case kFactor:
      return factor(value);
    case kHertz:
      return si(value, "Hz");
    case kBytes:
      return binary_bytes(value);
    case kBandwidth:
      return rate(value, CeilingKind::bandwidth);
    case kSeconds:
      return duration(value);
    case kPipe:
      return pipe_name(value);
    case kLevel:
      return level_name(value);
    case kGpuUnit: {
      constexpr auto kLast = static_cast<double>(GpuVendor::intel);
      const GpuUnitName unit = gpu_unit_name(static_cast<GpuVendor>(std::clamp(value, 0.0, kLast)));
      return std::string(name == "gpu.unit" ? unit.one : unit.many);
    }
    default:
      return number(value, 3);
  }
}

std::string quantity_range_text(std::string_view name, double low, double high) {
  const std::string from = quantity_text(name, low), to = quantity_text(name, high);
  if (from == to) return to;
  // "1.36 GHz", "1.75 GHz": the unit once where both have the same.
  const std::size_t unit = from.rfind(' '), other = to.rfind(' ');
  const bool once = unit != std::string::npos && other != std::string::npos && from.substr(unit) == to.substr(other);
  return (once ? from.substr(0, unit) : from) + "\u2013" + to;
}

}  // namespace roofline
